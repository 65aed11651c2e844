/* QK circuits at lags and OV circuits against dense products, and their baseline against draws of
 * whole Gaussian matrices. Which tensors values are, by family, is in test_families.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/baseline.h"
#include "gguf_file.h"
#include "linalg/linalg.h"
#include "model.h"

enum { LAYERS = 2, HEADS = 4, KEY_HEADS = 2, E = 4, V = 6, D = 12, GROUP = HEADS / KEY_HEADS };

static const int64_t lags[] = {0, 11, -16, 300000}; /* 11 is a right angle of the first pair */
enum { LAGS = sizeof lags / sizeof *lags };

/* Two layers, the second without rotation; values of a head are longer than its keys. */
static const char smollm[] =
    "{\"model_type\":\"smollm3\",\"num_hidden_layers\":2,\"num_attention_heads\":4,"
    "\"num_key_value_heads\":2,\"head_dim\":4,\"hidden_size\":12,\"rope_theta\":10000.0,"
    "\"no_rope_layers\":[1,0]}";

static void add_smollm(test_model *model) {
    for (int i = 0; i < LAYERS; i++) {
        const char *const before = "model.layers.%d.self_attn.%s_proj.weight";
        model_add(model, SZGI_DTYPE_F32, HEADS * E, D, before, i, "q");
        model_add(model, SZGI_DTYPE_F32, KEY_HEADS * E, D, before, i, "k");
        model_add(model, SZGI_DTYPE_F32, KEY_HEADS * V, D, before, i, "v");
        model_add(model, SZGI_DTYPE_F32, D, HEADS * V, before, i, "o");
        model_add(model, SZGI_DTYPE_F32, D, -1, "model.layers.%d.input_layernorm.weight", i);
    }
}

static szg_checkpoint_options with_circuits(int64_t draws) {
    return (szg_checkpoint_options){SZG_INIT(szg_checkpoint_options),
                                    .circuits = true,
                                    .lags = lags,
                                    .lag_count = LAGS,
                                    .draws = draws,
                                    .seed = test_seed()};
}

/* The row of `circuits`; lag NULL: the cell is empty. */
static int64_t find_circuit(const szg_table *table, int64_t layer, int64_t head,
                            const char *circuit, const int64_t *lag) {
    int64_t found = -1, column = szg_table_find(table, "lag");
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        bool empty = szg_table_is_empty(table, row, column);
        if ((int64_t)cell(table, row, "layer") != layer ||
            (int64_t)cell(table, row, "head") != head ||
            strcmp(cell_text(table, row, "circuit"), circuit) != 0 || empty != !lag ||
            (lag && szg_table_get_integer(table, row, column) != *lag))
            continue;
        ck_assert_int_lt(found, 0);
        found = row;
    }
    ck_assert_int_ge(found, 0);
    return found;
}

/* The numbers of a row are those of the dense d x d matrix; a value of `error` moves by as much. */
static void check_numbers(const szg_table *table, int64_t row, int64_t d, const double *dense,
                          double norm, double error) {
    double bound = error + weyl(d, norm_of(d * d, dense)), frobenius = norm_of(d * d, dense);
    double *work = calloc((size_t)(d * d + d), sizeof *work), *s = work + d * d;
    ck_assert_ptr_nonnull(work);
    memcpy(work, dense, (size_t)(d * d) * sizeof *work);
    ck_szg_ok(szgi_singular(test_context(), d, d, work, d, s, NULL, 1, NULL, 1));
    double nuclear = 0, entropy = 0, off = 0;
    for (int64_t i = 0; i < d; i++)
        nuclear += s[i];
    for (int64_t i = 0; i < d && s[i] > bound; i++) {
        double p = s[i] / nuclear, dp = 2 * (double)d * bound / nuclear;
        entropy -= p * log(p);
        off += dp * (fabs(log(p)) + 2); /* |d(p log p)| <= (|log p| + 1) dp, p above its error */
    }
    off += (double)d * 40 * (double)d * bound / nuclear; /* those below: -x log x with x > 1e-17 */
    ck_close(cell(table, row, "sigma_max"), norm, bound);
    ck_close(cell(table, row, "frobenius"), frobenius, sqrt((double)d) * bound);
    double ratio = frobenius / norm, stable = ratio * ratio;
    ck_close(cell(table, row, "stable_rank"), stable, 4 * stable * sqrt((double)d) * bound / norm);
    ck_close(cell(table, row, "effective_rank"), exp(entropy), 2 * exp(entropy) * off);
    ck_assert(cell(table, row, "residual") <= bound / norm + 64 * DBL_EPSILON * (double)d);
    free(work);
}

/* s D W_Q^T R(-k theta) W_K D at a lag: pair by pair, with cosines and sines of its own. */
static double *dense_qk(const test_model *model, int64_t layer, int64_t head, int64_t lag,
                        bool rotates, double *error) {
    const char *const name = "model.layers.%d.self_attn.%s_proj.weight";
    const double *q = model_value(model, name, (int)layer, "q") + head * E * D;
    const double *k = model_value(model, name, (int)layer, "k") + head / GROUP * E * D;
    const double *g = model_value(model, "model.layers.%d.input_layernorm.weight", (int)layer);
    double *dense = calloc(D * D, sizeof *dense), scale = 1 / sqrt(E);
    ck_assert_ptr_nonnull(dense);
    for (int64_t i = 0; i < D; i++)
        for (int64_t j = 0; j < D; j++)
            for (int64_t t = 0; t < E / 2; t++) {
                double angle = rotates ? (double)lag * pow(10000, -2.0 * (double)t / E) : 0;
                double qa = q[t * D + i], qb = q[(t + E / 2) * D + i];
                double ka = k[t * D + j], kb = k[(t + E / 2) * D + j];
                dense[i * D + j] +=
                    scale * g[i] * g[j] *
                    (cos(angle) * (qa * ka + qb * kb) + sin(angle) * (qa * kb - qb * ka));
            }
    double size = 0; /* of the factors with their gains, and the angle's rounding in both ways */
    double largest = 0;
    for (int64_t i = 0; i < D; i++)
        largest = fmax(largest, fabs(g[i]));
    size = scale * largest * largest * norm_of(E * D, q) * norm_of(E * D, k);
    *error = (2 * gamma_of(2 * E + 16) + 8 * DBL_EPSILON * fabs((double)lag)) * size;
    return dense;
}

/* W_O W_V D. */
static double *dense_ov(const test_model *model, int64_t layer, int64_t head, double *error) {
    const char *const name = "model.layers.%d.self_attn.%s_proj.weight";
    const double *v = model_value(model, name, (int)layer, "v") + head / GROUP * V * D;
    const double *o = model_value(model, name, (int)layer, "o");
    const double *g = model_value(model, "model.layers.%d.input_layernorm.weight", (int)layer);
    double *dense = calloc(D * D, sizeof *dense), size = 0, largest = 0;
    ck_assert_ptr_nonnull(dense);
    for (int64_t i = 0; i < D; i++) {
        largest = fmax(largest, fabs(g[i]));
        for (int64_t r = 0; r < V; r++)
            size += o[i * HEADS * V + head * V + r] * o[i * HEADS * V + head * V + r];
        for (int64_t j = 0; j < D; j++)
            for (int64_t r = 0; r < V; r++)
                dense[i * D + j] += o[i * HEADS * V + head * V + r] * v[r * D + j] * g[j];
    }
    *error = 2 * gamma_of(2 * V + 8) * sqrt(size) * norm_of(V * D, v) * largest;
    return dense;
}

static void check_head(const test_model *model, const szg_checkpoint_tables *tables, int64_t layer,
                       int64_t head) {
    double error, *dense = dense_ov(model, layer, head, &error);
    double norm = check_listed(tables->spectra, layer, head, "ov", D, dense, error);
    int64_t row = find_circuit(tables->circuits, layer, head, "ov", NULL);
    check_numbers(tables->circuits, row, D, dense, norm, error);
    ck_assert_str_eq(cell_text(tables->circuits, row, "folded"), "input");
    ck_assert_int_eq((int64_t)cell(tables->circuits, row, "key_head"), head / GROUP);
    free(dense);
    for (int64_t i = 0; i < LAGS; i++) {
        char matrix[32] = "qk";
        dense = dense_qk(model, layer, head, lags[i], layer == 0, &error);
        if (layer == 0 && lags[i] != 0)
            snprintf(matrix, sizeof matrix, "qk@%lld", (long long)lags[i]);
        norm = check_listed(tables->spectra, layer, head, matrix, D, dense, error);
        row = find_circuit(tables->circuits, layer, head, "qk", layer == 0 ? &lags[i] : NULL);
        check_numbers(tables->circuits, row, D, dense, norm, error);
        free(dense);
    }
}

START_TEST(circuits_are_those_of_dense_products) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    const szg_checkpoint_options options = with_circuits(0);
    model_open(&model);
    add_smollm(&model);
    model_write(&model, smollm);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert_int_eq(tables.bad, 0);
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++)
            check_head(&model, &tables, layer, head);
    /* A row a lag where the layer rotates, one where it does not, and one of OV. */
    ck_assert_int_eq(szg_table_rows(tables.circuits), HEADS * (LAGS + 1) + HEADS * 2);
    int64_t draws = szg_table_find(tables.circuits, "draws"),
            median = szg_table_find(tables.circuits, "sigma_max_median");
    for (int64_t i = 0; i < szg_table_rows(tables.circuits); i++) {
        ck_assert_int_eq(szg_table_get_integer(tables.circuits, i, draws), 0);
        ck_assert(szg_table_is_empty(tables.circuits, i, median));
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* Nothing is asked for: no table, and no further column of `spectra`. */
START_TEST(circuits_are_asked_for) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    add_smollm(&model);
    model_write(&model, smollm);
    model_analyse(&model, &checkpoint, &tables);
    ck_assert_ptr_null(tables.circuits);
    ck_assert_int_lt(szg_table_find(tables.spectra, "lag"), 0);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* ---- The baseline ---- */

#define L0 "model.layers.0.self_attn."
#define L1 "model.layers.1.self_attn."

/* sigma_max, stable rank and effective rank of a^T b, a and b e x d. */
static void measure(int64_t e, int64_t d, const double *a, const double *b, double out[3]) {
    double *dense = calloc((size_t)(d * d + d), sizeof *dense), *s = dense + d * d;
    ck_assert_ptr_nonnull(dense);
    for (int64_t r = 0; r < e; r++)
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < d; j++)
                dense[i * d + j] += a[r * d + i] * b[r * d + j];
    double squares = norm_of(d * d, dense), nuclear = 0, entropy = 0;
    ck_szg_ok(szgi_singular(test_context(), d, d, dense, d, s, NULL, 1, NULL, 1));
    for (int64_t i = 0; i < e; i++)
        nuclear += s[i];
    for (int64_t i = 0; i < e; i++)
        entropy -= s[i] > 0 ? s[i] / nuclear * log(s[i] / nuclear) : 0;
    out[0] = s[0];
    out[1] = squares * squares / (s[0] * s[0]);
    out[2] = exp(entropy);
    free(dense);
}

static int ascending(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The largest distance of two empirical distribution functions of n numbers each. */
static double ks_distance(int64_t n, double *a, double *b) {
    double largest = 0;
    qsort(a, (size_t)n, sizeof *a, ascending);
    qsort(b, (size_t)n, sizeof *b, ascending);
    for (int64_t i = 0, j = 0; i < n && j < n;) {
        if (a[i] <= b[j])
            i++;
        else
            j++;
        largest = fmax(largest, fabs((double)(i - j)) / (double)n);
    }
    return largest;
}

/* Products of triangles have the distribution of products of whole Gaussian matrices: the two
 * empirical functions of n draws are, with probability 1 - 1e-9, within twice what Dvoretzky,
 * Kiefer and Wolfowitz (Massart 1990) allow for one, sqrt(log(2 / 5e-10) / 2n). */
START_TEST(triangles_have_the_law_of_matrices) {
    static const int64_t shapes[][2] = {{1, 1}, {2, 2}, {3, 7}, {5, 6}, {4, 40}};
    const int64_t n = 4000;
    double bound = 2 * sqrt(log(2 / 5e-10) / (2 * (double)n));
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        int64_t e = shapes[s][0], d = shapes[s][1];
        double *found[2][3], *a = new_numbers(e * d), *b = new_numbers(e * d);
        double *x = new_numbers(e * e), *y = new_numbers(e * e), got[3];
        for (int i = 0; i < 6; i++)
            found[i / 3][i % 3] = new_numbers(n);
        for (int64_t i = 0; i < n; i++) {
            szgi_baseline_gaussian(test_seed(), i, 8, e, d, a);
            szgi_baseline_gaussian(test_seed(), i, 9, e, d, b);
            measure(e, d, a, b, got);
            for (int k = 0; k < 3; k++)
                found[0][k][i] = got[k];
            szgi_baseline_triangle(test_seed(), i, 10, e, d, x);
            szgi_baseline_triangle(test_seed(), i, 11, e, d, y);
            measure(e, e, x, y, got);
            for (int k = 0; k < 3; k++)
                found[1][k][i] = got[k];
        }
        for (int k = 0; k < 3; k++)
            if (e > 1 || k == 0) /* ranks of a number are 1 */
                ck_assert_msg(ks_distance(n, found[0][k], found[1][k]) <= bound,
                              "%lld x %lld, quantity %d: distance %.3g, %.3g is allowed",
                              (long long)e, (long long)d, k,
                              ks_distance(n, found[0][k], found[1][k]), bound);
        for (int i = 0; i < 6; i++)
            szgi_memory_free(found[i / 3][i % 3]);
        szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(x), szgi_memory_free(y);
    }
}
END_TEST

/* What a head's random factors are made of, drawn here as whole matrices. */
typedef struct random_case {
    const char *config, *norms[3];
    const char *circuit;
    int64_t layer, head, lag;
    bool folds;
    double qk_gain; /* of the first dimension, in the norms of queries and of keys; others: 1 */
} random_case;

/* The share of n ascending numbers that are at most x. */
static double share_below(int64_t n, const double *ascending_numbers, double x) {
    int64_t count = 0;
    while (count < n && ascending_numbers[count] <= x)
        count++;
    return (double)count / (double)n;
}

enum { CHECKED = 3000, DRAWN = 2000 };

/* The quantiles that the table has, of DRAWN draws, are those of the law: the p-quantile of n
 * draws is an order statistic, whose place in the law is a Beta(k, n - k + 1) number: mean p,
 * variance at most p (1 - p) / n, here within 7 deviations and the neighbours' 1 / n; CHECKED draws
 * know the law within sqrt(log(2 / 1e-10) / 2 CHECKED). */
static void check_quantiles(const szg_table *table, int64_t row, double *found[3]) {
    static const char *const quantity[] = {"sigma_max", "stable_rank", "effective_rank"};
    static const char *const names[] = {"q025", "median", "q975"};
    static const double places[] = {0.025, 0.5, 0.975};
    double known = sqrt(log(2 / 1e-10) / (2.0 * CHECKED));
    for (int k = 0; k < 3; k++) {
        qsort(found[k], CHECKED, sizeof *found[k], ascending);
        for (int i = 0; i < 3; i++) {
            char column[64];
            snprintf(column, sizeof column, "%s_%s", quantity[k], names[i]);
            double p = places[i], bound = 7 * sqrt(p * (1 - p) / DRAWN) + 1.0 / DRAWN + known;
            ck_close(share_below(CHECKED, found[k], cell(table, row, column)), p, bound);
        }
    }
}

/* Whole Gaussian matrices of the same norms, scaled column by column and row by row. */
static void draw_law(const test_model *model, const random_case *is, double *found[3]) {
    bool ov = strcmp(is->circuit, "ov") == 0;
    const char *const name = "model.layers.%d.self_attn.%s_proj.weight";
    int64_t e = ov ? V : E;
    const double *gain = model_value(model, "model.layers.%d.input_layernorm.weight", 0);
    double *a = new_numbers(e * D), *b = new_numbers(e * D), got[3], sizes[2];
    if (ov) {
        const double *o = model_value(model, name, 0, "o");
        double squares = 0;
        for (int64_t i = 0; i < D * V; i++)
            squares += pow(o[i / V * HEADS * V + is->head * V + i % V], 2);
        sizes[0] = sqrt(squares);
        sizes[1] = norm_of(V * D, model_value(model, name, 0, "v") + is->head / GROUP * V * D);
    } else {
        sizes[0] = norm_of(E * D, model_value(model, name, 0, "q") + is->head * E * D) / sqrt(E);
        sizes[1] = norm_of(E * D, model_value(model, name, 0, "k") + is->head / GROUP * E * D);
    }
    for (int64_t n = 0; n < CHECKED; n++) {
        const szgi_stream left = {test_seed(), (uint32_t)n, 77},
                          right = {test_seed(), (uint32_t)n, 78};
        szgi_random_fill_normal(&left, 0, e * D, a);
        szgi_random_fill_normal(&right, 0, e * D, b);
        for (int64_t i = 0; i < e * D; i++) {
            a[i] *= sizes[0] / sqrt((double)(e * D)) * (is->folds && !ov ? gain[i % D] : 1);
            b[i] *= sizes[1] / sqrt((double)(e * D)) * (is->folds ? gain[i % D] : 1);
        }
        for (int64_t j = 0; j < D && is->qk_gain != 0; j++)
            a[j] *= is->qk_gain, b[j] *= is->qk_gain;
        for (int64_t t = 0; t < E / 2 && !ov; t++)
            for (int64_t j = 0; j < D; j++) {
                double angle = (double)is->lag * pow(10000, -2.0 * (double)t / E);
                double first = a[t * D + j], second = a[(t + E / 2) * D + j];
                a[t * D + j] = cos(angle) * first - sin(angle) * second;
                a[(t + E / 2) * D + j] = sin(angle) * first + cos(angle) * second;
            }
        measure(e, D, a, b, got);
        for (int k = 0; k < 3; k++)
            found[k][n] = got[k];
    }
    szgi_memory_free(a);
    szgi_memory_free(b);
}

#define QWEN(type)                                                                                 \
    "{\"model_type\":\"" type "\",\"num_hidden_layers\":1,\"num_attention_heads\":4,"              \
    "\"num_key_value_heads\":2,\"head_dim\":4,\"hidden_size\":12,\"rope_theta\":10000.0}"

START_TEST(quantiles_are_those_of_the_law) {
    static const random_case cases[] = {
        {.config = QWEN("llama"), .circuit = "qk", .head = 3, .lag = 11, .folds = true},
        {.config = QWEN("llama"), .circuit = "ov", .head = 1, .folds = true},
        {.config = QWEN("llama"), .circuit = "qk", .head = 2, .lag = 11},
        {.config = QWEN("llama"), .circuit = "ov", .head = 2},
        {.config = QWEN("qwen3"),
         .circuit = "qk",
         .head = 1,
         .lag = 11,
         .folds = true,
         .qk_gain = 6},
        {.config = QWEN("qwen3"),
         .circuit = "qk",
         .head = 1,
         .lag = 300000,
         .qk_gain = 6,
         .folds = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        const random_case *is = &cases[i];
        szg_checkpoint_options options = with_circuits(DRAWN);
        options.raw = !is->folds;
        model_open(&model);
        add_smollm(&model);
        double *gain = model_find(&model, "model.layers.0.input_layernorm.weight")->value;
        for (int64_t j = 0; j < D; j++)
            gain[j] = j < 3 ? 3 : 0.25; /* three directions are nearly all */
        for (int side = 0; side < 2; side++) {
            model_tensor *norm =
                model_add(&model, SZGI_DTYPE_F32, E, -1, "model.layers.0.self_attn.%s_norm.weight",
                          side ? "k" : "q");
            for (int64_t j = 0; j < E; j++)
                norm->value[j] = j == 0 ? 6 : 1;
        }
        model_write(&model, is->config);
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        bool ov = strcmp(is->circuit, "ov") == 0;
        int64_t row = find_circuit(tables.circuits, 0, is->head, is->circuit, ov ? NULL : &is->lag);
        double *found[3];
        for (int k = 0; k < 3; k++)
            found[k] = new_numbers(CHECKED);
        draw_law(&model, is, found);
        check_quantiles(tables.circuits, row, found);
        ck_assert_int_eq((int64_t)cell(tables.circuits, row, "draws"), DRAWN);
        for (int k = 0; k < 3; k++)
            szgi_memory_free(found[k]);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

static const char stablelm[] =
    "{\"model_type\":\"stablelm\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"num_key_value_heads\":2,\"hidden_size\":8,\"qk_layernorm\":true,"
    "\"rope_theta\":10000.0,\"partial_rotary_factor\":0.5}";

/* Two heads whose first gains of queries and keys are these, and the others 1. */
static void add_stablelm(test_model *model, const double gains[2]) {
    model_open(model);
    model_add(model, SZGI_DTYPE_F32, 8, 8, L0 "q_proj.weight");
    model_add(model, SZGI_DTYPE_F32, 8, 8, L0 "k_proj.weight");
    for (int i = 0; i < 4; i++) {
        model_tensor *gain = model_add(model, SZGI_DTYPE_F32, 4, -1,
                                       L0 "%c_layernorm.norms.%d.weight", i / 2 ? 'k' : 'q', i % 2);
        for (int j = 0; j < 4; j++)
            gain->value[j] = j == 0 ? gains[i % 2] : 1;
    }
    model_write(model, stablelm);
}

/* Heads with gains of their own (StableLM) have baselines of their own: head 1's is the one that it
 * has where all heads have its gains. */
START_TEST(heads_have_baselines_of_their_own) {
    const szg_checkpoint_options options = with_circuits(50);
    double median[2][2];
    for (int all = 0; all < 2; all++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        add_stablelm(&model, (double[]){all ? 16 : 1, 16});
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        for (int64_t head = 0; head < 2; head++)
            median[all][head] =
                cell(tables.circuits, find_circuit(tables.circuits, 0, head, "qk", &lags[0]),
                     "effective_rank_median");
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
    ck_assert(median[0][1] == median[1][1] && median[1][0] == median[1][1]);
    ck_assert(median[0][0] > 1.2 * median[0][1]);
}
END_TEST

/* A gain of head 1 that is no number costs head 1 alone, with its baseline. */
START_TEST(a_bad_gain_costs_its_head) {
    const szg_checkpoint_options options = with_circuits(50);
    double median[2];
    for (int bad = 0; bad < 2; bad++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        add_stablelm(&model, (double[]){3, bad ? NAN : 1});
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        median[bad] = cell(tables.circuits, find_circuit(tables.circuits, 0, 0, "qk", &lags[0]),
                           "stable_rank_median");
        ck_assert_int_eq(tables.bad, 1 + bad); /* the file has no values either */
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
    ck_assert(median[0] == median[1]);
}
END_TEST

/* Layers share draws where all of their factors have one law. YaRN's factor belongs to it: it is 1
 * in the sliding layers of OLMo 3. A layer alone has the baseline that it has beside others. */
START_TEST(a_layer_alone_has_the_same_baseline) {
    char folder[512];
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables all, one;
    szg_checkpoint_options options = with_circuits(50);
    options.raw = true;
    snprintf(folder, sizeof folder, "%s/olmo3", getenv("SZG_FAMILIES"));
    ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &all));
    for (int64_t layer = 0; layer < 2; layer++) {
        options.layers = layer ? "1" : "0";
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &one));
        for (int64_t head = 0; head < checkpoint->heads; head++) {
            int64_t beside = find_circuit(all.circuits, layer, head, "qk", &lags[0]),
                    alone = find_circuit(one.circuits, layer, head, "qk", &lags[0]);
            ck_assert(cell(all.circuits, beside, "sigma_max_median") ==
                      cell(one.circuits, alone, "sigma_max_median"));
        }
        szg_checkpoint_tables_close(&one);
    }
    szg_checkpoint_tables_close(&all);
    szg_checkpoint_close(&checkpoint);
}
END_TEST

/* ---- What is missing or bad ---- */

typedef struct bad_case {
    const char *tensor, *other; /* renamed, NULL: nothing; to that */
    const char *nan;            /* a tensor with a bad number */
    int64_t bad, rows;          /* of OV circuits that are there */
    const char *words;
} bad_case;

static int64_t count_ov(const szg_table *table, const char *words, int64_t *said) {
    int64_t count = 0, column = szg_table_find(table, "sigma_max");
    *said = 0;
    for (int64_t i = 0; i < szg_table_rows(table); i++) {
        count += strcmp(cell_text(table, i, "circuit"), "ov") == 0 &&
                 !szg_table_is_empty(table, i, column);
        *said += words && strstr(cell_text(table, i, "note"), words);
    }
    return count;
}

START_TEST(layers_without_values_are_named) {
    static const bad_case cases[] = {
        {.tensor = L1 "o_proj.weight",
         .other = "x",
         .bad = 1,
         .rows = HEADS,
         .words = "layer 1, ov: tensor " L1 "o_proj.weight is missing"},
        {.tensor = L0 "v_proj.weight",
         .other = "x",
         .bad = 1,
         .rows = HEADS,
         .words = "layer 0, ov: tensor " L0 "v_proj.weight is missing"},
        {.nan = L1 "v_proj.weight", .bad = 1, .rows = HEADS, .words = "layer 1, ov: "},
        {.nan = L0 "o_proj.weight", .bad = 1, .rows = HEADS, .words = "layer 0, ov: "},
        {.tensor = L0 "k_proj.weight", .other = L0 "k_proj.weight", .rows = 2 * HEADS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        const szg_checkpoint_options options = with_circuits(3);
        int64_t said;
        model_open(&model);
        add_smollm(&model);
        if (cases[i].tensor) {
            model_tensor *tensor = model_find(&model, cases[i].tensor);
            snprintf(tensor->name, sizeof tensor->name, "%s", cases[i].other);
        }
        if (cases[i].nan)
            model_find(&model, cases[i].nan)->value[5] = NAN;
        model_write(&model, smollm);
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        ck_assert_int_eq(tables.bad, cases[i].bad);
        ck_assert_int_eq(count_ov(tables.circuits, cases[i].words, &said), cases[i].rows);
        ck_assert_int_eq(said, cases[i].bad);
        ck_assert_int_eq(szg_table_rows(tables.summary), LAYERS * HEADS); /* qk has all */
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* Another tensor beside the values', two outputs, a shape that is none: refused by name. */
START_TEST(values_that_are_not_known_are_refused) {
    static const struct {
        const char *tensor;
        int64_t rows, columns;
        const char *words;
    } cases[] = {
        {L0 "v_norm.weight", V, -1, "acts on the values in a way that szego does not know"},
        {L0 "out_proj.weight", D, HEADS * V, "are both there, and one of them is the output"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        const szg_checkpoint_options options = with_circuits(0);
        int64_t said;
        model_open(&model);
        add_smollm(&model);
        model_add(&model, SZGI_DTYPE_F32, cases[i].rows, cases[i].columns, "%s", cases[i].tensor);
        model_write(&model, smollm);
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        ck_assert_int_eq(tables.bad, 1);
        ck_assert_int_eq(count_ov(tables.circuits, cases[i].words, &said), HEADS);
        ck_assert_int_eq(said, 1);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* A file of queries and keys alone: said once, in the part with head 0 of layer 0. */
START_TEST(a_file_without_values_says_so_once) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    static const char *const parts[] = {NULL, "0", "1"};
    model_open(&model);
    add_smollm(&model);
    for (int i = 0; i < model.tensors; i++)
        if (strstr(model.tensor[i].name, ".v_proj") || strstr(model.tensor[i].name, ".o_proj"))
            snprintf(model.tensor[i].name, sizeof model.tensor[i].name, "other.%d", i);
    model_write(&model, smollm);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        szg_checkpoint_options options = with_circuits(0);
        int64_t said;
        options.layers = parts[i];
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
        ck_assert_int_eq(tables.bad, 1);
        ck_assert_int_eq(count_ov(tables.circuits, "no layer has an output", &said), 0);
        ck_assert_int_eq(said, i < 2);
        szg_checkpoint_tables_close(&tables);
    }
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(bad_options_are_refused) {
    static const int64_t twice[] = {1, 2, 1}, far[] = {(1 << 24) + 1};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    add_smollm(&model);
    model_write(&model, smollm);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    szg_checkpoint_options options = with_circuits(-1);
    ck_szg_fails(SZG_EINVAL, "-1 draws: a negative number",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    options = with_circuits(0);
    options.lags = twice, options.lag_count = 3;
    ck_szg_fails(SZG_EINVAL, "lag 1 is there twice",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    options.lags = far, options.lag_count = 1;
    ck_szg_fails(SZG_EINVAL, "lag 16777217: at most 16777216",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    options.lags = NULL;
    ck_szg_fails(SZG_EINVAL, "1 lags without a list",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    szg_checkpoint_close(&checkpoint);
    options = with_circuits(0);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, "", &checkpoint));
    ck_szg_fails(SZG_EINVAL, "its architecture is unknown",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(circuits_survive_refused_allocations) {
    static const char *const families[] = {"deepseek_v3", "stablelm", "gpt2"};
    const szg_checkpoint_options options = with_circuits(2);
    test_model model;
    model_open(&model);
    add_smollm(&model);
    model_find(&model, L1 "o_proj.weight")->value[3] = NAN;
    model_write(&model, smollm);
    ck_survives_failed_allocations(1, model_try(model.folder, &options));
    model_close(&model);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", getenv("SZG_FAMILIES"), families[i]);
        ck_survives_failed_allocations(1, model_try(folder, &options));
    }
}
END_TEST

/* ---- GGUF ---- */

static void put(gguf_file *file, const test_model *model, const char *name, const char *of,
                int64_t rows, int64_t columns) {
    const double *value = model_value(model, "%s", of);
    float single[HEADS * V * D];
    ck_assert_int_le(rows * columns, HEADS * V * D);
    for (int64_t i = 0; i < rows * columns; i++)
        single[i] = (float)value[i];
    gguf_tensor(file, name, 0, columns > 1 ? 2 : 1, (int64_t[]){rows, columns}, single,
                (size_t)(rows * columns) * sizeof *single);
}

/* The same numbers as a GGUF file: attn_v and attn_output, with values longer than keys. */
START_TEST(gguf_files_have_the_same_circuits) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    gguf_file file = {.version = 0};
    const szg_checkpoint_options options = with_circuits(0);
    model_open(&model);
    add_smollm(&model);
    gguf_key_text(&file, "general.architecture", "qwen2");
    const struct {
        const char *name;
        uint32_t value;
    } sizes[] = {{"qwen2.block_count", 1},
                 {"qwen2.embedding_length", D},
                 {"qwen2.attention.head_count", HEADS},
                 {"qwen2.attention.head_count_kv", KEY_HEADS},
                 {"qwen2.attention.key_length", E}};
    for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
        gguf_key_u32(&file, sizes[j].name, sizes[j].value);
    gguf_key_f32(&file, "qwen2.rope.freq_base", 10000);
    put(&file, &model, "blk.0.attn_q.weight", L0 "q_proj.weight", HEADS * E, D);
    put(&file, &model, "blk.0.attn_k.weight", L0 "k_proj.weight", KEY_HEADS * E, D);
    put(&file, &model, "blk.0.attn_v.weight", L0 "v_proj.weight", KEY_HEADS * V, D);
    put(&file, &model, "blk.0.attn_output.weight", L0 "o_proj.weight", D, HEADS * V);
    put(&file, &model, "blk.0.attn_norm.weight", "model.layers.0.input_layernorm.weight", D, 1);
    gguf_write(&file, scratch_path("circuits.gguf"));
    gguf_free(&file);
    ck_szg_ok(
        szg_checkpoint_open(test_context(), scratch_path("circuits.gguf"), NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert_int_eq(tables.bad, 0);
    for (int64_t head = 0; head < HEADS; head++)
        check_head(&model, &tables, 0, head);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

TEST_FILE("circuits") {
    test_add(suite, "circuits_are_those_of_dense_products", circuits_are_those_of_dense_products);
    test_add(suite, "circuits_are_asked_for", circuits_are_asked_for);
    test_add(suite, "triangles_have_the_law_of_matrices", triangles_have_the_law_of_matrices);
    test_add(suite, "quantiles_are_those_of_the_law", quantiles_are_those_of_the_law);
    test_add(suite, "heads_have_baselines_of_their_own", heads_have_baselines_of_their_own);
    test_add(suite, "a_bad_gain_costs_its_head", a_bad_gain_costs_its_head);
    test_add(suite, "a_layer_alone_has_the_same_baseline", a_layer_alone_has_the_same_baseline);
    test_add(suite, "layers_without_values_are_named", layers_without_values_are_named);
    test_add(suite, "values_that_are_not_known_are_refused", values_that_are_not_known_are_refused);
    test_add(suite, "a_file_without_values_says_so_once", a_file_without_values_says_so_once);
    test_add(suite, "bad_options_are_refused", bad_options_are_refused);
    test_add(suite, "circuits_survive_refused_allocations", circuits_survive_refused_allocations);
    test_add(suite, "gguf_files_have_the_same_circuits", gguf_files_have_the_same_circuits);
}
