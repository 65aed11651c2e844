/* Toeplitz matrices: halves, the Hermitian map, Hankel and triangular ways against dense oracles
 * and closed forms; ends of the spectrum by Lanczos. */
#include "spectra/extremes.h"
#include "spectra_support.h"

static szg_toeplitz *open_symmetric(int64_t n, int64_t count, const double *lags) {
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, count, lags, &t));
    return t;
}

static void random_lags(const szgi_stream *stream, int64_t count, double *lags) {
    for (int64_t k = 0; k < count; k++)
        lags[k] = test_real(stream, (uint64_t)k);
}

START_TEST(symmetric_against_dense) {
    for (int64_t n = 1; n <= 40; n++)
        for (int64_t trial = 0; trial < test_trials(3); trial++) {
            double lags[40], want[40];
            szgi_stream stream = {
                .seed = test_seed(), .purpose = 10, .step = (uint32_t)(n * 64 + trial)};
            random_lags(&stream, n, lags);
            double bound = weyl(n, oracle_toeplitz(n, lags, want));
            szg_toeplitz *t = open_symmetric(n, n, lags);
            szg_spectra_options dense = {SZG_INIT(szg_spectra_options), .dense = true};
            szg_spectrum s;
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
            check_values(&s, n, want, bound);
            check_promises(&s, bound);
            szg_spectrum_close(&s);
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &dense, &s));
            check_values(&s, n, want, bound);
            ck_assert(strstr(szg_method_name(s.method), "dense"));
            szg_spectrum_close(&s);
            szg_toeplitz_close(&t);
        }
}
END_TEST

/* Random Hermitian lags, among them real and purely imaginary ones. */
START_TEST(hermitian_against_dense) {
    for (int64_t n = 1; n <= 33; n++)
        for (int64_t trial = 0; trial < test_trials(3); trial++) {
            szg_c64 lags[33] = {0}, *a = get(n * n, sizeof *a);
            double want[33];
            szgi_stream stream = {
                .seed = test_seed(), .purpose = 11, .step = (uint32_t)(n * 64 + trial)};
            for (int64_t k = 0; k < n; k++) {
                lags[k].re = test_real(&stream, (uint64_t)(2 * k));
                lags[k].im = k ? test_real(&stream, (uint64_t)(2 * k + 1)) : 0;
            }
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++) {
                    a[i * n + j] = lags[i > j ? i - j : j - i];
                    if (j > i)
                        a[i * n + j].im = -a[i * n + j].im;
                }
            double bound = weyl(n, norm_of(2 * n * n, (double *)a));
            ck_szg_ok(szgi_eigen_hermitian(oracle_context("reference"), n, a, n, want, false));
            szg_toeplitz *t;
            ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), n, n, lags, &t));
            szg_spectra_options dense = {SZG_INIT(szg_spectra_options), .dense = true};
            szg_spectrum s;
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
            check_values(&s, n, want, bound);
            check_promises(&s, bound);
            szg_spectrum_close(&s);
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &dense, &s));
            check_values(&s, n, want, bound);
            szg_spectrum_close(&s);
            szg_toeplitz_close(&t);
            szgi_memory_free(a);
        }
}
END_TEST

/* a_0 + 2 a_1 cos(j pi / (n+1)); with |a_1| e^{i phi} in its place too. */
START_TEST(tridiagonal_closed_form) {
    for (int64_t n = 2; n <= 200; n += n < 12 ? 1 : 47) {
        double lags[2] = {0.7, -1.3}, *want = get(n, sizeof *want);
        szg_c64 complex_lags[2] = {{0.7, 0}, {1.3 * cos(2.0), 1.3 * sin(2.0)}};
        for (int64_t j = 0; j < n; j++)
            want[j] = 0.7 + 2.6 * cos((double)(n - j) * M_PI / (double)(n + 1));
        szg_toeplitz *t = open_symmetric(n, 2, lags), *u;
        ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), n, 2, complex_lags, &u));
        szg_spectrum s;
        double bound = weyl(n, 4);
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
        check_values(&s, n, want, bound);
        szg_spectrum_close(&s);
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(u), NULL, &s));
        check_values(&s, n, want, bound);
        szg_spectrum_close(&s);
        szg_toeplitz_close(&t);
        szg_toeplitz_close(&u);
        szgi_memory_free(want);
    }
}
END_TEST

/* A symmetric circulant's eigenvalues are the cosine sums of its first row. */
START_TEST(circulant_closed_form) {
    for (int64_t n = 3; n <= 24; n++) {
        double lags[24], want[24] = {0}, norm = 0;
        szgi_stream stream = {.seed = test_seed(), .purpose = 12, .step = (uint32_t)n};
        for (int64_t k = 0; k < n; k++)
            lags[k] = test_real(&stream, (uint64_t)(k < n - k ? k : n - k));
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < n; k++) {
                want[j] += lags[k] * cos(2 * M_PI * (double)(j * k % n) / (double)n);
                norm += lags[k] * lags[k];
            }
        for (int64_t i = 1; i < n; i++) /* insertion sort */
            for (int64_t j = i; j > 0 && want[j - 1] > want[j]; j--) {
                double swap = want[j];
                want[j] = want[j - 1];
                want[j - 1] = swap;
            }
        szg_toeplitz *t = open_symmetric(n, n, lags);
        szg_spectrum s;
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
        check_values(&s, n, want, weyl(n, sqrt(norm)));
        szg_spectrum_close(&s);
        szg_toeplitz_close(&t);
    }
}
END_TEST

/* Above the crossover a smooth kernel takes the divide and conquer, noise the halves. */
START_TEST(large_orders_choose_their_way) {
    enum { N = 1101 };
    double *lags = get(N, sizeof *lags);
    for (int64_t k = 0; k < N; k++)
        lags[k] = pow(0.9, (double)k);
    szg_toeplitz *t = open_symmetric(N, N, lags);
    szg_spectrum s, want;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
    ck_assert(strstr(szg_method_name(s.method), "divide"));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(N, 0.9), NULL, &want));
    check_values(&s, N, want.re, 1e-13);
    szg_spectrum_close(&s);
    szg_spectrum_close(&want);
    szg_toeplitz_close(&t);
    szgi_stream stream = {.seed = test_seed(), .purpose = 15};
    szgi_random_fill_normal(&stream, 0, N, lags);
    t = open_symmetric(N, N, lags);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
    ck_assert(strstr(szg_method_name(s.method), "halves (LAPACK)"));
    check_promises(&s, weyl(N, s.frobenius));
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}
END_TEST

START_TEST(symmetric_interlaces) {
    double lags[64];
    szgi_stream stream = {.seed = test_seed(), .purpose = 13};
    szgi_random_fill_normal(&stream, 0, 64, lags);
    for (int64_t n = 2; n <= 64; n++) {
        szg_toeplitz *t = open_symmetric(n, n, lags), *minor = open_symmetric(n - 1, n - 1, lags);
        szg_spectrum large, small;
        double slack = weyl(n, szgi_toeplitz_norm_frobenius(t));
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &large));
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(minor), NULL, &small));
        for (int64_t i = 0; i < n - 1; i++) {
            ck_assert(large.re[i] <= small.re[i] + slack);
            ck_assert(small.re[i] <= large.re[i + 1] + slack);
        }
        szg_spectrum_close(&large);
        szg_spectrum_close(&small);
        szg_toeplitz_close(&t);
        szg_toeplitz_close(&minor);
    }
}
END_TEST

/* Tridiagonal without symmetry: a_0 + 2 sqrt(a_1 a_-1) cos; with a_1 a_-1 < 0 they are complex. The
 * eigenvector matrix is D times an orthogonal one, D = diag((a_1/a_-1)^(j/2)), whose condition
 * number 2^(n-1) magnifies the backward error (Bauer and Fike 1960). */
START_TEST(general_closed_form) {
    for (int64_t n = 2; n <= 8; n++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double lags[3] = {sign * 0.5, 0.25, 2}; /* lags -1, 0, 1: ratio 4, product +-1 */
            szg_toeplitz *t;
            ck_szg_ok(szg_toeplitz_open_real(test_context(), n, 2, lags, &t));
            szg_spectrum s;
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
            ck_assert_int_eq(s.count, n);
            ck_assert(!s.normal);
            double bound = ldexp(weyl(n, 3 * sqrt((double)n)), (int)n);
            for (int64_t j = 0; j < n; j++) {
                double part = 2 * cos((double)(n - j) * M_PI / (double)(n + 1)), nearest = INFINITY;
                for (int64_t i = 0; i < n; i++)
                    nearest = fmin(nearest, hypot(s.re[i] - 0.25 - (sign > 0 ? part : 0),
                                                  (s.im ? s.im[i] : 0) - (sign > 0 ? 0 : part)));
                ck_close(nearest, 0, bound);
            }
            ck_assert(s.im == NULL || sign < 0);
            szg_spectrum_close(&s);
            szg_toeplitz_close(&t);
        }
}
END_TEST

/* The oracle: the dense array, one-sided Jacobi of the reference backend. */
static void oracle_singular(const szg_toeplitz *t, double *want) {
    szg_context *ctx = oracle_context("reference");
    int64_t n = szg_toeplitz_size(t);
    szg_c64 *a = get(n * n, sizeof *a);
    if (szgi_toeplitz_is_real(t)) {
        ck_szg_ok(szgi_toeplitz_dense(ctx, t, (double *)a, n));
        ck_szg_ok(szgi_singular(ctx, n, n, (double *)a, n, want, NULL, n, NULL, n));
    } else {
        ck_szg_ok(szgi_toeplitz_dense_complex(ctx, t, a, n));
        ck_szg_ok(szgi_singular_complex(ctx, n, n, a, n, want, NULL, n, NULL, n));
    }
    szgi_memory_free(a);
}

static void check_singular(szg_toeplitz *t) {
    int64_t n = szg_toeplitz_size(t);
    double *want = get(n, sizeof *want), bound = weyl(n, szgi_toeplitz_norm_frobenius(t));
    oracle_singular(t, want);
    for (int dense = 0; dense < 2; dense++) {
        szg_spectra_options options = {SZG_INIT(szg_spectra_options), .dense = dense};
        szg_spectrum s;
        ck_szg_ok(singular_of(test_context(), szg_matrix_toeplitz(t), &options, &s));
        ck_assert_str_eq(szg_spectrum_kind_name(s.kind), "singular");
        ck_assert_int_eq(s.count, n);
        for (int64_t i = 0; i < n; i++)
            ck_close(s.re[i], want[i], bound);
        szg_spectrum_close(&s);
    }
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum s;
    ck_szg_ok(singular_of(test_context(), szg_matrix_toeplitz(t), &range, &s));
    double least, largest;
    ck_szg_ok(szgi_spectrum_range(test_context(), &s, &least, &largest));
    ck_close(largest, want[0], bound);
    ck_close(least, want[n - 1], bound);
    szg_spectrum_close(&s);
    szgi_memory_free(want);
    szg_toeplitz_close(&t);
}

START_TEST(singular_values_of_every_kind) {
    for (int64_t n = 1; n <= 25; n += 4) {
        double lags[128];
        szg_toeplitz *t;
        szgi_stream stream = {.seed = test_seed(), .purpose = 14, .step = (uint32_t)n};
        random_lags(&stream, 128, lags);
        check_singular(open_symmetric(n, n, lags));
        ck_szg_ok(szg_toeplitz_open_real(test_context(), n, n, lags, &t));
        check_singular(t);
        ck_szg_ok(szg_toeplitz_open_complex(test_context(), n, n, (szg_c64 *)lags, &t));
        check_singular(t);
        lags[1] = 0; /* a_0 real */
        ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), n, n, (szg_c64 *)lags, &t));
        check_singular(t);
    }
}
END_TEST

START_TEST(triangular_is_its_diagonal) {
    szg_context *ctx = test_context();
    double lags[5] = {0, 0, 3, 1, 4}; /* lags -2 .. 2: lower triangular */
    szg_toeplitz *t;
    szg_spectrum s;
    ck_szg_ok(szg_toeplitz_open_real(ctx, 7, 3, lags, &t));
    ck_szg_ok(eigenvalues_of(ctx, szg_matrix_toeplitz(t), NULL, &s));
    ck_assert_int_eq(s.count, 7);
    for (int i = 0; i < 7; i++)
        ck_assert(s.re[i] == 3);
    ck_assert(strstr(s.note, "singular values"));
    ck_assert(!s.normal && s.residual == 0 && s.rank == 7);
    szg_spectrum_close(&s);
    check_singular(t);
    lags[2] = 0; /* nilpotent: all eigenvalues 0, but not of rank 0 */
    ck_szg_ok(szg_toeplitz_open_real(ctx, 7, 3, lags, &t));
    ck_szg_ok(eigenvalues_of(ctx, szg_matrix_toeplitz(t), NULL, &s));
    ck_assert_int_eq(s.zeros, 7);
    ck_assert_int_eq(s.rank, -1);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
    szg_c64 unit[3] = {{0, 0}, {1, 2}, {0, 1}}; /* complex, lower triangular */
    ck_szg_ok(szg_toeplitz_open_complex(ctx, 4, 2, unit, &t));
    ck_szg_ok(eigenvalues_of(ctx, szg_matrix_toeplitz(t), NULL, &s));
    ck_assert(s.im && s.re[3] == 1 && s.im[3] == 2);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}
END_TEST

/* The ends by Lanczos, at orders where all values are at hand too. */
static void check_extremes(szg_toeplitz *t, int64_t k, const szg_spectrum *all, double bound) {
    szgi_selection selection = {.n = szg_toeplitz_size(t), .low = k, .high = k};
    szg_spectrum s;
    bool complete;
    ck_szg_ok(szgi_extremes_toeplitz(test_context(), t, &selection, &s, &complete));
    ck_assert(complete && !s.note);
    ck_assert_int_eq(s.count, 2 * k);
    for (int64_t i = 0; i < k; i++) {
        ck_close(s.re[i], all->re[i], bound);
        ck_close(s.re[k + i], all->re[all->count - k + i], bound);
    }
    check_promises(&s, bound);
    ck_close(s.residual, 0, 1e-8);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}

/* Each listed value has a true eigenvalue within its error; rounding of the list itself to come. */
static void check_errors(const szg_spectrum *s, const szg_spectrum *all, double rounding) {
    for (int64_t i = 0; i < s->count; i++) {
        double nearest = INFINITY;
        for (int64_t j = 0; j < all->count; j++)
            nearest = fmin(nearest, fabs(s->re[i] - all->re[j]));
        ck_close(nearest, 0, s->error[i] + rounding);
    }
}

/* ALiBi: four largest and the least are well apart, the next three crowd at 1/2. */
static void check_crowded_end(szg_toeplitz *t, const szg_spectrum *all) {
    szgi_selection selection = {.n = szg_toeplitz_size(t), .low = 4, .high = 4};
    szg_spectrum s;
    bool complete;
    ck_szg_ok(szgi_extremes_toeplitz(test_context(), t, &selection, &s, &complete));
    ck_assert(!complete);
    double bound = weyl(selection.n, all->frobenius);
    check_errors(&s, all, 64 * DBL_EPSILON * all->frobenius);
    ck_close(s.re[0], all->re[0], bound);
    for (int i = 4; i < 8; i++)
        ck_close(s.re[i], all->re[all->count - 8 + i], bound);
    for (int i = 0; i < 8; i++) /* known to rounding where they converged, and not where not */
        ck_assert(i >= 1 && i < 4 ? s.error[i] > bound : s.error[i] < bound);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}

START_TEST(extremes_by_lanczos) {
    const int64_t n = 600;
    double lags[600];
    szg_spectrum all;
    for (int64_t k = 0; k < n; k++)
        lags[k] = pow(0.9, (double)k);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, 0.9), NULL, &all));
    check_extremes(open_symmetric(n, n, lags), 6, &all, weyl(n, 20));
    szg_spectrum_close(&all);
    for (int64_t k = 0; k < n; k++)
        lags[k] = -(double)k;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(n, 1), NULL, &all));
    check_extremes(open_symmetric(n, n, lags), 1, &all, weyl(n, all.frobenius));
    check_crowded_end(open_symmetric(n, n, lags), &all);
    szg_spectrum_close(&all);
    szg_c64 hermitian[3] = {{2, 0}, {0.5, 0.7}, {0, -0.2}};
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), 501, 3, hermitian, &t));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &all));
    check_extremes(t, 3, &all, weyl(501, 5));
    szg_spectrum_close(&all);
}
END_TEST

/* Through the public door, at an order where it takes Lanczos: its values are off by the residual,
 * relative to the largest modulus 3, and by what the products lose (docs/reference/conventions.md):
 * an FFT's 20 (log2(2n) + 2) eps ||a||_1. */
static double found_error(int64_t n, const szg_spectrum *s) {
    return 3 * (s->residual + 20 * (log2(2 * (double)n) + 2) * DBL_EPSILON);
}

START_TEST(range_of_a_large_matrix) {
    const int64_t n = 20000;
    double *lags = get(n, sizeof *lags);
    for (int64_t k = 0; k < n; k++)
        lags[k] = pow(-0.5, (double)k);
    szg_toeplitz *t = open_symmetric(n, n, lags);
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum s, want;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &range, &s));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, -0.5), &range, &want));
    ck_assert_int_eq(s.count, 2);
    ck_close(s.re[0], want.re[0], found_error(n, &s));
    ck_close(s.re[1], want.re[1], found_error(n, &s));
    ck_close(s.frobenius, want.frobenius,
             gamma_of((double)n) * want.frobenius); /* n lags' squares */
    szg_spectrum_close(&s);
    /* Definite: the same two numbers are the extreme singular values. */
    ck_szg_ok(singular_of(test_context(), szg_matrix_toeplitz(t), &range, &s));
    ck_assert_int_eq(s.count, 2);
    ck_close(s.re[0], want.re[1], found_error(n, &s));
    ck_close(s.re[1], want.re[0], found_error(n, &s));
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
    /* Indefinite, shifted by -1: the largest modulus is 2, the least is inside. */
    lags[0] = 0;
    t = open_symmetric(n, n, lags);
    ck_szg_ok(singular_of(test_context(), szg_matrix_toeplitz(t), &range, &s));
    ck_close(s.re[0], want.re[1] - 1, found_error(n, &s));
    ck_assert(isnan(s.re[1]) && strstr(s.note, "least"));
    szg_spectrum_close(&s);
    szg_spectrum_close(&want);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}
END_TEST

static szg_status product(szg_context *context, const void *data, char op, const double *x,
                          double *y) {
    int64_t n = szg_toeplitz_size(data);
    return szg_toeplitz_apply(context, data, op, 1, x, n, y, n);
}

START_TEST(singular_extremes_by_lanczos) {
    const int64_t n = 200;
    double lags[399] = {0}, want[200];
    for (int64_t k = 0; k < n; k++)
        lags[n - 1 + k] = -(double)k; /* causal ALiBi */
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_real(test_context(), n, n, lags, &t));
    oracle_singular(t, want);
    szgi_square_operator l = {.n = n, .apply = product, .data = t};
    szgi_selection selection = {.n = n, .low = 5, .high = 5};
    szg_spectrum s;
    ck_szg_ok(szgi_extremes_singular(test_context(), &l, &selection, &s));
    for (int i = 0; i < 5; i++) {
        ck_close(s.re[i], want[i], weyl(n, szgi_toeplitz_norm_frobenius(t)));
        ck_assert(isnan(s.re[5 + i]));
    }
    ck_assert(strstr(s.note, "least"));
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}
END_TEST

/* A crowded upper end: sigma of the bidiagonal 1, 1/2 accumulate at 3/2 like (pi/n)^2. The value is
 * within the residual, and below the symbol's bound. */
START_TEST(singular_extremes_of_a_crowded_end) {
    const int64_t n = 20000;
    double lags[3] = {0, 1, 0.5};
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_real(test_context(), n, 2, lags, &t));
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum s;
    ck_szg_ok(singular_of(test_context(), szg_matrix_toeplitz(t), &range, &s));
    ck_close(s.re[0], 1.5, 1e-4);
    ck_assert(s.re[0] <= 1.5 * (1 + 1e-12) && s.residual <= 1e-2 && isnan(s.re[1]));
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(large_general_is_refused) {
    szg_toeplitz *t;
    double lags[3] = {1, 0, -1};
    szg_spectrum s;
    ck_szg_ok(szg_toeplitz_open_real(test_context(), 10000000, 2, lags, &t));
    ck_szg_fails(SZG_ENOMEM, "singular values' range",
                 eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &s));
    ck_assert_ptr_null(s.re);
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 10000000, 1, lags, &t));
    szg_spectra_options dense = {SZG_INIT(szg_spectra_options), .dense = true};
    ck_szg_fails(SZG_ENOMEM, "--dense",
                 eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &dense, &s));
    szg_toeplitz_close(&t);
}
END_TEST

/* Coefficients times a power of two: so are the values, rounded once where they are subnormal, and
 * the residual covers that rounding. Both kinds with symmetry and both without. */
static void check_scaled(szg_toeplitz_kind kind, int exponent) {
    enum { N = 12 };
    const double whole[] = {1, -2, 3, 2, 1, 0, -1, 5, 7, 5};
    double lags[10];
    szg_toeplitz *t[2];
    szg_spectrum value[2][2];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 10; k++)
            lags[k] = ldexp(whole[k], i ? exponent : 0);
        lags[1] = kind == SZG_TOEPLITZ_HERMITIAN ? 0 : lags[1]; /* a_0 is real */
        if (kind == SZG_TOEPLITZ_SYMMETRIC)
            ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, 5, lags, &t[i]));
        else if (kind == SZG_TOEPLITZ_HERMITIAN)
            ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), N, 5, (szg_c64 *)lags, &t[i]));
        else if (kind == SZG_TOEPLITZ_REAL)
            ck_szg_ok(szg_toeplitz_open_real(test_context(), N, 3, lags, &t[i]));
        else
            ck_szg_ok(szg_toeplitz_open_complex(test_context(), N, 3, (szg_c64 *)lags, &t[i]));
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t[i]), NULL, &value[i][0]));
        ck_szg_ok(singular_of(test_context(), szg_matrix_toeplitz(t[i]), NULL, &value[i][1]));
        szg_toeplitz_close(&t[i]);
    }
    double grid = ldexp(1, -1075 - exponent); /* half the distance of subnormal numbers */
    for (int s = 0; s < 2; s++) {
        ck_assert_int_eq(value[0][s].count, value[1][s].count);
        for (int64_t i = 0; i < value[0][s].count; i++) {
            /* No symmetry: the eigenvalues' condition is at most 1e3 here, their order is that of
             * the real parts. */
            double want = value[0][s].re[i], got = ldexp(value[1][s].re[i], -exponent);
            ck_close(got, want, grid * 1.000001 + 1e-11 * value[0][s].frobenius);
        }
        double norm = value[0][s].frobenius;
        ck_close(ldexp(value[1][s].frobenius, -exponent), norm, grid + 1e-14 * norm);
        ck_assert(value[1][s].residual >= grid / norm);
        szg_spectrum_close(&value[0][s]);
        szg_spectrum_close(&value[1][s]);
    }
}

START_TEST(tiny_and_huge_coefficients) {
    static const int exponents[] = {-500, -1000, -1060, -1074, 600, 930};
    for (int i = 0; i < 6; i++) {
        check_scaled(SZG_TOEPLITZ_SYMMETRIC, exponents[i]);
        check_scaled(SZG_TOEPLITZ_HERMITIAN, exponents[i]);
        check_scaled(SZG_TOEPLITZ_REAL, exponents[i]);
        check_scaled(SZG_TOEPLITZ_COMPLEX, exponents[i]);
    }
}
END_TEST

/* [[0, 2^-700], [2^700, 0]]: eigenvalues 1 and -1. Without the small entry it is triangular. */
START_TEST(huge_beside_tiny_coefficients) {
    const double lags[3] = {0x1p-700, 0, 0x1p700};
    szg_toeplitz *t;
    szg_spectrum values;
    ck_szg_ok(szg_toeplitz_open_real(test_context(), 2, 2, lags, &t));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), NULL, &values));
    ck_assert_int_eq(values.count, 2);
    /* LAPACK balances by powers of two; a device's solver may be off by 2 eps of the norm. */
    double bound = (test_on_device() ? ldexp(2, 700) : 4) * DBL_EPSILON;
    ck_close(fabs(values.re[0]), 1, bound);
    ck_close(fabs(values.re[1]), 1, bound);
    szg_spectrum_close(&values);
    szg_toeplitz_close(&t);
}
END_TEST

TEST_FILE("toeplitz_spectra") {
    test_before_each(use_tested_backend);
    test_add(suite, "symmetric_against_dense", symmetric_against_dense);
    test_add(suite, "hermitian_against_dense", hermitian_against_dense);
    test_add(suite, "tridiagonal_closed_form", tridiagonal_closed_form);
    test_add(suite, "circulant_closed_form", circulant_closed_form);
    test_add(suite, "large_orders_choose_their_way", large_orders_choose_their_way);
    test_add(suite, "symmetric_interlaces", symmetric_interlaces);
    test_add(suite, "general_closed_form", general_closed_form);
    test_add(suite, "singular_values_of_every_kind", singular_values_of_every_kind);
    test_add(suite, "triangular_is_its_diagonal", triangular_is_its_diagonal);
    test_add(suite, "extremes_by_lanczos", extremes_by_lanczos);
    test_add(suite, "range_of_a_large_matrix", range_of_a_large_matrix);
    test_add(suite, "singular_extremes_by_lanczos", singular_extremes_by_lanczos);
    test_add(suite, "singular_extremes_of_a_crowded_end", singular_extremes_of_a_crowded_end);
    test_add(suite, "large_general_is_refused", large_general_is_refused);
    test_add(suite, "tiny_and_huge_coefficients", tiny_and_huge_coefficients);
    test_add(suite, "huge_beside_tiny_coefficients", huge_beside_tiny_coefficients);
}
