/* Certified ends of spectra against enclosures of Arb, closed forms, and arrays built so that every
 * rounding of the factorisation goes the same way. */
#include "ball/arb.h"
#include "spectra/certified.h"
#include "spectra/dirichlet.h"
#include "certified_support.h"

static szgi_ball_matrix *balls_of(int64_t n, int64_t width, const double *a) {
    szgi_ball_matrix *matrix;
    ck_szg_ok(inertia_matrix(test_context(), n, width, a, &matrix));
    return matrix;
}

static void mirror(int64_t n, int64_t width, double *a) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            for (int64_t part = 0; part < width; part++)
                a[(j * n + i) * width + part] = (part ? -1 : 1) * a[(i * n + j) * width + part];
}

/* ---- Checks ---- */

/* The defect of the factorisation is k u sum (j + 5) d_j <= k u n (n + 11) / 2 max d_j, and a pivot
 * is at most 2 ||A|| and the margin; the search starts at most 16 (n + 4) u ||A|| away where LAPACK
 * is backward stable, and rounded entries of halves add 3.1 u sum_k |t_k|. Subnormal numbers lose
 * their own distance. */
static double width_bound(int64_t n, double norm, double wiener) {
    double order = (double)n + 8;
    return UNIT * (2.83 * order * order + 16 * order) * norm + 2 * 3.2 * UNIT * wiener +
           20 * 0x1p-1074;
}

static void check_widths(const szg_spectrum *s, double bound) {
    ck_assert_msg(s->min.hi - s->min.lo <= bound, "%.17g wide, not %.17g", s->min.hi - s->min.lo,
                  bound);
    ck_assert_msg(s->max.hi - s->max.lo <= bound, "%.17g wide, not %.17g", s->max.hi - s->max.lo,
                  bound);
}

/* The listed values are the last of `truth`, behind zeros that the structure gives. LAPACK's
 * residual is 32 n eps ||A|| at most; its bound by row and column sums may be sqrt(n) times as
 * large. Products with tails of 22 bits below n = 64 err by less than eps ||A||. */
static void check_each(const szg_spectrum *s, int64_t n, double norm, double wiener,
                       const szg_interval *truth) {
    double order = (double)n + 8;
    double bound = 2 * (32 + 1) * order * sqrt(order) * DBL_EPSILON * norm +
                   2 * 3.2 * UNIT * wiener + 20 * 0x1p-1074;
    ck_assert_int_eq(s->count + s->zeros, n);
    for (int64_t i = 0; i < s->count; i++) {
        szg_interval bounds = {s->lo[i], s->hi[i]};
        ck_meets(bounds, truth[s->zeros + i]);
        ck_assert_msg(s->hi[i] - s->lo[i] <= bound, "%.17g wide, not %.17g", s->hi[i] - s->lo[i],
                      bound);
        ck_assert(i == 0 || (s->lo[i] >= s->lo[i - 1] && s->hi[i] >= s->hi[i - 1]));
    }
}

static void check_ends(const szg_spectrum *s, int64_t n, const szgi_ball_matrix *balls) {
    szg_interval *truth = get(n, sizeof *truth);
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), balls, truth));
    ck_assert(s->certified);
    ck_meets(s->min, truth[0]);
    ck_meets(s->max, truth[n - 1]);
    if (s->lo)
        check_each(s, n, s->frobenius, 2 * s->frobenius * sqrt((double)n), truth);
    szgi_memory_free(truth);
}

/* How many of the bounds the oracle could decide. */
static int64_t check_inertia(const szg_spectrum *s, const szgi_ball_matrix *balls) {
    int64_t decided = 0;
    ck_assert_msg(inertia_meets(test_context(), s, balls, &decided), "a bound misses");
    return decided;
}

/* ---- Arrays against Arb ---- */

static void check_array(family kind, int64_t n, int64_t width) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 40, .step = (uint32_t)(kind * 99 + n)};
    double *a = get(n * n * width, sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            for (int part = 0; part < width; part++)
                a[(i * n + j) * width + part] = entry(kind, &stream, n, i, j, part);
    mirror(n, width, a);
    szg_spectrum s;
    szg_matrix matrix =
        width == 1 ? szg_matrix_symmetric(n, a, n) : szg_matrix_hermitian(n, (szg_c64 *)a, n);
    ck_szg_ok(eigenvalues_of(test_context(), matrix, &certified, &s));
    szgi_ball_matrix *balls = balls_of(n, width, a);
    check_ends(&s, n, balls);
    ck_assert(s.lo != NULL);
    check_inertia(&s, balls); /* sees what intervals of doubles hide: rounded subnormal numbers */
    check_widths(&s, width_bound(n, s.frobenius, 0));
    szgi_ball_matrix_close(&balls);
    szg_spectrum_close(&s);
    szgi_memory_free(a);
}

START_TEST(arrays_against_arb) {
    const int64_t orders[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 33};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (int64_t width = 1; width <= 2; width++)
            check_array((family)_i, orders[i], width);
    check_array((family)_i, 64, 1);
}
END_TEST

/* LAPACK and the proof read the lower triangle, the matrix has both. Long doubles suffice: bounds
 * are some units in the last place of doubles wide. */
static void check_nearly_symmetric(const double a[4]) {
    szg_spectrum s;
    szg_interval least, most;
    const long double half = ((long double)a[0] - a[3]) / 2,
                      middle = ((long double)a[0] + a[3]) / 2,
                      root = sqrtl(half * half + (long double)a[1] * a[2]),
                      det = (long double)a[0] * a[3] - (long double)a[1] * a[2];
    long double squares = 0;
    for (int i = 0; i < 4; i++)
        squares += (long double)a[i] * a[i];
    const long double sigma = sqrtl((squares + sqrtl(squares * squares - 4 * det * det)) / 2),
                      slack = 32 * LDBL_EPSILON * sigma;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_dense(2, 2, a, 2), &certified, &s));
    ck_assert(s.certified && s.method == SZG_METHOD_DENSE_SYMMETRIC);
    ck_assert(s.lo[0] - slack <= middle - root && middle - root <= s.hi[0] + slack);
    ck_assert(s.lo[1] - slack <= middle + root && middle + root <= s.hi[1] + slack);
    ck_assert(s.min.lo - slack <= middle - root && middle - root <= s.min.hi + slack);
    ck_assert(s.max.lo - slack <= middle + root && middle + root <= s.max.hi + slack);
    ck_assert(szgi_spectrum_moduli(&s, &least, &most));
    ck_assert(most.lo - slack <= sigma && sigma <= most.hi + slack);
    ck_assert(least.lo - slack <= fabsl(det) / sigma && fabsl(det) / sigma <= least.hi + slack);
    szg_spectrum_close(&s);
}

START_TEST(arrays_that_are_nearly_symmetric) {
    const double off = 1 + 60 * DBL_EPSILON, singular[4] = {1, 1, off, off};
    szgi_stream stream = {.seed = test_seed(), .purpose = 48};
    check_nearly_symmetric(singular);
    for (int64_t trial = 0; trial < test_trials(200); trial++) {
        double x[4], a[4];
        for (uint64_t i = 0; i < 4; i++)
            x[i] = szgi_random_normal(&stream, (uint64_t)trial * 4 + i);
        if (trial % 2) /* rank 1, but for rounding */
            x[2] = x[1] * x[1] / x[0];
        a[0] = x[0];
        a[2] = x[1];
        a[1] = x[1] * (1 + 16 * fabs(x[3]) * DBL_EPSILON);
        a[3] = x[2];
        if (16 * fabs(x[3]) < 60)
            check_nearly_symmetric(a);
    }
}
END_TEST

/* ---- Toeplitz matrices against Arb ---- */

static void toeplitz_array(const szg_toeplitz *t, double *a) {
    int64_t n = szg_toeplitz_size(t);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            szg_c64 value = szg_toeplitz_at(t, i - j);
            a[(i * n + j) * 2] = value.re;
            a[(i * n + j) * 2 + 1] = value.im;
        }
}

static szg_toeplitz *toeplitz_of(family kind, int64_t n, int64_t width, uint32_t step) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 41, .step = step};
    szg_toeplitz *t;
    double *lags = get(2 * n, sizeof *lags);
    for (int64_t k = 0; k < n; k++)
        for (int part = 0; part < width; part++)
            lags[k * width + part] = entry(kind, &stream, n, k, 0, part);
    if (width == 2)
        lags[1] = 0;
    ck_szg_ok(width == 1 ? szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t)
                         : szg_toeplitz_open_hermitian(test_context(), n, n, (szg_c64 *)lags, &t));
    szgi_memory_free(lags);
    return t;
}

START_TEST(toeplitz_against_arb) {
    const int64_t orders[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 25, 34};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (int64_t width = 1; width <= 2; width++) {
            int64_t n = orders[i];
            szg_toeplitz *t = toeplitz_of((family)_i, n, width, (uint32_t)(n * 9 + _i));
            double *a = get(2 * n * n, sizeof *a);
            toeplitz_array(t, a);
            szg_spectrum s;
            ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &certified, &s));
            szgi_ball_matrix *balls = balls_of(n, 2, a);
            check_ends(&s, n, balls);
            ck_assert(s.lo != NULL);
            check_widths(&s, width_bound(n, s.frobenius, 2 * szgi_toeplitz_norm_wiener(t)));
            szgi_ball_matrix_close(&balls);
            szg_spectrum_close(&s);
            szg_toeplitz_close(&t);
            szgi_memory_free(a);
        }
}
END_TEST

/* ---- Constants of the proof ---- */

/* B, negated: `columns` pivots of 2^-32 with small entries below, then [[1 + 2 u', -1], [-1, 1 + 2
 * u']], u' = u. In each entry of that block every product, 0.98 u, is lost when it is subtracted by
 * itself, so that the factorisation completes. The exact Schur complement has the value
 * u' (2 - 1.96 columns) at (1, 1)/sqrt 2, where the bound allows for 2 u (columns + 7): a constant
 * below 0.98 of it would be refuted. Complex entries x (1 + i) lose two products of 0.98 u each, of
 * 2.83 that are allowed for. */
static void check_sharp(int64_t columns, int64_t width) {
    const double pivot = 0x1p-16, small = sqrt(0.98 * UNIT);
    int64_t n = columns + 2;
    double *a = get(n * n * width, sizeof *a), *work = get(n * n * width, sizeof *work);
    for (int64_t k = 0; k < columns; k++) {
        a[(k * n + k) * width] = -pivot * pivot;
        for (int64_t i = columns; i < n; i++)
            for (int part = 0; part < width; part++)
                a[(i * n + k) * width + part] = -small * pivot;
    }
    a[(columns * n + columns) * width] = a[((n - 1) * n + n - 1) * width] = -1 - DBL_EPSILON;
    a[((n - 1) * n + columns) * width] = 1;
    szg_context *context = oracle_context("reference"); /* subtracts one product after the other */
    const szgi_array_rows rows = {a, n * width, width, 1, 1};
    const szgi_block block = {.n = n, .width = width, .row = szgi_array_row, .data = &rows};
    const szgi_end_search search = {.sign = 1, .guess = 0, .margin = 0};
    szg_interval end, *truth = get(n, sizeof *truth);
    ck_assert_int_eq(szgi_block_end(context, &block, &search, work, &end), SZG_OK);
    szgi_ball_matrix *balls = balls_of(n, width, a);
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), balls, truth));
    /* The case is a case only if the factorisation hides a positive eigenvalue of A. */
    ck_assert_msg(truth[n - 1].lo > 0.9 * (double)(width * (columns - 2)) * 1.96 * UNIT, "%g",
                  truth[n - 1].lo);
    ck_meets(end, truth[n - 1]);
    szgi_ball_matrix_close(&balls);
    szgi_memory_free(truth), szgi_memory_free(a), szgi_memory_free(work);
}

START_TEST(constants_are_needed) {
    for (int64_t columns = 16; columns <= 62; columns += 23)
        for (int64_t width = 1; width <= 2; width++)
            check_sharp(columns, width);
}
END_TEST

/* An array that differs from the matrix by error I at most: both bounds give way. */
START_TEST(errors_of_entries_widen_both_bounds) {
    const double a[] = {1, 0, 0.25, 2};
    double work[4];
    const szgi_array_rows rows = {a, 2, 1, 1, 1};
    szgi_block block = {.n = 2, .width = 1, .row = szgi_array_row, .data = &rows};
    const szgi_end_search search = {.sign = -1, .guess = 0.94, .margin = 0x1p-40};
    szg_interval exact, wide;
    ck_szg_ok(szgi_block_end(test_context(), &block, &search, work, &exact));
    block.error = 0x1p-20;
    ck_szg_ok(szgi_block_end(test_context(), &block, &search, work, &wide));
    ck_assert(wide.lo <= exact.lo - 0x1p-20 && wide.lo >= exact.lo - 0x1.01p-20);
    ck_assert(wide.hi >= exact.hi + 0x1p-20 && wide.hi <= exact.hi + 0x1.01p-20);
}
END_TEST

/* A guess too far inside is not proved: nothing is returned. */
START_TEST(wrong_eigenvalues_are_refused) {
    const double a[] = {1, 0, 0, 2};
    double work[4];
    const szgi_array_rows rows = {a, 2, 1, 1, 1};
    const szgi_block block = {.n = 2, .width = 1, .row = szgi_array_row, .data = &rows};
    const szgi_end_search search = {.sign = 1, .guess = 1, .margin = 1e-9};
    szg_interval end;
    ck_szg_fails(SZG_ENOCONV, "no proof that the computed eigenvalue 1 is the largest one",
                 szgi_block_end(test_context(), &block, &search, work, &end));
}
END_TEST

/* ---- Large orders, by closed forms ---- */

static void check_large(szg_toeplitz *t, szg_interval least, szg_interval largest) {
    int64_t n = szg_toeplitz_size(t);
    szg_spectra_options options = certified;
    options.want = SZG_WANT_RANGE;
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &options, &s));
    ck_meets(s.min, least);
    ck_meets(s.max, largest);
    check_widths(&s, width_bound(n, szgi_toeplitz_norm_wiener(t), szgi_toeplitz_norm_wiener(t)));
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}

static szg_interval around(double x, double relative) {
    return (szg_interval){x - relative * fabs(x), x + relative * fabs(x)};
}

/* 2^-|k|, exact numbers; the closed form's relative error is its residual. [1, 0, 1]: 2 cos(pi / (n
 * + 1)), an angle of three roundings and a cosine. */
static void check_closed(int64_t n) {
    double *lags = get(n, sizeof *lags);
    szg_toeplitz *t;
    szg_spectrum s;
    for (int64_t k = 0; k < n; k++)
        lags[k] = ldexp(1, (int)-k);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(n, 0.5), NULL, &s));
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t));
    check_large(t, around(s.re[0], gamma_of(32)), around(s.re[n - 1], gamma_of(32)));
    double end = 2 * cos(M_PI / (double)(n + 1));
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, 2, (double[]){0, 1}, &t));
    check_large(t, around(-end, gamma_of(8)), around(end, gamma_of(8)));
    szg_spectrum_close(&s);
    szgi_memory_free(lags);
}

/* Every eigenvalue of 2^-|k| within 1e-12 of the norm, which is below 3. */
START_TEST(every_value_of_a_large_order) {
    enum { N = 1024 };
    double lags[N];
    szg_toeplitz *t;
    szg_spectrum s, closed;
    for (int k = 0; k < N; k++)
        lags[k] = ldexp(1, -k);
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, N, lags, &t));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(N, 0.5), NULL, &closed));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &certified, &s));
    ck_assert(s.lo && s.count == N);
    for (int k = 0; k < N; k++) {
        ck_meets(((szg_interval){s.lo[k], s.hi[k]}), around(closed.re[k], gamma_of(32)));
        ck_assert_msg(s.hi[k] - s.lo[k] <= 3e-12, "%g wide", s.hi[k] - s.lo[k]);
    }
    szg_spectrum_close(&s), szg_spectrum_close(&closed);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(closed_forms_of_large_orders) {
    check_closed(1023);
    check_closed(1024);
    /* Beyond 2048 the ends come from Lanczos; shortened runs take less. */
    check_closed(test_trials(4) < 4 ? 2304 : 8192);
}
END_TEST

/* ---- Kernels whose entries are not doubles ---- */

/* The symmetric Toeplitz matrix of the lags, as balls. */
static szgi_ball_matrix *toeplitz_balls(int64_t n, arb_srcptr lag) {
    szgi_ball_matrix *matrix;
    ck_szg_ok(szgi_ball_matrix_open(test_context(), n, n, BITS, &matrix));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            acb_set_arb(szgi_ball_matrix_entry(matrix, i, j), lag + (i > j ? i - j : j - i));
    return matrix;
}

/* Both ends of the closed form, a unit in the last place wide or two. */
static void check_closed_kernel(szg_matrix matrix, arb_srcptr lag) {
    szg_spectrum s;
    szg_interval *truth = get(matrix.rows, sizeof *truth);
    ck_szg_ok(eigenvalues_of(test_context(), matrix, &certified, &s));
    szgi_ball_matrix *balls = toeplitz_balls(matrix.rows, lag);
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), balls, truth));
    ck_assert(s.lo || s.zeros == s.n);
    for (int64_t i = 0; i < s.count; i++) {
        ck_meets(((szg_interval){s.lo[i], s.hi[i]}), truth[s.zeros + i]);
        ck_close(s.lo[i], s.hi[i], 2 * DBL_EPSILON * fabs(s.lo[i]));
    }
    szgi_memory_free(truth);
    check_ends(&s, matrix.rows, balls);
    ck_close(s.min.lo, s.min.hi, 2 * DBL_EPSILON * fabs(s.min.lo));
    ck_close(s.max.lo, s.max.hi, 2 * DBL_EPSILON * fabs(s.max.lo));
    szgi_ball_matrix_close(&balls);
    szg_spectrum_close(&s);
}

START_TEST(closed_forms_against_arb) {
    const double numbers[] = {0.5, -0.9, 0.1, 1 - 0x1p-40, 0x1p-300, 1, -1, 0};
    for (int64_t n = 1; n <= 33; n += n < 4 ? 1 : 7)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            arb_ptr lag = _arb_vec_init(n);
            for (int64_t k = 0; k < n; k++) {
                arb_set_d(lag + k, numbers[i]);
                arb_pow_ui(lag + k, lag + k, (ulong)k, BITS);
            }
            check_closed_kernel(szg_matrix_kms(n, numbers[i]), lag);
            for (int64_t k = 0; k < n; k++) {
                arb_set_d(lag + k, numbers[i]);
                arb_mul_si(lag + k, lag + k, -k, BITS);
            }
            check_closed_kernel(szg_matrix_distance(n, numbers[i]), lag);
            _arb_vec_clear(lag, n);
        }
}
END_TEST

/* Few and many atoms beside n: Gram matrices and halves; a constant, equal and opposite angles,
 * weights of every size, an angle far beyond 2 pi. */
static int64_t take_cosines(uint32_t step, double *weight, double *theta) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 44, .step = step};
    int64_t count = 1 + szgi_random_below(&stream, 0, 6);
    for (int64_t t = 0; t < count; t++) {
        uint64_t at = 8 + 4 * (uint64_t)t;
        weight[t] = ldexp(1 + szgi_random_uniform(&stream, at),
                          (int)szgi_random_below(&stream, at + 1, step % 5 == 4 ? 900 : 8) - 450);
        theta[t] = 4 * szgi_random_uniform(&stream, at + 2) - 2;
        if (t > 0 && szgi_random_below(&stream, at + 3, 4) == 0)
            theta[t] = step % 2 ? theta[t - 1] : -theta[t - 1];
    }
    if (step % 3 == 0)
        theta[0] = 0;
    if (step % 7 == 0)
        theta[count - 1] = 0x1.23456789abcdep59;
    return count;
}

static void cosine_lags(int64_t n, int64_t count, const double *weight, const double *theta,
                        arb_ptr lag) {
    arb_t term, factor;
    arb_init(term), arb_init(factor);
    for (int64_t k = 0; k < n; k++)
        for (int64_t t = 0; t < count; t++) {
            arb_set_d(term, theta[t]);
            arb_mul_si(term, term, k, BITS);
            arb_cos(term, term, BITS);
            arb_set_d(factor, weight[t]);
            arb_addmul(lag + k, term, factor, BITS);
        }
    arb_clear(factor), arb_clear(term);
}

/* An end is n (n + 11) u / 2 of Gram's diagonal wide, whose trace is that of the matrix. */
static void check_cosines(uint32_t step, int64_t n) {
    double weight[8], theta[8], sum = 0;
    int64_t count = take_cosines(step, weight, theta);
    for (int64_t t = 0; t < count; t++)
        sum += weight[t];
    arb_ptr lag = _arb_vec_init(n);
    cosine_lags(n, count, weight, theta, lag);
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_cosines(n, count, weight, theta),
                             &certified, &s));
    szgi_ball_matrix *balls = toeplitz_balls(n, lag);
    if (s.zeros == 0) {
        check_ends(&s, n, balls);
    } else { /* Arb's enclosure of the zeros is wider than the point */
        szg_interval *truth = get(n, sizeof *truth);
        ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), balls, truth));
        ck_assert(s.certified && s.min.lo == 0 && s.min.hi == 0);
        ck_meets(s.max, truth[n - 1]);
        check_each(&s, n, (double)n * sum, (double)(2 * n) * sum, truth);
        szgi_memory_free(truth);
    }
    ck_assert(s.min.lo >= 0);
    check_widths(&s, width_bound(n < 8 ? 8 : n, (double)n * sum, (double)(2 * n) * sum));
    szgi_ball_matrix_close(&balls);
    szg_spectrum_close(&s);
    _arb_vec_clear(lag, n);
}

/* A constant part beside distinct angles: every eigenvalue has bounds. */
START_TEST(cosines_with_a_constant) {
    const double theta[] = {0.3, 1.1};
    szg_matrix matrix = szg_matrix_rotary_mean(12, 2, theta, 3);
    arb_ptr lag = _arb_vec_init(12);
    const double weight[] = {2.0 / 7, 2.0 / 7, 3.0 / 7}, all[] = {0.3, 1.1, 0};
    cosine_lags(12, 3, weight, all, lag);
    szgi_ball_matrix *balls = toeplitz_balls(12, lag);
    szg_interval truth[12];
    szg_spectrum s;
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), balls, truth));
    ck_szg_ok(eigenvalues_of(test_context(), matrix, &certified, &s));
    ck_assert(s.certified && s.lo && s.count == 5);
    check_each(&s, 12, 12, 24, truth);
    szg_spectrum_close(&s);
    szgi_ball_matrix_close(&balls);
    _arb_vec_clear(lag, 12);
}
END_TEST

START_TEST(cosines_against_arb) {
    const int64_t orders[] = {1, 2, 3, 5, 6, 9, 12, 20};
    for (uint32_t step = 0; step < 42; step++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
            check_cosines(step, orders[i]);
}
END_TEST

/* One atom has the eigenvalues w (n +- D_n(2 theta)) / 2; D_n errs by 8 eps |D| + 4 eps / sin. */
/* The frequencies of RoPE, base 10^4. */
static void take_rotary(int64_t pairs, double *theta) {
    for (int64_t t = 0; t < pairs; t++)
        theta[t] = pow(1e4, -(double)t / (double)pairs);
}

/* sum_t cos(k theta_t) / pairs, each cosine as two exponentials, not halved. */
static szgi_ball_matrix *rotary_balls(int64_t n, int64_t pairs, const double *theta) {
    szgi_ball_matrix *balls;
    ck_szg_ok(szgi_ball_matrix_open(test_context(), n, n, 1500, &balls));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t t = 0; t < 2 * pairs; t++) {
                szgi_phase phase = szgi_phase_radians(theta[t / 2]);
                ck_szg_ok(szgi_ball_matrix_add_polar(test_context(), balls, i, j,
                                                     0.5 / (double)pairs, t % 2 ? i - j : j - i,
                                                     &phase));
            }
    return balls;
}

/* Sylvester's law of inertia on the whole matrix: nothing below the interval, one below its end. */
START_TEST(least_of_full_rank_by_inertia) {
    double theta[8];
    take_rotary(8, theta);
    for (int64_t n = 11; n <= 16; n++) {
        szg_spectrum s;
        int64_t below, above;
        ck_szg_ok(
            eigenvalues_of(test_context(), szg_matrix_rotary_mean(n, 8, theta, 0), &certified, &s));
        ck_assert(s.certified && s.min.lo > 0 && s.min.hi <= s.min.lo * (1 + 1e-3));
        ck_assert(s.lo[0] == s.min.lo && s.hi[0] == s.min.hi);
        szgi_ball_matrix *balls = rotary_balls(n, 8, theta);
        ck_szg_ok(szgi_ball_matrix_inertia(test_context(), balls, s.min.lo * (1 - 1e-12), &below,
                                           &above));
        ck_assert_int_eq(below, 0);
        ck_szg_ok(szgi_ball_matrix_inertia(test_context(), balls, s.min.hi * (1 + 1e-12), &below,
                                           &above));
        ck_assert_int_eq(below, 1);
        szgi_ball_matrix_close(&balls);
        szg_spectrum_close(&s);
    }
}
END_TEST

/* rope:dim=64 at order 64: an interval from exact arithmetic elsewhere, by traces of the inverse;
 * also where nobody asks for a proof. */
START_TEST(least_of_full_rank_far_below_rounding) {
    double theta[32];
    take_rotary(32, theta);
    const szg_spectra_options cheap = {SZG_INIT(szg_spectra_options), .certify = SZG_CERTIFY_CHEAP};
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_rotary_mean(64, 32, theta, 0), &cheap, &s));
    ck_assert(s.certified && s.min.lo <= s.min.hi);
    ck_assert(log10(s.min.lo) >= -280.4 && log10(s.min.hi) <= -278.5);
    ck_assert(s.min.hi <= s.min.lo * (1 + 1e-10));
    szg_spectrum_close(&s);
}
END_TEST

START_TEST(cosines_of_long_sequences) {
    const double theta = 0x1.921fb54442d18p-30, weight = 3;
    for (int64_t n = 1000; n <= 1000000000000; n *= 1000) {
        szg_spectrum s;
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_cosines(n, 1, &weight, &theta),
                                 &certified, &s));
        double d = fabs(szgi_dirichlet(n, szgi_angle_of(2 * theta)));
        double slack = weight * (8 * d + 4 / sin(theta) + (double)n) * DBL_EPSILON;
        double want = weight * ((double)n + d) / 2;
        ck_assert(s.min.lo == 0 && s.min.hi == 0);
        ck_meets(s.max, ((szg_interval){want - slack, want + slack}));
        check_widths(&s, 100 * UNIT * weight * (double)n);
        szg_spectrum_close(&s);
    }
}
END_TEST

/* ---- Gram matrices ---- */

/* B B^T as balls, whose products are exact but for 2^-256. */
static szgi_ball_matrix *gram_balls(int64_t n, int64_t d, const double *b) {
    szgi_ball_matrix *left, *right, *product;
    ck_szg_ok(szgi_ball_matrix_open(test_context(), n, d, BITS, &left));
    ck_szg_ok(szgi_ball_matrix_open(test_context(), d, n, BITS, &right));
    ck_szg_ok(szgi_ball_matrix_open(test_context(), n, n, BITS, &product));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            ck_szg_ok(szgi_ball_matrix_set(test_context(), left, i, j, (szg_c64){b[i * d + j], 0}));
    ck_szg_ok(szgi_ball_matrix_apply(test_context(), SZGI_BALL_MATRIX_ADJOINT, right, left, NULL));
    ck_szg_ok(
        szgi_ball_matrix_apply(test_context(), SZGI_BALL_MATRIX_MULTIPLY, product, left, right));
    szgi_ball_matrix_close(&left), szgi_ball_matrix_close(&right);
    return product;
}

/* Beyond the rank the least eigenvalue is 0, a point unless A is a copy of B. */
static void check_gram(family kind, int64_t n, int64_t d) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 45, .step = (uint32_t)(n * 99 + d)};
    double *b = get(n * d, sizeof *b), *copy = get(n * d, sizeof *b);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            copy[i * d + j] = b[i * d + j] = entry(kind, &stream, n + d, i, j, 0);
    szg_factored f = {.n = n, .d = d, .a = b, .lda = d, .b = b, .ldb = d};
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&f), &certified, &s));
    szgi_ball_matrix *balls = gram_balls(n, d, b);
    szg_interval *truth = get(n, sizeof *truth);
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), balls, truth));
    ck_assert(s.certified && s.min.lo >= 0 && (d >= n || s.min.hi == 0));
    ck_meets(s.min, truth[0]);
    ck_meets(s.max, truth[n - 1]);
    check_widths(&s, width_bound(n > d ? n : d, s.frobenius, s.frobenius * sqrt((double)n)));
    for (int64_t i = 0; s.lo && i < s.count; i++)
        ck_meets(((szg_interval){s.lo[i], s.hi[i]}), truth[n - s.count + i]);
    ck_assert(s.lo || s.frobenius == 0);
    szg_spectrum_close(&s);
    f.a = copy; /* then B is known up to rounding alone */
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&f), &certified, &s));
    ck_assert(s.certified);
    ck_meets(s.min, truth[0]);
    ck_meets(s.max, truth[n - 1]);
    szg_spectrum_close(&s);
    szgi_ball_matrix_close(&balls);
    szgi_memory_free(truth), szgi_memory_free(copy), szgi_memory_free(b);
}

START_TEST(gram_matrices_against_arb) {
    const family kinds[] = {RANDOM, GRADED, SINGULAR, INTEGER};
    const int64_t sizes[] = {1, 2, 5, 12, 17};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                check_gram(kinds[k], sizes[i], sizes[j]);
}
END_TEST

/* All entries b: n d b^2 and zeros. Squares underflow, and the enclosure has the true value. */
START_TEST(gram_matrices_that_underflow) {
    enum { ORDER = 5, WIDTH = 2 };
    const double sizes[] = {0x1p-530, 0x1p-700, DBL_TRUE_MIN};
    for (int k = 0; k < 3; k++) {
        double b[ORDER * WIDTH];
        szg_spectrum s;
        for (int i = 0; i < ORDER * WIDTH; i++)
            b[i] = sizes[k];
        szg_factored f = {.n = ORDER, .d = WIDTH, .a = b, .lda = WIDTH, .b = b, .ldb = WIDTH};
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&f), &certified, &s));
        ck_assert(s.certified && s.min.lo == 0 && s.min.hi == 0);
        ck_assert(s.max.lo <= 10 * sizes[k] * sizes[k] && s.max.hi > 0);
        ck_assert_double_ge(s.max.hi, 10 * sizes[k] * sizes[k]);
        szg_spectrum_close(&s);
    }
}
END_TEST

/* ---- What is asked for ---- */

static void check_cheap(szg_toeplitz *t, szg_want want, szg_method method, bool proved) {
    szg_spectra_options cheap = certified;
    szg_spectrum s;
    cheap.certify = SZG_CERTIFY_CHEAP;
    cheap.want = want;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &cheap, &s));
    ck_assert_int_eq(s.method, method);
    ck_assert(s.certified == proved);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}

/* Points cost nothing; arrays are cheap from order 3072 on, where the solver takes all values. */
START_TEST(cheap_proofs_alone) {
    const szg_c64 turned[] = {{2, 0}, {0, 1}};
    const double lags[] = {2, -1};
    szg_context *context = test_context();
    szg_toeplitz *t;
    szg_spectrum s;
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 12, 1, lags, &t));
    check_cheap(t, SZG_WANT_ALL, SZG_METHOD_DIAGONAL, true);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 12, 2, lags, &t));
    check_cheap(t, SZG_WANT_ALL, SZG_METHOD_HALVES, false);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 3072, 2, lags, &t));
    check_cheap(t, SZG_WANT_RANGE, SZG_METHOD_LANCZOS, false);
    ck_szg_ok(szg_toeplitz_open_hermitian(context, 3072, 2, turned, &t));
    check_cheap(t, SZG_WANT_ALL, SZG_METHOD_MAPPED, true);
    ck_szg_ok(szg_toeplitz_open_symmetric(context, 12, 2, lags, &t));
    ck_szg_ok(eigenvalues_of(context, szg_matrix_toeplitz(t), NULL, &s));
    ck_assert(!s.certified);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
    szg_spectra_options unknown = certified;
    unknown.certify = 9;
    ck_szg_fails(SZG_EINVAL, "unknown extent of certified ends: 9",
                 eigenvalues_of(context, szg_matrix_zero(3), &unknown, &s));
}
END_TEST

/* No rounding at all: the ends are points. */
START_TEST(exact_ends_are_points) {
    const double lag = -3, zeros[4] = {0};
    szg_toeplitz *t;
    szg_spectrum s;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 5, 1, &lag, &t));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &certified, &s));
    ck_assert(s.certified && s.min.lo == -3 && s.min.hi == -3 && s.max.lo == -3 && s.max.hi == -3);
    ck_assert(s.lo[0] == -3 && s.hi[4] == -3);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_zero(3), &certified, &s));
    ck_assert(s.certified && s.min.lo == 0 && s.max.hi == 0);
    szg_spectrum_close(&s);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_dense(2, 2, zeros, 2), &certified, &s));
    ck_assert(s.certified && s.min.lo == 0 && s.max.hi == 0);
    szg_spectrum_close(&s);
}
END_TEST

static double *random_symmetric(int64_t n) {
    double *a = new_test_reals(43, 0, n * n);
    mirror(n, 1, a);
    return a;
}

START_TEST(failed_allocations) {
    szg_toeplitz *t = toeplitz_of(RANDOM, 12, 1, 1), *z = toeplitz_of(RANDOM, 9, 2, 2);
    double *a = random_symmetric(5);
    szg_spectrum s = {0};
    ck_survives_failed_allocations(
        5, (szg_spectrum_close(&s),
            eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &certified, &s)));
    ck_survives_failed_allocations(
        5, (szg_spectrum_close(&s),
            eigenvalues_of(test_context(), szg_matrix_toeplitz(z), &certified, &s)));
    ck_survives_failed_allocations(
        4, (szg_spectrum_close(&s),
            eigenvalues_of(test_context(), szg_matrix_symmetric(5, a, 5), &certified, &s)));
    const double weight[] = {1, 2}, theta[] = {0.5, 1};
    for (int64_t n = 4; n <= 5; n++) /* halves, Gram matrices */
        ck_survives_failed_allocations(
            5, (szg_spectrum_close(&s),
                eigenvalues_of(test_context(), szg_matrix_cosines(n, 2, weight, theta), &certified,
                               &s)));
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t), szg_toeplitz_close(&z);
    szgi_memory_free(a);
}
END_TEST

/* ---- A search for bounds that miss ---- */

/* Lags of every size and sign, with zeros and repeats: test_real leans to the corners. */
START_TEST(search_for_a_miss) {
    const int64_t trials = test_trials(10000);
    int64_t decided = 0;
    for (int64_t trial = 0; trial < trials; trial++) {
        szgi_stream stream = {.seed = test_seed(), .purpose = 42, .step = (uint32_t)trial};
        int64_t n = 1 + szgi_random_below(&stream, 0, 8), width = 1 + trial % 2;
        double lags[16] = {0}, a[128];
        for (int64_t k = 0; k < n * width; k++)
            lags[k] = test_real(&stream, (uint64_t)k + 8);
        if (width == 2)
            lags[1] = 0;
        szg_toeplitz *t;
        szg_spectrum s;
        ck_szg_ok(width == 1
                      ? szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t)
                      : szg_toeplitz_open_hermitian(test_context(), n, n, (szg_c64 *)lags, &t));
        toeplitz_array(t, a);
        ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_toeplitz(t), &certified, &s));
        szgi_ball_matrix *balls = balls_of(n, 2, a);
        decided += check_inertia(&s, balls);
        szgi_ball_matrix_close(&balls);
        szg_spectrum_close(&s);
        szg_toeplitz_close(&t);
    }
    /* Points and leading blocks whose eigenvalue is the shift stay undecided. */
    ck_assert_msg(decided >= 2 * trials, "%lld of %lld", (long long)decided,
                  (long long)(4 * trials));
}
END_TEST

TEST_FILE("certified") {
    test_before_each(use_tested_backend);
    test_add_loop(suite, "arrays_against_arb", arrays_against_arb, FAMILIES);
    test_add(suite, "arrays_that_are_nearly_symmetric", arrays_that_are_nearly_symmetric);
    test_add_loop(suite, "toeplitz_against_arb", toeplitz_against_arb, FAMILIES);
    test_add(suite, "constants_are_needed", constants_are_needed);
    test_add(suite, "errors_of_entries_widen_both_bounds", errors_of_entries_widen_both_bounds);
    test_add(suite, "wrong_eigenvalues_are_refused", wrong_eigenvalues_are_refused);
    test_add(suite, "every_value_of_a_large_order", every_value_of_a_large_order);
    test_add(suite, "closed_forms_of_large_orders", closed_forms_of_large_orders);
    test_add(suite, "closed_forms_against_arb", closed_forms_against_arb);
    test_add(suite, "cosines_against_arb", cosines_against_arb);
    test_add(suite, "cosines_with_a_constant", cosines_with_a_constant);
    test_add(suite, "least_of_full_rank_by_inertia", least_of_full_rank_by_inertia);
    test_add(suite, "least_of_full_rank_far_below_rounding", least_of_full_rank_far_below_rounding);
    test_add(suite, "cosines_of_long_sequences", cosines_of_long_sequences);
    test_add(suite, "gram_matrices_against_arb", gram_matrices_against_arb);
    test_add(suite, "gram_matrices_that_underflow", gram_matrices_that_underflow);
    test_add(suite, "cheap_proofs_alone", cheap_proofs_alone);
    test_add(suite, "exact_ends_are_points", exact_ends_are_points);
    test_add(suite, "failed_allocations", failed_allocations);
    test_add(suite, "search_for_a_miss", search_for_a_miss);
}
