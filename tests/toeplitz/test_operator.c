/* Handles, dense forms, products, projection. */
#include "toeplitz/toeplitz_private.h"

#include "toeplitz_tests.h"

START_TEST(lags_are_read_as_documented) {
    szg_context *context = test_context();
    double real[] = {-2, -1, 0.5, 1, 2};
    szg_c64 complex[] = {{5, 0}, {1, 2}, {0, 0}};
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 4, 3, real, &t));
    ck_assert_int_eq(szgi_toeplitz_degree(t), 2);
    for (int64_t lag = -2; lag <= 2; lag++)
        ck_assert(szg_toeplitz_at(t, lag).re == real[lag < 0 ? -lag : lag]);
    ck_assert(szgi_toeplitz_is_real(t) && szgi_toeplitz_is_hermitian(t));
    ck_assert(szgi_toeplitz_trace(t).re == -8);
    szg_toeplitz_close(&t);
    ck_assert_ptr_null(t);
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_real(context, 2, 3, real, &t)); /* lags -2 and 2 fall off */
    ck_assert_int_eq(szgi_toeplitz_degree(t), 1);
    ck_assert_int_eq(szg_toeplitz_size(t), 2);
    ck_assert_int_eq(szgi_toeplitz_kind_of(t), SZG_TOEPLITZ_REAL);
    double dense[6] = {0, 0, 9, 0, 0, 9}, want[6] = {0.5, -1, 9, 1, 0.5, 9};
    ck_szg_ok(szgi_toeplitz_dense(context, t, dense, 3));
    ck_assert_int_eq(memcmp(dense, want, sizeof want), 0);
    ck_assert(szgi_toeplitz_norm_frobenius(t) == sqrt(2.5));
    ck_assert(szgi_toeplitz_norm_wiener(t) == 2.5);
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_hermitian(context, 3, 3, complex, &t));
    ck_assert_int_eq(szgi_toeplitz_degree(t), 1);
    ck_assert(szg_toeplitz_at(t, 1).im == 2 && szg_toeplitz_at(t, -1).im == -2);
    ck_assert(szg_toeplitz_at(t, 3).re == 0 && szg_toeplitz_at(t, INT64_MAX).re == 0);
    ck_szg_fails(SZG_EINVAL, "holds real numbers", szgi_toeplitz_dense(context, t, dense, 3));
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(bad_input_is_named) {
    szg_context *context = test_context();
    double real[] = {1, NAN, 3};
    szg_c64 complex[] = {{1, 1}, {2, INFINITY}};
    szg_toeplitz *t;
    ck_szg_fails(SZG_EDATA, "lag 0", szg_toeplitz_open_real(context, 3, 2, real, &t));
    ck_szg_fails(SZG_EDATA, "lag 1 is", szg_toeplitz_open_symmetric(context, 1, 2, real, &t));
    ck_szg_fails(SZG_EDATA, "lag 1 is", szg_toeplitz_open_hermitian(context, 3, 2, complex, &t));
    ck_szg_fails(SZG_EDATA, "must be real",
                 szg_toeplitz_open_hermitian(context, 3, 1, complex, &t));
    ck_szg_fails(SZG_EINVAL, "size of 0", szg_toeplitz_open_symmetric(context, 0, 1, real, &t));
    ck_szg_fails(SZG_EINVAL, "0 lags", szg_toeplitz_open_symmetric(context, 1, 0, real, &t));
    ck_assert_ptr_null(t);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 1ll << 31, 1, real, &t));
    ck_szg_fails(SZG_ENOMEM, "32.0 EiB", szgi_toeplitz_dense(context, t, NULL, 1ll << 31));
    ck_assert(strstr(szg_context_message(context), "szg_toeplitz_apply"));
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 3, 1, real, &t));
    double x[3] = {0}, y[3];
    ck_szg_fails(SZG_EINVAL, "'q'", szg_toeplitz_apply(context, t, 'q', 1, x, 3, y, 3));
    ck_szg_fails(SZG_EINVAL, "negative", szg_toeplitz_apply(context, t, 'n', -1, x, 3, y, 3));
    ck_szg_fails(SZG_EINVAL, "overlap", szg_toeplitz_apply(context, t, 'n', 2, x, 2, y, 3));
    ck_szg_ok(szg_toeplitz_apply(context, t, 'n', 0, NULL, 3, NULL, 3));
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(dense_forms_and_norms) {
    szg_context *context = test_context();
    for (uint32_t trial = 0; trial < 4 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial / 4];
        szg_toeplitz *t = random_toeplitz(trial, (szg_toeplitz_kind)(trial % 4), n, 1 + trial % n);
        szg_c64 *want = dense_of(t), *got = (szg_c64 *)new_numbers(2 * n * n);
        ck_szg_ok(szgi_toeplitz_dense_complex(context, t, got, n));
        ck_assert_int_eq(memcmp(want, got, (size_t)(n * n) * sizeof *got), 0);
        double norm = norm_of(2 * n * n, &want->re);
        ck_close(szgi_toeplitz_norm_frobenius(t), norm, 4 * (double)(n * n) * EPS * norm);
        if (szgi_toeplitz_is_real(t)) {
            double *real = (double *)got;
            ck_szg_ok(szgi_toeplitz_dense(context, t, real, n));
            for (int64_t i = 0; i < n * n; i++)
                ck_assert(real[i] == want[i].re);
        }
        szg_toeplitz_close(&t);
        szgi_memory_free(want), szgi_memory_free(got);
    }
    double huge[] = {3e200, 4e200};
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 2, 2, huge, &t));
    ck_close(szgi_toeplitz_norm_frobenius(t), sqrt(2) * 5e200, 4 * EPS * 7e200);
    szg_toeplitz_close(&t);
}
END_TEST

static const char OPS[] = {'n', 't', 'c'};

static szg_c64 entry(const szg_c64 *a, int64_t n, char op, int64_t i, int64_t j) {
    szg_c64 x = op == 'n' ? a[i * n + j] : a[j * n + i];
    if (op == 'c')
        x.im = -x.im;
    return x;
}

/* FFT of length L errs by c log2(L) eps in norm (Van Loan 1992), three of them and a product with
 * the circulant's eigenvalues, which are at most ||a||_1: 20 (log2 L + 1) eps ||a||_1 ||x||_2 is
 * generous; a direct sum of n terms adds n eps. */
static void check_apply(uint32_t step, szg_toeplitz_kind kind, char op, int64_t n, int64_t count,
                        int64_t batch) {
    szg_context *context = test_context();
    szg_toeplitz *t = random_toeplitz(step, kind, n, count);
    szg_c64 *a = dense_of(t);
    int64_t ldx = n + 1, ldy = n + step % 2;
    double *x = random_numbers(step + 1000, 2 * batch * ldx), *y = new_numbers(2 * batch * ldy);
    bool real = szgi_toeplitz_is_real(t) && step % 3;
    if (real)
        ck_szg_ok(szg_toeplitz_apply(context, t, op, batch, x, ldx, y, ldy));
    else
        ck_szg_ok(szgi_toeplitz_apply_complex(context, t, op, batch, (szg_c64 *)x, ldx,
                                              (szg_c64 *)y, ldy));
    for (int64_t b = 0; b < batch; b++) {
        const szg_c64 *xc = (const szg_c64 *)x + b * ldx, *yc = (const szg_c64 *)y + b * ldy;
        const double *xr = x + b * ldx, *yr = y + b * ldy;
        double size = real ? norm_of(n, xr) : norm_of(2 * n, &xc->re);
        double bound = 20 * (log2((double)(2 * n)) + 2 + (n <= 32 ? (double)n : 0)) * EPS *
                       szgi_toeplitz_norm_wiener(t) * size;
        for (int64_t i = 0; i < n; i++) {
            double re = 0, im = 0;
            for (int64_t j = 0; j < n; j++) {
                szg_c64 e = entry(a, n, op, i, j), v = real ? (szg_c64){xr[j], 0} : xc[j];
                re += e.re * v.re - e.im * v.im;
                im += e.re * v.im + e.im * v.re;
            }
            ck_close(real ? yr[i] : yc[i].re, re, bound);
            ck_close(real ? 0 : yc[i].im, im, bound);
        }
    }
    szg_toeplitz_close(&t);
    szgi_memory_free(a), szgi_memory_free(x), szgi_memory_free(y);
}

START_TEST(products_agree_with_the_dense_matrix) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 6};
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(12 * SIZE_COUNT); trial++) {
        int64_t n = SIZES[trial % SIZE_COUNT];
        check_apply(trial, (szg_toeplitz_kind)(trial / SIZE_COUNT % 4), OPS[trial % 3], n,
                    1 + szgi_random_below(&stream, trial, n), 1 + trial % 4);
    }
}
END_TEST

/* Against exact values: a = 1 for all lags gives sums, a shift moves entries; a large batch crosses
 * blocks of the pool. */
START_TEST(products_of_ones_and_shifts) {
    szg_context *context = test_context();
    enum { N = 1000, BATCH = 70 };
    double *ones = new_numbers(2 * N - 1), *x = new_numbers(BATCH * N), *y = new_numbers(BATCH * N);
    for (int64_t i = 0; i < 2 * N - 1; i++)
        ones[i] = 1;
    for (int64_t i = 0; i < BATCH * N; i++)
        x[i] = (double)(i % 17) + (double)(i / N);
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_real(context, N, N, ones, &t));
    ck_szg_ok(szg_toeplitz_apply(context, t, 'n', BATCH, x, N, y, N));
    for (int64_t b = 0; b < BATCH; b++) {
        double sum = 0;
        for (int64_t j = 0; j < N; j++)
            sum += x[b * N + j];
        for (int64_t i = 0; i < N; i++)
            ck_close(y[b * N + i], sum, 200 * EPS * N * norm_of(N, x + b * N));
    }
    szg_toeplitz_close(&t);
    memset(ones, 0, (2 * N - 1) * sizeof *ones);
    ones[N - 1 + 400] = 1; /* y_i = x_{i - 400} */
    ck_szg_ok(szg_toeplitz_open_real(context, N, N, ones, &t));
    ck_szg_ok(szg_toeplitz_apply(context, t, 'n', 1, x, N, y, N));
    for (int64_t i = 0; i < N; i++)
        ck_close(y[i], i < 400 ? 0 : x[i - 400], 200 * EPS * norm_of(N, x));
    szg_toeplitz_close(&t);
    szgi_memory_free(ones), szgi_memory_free(x), szgi_memory_free(y);
}
END_TEST

/* The Fourier matrix diagonalises a circulant: T v_j = lambda_j v_j exactly known. */
START_TEST(circulants_have_fourier_vectors) {
    szg_context *context = test_context();
    for (int64_t n = 1; n <= 40; n++) {
        double *c = random_numbers((uint32_t)n, 2 * n), *a = new_numbers(2 * (2 * n - 1));
        szg_c64 *lags = (szg_c64 *)a, *column = (szg_c64 *)c, *w = (szg_c64 *)new_numbers(2 * n);
        for (int64_t k = 1 - n; k < n; k++)
            lags[k + n - 1] = column[(k + n) % n];
        szg_toeplitz *t;
        ck_szg_ok(szg_toeplitz_open_complex(context, n, n, lags, &t));
        for (int which = SZGI_PRECONDITIONER_STRANG; which <= SZGI_PRECONDITIONER_TCHAN; which++) {
            ck_szg_ok(szgi_circulant_eigenvalues(context, t, (szgi_preconditioner)which, w));
            for (int64_t j = 0; j < n; j++) {
                double re = 0, im = 0, size = norm_of(2 * n, c);
                for (int64_t k = 0; k < n; k++) {
                    double angle = -2 * M_PI * (double)(j * k % n) / (double)n;
                    re += column[k].re * cos(angle) - column[k].im * sin(angle);
                    im += column[k].re * sin(angle) + column[k].im * cos(angle);
                }
                ck_close(w[j].re, re, 40 * (double)n * EPS * size);
                ck_close(w[j].im, im, 40 * (double)n * EPS * size);
            }
        }
        ck_szg_fails(SZG_EINVAL, "neither",
                     szgi_circulant_eigenvalues(context, t, SZGI_PRECONDITIONER_NONE, w));
        szg_toeplitz_close(&t);
        szgi_memory_free(c), szgi_memory_free(a), szgi_memory_free(w);
    }
}
END_TEST

/* T. Chan's circulant has the Rayleigh quotients of T at the Fourier vectors as eigenvalues. */
START_TEST(tchan_is_the_fourier_diagonal) {
    szg_context *context = test_context();
    enum { N = 9 };
    szg_toeplitz *t = random_toeplitz(3, SZG_TOEPLITZ_COMPLEX, N, N);
    szg_c64 *a = dense_of(t), w[N];
    ck_szg_ok(szgi_circulant_eigenvalues(context, t, SZGI_PRECONDITIONER_TCHAN, w));
    for (int64_t j = 0; j < N; j++) {
        double re = 0, im = 0;
        for (int64_t i = 0; i < N; i++)
            for (int64_t k = 0; k < N; k++) {
                double angle = 2 * M_PI * (double)(j * (k - i)) / N;
                re += (a[i * N + k].re * cos(angle) - a[i * N + k].im * sin(angle)) / N;
                im += (a[i * N + k].re * sin(angle) + a[i * N + k].im * cos(angle)) / N;
            }
        ck_close(w[j].re, re, 100 * N * EPS * norm_of(2 * N * N, &a->re));
        ck_close(w[j].im, im, 100 * N * EPS * norm_of(2 * N * N, &a->re));
    }
    szg_toeplitz_close(&t);
    szgi_memory_free(a);
}
END_TEST

/* P_T A is Toeplitz, and A - P_T A is orthogonal to every Toeplitz matrix (to each E_k): the two
 * properties that define the projection. */
static void check_projection(uint32_t step, int64_t n, int width) {
    szg_context *context = test_context();
    int64_t lda = n + 1;
    double *a = random_numbers(step, n * lda * width);
    szg_tau tau;
    bool hermitian = step % 3 == 0;
    for (int64_t i = 0; hermitian && i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            for (int part = 0; part < width; part++) {
                double *down = &a[(i * lda + j) * width + part];
                double *up = &a[(j * lda + i) * width + part];
                *up = part ? (i == j ? 0 : -*down) : *down;
            }
    szg_toeplitz *t;
    ck_szg_ok(width == 1 ? szgi_toeplitz_project(context, n, a, lda, &t)
                         : szgi_toeplitz_project_complex(context, n, (szg_c64 *)a, lda, &t));
    if (hermitian)
        ck_assert(szgi_toeplitz_is_hermitian(t));
    ck_assert(szgi_toeplitz_is_real(t) == (width == 1));
    double size = 0, part_size = 0;
    for (int64_t i = 0; i < n; i++)
        size += pow(norm_of(n * width, a + i * lda * width), 2);
    for (int64_t lag = 1 - n; lag < n; lag++) {
        double rest[2] = {0, 0};
        szg_c64 mean = szg_toeplitz_at(t, lag);
        for (int64_t i = 0; i < n; i++)
            if (i - lag >= 0 && i - lag < n) {
                const double *at = a + (i * lda + i - lag) * width;
                rest[0] += at[0] - mean.re;
                rest[1] += width == 2 ? at[1] - mean.im : -mean.im;
                part_size += mean.re * mean.re + mean.im * mean.im;
            }
        ck_close(rest[0], 0, 4 * (double)n * EPS * sqrt((double)n * size));
        ck_close(rest[1], 0, 4 * (double)n * EPS * sqrt((double)n * size));
    }
    szg_status status = width == 1 ? szg_toeplitzness(context, n, a, lda, &tau)
                                   : szgi_toeplitzness_complex(context, n, (szg_c64 *)a, lda, &tau);
    if (size > 0) {
        ck_assert_int_eq(status, SZG_OK);
        ck_close(tau.value, part_size / size, 10 * (double)(n * n) * EPS);
    } else
        ck_assert_int_eq(status, SZG_EDOMAIN);
    szg_toeplitz_close(&t);
    szgi_memory_free(a);
}

START_TEST(projections_are_orthogonal) {
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(6 * SIZE_COUNT); trial++)
        check_projection(trial, SIZES[trial / 6 % SIZE_COUNT], 1 + trial / 3 % 2);
}
END_TEST

/* A random Toeplitz matrix, and noise of `size` times its entries, all times `unit`. */
static void near_toeplitz(uint32_t step, int64_t n, int width, double size, double unit, double *a,
                          long double *exact) {
    double *lags = random_numbers(step, 2 * n * width);
    double *noise = random_numbers(step + 1, n * n * width);
    for (int64_t at = 0; at < n * n * width; at++) {
        int64_t i = at / width / n, j = at / width % n;
        a[at] = unit * (lags[(i - j + n - 1) * width + at % width] + size * noise[at]);
        exact[at] = a[at];
    }
    szgi_memory_free(lags), szgi_memory_free(noise);
}

/* Near 1 the error is that of the quotient: 1 - tau keeps its digits until 1 swallows them. Sums of
 * up to 5 n terms in 1 - tau, a bound twice as wide (both squares), and two roundings. */
static void check_near_one(uint32_t step, int64_t n, int width, double size, double unit) {
    double *a = new_numbers(n * n * width);
    long double *exact = (long double *)new_numbers(2 * n * n * width), rest;
    szg_tau tau;
    near_toeplitz(step, n, width, size, unit, a, exact);
    rest = oracle_rest(n, width, exact);
    szg_status status = width == 1
                            ? szg_toeplitzness(test_context(), n, a, n, &tau)
                            : szgi_toeplitzness_complex(test_context(), n, (szg_c64 *)a, n, &tau);
    if (isnan(rest)) {
        ck_assert_int_eq(status, SZG_EDOMAIN);
    } else {
        ck_szg_ok(status);
        ck_assert(tau.value >= 0 && tau.value <= 1 && !tau.sampled);
        ck_close(tau.value, (double)(1 - rest), tau.error);
        ck_assert(tau.error <= 2 * EPS + (double)(5 * n + 9) * EPS * (double)rest);
    }
    szgi_memory_free(a), szgi_memory_free(exact);
}

START_TEST(toeplitzness_is_right_near_one) {
    static const double units[] = {1, 1e150, 1e-160, 1e280, 1e-310};
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(17 * SIZE_COUNT); trial++) {
        double size = trial % 17 ? pow(10, -(double)(trial % 17)) : 0;
        check_near_one(trial, SIZES[trial % SIZE_COUNT], 1 + trial / 2 % 2, size, units[trial % 5]);
    }
    check_near_one(1, 2048, 1, 1e-9, 1);
}
END_TEST

START_TEST(toeplitzness_at_the_corners) {
    szg_context *context = test_context();
    szg_tau tau;
    double zero[4] = {0}, bad[4] = {0, 0, NAN, 0}, odd[4] = {1, 0, 0, -1};
    double huge[4] = {1e308, 1e308, 1e308, 1e308};
    ck_szg_fails(SZG_EDOMAIN, "is 0", szg_toeplitzness(context, 2, zero, 2, &tau));
    ck_assert(isnan(tau.value) && isnan(tau.error));
    ck_szg_fails(SZG_EDATA, "row 1, column 0", szg_toeplitzness(context, 2, bad, 2, &tau));
    ck_szg_fails(SZG_EINVAL, "size of 0", szg_toeplitzness(context, 0, zero, 2, &tau));
    ck_szg_ok(szg_toeplitzness(context, 2, odd, 2, &tau));
    ck_assert(tau.value == 0);
    ck_szg_ok(szg_toeplitzness(context, 2, huge, 2, &tau));
    ck_assert(tau.value == 1 && tau.error <= 2 * EPS);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    enum { N = 70 };
    double *x = random_numbers(1, 4 * N * N), *y = new_numbers(4 * N);
    for (int kind = 0; kind < 4; kind++) {
        for (int64_t after = 1, done = 0; !done; after++) {
            szg_toeplitz *t = random_toeplitz((uint32_t)kind, (szg_toeplitz_kind)kind, N, N);
            szgi_memory_fail_after(context, after);
            szg_status status =
                szgi_toeplitz_apply_complex(context, t, 'n', 2, (szg_c64 *)x, N, (szg_c64 *)y, N);
            szgi_memory_fail_after(context, 0);
            ck_assert(status == SZG_OK || status == SZG_ENOMEM);
            done = status == SZG_OK;
            szg_toeplitz_close(&t);
        }
    }
    szg_toeplitz *t = random_toeplitz(9, SZG_TOEPLITZ_REAL, N, N), *other;
    ck_survives_failed_allocations(1, szg_toeplitz_apply(context, t, 't', 1, x, N, y, N));
    ck_survives_failed_allocations(
        1, szgi_circulant_eigenvalues(context, t, SZGI_PRECONDITIONER_TCHAN, (szg_c64 *)x));
    szg_toeplitz_close(&t);
    ck_survives_failed_allocations(1, szg_toeplitz_open_real(context, 3, 2, x, &t));
    szg_toeplitz_close(&t);
    ck_survives_failed_allocations(1, szgi_toeplitz_project(context, N, x, N, &other));
    szg_toeplitz_close(&other);
    ck_survives_failed_allocations(
        1, szgi_toeplitz_project_complex(context, N, (szg_c64 *)x, N, &other));
    szg_toeplitz_close(&other);
    szgi_memory_free(x), szgi_memory_free(y);
}
END_TEST

/* Long real products by a circulant and a skew-circulant, against the embedding, which complex
 * vectors go through. Bound as for check_apply. */
START_TEST(long_products_by_a_pair) {
    const int64_t sizes[] = {32768, 32769, 40000}; /* the last is no length that transforms fast */
    szg_context *context = test_context();
    for (int i = 0; i < 3; i++)
        for (uint32_t trial = 0; trial < 4; trial++) {
            int64_t n = sizes[i], count = trial < 2 ? n : n / 2 + 1;
            szg_toeplitz_kind kind = trial % 2 ? SZG_TOEPLITZ_REAL : SZG_TOEPLITZ_SYMMETRIC;
            szg_toeplitz *t = random_toeplitz(900 + trial, kind, n, count);
            double *x = random_numbers(901, 2 * n), *y = new_numbers(2 * n);
            szg_c64 *z = (szg_c64 *)new_numbers(4 * n), *want = z + n;
            ck_assert(szgi_pair_serves(t));
            ck_szg_ok(szg_toeplitz_apply(context, t, OPS[trial % 3], 2, x, n, y, n));
            for (int64_t b = 0; b < 2; b++) {
                for (int64_t k = 0; k < n; k++)
                    z[k] = (szg_c64){x[b * n + k], 0};
                ck_szg_ok(
                    szgi_toeplitz_apply_complex(context, t, OPS[trial % 3], 1, z, n, want, n));
                double bound = 40 * (log2((double)(2 * n)) + 2) * EPS *
                               szgi_toeplitz_norm_wiener(t) * norm_of(n, x + b * n);
                for (int64_t k = 0; k < n; k++)
                    ck_close(y[b * n + k], want[k].re, bound);
            }
            double *alone = new_numbers(n); /* one vector: the same numbers */
            ck_szg_ok(szg_toeplitz_apply(context, t, OPS[trial % 3], 1, x, n, alone, n));
            ck_assert_mem_eq(alone, y, (size_t)n * sizeof *y);
            szg_toeplitz_close(&t);
            szgi_memory_free(x), szgi_memory_free(y), szgi_memory_free(z), szgi_memory_free(alone);
        }
}
END_TEST

TEST_FILE("operator") {
    test_add(suite, "lags_are_read_as_documented", lags_are_read_as_documented);
    test_add(suite, "bad_input_is_named", bad_input_is_named);
    test_add(suite, "dense_forms_and_norms", dense_forms_and_norms);
    test_add(suite, "products_agree_with_the_dense_matrix", products_agree_with_the_dense_matrix);
    test_add(suite, "products_of_ones_and_shifts", products_of_ones_and_shifts);
    test_add(suite, "circulants_have_fourier_vectors", circulants_have_fourier_vectors);
    test_add(suite, "tchan_is_the_fourier_diagonal", tchan_is_the_fourier_diagonal);
    test_add(suite, "projections_are_orthogonal", projections_are_orthogonal);
    test_add(suite, "toeplitzness_is_right_near_one", toeplitzness_is_right_near_one);
    test_add(suite, "toeplitzness_at_the_corners", toeplitzness_at_the_corners);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
    test_add(suite, "long_products_by_a_pair", long_products_by_a_pair);
}
