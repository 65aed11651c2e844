#include "captured.h"

#include <inttypes.h>

#include "specs.h"

szg_status captured_output(command_call *call, bool all, bool certified, captured_fill *fill,
                           void *user) {
    bool more = all || specs_output_folder(call);
    const szg_report_options how = {SZG_INIT(szg_report_options), .all = all,
                                    .quick_symbol = !certified,
                                    .samples = more ? SZG_CONTRACTION_SAMPLES : 0};
    szg_contraction_tables tables;
    SZG_TRY(szg_contraction_tables_open(call->context, more, more, &tables));
    tables.keep = true;
    szg_status status = fill(call, user, &how, &tables);
    int64_t rows = szg_table_rows(tables.contraction), bad = tables.bad;
    if (status == SZG_OK && bad > 0 && bad == rows)
        status = szgi_fail(call->context, tables.bad_status,
                           "no matrix could be computed: the warnings say why");
    szg_table **const table[] = {&tables.contraction, &tables.values, &tables.symbols};
    if (status == SZG_OK)
        status = output_tables(call, sizeof table / sizeof *table, table,
                               all ? "contraction_values" : NULL);
    if (status == SZG_OK && bad > 0)
        status = szgi_fail(call->context, tables.bad_status,
                           "%" PRId64 " of %" PRId64 " matrices could not be computed: the notes "
                           "say why; the rest is complete",
                           bad, rows);
    szg_contraction_tables_close(&tables);
    return status;
}
