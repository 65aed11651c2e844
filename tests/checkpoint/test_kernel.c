/* The kernels of heads over the lag: from rows that are turned one by one, and as a mean over
 * random tokens. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/vocabulary.h"
#include "families_oracle.h"

enum { DENSE = 12, LAGS = 80 };

/* ---- Every family ---- */

static double inner(int64_t count, const double *x, const double *y) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Queries or keys of a head: A, and beta; `mean` is what the mean token makes of them. */
typedef struct side {
    double *rows, *shift, *mean;
} side;

/* How a head's queries see keys. */
typedef struct oracle_kernel {
    const szg_checkpoint *checkpoint;
    szgi_rotary rotary;
    int64_t e, d, layer;
    side q, k;
    bool known; /* the mean token is that of the embeddings */
} oracle_kernel;

static void centre(int64_t rows, int64_t d, double *x) {
    for (int64_t i = 0; i < rows; i++) {
        double mean = 0;
        for (int64_t j = 0; j < d; j++)
            mean += x[i * d + j] / (double)d;
        for (int64_t j = 0; j < d; j++)
            x[i * d + j] -= mean;
    }
}

/* W b + the bias of the projection, which scale and amplitude multiply as they do W. */
static void fill_shift(const oracle_kernel *own, bool query, int64_t head, double *out) {
    const layer_weights *layer = &own->checkpoint->layer[own->layer];
    const side_weights *weights = query ? &layer->q : &layer->k;
    const family_case plain = {.checkpoint = own->checkpoint};
    double *rows = rows_of(&plain, own->layer, query, head, FOLD_NONE);
    double *norm = weights->input_shift ? read_all(weights->input_shift) : NULL;
    double *bias = weights->bias ? read_all(weights->bias) : NULL;
    for (int64_t i = 0; i < own->e; i++) {
        int64_t turning = i - own->rotary.offset;
        bool turns = turning >= 0 && turning < 2 * own->rotary.pairs;
        out[i] = norm ? inner(own->d, rows + i * own->d, norm) : 0;
        if (bias)
            out[i] += bias[szgi_bias_place(own->checkpoint, query, head) + i] *
                      (query ? layer->scale : 1) * (turns ? own->rotary.amplitude : 1);
    }
    free(rows), free(norm), free(bias);
}

/* The mean over the vocabulary of embeddings behind a norm without gains: `tokens` of d numbers. */
static void fill_token(const oracle_kernel *own, int64_t tokens, double *out) {
    double *all = new_numbers(tokens * own->d);
    ck_szg_ok(
        szgi_vocabulary_raw(test_context(), own->checkpoint, &(token_counts){0}, tokens, all));
    if (szgi_fold_centres(own->checkpoint))
        centre(tokens, own->d, all);
    for (int64_t i = 0; i < tokens; i++) {
        double *x = all + i * own->d, root = norm_of(own->d, x) / sqrt((double)own->d);
        for (int64_t j = 0; j < own->d && root > 0; j++)
            out[j] += x[j] / root / (double)tokens;
    }
    szgi_memory_free(all);
}

static side open_side(const oracle_kernel *own, bool query, int64_t head, const double *token) {
    const family_case plain = {.checkpoint = own->checkpoint};
    side out = {rows_of(&plain, own->layer, query, head, FOLD_ALL), new_numbers(own->e),
                new_numbers(own->e)};
    fill_shift(own, query, head, out.shift);
    if (szgi_fold_centres(own->checkpoint))
        centre(own->e, own->d, out.rows);
    for (int64_t i = 0; i < own->e; i++)
        out.mean[i] = out.shift[i] + inner(own->d, out.rows + i * own->d, token);
    return out;
}

static void free_side(side *own) {
    free(own->rows);
    szgi_memory_free(own->shift);
    szgi_memory_free(own->mean);
}

/* s [f tr(A^T R_k B) + beta_Q^T R_k beta_K], and s m_Q^T R_k m_K. */
static double self_at(const oracle_kernel *own, int64_t lag) {
    double *turned = new_numbers(own->e * own->d);
    double f = szgi_fold_centres(own->checkpoint) ? (double)own->d / (double)(own->d - 1) : 1;
    oracle_turn(&own->rotary, own->e, own->d, lag, own->q.rows, turned);
    double sum = f * inner(own->e * own->d, turned, own->k.rows);
    oracle_turn(&own->rotary, own->e, 1, lag, own->q.shift, turned);
    sum += inner(own->e, turned, own->k.shift);
    szgi_memory_free(turned);
    return sum;
}

static double mean_at(const oracle_kernel *own, int64_t lag) {
    double *turned = new_numbers(own->e);
    oracle_turn(&own->rotary, own->e, 1, lag, own->q.mean, turned);
    double sum = inner(own->e, turned, own->k.mean);
    szgi_memory_free(turned);
    return sum;
}

/* What the rows of one head were checked for. */
typedef struct seen {
    int64_t rows, models, selves, means, both, far;
} seen;

static void check_row(const oracle_kernel *own, const szg_table *table, int64_t row, seen *count) {
    int64_t lag = (int64_t)cell(table, row, "lag"), e = own->e;
    double size = 1e-30 + norm_of(e * own->d, own->q.rows) * norm_of(e * own->d, own->k.rows) +
                  norm_of(e, own->q.shift) * norm_of(e, own->k.shift);
    ck_close(cell(table, row, "self"), self_at(own, lag), 1e-12 * size);
    count->selves++;
    count->both += lag < 0;
    count->far += lag >= DENSE;
    if (isnan(cell(table, row, "mean")))
        return;
    size += norm_of(e, own->q.mean) * norm_of(e, own->k.mean);
    ck_close(cell(table, row, "mean"), mean_at(own, lag), 1e-12 * size);
    count->means++;
}

/* Rows first and on of the table `kernel` are those of this head; returns how many. */
static int64_t check_one(const szg_checkpoint *checkpoint, const szg_checkpoint_tables *tables,
                         int64_t layer, int64_t head, int64_t first, seen *count) {
    int64_t rows = 0, all = szg_table_rows(tables->kernel);
    int64_t key_head = head / (checkpoint->heads / checkpoint->key_heads);
    const char *why;
    oracle_kernel own = {.checkpoint = checkpoint,
                         .e = checkpoint->head_size,
                         .d = checkpoint->model_size,
                         .layer = layer};
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, layer, &own.rotary));
    double *token = new_numbers(own.d);
    int64_t tokens = szgi_vocabulary_size(checkpoint, &(token_counts){0}, 512, &why);
    const char *named =
        cell_text(tables->heads, find_row(tables->heads, layer, head, NULL), "mean_tokens");
    if (strcmp(named, "vocabulary") == 0)
        fill_token(&own, tokens, token);
    own.q = open_side(&own, true, head, token);
    own.k = open_side(&own, false, key_head, token);
    bool checked = own.rotary.pairs > 0 && !szgi_fold_is_normed(checkpoint, layer) &&
                   checkpoint->latent.key_rank == 0; /* behind norms tests/peer has oracles */
    for (int64_t row = first; row < all && (int64_t)cell(tables->kernel, row, "layer") == layer &&
                              (int64_t)cell(tables->kernel, row, "head") == head;
         row++, rows++) {
        ck_assert_int_eq((int64_t)cell(tables->kernel, row, "key_head"), key_head);
        ck_assert(!isnan(cell(tables->kernel, row, "self")) ||
                  !isnan(cell(tables->kernel, row, "mean")));
        if (checked)
            check_row(&own, tables->kernel, row, count);
    }
    szgi_memory_free(token);
    free_side(&own.q);
    free_side(&own.k);
    return rows;
}

/* The lags are those from 0 on, one by one below DENSE, and their negatives where the row of
 * `heads` says so. */
static void check_lags(const szg_checkpoint_tables *tables, int64_t row, int64_t first,
                       int64_t rows) {
    int64_t last = (int64_t)cell(tables->heads, row, "lag_max");
    bool both = cell(tables->heads, row, "lag_min") < 0;
    int64_t zero = first + (both ? rows / 2 : 0), before = -1;
    for (int64_t i = zero; i < first + rows; i++) {
        int64_t lag = (int64_t)cell(tables->kernel, i, "lag");
        ck_assert_int_gt(lag, before);
        if (lag < DENSE)
            ck_assert_int_eq(lag, i - zero);
        else
            ck_assert_int_le(lag, before + before / 16 + 1);
        if (both)
            ck_assert_int_eq((int64_t)cell(tables->kernel, 2 * zero - i, "lag"), -lag);
        before = lag;
    }
    ck_assert_int_eq(before, last);
    ck_assert_int_eq(rows, (both ? 2 : 1) * (first + rows - zero) - both);
}

/* A head has its rows, or says why not, and which kernel is missing. */
static void check_model(const szg_checkpoint *checkpoint, const char *folder, seen *count) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = DENSE};
    szg_checkpoint_tables tables;
    int64_t first = 0;
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    for (int64_t layer = 0; layer < checkpoint->layers; layer++)
        for (int64_t head = 0; head < checkpoint->heads; head++) {
            if (checkpoint->layer[layer].absent)
                continue;
            int64_t row = find_row(tables.heads, layer, head, NULL);
            int64_t rows = check_one(checkpoint, &tables, layer, head, first, count);
            bool mean = !isnan(cell(tables.heads, row, "mean_share"));
            bool self = !isnan(cell(tables.heads, row, "self_share"));
            const char *note = cell_text(tables.heads, row, "note");
            const char *lack = mean && self ? "" : mean ? "no self kernel: " : "no mean kernel: ";
            ck_assert_msg(rows > 0 ? strncmp(note, lack, strlen(lack)) == 0 && !*note == !*lack
                                   : *note && strncmp(note, "no ", 3) != 0,
                          "%s, layer %d, head %d: %d rows, and '%s'", folder, (int)layer, (int)head,
                          (int)rows, note);
            if (rows > 0)
                check_lags(&tables, row, first, rows);
            first += rows;
        }
    ck_assert_int_eq(szg_table_rows(tables.kernel), first);
    count->rows += first;
    count->models += first > 0;
    szg_checkpoint_tables_close(&tables);
}

START_TEST(kernels_of_every_family) {
    DIR *all = opendir(data_folder());
    seen count = {0};
    ck_assert_ptr_nonnull(all);
    for (struct dirent *entry; (entry = readdir(all));) {
        char folder[512];
        szg_checkpoint *checkpoint;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), entry->d_name);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
        check_model(checkpoint, entry->d_name, &count);
        szg_checkpoint_close(&checkpoint);
    }
    closedir(all);
    ck_assert_int_ge(count.models, 50);
    ck_assert_int_gt(count.means, 0);
    ck_assert_int_gt(count.both, 0);
    ck_assert_int_gt(count.far, 0);
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
    model_add(model, dtype, D, -1, "model.layers.0.input_layernorm.weight");
    for (int64_t i = 0; i < D; i++)
        model->tensor[model->tensors - 1].value[i] = 1;
}

/* Lag `lag` of a head, where all lags from 0 on are listed below `lags`, and some beyond. */
static double self_kernel(const szg_checkpoint_tables *tables, int64_t head, int64_t lag) {
    int64_t rows = szg_table_rows(tables->kernel) / HEADS;
    ck_assert_int_eq((int64_t)cell(tables->kernel, head * rows + lag, "lag"), lag);
    return cell(tables->kernel, head * rows + lag, "self");
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
static void apply_rows(const double *rows, const double *x, double *out) {
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
            oracle_turn(&rotary, E, D, lag, q, turned);
            for (int64_t i = 0; i < draws; i++) {
                for (int64_t j = 0; j < D; j++) {
                    uint64_t at = (uint64_t)(2 * (i * D + j));
                    x[j] = szgi_random_normal(&stream, at);
                    y[j] = share * x[j] +
                           sqrt(1 - share * share) * szgi_random_normal(&stream, at + 1);
                }
                apply_rows(turned, x, left);
                apply_rows(k, y, right);
                sum += inner(E, left, right) / sqrt(E);
            }
            double spread = sqrt(2) * norm_of(E * D, q) * norm_of(E * D, k) / sqrt(E);
            ck_close(sum / (double)draws, share * self_kernel(&tables, head, lag),
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
    static const struct { int query, key; } exponents[] = {{480, -480}, {-300, -400}, {480, 100}};
    for (size_t i = 0; i < 2 * (sizeof exponents / sizeof *exponents); i++) {
        const char *config = i % 2 ? nemotron : llama;
        int query = exponents[i / 2].query, key = exponents[i / 2].key;
        test_model model;
        add_llama(&model, SZGI_DTYPE_F64);
        szg_checkpoint_tables want = analyse_kernel(&model, config, LAGS);
        scale_weights(&model, "model.layers.0.self_attn.q_proj.weight", query);
        scale_weights(&model, "model.layers.0.self_attn.k_proj.weight", key);
        szg_checkpoint_tables got = analyse_kernel(&model, config, LAGS);
        ck_assert_int_gt(szg_table_rows(got.kernel), 0);
        ck_assert_int_eq(szg_table_rows(got.kernel), szg_table_rows(want.kernel));
        for (int64_t row = 0; row < szg_table_rows(want.kernel); row++)
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
