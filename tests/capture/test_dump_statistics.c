/* Softmax statistics of dumps: each row against the same of the arrays themselves. */
#include "dump_support.h"

static szg_status statistics_masked(const char *path, const szgi_dump_options *options,
                                    szgi_dump_mask mask, const szg_statistics_options *statistics,
                                    szg_table **table) {
    szgi_dump *dump = NULL;
    *table = NULL;
    szg_status status = szgi_dump_open(test_context(), &dump);
    if (status == SZG_OK)
        status = szgi_dump_add(test_context(), dump, path);
    if (status == SZG_OK)
        status = szgi_dump_statistics_table(test_context(), table);
    if (status == SZG_OK)
        status =
            szgi_dump_statistics(test_context(), dump, options, mask, statistics, *table, NULL);
    szgi_dump_close(&dump);
    if (status != SZG_OK)
        szg_table_close(table);
    return status;
}

static szg_status statistics_file(const char *path, const szgi_dump_options *options,
                                  const szg_statistics_options *statistics, szg_table **table) {
    return statistics_masked(path, options,
                             options && options->causal ? SZGI_MASK_CAUSAL : SZGI_MASK_FILE,
                             statistics, table);
}

static const char *text(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_text(table, row, szg_table_find(table, column));
}

static bool is_empty(const szg_table *table, int64_t row, const char *column) {
    return szg_table_is_empty(table, row, szg_table_find(table, column));
}

static void expect_numbers(const szg_table *table, int64_t row, const szg_statistics *s,
                           double bound) {
    const struct {
        const char *column;
        double value;
    } numbers[] = {{"largest_logit", s->largest},
                   {"smallest_logit", s->smallest},
                   {"logit_error", s->error},
                   {"entropy_mean", s->entropy_mean},
                   {"entropy_normalised", s->entropy_normalised},
                   {"entropy_min", s->entropy_min},
                   {"entropy_max", s->entropy_max},
                   {"first_share", s->first_share},
                   {"sink_share", s->sink_share},
                   {"learned_share", s->learned_share},
                   {"q_norm_max", s->q_norm_max},
                   {"q_norm_rms", s->q_norm_rms},
                   {"k_norm_max", s->k_norm_max},
                   {"k_norm_rms", s->k_norm_rms}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (isnan(numbers[i].value))
            ck_assert_msg(is_empty(table, row, numbers[i].column), "%s", numbers[i].column);
        else
            ck_close(cell(table, row, numbers[i].column), numbers[i].value,
                     bound * fabs(numbers[i].value));
    ck_assert_int_eq(cell(table, row, "largest_query"), s->largest_query);
    ck_assert_int_eq(cell(table, row, "largest_key"), s->largest_key);
    ck_assert_int_eq(cell(table, row, "entropy_max_query"), s->entropy_max_query);
    ck_assert_int_eq(cell(table, row, "n"), s->n);
}

static double norm_at(int64_t d, const double *x, int64_t n, double *rms) {
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, norm_of(d, x + i * d));
        sum += pow(norm_of(d, x + i * d), 2);
    }
    *rms = sqrt(sum / (double)n);
    return most;
}

/* Four heads of queries share two of keys; ALiBi's bias makes the coupled logits of the same
 * factors: the rows are those of the entries, and the norms those of the file's numbers, without
 * the scale. Heads have learned sinks of their own. */
START_TEST(queries_and_keys) {
    enum { H = 4, G = 2, N = 150, D = 6 };
    const int64_t shape_q[3] = {H, N, D}, shape_k[3] = {G, N, D}, shape_s[1] = {H};
    const int64_t sink[] = {0, 5};
    const double scale = 0.7, learned[H] = {0, -1, 2, 0.5};
    double *q = new_numbers(H * N * D), *k = new_numbers(G * N * D);
    double *x = new_numbers(N * N);
    szgi_stream stream = {.seed = test_seed(), .purpose = 90};
    szgi_random_fill_normal(&stream, 0, H * N * D, q);
    szgi_random_fill_normal(&stream, H * N * D, G * N * D, k);
    const szgi_tensor tensors[] = {tensor("layers.3.q", 3, shape_q, q),
                                   tensor("layers.3.k", 3, shape_k, k),
                                   tensor("layers.3.sink_logit", 1, shape_s, learned)};
    write_set(tensors, 3, NULL, 0);
    szg_encoding *alibi = encoding_of("alibi:heads=4");
    const szgi_dump_options options = {.encoding = alibi, .scale = scale, .causal = true};
    szg_statistics_options how = {SZG_INIT(szg_statistics_options), .soft_cap = 4, .sinks = 2,
                                  .sink = sink};
    szg_table *table;
    ck_szg_ok(statistics_file(path_of(".safetensors"), &options, &how, &table));
    unlink(path_of(".safetensors"));
    ck_assert_int_eq(szg_table_rows(table), 2 * H);
    how.causal = true;
    for (int64_t r = 0; r < 2 * H; r++) {
        const int64_t h = r / 2;
        for (int i = 0; i < N * N; i++) {
            x[i] = r % 2 ? -pow(2, -2.0 * (double)(h + 1)) * abs(i / N - i % N) : 0;
            for (int t = 0; t < D; t++)
                x[i] += scale * q[(h * N + i / N) * D + t] * k[(h / 2 * N + i % N) * D + t];
        }
        how.sink_logit = &learned[h];
        const szg_matrix matrix = szg_matrix_dense(N, N, x, N);
        szg_statistics s;
        ck_szg_ok(szg_statistics_compute(test_context(), &matrix, &how, &s));
        /* The rest is in the file as it is. */
        s.q_norm_max = norm_at(D, q + h * N * D, N, &s.q_norm_rms);
        s.k_norm_max = norm_at(D, k + h / 2 * N * D, N, &s.k_norm_rms);
        s.error = cell(table, r, "logit_error");
        ck_assert(s.error > 0 && s.error < 1e-12);
        /* Entries are off by s.error here and there, entropies by 2 log N and weights by 2 of it:
         * relative to numbers of at least 0.01 below 1e-8. */
        expect_numbers(table, r, &s, 1e-8);
        ck_assert_str_eq(text(table, r, "matrix"), r % 2 ? "logits" : "content");
        ck_assert_str_eq(text(table, r, "mask"), "causal");
        ck_assert_str_eq(text(table, r, "sinks"), "0+5");
        ck_assert_int_eq(cell(table, r, "layer"), 3);
        ck_assert_int_eq(cell(table, r, "head"), h);
        ck_assert(cell(table, r, "soft_cap") == 4 && cell(table, r, "sink_logit") == learned[h]);
        ck_assert(is_empty(table, r, "step") && is_empty(table, r, "note"));
    }
    szg_table_close(&table);
    szg_encoding_close(&alibi);
    double *all[] = {q, k, x};
    for (int i = 0; i < 3; i++)
        szgi_memory_free(all[i]);
}
END_TEST

/* Dense logits give their own numbers, to the bit, cut to the real tokens; what is alone or beside
 * factors has a row of its own. One matrix above the size at which threads share it. */
START_TEST(dense_and_mixed) {
    enum { B = 2, N = 600, D = 3 };
    const int64_t stack[3] = {B, N, N}, square[2] = {N, N}, sides[2] = {N, D}, lengths[B] = {N, 7};
    double *x = new_numbers(B * N * N), *q = new_test_reals(91, 1, N * D);
    szgi_stream stream = {.seed = test_seed(), .purpose = 91};
    szgi_random_fill_normal(&stream, 0, B * N * N, x);
    const szgi_tensor tensors[] = {
        tensor("a.q_coupled", 2, sides, q), tensor("a.k_coupled", 2, sides, q),
        tensor("b.q", 2, sides, q),         tensor("b.k", 2, sides, q),
        tensor("b.logits", 2, square, x),   tensor("c.layers.0.heads.1.coupled", 3, stack, x)};
    write_set(tensors, sizeof tensors / sizeof *tensors, NULL, 0);
    const szgi_dump_options options = {.lengths = 0};
    szg_table *table;
    ck_szg_ok(statistics_file(path_of(".safetensors"), &options, NULL, &table));
    ck_assert_int_eq(szg_table_rows(table), 5);
    static const char *const names[] = {"logits", "content", "logits", "logits", "logits"};
    for (int r = 0; r < 5; r++) {
        ck_assert_str_eq(text(table, r, "matrix"), names[r]);
        ck_assert_int_eq(is_empty(table, r, "q_norm_max"), r > 1);
        ck_assert(is_empty(table, r, "sinks") && is_empty(table, r, "soft_cap"));
    }
    ck_assert(strstr(text(table, 2, "note"), "the logits themselves"));
    szg_table_close(&table);
    /* Cut and masked: the same as of the leading rows and columns, below the diagonal. */
    for (int i = 0; i < B * N * N; i++)
        x[i] = i % N > i / N % N ? -INFINITY : x[i];
    const szgi_tensor cut[] = {tensor("coupled", 3, stack, x)};
    write_set(cut, 1, NULL, 0);
    const szgi_dump_options batch = {
        .axes = "batch", .causal = true, .lengths = B, .length = lengths};
    ck_szg_ok(statistics_file(path_of(".safetensors"), &batch, NULL, &table));
    unlink(path_of(".safetensors"));
    ck_assert_int_eq(szg_table_rows(table), B);
    for (int b = 0; b < B; b++) {
        const szg_matrix matrix =
            szg_matrix_dense(lengths[b], lengths[b], x + (size_t)b * N * N, N);
        szg_statistics s;
        const szg_statistics_options how = {SZG_INIT(szg_statistics_options), .causal = true};
        ck_szg_ok(szg_statistics_compute(test_context(), &matrix, &how, &s));
        expect_numbers(table, b, &s, 0);
        ck_assert_str_eq(text(table, b, "probe"), b ? "1" : "0");
    }
    szg_table_close(&table);
    szgi_memory_free(x);
    szgi_memory_free(q);
}
END_TEST

/* The one number of one matrix may be a list of it. */
START_TEST(a_sink_as_a_list) {
    const int64_t square[2] = {2, 2}, one[1] = {1};
    const double x[4] = {1, 2, 3, 4}, learned = 1.5;
    for (int dims = 0; dims < 2; dims++) {
        const szgi_tensor set[] = {tensor("coupled", 2, square, x),
                                   tensor("sink_logit", dims, one, &learned)};
        szg_table *table;
        write_set(set, 2, NULL, 0);
        ck_szg_ok(statistics_file(path_of(".safetensors"), NULL, NULL, &table));
        ck_assert(cell(table, 0, "sink_logit") == learned);
        szg_table_close(&table);
        unlink(path_of(".safetensors"));
    }
}
END_TEST

START_TEST(refused) {
    const int64_t square[2] = {2, 2}, none[1] = {0}, two[1] = {2}, sink[] = {2};
    const double x[4] = {1, 2, 3, 4}, bad = INFINITY;
    const szgi_tensor infinite[] = {tensor("layers.1.coupled", 2, square, x),
                                    tensor("layers.1.sink_logit", 0, none, &bad)};
    const szgi_tensor several[] = {tensor("coupled", 2, square, x),
                                   tensor("sink_logit", 1, two, x)};
    szg_table *table;
    const char *path = path_of(".safetensors");
    write_set(infinite, 2, NULL, 0);
    ck_szg_fails(SZG_EDATA, "tensor layers.1.sink_logit: number 0 is inf",
                 statistics_file(path, NULL, NULL, &table));
    write_set(several, 2, NULL, 0);
    ck_szg_fails(SZG_EDATA, "one number a matrix", statistics_file(path, NULL, NULL, &table));
    write_set(infinite, 1, NULL, 0);
    const szg_statistics_options beyond = {SZG_INIT(szg_statistics_options), .sinks = 1,
                                           .sink = sink};
    ck_szg_fails(SZG_EINVAL, "layer 1: statistics: sink 2 is no token: they are 0 .. 1",
                 statistics_file(path, NULL, &beyond, &table));
    unlink(path);
}
END_TEST

/* The mask and the cap of the metadata are the softmax's where no option says another. Windows and
 * chunks that are as long as the sequence hide nothing; others are refused. */
START_TEST(masks_and_caps_of_the_metadata) {
    enum { N = 6, LAYERS = 2 };
    const int64_t shape[3] = {LAYERS, N, N};
    double *x = new_numbers(LAYERS * N * N);
    szgi_stream stream = {.seed = test_seed(), .purpose = 91};
    szgi_random_fill_normal(&stream, 0, LAYERS * N * N, x);
    const szgi_tensor tensors[] = {tensor("coupled", 3, shape, x)};
    static const struct {
        const char *mask;
        szgi_dump_mask asked;
        int causal[LAYERS]; /* -1: refused */
    } cases[] = {{"causal", SZGI_MASK_FILE, {1, 1}},
                 {"all", SZGI_MASK_FILE, {0, 0}},
                 {"window 6", SZGI_MASK_FILE, {0, 0}},
                 {"causal, window 6", SZGI_MASK_FILE, {1, 1}},
                 {"causal, chunks of 8", SZGI_MASK_FILE, {1, 1}},
                 {"0: causal, window 9; 1: all", SZGI_MASK_FILE, {1, 0}},
                 {"causal, window 5", SZGI_MASK_FILE, {-1, -1}},
                 {"causal, window 5", SZGI_MASK_CAUSAL, {1, 1}},
                 {"causal, window 5", SZGI_MASK_NONE, {0, 0}},
                 {"window 5", SZGI_MASK_FILE, {-1, -1}},
                 {"causal, chunks of 5", SZGI_MASK_FILE, {-1, -1}},
                 {"1: causal; 2: causal", SZGI_MASK_FILE, {-1, 1}},
                 {"0: causal; 1: other", SZGI_MASK_FILE, {1, -1}},
                 {"other", SZGI_MASK_FILE, {-1, -1}},
                 {"causally", SZGI_MASK_FILE, {-1, -1}},
                 {"allx", SZGI_MASK_FILE, {-1, -1}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *metadata[] = {"mask", cases[c].mask, "logit_cap", "2.5"};
        write_set(tensors, 1, metadata, 2);
        szgi_dump *dump = NULL;
        szg_table *table;
        int64_t bad;
        ck_szg_ok(szgi_dump_open(test_context(), &dump));
        ck_szg_ok(szgi_dump_add(test_context(), dump, path_of(".safetensors")));
        ck_szg_ok(szgi_dump_statistics_table(test_context(), &table));
        ck_szg_ok(szgi_dump_statistics(test_context(), dump, &(szgi_dump_options){.axes = "layer"},
                                       cases[c].asked, NULL, table, &bad));
        for (int l = 0; l < LAYERS; l++) {
            const szg_matrix matrix = szg_matrix_dense(N, N, x + l * N * N, N);
            const szg_statistics_options how = {SZG_INIT(szg_statistics_options),
                                                .causal = cases[c].causal[l] == 1, .soft_cap = 2.5};
            szg_statistics s;
            if (cases[c].causal[l] < 0) {
                ck_assert_ptr_nonnull(
                    strstr(text(table, l, "note"), "--mask none or --mask causal"));
                continue;
            }
            ck_szg_ok(szg_statistics_compute(test_context(), &matrix, &how, &s));
            expect_numbers(table, l, &s, 0);
            ck_assert_str_eq(text(table, l, "mask"), how.causal ? "causal" : "none");
            ck_assert(cell(table, l, "soft_cap") == 2.5);
        }
        szg_table_close(&table);
        szgi_dump_close(&dump);
    }
    const char *metadata[] = {"logit_cap", "much"};
    szg_table *table;
    write_set(tensors, 1, metadata, 1);
    ck_szg_fails(SZG_EDATA, "logit_cap 'much' is no positive number",
                 statistics_file(path_of(".safetensors"), NULL, NULL, &table));
    unlink(path_of(".safetensors"));
    szgi_memory_free(x);
}
END_TEST

START_TEST(allocation_failures) {
    enum { N = 9, D = 2 };
    const int64_t shape[2] = {N, D}, sink[] = {0, 1};
    double *x = new_test_reals(92, 0, 2 * N * D);
    const szgi_tensor tensors[] = {tensor("q", 2, shape, x), tensor("k", 2, shape, x + N * D)};
    write_set(tensors, 2, NULL, 0);
    szg_encoding *rope = encoding_of("rope:dim=2,pairing=half");
    const szgi_dump_options options = {.encoding = rope};
    const szg_statistics_options how = {SZG_INIT(szg_statistics_options), .sinks = 2, .sink = sink};
    const char *path = path_of(".safetensors");
    szg_table *table = NULL;
    ck_survives_failed_allocations(20, statistics_file(path, &options, &how, &table));
    ck_assert_int_eq(szg_table_rows(table), 2);
    unlink(path);
    szg_table_close(&table);
    szg_encoding_close(&rope);
    szgi_memory_free(x);
}
END_TEST

TEST_FILE("dump_statistics") {
    test_add(suite, "queries_and_keys", queries_and_keys);
    test_add(suite, "dense_and_mixed", dense_and_mixed);
    test_add(suite, "a_sink_as_a_list", a_sink_as_a_list);
    test_add(suite, "masks_and_caps_of_the_metadata", masks_and_caps_of_the_metadata);
    test_add(suite, "refused", refused);
    test_add(suite, "allocation_failures", allocation_failures);
}
