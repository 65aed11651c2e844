/* Two encodings beside each other, against dense matrices and closed forms. */
#include <math.h>
#include <string.h>

#include <szego/toeplitz.h>
#include "base/memory.h"
#include "contraction/encoding_diff.h"
#include "linalg/linalg.h"
#include "rounding.h"
#include "scratch.h"
#include "suite.h"

enum { N = 24 };
static const double PI = 3.14159265358979323846;

typedef struct compared {
    szg_encoding *base, *other;
    szg_table *table;
} compared;

static void open_both(compared *both, const char *base, const char *other) {
    ck_szg_ok(szg_encoding_parse(test_context(), base, &both->base));
    ck_szg_ok(szg_encoding_parse(test_context(), other, &both->other));
    ck_szg_ok(szgi_encoding_diff_open(test_context(), &both->table));
}

static void close_both(compared *both) {
    szg_encoding_close(&both->base);
    szg_encoding_close(&both->other);
    szg_table_close(&both->table);
}

static double cell(const compared *both, int64_t row, const char *column) {
    return szg_table_get_real(both->table, row, szg_table_find(both->table, column));
}

/* N^2 entries; `sign` times them is added. Returns whether the matrix is symmetric. */
static bool add_dense(const szg_encoding *encoding, int64_t head, double sign, double *out) {
    szg_toeplitz *kernel;
    bool symmetric = true;
    ck_szg_ok(szg_encoding_kernel(test_context(), encoding, head, 0, N, &kernel));
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            szg_c64 entry = szg_toeplitz_at(kernel, i - j), mirror = szg_toeplitz_at(kernel, j - i);
            out[i * N + j] += sign * entry.re;
            symmetric = symmetric && entry.re == mirror.re;
        }
    szg_toeplitz_close(&kernel);
    return symmetric;
}

/* Values of a copy, the largest first. */
static void values_of(bool symmetric, const double *dense, double *out) {
    double copy[N * N], ascending[N];
    memcpy(copy, dense, sizeof copy);
    if (!symmetric) {
        ck_szg_ok(szgi_singular(test_context(), N, N, copy, N, out, NULL, 1, NULL, 1));
        return;
    }
    ck_szg_ok(szgi_eigen_symmetric(test_context(), N, copy, N, ascending, false));
    for (int i = 0; i < N; i++)
        out[i] = ascending[N - 1 - i];
}

static void check_head(const compared *both, int64_t row, int64_t base_head, int64_t other_head) {
    double a[N * N] = {0}, b[N * N] = {0}, change[N * N] = {0}, in_a[N], in_b[N], in_change[N];
    double shift = 0;
    bool symmetric = add_dense(both->base, base_head, 1, a);
    symmetric = add_dense(both->other, other_head, 1, b) && symmetric;
    add_dense(both->other, other_head, 1, change);
    add_dense(both->base, base_head, -1, change);
    values_of(symmetric, a, in_a);
    values_of(symmetric, b, in_b);
    values_of(symmetric, change, in_change);
    double bound = 2 * weyl(N, norm_of(N * N, a) + norm_of(N * N, b));
    for (int i = 0; i < N; i++)
        shift = fmax(shift, fabs(in_b[i] - in_a[i]));
    double norm = fmax(fabs(in_change[0]), fabs(in_change[N - 1]));
    ck_close(cell(both, row, "base_largest"), in_a[0], bound);
    ck_close(cell(both, row, "base_least"), in_a[N - 1], bound);
    ck_close(cell(both, row, "largest"), in_b[0], bound);
    ck_close(cell(both, row, "least"), in_b[N - 1], bound);
    ck_close(cell(both, row, "shift"), shift, 2 * bound);
    ck_close(cell(both, row, "change_norm"), norm, bound);
    ck_assert_str_eq(szg_table_get_text(both->table, row, szg_table_find(both->table, "kind")),
                     symmetric ? "eigenvalue" : "singular");
    /* Weyl, and what the symbol bounds: of eigenvalues both ends, of singular values the upper. */
    ck_assert(cell(both, row, "shift") <= cell(both, row, "change_norm") + 2 * bound);
    ck_assert(cell(both, row, "change_norm") <= cell(both, row, "symbol_change_hi") + bound);
    ck_assert(in_a[0] <= cell(both, row, "base_symbol_hi") + bound);
    ck_assert(in_b[0] <= cell(both, row, "symbol_hi") + bound);
    if (symmetric) {
        ck_assert(in_a[N - 1] >= cell(both, row, "base_symbol_lo") - bound);
        ck_assert(in_b[N - 1] >= cell(both, row, "symbol_lo") - bound);
    }
}

static const char *write_lags(const char *folder, const char *name, const char *values) {
    static char spec[2][512];
    static int turn;
    char path[256];
    turn = 1 - turn;
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(values, file);
    ck_assert_int_eq(fclose(file), 0);
    snprintf(spec[turn], sizeof spec[turn], "file:path=%s", path);
    return spec[turn];
}

START_TEST(dense_matrices) {
    static const struct {
        const char *base, *other;
        int64_t heads;
    } cases[] = {{"rope:dim=16", "rope:dim=16,base=500000", 1},
                 {"kms:rho=0.5", "alibi:heads=4", 4},
                 {"alibi:heads=3", "rope:dim=8", 3},
                 {"alibi:heads=2", "alibi:heads=2,slopes=exp", 2},
                 {"nope", "kms:rho=-0.25", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compared both;
        open_both(&both, cases[i].base, cases[i].other);
        ck_szg_ok(szgi_encoding_diff(test_context(), both.base, both.other, N, both.table));
        ck_assert_int_eq(szg_table_rows(both.table), cases[i].heads);
        for (int64_t head = 0; head < cases[i].heads; head++) {
            bool one_a = szg_encoding_heads(both.base) == 1;
            bool one_b = szg_encoding_heads(both.other) == 1;
            check_head(&both, head, one_a ? 0 : head, one_b ? 0 : head);
            ck_assert_int_eq((int)cell(&both, head, "head"), head);
        }
        close_both(&both);
    }
}
END_TEST

START_TEST(lags_that_are_not_symmetric) {
    compared both;
    char base[512], other[512];
    const char *folder = scratch_folder();
    snprintf(base, sizeof base, "%s,lags=full", write_lags(folder, "a", "1\n2\n3\n-4\n5\n"));
    snprintf(other, sizeof other, "%s,lags=full", write_lags(folder, "b", "0\n-2\n3\n1\n0.5\n"));
    open_both(&both, base, other);
    ck_szg_ok(szgi_encoding_diff(test_context(), both.base, both.other, N, both.table));
    check_head(&both, 0, 0, 0);
    close_both(&both);
    scratch_remove(folder);
}
END_TEST

/* Tridiagonal matrices, whose eigenvalues are a_0 + 2 a_1 cos(pi j / (N + 1)). */
START_TEST(tridiagonal) {
    compared both;
    char base[512], other[512];
    const char *folder = scratch_folder();
    double largest = 2 * cos(PI / (N + 1)), bound = 4 * weyl(N, 4 * N);
    snprintf(base, sizeof base, "%s", write_lags(folder, "a", "2\n1\n"));
    snprintf(other, sizeof other, "%s", write_lags(folder, "b", "2\n2\n"));
    open_both(&both, base, other);
    ck_szg_ok(szgi_encoding_diff(test_context(), both.base, both.other, N, both.table));
    ck_close(cell(&both, 0, "shift"), largest, bound);
    ck_close(cell(&both, 0, "change_norm"), largest, bound);
    ck_close(cell(&both, 0, "base_least"), 2 - largest, bound);
    ck_close(cell(&both, 0, "largest"), 2 + 2 * largest, bound);
    /* Symbols 2 + 2 cos, 2 + 4 cos, and 2 cos between them: ends that are attained. */
    ck_assert(cell(&both, 0, "symbol_change_hi") >= 2);
    ck_close(cell(&both, 0, "symbol_change_hi"), 2.0, 1e-3); /* as wide as an enclosure may be */
    ck_assert(cell(&both, 0, "symbol_lo") <= -2 && cell(&both, 0, "base_symbol_hi") >= 4);
    close_both(&both);
    scratch_remove(folder);
}
END_TEST

START_TEST(the_same_twice) {
    compared both;
    open_both(&both, "rope:dim=16", "rope:dim=16");
    ck_szg_ok(szgi_encoding_diff(test_context(), both.base, both.other, N, both.table));
    ck_close(cell(&both, 0, "shift"), 0.0, 0.0);
    ck_close(cell(&both, 0, "change_norm"), 0.0, 0.0);
    ck_close(cell(&both, 0, "symbol_change_hi"), 0.0, 0.0);
    close_both(&both);
}
END_TEST

START_TEST(what_has_no_counterpart) {
    static const struct {
        const char *base, *other, *words;
        szg_status status;
    } cases[] = {{"alibi:heads=2", "alibi:heads=3", "2 heads", SZG_EDATA},
                 {"rope:dim=8", "rope+absolute:dim=8", "matrices", SZG_EDATA},
                 {"rope:dim=8", "random:seed=1", "", SZG_EDOMAIN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compared both;
        open_both(&both, cases[i].base, cases[i].other);
        ck_szg_fails(cases[i].status, cases[i].words,
                     szgi_encoding_diff(test_context(), both.base, both.other, N, both.table));
        close_both(&both);
    }
}
END_TEST

static szg_status compare(const compared *both) {
    szg_table *table;
    SZG_TRY(szgi_encoding_diff_open(test_context(), &table));
    szg_status status = szgi_encoding_diff(test_context(), both->base, both->other, 4, table);
    szg_table_close(&table);
    return status;
}

START_TEST(refused_memory) {
    compared both;
    open_both(&both, "rope:dim=4", "kms:rho=0.5");
    ck_survives_failed_allocations(10, compare(&both));
    close_both(&both);
}
END_TEST

TEST_FILE("encoding_diff") {
    test_add(suite, "dense_matrices", dense_matrices);
    test_add(suite, "lags_that_are_not_symmetric", lags_that_are_not_symmetric);
    test_add(suite, "tridiagonal", tridiagonal);
    test_add(suite, "the_same_twice", the_same_twice);
    test_add(suite, "what_has_no_counterpart", what_has_no_counterpart);
    test_add(suite, "refused_memory", refused_memory);
}
