/* Levinson-Durbin and conjugate gradients.
 *
 * What makes a small residual imply a right answer: ||x - x*|| <= cond(T) ||b - T x|| / ||T||.
 * Closed forms give x* itself for well conditioned matrices; elsewhere the residual is what is
 * promised. */
#include "toeplitz_tests.h"

/* KMS: T_ij = rho^|i-j| has the tridiagonal inverse with diagonal 1, 1 + rho^2, .., 1 and -rho
 * beside it, over 1 - rho^2. Reflection: the first coefficient is rho, all others vanish. */
START_TEST(kms_has_a_tridiagonal_inverse) {
    szg_context *context = test_context();
    for (int trial = 0; trial < 3 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial / 3];
        double rho = (double[]){0.5, -0.9, 0}[trial % 3], residual;
        double *a = new_numbers(n), *b = random_numbers((uint32_t)trial, n), *x = new_numbers(n);
        szg_c64 *forward = (szg_c64 *)new_numbers(2 * n), *backward = (szg_c64 *)new_numbers(2 * n);
        for (int64_t k = 0; k < n; k++)
            a[k] = k == 0 ? 1 : a[k - 1] * rho;
        szg_toeplitz *t;
        ck_szg_ok(szg_toeplitz_open_symmetric(context, n, n, a, &t));
        szgi_reflection reflection = {forward, backward};
        ck_szg_ok(szgi_toeplitz_solve(context, t, b, x, &reflection, &residual));
        ck_assert(residual <= 10 * EPS);
        double condition = pow((1 + fabs(rho)) / (1 - fabs(rho)), 2);
        double bound = 10 * (double)n * EPS * condition * norm_of(n, b);
        for (int64_t i = 0; i < n; i++) {
            double left = i > 0 ? b[i - 1] : 0, right = i + 1 < n ? b[i + 1] : 0;
            double ends = (i > 0) + (i + 1 < n), want = b[i];
            if (n > 1)
                want = ((ends == 2 ? 1 + rho * rho : 1) * b[i] - rho * (left + right)) /
                       (1 - rho * rho);
            ck_close(x[i], want, bound);
            if (i + 1 < n) {
                ck_close(forward[i].re, i == 0 ? rho : 0, 10 * (double)n * EPS * condition);
                ck_assert(forward[i].re == backward[i].re && forward[i].im == 0);
            }
        }
        szg_toeplitz_close(&t);
        szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(x);
        szgi_memory_free(forward), szgi_memory_free(backward);
    }
}
END_TEST

/* tridiag(-1, 2, -1): x_i = sum of the Green's function min(i, j)(n + 1 - max(i, j)) / (n + 1),
 * from 1. */
START_TEST(second_difference_has_a_green_function) {
    szg_context *context = test_context();
    for (int trial = 0; trial < SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial];
        double a[] = {2, -1}, *b = new_numbers(n), *x = new_numbers(n);
        szg_toeplitz *t;
        ck_szg_ok(szg_toeplitz_open_symmetric(context, n, 2, a, &t));
        int64_t j = n / 3;
        b[j] = 1;
        ck_szg_ok(szgi_toeplitz_solve(context, t, b, x, NULL, NULL));
        for (int64_t i = 0; i < n; i++) {
            double low = (double)((i < j ? i : j) + 1), high = (double)((i < j ? j : i) + 1);
            ck_close(x[i], low * ((double)n + 1 - high) / ((double)n + 1),
                     10 * EPS * (double)(n * n * n));
        }
        szg_toeplitz_close(&t);
        szgi_memory_free(b), szgi_memory_free(x);
    }
}
END_TEST

/* A matrix of any kind made regular by a dominant diagonal, so that its condition is below 3. */
static szg_toeplitz *dominant_toeplitz(uint32_t step, szg_toeplitz_kind kind, int64_t n) {
    szg_context *context = test_context();
    szg_toeplitz *rough = random_toeplitz(step, kind, n, n), *t;
    double diagonal = 2 * szgi_toeplitz_norm_wiener(rough) + 1;
    double *real = new_numbers(2 * n - 1);
    szg_c64 *complex = (szg_c64 *)new_numbers(2 * (2 * n - 1));
    for (int64_t k = 1 - n; k < n; k++) {
        complex[k + n - 1] = k == 0 ? (szg_c64){diagonal, 0} : szg_toeplitz_at(rough, k);
        real[k + n - 1] = complex[k + n - 1].re;
    }
    if (kind == SZG_TOEPLITZ_COMPLEX)
        complex[n - 1].im = diagonal / 8;
    ck_szg_ok(kind == SZG_TOEPLITZ_SYMMETRIC
                  ? szg_toeplitz_open_symmetric(context, n, n, real + n - 1, &t)
              : kind == SZG_TOEPLITZ_HERMITIAN
                  ? szg_toeplitz_open_hermitian(context, n, n, complex + n - 1, &t)
              : kind == SZG_TOEPLITZ_REAL ? szg_toeplitz_open_real(context, n, n, real, &t)
                                          : szg_toeplitz_open_complex(context, n, n, complex, &t));
    szg_toeplitz_close(&rough);
    szgi_memory_free(real), szgi_memory_free(complex);
    return t;
}

/* b = T x* entry by entry, x* back within the condition number's share; reflections multiply up to
 * the ratio of determinants that elimination without pivoting finds (its pivots are D_k / D_{k-1}).
 */
static void check_solve(uint32_t step, szg_toeplitz_kind kind, int64_t n) {
    szg_context *context = test_context();
    szg_toeplitz *t = dominant_toeplitz(step, kind, n);
    szg_c64 *a = dense_of(t), *want = (szg_c64 *)random_numbers(step + 7, 2 * n);
    szg_c64 *b = (szg_c64 *)new_numbers(2 * n), *x = (szg_c64 *)new_numbers(2 * n);
    szg_c64 *f = (szg_c64 *)new_numbers(2 * n), *g = (szg_c64 *)new_numbers(2 * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            b[i].re += a[i * n + j].re * want[j].re - a[i * n + j].im * want[j].im;
            b[i].im += a[i * n + j].re * want[j].im + a[i * n + j].im * want[j].re;
        }
    szgi_reflection reflection = {f, g};
    double residual, size = norm_of(2 * n, &want->re);
    ck_szg_ok(szgi_toeplitz_solve_complex(context, t, b, x, &reflection, &residual));
    ck_assert(residual <= 10 * (double)n * EPS);
    for (int64_t i = 0; i < n; i++) {
        ck_close(x[i].re, want[i].re, 50 * (double)n * EPS * size);
        ck_close(x[i].im, want[i].im, 50 * (double)n * EPS * size);
    }
    for (int64_t k = 0; k + 1 < n; k++) {
        if (szgi_toeplitz_is_hermitian(t)) {
            ck_close(f[k].re, g[k].re, 20 * (double)n * EPS);
            ck_close(f[k].im, -g[k].im, 20 * (double)n * EPS);
        }
        /* eliminate column k: the next pivot over this one is 1 - f_k b_k */
        szg_c64 p = a[k * n + k];
        double square = p.re * p.re + p.im * p.im;
        for (int64_t i = k + 1; i < n; i++) {
            szg_c64 m = a[i * n + k];
            m = (szg_c64){(m.re * p.re + m.im * p.im) / square,
                          (m.im * p.re - m.re * p.im) / square};
            for (int64_t j = k; j < n; j++) {
                szg_c64 y = a[k * n + j];
                a[i * n + j].re -= m.re * y.re - m.im * y.im;
                a[i * n + j].im -= m.re * y.im + m.im * y.re;
            }
        }
        szg_c64 q = a[(k + 1) * n + k + 1];
        double re = (q.re * p.re + q.im * p.im) / square, im = (q.im * p.re - q.re * p.im) / square;
        ck_close(1 - (f[k].re * g[k].re - f[k].im * g[k].im), re, 50 * (double)n * EPS);
        ck_close(-(f[k].re * g[k].im + f[k].im * g[k].re), im, 50 * (double)n * EPS);
    }
    szg_toeplitz_close(&t);
    szgi_memory_free(a), szgi_memory_free(want), szgi_memory_free(b), szgi_memory_free(x);
    szgi_memory_free(f), szgi_memory_free(g);
}

START_TEST(levinson_solves_all_kinds) {
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(4 * SIZE_COUNT); trial++)
        check_solve(trial, (szg_toeplitz_kind)(trial % 4), SIZES[trial / 4 % SIZE_COUNT]);
}
END_TEST

START_TEST(singular_minors_are_named) {
    szg_context *context = test_context();
    double zero[] = {0, 1}, ones[] = {1, 1, 0.5}, later[] = {1, 0.5, -0.5, 0}, b[4] = {1, 2, 3, 4};
    double x[4];
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 2, 2, zero, &t)); /* regular, but D_1 = 0 */
    ck_szg_fails(SZG_EDOMAIN, "order 1", szgi_toeplitz_solve(context, t, b, x, NULL, NULL));
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 3, 3, ones, &t));
    ck_szg_fails(SZG_EDOMAIN, "order 2", szgi_toeplitz_solve(context, t, b, x, NULL, NULL));
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 4, 4, later, &t)); /* D_3 = 0 */
    ck_szg_fails(SZG_EDOMAIN, "order 3", szgi_toeplitz_solve(context, t, b, x, NULL, NULL));
    ck_assert(strstr(szg_context_message(context), "conjugate gradients"));
    szg_toeplitz_close(&t);
    for (int k = 0; k < 4; k++)
        later[k] = cos(k); /* rank 2, to rounding */
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 4, 4, later, &t));
    ck_szg_fails(SZG_EDOMAIN, "order 3", szgi_toeplitz_solve(context, t, b, x, NULL, NULL));
    b[2] = NAN;
    ck_szg_fails(SZG_EDATA, "entry 2", szgi_toeplitz_solve(context, t, b, x, NULL, NULL));
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 2, 1, zero, &t));
    ck_szg_fails(SZG_EDOMAIN, "order 1", szgi_toeplitz_solve(context, t, zero, x, NULL, NULL));
    szg_toeplitz_close(&t);
    szg_c64 complex[] = {{2, 0}, {0, 1}}, cb[2] = {{1, 0}, {0, 0}}, cx[2];
    ck_szg_ok(szg_toeplitz_open_hermitian(context, 2, 2, complex, &t));
    ck_szg_fails(SZG_EINVAL, "vectors are real", szgi_toeplitz_solve(context, t, b, x, NULL, NULL));
    ck_szg_ok(szgi_toeplitz_solve_complex(context, t, cb, cx, NULL, NULL));
    ck_close(cx[0].re, 2.0 / 3, 4 * EPS); /* inverse of [2, -i; i, 2] is [2, i; -i, 2] / 3 */
    ck_close(cx[1].im, -1.0 / 3, 4 * EPS);
    szg_toeplitz_close(&t);
}
END_TEST

/* The same systems by both solvers; positive definite ones. A residual moves the answer by the
 * condition, below 3, times as much: the asked one, and Levinson's (check_solve). */
START_TEST(gradients_agree_with_levinson) {
    szg_context *context = test_context();
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(6 * SIZE_COUNT); trial++) {
        int64_t n = SIZES[trial / 6 % SIZE_COUNT];
        double bound = 3 * (1e-13 + 10 * (double)n * EPS);
        szg_toeplitz *t = dominant_toeplitz(
            trial, trial % 2 ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_SYMMETRIC, n);
        szg_c64 *b = (szg_c64 *)random_numbers(trial, 2 * n), *x = (szg_c64 *)new_numbers(2 * n);
        szg_c64 *y = (szg_c64 *)new_numbers(2 * n);
        szgi_cg_options options = {.preconditioner = (szgi_preconditioner)(trial % 3),
                                   .tolerance = 1e-13};
        szgi_cg_result result;
        ck_szg_ok(szgi_toeplitz_solve_complex(context, t, b, x, NULL, NULL));
        ck_szg_ok(szgi_toeplitz_cg_complex(context, t, &options, b, y, &result));
        ck_assert(result.residual <= 1e-13);
        for (int64_t i = 0; i < n; i++) {
            ck_close(y[i].re, x[i].re, bound * norm_of(2 * n, &x->re));
            ck_close(y[i].im, x[i].im, bound * norm_of(2 * n, &x->re));
        }
        if (trial % 2 == 0) {
            double *real = (double *)y, *right = &b->re;
            memset(y, 0, (size_t)n * sizeof *y);
            ck_szg_ok(szgi_toeplitz_cg(context, t, &options, right, real, &result));
            ck_szg_ok(szgi_toeplitz_solve(context, t, right, &x->re, NULL, NULL));
            for (int64_t i = 0; i < n; i++)
                ck_close(real[i], (&x->re)[i], bound * norm_of(n, &x->re));
        }
        szg_toeplitz_close(&t);
        szgi_memory_free(b), szgi_memory_free(x), szgi_memory_free(y);
    }
}
END_TEST

/* KMS with rho = 0.99, n = 2000: condition 4e4. Circulants bring the spectrum together (Chan and Ng
 * 1996): a tenth of the plain iterations at most. */
START_TEST(circulants_precondition) {
    szg_context *context = test_context();
    enum { N = 2000 };
    double *a = new_numbers(N), *b = random_numbers(1, N), *x = new_numbers(N);
    int64_t iterations[SZGI_PRECONDITIONERS];
    for (int64_t k = 0; k < N; k++)
        a[k] = pow(0.99, (double)k);
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, N, N, a, &t));
    for (int which = 0; which < SZGI_PRECONDITIONERS; which++) {
        szgi_cg_options options = {.preconditioner = (szgi_preconditioner)which,
                                   .tolerance = 1e-10};
        szgi_cg_result result;
        memset(x, 0, N * sizeof *x);
        ck_szg_ok(szgi_toeplitz_cg(context, t, &options, b, x, &result));
        iterations[which] = result.iterations;
    }
    ck_assert_int_lt(iterations[SZGI_PRECONDITIONER_STRANG] * 10, iterations[0]);
    ck_assert_int_lt(iterations[SZGI_PRECONDITIONER_TCHAN] * 10, iterations[0]);
    szg_toeplitz_close(&t);
    szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(x);
}
END_TEST

START_TEST(indefinite_matrices_are_refused) {
    szg_context *context = test_context();
    enum { N = 50 };
    double a[] = {1, 2}, b[N], x[N] = {0};
    szgi_cg_result result;
    for (int i = 0; i < N; i++)
        b[i] = i % 3 - 1.0;
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, N, 2, a, &t));
    for (int which = 0; which < SZGI_PRECONDITIONERS; which++) {
        szgi_cg_options options = {.preconditioner = (szgi_preconditioner)which};
        memset(x, 0, sizeof x);
        ck_szg_fails(SZG_EDOMAIN, "not positive definite",
                     szgi_toeplitz_cg(context, t, &options, b, x, &result));
        bool by_circulant = strstr(szg_context_message(context), "Fourier vector") != NULL;
        ck_assert(by_circulant == (which == SZGI_PRECONDITIONER_TCHAN));
    }
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_real(context, 1, 1, a, &t));
    ck_szg_fails(SZG_EDOMAIN, "Hermitian kind", szgi_toeplitz_cg(context, t, NULL, b, x, &result));
    szg_toeplitz_close(&t);
    a[1] = 0.4;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, N, 2, a, &t));
    szgi_cg_options hopeless = {.iterations = 2}, wrong = {.tolerance = NAN};
    ck_szg_fails(SZG_ENOCONV, "after 2", szgi_toeplitz_cg(context, t, &hopeless, b, x, &result));
    ck_assert_int_eq(result.iterations, 2);
    ck_assert(result.residual > 1e-12 && result.residual < 1);
    ck_szg_fails(SZG_EINVAL, "tolerance", szgi_toeplitz_cg(context, t, &wrong, b, x, &result));
    memset(b, 0, sizeof b);
    ck_szg_ok(szgi_toeplitz_cg(context, t, NULL, b, x, &result));
    ck_assert(x[0] == 0 && x[N - 1] == 0);
    x[3] = INFINITY;
    ck_szg_fails(SZG_EDATA, "number 3", szgi_toeplitz_cg(context, t, NULL, b, x, &result));
    szg_toeplitz_close(&t);
}
END_TEST

/* Condition 4e4: a relative residual of an ulp is out of reach, and that is noticed. */
START_TEST(unreachable_tolerances_are_noticed) {
    szg_context *context = test_context();
    enum { N = 300 };
    double *a = new_numbers(N), *b = random_numbers(2, N), *x = new_numbers(N);
    for (int64_t k = 0; k < N; k++)
        a[k] = pow(0.99, (double)k);
    szg_toeplitz *t;
    szgi_cg_options options = {
        .preconditioner = SZGI_PRECONDITIONER_TCHAN, .tolerance = 0x1p-52, .iterations = 1000000};
    szgi_cg_result result;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, N, N, a, &t));
    ck_szg_fails(SZG_ENOCONV, "was asked for",
                 szgi_toeplitz_cg(context, t, &options, b, x, &result));
    ck_assert_int_lt(result.iterations, 2000);
    /* What its last product lost: an FFT's error (check_apply of the operator's tests). */
    double lost = 20 * (log2(2.0 * N) + 2) * EPS * szgi_toeplitz_norm_wiener(t) * norm_of(N, x);
    ck_assert(result.residual <= lost / norm_of(N, b));
    szg_toeplitz_close(&t);
    szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(x);
}
END_TEST

START_TEST(long_solves_can_be_cancelled) {
    szg_context *context;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    double a[] = {2, 0.5}, b[8] = {1}, x[8] = {0};
    szgi_cg_result result;
    szg_toeplitz *t;
    ck_assert_int_eq(szg_toeplitz_open_symmetric(context, 8, 2, a, &t), SZG_OK);
    szg_context_cancel(context);
    ck_assert_int_eq(szgi_toeplitz_solve(context, t, b, x, NULL, NULL), SZG_ECANCEL);
    ck_assert_int_eq(szgi_toeplitz_cg(context, t, NULL, b, x, &result), SZG_ECANCEL);
    szg_toeplitz_close(&t);
    szg_context_close(&context);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    enum { N = 40 };
    szg_c64 *b = (szg_c64 *)random_numbers(1, 2 * N), *x = (szg_c64 *)new_numbers(2 * N);
    for (int kind = 0; kind < 4; kind++) {
        szg_toeplitz *t = dominant_toeplitz((uint32_t)kind, (szg_toeplitz_kind)kind, N);
        double residual;
        ck_survives_failed_allocations(
            1, szgi_toeplitz_solve_complex(context, t, b, x, NULL, &residual));
        if (szgi_toeplitz_is_real(t))
            ck_survives_failed_allocations(
                1, szgi_toeplitz_solve(context, t, &b->re, &x->re, NULL, &residual));
        szgi_cg_options options = {.preconditioner = SZGI_PRECONDITIONER_TCHAN};
        szgi_cg_result result;
        if (szgi_toeplitz_is_hermitian(t))
            ck_survives_failed_allocations(
                1, szgi_toeplitz_cg_complex(context, t, &options, b, x, &result));
        szg_toeplitz_close(&t);
    }
    szgi_memory_free(b), szgi_memory_free(x);
}
END_TEST

TEST_FILE("solve") {
    test_add(suite, "kms_has_a_tridiagonal_inverse", kms_has_a_tridiagonal_inverse);
    test_add(suite, "second_difference_has_a_green_function",
             second_difference_has_a_green_function);
    test_add(suite, "levinson_solves_all_kinds", levinson_solves_all_kinds);
    test_add(suite, "singular_minors_are_named", singular_minors_are_named);
    test_add(suite, "gradients_agree_with_levinson", gradients_agree_with_levinson);
    test_add(suite, "circulants_precondition", circulants_precondition);
    test_add(suite, "indefinite_matrices_are_refused", indefinite_matrices_are_refused);
    test_add(suite, "unreachable_tolerances_are_noticed", unreachable_tolerances_are_noticed);
    test_add(suite, "long_solves_can_be_cancelled", long_solves_can_be_cancelled);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
