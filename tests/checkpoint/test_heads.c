/* Every known architecture against brute force: dense products by loops, LAPACK, angles by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "toeplitz/symbol.h"

#include "factored_size.h"
#include "model.h"

enum { SIDE = 64 }; /* most of e, d and n in these tests */
static const double PI = 3.14159265358979323846;

typedef struct head_fixture {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szg_checkpoint_facts facts;
} head_fixture;

static void analyse(head_fixture *fixture, const char *config,
                    const szg_checkpoint_options *options) {
    model_write(&fixture->model, config);
    ck_szg_ok(
        szg_checkpoint_open(test_context(), fixture->model.folder, NULL, &fixture->checkpoint));
    ck_szg_ok(
        szg_checkpoint_analyse(test_context(), fixture->checkpoint, options, &fixture->tables));
    fixture->facts = szg_checkpoint_describe(fixture->checkpoint);
    ck_assert_int_eq(fixture->tables.bad, 0);
    ck_assert_int_eq(fixture->tables.unconverged, 0);
}

static void close_fixture(head_fixture *fixture) {
    szg_checkpoint_tables_close(&fixture->tables);
    szg_checkpoint_close(&fixture->checkpoint);
    model_close(&fixture->model);
}

/* Query and key rows of a head, from where each architecture keeps them. */
typedef struct row_pair {
    double q[SIDE * SIDE], k[SIDE * SIDE];
} row_pair;

static void copy_rows(double *out, const double *tensor, int64_t row, int64_t e, int64_t d,
                      double factor) {
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < d; j++)
            out[i * d + j] = factor * tensor[(row + i) * d + j];
}

/* The library's rows are the oracle's, and the spectra those of the dense product. */
static void check_head(const head_fixture *fixture, int64_t layer, int64_t head,
                       const row_pair *rows) {
    int64_t e = fixture->facts.head_size, d = fixture->facts.model_size;
    row_pair got;
    ck_szg_ok(model_head(test_context(), fixture->checkpoint, layer, head, got.q, got.k));
    for (int64_t i = 0; i < e * d; i++) {
        /* the scale is 1 / sqrt(e): a root, a quotient, a product */
        ck_close(got.q[i], rows->q[i], gamma_of(2 * 3) * fabs(rows->q[i]));
        ck_close(got.k[i], rows->k[i], gamma_of(2 * 3) * fabs(rows->k[i]));
    }
    oracle_head oracle = {e, d, got.q, got.k};
    double *dense = oracle_product(&oracle, 0, NULL);
    check_spectra(&fixture->tables, layer, head, "qk", d, dense, oracle_error(&oracle, 0, NULL));
    check_rank(&fixture->tables, layer, head, "qk", d, e, head, dense,
               oracle_error(&oracle, 0, NULL));
    free(dense);
}

/* What rounding moves the symbol of its 2n - 1 diagonal means by: their entries' error, n terms of
 * each, and a phase below 2 pi n that passes three roundings. */
static double means_error(const oracle_head *oracle, int64_t n, const double *p,
                          const double *dense) {
    double terms = gamma_of((double)n * (1 + 3 * 2 * PI) + 2) * norm_of(n * n, dense);
    return (double)(2 * n - 1) * (oracle_error(oracle, n, p) + terms);
}

/* a(theta) of the diagonal means of a dense matrix, by the sum. */
static double symbol_modulus(int64_t n, const double *dense, double theta) {
    double re = 0, im = 0;
    for (int64_t k = 1 - n; k < n; k++) {
        double sum = 0;
        for (int64_t i = k > 0 ? k : 0; i < n && i - k < n; i++)
            sum += dense[i * n + i - k];
        double mean = sum / (double)(n - llabs(k));
        re += mean * cos((double)k * theta);
        im += mean * sin((double)k * theta);
    }
    return hypot(re, im);
}

/* Of the library's factors A = P W_Q^T, B = P W_K^T, made here by loops. */
static double tau_error(const oracle_head *head, int64_t n, const double *p, double norm) {
    int64_t e = head->e, d = head->d;
    double *a = new_numbers(2 * n * e), *b = a + n * e;
    for (int64_t i = 0; i < n; i++)
        for (int64_t r = 0; r < e; r++)
            for (int64_t c = 0; c < d; c++) {
                a[i * e + r] += p[i * d + c] * head->q[r * d + c];
                b[i * e + r] += p[i * d + c] * head->k[r * d + c];
            }
    const szg_factored f = {.n = n, .d = e, .a = a, .lda = e, .b = b, .ldb = e};
    /* Numerator and denominator are squares: twice the relative error of the entries in each. */
    double error = toeplitzness_error(&f, norm) + 4 * oracle_error(head, n, p) / norm;
    szgi_memory_free(a);
    return error;
}

static void check_positions(const head_fixture *fixture, int64_t layer, int64_t head,
                            const row_pair *rows, int64_t n, const double *p) {
    oracle_head oracle = {fixture->facts.head_size, fixture->facts.model_size, (double *)rows->q,
                          (double *)rows->k};
    double *dense = oracle_product(&oracle, n, p);
    szg_tau tau;
    check_spectra(&fixture->tables, layer, head, "position", n, dense, oracle_error(&oracle, n, p));
    check_rank(&fixture->tables, layer, head, "position", n, oracle.e, head, dense,
               oracle_error(&oracle, n, p));
    int64_t row = find_row(fixture->tables.summary, layer, head, "position");
    szg_status status = szg_toeplitzness(test_context(), n, dense, n, &tau);
    if (status == SZG_EDOMAIN) { /* small numbers in one dimension may be all zero */
        ck_assert(isnan(cell(fixture->tables.summary, row, "toeplitzness")));
    } else {
        ck_szg_ok(status);
        ck_close(cell(fixture->tables.summary, row, "toeplitzness"), tau.value,
                 tau_error(&oracle, n, p, norm_of(n * n, dense)));
        ck_assert(cell(fixture->tables.summary, row, "toeplitzness_sampled") == 0);
    }
    szg_table *summary = fixture->tables.summary;
    ck_assert_str_eq(cell_text(summary, row, "bound_of"), "toeplitz_part");
    ck_assert_str_eq(cell_text(fixture->tables.range,
                               find_row(fixture->tables.range, layer, head, "position"),
                               "bound_of"),
                     "toeplitz_part");
    double least = INFINITY, largest = 0;
    const double step = 2 * PI / 4096;
    for (int i = 0; i < 4096; i++) {
        double value = symbol_modulus(n, dense, i * step);
        least = fmin(least, value);
        largest = fmax(largest, value);
    }
    double slack = means_error(&oracle, n, p, dense);
    ck_assert_double_le(cell(fixture->tables.summary, row, "symbol_min_lo"), least + slack);
    ck_assert_double_ge(cell(fixture->tables.summary, row, "symbol_max_hi"), largest - slack);
    /* The grid's spacing leaves a gap of at most (degree h)^2 / 8 of the maximum (Bernstein). */
    double gap = (double)(n * n) * step * step / 8 * largest + slack;
    ck_assert_double_le(cell(fixture->tables.summary, row, "symbol_max_lo"), largest + gap);
    row = find_row(fixture->tables.range, layer, head, "position");
    ck_assert_double_ge(cell(fixture->tables.range, row, "max_hi"), largest - slack);
    ck_assert_int_eq(
        szgi_table_end(fixture->tables.range, szg_table_find(fixture->tables.range, "max_hi")),
        SZGI_END_UPPER);
    free(dense);
}

/* ---- BERT and its relatives ---- */

static const char bert_config[] =
    "{\"model_type\":\"%s\",\"num_hidden_layers\":%d,\"num_attention_heads\":%d,"
    "\"hidden_size\":%d,\"max_position_embeddings\":%d,\"pad_token_id\":1%s}";

static void add_bert(head_fixture *fixture, const char *prefix, int layers, int d, int rows) {
    model_add(&fixture->model, SZGI_DTYPE_F32, rows, d, "%sembeddings.position_embeddings.weight",
              prefix);
    for (int i = 0; i < layers; i++) {
        const char *parts[] = {"query", "key", "value"};
        for (int j = 0; j < 3; j++) {
            model_add(&fixture->model, SZGI_DTYPE_F32, d, d,
                      "%sencoder.layer.%d.attention.self.%s.weight", prefix, i, parts[j]);
            model_add(&fixture->model, SZGI_DTYPE_F32, d, -1,
                      "%sencoder.layer.%d.attention.self.%s.bias", prefix, i, parts[j]);
        }
    }
}

static void check_bert(const head_fixture *fixture, const char *prefix, int layers, int heads,
                       int d, int64_t n, const double *p) {
    int64_t e = d / heads;
    row_pair rows;
    for (int layer = 0; layer < layers; layer++)
        for (int head = 0; head < heads; head++) {
            copy_rows(rows.q,
                      model_value(&fixture->model, "%sencoder.layer.%d.attention.self.query.weight",
                                  prefix, layer),
                      head * e, e, d, 1 / sqrt((double)e));
            copy_rows(rows.k,
                      model_value(&fixture->model, "%sencoder.layer.%d.attention.self.key.weight",
                                  prefix, layer),
                      head * e, e, d, 1);
            check_head(fixture, layer, head, &rows);
            check_positions(fixture, layer, head, &rows, n, p);
        }
}

static bool ends_in(const char *name, const char *end) {
    size_t length = strlen(name), most = strlen(end);
    return length >= most && strcmp(name + length - most, end) == 0;
}

/* A row a tensor of the file, which says what the analysis takes it for. */
static void check_uses(const head_fixture *fixture) {
    const szg_table *table = fixture->tables.tensors;
    ck_assert_int_eq(szg_table_rows(table), fixture->model.tensors);
    int64_t name = szg_table_find(table, "tensor"), used = szg_table_find(table, "used");
    for (int64_t i = 0; i < szg_table_rows(table); i++) {
        const char *tensor = szg_table_get_text(table, i, name);
        bool stray = tensor[0] == 'x';
        const char *want = ends_in(tensor, "position_embeddings.weight") ? "positions"
                           : ends_in(tensor, "self.query.bias") || ends_in(tensor, "self.key.bias")
                               ? "bias"
                           : !stray && ends_in(tensor, "self.query.weight") ? "query"
                           : !stray && ends_in(tensor, "self.key.weight")   ? "key"
                                                                            : "none";
        ck_assert_str_eq(szg_table_get_text(table, i, used), want);
    }
}

static void repeat_rows(head_fixture *fixture, const char *name, int heads, int d) {
    double *value = model_find(&fixture->model, name)->value;
    for (int head = 0; head < heads; head++)
        for (int j = 0; j < d; j++)
            value[(head * (d / heads) + 1) * d + j] = value[head * (d / heads) * d + j];
}

START_TEST(bert_heads) {
    /* heads, model size, positions: odd head size; one head of one dimension; more positions than
     * dimensions and fewer */
    const int cases[][3] = {{3, 15, 9}, {1, 1, 4}, {2, 8, 3}, {1, 12, 30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int heads = cases[i][0], d = cases[i][1], n = cases[i][2];
        const char *prefix = i % 2 ? "" : "bert.";
        head_fixture fixture = {0};
        char config[512];
        model_open(&fixture.model);
        add_bert(&fixture, prefix, 2, d, n);
        if (i == 0) /* two equal rows in every head: one rank less, and not by structure */
            repeat_rows(&fixture, "bert.encoder.layer.0.attention.self.query.weight", heads, d);
        if (i == 1) /* a name that only ends like one of the stack's */
            model_add(&fixture.model, SZGI_DTYPE_F32, d, d,
                      "xencoder.layer.0.attention.self.query.weight");
        snprintf(config, sizeof config, bert_config, "bert", 2, heads, d, n,
                 ",\"position_embedding_type\":\"absolute\"");
        analyse(&fixture, config, NULL);
        ck_assert_str_eq(fixture.facts.model_type, "bert");
        ck_assert_int_eq(fixture.facts.positions, SZG_POSITIONS_LEARNED);
        ck_assert(strstr(fixture.facts.note, "biases"));
        const double *p =
            model_value(&fixture.model, "%sembeddings.position_embeddings.weight", prefix);
        check_bert(&fixture, prefix, 2, heads, d, n, p);
        check_uses(&fixture);
        close_fixture(&fixture);
    }
}
END_TEST

/* The first columns, as the tables of `szego symbol` have them. */
static void check_order(const szg_table *table, const char *const *columns) {
    for (int64_t i = 0; columns[i]; i++)
        ck_assert_int_eq(szg_table_find(table, columns[i]), i);
}

START_TEST(leading_positions_and_samples) {
    head_fixture fixture = {0};
    char config[512];
    model_open(&fixture.model);
    add_bert(&fixture, "", 1, 6, 10);
    snprintf(config, sizeof config, bert_config, "bert", 1, 2, 6, 10, "");
    szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .positions = 7,
                                      .samples = 5};
    analyse(&fixture, config, &options);
    const double *p = model_value(&fixture.model, "embeddings.position_embeddings.weight");
    check_bert(&fixture, "", 1, 2, 6, 7, p);
    ck_assert_int_eq(szg_table_rows(fixture.tables.samples), 2 * 5);
    check_order(fixture.tables.samples, (const char *[]){"theta", "re", "im", "source", NULL});
    check_order(fixture.tables.range,
                (const char *[]){"source", "min_lo", "min_hi", "max_lo", "max_hi", "theta_min",
                                 "theta_max", "method", "layer", "head", "matrix", "bound_of",
                                 "note", NULL});
    row_pair rows;
    ck_szg_ok(model_head(test_context(), fixture.checkpoint, 0, 1, rows.q, rows.k));
    oracle_head oracle = {3, 6, rows.q, rows.k};
    double *dense = oracle_product(&oracle, 7, p);
    for (int64_t i = 5; i < 10; i++) {
        double theta = cell(fixture.tables.samples, i, "theta");
        ck_close(theta, 2 * PI * (double)(i - 5) / 5, gamma_of(4) * theta);
        double modulus = symbol_modulus(7, dense, theta);
        ck_close(
            hypot(cell(fixture.tables.samples, i, "re"), cell(fixture.tables.samples, i, "im")),
            modulus, means_error(&oracle, 7, p, dense));
    }
    free(dense);
    options.positions = 11;
    szg_checkpoint_tables tables;
    ck_szg_fails(SZG_EDOMAIN, "has 10",
                 szg_checkpoint_analyse(test_context(), fixture.checkpoint, &options, &tables));
    close_fixture(&fixture);
}
END_TEST

START_TEST(roberta_skips_the_padding_rows) {
    head_fixture fixture = {0};
    char config[512];
    model_open(&fixture.model);
    add_bert(&fixture, "roberta.", 1, 8, 11);
    snprintf(config, sizeof config, bert_config, "roberta", 1, 2, 8, 11, "");
    analyse(&fixture, config, NULL);
    ck_assert_int_eq(fixture.facts.position_rows, 9);
    const double *p = model_value(&fixture.model, "roberta.embeddings.position_embeddings.weight");
    check_bert(&fixture, "roberta.", 1, 2, 8, 9, p + 2 * 8);
    close_fixture(&fixture);
}
END_TEST

START_TEST(relative_positions) {
    static const char *const kinds[] = {",\"position_embedding_type\":\"relative_key\"", "",
                                        ",\"position_embedding_type\":\"cubic\""};
    for (int i = 0; i < 3; i++) {
        head_fixture fixture = {0};
        char config[512];
        model_open(&fixture.model);
        add_bert(&fixture, "", 1, 4, 5);
        model_add(&fixture.model, SZGI_DTYPE_F32, 9, 2,
                  "encoder.layer.0.attention.self.distance_embedding.weight");
        snprintf(config, sizeof config, bert_config, "bert", 1, 2, 4, 5, kinds[i]);
        if (i == 0) {
            analyse(&fixture, config, NULL);
            ck_assert_int_eq(fixture.facts.positions, SZG_POSITIONS_NONE);
            ck_assert_ptr_null(fixture.tables.range);
            ck_assert(strstr(fixture.facts.note, "Shaw"));
        } else {
            model_write(&fixture.model, config);
            ck_szg_fails(SZG_EDATA, "position_embedding_type",
                         szg_checkpoint_open(test_context(), fixture.model.folder, NULL,
                                             &fixture.checkpoint));
        }
        close_fixture(&fixture);
    }
}
END_TEST

START_TEST(distilbert_sinusoids) {
    enum { D = 6, N = 12 };
    head_fixture fixture = {0};
    model_open(&fixture.model);
    model_add(&fixture.model, SZGI_DTYPE_F16, D, D, "transformer.layer.0.attention.q_lin.weight");
    model_add(&fixture.model, SZGI_DTYPE_BF16, D, D, "transformer.layer.0.attention.k_lin.weight");
    analyse(&fixture,
            "{\"model_type\":\"distilbert\",\"n_layers\":1,\"n_heads\":1,\"dim\":6,"
            "\"sinusoidal_pos_embds\":true,\"max_position_embeddings\":12}",
            NULL);
    ck_assert_int_eq(fixture.facts.positions, SZG_POSITIONS_SINUSOIDAL);
    double p[N * D];
    for (int i = 0; i < N; i++)
        for (int t = 0; t < D / 2; t++) {
            double angle = i * pow(10000, -2.0 * t / D);
            p[i * D + 2 * t] = sin(angle);
            p[i * D + 2 * t + 1] = cos(angle);
        }
    row_pair rows;
    copy_rows(rows.q, model_value(&fixture.model, "transformer.layer.0.attention.q_lin.weight"), 0,
              D, D, 1 / sqrt(D));
    copy_rows(rows.k, model_value(&fixture.model, "transformer.layer.0.attention.k_lin.weight"), 0,
              D, D, 1);
    check_head(&fixture, 0, 0, &rows);
    check_positions(&fixture, 0, 0, &rows, N, p);
    close_fixture(&fixture);
}
END_TEST

/* |a|^2 is one product that no cancellation stops: beyond the limit its cells stay empty. */
START_TEST(long_positions_have_no_range) {
    for (int64_t n = SZG_SYMBOL_RANGE_LIMIT + 1; n <= SZG_SYMBOL_RANGE_LIMIT + 2; n++) {
        bool beyond = n - 1 > SZG_SYMBOL_RANGE_LIMIT;
        head_fixture fixture = {0};
        szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .positions = n};
        model_open(&fixture.model);
        model_add(&fixture.model, SZGI_DTYPE_F32, 2, 2,
                  "transformer.layer.0.attention.q_lin.weight");
        model_add(&fixture.model, SZGI_DTYPE_F32, 2, 2,
                  "transformer.layer.0.attention.k_lin.weight");
        analyse(&fixture,
                "{\"model_type\":\"distilbert\",\"n_layers\":1,\"n_heads\":1,\"dim\":2,"
                "\"sinusoidal_pos_embds\":true,\"max_position_embeddings\":200000}",
                &options);
        const szg_table *summary = fixture.tables.summary;
        int64_t row = find_row(summary, 0, 0, "position");
        ck_assert(isfinite(cell(summary, row, "toeplitzness")));
        ck_assert_int_eq(szg_table_is_empty(summary, row, szg_table_find(summary, "symbol_max_hi")),
                         beyond);
        ck_assert_int_eq(szg_table_rows(fixture.tables.range), !beyond);
        ck_assert_int_eq(is_noted(&fixture.tables, 0, 0, "position", "no certified range of |a|"),
                         beyond);
        close_fixture(&fixture);
    }
}
END_TEST

START_TEST(zero_weights) {
    head_fixture fixture = {0};
    char config[512];
    model_open(&fixture.model);
    add_bert(&fixture, "", 1, 4, 5);
    model_tensor *query = model_find(&fixture.model, "encoder.layer.0.attention.self.query.weight");
    memset(query->value, 0, (size_t)query->count * sizeof *query->value);
    snprintf(config, sizeof config, bert_config, "bert", 1, 2, 4, 5, "");
    analyse(&fixture, config, NULL);
    int64_t row = find_row(fixture.tables.summary, 0, 1, "position");
    ck_assert(szg_table_is_empty(fixture.tables.summary, row,
                                 szg_table_find(fixture.tables.summary, "toeplitzness")));
    ck_assert(szg_table_is_empty(fixture.tables.summary, row,
                                 szg_table_find(fixture.tables.summary, "condition_e")));
    ck_assert(cell(fixture.tables.summary, row, "sigma_e") == 0);
    ck_noted(&fixture.tables, 0, 1, "position", "the zero matrix has no toeplitzness");
    ck_noted(&fixture.tables, 0, 1, "position", "condition, stable and effective rank");
    close_fixture(&fixture);
}
END_TEST

/* ---- GPT-2: stored transposed and fused ---- */

static void check_gpt2(const head_fixture *fixture, int64_t heads, int64_t d, int64_t n,
                       bool by_layer) {
    int64_t e = d / heads;
    row_pair rows;
    for (int layer = 0; layer < 2; layer++) {
        const double *w = model_value(&fixture->model, "h.%d.attn.c_attn.weight", layer);
        double scale = by_layer ? 1.0 / (layer + 1) : 1 / sqrt((double)e);
        for (int64_t head = 0; head < heads; head++) {
            for (int64_t r = 0; r < e; r++)
                for (int64_t j = 0; j < d; j++) {
                    rows.q[r * d + j] = scale * w[j * 3 * d + head * e + r];
                    rows.k[r * d + j] = w[j * 3 * d + d + head * e + r];
                }
            check_head(fixture, layer, head, &rows);
            check_positions(fixture, layer, head, &rows, n,
                            model_value(&fixture->model, "wpe.weight"));
        }
    }
}

START_TEST(gpt2_heads) {
    for (int by_layer = 0; by_layer < 2; by_layer++) {
        head_fixture fixture = {0};
        model_open(&fixture.model);
        model_add(&fixture.model, SZGI_DTYPE_F32, 7, 10, "wpe.weight");
        for (int layer = 0; layer < 2; layer++)
            model_add(&fixture.model, SZGI_DTYPE_F32, 10, 30, "h.%d.attn.c_attn.weight", layer);
        analyse(&fixture,
                by_layer ? "{\"model_type\":\"gpt2\",\"n_layer\":2,\"n_head\":2,\"n_embd\":10,"
                           "\"scale_attn_weights\":false,\"scale_attn_by_inverse_layer_idx\":true}"
                         : "{\"model_type\":\"gpt2\",\"n_layer\":2,\"n_head\":2,\"n_embd\":10}",
                NULL);
        check_gpt2(&fixture, 2, 10, 7, by_layer);
        close_fixture(&fixture);
    }
}
END_TEST

TEST_FILE("heads") {
    test_add(suite, "bert_heads", bert_heads);
    test_add(suite, "leading_positions_and_samples", leading_positions_and_samples);
    test_add(suite, "roberta_skips_the_padding_rows", roberta_skips_the_padding_rows);
    test_add(suite, "relative_positions", relative_positions);
    test_add(suite, "distilbert_sinusoids", distilbert_sinusoids);
    test_add(suite, "long_positions_have_no_range", long_positions_have_no_range);
    test_add(suite, "zero_weights", zero_weights);
    test_add(suite, "gpt2_heads", gpt2_heads);
}
