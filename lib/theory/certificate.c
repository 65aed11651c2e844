#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#include "certificate.h"

static const char *const quantity_names[Q_COUNT] = {
    [Q_MAX_F] = "max|f|",
    [Q_MAX_F_PLAIN] = "max|f| with phases theta_i",
    [Q_MAX_G] = "max|g|",
    [Q_TWO_SUM] = "2 sum w",
    [Q_FOUR_SUM] = "4 sum w",
    [Q_WIDTH_F] = "width f",
    [Q_WIDTH_G] = "width g",
    [Q_TOP_W] = "lambda_max W",
    [Q_TOP_WE] = "lambda_max W o E",
    [Q_SPREAD_W] = "width W",
    [Q_SPREAD_WE] = "width W o E",
    [Q_SOFTMAX_0] = "softmax entry 0,0",
    [Q_SOFTMAX_1] = "softmax entry 1,1",
    [Q_GRAM] = "|sum w|",
    [Q_ROTATED] = "|sum w e^{i n theta}|",
    [Q_ROTATED_REAL] = "|Re sum w e^{i n theta}|",
    [Q_UNIT_MINOR] = "leading 2x2 minor",
    [Q_ZERO] = "0",
    [Q_MLA_TRUE] = "MLA entry 0,1",
    [Q_MLA_PRINTED] = "MLA entry 0,1 as printed",
    [Q_SYMBOL] = "symbol at pi/2",
    [Q_SYMBOL_PRINTED] = "symbol at pi/2 as printed",
    [Q_POSITION_00] = "P M P^T entry 0,0",
    [Q_POSITION_11] = "P M P^T entry 1,1",
    [Q_ALIBI_LAG] = "alibi bias at lag n",
    [Q_ALIBI_LINE] = "n times alibi bias at lag 1",
    [Q_TAIL_LAG] = "bias at lag n",
    [Q_TAIL] = "tail",
    [Q_ROTARY_TOP] = "lambda_max rotary kernel",
    [Q_ROTARY_SHARE] = "n / (2 pairs)",
};

const char *szgi_quantity_name(quantity q) {
    return quantity_names[q];
}

quantity szgi_quantity_find(const char *name) {
    for (int q = 0; q < Q_COUNT; q++)
        if (strcmp(quantity_names[q], name) == 0)
            return (quantity)q;
    return Q_COUNT;
}

static const refutation refutations[] = {
    {"A3.2", "exact", Q_POSITION_00, "!=", Q_POSITION_11, 0},
    {"R3.1", "disjoint", Q_SOFTMAX_0, "!=", Q_SOFTMAX_1, 0},
    {"B1", "disjoint", Q_ROTATED, "<", Q_GRAM, 0},
    {"B1", "disjoint", Q_ROTATED_REAL, ">", Q_GRAM, 0},
    {"T3.1h", "structural", Q_ROTARY_TOP, ">", Q_ROTARY_SHARE, 0},
    {"T3.1h", "structural", Q_ALIBI_LAG, "=", Q_ALIBI_LINE, HYPOTHESIS_NONZERO},
    {"T3.1h", "structural", Q_TAIL_LAG, "=", Q_TAIL, HYPOTHESIS_NONZERO},
    {"B3", "structural", Q_UNIT_MINOR, "=", Q_ZERO, HYPOTHESIS_MODULI},
    {"B3s", "exact", Q_SPREAD_WE, "=", Q_SPREAD_W,
     HYPOTHESIS_RANK_ONE | HYPOTHESIS_UNIT | HYPOTHESIS_DEFINITE},
    {"B3h", "disjoint", Q_SPREAD_WE, ">", Q_SPREAD_W, HYPOTHESIS_UNIT | HYPOTHESIS_DEFINITE},
    {"B3n", "disjoint", Q_TOP_WE, ">", Q_TOP_W, HYPOTHESIS_UNIT | HYPOTHESIS_DEFINITE},
    {"L1s", "disjoint", Q_MAX_F, ">", Q_MAX_G, HYPOTHESIS_SYMBOL},
    {"L2", "exact", Q_MAX_F, "=", Q_TWO_SUM, HYPOTHESIS_NONNEGATIVE | HYPOTHESIS_UNALIGNED},
    {"L2p", "disjoint", Q_MAX_F_PLAIN, "<", Q_TWO_SUM, HYPOTHESIS_NONNEGATIVE | HYPOTHESIS_ALIGNED},
    {"L3", "disjoint", Q_WIDTH_G, "<", Q_FOUR_SUM, HYPOTHESIS_NONNEGATIVE},
    {"L3", "disjoint", Q_WIDTH_F, ">", Q_WIDTH_G, HYPOTHESIS_NONNEGATIVE},
    {"L3", "exact", Q_WIDTH_F, "=", Q_WIDTH_G, HYPOTHESIS_NONNEGATIVE | HYPOTHESIS_UNALIGNED},
    {"E12", "exact", Q_MLA_TRUE, "!=", Q_MLA_PRINTED, 0},
    {"SYM", "exact", Q_SYMBOL, "!=", Q_SYMBOL_PRINTED, HYPOTHESIS_HERMITIAN},
};

int64_t szgi_refutation_count(void) {
    return (int64_t)(sizeof refutations / sizeof refutations[0]);
}

const refutation *szgi_refutation_at(int64_t index) {
    return &refutations[index];
}

const refutation *szgi_refutation_find(const char *id, const char *kind, quantity left,
                                       const char *relation, quantity right) {
    for (int64_t i = 0; i < szgi_refutation_count(); i++) {
        const refutation *r = &refutations[i];
        if (strcmp(r->id, id) == 0 && strcmp(r->kind, kind) == 0 && r->left == left &&
            strcmp(r->relation, relation) == 0 && r->right == right)
            return r;
    }
    return NULL;
}

bool szgi_refutation_has_phases(const refutation *rule) {
    const int about_phases =
        HYPOTHESIS_ALIGNED | HYPOTHESIS_UNALIGNED | HYPOTHESIS_UNIT | HYPOTHESIS_RANK_ONE;
    bool sums = (rule->left == Q_WIDTH_G || rule->left == Q_MAX_G) &&
                (rule->right == Q_FOUR_SUM || rule->right == Q_TWO_SUM);
    return !sums || (rule->hypotheses & about_phases);
}

bool szgi_quantity_accepts(quantity q, const certificate *c) {
    int64_t n = c->n, w = c->weights, p = c->phases;
    bool terms = w >= 1 && w <= CERTIFICATE_TERMS && (p == 0 || p == w);
    switch (q) {
    case Q_MAX_F:
    case Q_MAX_F_PLAIN:
    case Q_MAX_G:
    case Q_TWO_SUM:
    case Q_FOUR_SUM:
    case Q_WIDTH_F:
    case Q_WIDTH_G:
        return terms && n == w;
    case Q_TOP_W:
    case Q_TOP_WE:
    case Q_SPREAD_W:
    case Q_SPREAD_WE:
        return terms && p == w && n >= w && n <= CERTIFICATE_SIZE;
    case Q_SOFTMAX_0:
    case Q_SOFTMAX_1:
        return n >= 2 && n <= CERTIFICATE_SIZE && w == 2 * n - 1 && p == 0;
    case Q_GRAM:
    case Q_ROTATED:
    case Q_ROTATED_REAL:
        return w >= 1 && w <= CERTIFICATE_TERMS && p == w && n >= 1 && n <= (int64_t)1 << 30;
    case Q_UNIT_MINOR:
    case Q_ZERO:
        return w == 2 && p == 0 && n == 2;
    case Q_MLA_TRUE:
    case Q_MLA_PRINTED:
        return w == 2 && p == 1 && n == 2;
    case Q_SYMBOL:
    case Q_SYMBOL_PRINTED:
        return w >= 1 && w <= CERTIFICATE_TERMS && p == w && n == w;
    case Q_POSITION_00:
    case Q_POSITION_11:
        return w == 4 && p == 1 && n == 2;
    case Q_ALIBI_LAG:
    case Q_ALIBI_LINE:
        return w == 1 && p == 0 && n >= 2 && n <= (int64_t)1 << 40;
    case Q_TAIL_LAG:
    case Q_TAIL:
        return w >= 1 && w <= CERTIFICATE_TERMS && p == 0 && n >= w && n <= (int64_t)1 << 40;
    case Q_ROTARY_TOP:
    case Q_ROTARY_SHARE:
        return w == 0 && p >= 1 && n > 2 * p && n <= CERTIFICATE_SIZE;
    case Q_COUNT:
        break;
    }
    return false;
}

certificate szgi_certificate_with_inputs(const certificate *c, int64_t terms, const double *w,
                                         const szgi_phase *theta, const char *note) {
    certificate other = *c;
    other.n = other.weights = other.phases = terms;
    other.w = w;
    other.theta = theta;
    other.note = note;
    return other;
}

/* ---- Text and table ---- */

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
    SZG_TRY_GOTO(status, szgi_certificate_weights_text(context, c->weights, c->w, &weights), done);
    SZG_TRY_GOTO(status, szgi_certificate_phases_text(context, c->phases, c->theta, &phases), done);
    SZG_TRY_GOTO(status, szg_table_add_row(context, table), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "id", c->id), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "kind", c->kind), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "left", szgi_quantity_name(c->left)),
                 done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "relation", c->relation), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "right", szgi_quantity_name(c->right)),
                 done);
    SZG_TRY_GOTO(status, szg_table_set_integer(context, table, "n", c->n), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "weights", weights), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "phases", phases), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "left_lo", c->left_value.lo), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "left_hi", c->left_value.hi), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "right_lo", c->right_value.lo), done);
    SZG_TRY_GOTO(status, set_hex(context, table, "right_hi", c->right_value.hi), done);
    SZG_TRY_GOTO(status, szg_table_set_text(context, table, "note", c->note), done);
done:
    szgi_memory_free(weights);
    szgi_memory_free(phases);
    return status;
}
