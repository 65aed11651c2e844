#include <stdio.h>

#include "base/memory.h"
#include "base/row.h"
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
    return szgi_memory_alloc(context, count * TEXT_NUMBER + 1, out);
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

#define CERTIFICATE(X)                                                                             \
    X(ID, "id", SZG_TEXT, "", "claim", "the claim that it refutes")                                \
    X(KIND, "kind", SZG_TEXT, "", "kind", "disjoint, exact or structural")                         \
    X(LEFT, "left", SZG_TEXT, "", "left side", "the first quantity")                               \
    X(RELATION, "relation", SZG_TEXT, "", "relation", "its relation to the second: <, >, = or !=") \
    X(RIGHT, "right", SZG_TEXT, "", "right side", "the second quantity")                           \
    X(SIZE, "n", SZG_INTEGER, "1", "size", "size, number of terms or lag")                         \
    X(WEIGHTS, "weights", SZG_TEXT, "", "weights", "exact inputs, hexadecimal floats")             \
    X(PHASES, "phases", SZG_TEXT, "", "phases",                                                    \
      "exact angles: hexadecimal radians, or p/q times pi")                                        \
    X(LEFT_LO, "left_lo", SZG_TEXT, "", "lower end of the left side",                              \
      "enclosure of the first quantity, hexadecimal", SZGI_END_LOWER)                              \
    X(LEFT_HI, "left_hi", SZG_TEXT, "", "upper end of the left side", "its upper end",             \
      SZGI_END_UPPER)                                                                              \
    X(RIGHT_LO, "right_lo", SZG_TEXT, "", "lower end of the right side",                           \
      "enclosure of the second quantity, hexadecimal", SZGI_END_LOWER)                             \
    X(RIGHT_HI, "right_hi", SZG_TEXT, "", "upper end of the right side", "its upper end",          \
      SZGI_END_UPPER)                                                                              \
    X(NOTE, "note", SZG_TEXT, "", "note", "what the instance is")

#define CERTIFICATE_SCREEN                                                                         \
    SZGI_SHOW(1, id)                                                                               \
    SZGI_SHOW(1, kind)                                                                             \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW_RANGE(1, left_enclosed, left_lo, left_hi)                                            \
    SZGI_SHOW(1, relation)                                                                         \
    SZGI_SHOW_RANGE(1, right_enclosed, right_lo, right_hi)                                         \
    SZGI_SHOW_PROSE(9, left)                                                                       \
    SZGI_SHOW_PROSE(9, right)
SZGI_SCHEMA(columns, "certificates", CERTIFICATE, CERTIFICATE_SCREEN);
const szgi_schema *const szgi_certificate_schema = &columns_schema;

szg_status szgi_certificate_table_open(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, szgi_certificate_schema, out);
}

static void put_interval(szgi_row *row, int64_t lo, szg_interval value) {
    char text[TEXT_NUMBER];
    szgi_row_text(row, lo, szgi_hex_text(value.lo, text));
    szgi_row_text(row, lo + 1, szgi_hex_text(value.hi, text));
}

szg_status szgi_certificate_add(szg_context *context, szg_table *table, const certificate *c) {
    char *weights = NULL, *phases = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_certificate_weights_text(context, c->at.weights, c->at.w, &weights),
                 done);
    SZG_TRY_GOTO(status, szgi_certificate_phases_text(context, c->at.phases, c->at.theta, &phases),
                 done);
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, ID, c->id);
    szgi_row_text(&row, KIND, c->rule->kind);
    szgi_row_text(&row, LEFT, szgi_quantity_name(c->rule->left));
    szgi_row_text(&row, RELATION, c->rule->relation);
    szgi_row_text(&row, RIGHT, szgi_quantity_name(c->rule->right));
    szgi_row_integer(&row, SIZE, c->at.n);
    szgi_row_text(&row, WEIGHTS, weights);
    szgi_row_text(&row, PHASES, phases);
    put_interval(&row, LEFT_LO, c->left);
    put_interval(&row, RIGHT_LO, c->right);
    szgi_row_text(&row, NOTE, c->note);
    status = row.status;
done:
    szgi_memory_free(weights);
    szgi_memory_free(phases);
    return status;
}
