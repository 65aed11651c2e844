/* Kac-Murdock-Szego, ALiBi, rotary kernels: closed forms against dense matrices, invariants, and
 * orders that no dense matrix reaches. */
#include "spectra/dirichlet.h"
#include "spectra_support.h"

enum { ORDERS = 14 };
static const int64_t orders[ORDERS] = {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 33, 40, 97};

/* Roots t are found to 4 eps t; eigenvalues move relatively by t cot(t / 2) <= 2 times as much, the
 * negative one of ALiBi by 2 (u / n) coth(u / n) < 3. */
static const double SECULAR = 12 * DBL_EPSILON;

static void check_kms(int64_t n, double rho) {
    double *lags = get(n, sizeof *lags), *want = get(n, sizeof *want);
    lags[0] = 1;
    for (int64_t k = 1; k < n; k++)
        lags[k] = lags[k - 1] * rho;
    double bound = weyl(n, oracle_toeplitz(n, lags, want));
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, rho), NULL, &s));
    check_values(&s, n, want, bound);
    check_promises(&s, bound);
    ck_assert(s.normal);
    ck_close(s.frobenius, norm_of(n, want), bound * sqrt((double)n));
    ck_close(s.residual, 0, SECULAR);
    szg_spectrum_close(&s);
    ck_assert_ptr_null(s.re);
    szgi_memory_free(want);
    szgi_memory_free(lags);
}

START_TEST(kms_against_dense) {
    const double rho[] = {0,       0.5,  -0.5,        0.9,         -0.99, 1e-300, -1e-17,
                          0x1p-30, 0.99, 1 - 0x1p-30, 1 - 0x1p-53, -1,    1,      -0.0};
    for (int i = 0; i < ORDERS; i++)
        for (size_t j = 0; j < sizeof rho / sizeof *rho; j++)
            check_kms(orders[i], rho[j]);
    szgi_stream stream = {.seed = test_seed(), .purpose = 1};
    for (int64_t i = 0; i < test_trials(30); i++)
        check_kms(1 + szgi_random_below(&stream, (uint64_t)(3 * i), 60),
                  1 - 2 * szgi_random_uniform(&stream, (uint64_t)(3 * i + 1)));
}
END_TEST

/* The inverse of [rho^|i-j|] is tridiagonal with known entries, so that det = (1 - rho^2)^(n-1),
 * and trace of the inverse = (n + (n-2) rho^2) / (1 - rho^2): both see the small eigenvalues, to
 * which the trace is blind. Relative accuracy c eps of each value gives the bounds. */
START_TEST(kms_is_relatively_accurate) {
    const double rho[] = {0.3, 0.9, 0.999999, 1 - 0x1p-40, -0.7};
    for (size_t j = 0; j < sizeof rho / sizeof *rho; j++)
        for (int64_t n = 2; n <= 4096; n *= 8) {
            szg_spectrum s;
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, rho[j]), NULL, &s));
            double logarithm = 0, inverse = 0, q = (1 - fabs(rho[j])) * (1 + fabs(rho[j]));
            for (int64_t i = 0; i < n; i++) {
                logarithm += log(s.re[i]);
                inverse += q / s.re[i];
            }
            double order = (double)n, square = rho[j] * rho[j];
            ck_close(logarithm, (order - 1) * log(q), 64 * order * DBL_EPSILON * (1 - log(q)));
            ck_close(inverse, order + (order - 2) * square, 64 * order * DBL_EPSILON);
            szg_spectrum_close(&s);
        }
}
END_TEST

START_TEST(kms_range) {
    szg_spectrum all, some;
    const int64_t n = 1000;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, 0.9), NULL, &all));
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, 0.9), &range, &some));
    ck_assert_int_eq(some.count, 2);
    ck_assert(some.re[0] == all.re[0] && some.re[1] == all.re[n - 1]);
    szg_spectrum_close(&some);
    szg_spectrum_close(&all);
    /* At any order, inside the symbol's range (1-rho)/(1+rho) .. (1+rho)/(1-rho). */
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms((int64_t)1 << 50, 0.5), &range, &some));
    ck_close(some.re[0], 1.0 / 3, gamma_of(8) / 3); /* the ends but for 1 / n^2, in 8 roundings */
    ck_close(some.re[1], 3, gamma_of(8) * 3);
    ck_assert(isfinite(some.frobenius));
    szg_spectrum_close(&some);
}
END_TEST

static void check_alibi(int64_t n, double slope) {
    double *lags = get(n, sizeof *lags), *want = get(n, sizeof *want);
    for (int64_t k = 0; k < n; k++)
        lags[k] = -slope * (double)k;
    double bound = weyl(n, oracle_toeplitz(n, lags, want));
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(n, slope), NULL, &s));
    check_values(&s, n, want, bound);
    check_promises(&s, bound);
    ck_close(s.frobenius, norm_of(n, want), bound * sqrt((double)n));
    ck_close(s.residual, 0, SECULAR);
    szg_spectrum_close(&s);
    szgi_memory_free(want);
    szgi_memory_free(lags);
}

START_TEST(alibi_against_dense) {
    const double slopes[] = {1, -1, 0, 0.5, 1e-8, 1e8, -3};
    for (int i = 0; i < ORDERS; i++)
        for (size_t j = 0; j < sizeof slopes / sizeof *slopes; j++)
            check_alibi(orders[i], slopes[j]);
}
END_TEST

/* det [|i-j|] = (-1)^(n-1) (n-1) 2^(n-2) (Graham and Pollak 1971), and lambda_min / n^2 of -|i-j|
 * tends to -1 / (2 u^2), u tanh u = 1. */
START_TEST(alibi_determinant_and_limit) {
    szg_spectrum s;
    for (int64_t n = 2; n <= 1024; n *= 2) {
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(n, -1), NULL, &s));
        double logarithm = 0;
        for (int64_t i = 0; i < n; i++)
            logarithm += log(fabs(s.re[i]));
        double want = log((double)n - 1) + (double)(n - 2) * M_LN2;
        ck_close(logarithm, want, 64 * (double)n * DBL_EPSILON);
        ck_assert(n == 2 || s.re[n - 2] < 0);
        ck_assert(s.re[n - 1] > 0);
        szg_spectrum_close(&s);
    }
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    const double n = 1e9;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(1000000000, 1), &range, &s));
    ck_close(s.re[0] / (n * n), -0.34741, 5e-6); /* the digits of docs/explanation/methods.md */
    /* 1 / (1 - cos(pi / n)) / n^2 = 2 / pi^2 + 1 / (6 n^2): what is left is rounding */
    ck_close(s.re[1] / (n * n), 2 / (M_PI * M_PI), gamma_of(16));
    szg_spectrum_close(&s);
}
END_TEST

/* ---- Rotary ---- */

static double kernel(int64_t k, int64_t pairs, const double *theta, int64_t unrotated) {
    double sum = (double)unrotated;
    for (int64_t i = 0; i < pairs; i++)
        sum += 2 * cos((double)k * theta[i]);
    return sum / (2 * (double)pairs + (double)unrotated);
}

static void check_rotary(int64_t n, int64_t pairs, const double *theta, int64_t unrotated,
                         int64_t rank) {
    double *lags = get(n, sizeof *lags), *want = get(n, sizeof *want);
    double largest = 1;
    for (int64_t i = 0; i < pairs; i++)
        largest = fmax(largest, fabs(theta[i]));
    for (int64_t k = 0; k < n; k++)
        lags[k] = kernel(k, pairs, theta, unrotated);
    double norm = oracle_toeplitz(n, lags, want);
    /* The lags of this oracle carry the error k theta eps of their phase. */
    double bound = weyl(n, norm) + (double)(n * n) * largest * DBL_EPSILON;
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_rotary_mean(n, pairs, theta, unrotated),
                             NULL, &s));
    check_values(&s, n, want, bound);
    check_promises(&s, bound);
    ck_assert_int_eq(s.rank, rank);
    ck_assert_int_eq(s.zeros, n - rank);
    ck_assert(s.count == 0 || s.re[0] >= 0);
    szg_spectrum_close(&s);
    szgi_memory_free(want);
    szgi_memory_free(lags);
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

START_TEST(rotary_against_dense) {
    double theta[16];
    for (int i = 0; i < 16; i++)
        theta[i] = pow(10000, -i / 16.0);
    for (int i = 0; i < ORDERS; i++) {
        int64_t n = orders[i];
        for (int64_t pairs = 1; pairs <= 16; pairs += 5)
            check_rotary(n, pairs, theta, 0, least(n, 2 * pairs));
        check_rotary(n, 3, theta, 5, least(n, 7));
        check_rotary(n, 0, theta, 2, 1);
    }
}
END_TEST

START_TEST(rotary_corners) {
    const double equal[] = {0.7, 0.7, -0.7}, zero[] = {0, 0.3}, none[] = {0, 0};
    const double pi[] = {M_PI}, near_pi[] = {M_PI, nextafter(M_PI, 0)};
    const double two_pi[] = {2 * M_PI, M_PI, 0}, near_zero[] = {1e-20, 0, 1e-300};
    const double large[] = {1e6, 12345.678}, close[] = {1, 1 + DBL_EPSILON};
    for (int i = 0; i < ORDERS; i++) {
        int64_t n = orders[i];
        check_rotary(n, 3, equal, 0, least(n, 2));
        check_rotary(n, 2, zero, 0, least(n, 3));
        check_rotary(n, 2, zero, 4, least(n, 3));
        check_rotary(n, 2, none, 0, 1);
        check_rotary(n, 1, pi, 0, least(n, 2));
        check_rotary(n, 2, near_pi, 0, least(n, 4));
        check_rotary(n, 3, two_pi, 0, least(n, 5));
        check_rotary(n, 3, near_zero, 0, least(n, 5));
        check_rotary(n, 2, large, 0, least(n, 4));
        check_rotary(n, 2, close, 0, least(n, 4));
    }
}
END_TEST

START_TEST(atoms_random) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 3};
    for (int64_t trial = 0; trial < test_trials(40); trial++) {
        uint64_t at = (uint64_t)trial * 64;
        int64_t n = 1 + szgi_random_below(&stream, at, 50);
        int64_t count = 1 + szgi_random_below(&stream, at + 1, 12);
        double weight[12], theta[12], lags[64] = {0}, want[64];
        for (int64_t i = 0; i < count; i++) {
            weight[i] = fabs(test_real(&stream, at + 2 + (uint64_t)i));
            theta[i] = 2 * test_real(&stream, at + 20 + (uint64_t)i);
            theta[i] = fabs(theta[i]) > 100 ? 0.5 : theta[i];
            for (int64_t k = 0; k < n; k++)
                lags[k] += weight[i] * cos((double)k * theta[i]);
        }
        double bound = weyl(n, oracle_toeplitz(n, lags, want));
        bound += (double)(n * n) * 200 * DBL_EPSILON * lags[0];
        szg_spectrum s;
        ck_szg_ok(
            eigenvalues_of(test_context(), szg_matrix_cosines(n, count, weight, theta), NULL, &s));
        check_values(&s, n, want, bound);
        szg_spectrum_close(&s);
    }
}
END_TEST

/* D_n in extended precision: the phase n x / 2 doubles bit by bit, reduced each time by 2 pi as a
 * sum of two long doubles, so that its error is some n 2^-64. */
static long double wide_dirichlet(int64_t n, long double x) {
    const long double high = 6.28318530717958647692528676655900577L;
    const long double low = 2 * -5.01655761266833202355732708033e-20L;
    long double phase = 0, step = x / 2;
    for (int bit = 62; bit >= 0; bit--) {
        phase = 2 * phase + (n >> bit & 1 ? step : 0);
        long double turns = floorl(phase / high);
        phase = (phase - turns * high) - turns * low;
    }
    return sinl(phase) / sinl(x / 2);
}

/* A phase of 10^9 radians in doubles is wrong by 10^-7; here no digit may be lost. */
START_TEST(dirichlet_reduces_exactly) {
    const double x[] = {1, 0.5, 0x1p-7, 3, 3.140625, 6.25, -1, 12, 1e-4, 0x1p-40};
    const int64_t n[] = {1, 2, 3, 10, 1000003, 1000000000, 999999999};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t j = 0; j < sizeof x / sizeof *x; j++) {
            double want = (double)wide_dirichlet(n[i], x[j]), scale = 1 / fabs(sin(x[j] / 2));
            double wide_error = (double)n[i] * 0x1p-62 * scale;
            ck_close(szgi_dirichlet(n[i], szgi_angle_of(x[j])), want,
                     DBL_EPSILON * (8 * fabs(want) + 4 * scale) + wide_error);
        }
    /* Close to a multiple of 2 pi: 2 pi as a double is 2.449e-16 short of it. */
    for (int64_t order = 1; order < 1000; order++) {
        double sign = order % 2 ? 1 : -1;
        szgi_angle two_pi = szgi_angle_of(2 * M_PI);
        ck_close(szgi_dirichlet(order, two_pi), sign * (double)order, gamma_of(8) * (double)order);
        ck_close(szgi_dirichlet(order, szgi_angle_sum(two_pi, two_pi)), (double)order,
                 gamma_of(8) * (double)order);
    }
}
END_TEST

/* cos(2^k theta) by libm, whose reduction is right for every double: k and theta up to the limits
 * read the digits of 2 / pi to the last. */
START_TEST(phases_read_all_digits) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 5};
    for (int64_t trial = 0; trial < test_trials(2000); trial++) {
        uint64_t at = (uint64_t)trial * 3;
        int k = (int)szgi_random_below(&stream, at, 62);
        int exponent = (int)szgi_random_below(&stream, at + 1, 160) - 100;
        double theta = ldexp(1 + szgi_random_uniform(&stream, at + 2), exponent);
        ck_close(szgi_angle_cos((int64_t)1 << k, szgi_angle_of(theta)), cos(ldexp(theta, k)),
                 4 * DBL_EPSILON);
    }
}
END_TEST

/* The sum itself, in extended precision, with angles added and subtracted. */
START_TEST(dirichlet_against_sum) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 4};
    for (int64_t trial = 0; trial < test_trials(2000); trial++) {
        uint64_t at = (uint64_t)trial * 3;
        int64_t n = 1 + szgi_random_below(&stream, at, 60);
        double a = test_real(&stream, at + 1), b = test_real(&stream, at + 2);
        if (fabs(a) > 1e3 || fabs(b) > 1e3)
            continue;
        long double minus = 0, plus = 0;
        for (int64_t k = 0; k < n; k++) {
            long double place = k - (n - 1) / 2.0L;
            minus += cosl(((long double)a - b) * place);
            plus += cosl(((long double)a + b) * place);
        }
        szgi_angle x = szgi_angle_of(a), y = szgi_angle_of(b);
        double bound = 16 * DBL_EPSILON * (double)n;
        ck_close(szgi_dirichlet(n, szgi_angle_difference(x, y)), (double)minus, bound);
        ck_close(szgi_dirichlet(n, szgi_angle_sum(x, y)), (double)plus, bound);
        ck_close(szgi_angle_cos(n, x), (double)cosl((long double)n * a), 4 * DBL_EPSILON);
    }
}
END_TEST

/* At two frequencies both Gram matrices are 2 x 2 and known in extended precision. */
START_TEST(rotary_at_huge_orders) {
    const double theta[] = {1, 0x1p-7};
    const int64_t n[] = {1000, 1000003, 1000000000};
    for (int i = 0; i < 3; i++) {
        szg_spectrum s;
        ck_szg_ok(
            eigenvalues_of(test_context(), szg_matrix_rotary_mean(n[i], 2, theta, 0), NULL, &s));
        ck_assert_int_eq(s.count, 4);
        ck_assert_int_eq(s.zeros, n[i] - 4);
        double want[4];
        for (int odd = 0; odd < 2; odd++) {
            long double sign = odd ? -1 : 1, order = (long double)n[i];
            long double a = (order + sign * wide_dirichlet(n[i], 2)) / 4;
            long double b = (order + sign * wide_dirichlet(n[i], 0x1p-6L)) / 4;
            long double c =
                (wide_dirichlet(n[i], 1 - 0x1p-7L) + sign * wide_dirichlet(n[i], 1 + 0x1p-7L)) / 4;
            long double middle = (a + b) / 2, radius = hypotl((a - b) / 2, c);
            want[2 * odd] = (double)(middle - radius);
            want[2 * odd + 1] = (double)(middle + radius);
        }
        for (int j = 0; j < 4; j++) {
            double nearest = INFINITY;
            for (int k = 0; k < 4; k++)
                nearest = fmin(nearest, fabs(want[k] - s.re[j]));
            ck_close(nearest, 0, 8 * DBL_EPSILON * (double)n[i]);
        }
        szg_spectrum_close(&s);
    }
}
END_TEST

START_TEST(rotary_at_largest_order) {
    double theta[64];
    for (int i = 0; i < 64; i++)
        theta[i] = pow(10000, -i / 64.0);
    szg_spectrum s;
    const int64_t n = (int64_t)1 << 62;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_rotary_mean(n, 64, theta, 0), NULL, &s));
    ck_assert_int_eq(s.count, 128);
    /* All nodes are far apart: every eigenvalue is n / 128 up to order 1 / sin. */
    for (int i = 0; i < 128; i++)
        ck_close(s.re[i] / (double)n, 1.0 / 128, gamma_of(128));
    szg_spectrum_close(&s);
    ck_szg_fails(
        SZG_EINVAL, "2^62",
        eigenvalues_of(test_context(), szg_matrix_rotary_mean(n + 1, 64, theta, 0), NULL, &s));
}
END_TEST

/* `dense` forces the oracle, whose answer is LAPACK's and agrees. */
START_TEST(dense_forces_the_oracle) {
    szg_spectra_options dense = {SZG_INIT(szg_spectra_options), .dense = true};
    const int64_t n = 23;
    const double theta[3] = {1, 0.3, 0.01};
    for (int form = 0; form < 3; form++) {
        szg_spectrum fast, slow;
        for (int way = 0; way < 2; way++) {
            szg_spectrum *s = way ? &slow : &fast;
            const szg_spectra_options *options = way ? &dense : NULL;
            ck_szg_ok(form == 0
                          ? eigenvalues_of(test_context(), szg_matrix_kms(n, -0.9), options, s)
                      : form == 1
                          ? eigenvalues_of(test_context(), szg_matrix_distance(n, 0.25), options, s)
                          : eigenvalues_of(test_context(), szg_matrix_rotary_mean(n, 3, theta, 1),
                                           options, s));
        }
        ck_assert_str_eq(szg_method_solver(slow.method), "dense");
        ck_assert_str_ne(szg_method_solver(fast.method), "dense");
        ck_assert_int_eq(slow.count, n);
        check_values(&fast, n, slow.re, weyl(n, fast.frobenius));
        /* n^2 squares, or a sum over n lags of squared cosines; a root halves the relative error */
        ck_close(slow.frobenius, fast.frobenius, gamma_of((double)(n * n)) * fast.frobenius);
        szg_spectrum_close(&fast);
        szg_spectrum_close(&slow);
    }
    szg_spectrum s;
    ck_szg_fails(SZG_ENOMEM, "--dense",
                 eigenvalues_of(test_context(), szg_matrix_kms(1000000000, 0.5), &dense, &s));
}
END_TEST

/* Eigenvalues of a leading principal submatrix interlace (Cauchy). */
START_TEST(closed_forms_interlace) {
    szg_spectrum large, small;
    for (int64_t n = 2; n < 60; n++)
        for (int form = 0; form < 2; form++) {
            double slack = weyl(n, (double)(n * n));
            if (form == 0) {
                ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, 0.8), NULL, &large));
                ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n - 1, 0.8), NULL, &small));
            } else {
                ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(n, 1), NULL, &large));
                ck_szg_ok(
                    eigenvalues_of(test_context(), szg_matrix_distance(n - 1, 1), NULL, &small));
            }
            for (int64_t i = 0; i < n - 1 && small.count == n - 1; i++) {
                ck_assert(large.re[i] <= small.re[i] + slack);
                ck_assert(small.re[i] <= large.re[i + 1] + slack);
            }
            szg_spectrum_close(&large);
            szg_spectrum_close(&small);
        }
}
END_TEST

START_TEST(closed_forms_refuse) {
    szg_context *ctx = test_context();
    szg_spectrum s;
    double theta = 1, nan = NAN, huge = 1e300, minus = -1;
    szg_spectra_options none = {SZG_INIT(szg_spectra_options), .want = (szg_want)9};
    ck_szg_fails(SZG_EINVAL, "order 0", eigenvalues_of(ctx, szg_matrix_kms(0, 0.5), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "rho", eigenvalues_of(ctx, szg_matrix_kms(4, 1.5), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "rho", eigenvalues_of(ctx, szg_matrix_kms(4, NAN), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "unknown part",
                 eigenvalues_of(ctx, szg_matrix_kms(4, 0.5), &none, &s));
    ck_szg_fails(SZG_EINVAL, "order -3", eigenvalues_of(ctx, szg_matrix_distance(-3, 1), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "slope",
                 eigenvalues_of(ctx, szg_matrix_distance(4, INFINITY), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "Frobenius",
                 eigenvalues_of(ctx, szg_matrix_distance(4, 1.7e308), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "at least one",
                 eigenvalues_of(ctx, szg_matrix_rotary_mean(4, 0, &theta, 0), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "negative",
                 eigenvalues_of(ctx, szg_matrix_rotary_mean(4, -1, &theta, 0), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "frequency 0",
                 eigenvalues_of(ctx, szg_matrix_rotary_mean(4, 1, &nan, 0), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "2^60",
                 eigenvalues_of(ctx, szg_matrix_rotary_mean(4, 1, &huge, 0), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "weight 0",
                 eigenvalues_of(ctx, szg_matrix_cosines(4, 1, &minus, &theta), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "missing",
                 eigenvalues_of(ctx, szg_matrix_rotary_mean(4, 1, NULL, 0), NULL, &s));
    ck_szg_fails(SZG_EINVAL, "missing",
                 eigenvalues_of(ctx, szg_matrix_cosines(4, 1, NULL, &theta), NULL, &s));
    ck_szg_fails(SZG_ENOMEM, "ask for the range",
                 eigenvalues_of(ctx, szg_matrix_kms((int64_t)1 << 40, 0.5), NULL, &s));
    ck_assert_ptr_null(s.re);
    /* No atoms at all, or of weight 0: the zero matrix. */
    double zero = 0;
    ck_szg_ok(eigenvalues_of(ctx, szg_matrix_cosines(4, 1, &zero, &theta), NULL, &s));
    ck_assert_int_eq(s.zeros, 4);
    ck_assert_int_eq(s.rank, 0);
    szg_spectrum_close(&s);
}
END_TEST

/* Full rank in exact arithmetic, no digit of the least eigenvalues in doubles: the note says so. */
START_TEST(rotary_below_rounding) {
    const double close[] = {1e-3, 1e-4, 1e-5, 1e-6}, apart[] = {1, 2};
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_rotary_mean(8, 4, close, 0), NULL, &s));
    ck_assert_int_eq(s.rank, 8);
    ck_assert(s.note && strstr(s.note, "below rounding"));
    szg_spectrum_close(&s);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_rotary_mean(9, 4, close, 0), NULL, &s));
    ck_assert(!s.note); /* a true zero */
    szg_spectrum_close(&s);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_rotary_mean(4, 2, apart, 0), NULL, &s));
    ck_assert(!s.note);
    szg_spectrum_close(&s);
}
END_TEST

TEST_FILE("closed_forms") {
    test_before_each(use_tested_backend);
    test_add(suite, "kms_against_dense", kms_against_dense);
    test_add(suite, "kms_is_relatively_accurate", kms_is_relatively_accurate);
    test_add(suite, "kms_range", kms_range);
    test_add(suite, "alibi_against_dense", alibi_against_dense);
    test_add(suite, "alibi_determinant_and_limit", alibi_determinant_and_limit);
    test_add(suite, "rotary_against_dense", rotary_against_dense);
    test_add(suite, "rotary_corners", rotary_corners);
    test_add(suite, "atoms_random", atoms_random);
    test_add(suite, "dirichlet_reduces_exactly", dirichlet_reduces_exactly);
    test_add(suite, "phases_read_all_digits", phases_read_all_digits);
    test_add(suite, "dirichlet_against_sum", dirichlet_against_sum);
    test_add(suite, "rotary_at_huge_orders", rotary_at_huge_orders);
    test_add(suite, "rotary_at_largest_order", rotary_at_largest_order);
    test_add(suite, "dense_forces_the_oracle", dense_forces_the_oracle);
    test_add(suite, "closed_forms_interlace", closed_forms_interlace);
    test_add(suite, "closed_forms_refuse", closed_forms_refuse);
    test_add(suite, "rotary_below_rounding", rotary_below_rounding);
}
