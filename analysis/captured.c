#include "captured.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

#include "contraction/contraction.h"
#include "specs.h"

/* Why the first row without numbers has none. */
static void first_reason(const szg_table *table, char *out, size_t size) {
    const size_t skip = sizeof SZGI_NOT_COMPUTED - 1;
    int64_t column = szg_table_find(table, "note");
    *out = 0;
    for (int64_t i = 0; !*out && i < szg_table_rows(table); i++) {
        const char *note =
            szg_table_is_empty(table, i, column) ? "" : szg_table_get_text(table, i, column);
        if (strncmp(note, SZGI_NOT_COMPUTED, skip) == 0)
            szgi_print(out, size, "%s", note + skip);
    }
}

szg_status captured_tables(command_call *call, szg_table *first, int64_t bad, szg_status bad_status,
                           size_t count, szg_table **const tables[], const char *hidden) {
    char reason[512];
    int64_t rows = szg_table_rows(first);
    if (bad > 0)
        first_reason(first, reason, sizeof reason);
    if (bad > 0 && bad == rows)
        return szgi_fail(call->context, bad_status, "%s", reason);
    SZG_TRY(output_tables(call, count, tables, hidden));
    if (bad == 0)
        return SZG_OK;
    return szgi_fail(call->context, bad_status,
                     "%" PRId64 " of %" PRId64
                     " rows could not be computed, each with the reason as "
                     "its note; the others are complete. The first reason: %s",
                     bad, rows, reason);
}

bool captured_more(const command_call *call, bool all) {
    return all || specs_output_folder(call);
}

szg_status captured_output(command_call *call, bool all, bool certified, captured_fill *fill,
                           void *user, szg_table **const other[CAPTURED_OTHER]) {
    bool more = captured_more(call, all);
    const szg_report_options how = {SZG_INIT(szg_report_options), .all = all,
                                    .quick_symbol = !certified,
                                    .samples = more ? SZG_CONTRACTION_SAMPLES : 0};
    szg_contraction_tables tables;
    SZG_TRY(szg_contraction_tables_open(call->context, more, more, &tables));
    tables.keep = true;
    szg_status status = fill(call, user, &how, &tables);
    szg_table **const table[] = {&tables.contraction, other[0],       other[1], other[2],
                                 &tables.values,      &tables.symbols};
    if (status == SZG_OK)
        status =
            captured_tables(call, tables.contraction, tables.bad, tables.bad_status,
                            sizeof table / sizeof *table, table, all ? "contraction_values" : NULL);
    szg_contraction_tables_close(&tables);
    return status;
}
