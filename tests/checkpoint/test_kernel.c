/* The head's mean kernel over the lag, from rows that are rotated one by one, from the table
 * `frequencies`, and as a mean over random tokens. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/fold.h"
#include "model.h"

enum { LAGS = 80 }; /* more than a block of kernel.c */

/* ---- From rows ---- */

/* Queries e x d turned to position k, as the architectures write it. */
static void turn_rows(const szgi_rotary *rotary, int64_t e, int64_t d, int64_t k, const double *q,
                      double *out) {
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    memcpy(out, q, (size_t)(e * d) * sizeof *q);
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t first = (rotary->offset + (half ? t : 2 * t)) * d;
        int64_t second = first + (half ? rotary->pairs : 1) * d;
        long double angle = (long double)k * rotary->theta[t];
        for (int64_t j = 0; j < d; j++) {
            out[first + j] = (double)(q[first + j] * cosl(angle) - q[second + j] * sinl(angle));
            out[second + j] = (double)(q[second + j] * cosl(angle) + q[first + j] * sinl(angle));
        }
    }
}

static double inner(int64_t count, const double *x, const double *y) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

/* The library's Gram matrix has sums of d products, and e / 2 pairs follow with some 8 roundings
 * each; here are sums of e d products of numbers that were rounded twice. The pairs' moduli sum to
 * |q| |k| at most (Cauchy-Schwarz), and twice that covers both parts of each. */
static double kernel_error(int64_t e, int64_t d, double norm) {
    return gamma_of((double)(d + 5 * e + 12 + e * d + 4)) * 2 * norm;
}

/* Rows first .. first + LAGS - 1 are those of this head; `frequency` is its first row there. */
static void check_head(const szg_checkpoint *checkpoint, const szg_checkpoint_tables *tables,
                       int64_t layer, int64_t head, fold_kind fold, int64_t first,
                       int64_t frequency) {
    int64_t e = checkpoint->head_size, d = checkpoint->model_size, size = e * d;
    int64_t key_head = head / (checkpoint->heads / checkpoint->key_heads);
    double *q = new_numbers(size), *k = new_numbers(size), *turned = new_numbers(size);
    szgi_rotary rotary;
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
    ck_szg_ok(szgi_fold_queries(test_context(), checkpoint, layer, head, fold, q, NULL));
    ck_szg_ok(szgi_fold_keys(test_context(), checkpoint, layer, key_head, fold, k, NULL));
    double error = kernel_error(e, d, norm_of(size, q) * norm_of(size, k));
    double at_zero = cell(tables->kernel, first, "self");
    for (int64_t lag = 0; lag < LAGS; lag++) {
        int64_t row = first + lag;
        double got = cell(tables->kernel, row, "self"), sum = at_zero;
        ck_assert_int_eq((int64_t)cell(tables->kernel, row, "layer"), layer);
        ck_assert_int_eq((int64_t)cell(tables->kernel, row, "head"), head);
        ck_assert_int_eq((int64_t)cell(tables->kernel, row, "key_head"), key_head);
        ck_assert_int_eq((int64_t)cell(tables->kernel, row, "lag"), lag);
        turn_rows(&rotary, e, d, lag, q, turned);
        ck_close(got, inner(size, turned, k), error);
        for (int64_t t = 0; t < rotary.pairs; t++) {
            long double angle =
                lag * (long double)cell(tables->frequencies, frequency + t, "theta");
            double re = cell(tables->frequencies, frequency + t, "rotation_re");
            double im = cell(tables->frequencies, frequency + t, "rotation_im");
            sum += (double)(2 * (re * (cosl(angle) - 1) - im * sinl(angle)));
        }
        ck_close(got, sum, error);
    }
    szgi_memory_free(q);
    szgi_memory_free(k);
    szgi_memory_free(turned);
}

/* Returns how many heads rotate. */
static int64_t check_rows(const szg_checkpoint *checkpoint, bool raw) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = LAGS,
                                            .raw = raw};
    szg_checkpoint_tables tables;
    int64_t heads = 0, frequency = 0;
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert(!tables.kernel == !checkpoint->rotations);
    for (int64_t layer = 0; layer < checkpoint->layers; layer++) {
        szgi_rotary rotary;
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &rotary));
        if (checkpoint->layer[layer].absent || rotary.pairs == 0)
            continue;
        for (int64_t head = 0; head < checkpoint->heads; head++) {
            check_head(checkpoint, &tables, layer, head, raw ? FOLD_NONE : FOLD_ALL, heads++ * LAGS,
                       frequency);
            frequency += rotary.pairs;
        }
    }
    if (tables.kernel)
        ck_assert_int_eq(szg_table_rows(tables.kernel), heads * LAGS);
    szg_checkpoint_tables_close(&tables);
    return heads;
}

START_TEST(kernels_of_every_family) {
    const char *data = getenv("SZG_FAMILIES");
    ck_assert_msg(data, "SZG_FAMILIES is not set");
    DIR *all = opendir(data);
    int64_t models = 0;
    ck_assert_ptr_nonnull(all);
    for (struct dirent *entry; (entry = readdir(all));) {
        char folder[512];
        szg_checkpoint *checkpoint;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(folder, sizeof folder, "%s/%s", data, entry->d_name);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
        int64_t heads = check_rows(checkpoint, false);
        ck_assert_int_eq(heads > 0, checkpoint->rotations > 0);
        ck_assert_int_eq(check_rows(checkpoint, true), heads);
        models += heads > 0;
        szg_checkpoint_close(&checkpoint);
    }
    closedir(all);
    ck_assert_int_ge(models, 50);
}
END_TEST

/* ---- As a mean ---- */

enum { E = 8, D = 8, HEADS = 2 };

static const char llama[] = "{\"model_type\":\"llama\",\"num_hidden_layers\":1,"
                            "\"num_attention_heads\":2,\"num_key_value_heads\":1,"
                            "\"hidden_size\":8,\"head_dim\":8,\"rope_theta\":100}";
/* Half of the head rotates. */
static const char nemotron[] = "{\"model_type\":\"nemotron\",\"num_hidden_layers\":1,"
                               "\"num_attention_heads\":2,\"num_key_value_heads\":1,"
                               "\"hidden_size\":8,\"head_dim\":8,\"rope_theta\":100,"
                               "\"partial_rotary_factor\":0.5}";

static void add_llama(test_model *model, szgi_dtype dtype) {
    model_open(model);
    model_add(model, dtype, HEADS * E, D, "model.layers.0.self_attn.q_proj.weight");
    model_add(model, dtype, E, D, "model.layers.0.self_attn.k_proj.weight");
}

static szg_checkpoint_tables analyse_kernel(const test_model *model, const char *config,
                                            int64_t lags) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = lags};
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_write(model, config);
    ck_szg_ok(szg_checkpoint_open(test_context(), model->folder, NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    szg_checkpoint_close(&checkpoint);
    return tables;
}

/* W x, of e x d rows. */
static void project(const double *rows, const double *x, double *out) {
    for (int64_t i = 0; i < E; i++)
        out[i] = inner(D, rows + i * D, x);
}

/* Logits of tokens with E[x_i x_j^T] = share I have the mean share kernel(i - j). A logit
 * x_i^T M x_j, M = W_Q^T R W_K, has the variance ||M||_F^2 + share^2 tr(M^2) at most, which is
 * below 2 ||W_Q||_F^2 ||W_K||_F^2: the mean of so many lies within 6 standard deviations. */
START_TEST(a_mean_over_random_tokens) {
    const int64_t draws = 20000;
    const double share = 0.5;
    test_model model;
    add_llama(&model, SZGI_DTYPE_F32);
    szg_checkpoint_tables tables = analyse_kernel(&model, llama, 4);
    const double *all = model_value(&model, "model.layers.0.self_attn.q_proj.weight");
    const double *k = model_value(&model, "model.layers.0.self_attn.k_proj.weight");
    const double theta[E / 2] = {1, pow(100, -0.25), 0.1, pow(100, -0.75)};
    const szgi_rotary rotary = {
        .dim = E, .pairs = E / 2, .theta = theta, .pairing = SZGI_PAIRING_HALF};
    const szgi_stream stream = {.seed = test_seed(), .purpose = 77};
    for (int64_t head = 0; head < HEADS; head++)
        for (int64_t lag = 0; lag < 4; lag++) {
            const double *q = all + head * E * D;
            double turned[E * D], x[D], y[D], left[E], right[E], sum = 0;
            turn_rows(&rotary, E, D, lag, q, turned);
            for (int64_t i = 0; i < draws; i++) {
                for (int64_t j = 0; j < D; j++) {
                    uint64_t at = (uint64_t)(2 * (i * D + j));
                    x[j] = szgi_random_normal(&stream, at);
                    y[j] = share * x[j] +
                           sqrt(1 - share * share) * szgi_random_normal(&stream, at + 1);
                }
                project(turned, x, left);
                project(k, y, right);
                sum += inner(E, left, right) / sqrt(E);
            }
            double spread = sqrt(2) * norm_of(E * D, q) * norm_of(E * D, k) / sqrt(E);
            ck_close(sum / (double)draws, share * cell(tables.kernel, head * 4 + lag, "self"),
                     6 * spread / sqrt((double)draws));
        }
    szg_checkpoint_tables_close(&tables);
    model_close(&model);
}
END_TEST

/* ---- Corners ---- */

static void scale_weights(test_model *model, const char *name, int exponent) {
    model_tensor *tensor = model_find(model, name);
    for (int64_t i = 0; i < tensor->count; i++)
        tensor->value[i] = ldexp(tensor->value[i], exponent);
}

/* Powers of two of the weights are those of the kernel, to the bit. */
START_TEST(weights_far_from_one) {
    static const struct { int query, key; } exponents[] = {{600, -600}, {-300, -400}, {900, 100}};
    for (size_t i = 0; i < 2 * (sizeof exponents / sizeof *exponents); i++) {
        const char *config = i % 2 ? nemotron : llama;
        int query = exponents[i / 2].query, key = exponents[i / 2].key;
        test_model model;
        add_llama(&model, SZGI_DTYPE_F64);
        szg_checkpoint_tables want = analyse_kernel(&model, config, LAGS);
        scale_weights(&model, "model.layers.0.self_attn.q_proj.weight", query);
        scale_weights(&model, "model.layers.0.self_attn.k_proj.weight", key);
        szg_checkpoint_tables got = analyse_kernel(&model, config, LAGS);
        for (int64_t row = 0; row < HEADS * LAGS; row++)
            ck_assert(ldexp(cell(got.kernel, row, "self"), -query - key) ==
                      cell(want.kernel, row, "self"));
        szg_checkpoint_tables_close(&want);
        szg_checkpoint_tables_close(&got);
        model_close(&model);
    }
}
END_TEST

START_TEST(how_many_lags) {
    test_model model;
    szg_checkpoint *checkpoint;
    add_llama(&model, SZGI_DTYPE_F32);
    szg_checkpoint_tables tables = analyse_kernel(&model, llama, 0);
    ck_assert_ptr_null(tables.kernel);
    szg_checkpoint_tables_close(&tables);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    const int64_t wrong[] = {-1, (1 << 20) + 1, INT64_MAX};
    for (int i = 0; i < 3; i++) {
        const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options),
                                                .kernel = wrong[i]};
        ck_szg_fails(SZG_EINVAL, "lags of the mean kernel: 0 to 1048576 are possible",
                     szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    }
    szg_checkpoint_close(&checkpoint);
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = 3};
    ck_survives_failed_allocations(1, model_try(model.folder, &options));
    model_close(&model);
}
END_TEST

TEST_FILE("kernel") {
    test_add(suite, "kernels_of_every_family", kernels_of_every_family);
    test_add(suite, "a_mean_over_random_tokens", a_mean_over_random_tokens);
    test_add(suite, "weights_far_from_one", weights_far_from_one);
    test_add(suite, "how_many_lags", how_many_lags);
}
