/* An encoding's matrices by lag and by entry, against operators, formulas and rows; their tables.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "kernels.h"
#include "rounding.h"

enum { N = 9, LAGS = 2 * N - 1 };

/* ---- Numbers ---- */

/* Every Toeplitz matrix: the operator's lags, no spread, and entry (i, j) is that of lag i - j. */
static void check_toeplitz(const char *spec) {
    szg_encoding *encoding = parse(spec);
    int64_t heads = szg_encoding_heads(encoding);
    double re[LAGS], im[LAGS], spread[LAGS];
    for (int64_t matrix = 0; matrix < szg_encoding_matrices(encoding); matrix++) {
        double entries[2][4][N][N];
        ck_assert(heads <= 4);
        ck_szg_ok(szg_encoding_entries(test_context(), encoding, 0, heads, matrix, N,
                                       entries[0][0][0], entries[1][0][0]));
        for (int64_t head = 0; head < heads; head++) {
            szg_toeplitz *t = kernel(encoding, head, matrix, N);
            memset(spread, 1, sizeof spread);
            ck_szg_ok(
                szg_encoding_lags(test_context(), encoding, head, 1, matrix, N, re, im, spread));
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < N; j++) {
                    szg_c64 want = szg_toeplitz_at(t, i - j);
                    int64_t at = i - j + N - 1;
                    ck_assert(re[at] == want.re && im[at] == want.im && spread[at] == 0);
                    ck_assert(entries[0][head][i][j] == want.re);
                    ck_assert(entries[1][head][i][j] == want.im);
                }
            szg_toeplitz_close(&t);
        }
    }
    szg_encoding_close(&encoding);
}

START_TEST(toeplitz) {
    static const char *const specs[] = {"nope",
                                        "absolute:dim=6",
                                        "relative:seed=1,heads=2",
                                        "t5:seed=1,heads=3",
                                        "t5:seed=2,direction=causal",
                                        "alibi:heads=4",
                                        "rope:dim=10,heads=2",
                                        "rope-bias",
                                        "mla:content=3,rope=4",
                                        "kms:rho=-0.5",
                                        "rope+absolute:dim=4",
                                        "rope:dim=4,scaling=yarn,factor=4,original=16"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        check_toeplitz(specs[i]);
}
END_TEST

/* The sign of the lag, and complex numbers: a file says both. */
START_TEST(coefficients) {
    static char path[64];
    snprintf(path, sizeof path, "test_lags_%d.txt", (int)getpid());
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("10+1i,20,30,40,50-2i\n", file); /* lags -2 .. 2 */
    fclose(file);
    szg_encoding *encoding = parse(spec_with("file:lags=full,path=%s", path));
    double re[5], im[5], entry[3][3], imaginary[3][3];
    ck_szg_ok(szg_encoding_lags(test_context(), encoding, 0, 1, 0, 3, re, im, NULL));
    ck_assert(re[0] == 10 && re[1] == 20 && re[2] == 30 && re[3] == 40 && re[4] == 50);
    ck_assert(im[0] == 1 && im[1] == 0 && im[4] == -2);
    ck_szg_ok(szg_encoding_entries(test_context(), encoding, 0, 1, 0, 3, entry[0], imaginary[0]));
    ck_assert(entry[2][0] == 50 && imaginary[2][0] == -2); /* query 2, key 0 */
    ck_assert(entry[0][2] == 10 && imaginary[0][2] == 1 && entry[1][0] == 40);
    ck_szg_ok(szg_encoding_entries(test_context(), encoding, 0, 1, 0, 3, entry[0], NULL));
    ck_assert(entry[0][1] == 20);
    szg_encoding_close(&encoding);
    unlink(path);
}
END_TEST

/* P P^T by its rows: sums of d products, then of the diagonal's entries, whose modulus is below 1
 * for rows of 0.02-normal numbers; the deviation is off by as much. */
START_TEST(rows_of_a_table) {
    enum { D = 5 };
    const double error = gamma_of(2 * N + 2 * D + 8);
    szg_encoding *encoding = parse("learned:seed=4,dim=5");
    double p[N][D], re[LAGS], im[LAGS], spread[LAGS], entry[N][N];
    ck_szg_ok(szgi_encoding_input(test_context(), encoding, N, p[0], D));
    memset(im, 1, sizeof im);
    ck_szg_ok(szg_encoding_lags(test_context(), encoding, 0, 1, 0, N, re, im, spread));
    ck_szg_ok(szg_encoding_entries(test_context(), encoding, 0, 1, 0, N, entry[0], NULL));
    for (int k = 1 - N; k < N; k++) {
        int first = k > 0 ? k : 0, last = k > 0 ? N : N + k;
        long double sum = 0, squares = 0, count = last - first;
        for (int i = first; i < last; i++) {
            long double product = 0;
            for (int t = 0; t < D; t++)
                product += (long double)p[i][t] * p[i - k][t];
            ck_close(entry[i][i - k], (double)product, error);
            ck_assert(entry[i][i - k] == entry[i - k][i]);
            sum += product;
            squares += product * product;
        }
        long double mean = sum / count;
        ck_close(re[k + N - 1], (double)mean, error);
        ck_assert(im[k + N - 1] == 0);
        ck_close(spread[k + N - 1] * spread[k + N - 1], (double)(squares / count - mean * mean),
                 error);
    }
    ck_assert(spread[N - 1] > 1e-4 && spread[0] == 0); /* one entry has no spread */
    szg_encoding_close(&encoding);
}
END_TEST

/* ---- Tables ---- */

static double number(const szg_table *table, int64_t row, const char *column) {
    int64_t at = szg_table_find(table, column);
    ck_assert_msg(at >= 0, "no column %s", column);
    return szg_table_get_real(table, row, at);
}

static const char *word(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_text(table, row, szg_table_find(table, column));
}

static bool is_empty(const szg_table *table, int64_t row, const char *column) {
    return szg_table_is_empty(table, row, szg_table_find(table, column));
}

static szg_status add(const char *spec, szg_kernel_tables *tables) {
    szg_encoding *encoding;
    SZG_TRY(szg_encoding_parse(test_context(), spec, &encoding));
    szg_status status = szg_kernel_tables_open(test_context(), tables);
    for (int64_t head = 0; status == SZG_OK && head < szg_encoding_heads(encoding); head++)
        status = szg_kernel_tables_add(test_context(), tables, encoding, head, 0, N);
    szg_encoding_close(&encoding);
    return status;
}

START_TEST(rows) {
    szg_kernel_tables tables;
    ck_szg_ok(add("alibi:heads=2", &tables));
    ck_assert_int_eq(szg_table_rows(tables.kernel), 2 * N); /* symmetric: lags 0 .. N - 1 */
    for (int64_t row = 0; row < 2 * N; row++) {
        int64_t head = row / N, lag = row % N;
        ck_assert(number(tables.kernel, row, "head") == (double)head);
        ck_assert(number(tables.kernel, row, "lag") == (double)lag);
        ck_assert(number(tables.kernel, row, "n") == N);
        /* m = 2^(-8 (h + 1) / 2) */
        ck_assert(number(tables.kernel, row, "re") == -(double)lag * (head ? 0x1p-8 : 0x1p-4));
        ck_assert(is_empty(tables.kernel, row, "im") && is_empty(tables.kernel, row, "spread"));
        ck_assert_str_eq(word(tables.kernel, row, "matrix"), "bias");
    }
    ck_assert_int_eq(szg_table_rows(tables.extrema), 2);
    ck_assert_str_eq(word(tables.extrema, 1, "symmetry"), "symmetric");
    ck_assert(number(tables.extrema, 1, "least") == -0x1p-5);
    ck_assert(number(tables.extrema, 1, "least_lag") == N - 1);
    ck_assert(number(tables.extrema, 1, "greatest") == 0);
    ck_assert(number(tables.extrema, 1, "greatest_lag") == 0);
    ck_assert_ptr_nonnull(word(tables.extrema, 1, "note"));
    szg_kernel_tables_close(&tables);
    ck_assert(!tables.kernel && !tables.extrema);
    ck_szg_ok(add("t5:seed=1", &tables)); /* both signs */
    ck_assert_int_eq(szg_table_rows(tables.kernel), LAGS);
    ck_assert(number(tables.kernel, 0, "lag") == 1 - N);
    ck_assert_str_eq(word(tables.extrema, 0, "symmetry"), "none");
    szg_kernel_tables_close(&tables);
    ck_szg_ok(add("learned:seed=4,dim=5", &tables));
    ck_assert(!is_empty(tables.kernel, 3, "spread"));
    ck_assert(number(tables.extrema, 0, "spread_greatest") > 0);
    szg_kernel_tables_close(&tables);
}
END_TEST

/* The nearest lag of several, and the positive one of two. */
START_TEST(extrema) {
    static char path[64];
    szg_kernel_tables tables;
    snprintf(path, sizeof path, "test_lags_%d.txt", (int)getpid());
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("-7,5,-7,1,2,5,-3\n", file); /* lags -3 .. 3 */
    fclose(file);
    ck_szg_ok(add(spec_with("file:lags=full,path=%s", path), &tables));
    ck_assert(number(tables.extrema, 0, "least") == -7);
    ck_assert(number(tables.extrema, 0, "least_lag") == -1);
    ck_assert(number(tables.extrema, 0, "greatest") == 5);
    ck_assert(number(tables.extrema, 0, "greatest_lag") == 2);
    szg_kernel_tables_close(&tables);
    unlink(path);
}
END_TEST

/* ---- What is refused ---- */

START_TEST(refusals) {
    szg_encoding *encoding = parse("rope:heads=2");
    szg_context *context = test_context();
    szg_kernel_tables tables;
    double x[LAGS];
    const int64_t huge = (int64_t)1 << 24;
    ck_szg_fails(SZG_EINVAL, "0 .. 1", szg_encoding_lags(context, encoding, 2, 1, 0, N, x, x, x));
    ck_szg_fails(SZG_EINVAL, "matrix 1", szg_encoding_lags(context, encoding, 0, 1, 1, N, x, x, x));
    ck_szg_fails(SZG_EINVAL, "N = 0", szg_encoding_lags(context, encoding, 0, 1, 0, 0, x, x, x));
    ck_szg_fails(SZG_EINVAL, "N = 0", szg_encoding_entries(context, encoding, 0, 1, 0, 0, x, NULL));
    ck_szg_fails(SZG_EINVAL, "0 heads",
                 szg_encoding_entries(context, encoding, 0, 0, 0, N, x, NULL));
    ck_szg_fails(SZG_EINVAL, "0 .. 1",
                 szg_encoding_entries(context, encoding, 1, 2, 0, N, NULL, NULL));
    ck_szg_fails(SZG_ENOMEM, "the dense matrix needs 4.0 PiB",
                 szg_encoding_entries(context, encoding, 0, 2, 0, huge, NULL, NULL));
    ck_szg_fails(SZG_ENOMEM, "the array of lags needs 16.0 PiB",
                 szg_encoding_lags(context, encoding, 0, 2, 0, (int64_t)1 << 49, NULL, x, x));
    ck_szg_ok(szg_encoding_entries(context, encoding, 0, 2, 0, N, NULL, NULL));
    ck_szg_ok(szg_encoding_lags(context, encoding, 0, 2, 0, N, NULL, NULL, NULL));
    ck_szg_ok(szg_kernel_tables_open(context, &tables));
    ck_szg_fails(SZG_ENOMEM, "the table of lags needs",
                 szg_kernel_tables_add(context, &tables, encoding, 0, 0, (int64_t)1 << 45));
    ck_assert_int_eq(szg_table_rows(tables.kernel), 0);
    szg_kernel_tables_close(&tables);
    szg_encoding_close(&encoding);
}
END_TEST

static szg_status add_and_close(const char *spec) {
    szg_kernel_tables tables = {0};
    szg_status status = add(spec, &tables);
    szg_kernel_tables_close(&tables);
    return status;
}

static szg_status enter(const szg_encoding *encoding) {
    double entry[N * N];
    return szg_encoding_entries(test_context(), encoding, 0, 1, 0, N, entry, NULL);
}

START_TEST(allocation_failures) {
    ck_survives_failed_allocations(10, add_and_close("learned:seed=4,dim=5"));
    ck_survives_failed_allocations(10, add_and_close("t5:seed=1"));
    szg_encoding *encoding = parse("learned:seed=4,dim=5");
    ck_survives_failed_allocations(1, enter(encoding));
    szg_encoding_close(&encoding);
    encoding = parse("relative:seed=1");
    ck_survives_failed_allocations(2, enter(encoding));
    szg_encoding_close(&encoding);
}
END_TEST

TEST_FILE("lags") {
    test_add(suite, "toeplitz", toeplitz);
    test_add(suite, "coefficients", coefficients);
    test_add(suite, "rows_of_a_table", rows_of_a_table);
    test_add(suite, "rows", rows);
    test_add(suite, "extrema", extrema);
    test_add(suite, "refusals", refusals);
    test_add(suite, "allocation_failures", allocation_failures);
}
