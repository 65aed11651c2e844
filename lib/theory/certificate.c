#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"

#include "certificate.h"

enum { TEXT_NUMBER = 48 };

static void phase_text(const szgi_phase *phase, char text[TEXT_NUMBER]) {
    if (phase->rational)
        snprintf(text, TEXT_NUMBER, "%lld/%lld", (long long)phase->p, (long long)phase->q);
    else
        szgi_hex_text(phase->radians, text);
}

static szg_status open_text(szg_context *context, int64_t count, char **out) {
    return szgi_memory_alloc(context, count * TEXT_NUMBER + 1, 1, out);
}

szg_status szgi_certificate_weights_text(szg_context *context, int64_t count, const double *w,
                                         char **out) {
    SZG_TRY(open_text(context, count, out));
    char *end = *out;
    for (int64_t i = 0; i < count; i++) {
        char text[TEXT_NUMBER];
        end += snprintf(end, TEXT_NUMBER + 1, "%s%s", i ? " " : "", szgi_hex_text(w[i], text));
    }
    return SZG_OK;
}

szg_status szgi_certificate_phases_text(szg_context *context, int64_t count,
                                        const szgi_phase *theta, char **out) {
    SZG_TRY(open_text(context, count, out));
    char *end = *out;
    for (int64_t i = 0; i < count; i++) {
        char text[TEXT_NUMBER];
        phase_text(&theta[i], text);
        end += snprintf(end, TEXT_NUMBER + 1, "%s%s", i ? " " : "", text);
    }
    return SZG_OK;
}

const szg_column szgi_certificate_columns[CERTIFICATE_COLUMNS] = {
    {"id", SZG_TEXT, "the claim that it refutes"},
    {"kind", SZG_TEXT, "disjoint, exact or structural"},
    {"left", SZG_TEXT, "the first quantity"},
    {"relation", SZG_TEXT, "how it stands to the second: <, >, = or !="},
    {"right", SZG_TEXT, "the second quantity"},
    {"n", SZG_INTEGER, "size, number of terms or lag"},
    {"weights", SZG_TEXT, "exact inputs, hexadecimal floats"},
    {"phases", SZG_TEXT, "exact angles: hexadecimal radians, or p/q times pi"},
    {"left_lo", SZG_TEXT, "enclosure of the first quantity, hexadecimal"},
    {"left_hi", SZG_TEXT, "its upper end"},
    {"right_lo", SZG_TEXT, "enclosure of the second quantity, hexadecimal"},
    {"right_hi", SZG_TEXT, "its upper end"},
    {"note", SZG_TEXT, "what the instance is"},
};

szg_status szgi_certificate_table_open(szg_context *context, szg_table **out) {
    SZG_TRY(szg_table_open(context, "certificates", szgi_certificate_columns, CERTIFICATE_COLUMNS,
                           out));
    SZG_TRY(szgi_table_mark_ends(context, *out, "left_lo", "left_hi"));
    return szgi_table_mark_ends(context, *out, "right_lo", "right_hi");
}

static szg_status set_hex(szg_context *context, szg_table *table, const char *column,
                          double value) {
    char text[TEXT_NUMBER];
    return szg_table_set_text(context, table, column, szgi_hex_text(value, text));
}

szg_status szgi_certificate_add(szg_context *context, szg_table *table, const certificate *c) {
    char *weights = NULL, *phases = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_certificate_weights_text(context, c->at.weights, c->at.w, &weights),
                 done);
    SZG_TRY_GOTO(status, szgi_certificate_phases_text(context, c->at.phases, c->at.theta, &phases),
                 done);
    SZG_TRY_GOTO(status, szg_table_add_row(context, table), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "id", c->id), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "kind", c->rule->kind), done);
    SZG_TRY_GOTO(status,
                 szg_table_set_text(context, table, "left", szgi_quantity_name(c->rule->left)),
                 done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "relation", c->rule->relation), done);
    SZG_TRY_GOTO(status,
                 szg_table_set_text(context, table, "right", szgi_quantity_name(c->rule->right)),
                 done);
    SZG_TRY_GOTO(status, szg_table_set_integer(context, table, "n", c->at.n), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "weights", weights), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "phases", phases), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "left_lo", c->left.lo), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "left_hi", c->left.hi), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "right_lo", c->right.lo), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "right_hi", c->right.hi), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "note", c->note), done);
done:
    szgi_memory_free(weights);
    szgi_memory_free(phases);
    return status;
}
