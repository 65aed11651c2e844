/* Singular values and vectors. Bounds as in test_eigen.c: Weyl's inequality holds for singular
 * values too, and small residuals with orthonormal u and vt prove them. */
#include "matrices.h"

static double error_bound(int64_t n, double norm) {
    return 10 * (double)n * EPS * norm;
}

static szg_status singular(int64_t m, int64_t n, int width, double *a, double *s, double *u,
                           double *vt) {
    szg_context *context = test_context();
    int64_t k = m < n ? m : n;
    return width == 1 ? szgi_singular(context, m, n, a, n, s, u, k, vt, n)
                      : szgi_singular_complex(context, m, n, (szg_c64 *)a, n, s, (szg_c64 *)u, k,
                                              (szg_c64 *)vt, n);
}

static szg_c64 at(int width, const double *a, int64_t i) {
    return width == 1 ? (szg_c64){a[i], 0} : ((const szg_c64 *)a)[i];
}

/* Rows (step 1) or columns (step k) of v: count vectors of n numbers, orthonormal. */
static void check_orthonormal(int width, int64_t count, int64_t n, const double *v,
                              int64_t vector_step, int64_t step) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) {
            double re = 0, im = 0;
            for (int64_t t = 0; t < n; t++) {
                szg_c64 x = at(width, v, i * vector_step + t * step);
                szg_c64 y = at(width, v, j * vector_step + t * step);
                re += x.re * y.re + x.im * y.im;
                im += x.re * y.im - x.im * y.re;
            }
            ck_close(re, i == j ? 1 : 0, error_bound(n, 1));
            ck_close(im, 0, error_bound(n, 1));
        }
}

static void check_product(int64_t m, int64_t n, int width, const double *a, const double *s,
                          const double *u, const double *vt, double bound) {
    int64_t k = m < n ? m : n;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double re = 0, im = 0;
            for (int64_t t = 0; t < k; t++) {
                szg_c64 x = at(width, u, i * k + t), y = at(width, vt, t * n + j);
                re += s[t] * (x.re * y.re - x.im * y.im);
                im += s[t] * (x.re * y.im + x.im * y.re);
            }
            ck_close(re, at(width, a, i * n + j).re, bound);
            ck_close(im, at(width, a, i * n + j).im, bound);
        }
}

static void check_singular(uint32_t step, int64_t m, int64_t n, int width) {
    int64_t k = m < n ? m : n, size = m * n * width;
    double *a = random_numbers(step, size), *work = copy_numbers(size, a), *s = new_numbers(k);
    double *u = new_numbers(m * k * width), *vt = new_numbers(k * n * width);
    double *other = new_numbers(k), bound = error_bound(m + n, norm_of(size, a));
    for (int backend = 0; backend < 2; backend++) {
        use_backend(backend ? "reference" : test_backend());
        memcpy(work, a, (size_t)size * sizeof *a);
        ck_szg_ok(singular(m, n, width, work, other, NULL, NULL));
        memcpy(work, a, (size_t)size * sizeof *a);
        ck_szg_ok(singular(m, n, width, work, backend ? other : s, u, vt));
        for (int64_t i = 0; i < k; i++) {
            ck_close(other[i], s[i], bound);
            ck_assert(s[i] >= 0 && (i == 0 || s[i] <= s[i - 1]));
        }
        check_product(m, n, width, a, s, u, vt, bound);
        check_orthonormal(width, k, m, u, 1, k);
        check_orthonormal(width, k, n, vt, n, 1);
    }
    use_tested_backend();
    szgi_memory_free(a), szgi_memory_free(work), szgi_memory_free(s), szgi_memory_free(u);
    szgi_memory_free(vt), szgi_memory_free(other);
}

START_TEST(singular_values_and_vectors) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 5};
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(100); trial++)
        check_singular(trial, SIZES[szgi_random_below(&stream, 2 * trial, SIZE_COUNT)],
                       SIZES[szgi_random_below(&stream, 2 * trial + 1, SIZE_COUNT)], 1 + trial % 2);
}
END_TEST

/* The path: lower triangle of ones has 1 / (2 sin((2j - 1) pi / (4n + 2))). */
START_TEST(triangle_of_ones) {
    for (int trial = 0; trial < 2 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial / 2];
        use_backend(trial % 2 ? "reference" : test_backend());
        double *a = new_numbers(n * n), *s = new_numbers(n);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++)
                a[i * n + j] = 1;
        ck_szg_ok(singular(n, n, 1, a, s, NULL, NULL));
        for (int64_t j = 1; j <= n; j++)
            ck_close(s[j - 1], 0.5 / sin((double)(2 * j - 1) * M_PI / (double)(4 * n + 2)),
                     error_bound(n, (double)n));
        szgi_memory_free(a), szgi_memory_free(s);
    }
    use_tested_backend();
}
END_TEST

/* Rank 0 and 1, repeated columns: the reference must complete its vectors. */
START_TEST(deficient_matrices) {
    for (int64_t n = 1; n <= 6; n++)
        for (int rank = 0; rank < 2; rank++) {
            double *a = new_numbers(n * n), *s = new_numbers(n), *u = new_numbers(n * n);
            double *vt = new_numbers(n * n), *work = new_numbers(n * n);
            for (int64_t i = 0; i < n * n; i++)
                a[i] = rank ? (double)(i / n + 1) : 0;
            for (int backend = 0; backend < 2; backend++) {
                use_backend(backend ? "reference" : test_backend());
                memcpy(work, a, (size_t)(n * n) * sizeof *a);
                ck_szg_ok(singular(n, n, 1, work, s, u, vt));
                double bound = error_bound(n, norm_of(n * n, a));
                check_product(n, n, 1, a, s, u, vt, bound);
                check_orthonormal(1, n, n, u, 1, n);
                check_orthonormal(1, n, n, vt, n, 1);
            }
            use_tested_backend();
            szgi_memory_free(a), szgi_memory_free(s), szgi_memory_free(u), szgi_memory_free(vt);
            szgi_memory_free(work);
        }
}
END_TEST

START_TEST(batches_are_single_calls) {
    szg_context *context = test_context();
    enum { COUNT = 17, M = 9, N = 14, STRIDE = M * N };
    double *a = random_numbers(3, COUNT * STRIDE), *b = copy_numbers(COUNT * STRIDE, a);
    double *s = new_numbers(COUNT * M), single[M];
    ck_szg_ok(szgi_singular_batch(context, COUNT, M, N, a, STRIDE, s));
    for (int i = 0; i < COUNT; i++) {
        ck_szg_ok(singular(M, N, 1, b + i * STRIDE, single, NULL, NULL));
        check_same(M, s + i * M, single, error_bound(M + N, single[0]));
    }
    szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(s);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    enum { M = 7, N = 4 };
    double *a = random_numbers(5, 2 * M * N), *s = new_numbers(N);
    double *u = new_numbers(2 * M * N), *vt = new_numbers(2 * N * N);
    for (int backend = 0; backend < 2; backend++) {
        use_backend(backend ? "reference" : test_backend());
        ck_survives_failed_allocations(least_refusals(), singular(M, N, 1, a, s, u, vt));
        ck_survives_failed_allocations(least_refusals(), singular(M, N, 2, a, s, u, vt));
        ck_survives_failed_allocations(least_refusals(), szgi_qr_r(context, M, N, a, N));
        ck_survives_failed_allocations(1 + least_refusals(), szgi_wide_l(context, N, M, a, M, vt));
        ck_survives_failed_allocations(least_refusals(),
                                       szgi_singular_batch(context, 2, 2, 2, a, 4, s));
    }
    use_tested_backend();
    szgi_memory_free(a), szgi_memory_free(s), szgi_memory_free(u), szgi_memory_free(vt);
}
END_TEST

TEST_FILE("singular") {
    test_before_each(use_tested_backend);
    test_add(suite, "singular_values_and_vectors", singular_values_and_vectors);
    test_add(suite, "triangle_of_ones", triangle_of_ones);
    test_add(suite, "deficient_matrices", deficient_matrices);
    test_add(suite, "batches_are_single_calls", batches_are_single_calls);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
