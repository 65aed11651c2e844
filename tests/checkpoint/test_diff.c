/* What changed between checkpoints, against dense products, closed forms and identities. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint/diff.h"
#include "linalg/linalg.h"
#include "gguf_file.h"
#include "model.h"

/* model_bert: layers, heads, and the sizes of a head and of the model. */
enum { LAYERS = 3, HEADS = 2, E = 3, D = 6, ORDER = 6, CHANGES = LAYERS * HEADS };

static const szgi_diff_options one_vector = {.top = 1};

typedef struct model_pair {
    test_model a, b;
    szg_checkpoint *base, *other;
    szgi_diff_tables tables;
} model_pair;

static void pair_open(model_pair *pair) {
    test_model *const model[] = {&pair->a, &pair->b};
    *pair = (model_pair){0};
    for (int i = 0; i < 2; i++) {
        model_open(model[i]);
        model_add_bert(model[i]);
        for (int j = 0; j < model[i]->tensors; j++)
            model[i]->tensor[j].dtype = SZGI_DTYPE_F64;
    }
}

/* B becomes A. */
static void pair_equal(model_pair *pair) {
    for (int i = 0; i < pair->a.tensors; i++)
        memcpy(pair->b.tensor[i].value, pair->a.tensor[i].value,
               (size_t)pair->a.tensor[i].count * sizeof(double));
}

static double *weight(test_model *model, int layer, const char *side) {
    char name[128];
    snprintf(name, sizeof name, "encoder.layer.%d.attention.self.%s.weight", layer, side);
    return model_find(model, name)->value;
}

static void pair_write(model_pair *pair) {
    model_write(&pair->a, model_bert);
    model_write(&pair->b, model_bert);
    ck_szg_ok(szg_checkpoint_open(test_context(), pair->a.folder, NULL, &pair->base));
    ck_szg_ok(szg_checkpoint_open(test_context(), pair->b.folder, NULL, &pair->other));
}

static void pair_compare(model_pair *pair, int64_t top) {
    pair_write(pair);
    ck_szg_ok(szgi_diff_open(test_context(), true, &pair->tables));
    const szgi_diff_options options = {.top = top};
    ck_szg_ok(
        szgi_checkpoint_diff(test_context(), pair->base, pair->other, 7, &options, &pair->tables));
}

static void pair_close(model_pair *pair) {
    szgi_diff_close(&pair->tables);
    szg_checkpoint_close(&pair->base);
    szg_checkpoint_close(&pair->other);
    model_close(&pair->a);
    model_close(&pair->b);
}

static int64_t row_of(const model_pair *pair, int64_t layer, int64_t head) {
    const szg_table *table = pair->tables.diff;
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        if (!szg_table_is_empty(table, row, szg_table_find(table, "head")) &&
            cell(table, row, "layer") == (double)layer && cell(table, row, "head") == (double)head)
            return row;
    ck_abort_msg("no row of layer %d, head %d", (int)layer, (int)head);
}

/* ORDER singular values of a matrix. */
static void values_of(const model_pair *pair, int64_t layer, int64_t head, const char *matrix,
                      double *out) {
    const szg_table *table = pair->tables.diff_spectra;
    int64_t count = 0;
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        if (cell(table, row, "layer") == (double)layer &&
            cell(table, row, "head") == (double)head &&
            strcmp(cell_text(table, row, "matrix"), matrix) == 0) {
            ck_assert_int_eq((int)cell(table, row, "index"), count);
            out[count++] = cell(table, row, "sigma");
        }
    ck_assert_int_eq(count, ORDER);
}

/* ---- Dense matrices ---- */

typedef struct dense_head {
    double q[E * D], k[E * D];
} dense_head;

static void read_head(const szg_checkpoint *checkpoint, int64_t layer, int64_t head,
                      dense_head *out) {
    ck_szg_ok(szgi_checkpoint_queries(test_context(), checkpoint, layer, head, out->q));
    ck_szg_ok(szgi_checkpoint_keys(test_context(), checkpoint, layer, head, out->k));
}

static void dense_product(const double *q, const double *k, double *out) {
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            for (int t = 0; t < E; t++)
                out[i * D + j] += q[t * D + i] * k[t * D + j];
}

/* The singular values of the dense matrix, to `error` in norm and what both solvers round. */
static void check_values(const model_pair *pair, int64_t layer, int64_t head, const char *matrix,
                         double *dense, double error) {
    double want[D], got[ORDER], norm = norm_of(D * D, dense), sum = 0;
    char column[64];
    ck_szg_ok(szgi_singular(test_context(), D, D, dense, D, want, NULL, 1, NULL, 1));
    values_of(pair, layer, head, matrix, got);
    double bound = error + 2 * weyl(D, norm);
    for (int i = 0; i < ORDER; i++) {
        ck_close(got[i], want[i], bound);
        sum += got[i];
    }
    int64_t row = row_of(pair, layer, head);
    snprintf(column, sizeof column, "%s_sigma_max", matrix);
    ck_close(cell(pair->tables.diff, row, column), got[0], 0.0);
    snprintf(column, sizeof column, "%s_frobenius", matrix);
    ck_close(cell(pair->tables.diff, row, column), norm, sqrt(D) * bound);
    snprintf(column, sizeof column, "%s_nuclear", matrix);
    /* Powers, their sum of ORDER terms and a root, each of some roundings. */
    ck_close(cell(pair->tables.diff, row, column), sum, gamma_of(8 * ORDER) * sum);
}

START_TEST(dense_matrices) {
    model_pair pair;
    pair_open(&pair);
    /* Increments of every size beside the weights. */
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < D * D; i++) {
            double share = ldexp(1, -20 * layer);
            weight(&pair.b, layer, "query")[i] =
                weight(&pair.a, layer, "query")[i] + share * weight(&pair.b, layer, "query")[i];
            weight(&pair.b, layer, "key")[i] =
                weight(&pair.a, layer, "key")[i] + share * weight(&pair.b, layer, "key")[i];
        }
    pair_compare(&pair, 2);
    ck_assert_int_eq(szg_table_rows(pair.tables.diff), CHANGES);
    for (int64_t i = 0; i < CHANGES; i++) {
        dense_head a, b, d;
        double m_a[D * D] = {0}, m_b[D * D] = {0}, d2[D * D] = {0}, d3[D * D] = {0};
        double difference[D * D];
        read_head(pair.base, i / HEADS, i % HEADS, &a);
        read_head(pair.other, i / HEADS, i % HEADS, &b);
        for (int j = 0; j < E * D; j++) {
            d.q[j] = b.q[j] - a.q[j];
            d.k[j] = b.k[j] - a.k[j];
        }
        dense_product(a.q, a.k, m_a);
        dense_product(b.q, b.k, m_b);
        dense_product(d.q, a.k, d2);
        dense_product(a.q, d.k, d2);
        dense_product(d.q, d.k, d3);
        double qa = norm_of(E * D, a.q), ka = norm_of(E * D, a.k);
        double dq = norm_of(E * D, d.q), dk = norm_of(E * D, d.k);
        double qb = norm_of(E * D, b.q), kb = norm_of(E * D, b.k);
        /* QR moves each column by gamma of some d e operations (Higham, theorem 19.4), of both
         * factors; products have e terms; the dense ones alike. */
        double unit = gamma_of(2 * 16 * (D * 2 * E) + 4 * E);
        double first = unit * (dq * ka + qa * dk), second = unit * dq * dk;
        for (int j = 0; j < D * D; j++) {
            difference[j] = m_b[j] - m_a[j];
            ck_close(d2[j] + d3[j], difference[j], unit * (qa * ka + qb * kb)); /* the identity */
        }
        check_values(&pair, i / HEADS, i % HEADS, "base", m_a, unit * qa * ka);
        check_values(&pair, i / HEADS, i % HEADS, "qk", m_b,
                     unit * (qa * ka + qb * kb) + first + second);
        check_values(&pair, i / HEADS, i % HEADS, "d2", d2, first);
        check_values(&pair, i / HEADS, i % HEADS, "d3", d3, second);
        check_values(&pair, i / HEADS, i % HEADS, "change", difference,
                     unit * (qa * ka + qb * kb) + first + second);
        int64_t row = row_of(&pair, i / HEADS, i % HEADS);
        ck_assert_int_eq((int)cell(pair.tables.diff, row, "step"), 7);
        ck_assert_str_eq(cell_text(pair.tables.diff, row, "source"), pair.b.folder);
        ck_assert_str_eq(cell_text(pair.tables.diff, row, "base"), pair.a.folder);
    }
    /* What changed most first. */
    for (int64_t row = 1; row < CHANGES; row++)
        ck_assert(cell(pair.tables.diff, row, "change") <=
                  cell(pair.tables.diff, row - 1, "change"));
    ck_assert_int_eq((int)cell(pair.tables.diff, 0, "layer"), 0);
    ck_assert_int_eq((int)cell(pair.tables.diff, CHANGES - 1, "layer"), 2);
    pair_close(&pair);
}
END_TEST

/* ---- Closed forms ---- */

START_TEST(nothing_changed) {
    static const char *const zero[] = {"change",       "d2",
                                       "d3",           "d2_sigma_max",
                                       "d3_nuclear",   "change_frobenius",
                                       "left_angle_1", "right_angle_1",
                                       "left_angle",   "right_angle"};
    static const char *const alike[][2] = {{"base_sigma_max", "qk_sigma_max"},
                                           {"base_nuclear", "qk_nuclear"},
                                           {"base_stable_rank", "qk_stable_rank"},
                                           {"base_entropy", "qk_entropy"}};
    model_pair pair;
    pair_open(&pair);
    pair_equal(&pair);
    pair_compare(&pair, 2);
    const szg_table *table = pair.tables.diff;
    for (int64_t row = 0; row < CHANGES; row++) {
        for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
            ck_close(cell(table, row, zero[i]), 0.0, 0.0);
        for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
            ck_close(cell(table, row, alike[i][0]), cell(table, row, alike[i][1]), 0.0);
        /* In the order of layers and heads. */
        ck_assert_int_eq(row_of(&pair, row / HEADS, row % HEADS), row);
        ck_assert(szg_table_is_empty(table, row, szg_table_find(table, "d2_stable_rank")));
    }
    pair_close(&pair);
}
END_TEST

/* W_Q doubled: dW_Q = W_Q, D2 = M_A, D3 = 0, M_B = 2 M_A. Doubling is exact, so that D2 and M_A are
 * one product of the same numbers but for the rounding of QR. */
START_TEST(queries_doubled) {
    model_pair pair;
    double base[ORDER], other[ORDER];
    pair_open(&pair);
    pair_equal(&pair);
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < D * D; i++)
            weight(&pair.b, layer, "query")[i] *= 2;
    pair_compare(&pair, 2);
    const szg_table *table = pair.tables.diff;
    for (int64_t row = 0; row < CHANGES; row++) {
        int64_t layer = row / HEADS, head = row % HEADS;
        int64_t at = row_of(&pair, layer, head);
        dense_head a;
        read_head(pair.base, layer, head, &a);
        double unit =
            gamma_of(2 * 16 * (D * 2 * E) + 4 * E) * norm_of(E * D, a.q) * norm_of(E * D, a.k);
        double norm = cell(table, at, "base_frobenius"), relative = sqrt(D) * unit / norm;
        ck_close(cell(table, at, "d3"), 0.0, 0.0);
        ck_close(cell(table, at, "d2"), 1.0, 4 * relative);
        ck_close(cell(table, at, "change"), 1.0, 4 * relative);
        values_of(&pair, layer, head, "base", base);
        values_of(&pair, layer, head, "d2", other);
        for (int i = 0; i < ORDER; i++)
            ck_close(other[i], base[i], 2 * unit + 2 * weyl(D, norm));
        values_of(&pair, layer, head, "qk", other);
        for (int i = 0; i < ORDER; i++)
            ck_close(other[i], 2 * base[i], 4 * unit + 2 * weyl(D, 2 * norm));
        /* Wedin: a span turns by the error over its gap. */
        double error = 2 * unit + 2 * weyl(D, norm);
        double turn = 4 * error / (cell(table, at, "gap") * cell(table, at, "base_sigma_max"));
        ck_close(cell(table, at, "left_angle"), 0.0, turn);
        ck_close(cell(table, at, "right_angle"), 0.0, turn);
        ck_assert(turn < 0.1);
    }
    pair_close(&pair);
}
END_TEST

/* Row t of a head's queries is (4 - t) e_t, of its keys e_t: M_A is diagonal, with singular vectors
 * e_t. The first query row of B is turned by phi towards e_5, or its first key row. */
static void write_turned(model_pair *pair, const char *side, double phi) {
    pair_equal(pair);
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < D * D; i++) {
            int row = i / D % E, column = i % D;
            double query = row == column ? 4 - row : 0, key = row == column;
            weight(&pair->a, layer, "query")[i] = weight(&pair->b, layer, "query")[i] = query;
            weight(&pair->a, layer, "key")[i] = weight(&pair->b, layer, "key")[i] = key;
        }
    for (int row = 0; row < D; row += E) {
        double *turned = weight(&pair->b, 0, side) + row * D;
        turned[5] = turned[0] * sin(phi);
        turned[0] *= cos(phi);
    }
}

START_TEST(a_direction_that_turns) {
    static const double angles[] = {1e-9, 1e-3, 0.5, 1.5, 1.5707963};
    for (int i = 0; i < 10; i++) {
        model_pair pair;
        double phi = angles[i % 5];
        bool query = i < 5;
        pair_open(&pair);
        write_turned(&pair, query ? "query" : "key", phi);
        pair_compare(&pair, 2);
        const szg_table *table = pair.tables.diff;
        int64_t row = row_of(&pair, 0, 1);
        /* Norms below 16, gaps of 1/4 of the largest value: errors below 16 gammas times 4. */
        double bound = 4 * 16 * 4 * gamma_of(2 * 16 * (D * 2 * E)) + 4 * weyl(D, 16);
        const char *const moved[] = {query ? "left_angle_1" : "right_angle_1",
                                     query ? "left_angle" : "right_angle"};
        const char *const still[] = {query ? "right_angle_1" : "left_angle_1",
                                     query ? "right_angle" : "left_angle"};
        for (int j = 0; j < 2; j++) {
            ck_close(cell(table, row, moved[j]), phi, bound);
            ck_close(cell(table, row, still[j]), 0.0, bound);
        }
        ck_close(cell(table, row, "gap_1"), 0.25, bound);
        ck_close(cell(table, row, "gap"), 0.25, bound);
        ck_assert(bound < 1e-9 / 2);
        /* The chord of the turned row: 4 |e^(i phi) - 1|, of a matrix of norm sqrt(16 + 9 + 4). */
        ck_close(cell(table, row, "change"), 8 * sin(phi / 2) / sqrt(29), bound);
        ck_assert_int_eq(row_of(&pair, 0, 0), 0); /* before those that did not change */
        pair_close(&pair);
    }
}
END_TEST

/* Values 2 and 3 agree: the span of two vectors is none. A head of zeros has no span at all. */
START_TEST(directions_that_do_not_exist) {
    model_pair pair;
    pair_open(&pair);
    write_turned(&pair, "query", 0.25);
    for (int row = 0; row < D; row++)
        weight(&pair.a, 0, "query")[row * D + row % E] = row % E == 0 ? 2 : 1;
    memset(weight(&pair.a, 1, "key"), 0, D * D * sizeof(double));
    for (int i = 0; i < D * D; i++) /* numbers that rounding touches */
        weight(&pair.a, 2, "query")[i] = weight(&pair.a, 2, "key")[i] = sin(1 + i * i);
    memset(weight(&pair.b, 2, "query"), 0, D * D * sizeof(double));
    pair_compare(&pair, 2);
    const szg_table *table = pair.tables.diff;
    int64_t equal = row_of(&pair, 0, 0), none = row_of(&pair, 1, 0), gone = row_of(&pair, 2, 0);
    int64_t angle = szg_table_find(table, "left_angle"),
            one = szg_table_find(table, "left_angle_1");
    ck_assert(szg_table_is_empty(table, equal, angle) && !szg_table_is_empty(table, equal, one));
    ck_assert(strstr(cell_text(table, equal, "note"), "no angle of 2 vectors"));
    ck_assert(szg_table_is_empty(table, none, one));
    ck_assert(szg_table_is_empty(table, none, szg_table_find(table, "change")));
    ck_assert(strstr(cell_text(table, none, "note"), "M_A is 0"));
    ck_assert_int_eq(none, 0); /* all of it is new */
    ck_close(cell(table, none, "change_sigma_max"), cell(table, none, "qk_sigma_max"), weyl(D, 16));
    /* Exactly 0, not what rounding leaves of W_A + dW. */
    ck_close(cell(table, gone, "qk_sigma_max"), 0.0, 0.0);
    ck_assert(szg_table_is_empty(table, gone, szg_table_find(table, "qk_entropy")));
    ck_close(cell(table, gone, "change"), 1.0, gamma_of(1000));
    pair_close(&pair);
}
END_TEST

/* Powers of two leave every digit. */
START_TEST(weights_far_from_1) {
    static const int exponents[][2] = {{400, 400}, {-400, 400}, {-400, -100}};
    model_pair plain;
    pair_open(&plain);
    pair_compare(&plain, 2);
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        model_pair far;
        pair_open(&far);
        for (int j = 0; j < far.a.tensors; j++)
            for (int64_t t = 0; t < far.a.tensor[j].count; t++) {
                bool query = strstr(far.a.tensor[j].name, ".query.") != NULL;
                bool key = strstr(far.a.tensor[j].name, ".key.") != NULL;
                int exponent = query ? exponents[i][0] : key ? exponents[i][1] : 0;
                far.a.tensor[j].value[t] = ldexp(plain.a.tensor[j].value[t], exponent);
                far.b.tensor[j].value[t] = ldexp(plain.b.tensor[j].value[t], exponent);
            }
        pair_compare(&far, 2);
        for (int64_t row = 0; row < CHANGES; row++) {
            static const char *const same[] = {"layer", "head",         "change",    "d2",
                                               "d3",    "base_entropy", "left_angle"};
            for (size_t j = 0; j < sizeof same / sizeof *same; j++)
                ck_close(cell(far.tables.diff, row, same[j]), cell(plain.tables.diff, row, same[j]),
                         0.0);
            ck_close(cell(far.tables.diff, row, "d3_nuclear"),
                     ldexp(cell(plain.tables.diff, row, "d3_nuclear"),
                           exponents[i][0] + exponents[i][1]),
                     0.0);
        }
        pair_close(&far);
    }
    pair_close(&plain);
}
END_TEST

/* ---- What is refused or passed over ---- */

START_TEST(norms_beyond_the_doubles) {
    model_pair pair;
    pair_open(&pair);
    for (int i = 0; i < D * D; i++) {
        weight(&pair.a, 1, "query")[i] = ldexp(weight(&pair.a, 1, "query")[i] + 8, 600);
        weight(&pair.a, 1, "key")[i] = ldexp(weight(&pair.a, 1, "key")[i] + 8, 600);
    }
    pair_compare(&pair, 2);
    ck_assert_int_eq(pair.tables.bad, HEADS);
    ck_assert_int_eq(szg_table_rows(pair.tables.diff), CHANGES);
    int64_t row = row_of(&pair, 1, 0);
    ck_assert_int_ge(row, CHANGES - HEADS); /* last */
    ck_assert(strstr(cell_text(pair.tables.diff, row, "note"), "divide the weights"));
    ck_assert(strstr(cell_text(pair.tables.diff, row, "note"), "layer.1.attention.self.query"));
    pair_close(&pair);
}
END_TEST

START_TEST(a_layer_that_is_not_finite) {
    for (int i = 0; i < 2; i++) {
        model_pair pair;
        pair_open(&pair);
        weight(i == 0 ? &pair.a : &pair.b, 1, i == 0 ? "key" : "query")[4] = NAN;
        pair_compare(&pair, 2);
        const szg_table *table = pair.tables.diff;
        ck_assert_int_eq(pair.tables.bad, 1);
        ck_assert_int_eq(szg_table_rows(table), CHANGES - HEADS + 1);
        const char *note = cell_text(table, CHANGES - HEADS, "note");
        ck_assert_msg(strstr(note, "skipped: layer 1: ") && strstr(note, i == 0 ? "key" : "query"),
                      "%s", note);
        ck_assert(cell(table, row_of(&pair, 2, 1), "change") > 0);
        pair_close(&pair);
    }
}
END_TEST

/* The gains of BERT's norm in front of a layer: those of the layer before, or of the embeddings. */
static double *add_gains(test_model *model, int layer, double value) {
    model_tensor *gain =
        layer == 0 ? model_add(model, SZGI_DTYPE_F64, D, -1, "embeddings.LayerNorm.weight")
                   : model_add(model, SZGI_DTYPE_F64, D, -1,
                               "encoder.layer.%d.output.LayerNorm.weight", layer - 1);
    for (int i = 0; i < D; i++)
        gain->value[i] = value * (1 + i);
    return gain->value;
}

/* Which of both is damaged is said: a tensor that is missing, or a gain that is no number. */
START_TEST(the_damaged_side_is_named) {
    for (int i = 0; i < 4; i++) {
        model_pair pair;
        pair_open(&pair);
        test_model *damaged = i % 2 == 0 ? &pair.a : &pair.b;
        const char *tensor = "encoder.layer.0.output.LayerNorm.weight";
        for (int layer = 0; layer < LAYERS; layer++) {
            add_gains(&pair.a, layer, 1);
            add_gains(&pair.b, layer, 1);
        }
        if (i < 2) {
            tensor = "encoder.layer.1.attention.self.key.weight";
            strcat(model_find(damaged, tensor)->name, "_renamed");
        } else {
            model_find(damaged, tensor)->value[2] = INFINITY;
        }
        pair_compare(&pair, 1);
        const szg_table *table = pair.tables.diff;
        const char *note = cell_text(table, szg_table_rows(table) - 1, "note");
        const test_model *other = i % 2 == 0 ? &pair.b : &pair.a;
        ck_assert_int_eq(pair.tables.bad, i < 2 ? 1 : HEADS);
        ck_assert_msg(strstr(note, "layer 1") && strstr(note, tensor) &&
                          strstr(note, damaged->folder) && !strstr(note, other->folder),
                      "%s", note);
        pair_close(&pair);
    }
}
END_TEST

/* base_X is what `szego checkpoint` says of A. */
static void check_base(const model_pair *pair, bool raw) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .raw = raw};
    szg_checkpoint_tables tables;
    ck_szg_ok(szg_checkpoint_analyse(test_context(), pair->base, &options, &tables));
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++) {
            int64_t at = find_row(tables.summary, layer, head, "qk"), row;
            row = row_of(pair, layer, head);
            double sigma = cell(tables.summary, at, "sigma_max");
            /* of the same factors, by two ways */
            ck_close(cell(pair->tables.diff, row, "base_sigma_max"), sigma, 4 * weyl(D, sigma));
            ck_assert_str_eq(cell_text(pair->tables.diff, row, "folded"),
                             cell_text(tables.summary, at, "folded"));
        }
    szg_checkpoint_tables_close(&tables);
}

/* Layer 1 of B has gains twice those of A, and nothing else differs: M_B = 4 M_A, of which D2 is
 * 2 M_A and D3 is M_A. --raw sees no change. */
START_TEST(gains_are_weights) {
    for (int raw = 0; raw < 2; raw++) {
        const szgi_diff_options options = {.top = 1, .raw = raw};
        model_pair pair;
        pair_open(&pair);
        pair_equal(&pair);
        for (int layer = 0; layer < LAYERS; layer++) {
            add_gains(&pair.a, layer, 1);
            add_gains(&pair.b, layer, layer == 1 ? 2 : 1);
        }
        pair_write(&pair);
        ck_szg_ok(szgi_diff_open(test_context(), false, &pair.tables));
        ck_szg_ok(
            szgi_checkpoint_diff(test_context(), pair.base, pair.other, 1, &options, &pair.tables));
        for (int64_t layer = 0; layer < LAYERS; layer++)
            for (int64_t head = 0; head < HEADS; head++) {
                int64_t row = row_of(&pair, layer, head);
                double factor = layer == 1 && !raw, bound = gamma_of(16 * D * 2 * E);
                ck_close(cell(pair.tables.diff, row, "change"), 3 * factor, 3 * factor * bound);
                ck_close(cell(pair.tables.diff, row, "d2"), 2 * factor, 2 * factor * bound);
                ck_close(cell(pair.tables.diff, row, "d3"), factor, factor * bound);
            }
        check_base(&pair, raw);
        pair_close(&pair);
    }
}
END_TEST

/* Gains in one checkpoint alone are no change of its weights: the layer is skipped, but not with
 * --raw. */
START_TEST(gains_of_one_side) {
    for (int raw = 0; raw < 2; raw++) {
        const szgi_diff_options options = {.top = 1, .raw = raw};
        model_pair pair;
        pair_open(&pair);
        for (int layer = 0; layer < LAYERS; layer++) {
            add_gains(&pair.a, layer, 1);
            if (layer != 2)
                add_gains(&pair.b, layer, 1);
        }
        pair_write(&pair);
        ck_szg_ok(szgi_diff_open(test_context(), false, &pair.tables));
        ck_szg_ok(
            szgi_checkpoint_diff(test_context(), pair.base, pair.other, 1, &options, &pair.tables));
        const szg_table *table = pair.tables.diff;
        int64_t last = szg_table_rows(table) - 1;
        ck_assert_int_eq(pair.tables.bad, !raw);
        ck_assert_int_eq(last + 1, raw ? CHANGES : CHANGES - HEADS + 1);
        if (!raw)
            ck_assert(strstr(cell_text(table, last, "note"), "folded: none, and input in") &&
                      strstr(cell_text(table, last, "note"), "--raw"));
        pair_close(&pair);
    }
}
END_TEST

enum { WIDE = 6, SIZE = 4 };

/* One head of LLaMA of size 4 and width 6, as safetensors and as llama.cpp's converter has it: row
 * 2 t + j is row 2 j + t. */
static void write_both(test_model *model, const char *path) {
    static const char config[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 6, \"num_hidden_layers\": 1, "
        "\"num_attention_heads\": 1, \"num_key_value_heads\": 1, \"head_dim\": 4, "
        "\"rope_theta\": 10000}";
    static const char *const sides[] = {"q", "k"};
    static const struct {
        const char *key;
        uint32_t value;
    } sizes[] = {{"llama.block_count", 1},
                 {"llama.embedding_length", WIDE},
                 {"llama.attention.head_count", 1},
                 {"llama.attention.head_count_kv", 1},
                 {"llama.attention.key_length", SIZE}};
    gguf_file file = {.version = 0};
    gguf_key_text(&file, "general.architecture", "llama");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        gguf_key_u32(&file, sizes[i].key, sizes[i].value);
    gguf_key_f32(&file, "llama.rope.freq_base", 10000);
    for (int side = 0; side < 2; side++) {
        const double *w = model_add(model, SZGI_DTYPE_F32, SIZE, WIDE,
                                    "model.layers.0.self_attn.%s_proj.weight", sides[side])
                              ->value;
        float moved[SIZE * WIDE];
        char name[64];
        for (int row = 0; row < SIZE; row++)
            for (int j = 0; j < WIDE; j++)
                moved[row * WIDE + j] = (float)w[(row % 2 * 2 + row / 2) * WIDE + j];
        snprintf(name, sizeof name, "blk.0.attn_%s.weight", sides[side]);
        gguf_tensor(&file, name, 0, 2, (int64_t[]){SIZE, WIDE}, moved, sizeof moved);
    }
    gguf_write(&file, path);
    gguf_free(&file);
    model_write(model, config);
}

/* Between a model and its GGUF file nothing differs, either way round. */
START_TEST(a_gguf_file_and_its_model) {
    test_model model;
    char path[256];
    model_open(&model);
    snprintf(path, sizeof path, "%s", scratch_path("diff.gguf"));
    write_both(&model, path);
    for (int i = 0; i < 2; i++) {
        szg_checkpoint *side[2];
        szgi_diff_tables tables;
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &side[i]));
        ck_szg_ok(szg_checkpoint_open(test_context(), path, NULL, &side[1 - i]));
        ck_szg_ok(szgi_diff_open(test_context(), false, &tables));
        ck_szg_ok(szgi_checkpoint_diff(test_context(), side[0], side[1], 1, &one_vector, &tables));
        ck_assert_int_eq(szg_table_rows(tables.diff), 1);
        ck_assert_msg(cell(tables.diff, 0, "base_sigma_max") > 0, "%s",
                      cell_text(tables.diff, 0, "note"));
        ck_assert(cell(tables.diff, 0, "change") == 0 && cell(tables.diff, 0, "d2") == 0 &&
                  cell(tables.diff, 0, "d3") == 0);
        ck_assert(!strstr(cell_text(tables.diff, 0, "note"), "rotary"));
        szgi_diff_close(&tables);
        szg_checkpoint_close(&side[0]);
        szg_checkpoint_close(&side[1]);
    }
    model_close(&model);
}
END_TEST

START_TEST(other_architectures) {
    static const char narrow[] = "{\"model_type\":\"bert\",\"num_hidden_layers\":3,"
                                 "\"num_attention_heads\":3,\"hidden_size\":6,"
                                 "\"max_position_embeddings\":5}";
    static const char fewer[] = "{\"model_type\":\"bert\",\"num_hidden_layers\":2,"
                                "\"num_attention_heads\":2,\"hidden_size\":6,"
                                "\"max_position_embeddings\":5}";
    static const char foreign[] = "{\"model_type\":\"unheard\"}";
    static const struct {
        const char *config, *words;
    } cases[] = {{narrow, "num_attention_heads is 3, and 2 in"},
                 {fewer, "num_hidden_layers is 2, and 3 in"},
                 {foreign, "--config"},
                 {NULL, "there are no heads to compare"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model_pair pair;
        pair_open(&pair);
        model_write(&pair.a, model_bert);
        model_write(&pair.b, cases[i].config);
        ck_szg_ok(szg_checkpoint_open(test_context(), pair.a.folder, NULL, &pair.base));
        ck_szg_ok(szg_checkpoint_open(test_context(), pair.b.folder, NULL, &pair.other));
        ck_szg_ok(szgi_diff_open(test_context(), false, &pair.tables));
        ck_szg_fails(SZG_EDATA, cases[i].words,
                     szgi_checkpoint_diff(test_context(), pair.base, pair.other, -1, &one_vector,
                                          &pair.tables));
        ck_assert(strstr(szg_context_message(test_context()), pair.b.folder));
        pair_close(&pair);
    }
}
END_TEST

static szg_status compare_all(const model_pair *pair) {
    const szgi_diff_options options = {.top = 2};
    szgi_diff_tables tables;
    SZG_TRY(szgi_diff_open(test_context(), true, &tables));
    szg_status status =
        szgi_checkpoint_diff(test_context(), pair->base, pair->other, 1, &options, &tables);
    szgi_diff_close(&tables);
    return status;
}

START_TEST(refused_memory) {
    model_pair pair;
    pair_open(&pair);
    weight(&pair.a, 1, "key")[4] = NAN; /* texts of problems, too */
    pair_write(&pair);
    ck_survives_failed_allocations(20, compare_all(&pair));
    pair_close(&pair);
}
END_TEST

static void cancel_at_once(void *user, const char *what, int64_t done, int64_t total) {
    (void)what, (void)done, (void)total;
    szg_context_cancel(*(szg_context **)user);
}

START_TEST(cancelling) {
    model_pair pair;
    szg_context *context;
    szgi_diff_tables tables;
    const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                         .progress = cancel_at_once, .user = &context};
    pair_open(&pair);
    pair_write(&pair);
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szgi_diff_open(context, false, &tables), SZG_OK);
    ck_assert_int_eq(szgi_checkpoint_diff(context, pair.base, pair.other, 1, &one_vector, &tables),
                     SZG_ECANCEL);
    ck_assert_int_eq(szg_table_rows(tables.diff), 0);
    szgi_diff_close(&tables);
    szg_context_close(&context);
    pair_close(&pair);
}
END_TEST

/* ---- Series ---- */

START_TEST(steps_of_names) {
    static const struct {
        const char *path;
        int64_t step;
    } names[] = {{"checkpoint-0", 0},
                 {"a/checkpoint-12//", 12},
                 {"./checkpoint-0012", 12},
                 {"checkpoint-9223372036854775807", INT64_MAX},
                 {"checkpoint-9223372036854775808", -1},
                 {"checkpoint-99999999999999999999999999", -1},
                 {"checkpoint-", -1},
                 {"checkpoint--3", -1},
                 {"checkpoint--0", -1},
                 {"checkpoint-xyz", -1},
                 {"checkpoint-3x", -1},
                 {"checkpoint-+3", -1},
                 {"my-checkpoint-3", -1},
                 {"checkpoint-3/weights", -1},
                 {"/", -1},
                 {"", -1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(szgi_series_step(names[i].path) == names[i].step, "%s", names[i].path);
}
END_TEST

static void make_folder(const char *folder, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_eq(mkdir(path, 0777), 0);
}

static szg_status list_folder(const char *folder) {
    szgi_series series;
    SZG_TRY(szgi_series_of_folder(test_context(), folder, &series));
    szgi_series_close(&series);
    return SZG_OK;
}

START_TEST(a_folder_of_steps) {
    szgi_series series;
    const char *folder = scratch_folder();
    char file[256];
    ck_szg_fails(SZG_EDATA, "no folder checkpoint-STEP", list_folder(folder));
    make_folder(folder, "checkpoint-1000");
    ck_szg_fails(SZG_EDATA, "only one folder", list_folder(folder));
    make_folder(folder, "checkpoint-9");
    make_folder(folder, "checkpoint-10");
    make_folder(folder, "checkpoint-xyz");
    make_folder(folder, "other");
    snprintf(file, sizeof file, "%s/checkpoint-11", folder);
    fclose(fopen(file, "w"));
    ck_szg_ok(szgi_series_of_folder(test_context(), folder, &series));
    ck_assert_int_eq(series.count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(series.item[i].step, ((const int64_t[]){9, 10, 1000})[i]);
    szgi_series_close(&series);
    ck_survives_failed_allocations(3, list_folder(folder));
    make_folder(folder, "checkpoint-010");
    ck_szg_fails(SZG_EDATA, "both of step 10", list_folder(folder));
    ck_szg_fails(SZG_EIO, "cannot be read", list_folder(file));
    scratch_remove(folder);
}
END_TEST

START_TEST(paths_as_they_stand) {
    static const char *const named[] = {"base", "b/checkpoint-20", "b/checkpoint-3"};
    szgi_series series;
    for (int count = 2; count <= 3; count++) {
        ck_szg_ok(szgi_series_of_paths(test_context(), named, count, &series));
        ck_assert_int_eq(series.item[1].step, 20);
        ck_assert_int_eq(series.item[count - 1].step, count == 3 ? 3 : 20);
        szgi_series_close(&series);
        ck_szg_ok(
            szgi_series_of_paths(test_context(), (const char *[]){"b", "c", "a"}, count, &series));
        ck_assert_int_eq(series.item[1].step, count == 3 ? 1 : -1);
        ck_assert_str_eq(series.item[1].path, "c");
        szgi_series_close(&series);
    }
}
END_TEST

TEST_FILE("diff") {
    test_add(suite, "dense_matrices", dense_matrices);
    test_add(suite, "nothing_changed", nothing_changed);
    test_add(suite, "queries_doubled", queries_doubled);
    test_add(suite, "a_direction_that_turns", a_direction_that_turns);
    test_add(suite, "directions_that_do_not_exist", directions_that_do_not_exist);
    test_add(suite, "weights_far_from_1", weights_far_from_1);
    test_add(suite, "norms_beyond_the_doubles", norms_beyond_the_doubles);
    test_add(suite, "a_layer_that_is_not_finite", a_layer_that_is_not_finite);
    test_add(suite, "the_damaged_side_is_named", the_damaged_side_is_named);
    test_add(suite, "gains_are_weights", gains_are_weights);
    test_add(suite, "gains_of_one_side", gains_of_one_side);
    test_add(suite, "a_gguf_file_and_its_model", a_gguf_file_and_its_model);
    test_add(suite, "other_architectures", other_architectures);
    test_add(suite, "refused_memory", refused_memory);
    test_add(suite, "cancelling", cancelling);
    test_add(suite, "steps_of_names", steps_of_names);
    test_add(suite, "a_folder_of_steps", a_folder_of_steps);
    test_add(suite, "paths_as_they_stand", paths_as_they_stand);
}
