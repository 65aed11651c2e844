/* Lags and bands of dumps: which sequences belong together, bits on threads, failures of memory.
 * The numbers themselves are those of NumPy in tests/peer/test_lags.py. */
#include "contraction/lag_share.h"
#include "dump_support.h"

typedef struct found {
    szgi_dump_lag_tables lags;
    szg_table *bands;
} found;

static void close_found(found *f) {
    szgi_dump_lags_close(&f->lags);
    szg_table_close(&f->bands);
}

static szg_status compute(szg_context *context, const char *path, const szgi_dump_options *options,
                          int64_t draws, found *out) {
    szgi_dump *dump = NULL;
    *out = (found){0};
    szg_status status = szgi_dump_open(context, &dump);
    if (status == SZG_OK)
        status = szgi_dump_add(context, dump, path);
    if (status == SZG_OK)
        status = szgi_dump_lags_open(context, true, &out->lags);
    if (status == SZG_OK)
        status = szgi_dump_lags(context, dump, options, 7, &out->lags);
    if (status == SZG_OK && draws > 0)
        status = szgi_dump_bands_table(context, &out->bands);
    if (status == SZG_OK && draws > 0)
        status = szgi_dump_bands(context, dump, options, draws, 7, out->bands);
    szgi_dump_close(&dump);
    if (status != SZG_OK)
        close_found(out);
    return status;
}

static bool is_empty(const szg_table *table, int64_t row, const char *column) {
    return szg_table_is_empty(table, row, szg_table_find(table, column));
}

static const char *note(const szg_table *table, int64_t row) {
    return is_empty(table, row, "note")
               ? ""
               : szg_table_get_text(table, row, szg_table_find(table, "note"));
}

static void expect_same(const szg_table *x, const szg_table *y) {
    ck_assert_int_eq(szg_table_rows(x), szg_table_rows(y));
    for (int64_t r = 0; r < szg_table_rows(x); r++)
        for (int64_t c = 0; c < szg_table_columns(x); c++) {
            bool empty = szg_table_is_empty(x, r, c);
            ck_assert(empty == szg_table_is_empty(y, r, c));
            if (!empty && szg_table_column(x, c)->type != SZG_TEXT)
                ck_assert_msg(szg_table_get_real(x, r, c) == szg_table_get_real(y, r, c),
                              "row %lld, %s", (long long)r, szg_table_column(x, c)->name);
        }
}

static double *new_normals(uint32_t step, int64_t count) {
    const szgi_stream stream = {.seed = test_seed(), .step = step, .purpose = 95};
    double *x = new_numbers(count);
    szgi_random_fill_normal(&stream, 0, count, x);
    return x;
}

/* Probes of other heads lie between those of a head, and the longest comes last; a probe that
 * cannot be read is counted. Batched in one array, the same sequences give the same bits. */
START_TEST(sequences_of_a_head) {
    enum { N = 12, SHORT = 7 };
    const int64_t little[2] = {SHORT, SHORT}, square[2] = {N, N}, stack[4] = {3, 2, N, N};
    const int64_t lengths[3] = {SHORT, N, N};
    double *x = new_normals(0, 2 * 3 * N * N), *batch = new_numbers(3 * 2 * N * N);
    char name[4][3][48];
    szgi_tensor tensors[7];
    int64_t count = 0;
    for (int h = 0; h < 2; h++)
        for (int p = 0; p < 3; p++) {
            double *own = x + (h * 3 + p) * N * N;
            int64_t n = p ? N : SHORT;
            snprintf(name[h][p], sizeof name[h][p], "probes.%d.layers.1.heads.%d.coupled", p, h);
            tensors[count++] = tensor(name[h][p], 2, p ? square : little, own);
            for (int64_t i = 0; i < n * n; i++)
                batch[((p * 2 + h) * N + i / n) * N + i % n] = own[i];
        }
    write_set(tensors, count, NULL, 0);
    found apart, together;
    const szgi_dump_options options = {.lengths = 0}, causal = {.causal = true};
    ck_szg_ok(compute(test_context(), path_of(".safetensors"), &options, 0, &apart));
    ck_assert_int_eq(szg_table_rows(apart.lags.shares), 2);
    for (int h = 0; h < 2; h++) {
        ck_assert_int_eq(cell(apart.lags.shares, h, "head"), h);
        ck_assert_int_eq(cell(apart.lags.shares, h, "layer"), 1);
        ck_assert_int_eq(cell(apart.lags.shares, h, "sequences"), 3);
        ck_assert_int_eq(cell(apart.lags.shares, h, "n"), N);
        ck_assert_int_eq(cell(apart.lags.shares, h, "entries"), 6 * 5 + 2 * 11 * 10);
    }
    const szgi_tensor batched = tensor("layers.1.coupled", 4, stack, batch);
    const szgi_dump_options cut = {.lengths = 3, .length = lengths};
    write_set(&batched, 1, NULL, 0);
    ck_szg_ok(compute(test_context(), path_of(".safetensors"), &cut, 0, &together));
    expect_same(apart.lags.shares, together.lags.shares);
    expect_same(apart.lags.lags, together.lags.lags);
    close_found(&apart);
    close_found(&together);
    x[2 * N * N + N] = NAN;
    write_set(tensors, count, NULL, 0);
    ck_szg_ok(compute(test_context(), path_of(".safetensors"), &causal, 0, &apart));
    ck_assert_int_eq(cell(apart.lags.shares, 0, "sequences"), 2);
    ck_assert_ptr_nonnull(strstr(note(apart.lags.shares, 0), "1 sequence could not be read"));
    ck_assert_int_eq(cell(apart.lags.shares, 1, "sequences"), 3);
    close_found(&apart);
    x[N * N + N] = NAN;
    write_set(tensors, count, NULL, 0);
    ck_szg_ok(compute(test_context(), path_of(".safetensors"), &causal, 0, &apart));
    ck_assert_int_eq(cell(apart.lags.shares, 0, "n"), SHORT);
    ck_assert_int_eq(cell(apart.lags.shares, 1, "n"), N);
    close_found(&apart);
    unlink(path_of(".safetensors"));
    szgi_memory_free(x);
    szgi_memory_free(batch);
}
END_TEST

/* More tokens than the null takes: said, and the other sequences are not. */
START_TEST(too_long) {
    enum { N = SZGI_LAG_ORDER + 1 };
    const int64_t shape[2] = {N, 1};
    double *x = new_normals(1, N);
    const szgi_tensor tensors[] = {tensor("q", 2, shape, x), tensor("k", 2, shape, x)};
    write_set(tensors, 2, NULL, 0);
    szg_encoding *nope = encoding_of("nope");
    int64_t length = 5;
    const szgi_dump_options options = {.encoding = nope},
                            cut = {.encoding = nope, .lengths = 1, .length = &length};
    found f;
    ck_szg_ok(compute(test_context(), path_of(".safetensors"), &options, 0, &f));
    ck_assert(is_empty(f.lags.shares, 0, "lag_share") && szg_table_rows(f.lags.lags) == 0);
    ck_assert(is_empty(f.lags.shares, 0, "n"));
    ck_assert_ptr_nonnull(strstr(note(f.lags.shares, 0), "more than 4096 tokens"));
    ck_assert_ptr_nonnull(strstr(note(f.lags.shares, 0), "--lengths"));
    close_found(&f);
    ck_szg_ok(compute(test_context(), path_of(".safetensors"), &cut, 0, &f));
    ck_assert(!is_empty(f.lags.shares, 0, "lag_share"));
    close_found(&f);
    unlink(path_of(".safetensors"));
    szg_encoding_close(&nope);
    szgi_memory_free(x);
}
END_TEST

/* Either number of draws, and several sequences. */
START_TEST(threads) {
    enum { H = 2, N = SZGI_LAG_MANY + 6, D = 2 };
    const int64_t shape[3] = {H, N, D};
    double *x = new_normals(2, 2 * H * N * D);
    const szgi_tensor tensors[] = {tensor("q", 3, shape, x), tensor("k", 3, shape, x + H * N * D)};
    write_set(tensors, 2, NULL, 0);
    szg_encoding *rope = encoding_of("rope:dim=2,pairing=half");
    const int64_t lengths[H] = {40, 31};
    const szgi_dump_options all = {.encoding = rope, .axes = "batch"}, cut = {.encoding = rope,
                                                                              .axes = "batch",
                                                                              .causal = true,
                                                                              .lengths = H,
                                                                              .length = lengths};
    for (int c = 0; c < 2; c++) {
        found f[2];
        for (int t = 0; t < 2; t++) {
            const szg_context_options how = {SZG_INIT(szg_context_options), .threads = t ? 3 : 1};
            szg_context *context;
            ck_szg_ok(szg_context_open(&how, &context));
            ck_szg_ok(compute(context, path_of(".safetensors"), c ? &cut : &all, c ? 5 : 0, &f[t]));
            szg_context_close(&context);
        }
        ck_assert_int_eq(cell(f[0].lags.shares, 0, "draws"), SZGI_LAG_FEW_DRAWS);
        expect_same(f[0].lags.shares, f[1].lags.shares);
        expect_same(f[0].lags.lags, f[1].lags.lags);
        if (c)
            expect_same(f[0].bands, f[1].bands);
        close_found(&f[0]);
        close_found(&f[1]);
    }
    unlink(path_of(".safetensors"));
    szg_encoding_close(&rope);
    szgi_memory_free(x);
}
END_TEST

START_TEST(allocation_failures) {
    enum { N = 9, D = 2 };
    const int64_t shape[3] = {2, N, D};
    double *x = new_normals(3, 4 * N * D);
    const szgi_tensor tensors[] = {tensor("q", 3, shape, x), tensor("k", 3, shape, x + 2 * N * D)};
    write_set(tensors, 2, NULL, 0);
    szg_encoding *rope = encoding_of("rope:dim=2,pairing=half");
    const szgi_dump_options options = {.encoding = rope, .causal = true};
    found f = {0};
    ck_survives_failed_allocations(
        100, compute(test_context(), path_of(".safetensors"), &options, 3, &f));
    ck_assert_int_eq(szg_table_rows(f.lags.shares), 2);
    ck_assert_int_eq(szg_table_rows(f.lags.lags), 2 * (N - 2));
    ck_assert_int_eq(szg_table_rows(f.bands), 2);
    close_found(&f);
    unlink(path_of(".safetensors"));
    szg_encoding_close(&rope);
    szgi_memory_free(x);
}
END_TEST

TEST_FILE("dump_lags") {
    test_add(suite, "sequences_of_a_head", sequences_of_a_head);
    test_add(suite, "too_long", too_long);
    test_add(suite, "threads", threads);
    test_add(suite, "allocation_failures", allocation_failures);
}
