/* Conjugate gradients.
 *
 * What makes a small residual imply a right answer: ||x - x*|| <= cond(T) ||b - T x|| / ||T||.
 * Closed forms give x* itself for well conditioned matrices; elsewhere the residual is what is
 * promised. */
#include "toeplitz/inverse.h"

#include "toeplitz_tests.h"

/* KMS: T_ij = rho^|i-j| has the tridiagonal inverse with diagonal 1, 1 + rho^2, .., 1 and -rho
 * beside it, over 1 - rho^2. Its symbol, the Poisson kernel, is (1 - |rho|) / (1 + |rho|) at least:
 * a residual moves the answer by the inverse of that at most. */
START_TEST(kms_has_a_tridiagonal_inverse) {
    szg_context *context = test_context();
    for (int trial = 0; trial < 3 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial / 3];
        double rho = (double[]){0.5, -0.9, 0}[trial % 3];
        double *a = new_numbers(n), *b = random_numbers((uint32_t)trial, n), *x = new_numbers(n);
        for (int64_t k = 0; k < n; k++)
            a[k] = k == 0 ? 1 : a[k - 1] * rho;
        szg_toeplitz *t;
        szgi_cg_options options = {.preconditioner = SZGI_PRECONDITIONER_TCHAN, .tolerance = 1e-10};
        szgi_cg_result result;
        ck_szg_ok(szg_toeplitz_open_symmetric(context, n, n, a, &t));
        ck_szg_ok(szgi_toeplitz_cg(context, t, &options, b, x, &result));
        ck_assert(result.residual <= 1e-10);
        double inverse = (1 + fabs(rho)) / (1 - fabs(rho));
        double bound = inverse * (1e-10 + 10 * EPS) * norm_of(n, b);
        for (int64_t i = 0; i < n; i++) {
            double left = i > 0 ? b[i - 1] : 0, right = i + 1 < n ? b[i + 1] : 0;
            double ends = (i > 0) + (i + 1 < n), want = b[i];
            if (n > 1)
                want = ((ends == 2 ? 1 + rho * rho : 1) * b[i] - rho * (left + right)) /
                       (1 - rho * rho);
            ck_close(x[i], want, bound);
        }
        szg_toeplitz_close(&t);
        szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(x);
    }
}
END_TEST

/* tridiag(-1, 2, -1): x_i = sum of the Green's function min(i, j)(n + 1 - max(i, j)) / (n + 1),
 * from 1. Its least eigenvalue is 4 sin^2(pi / (2(n + 1))) >= 4 / (n + 1)^2. */
START_TEST(second_difference_has_a_green_function) {
    szg_context *context = test_context();
    for (int trial = 0; trial < SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial];
        double a[] = {2, -1}, *b = new_numbers(n), *x = new_numbers(n);
        szg_toeplitz *t;
        szgi_cg_options options = {.tolerance = 1e-8};
        szgi_cg_result result;
        ck_szg_ok(szg_toeplitz_open_symmetric(context, n, 2, a, &t));
        int64_t j = n / 3;
        b[j] = 1;
        ck_szg_ok(szgi_toeplitz_cg(context, t, &options, b, x, &result));
        double bound = 1e-8 * (double)((n + 1) * (n + 1)) / 4 + 10 * EPS * (double)n;
        for (int64_t i = 0; i < n; i++) {
            double low = (double)((i < j ? i : j) + 1), high = (double)((i < j ? j : i) + 1);
            ck_close(x[i], low * ((double)n + 1 - high) / ((double)n + 1), bound);
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

/* b = T x* entry by entry, and x* comes back: a residual moves it by the condition, below 3, times
 * as much at most; b itself is off by n eps of its terms. */
static void check_solve(uint32_t step, bool hermitian, int64_t n) {
    szg_context *context = test_context();
    szg_toeplitz *t =
        dominant_toeplitz(step, hermitian ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_SYMMETRIC, n);
    szg_c64 *a = dense_of(t), *want = (szg_c64 *)random_numbers(step + 7, 2 * n);
    szg_c64 *b = (szg_c64 *)new_numbers(2 * n), *x = (szg_c64 *)new_numbers(2 * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            b[i].re += a[i * n + j].re * want[j].re - a[i * n + j].im * want[j].im;
            b[i].im += a[i * n + j].re * want[j].im + a[i * n + j].im * want[j].re;
        }
    szgi_cg_options options = {.preconditioner = (szgi_preconditioner)(step % 3),
                               .tolerance = 1e-13};
    szgi_cg_result result;
    double bound = 3 * (1e-13 + 10 * (double)n * EPS) * norm_of(2 * n, &want->re);
    ck_szg_ok(szgi_toeplitz_cg_complex(context, t, &options, b, x, &result));
    ck_assert(result.residual <= 1e-13);
    for (int64_t i = 0; i < n; i++) {
        ck_close(x[i].re, want[i].re, bound);
        ck_close(x[i].im, want[i].im, bound);
    }
    if (!hermitian) { /* a real matrix: the real parts are a system of their own */
        double *right = new_numbers(n), *real = new_numbers(n);
        for (int64_t i = 0; i < n; i++)
            right[i] = b[i].re;
        ck_szg_ok(szgi_toeplitz_cg(context, t, &options, right, real, &result));
        for (int64_t i = 0; i < n; i++)
            ck_close(real[i], want[i].re, bound);
        szgi_memory_free(right), szgi_memory_free(real);
    }
    szg_toeplitz_close(&t);
    szgi_memory_free(a), szgi_memory_free(want), szgi_memory_free(b), szgi_memory_free(x);
}

START_TEST(gradients_find_what_was_multiplied) {
    for (uint32_t trial = 0; trial < (uint32_t)test_trials(6 * SIZE_COUNT); trial++)
        check_solve(trial, trial % 2, SIZES[trial / 6 % SIZE_COUNT]);
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
    ck_assert_int_eq(szgi_toeplitz_cg(context, t, NULL, b, x, &result), SZG_ECANCEL);
    szg_toeplitz_close(&t);
    szg_context_close(&context);
}
END_TEST

/* T (B x) = x. Eigenvalues of T lie within a/2 .. 3a/2, a the diagonal. The column c errs by
 * delta = 1e-13 2/a; ||L(v)|| <= sqrt(n) ||v||, ||c|| <= 2/a and c_0 >= 2/(3a) give
 * ||B - T^-1|| <= 4 ||L(c)|| ||L(delta)|| / c_0 + 2 ||L(c)||^2 delta / c_0^2 <= 60 n 1e-13 / a, and
 * six transforms err by 8 (log2(4n) + 2) eps each, relative to 2 ||L(c)||^2 / c_0 <= 12 n / a. */
START_TEST(inverse_undoes_the_product) {
    szg_context *context = test_context();
    for (int trial = 0; trial < 2 * SIZE_COUNT; trial++) {
        int64_t n = SIZES[trial / 2];
        bool complex = trial % 2;
        szg_toeplitz *t = dominant_toeplitz(
            (uint32_t)trial, complex ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_SYMMETRIC, n);
        int64_t count = complex ? 2 * n : n;
        double *x = random_numbers((uint32_t)trial, count), *y = new_numbers(count);
        double *back = new_numbers(count);
        szgi_inverse *inverse;
        ck_szg_ok(szgi_inverse_open(context, t, &inverse));
        ck_szg_ok(szgi_inverse_apply(context, inverse, x, y));
        if (complex)
            ck_szg_ok(szgi_toeplitz_apply_complex(context, t, 'n', 1, (const szg_c64 *)y, n,
                                                  (szg_c64 *)back, n));
        else
            ck_szg_ok(szg_toeplitz_apply(context, t, 'n', 1, y, n, back, n));
        double transforms = 12 * 6 * 8 * (log2(4 * (double)n) + 2) * EPS;
        double bound = 1.5 * (double)n * (60e-13 + transforms) * norm_of(count, x);
        for (int64_t i = 0; i < count; i++)
            ck_close(back[i], x[i], bound);
        ck_szg_ok(szgi_inverse_apply(context, inverse, x, x)); /* in place: the same bits */
        ck_assert_mem_eq(x, y, (size_t)count * sizeof *x);
        szgi_inverse_close(&inverse);
        ck_assert_ptr_null(inverse);
        szg_toeplitz_close(&t);
        szgi_memory_free(x), szgi_memory_free(y), szgi_memory_free(back);
    }
}
END_TEST

START_TEST(indefinite_matrices_have_no_inverse_here) {
    szg_context *context = test_context();
    double a[] = {1, 2}, *general = random_numbers(3, 17);
    szg_toeplitz *t;
    szgi_inverse *inverse;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 50, 2, a, &t));
    ck_szg_fails(SZG_EDOMAIN, "positive definite", szgi_inverse_open(context, t, &inverse));
    ck_assert_ptr_null(inverse);
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_real(context, 9, 9, general, &t));
    ck_szg_fails(SZG_EDOMAIN, "Hermitian", szgi_inverse_open(context, t, &inverse));
    szg_toeplitz_close(&t);
    szgi_memory_free(general);
}
END_TEST

static szg_status inverse_call(const szg_toeplitz *t, double *x) {
    szgi_inverse *inverse;
    SZG_TRY(szgi_inverse_open(test_context(), t, &inverse));
    szg_status status = szgi_inverse_apply(test_context(), inverse, x, x);
    szgi_inverse_close(&inverse);
    return status;
}

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    enum { N = 40 };
    szg_c64 *b = (szg_c64 *)random_numbers(1, 2 * N), *x = (szg_c64 *)new_numbers(2 * N);
    for (int i = 0; i < 2; i++) {
        szg_toeplitz *t =
            dominant_toeplitz(1, i ? SZG_TOEPLITZ_HERMITIAN : SZG_TOEPLITZ_SYMMETRIC, N);
        szgi_cg_options options = {.preconditioner = SZGI_PRECONDITIONER_TCHAN};
        szgi_cg_result result;
        ck_survives_failed_allocations(
            1, szgi_toeplitz_cg_complex(context, t, &options, b, x, &result));
        if (!i)
            ck_survives_failed_allocations(
                1, szgi_toeplitz_cg(context, t, &options, &b->re, &x->re, &result));
        ck_survives_failed_allocations(8, inverse_call(t, &x->re));
        szg_toeplitz_close(&t);
    }
    szgi_memory_free(b), szgi_memory_free(x);
}
END_TEST

TEST_FILE("solve") {
    test_add(suite, "kms_has_a_tridiagonal_inverse", kms_has_a_tridiagonal_inverse);
    test_add(suite, "second_difference_has_a_green_function",
             second_difference_has_a_green_function);
    test_add(suite, "gradients_find_what_was_multiplied", gradients_find_what_was_multiplied);
    test_add(suite, "circulants_precondition", circulants_precondition);
    test_add(suite, "indefinite_matrices_are_refused", indefinite_matrices_are_refused);
    test_add(suite, "unreachable_tolerances_are_noticed", unreachable_tolerances_are_noticed);
    test_add(suite, "long_solves_can_be_cancelled", long_solves_can_be_cancelled);
    test_add(suite, "inverse_undoes_the_product", inverse_undoes_the_product);
    test_add(suite, "indefinite_matrices_have_no_inverse_here",
             indefinite_matrices_have_no_inverse_here);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}
