/* Products, QR, selection of the backend, bad arguments. */
#include <stdlib.h>
#include "linalg/ops.h"
#include "plugin/backend.h"

#include "matrices.h"
#include "rounding.h"

START_TEST(backends_are_selected_by_name) {
    szg_context *context = test_context();
    if (test_on_device())
        return;
    setenv("SZEGO_CUDA_PLUGIN", "/nowhere/libszego-cuda.so", 1); /* not the one of this build */
    ck_assert_ptr_eq(szgi_ops_of(context), szgi_ops_cpu());
    use_backend("reference");
    ck_assert_str_eq(szgi_backend_name(context), "reference");
    use_backend("auto");
    ck_assert_ptr_eq(szgi_ops_of(context), szgi_ops_cpu());
    ck_szg_fails(SZG_EBACKEND, "no plugin", szg_backend_select(context, "cuda"));
    unsetenv("SZEGO_CUDA_PLUGIN");
    ck_szg_fails(SZG_EINVAL, "cuda:f32|cuda:bf16", szg_backend_select(context, "gpu"));
    ck_assert(strstr(szg_backend_blas(), "OpenBLAS"));
    ck_assert(strstr(szg_backend_fft(), "fftw"));
}
END_TEST

static const char OPS[] = {'n', 't', 'c'};

/* C of both backends lies within (k + 2) eps of the sum of moduli (Higham 2002, 3.1; each rounds
 * once for each term, alpha and beta C). Two columns of C beyond n keep what was there. */
static void check_product(uint32_t step, char op_a, char op_b, int64_t m, int64_t n, int64_t k) {
    szg_context *context = test_context();
    int64_t lda = (op_a == 'n' ? k : m) + 1, ldb = (op_b == 'n' ? n : k) + 3, ldc = n + 2;
    int64_t rows_a = op_a == 'n' ? m : k, rows_b = op_b == 'n' ? k : n;
    double *a = random_numbers(step, rows_a * lda), *b = random_numbers(step + 1, rows_b * ldb);
    double *c = random_numbers(step + 2, m * ldc), *d = copy_numbers(m * ldc, c);
    double *e = copy_numbers(m * ldc, c), alpha = 1.5, beta = step % 2 ? 0 : -0.75;
    ck_szg_ok(szgi_gemm(context, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
    use_backend("reference");
    ck_szg_ok(szgi_gemm(context, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, d, ldc));
    for (int64_t i = 0; i < rows_a * lda; i++)
        a[i] = fabs(a[i]);
    for (int64_t i = 0; i < rows_b * ldb; i++)
        b[i] = fabs(b[i]);
    for (int64_t i = 0; i < m * ldc; i++)
        e[i] = fabs(e[i]);
    ck_szg_ok(
        szgi_gemm(context, op_a, op_b, m, n, k, fabs(alpha), a, lda, b, ldb, fabs(beta), e, ldc));
    use_tested_backend();
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < ldc; j++)
            ck_close(c[i * ldc + j], d[i * ldc + j],
                     j < n ? 2 * (double)(k + 2) * EPS * e[i * ldc + j] : 0);
    szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(c), szgi_memory_free(d);
    szgi_memory_free(e);
}

START_TEST(products_agree_with_the_reference) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 1};
    for (uint64_t trial = 0; trial < (uint64_t)test_trials(300); trial++)
        check_product((uint32_t)(5 * trial + trial / 2), OPS[trial % 3], OPS[trial / 3 % 3],
                      szgi_random_below(&stream, 3 * trial, 20) + 1,
                      szgi_random_below(&stream, 3 * trial + 1, 20) + 1,
                      szgi_random_below(&stream, 3 * trial + 2, 20));
}
END_TEST

/* beta = 0 does not read C: NaN there must not survive. */
START_TEST(fresh_products_ignore_the_old) {
    for (int backend = 0; backend < 2; backend++) {
        use_backend(backend ? "reference" : test_backend());
        double a = 2, b = 3, c = NAN;
        ck_szg_ok(szgi_gemm(test_context(), 'n', 'n', 1, 1, 1, 1, &a, 1, &b, 1, 0, &c, 1));
        ck_assert(c == 6);
        c = 5;
        ck_szg_ok(szgi_gemm(test_context(), 'n', 'n', 1, 1, 0, 1, &a, 1, &b, 1, 1, &c, 1));
        ck_assert(c == 5);
    }
    use_tested_backend();
}
END_TEST

/* R^T R = A^T A holds for the R of a QR to c n eps ||A||^2 and, R being triangular, determines R up
 * to the signs of its rows where A has full rank. */
START_TEST(qr_factors) {
    szg_context *context = test_context();
    for (uint32_t trial = 0; trial < 2 * SIZE_COUNT * SIZE_COUNT; trial++) {
        int64_t m = SIZES[trial / 2 % SIZE_COUNT], n = SIZES[trial / 2 / SIZE_COUNT];
        int64_t lda = n + trial % 3, k = m < n ? m : n;
        use_backend(trial % 2 ? "reference" : test_backend());
        double *a = random_numbers(trial, m * lda), *r = copy_numbers(m * lda, a);
        ck_szg_ok(szgi_qr_r(context, m, n, r, lda));
        double size = norm_of(m * lda, a);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double want = 0, got = 0;
                for (int64_t t = 0; t < m; t++)
                    want += a[t * lda + i] * a[t * lda + j];
                for (int64_t t = 0; t < k; t++)
                    got += r[t * lda + i] * r[t * lda + j];
                ck_close(got, want, 10 * (double)(m + n) * EPS * size * size);
                if (i < k && j < i)
                    ck_assert(r[i * lda + j] == 0);
            }
        szgi_memory_free(a), szgi_memory_free(r);
    }
    use_tested_backend();
}
END_TEST

/* L L^T = l l^T + b b^T to 10 (n + count) n eps of the norms' squares, as for R above; what stands
 * above the diagonal is NaN before and after. */
static void check_append(uint32_t trial, int64_t n, int64_t count) {
    int64_t ldl = n + trial % 3, ldb = count + 1;
    double *l = random_numbers(2 * trial, n * ldl), *b = random_numbers(2 * trial + 1, n * ldb);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < ldl; j++)
            l[i * ldl + j] = NAN;
    double *want = new_numbers(n * n), square = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            for (int64_t t = 0; t <= j; t++)
                want[i * n + j] += l[i * ldl + t] * l[j * ldl + t];
            for (int64_t t = 0; t < count; t++)
                want[i * n + j] += b[i * ldb + t] * b[j * ldb + t];
            square += i == j ? want[i * n + j] : 0;
        }
    ck_szg_ok(szgi_lq_append(test_context(), n, count, l, ldl, b, ldb));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < ldl; j++) {
            double got = 0;
            if (j > i) {
                ck_assert(isnan(l[i * ldl + j]));
                continue;
            }
            for (int64_t t = 0; t <= j; t++)
                got += l[i * ldl + t] * l[j * ldl + t];
            ck_close(got, want[i * n + j], 10 * (double)(n + count) * EPS * square);
        }
    szgi_memory_free(l), szgi_memory_free(b), szgi_memory_free(want);
}

START_TEST(columns_are_appended) {
    for (uint32_t trial = 0; trial < 2 * SIZE_COUNT * SIZE_COUNT; trial++) {
        use_backend(trial % 2 ? "reference" : test_backend());
        check_append(trial, SIZES[trial / 2 % SIZE_COUNT], SIZES[trial / 2 / SIZE_COUNT]);
    }
    use_tested_backend();
    check_append(1, 130, 517);
}
END_TEST

/* Singular values of rows whose sizes fall by 10^-12, and of rows that depend on others: L's are
 * those of `a` to c (n + d) eps ||a||_F (Weyl), however small. */
START_TEST(wide_triangles_keep_singular_values) {
    szg_context *context = test_context();
    const int64_t shapes[][2] = {{1, 1}, {3, 2}, {7, 511}, {8, 512}, {9, 513}, {64, 2050}};
    for (uint32_t trial = 0; trial < 3 * 6; trial++) {
        int64_t n = shapes[trial / 3][0], d = shapes[trial / 3][1], lda = d + trial % 2;
        double *a = random_numbers(trial, n * lda), *l = random_numbers(trial + 99, n * n);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < d; j++) {
                if (trial % 3 == 1)
                    a[i * lda + j] *= pow(10, -12.0 * (double)i / (double)n);
                if (trial % 3 == 2)
                    a[i * lda + j] = a[i / 2 * lda + j];
            }
        int64_t k = n < d ? n : d;
        double size = norm_of(n * lda, a);
        double *copy = copy_numbers(n * lda, a), *want = new_numbers(n), *got = new_numbers(n);
        ck_szg_ok(szgi_wide_l(context, n, d, a, lda, l));
        ck_assert_int_eq(memcmp(a, copy, (size_t)(n * lda) * sizeof *a), 0);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                ck_assert(l[i * n + j] == 0);
        ck_szg_ok(szgi_singular(context, n, d, copy, lda, want, NULL, 1, NULL, 1));
        ck_szg_ok(szgi_singular(context, n, n, l, n, got, NULL, 1, NULL, 1));
        for (int64_t i = 0; i < n; i++)
            ck_close(got[i], i < k ? want[i] : 0, weyl(n + d, size));
        szgi_memory_free(a), szgi_memory_free(l), szgi_memory_free(copy);
        szgi_memory_free(want), szgi_memory_free(got);
    }
}
END_TEST

/* Several slices of the pool, in rows and in columns, with a remainder. */
START_TEST(sliced_products) {
    for (uint32_t trial = 0; trial < 9; trial++) {
        check_product(40 * trial, OPS[trial % 3], OPS[trial / 3], 601, 7, 5);
        check_product(40 * trial + 1, OPS[trial % 3], OPS[trial / 3], 3, 513, 4);
    }
}
END_TEST

/* Tall and wide beyond LAPACK's own blocks. */
START_TEST(tall_qr_factors) {
    szg_context *context = test_context();
    const int64_t shapes[][2] = {{2048, 1}, {5000, 3}, {1234, 70}, {600, 300}, {300, 300}};
    for (uint32_t trial = 0; trial < 5; trial++) {
        int64_t m = shapes[trial][0], n = shapes[trial][1], lda = n + 1;
        double *a = random_numbers(trial, m * lda), *r = copy_numbers(m * lda, a);
        double *want = new_numbers(n * n), *got = new_numbers(n * n), size = norm_of(m * lda, a);
        ck_szg_ok(szgi_qr_r(context, m, n, r, lda));
        ck_szg_ok(szgi_gemm(context, 't', 'n', n, n, m, 1, a, lda, a, lda, 0, want, n));
        ck_szg_ok(szgi_gemm(context, 't', 'n', n, n, n, 1, r, lda, r, lda, 0, got, n));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                ck_close(got[i * n + j], want[i * n + j], 10 * (double)(m + n) * EPS * size * size);
                if (j < i)
                    ck_assert(r[i * lda + j] == 0);
            }
        szgi_memory_free(a), szgi_memory_free(r), szgi_memory_free(want), szgi_memory_free(got);
    }
}
END_TEST

/* A level, two, and a column of zeros: the factor of a + e, ||e_t|| <= eta ||a_t||, has a Gram
 * matrix off by (2 eta + eta^2) ||a_s|| ||a_t||, and both products by (m + 1) u and (n + 1) u of
 * that. */
START_TEST(tall_factors_are_proved) {
    szg_context *context = test_context();
    const int64_t shapes[][2] = {{2048, 1}, {5, 5}, {1234, 70}, {900, 200}, {5000, 3}};
    for (uint32_t trial = 0; trial < 5; trial++) {
        int64_t m = shapes[trial][0], n = shapes[trial][1], lda = n + 1;
        double *a = random_numbers(trial, m * lda), *r = new_numbers(n * n);
        double *want = new_numbers(n * n), *got = new_numbers(n * n);
        double eta = szgi_tall_r_error(m, n), off = 2.1 * eta + (double)(m + n + 2) * EPS;
        for (int64_t i = 0; i < m && n > 1; i++)
            a[i * lda + 1] = 0;
        ck_szg_ok(szgi_tall_r_proved(context, m, n, a, lda, r));
        ck_szg_ok(szgi_gemm(context, 't', 'n', n, n, m, 1, a, lda, a, lda, 0, want, n));
        ck_szg_ok(szgi_gemm(context, 't', 'n', n, n, n, 1, r, n, r, n, 0, got, n));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double size = sqrt(want[i * n + i]) * sqrt(want[j * n + j]);
                ck_close(got[i * n + j], want[i * n + j], off * size);
                ck_assert(j >= i || r[i * n + j] == 0);
            }
        szgi_memory_free(a), szgi_memory_free(r), szgi_memory_free(want), szgi_memory_free(got);
    }
}
END_TEST

START_TEST(bad_arguments_are_named) {
    szg_context *context = test_context();
    double a[16] = {0}, w[4];
    ck_szg_fails(SZG_EINVAL, "'x'", szgi_gemm(context, 'x', 'n', 2, 2, 2, 1, a, 2, a, 2, 0, w, 2));
    ck_szg_fails(SZG_EINVAL, "B: leading dimension 1",
                 szgi_gemm(context, 'n', 't', 2, 2, 2, 1, a, 2, a, 1, 0, w, 2));
    ck_szg_fails(SZG_EINVAL, "negative", szgi_eigen_symmetric(context, -1, a, 1, w, false));
    ck_szg_fails(SZG_EINVAL, "leading dimension", szgi_eigen_symmetric(context, 4, a, 3, w, false));
    ck_szg_fails(SZG_EINVAL, "both given", szgi_singular(context, 2, 2, a, 2, w, a, 2, NULL, 2));
    ck_szg_fails(SZG_EINVAL, "overlap", szgi_eigen_symmetric_batch(context, 2, 2, a, 3, w));
    ck_szg_fails(SZG_EINVAL, "negative", szgi_singular_batch(context, -2, 2, 2, a, 4, w));
    a[7] = NAN;
    ck_szg_fails(SZG_EDATA, "row 1, column 3", szgi_qr_r(context, 4, 4, a, 4));
    ck_szg_fails(SZG_EDATA, "row 1, column 3",
                 szgi_singular(context, 4, 4, a, 4, w, NULL, 1, NULL, 1));
    ck_szg_ok(
        szgi_eigen_symmetric(context, 4, a, 4, w, false)); /* the upper triangle is not read */
    ck_szg_fails(SZG_EDATA, "row 1, column 3", szgi_lq_append(context, 4, 4, a, 4, a, 4));
    a[9] = INFINITY;
    ck_szg_fails(SZG_EDATA, "row 2, column 1 is inf",
                 szgi_eigen_symmetric(context, 4, a, 4, w, false));
    a[7] = 0;
    ck_szg_fails(SZG_EDATA, "matrix 2 of the batch: matrix: row 0, column 1",
                 szgi_singular_batch(context, 4, 2, 2, a, 4, w));
    ck_szg_ok(szgi_eigen_symmetric(context, 0, NULL, 1, NULL, true));
    ck_szg_ok(szgi_gemm(context, 'n', 'n', 0, 3, 3, 1, NULL, 3, NULL, 3, 1, NULL, 3));
}
END_TEST

/* The first of them, whichever worker is faster; and nothing is destroyed. */
START_TEST(bad_matrices_of_a_batch_are_named) {
    enum { MANY = 700, FIRST = 190 };
    double *a = random_numbers(8, MANY * 4), *kept, *w = new_numbers(MANY * 2);
    for (int i = FIRST; i < MANY; i += 97)
        a[4 * i + 3] = NAN;
    kept = copy_numbers(MANY * 4, a);
    for (int i = 0; i < 20; i++)
        ck_szg_fails(SZG_EDATA, "matrix 190 of the batch: matrix: row 1, column 1",
                     szgi_eigen_symmetric_batch(test_context(), MANY, 2, a, 4, w));
    ck_assert_int_eq(memcmp(a, kept, MANY * 4 * sizeof *a), 0);
    szgi_memory_free(a), szgi_memory_free(kept), szgi_memory_free(w);
}
END_TEST

START_TEST(sizes_beyond_the_library_are_refused) {
    double a = 1;
    if (test_on_device()) /* 64-bit sizes */
        return;
    ck_szg_fails(SZG_ENOMEM, "32-bit",
                 szgi_gemm(test_context(), 'n', 'n', 1, 1, 1, 1, &a, 1ll << 32, &a, 1, 0, &a, 1));
}
END_TEST

TEST_FILE("linear") {
    test_before_each(use_tested_backend);
    test_add(suite, "backends_are_selected_by_name", backends_are_selected_by_name);
    test_add(suite, "products_agree_with_the_reference", products_agree_with_the_reference);
    test_add(suite, "fresh_products_ignore_the_old", fresh_products_ignore_the_old);
    test_add(suite, "qr_factors", qr_factors);
    test_add(suite, "columns_are_appended", columns_are_appended);
    test_add(suite, "wide_triangles_keep_singular_values", wide_triangles_keep_singular_values);
    test_add(suite, "sliced_products", sliced_products);
    test_add(suite, "tall_qr_factors", tall_qr_factors);
    test_add(suite, "tall_factors_are_proved", tall_factors_are_proved);
    test_add(suite, "bad_arguments_are_named", bad_arguments_are_named);
    test_add(suite, "bad_matrices_of_a_batch_are_named", bad_matrices_of_a_batch_are_named);
    test_add(suite, "sizes_beyond_the_library_are_refused", sizes_beyond_the_library_are_refused);
}
