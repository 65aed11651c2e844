/* Cholesky's factor: what docs/explanation/theory.md proves of it, for each backend. */
#include "matrices.h"

static szg_status factor(int64_t n, int width, double *a, int64_t lda, bool *completed) {
    szg_context *context = test_context();
    return width == 1 ? szgi_cholesky(context, n, a, lda, completed)
                      : szgi_cholesky_complex(context, n, (szg_c64 *)a, lda, completed);
}

/* sum_{k <= j} l_ik conj l_jk, rows lda apart; j <= i. */
static szg_c64 product(int width, const double *l, int64_t lda, int64_t i, int64_t j) {
    szg_c64 sum = {0, 0};
    for (int64_t k = 0; k <= j; k++) {
        const double *x = l + (i * lda + k) * width, *y = l + (j * lda + k) * width;
        double xi = width == 2 ? x[1] : 0, yi = width == 2 ? y[1] : 0;
        sum.re += x[0] * y[0] + xi * yi;
        sum.im += xi * y[0] - x[0] * yi;
    }
    return sum;
}

/* X X^* for random X, its diagonal a quarter larger, and 1: scaled to a diagonal of ones the least
 * eigenvalue is 1/5 at least, so that the factorisation completes whatever the sizes of entries. */
static double *definite(uint32_t step, int64_t n, int width, int64_t lda) {
    double *x = random_numbers(step, n * n * width), *a = random_numbers(step + 1, n * lda * width);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            szg_c64 sum = {0, 0};
            for (int64_t k = 0; k < n; k++) {
                const double *p = x + (i * n + k) * width, *q = x + (j * n + k) * width;
                double pi = width == 2 ? p[1] : 0, qi = width == 2 ? q[1] : 0;
                sum.re += p[0] * q[0] + pi * qi;
                sum.im += pi * q[0] - p[0] * qi;
            }
            a[(i * lda + j) * width] = i == j ? 1 + 1.25 * sum.re : sum.re;
            if (width == 2)
                a[(i * lda + j) * 2 + 1] = i == j ? 7 : sum.im; /* of the diagonal it is ignored */
        }
    szgi_memory_free(x);
    return a;
}

/* theory.md: entry (i, j) of L L^* - A is at most k (j + 5) u sqrt(a_ii a_jj), counted from 1, k =
 * 1 or 2 sqrt 2; the test's own sum adds as much again. */
static void check_factor(uint32_t step, int64_t n, int width, int64_t lda) {
    double *a = definite(step, n, width, lda), *l = copy_numbers(n * lda * width, a);
    bool completed = false;
    ck_szg_ok(factor(n, width, l, lda, &completed));
    ck_assert(completed);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double size = sqrt(a[i * (lda + 1) * width] * a[j * (lda + 1) * width]);
            double bound = 2 * (width == 1 ? 1 : 2.83) * (double)(j + 6) * EPS / 2 * size;
            szg_c64 got = product(width, l, lda, i, j);
            ck_close(got.re, a[(i * lda + j) * width], bound);
            if (width == 2)
                ck_close(got.im, i == j ? 0 : a[(i * lda + j) * 2 + 1], bound);
        }
        /* The upper triangle is neither read nor written. */
        for (int64_t j = (i + 1) * width; j < lda * width; j++)
            ck_assert(l[i * lda * width + j] == a[i * lda * width + j]);
    }
    szgi_memory_free(a), szgi_memory_free(l);
}

START_TEST(factors_of_definite_matrices) {
    for (uint32_t trial = 0; trial < 4 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial / 4];
        use_backend(trial % 2 ? "reference" : test_backend());
        check_factor(2 * trial, n, 1 + (int)(trial / 2 % 2), n + trial % 3);
    }
    use_tested_backend();
    check_factor(500, 300, 1, 300);
    check_factor(502, 300, 2, 301);
    check_factor(504, 520, 1, 520); /* more than one thread */
    check_factor(506, 520, 2, 520);
}
END_TEST

/* A pivot that is negative, zero, or no number: of the first row, of a later one, of the last. */
START_TEST(other_matrices_do_not_complete) {
    for (uint32_t trial = 0; trial < 4 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial / 4];
        int width = 1 + (int)(trial / 2 % 2);
        use_backend(trial % 2 ? "reference" : test_backend());
        for (int64_t bad = 0; bad<n; bad += n> 1 ? n - 1 : 1) {
            double *a = definite(trial, n, width, n);
            bool completed = true;
            a[bad * (n + 1) * width] = trial % 3 ? -1 : 0;
            ck_szg_ok(factor(n, width, a, n, &completed));
            ck_assert(!completed);
            szgi_memory_free(a);
        }
    }
}
END_TEST

/* l_21 overflows and the pivot of row 2 with it: infinity less infinity is no number, which
 * LAPACK's test of the pivot lets pass. */
START_TEST(numbers_that_overflow_do_not_complete) {
    for (int trial = 0; trial < 4; trial++) {
        double a[18] = {0};
        int width = 1 + trial / 2;
        bool completed = true;
        a[0] = 0x1p-1000;
        a[3 * width] = 0x1p1000;
        a[4 * width] = 1;
        a[8 * width] = 1;
        use_backend(trial % 2 ? "reference" : test_backend());
        ck_szg_ok(factor(3, width, a, 3, &completed));
        ck_assert(!completed);
    }
}
END_TEST

START_TEST(bad_arguments) {
    double a[8] = {1, 0, NAN, 1};
    bool completed;
    ck_szg_fails(SZG_EDATA, "row 1, column 0 is nan", factor(2, 1, a, 2, &completed));
    ck_szg_fails(SZG_EINVAL, "leading dimension 1", factor(2, 1, a, 1, &completed));
    ck_szg_ok(factor(0, 2, NULL, 1, &completed));
    ck_assert(completed);
}
END_TEST

TEST_FILE("cholesky") {
    test_before_each(use_tested_backend);
    test_add(suite, "factors_of_definite_matrices", factors_of_definite_matrices);
    test_add(suite, "other_matrices_do_not_complete", other_matrices_do_not_complete);
    test_add(suite, "numbers_that_overflow_do_not_complete", numbers_that_overflow_do_not_complete);
    test_add(suite, "bad_arguments", bad_arguments);
}
