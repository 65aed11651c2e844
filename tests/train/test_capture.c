/* Captured logits: against formulas on the host, against passes over whole batches, from dumps read
 * back; gradient norms; that nothing of the model changes. */
#include <dirent.h>
#include <unistd.h>

#include <szego/capture.h>
#include <szego/coupling.h>
#include <szego/dump.h>
#include <szego/safetensors.h>
#include <szego/train.h>

#include "decoder_support.h"
#include "tiny.h"

static const double EPS = 0x1p-52;

/* The batch's sequences as examples. */
static void fill_examples(szg_examples *examples) {
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    *examples = (szg_examples){0};
    for (int s = 0; s < SEQUENCES; s++)
        ck_szg_ok(szg_examples_add(test_context(), examples, b.lengths[s], b.tokens + s * POSITIONS,
                                   b.labels[s]));
    free_batch(&b);
}

static szg_capture_config everything(int64_t probes) {
    return (szg_capture_config){
        .every = 1, .layers.all = true, .heads.all = true, .probes = probes};
}

/* The table of one step. */
static szg_status capture_into(szg_context *context, subject *s, const szg_capture_config *what,
                               const szg_examples *examples, const int64_t *order,
                               const void *gradient, const char *folder, szg_table **table) {
    szg_capture *capture = NULL;
    *table = NULL;
    szg_status status =
        szg_capture_open_as(context, s->model, what, examples, order, folder, &capture);
    if (status == SZG_OK)
        status = szg_contraction_table(context, table);
    if (status == SZG_OK)
        status = szg_capture_step(context, capture, 12, gradient,
                                  &(szg_contraction_tables){.contraction = *table});
    szg_capture_close(context, &capture);
    if (status != SZG_OK)
        szg_table_close(table);
    return status;
}

static double cell(const szg_table *table, int64_t row, const char *column) {
    int64_t c = szg_table_find(table, column);
    ck_assert_int_ge(c, 0);
    return szg_table_get_real(table, row, c);
}

static const char *text(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_text(table, row, szg_table_find(table, column));
}

/* One matrix of a dump, n x n; free with szg_memory_free. */
static double *dumped(const szg_safetensors *set, int64_t layer, int64_t head, int64_t probe,
                      const char *word, int64_t n) {
    char name[96];
    snprintf(name, sizeof name, "layers.%d.heads.%d.probes.%d.%s", (int)layer, (int)head,
             (int)probe, word);
    const szg_tensor *t = szg_safetensors_find(set, name);
    ck_assert_msg(t, "no tensor %s", name);
    ck_assert_int_eq(t->dims, 2);
    ck_assert(t->shape[0] == n && t->shape[1] == n);
    double *out = new_numbers(n * n);
    ck_szg_ok(szg_tensor_read(test_context(), t, 0, n * n, out));
    return out;
}

static szg_safetensors *open_dump(const char *folder) {
    char path[256];
    szg_safetensors *set;
    ck_szg_ok(
        szg_safetensors_open(test_context(), path_in(folder, "step-12.safetensors", path), &set));
    ck_assert_str_eq(szg_safetensors_metadata(set, "step"), "12");
    return set;
}

/* ---- The first layer, by its formulas on the host ---- */

static double *parameter(const subject *s, const char *name) {
    const szg_parameter *p = szg_model_find(s->model, name);
    ck_assert_msg(p, "no parameter %s", name);
    double *out = new_numbers(p->count);
    ck_szg_ok(szg_model_read(test_context(), s->model, szg_model_arena(s->model), p->offset,
                             p->count, out));
    return out;
}

/* y [n][out] = x [n][in] W^T + bias; bias NULL: none. */
static double *linear(const subject *s, const char *name, int64_t n, int64_t in, int64_t out,
                      const double *x, bool biased) {
    char full[64];
    snprintf(full, sizeof full, "layers.0.%s.weight", name);
    double *w = parameter(s, full), *y = new_numbers(n * out), *b = NULL;
    snprintf(full, sizeof full, "layers.0.%s.bias", name);
    if (biased)
        b = parameter(s, full);
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < out; o++) {
            double sum = b ? b[o] : 0;
            for (int64_t c = 0; c < in; c++)
                sum += w[o * in + c] * x[i * in + c];
            y[i * out + o] = sum;
        }
    szg_memory_free(w);
    szg_memory_free(b);
    return y;
}

/* Token and position, normalised. */
static double *input_of(const subject *s, int64_t n, const int32_t *tokens, bool positions) {
    enum { W = 8 };
    double *table = parameter(s, "embedding.weight"), *x = new_numbers(n * W);
    double *gain = parameter(s, "layers.0.norm1.weight");
    double *shift = parameter(s, "layers.0.norm1.bias"), *rows = new_numbers(n * W);
    if (positions && szg_encoding_attaches(szg_model_encoding(s->model)) & SZG_ATTACH_INPUT)
        ck_szg_ok(szg_encoding_input(test_context(), szg_model_encoding(s->model), n, rows, W));
    for (int64_t i = 0; i < n; i++) {
        double mean = 0, variance = 0;
        for (int c = 0; c < W; c++) {
            x[i * W + c] = table[tokens[i] * W + c] + rows[i * W + c];
            mean += x[i * W + c] / W;
        }
        for (int c = 0; c < W; c++)
            variance += pow(x[i * W + c] - mean, 2) / W;
        for (int c = 0; c < W; c++)
            x[i * W + c] = (x[i * W + c] - mean) / sqrt(variance + 1e-5) * gain[c] + shift[c];
    }
    double *all[] = {table, gain, shift, rows};
    for (int i = 0; i < 4; i++)
        szg_memory_free(all[i]);
    return x;
}

/* Queries and keys [n][heads d] of the first layer; *d. */
static void sides_of(const subject *s, int64_t n, const int32_t *tokens, bool positions, double **q,
                     double **k, int64_t *d) {
    double *x = input_of(s, n, tokens, positions);
    if (!(szg_encoding_attaches(szg_model_encoding(s->model)) & SZG_ATTACH_DECOUPLED)) {
        *q = linear(s, "q_linear", n, 8, 8, x, true);
        *k = linear(s, "k_linear", n, 8, 8, x, true);
        *d = 4;
    } else { /* content and rotary parts of 4 numbers each, one rotary key for both heads */
        double *down[2] = {linear(s, "attn.W_DQ", n, 8, 6, x, false),
                           linear(s, "attn.W_DKV", n, 8, 5, x, false)};
        double *part[4] = {linear(s, "attn.W_UQ", n, 6, 8, down[0], false),
                           linear(s, "attn.W_QR", n, 6, 8, down[0], false),
                           linear(s, "attn.W_UK", n, 5, 8, down[1], false),
                           linear(s, "attn.W_KR", n, 8, 4, x, false)};
        *d = 8;
        *q = new_numbers(n * 16);
        *k = new_numbers(n * 16);
        for (int64_t i = 0; i < n * 16; i++) {
            int64_t row = i / 16, head = i % 16 / 8, c = i % 8;
            (*q)[i] = part[c / 4][row * 8 + head * 4 + c % 4];
            (*k)[i] = c < 4 ? part[2][row * 8 + head * 4 + c] : part[3][row * 4 + c - 4];
        }
        for (int i = 0; i < 4; i++)
            szg_memory_free(part[i]);
        szg_memory_free(down[0]);
        szg_memory_free(down[1]);
    }
    szg_memory_free(x);
}

/* out = scale q k^T, n x n, of one head. */
static void plain_product(int64_t n, int64_t d, const double *q, const double *k, double *out) {
    for (int64_t i = 0; i < n * n; i++) {
        out[i] = 0;
        for (int64_t c = 0; c < d; c++)
            out[i] += q[i / n * 2 * d + c] * k[i % n * 2 * d + c] / sqrt((double)d);
    }
}

/* Rotation and fixed bias by lib/coupling, trained biases by their table. */
static void couple_on_host(const subject *s, int64_t head, int64_t n, int64_t d, const double *q,
                           const double *k, double *out) {
    const szg_encoding *encoding = szg_model_encoding(s->model);
    const szg_parameter *lags = szg_model_find(s->model, "layers.0.relative_bias_table");
    plain_product(n, d, q, k, out);
    if (lags) {
        double *table = parameter(s, lags->name);
        int32_t rows[2 * POSITIONS - 1];
        ck_szg_ok(szg_encoding_row_of_lag(test_context(), encoding, POSITIONS, rows));
        for (int64_t i = 0; i < n * n; i++)
            out[i] += table[rows[i / n - i % n + POSITIONS - 1] * 2 + head];
        szg_memory_free(table);
    } else if (!(szg_encoding_attaches(encoding) & SZG_ATTACH_INPUT)) {
        const szg_captured captured = {d, q, 2 * d, k, 2 * d, 1 / sqrt((double)d)};
        szg_logits *logits;
        ck_szg_ok(szg_logits_open_captured(test_context(), encoding,
                                           head % szg_encoding_heads(encoding), &captured, n, false,
                                           &logits));
        szg_factored f = szg_logits_coupled(logits);
        ck_szg_ok(szg_factored_dense(test_context(), &f, out, n));
        szg_logits_close(&logits);
    }
}

static void check_first_layer(const char *encoding, bool zeroed, double tolerance) {
    static const char *const none[] = {NULL};
    szg_train_config config = small_config(SZG_PROFILE_TEXT, encoding, none);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(2);
    szg_table *table;
    char *folder = new_folder();
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, folder, &table));
    szg_safetensors *set = open_dump(folder);
    for (int64_t probe = 0; probe < 2; probe++) {
        const int32_t *tokens = examples.tokens + examples.start[probe];
        int64_t n = examples.start[probe + 1] - examples.start[probe], d, d0;
        double *q[2], *k[2], want[POSITIONS * POSITIONS];
        sides_of(&s, n, tokens, true, &q[1], &k[1], &d);
        sides_of(&s, n, tokens, !zeroed, &q[0], &k[0], &d0);
        for (int64_t head = 0; head < 2; head++)
            for (int which = 0; which < 2; which++) {
                double *got = dumped(set, 0, head, probe, which ? "coupled" : "content", n);
                if (which)
                    couple_on_host(&s, head, n, d, q[1] + head * d, k[1] + head * d, want);
                else
                    plain_product(n, d, q[0] + head * d, k[0] + head * d, want);
                for (int64_t i = 0; i < n * n; i++)
                    ck_assert_msg(fabs(got[i] - want[i]) <= tolerance * (1 + norm_of(n * n, want)),
                                  "%s, head %d, %d, entry %d: %g, not %g", encoding, (int)head,
                                  which, (int)i, got[i], want[i]);
                szg_memory_free(got);
            }
        for (int i = 0; i < 2; i++) {
            szg_memory_free(q[i]);
            szg_memory_free(k[i]);
        }
    }
    for (int64_t r = 0; r < szg_table_rows(table); r++)
        ck_assert_str_eq(text(table, r, "content_kind"), zeroed ? "zeroed" : "same_qk");
    szg_safetensors_close(&set);
    szg_table_close(&table);
    szg_examples_close(&examples);
    close_subject(&s);
    remove_folder(folder);
}

/* In double precision the two ways differ by rounding alone: products of length 8 and a norm. */
START_TEST(first_layer_by_formulas) {
    static const struct {
        const char *encoding;
        bool zeroed;
    } cases[] = {{"nope", false},          {"rope", false},  {"rope:rotate=1", false},
                 {"rope:rotary=2", false}, {"alibi", false}, {"kms:rho=0.5", false},
                 {"relative", false},      {"mla", false},   {"t5:buckets=8,max_distance=6", false},
                 {"absolute", true}};
    const szg_ops *before = szg_context_ops(test_context());
    for (int wide = 0; wide < 2; wide++) {
        if (wide)
            szg_context_set_ops(test_context(), szg_ops_reference64());
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            check_first_layer(cases[i].encoding, cases[i].zeroed, wide ? 1000 * EPS : 1e-5);
        szg_context_set_ops(test_context(), before);
    }
}
END_TEST

/* ---- Every layer and variant, by passes over the whole padded batch ---- */

static void check_variant(const variant *v) {
    szg_train_config config = small_config(v->profile, v->encoding, v->overrides);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(2);
    const int64_t order[2] = {2, 1}; /* none of them is as long as the batch */
    szg_table *table;
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    char *folder = new_folder();
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, order, NULL, folder, &table));
    bool zeroed = strcmp(text(table, 0, "content_kind"), "zeroed") == 0;
    int64_t size = SEQUENCES * 2 * POSITIONS * POSITIONS;
    szg_safetensors *set = open_dump(folder);
    void *device;
    ck_szg_ok(
        szg_device_alloc(test_context(), size * szg_network_real_size(test_context()), &device));
    for (int which = 0; which < 2; which++) {
        ck_szg_ok(szg_decoder_embed(test_context(), s.decoder, &b.batch, which == 0 && zeroed));
        for (int64_t layer = 0; layer < 2; layer++) {
            ck_szg_ok(szg_decoder_attend(test_context(), s.decoder, layer));
            ck_szg_ok(szg_network_attention_logits(test_context(), szg_decoder_attention(s.decoder),
                                                   which == 1, device));
            double *want = download(device, size);
            for (int64_t at = 2; at < SEQUENCES * 2; at++) {
                int64_t n = b.lengths[at / 2];
                double *got =
                    dumped(set, layer, at % 2, 2 - at / 2, which ? "coupled" : "content", n);
                for (int64_t i = 0; i < n * n; i++)
                    ck_assert_msg(
                        fabs(got[i] - want[(at * POSITIONS + i / n) * POSITIONS + i % n]) <=
                            2e-5 * (1 + fabs(got[i])),
                        "%s: layer %d, sequence %d, head %d, %s, entry %d", name_of(v), (int)layer,
                        (int)at / 2, (int)at % 2, which ? "coupled" : "content", (int)i);
                szg_memory_free(got);
            }
            szg_memory_free(want);
            ck_szg_ok(szg_decoder_finish(test_context(), s.decoder, layer));
        }
    }
    szg_device_free(test_context(), device);
    szg_safetensors_close(&set);
    szg_table_close(&table);
    szg_examples_close(&examples);
    free_batch(&b);
    close_subject(&s);
    remove_folder(folder);
}

START_TEST(every_variant_by_batches) {
    for (int i = 0; i < VARIANTS; i++)
        check_variant(&variants[i]);
}
END_TEST

/* ---- Rows ---- */

static void same_tables(const szg_table *x, const szg_table *y) {
    ck_assert_int_eq(szg_table_rows(x), szg_table_rows(y));
    for (int64_t r = 0; r < szg_table_rows(x); r++)
        for (int64_t c = 0; c < szg_table_columns(x); c++) {
            const char *name = szg_table_column(x, c)->name;
            ck_assert_msg(szg_table_is_empty(x, r, c) == szg_table_is_empty(y, r, c),
                          "row %d, %s: one is empty", (int)r, name);
            if (szg_table_is_empty(x, r, c))
                continue;
            if (szg_table_column(x, c)->type == SZG_TEXT)
                ck_assert_str_eq(szg_table_get_text(x, r, c), szg_table_get_text(y, r, c));
            else
                ck_assert_msg(szg_table_get_real(x, r, c) == szg_table_get_real(y, r, c),
                              "row %d, %s", (int)r, name);
        }
}

/* The raw logits give the same report, bit for bit, gradient norms and labels included. */
START_TEST(dump_reads_back) {
    static const char *const specs[] = {"rope", "absolute", "mla"};
    for (int e = 0; e < 3; e++) {
        szg_train_config config = small_config(SZG_PROFILE_TEXT, specs[e], NULL);
        subject s = open_subject(&config, true);
        szg_examples examples;
        szg_capture_config what = everything(SEQUENCES);
        what.heads = (szg_index_list){.count = 1, .index = {1}};
        szg_table *table;
        drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
        char *folder = new_folder(), path[256];
        fill_examples(&examples);
        szg_memory_free(gradients_of(&s, &b.batch));
        ck_szg_ok(
            capture_into(test_context(), &s, &what, &examples, NULL, s.gradient, folder, &table));
        ck_assert_int_eq(szg_table_rows(table), 2 * SEQUENCES);
        ck_assert(cell(table, 3, "layer") == 1 && cell(table, 3, "head") == 1);
        ck_assert_str_eq(text(table, 3, "probe"), "1");
        ck_assert(cell(table, 3, "grad_norm") > 0);
        szg_dump *dump;
        szg_contraction_tables tables;
        const szg_report_options options = {.quick_symbol = true};
        ck_szg_ok(szg_dump_open(test_context(), &dump));
        ck_szg_ok(szg_dump_add(test_context(), dump, path_in(folder, "step-12.safetensors", path)));
        ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &tables));
        ck_szg_ok(szg_dump_report(test_context(), dump, NULL, &options, &tables));
        same_tables(table, tables.contraction);
        szg_dump_close(&dump);
        szg_contraction_tables_close(&tables);
        szg_table_close(&table);
        szg_examples_close(&examples);
        free_batch(&b);
        close_subject(&s);
        remove_folder(folder);
    }
}
END_TEST

/* One token over and over: in the first layer only the lag is left, and the content is constant. */
START_TEST(constant_tokens) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    const int32_t tokens[POSITIONS] = {3, 3, 3, 3, 3, 3, 3};
    szg_examples examples = {0};
    szg_capture_config what = everything(1);
    szg_table *table;
    ck_szg_ok(szg_examples_add(test_context(), &examples, POSITIONS, tokens, 1));
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    ck_assert_int_eq(szg_table_rows(table), 4);
    for (int head = 0; head < 2; head++) {
        ck_close(cell(table, head, "toeplitzness_coupled"), 1, 1e-9);
        ck_close(cell(table, head, "stable_rank_content"), 1, 1e-9);
        ck_assert(cell(table, head, "toeplitzness_coupled") <= 1);
        ck_assert(cell(table, head, "n") == POSITIONS && cell(table, head, "step") == 12);
        ck_assert(szg_table_is_empty(table, head, szg_table_find(table, "grad_norm")));
        ck_assert_str_eq(text(table, head, "source"),
                         szg_encoding_spec(szg_model_encoding(s.model)));
    }
    szg_table_close(&table);
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

START_TEST(content_kinds) {
    static const struct {
        szg_profile profile;
        const char *encoding, *kind;
    } cases[] = {
        {SZG_PROFILE_TEXT, "rope", "same_qk"},         {SZG_PROFILE_RELEASED, "rope", "zeroed"},
        {SZG_PROFILE_TEXT, "mla", "same_qk"},          {SZG_PROFILE_RELEASED, "mla", "zeroed"},
        {SZG_PROFILE_TEXT, "absolute", "zeroed"},      {SZG_PROFILE_TEXT, "nope", "same_qk"},
        {SZG_PROFILE_TEXT, "rope+absolute", "zeroed"}, {SZG_PROFILE_RELEASED, "alibi", "same_qk"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_train_config config = small_config(cases[i].profile, cases[i].encoding, NULL);
        subject s = open_subject(&config, false);
        szg_examples examples;
        szg_capture_config what = everything(1);
        szg_table *table;
        fill_examples(&examples);
        ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
        ck_assert_str_eq(text(table, 0, "content_kind"), cases[i].kind);
        if (strcmp(cases[i].encoding, "nope") == 0)
            ck_assert(cell(table, 0, "width_ratio") == 1 && cell(table, 3, "norm_ratio") == 1);
        szg_table_close(&table);
        szg_examples_close(&examples);
        close_subject(&s);
    }
}
END_TEST

START_TEST(any_number_of_threads) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(SEQUENCES);
    szg_table *first, *again;
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &first));
    for (int threads = 1; threads <= 3; threads += 2) {
        szg_context *context;
        ck_assert_int_eq(szg_context_open(&(szg_context_options){.threads = threads}, &context),
                         SZG_OK);
        ck_assert_int_eq(capture_into(context, &s, &what, &examples, NULL, NULL, NULL, &again),
                         SZG_OK);
        same_tables(first, again);
        szg_table_close(&again);
        szg_context_close(&context);
    }
    szg_table_close(&first);
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

/* ---- Gradients ---- */

/* A gradient that is 3 in one place and 4 in another: a head's norm is 5, 3, 4 or 0 as these places
 * belong to it. */
START_TEST(gradient_norms_by_place) {
    static const struct {
        const char *encoding, *query, *out;
        int64_t each, width; /* rows of W_Q that a head has; columns of W_O in all */
    } cases[] = {{"rope", "layers.1.q_linear.weight", "layers.1.out_linear.weight", 4, 8},
                 {"mla", "layers.1.attn.W_QR.weight", "layers.1.attn.out_proj.weight", 4, 8}};
    for (int e = 0; e < 2; e++) {
        szg_train_config config = small_config(SZG_PROFILE_TEXT, cases[e].encoding, NULL);
        subject s = open_subject(&config, false);
        const szg_parameter *query = szg_model_find(s.model, cases[e].query);
        const szg_parameter *out = szg_model_find(s.model, cases[e].out);
        for (int64_t a = 0; a < 2; a++)
            for (int64_t b = 0; b < 2; b++) {
                const double three = 3, four = 4, zero = 0;
                double norms[2], other[2];
                int64_t row = query->offset + (a * cases[e].each + 1) * query->shape[1] + 2;
                int64_t column = out->offset + 5 * out->shape[1] + b * 4 + 3;
                ck_szg_ok(szg_model_write(test_context(), s.model, s.gradient, row, 1, &three));
                ck_szg_ok(szg_model_write(test_context(), s.model, s.gradient, column, 1, &four));
                ck_szg_ok(
                    szg_capture_gradient_norms(test_context(), s.model, s.gradient, 1, norms));
                ck_szg_ok(
                    szg_capture_gradient_norms(test_context(), s.model, s.gradient, 0, other));
                for (int h = 0; h < 2; h++) {
                    ck_close(norms[h], hypot(a == h ? 3 : 0, b == h ? 4 : 0), 8 * EPS);
                    ck_assert(other[h] == 0);
                }
                ck_szg_ok(szg_model_write(test_context(), s.model, s.gradient, row, 1, &zero));
                ck_szg_ok(szg_model_write(test_context(), s.model, s.gradient, column, 1, &zero));
            }
        close_subject(&s);
    }
}
END_TEST

/* The heads' squares make up those of the whole weights, biases and shared parts left out. */
START_TEST(gradient_norms_add_up) {
    static const struct {
        szg_profile profile;
        const char *encoding, *weights[5];
    } cases[] = {
        {SZG_PROFILE_TEXT,
         "rope",
         {"q_linear.weight", "k_linear.weight", "v_linear.weight", "out_linear.weight", NULL}},
        {SZG_PROFILE_TEXT,
         "mla",
         {"attn.W_UQ.weight", "attn.W_UK.weight", "attn.W_UV.weight", "attn.W_QR.weight",
          "attn.out_proj.weight"}},
        {SZG_PROFILE_RELEASED,
         "mla",
         {"attn.W_UQ.weight", "attn.W_UK.weight", "attn.W_UV.weight", "attn.out_proj.weight",
          NULL}}};
    for (int e = 0; e < 3; e++) {
        szg_train_config config = small_config(cases[e].profile, cases[e].encoding, NULL);
        subject s = open_subject(&config, true);
        drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
        double *g = gradients_of(&s, &b.batch), sum = 0, norms[2];
        for (int w = 0; w < 5 && cases[e].weights[w]; w++) {
            char name[64];
            snprintf(name, sizeof name, "layers.0.%s", cases[e].weights[w]);
            const szg_parameter *p = szg_model_find(s.model, name);
            for (int64_t i = 0; i < p->count; i++)
                sum += g[p->offset + i] * g[p->offset + i];
        }
        ck_szg_ok(szg_capture_gradient_norms(test_context(), s.model, s.gradient, 0, norms));
        ck_close(hypot(norms[0], norms[1]), sqrt(sum), 1e-12 * sqrt(sum));
        ck_assert(norms[0] > 0 && norms[1] > 0);
        szg_memory_free(g);
        free_batch(&b);
        close_subject(&s);
    }
}
END_TEST

/* Downloads of a context whose backend is the reference that counts them. */
static int64_t downloads;

static szg_status counting_download(szg_context *context, void *to, const void *from,
                                    int64_t bytes) {
    downloads++;
    return szg_ops_reference()->network->download(context, to, from, bytes);
}

static int64_t downloads_with(subject *s, const szg_examples *examples, int64_t probes) {
    szg_capture_config what = everything(probes);
    szg_table *table;
    downloads = 0;
    ck_szg_ok(capture_into(test_context(), s, &what, examples, NULL, s->gradient, NULL, &table));
    szg_table_close(&table);
    return downloads;
}

/* One more probe costs the content's and the coupled logits of two layers, no further look at the
 * gradient. */
START_TEST(gradient_norms_once_a_step) {
    const szg_ops *before = szg_context_ops(test_context());
    szg_network_ops network = *szg_ops_reference()->network;
    struct szg_ops ops = *szg_ops_reference();
    network.download = counting_download;
    ops.network = &network;
    szg_context_set_ops(test_context(), &ops);
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    fill_examples(&examples);
    int64_t one = downloads_with(&s, &examples, 1);
    ck_assert_int_eq(downloads_with(&s, &examples, 2) - one, 2 * 2);
    szg_examples_close(&examples);
    close_subject(&s);
    szg_context_set_ops(test_context(), before);
}
END_TEST

/* ---- Nothing changes, nothing is taken that is not there ---- */

/* Parameters and gradients of a training decoder are bit-equal with a capture between its passes.
 */
START_TEST(training_is_left_alone) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope+absolute", NULL);
    subject s = open_subject(&config, true);
    szg_examples examples;
    szg_capture_config what = everything(2);
    szg_table *table;
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    fill_examples(&examples);
    int64_t count = szg_model_count(s.model);
    double *before = download(szg_model_arena(s.model), count);
    double *plain = gradients_of(&s, &b.batch), *captured = new_numbers(count);
    ck_szg_ok(szg_device_clear(test_context(), &s.memory->tally, sizeof s.memory->tally));
    ck_szg_ok(szg_decoder_forward(test_context(), s.decoder, &b.batch));
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, s.gradient, NULL, &table));
    ck_szg_ok(szg_decoder_backward(test_context(), s.decoder, s.gradient, &s.memory->tally));
    ck_szg_ok(szg_model_read(test_context(), s.model, s.gradient, 0, count, captured));
    double *after = download(szg_model_arena(s.model), count);
    ck_assert_int_eq(memcmp(before, after, (size_t)count * sizeof *before), 0);
    ck_assert_int_eq(memcmp(plain, captured, (size_t)count * sizeof *plain), 0);
    double *all[] = {before, plain, captured, after};
    for (int i = 0; i < 4; i++)
        szg_memory_free(all[i]);
    szg_table_close(&table);
    szg_examples_close(&examples);
    free_batch(&b);
    close_subject(&s);
}
END_TEST

static void run_whole(const szg_train_config *config, const char *folder) {
    szg_train_result result;
    ck_szg_ok(run_in(test_context(), config, 4, folder, false, &result));
    ck_assert_int_eq(result.steps, TINY_STEPS);
    ck_assert_int_eq(result.capture_seconds > 0, config->capture.every > 0);
}

static int64_t lines_of(const char *folder, const char *name) {
    size_t size;
    char *text = file_bytes(folder, name, &size);
    int64_t lines = 0;
    for (size_t i = 0; text && i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

/* A whole run has the same weights, bit for bit, with captures and dumps as without. */
START_TEST(a_run_with_captures) {
    char *folder[2] = {new_folder(), new_folder()}, path[256], dumps[256], name[64];
    szg_safetensors *set[2];
    for (int i = 0; i < 2; i++) {
        szg_train_config *config = new_tiny("capture.probes=2");
        config->capture.every = i ? 2 : 0;
        config->capture.dump = i;
        run_whole(config, folder[i]);
        ck_szg_ok(szg_safetensors_open(
            test_context(), path_in(folder[i], "checkpoint.safetensors", path), &set[i]));
        szg_memory_free(config);
    }
    ck_assert_int_eq(szg_safetensors_count(set[0]), szg_safetensors_count(set[1]));
    for (int64_t t = 0; t < szg_safetensors_count(set[0]); t++) {
        const szg_tensor *a = szg_safetensors_tensor(set[0], t);
        const szg_tensor *b = szg_safetensors_tensor(set[1], t);
        ck_assert_str_eq(a->name, b->name);
        ck_assert(a->bytes == b->bytes && memcmp(a->data, b->data, (size_t)a->bytes) == 0);
    }
    /* Steps 0, 2, 4, 6, 8; two layers, heads and probes. */
    ck_assert_int_eq(lines_of(folder[1], "contraction.csv"), 1 + 5 * 8);
    path_in(folder[1], "logits", dumps);
    for (int step = 0; step < TINY_STEPS; step += 2) {
        snprintf(name, sizeof name, "step-%d.safetensors", step);
        ck_assert_int_eq(access(path_in(dumps, name, path), R_OK), 0);
    }
    empty_folder(dumps);
    rmdir(dumps);
    for (int i = 0; i < 2; i++) {
        szg_safetensors_close(&set[i]);
        remove_folder(folder[i]);
    }
}
END_TEST

/* A run's values and symbols: every one is there, and the largest singular values are those of
 * `contraction`. */
START_TEST(a_run_with_spectra) {
    szg_train_config *config = new_tiny("capture.probes=2");
    szg_train_tables tables;
    char *folder = new_folder();
    config->capture.every = 4;
    config->capture.spectra = true;
    run_whole(config, folder);
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    int64_t pairs = szg_table_rows(tables.contraction), row = 0;
    ck_assert_int_eq(pairs, 3 * 8); /* steps 0, 4, 8; two layers, heads and probes */
    for (int64_t pair = 0; pair < pairs; pair++)
        for (int which = 0; which < 2; which++) { /* n eigenvalues, then n singular values */
            int64_t n = (int64_t)cell(tables.contraction, pair, "n");
            const char *most = which ? "sigma_max_coupled" : "sigma_max_content";
            const char *range = which ? "lambda_max_coupled" : "lambda_max_content";
            ck_assert(cell(tables.values, row + n - 1, "value") ==
                      cell(tables.contraction, pair, range));
            ck_assert_str_eq(text(tables.values, row + n, "kind"), "singular");
            ck_assert(cell(tables.values, row + n, "value") ==
                      cell(tables.contraction, pair, most));
            ck_assert(cell(tables.values, row + n, "step") ==
                      cell(tables.contraction, pair, "step"));
            ck_assert_str_eq(text(tables.values, row + n, "encoding"), config->model.encoding);
            row += 2 * n;
        }
    ck_assert_int_eq(szg_table_rows(tables.values), row);
    ck_assert_int_eq(szg_table_rows(tables.symbols), pairs * 2 * SZG_CONTRACTION_SAMPLES);
    szg_train_tables_close(&tables);
    remove_folder(folder);
    szg_memory_free(config);
}
END_TEST

START_TEST(labels_are_not_looked_at) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(1);
    szg_table *table, *again;
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    examples.label[0] = (int32_t)szg_model_classes(s.model);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &again));
    same_tables(table, again);
    szg_table_close(&again);
    szg_table_close(&table);
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

START_TEST(refused) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples, empty = {0};
    szg_table *table;
    fill_examples(&examples);
    szg_capture_config what = everything(SEQUENCES + 1);
    ck_szg_fails(SZG_EINVAL, "4 probes of 3 test sequences",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    what.probes = 1;
    ck_szg_fails(SZG_EINVAL, "no test sequences",
                 capture_into(test_context(), &s, &what, &empty, NULL, NULL, NULL, &table));
    what.layers = (szg_index_list){.count = 1, .index = {2}};
    ck_szg_fails(SZG_EINVAL, "2 layers and 2 heads",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    what.layers.all = true;
    examples.tokens[0] = WORDS;
    ck_szg_fails(SZG_EDATA, "outside the words",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    /* A model that has diverged: the message says when and where. */
    const double huge = INFINITY;
    examples.tokens[0] = 1;
    ck_szg_ok(szg_model_write(test_context(), s.model, szg_model_arena(s.model),
                              szg_model_find(s.model, "layers.1.k_linear.bias")->offset, 1, &huge));
    ck_szg_fails(SZG_EDATA, "capture at step 12: layer 1, head 0, probe 0",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

static szg_status capture_and_close(subject *s, const szg_examples *examples, const char *folder) {
    szg_capture_config what = everything(1);
    szg_table *table;
    szg_status status =
        capture_into(test_context(), s, &what, examples, NULL, s->gradient, folder, &table);
    szg_table_close(&table);
    return status;
}

START_TEST(allocation_failures) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "absolute", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    char *folder = new_folder();
    fill_examples(&examples);
    ck_survives_failed_allocations(40, capture_and_close(&s, &examples, folder));
    szg_examples_close(&examples);
    close_subject(&s);
    remove_folder(folder);
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "first_layer_by_formulas", first_layer_by_formulas);
    test_add(suite, "every_variant_by_batches", every_variant_by_batches);
    test_add(suite, "dump_reads_back", dump_reads_back);
    test_add(suite, "constant_tokens", constant_tokens);
    test_add(suite, "content_kinds", content_kinds);
    test_add(suite, "any_number_of_threads", any_number_of_threads);
    test_add(suite, "gradient_norms_by_place", gradient_norms_by_place);
    test_add(suite, "gradient_norms_add_up", gradient_norms_add_up);
    test_add(suite, "gradient_norms_once_a_step", gradient_norms_once_a_step);
    test_add(suite, "labels_are_not_looked_at", labels_are_not_looked_at);
    test_add(suite, "training_is_left_alone", training_is_left_alone);
    test_add(suite, "a_run_with_captures", a_run_with_captures);
    test_add(suite, "a_run_with_spectra", a_run_with_spectra);
    test_add(suite, "refused", refused);
    test_add(suite, "allocation_failures", allocation_failures);
}
