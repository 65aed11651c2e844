/* Spectral densities: moments against all eigenvalues and against a dense recurrence with the same
 * signs, intervals against dense eigenvalues, the density against its own integrals. */
#include <szego/density.h>

#include "inertia.h"
#include "spectra_support.h"
#include "toeplitz/toeplitz_private.h"

enum { N = 96, M = 24 };

static szg_toeplitz *open_lags(int64_t n, int64_t count, bool complex, uint32_t purpose) {
    szg_toeplitz *t;
    szg_c64 *lags = get(count, sizeof *lags);
    double *real = get(count, sizeof *real);
    const szgi_stream stream = {.seed = test_seed(), .purpose = purpose, .step = (uint32_t)n};
    for (int64_t k = 0; k < count; k++) {
        lags[k].re = real[k] = test_real(&stream, (uint64_t)(2 * k));
        lags[k].im = k > 0 ? test_real(&stream, (uint64_t)(2 * k + 1)) : 0;
    }
    real[count - 1] = lags[count - 1].re = 0.75; /* never a multiple of the identity */
    if (complex)
        ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), n, count, lags, &t));
    else
        ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, count, real, &t));
    szgi_memory_free(lags);
    szgi_memory_free(real);
    return t;
}

static void density_of(szg_matrix matrix, szg_density_options options, szg_density *out) {
    options.size = sizeof options;
    ck_szg_ok(szg_density_compute(test_context(), &matrix, &options, out));
}

/* All eigenvalues by LAPACK, from the dense form. */
static void dense_values(const szg_toeplitz *t, double *w) {
    int64_t n = szg_toeplitz_size(t);
    szg_c64 *a = get(n * n, sizeof *a);
    ck_szg_ok(szgi_toeplitz_dense_complex(test_context(), t, a, n));
    ck_szg_ok(szgi_eigen_hermitian(oracle_context("cpu"), n, a, n, w, false));
    szgi_memory_free(a);
}

START_TEST(interval_holds_every_eigenvalue) {
    for (int64_t n = 2; n <= 130; n += 1 + n / 6)
        for (int kind = 0; kind < 4; kind++) {
            szg_toeplitz *t = open_lags(n, kind & 2 ? n : 2, kind & 1, 70);
            double *w = get(n, sizeof *w), lo, hi;
            double bound = weyl(n, szgi_toeplitz_norm_frobenius(t));
            dense_values(t, w);
            ck_szg_ok(szgi_toeplitz_enclose(test_context(), t, &lo, &hi));
            ck_assert_double_ge(w[0] + bound, lo);
            ck_assert_double_le(w[n - 1] - bound, hi);
            szgi_memory_free(w);
            szg_toeplitz_close(&t);
        }
}
END_TEST

/* 2, 1, 2 at order 3: the ends are 3 + sqrt 3 and 0 to rounding, which computed doubles miss. The
 * oracle is Sylvester's law of inertia with balls: no eigenvalue beyond either end, for small
 * orders, lags of small integers, and of both signs. */
START_TEST(ends_are_proved) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 71};
    int64_t decided = 0;
    for (int64_t trial = 0; trial < 150; trial++) {
        int64_t n = 2 + trial % 7, below, above;
        double lags[8] = {2, 1, 2};
        szg_c64 a[64];
        szgi_ball_matrix *balls;
        szg_density d;
        for (int64_t k = 0; trial > 1 && k < n; k++)
            lags[k] = (double)(szgi_random_word(&stream, (uint64_t)(8 * trial + k)) % 7) - 3;
        lags[n - 1] += lags[n - 1] == 0;
        szg_toeplitz *t;
        ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t));
        density_of(szg_matrix_toeplitz(t), (szg_density_options){.moments = 2}, &d);
        ck_assert(d.proved && d.lo < d.hi);
        ck_szg_ok(szgi_toeplitz_dense_complex(test_context(), t, a, n));
        ck_szg_ok(inertia_matrix(test_context(), n, 2, &a->re, &balls));
        if (szgi_ball_matrix_inertia(test_context(), balls, d.hi, &below, &above) == SZG_OK) {
            ck_assert_int_eq(above, 0);
            decided++;
        }
        if (szgi_ball_matrix_inertia(test_context(), balls, d.lo, &below, &above) == SZG_OK) {
            ck_assert_int_eq(below, 0);
            decided++;
        }
        ck_assert_double_le(d.hi - d.lo,
                            (1 + 1e-12) * (double)(2 * n * 4)); /* not the trivial bound */
        szgi_ball_matrix_close(&balls);
        szg_density_close(&d);
        szg_toeplitz_close(&t);
    }
    ck_assert_int_ge(decided, 290);
}
END_TEST

/* 5 + 2^-e (S + S^T): where its eigenvalues are few units of rounding apart, or subnormal, all
 * moments would be rounding. Just above, moments are those of S + S^T. */
START_TEST(short_intervals_are_refused) {
    static const struct {
        double diagonal, beside;
        const char *remedy; /* NULL: it has a density */
    } cases[] = {{5, 0x1p-40, NULL},
                 {5, 0x1p-48, "subtract a multiple"},
                 {0, 0x1p-990, NULL},
                 {0, 0x1p-1020, "power of two"},
                 {0, 0x1p-1074, "power of two"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int64_t vectors = 0; vectors < 2; vectors++) {
            const double lags[2] = {cases[i].diagonal, cases[i].beside}, same[2] = {0, 1};
            szg_density_options options = {SZG_INIT(szg_density_options), .moments = M,
                                           .vectors = vectors};
            szg_toeplitz *t, *u;
            ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, 2, lags, &t));
            ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, 2, same, &u));
            const szg_matrix matrix = szg_matrix_toeplitz(t);
            szg_density density, plain;
            if (cases[i].remedy) {
                ck_szg_fails(SZG_EDOMAIN, cases[i].remedy,
                             szg_density_compute(test_context(), &matrix, &options, &density));
                ck_assert_ptr_null(density.moment);
            } else {
                /* T_m' <= m^2; an eigenvalue of 5 + x is off by n eps 6. */
                double off = N * DBL_EPSILON * 6 / cases[i].beside;
                density_of(matrix, options, &density);
                density_of(szg_matrix_toeplitz(u), options, &plain);
                for (int64_t m = 0; m < M; m++)
                    ck_close(density.moment[m], plain.moment[m],
                             (double)(m * m + 1) * (cases[i].diagonal > 0 ? off : N * DBL_EPSILON));
                for (int64_t j = 1; j < density.points; j++)
                    ck_assert(density.lambda[j] > density.lambda[j - 1]);
                szg_density_close(&density);
                szg_density_close(&plain);
            }
            szg_toeplitz_close(&t);
            szg_toeplitz_close(&u);
        }
}
END_TEST

/* The largest circulant eigenvalue of a tridiagonal matrix is the symbol's maximum, Gershgorin's
 * end: no slack but rounding. Of lags 1 / (1 + k^2) the interval is much shorter than Gershgorin's.
 */
START_TEST(interval_is_short) {
    double lags[400], lo, hi;
    for (int k = 0; k < 400; k++)
        lags[k] = (k % 2 ? -1 : 1) / (1.0 + k * k);
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 400, 400, lags, &t));
    ck_szg_ok(szgi_toeplitz_enclose(test_context(), t, &lo, &hi));
    /* sum_k 1 / (1 + k^2) over all integers is pi coth pi; with signs pi / sinh pi. */
    ck_close(hi, M_PI / tanh(M_PI), 0.01);
    ck_close(lo, M_PI / sinh(M_PI), 0.01);
    szg_toeplitz_close(&t);
}
END_TEST

/* 0.9^|k| knows its ends in closed form; its lags vanish long before n, as a band. */
START_TEST(interval_of_a_closed_form) {
    enum { LONG = 40000 };
    double *lags = get(LONG, sizeof *lags), lo, hi;
    for (int64_t k = 0; k < LONG; k++)
        lags[k] = pow(0.9, (double)k);
    szg_spectra_options range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum s;
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), LONG, LONG, lags, &t));
    ck_szg_ok(szgi_toeplitz_enclose(test_context(), t, &lo, &hi));
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(LONG, 0.9), &range, &s));
    ck_assert_double_le(lo, s.re[0]);
    ck_assert_double_ge(hi, s.re[1]);
    ck_close(lo, 0.1 / 1.9, 1e-6); /* (1 - r) / (1 + r), and its inverse */
    ck_close(hi, 19, 1e-6);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}
END_TEST

/* Long real matrices have a pair of circulants. cos(k) / (1 + k^2) over all integers has the symbol
 * (g(t - 1) + g(t + 1)) / 2 with g(t) = pi cosh(pi - t) / sinh(pi) on [0, 2 pi]: least at pi,
 * largest at 1, both inside Gershgorin's interval. The lags cut off sum to 2 / n at most, and
 * eigenvalues reach the largest value, a corner of slope pi, up to some pi^2 / n. */
START_TEST(interval_of_a_long_matrix) {
    enum { LONG = 40000 };
    double *lags = get(LONG, sizeof *lags), lo, hi, near = (2 + 2 * M_PI * M_PI) / LONG;
    for (int64_t k = 0; k < LONG; k++)
        lags[k] = cos((double)k) / (1 + (double)k * (double)k);
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), LONG, LONG, lags, &t));
    ck_assert(szgi_pair_serves(t));
    ck_szg_ok(szgi_toeplitz_enclose(test_context(), t, &lo, &hi));
    ck_close(lo, M_PI / sinh(M_PI) * cosh(1), near);
    ck_close(hi, M_PI / sinh(M_PI) * cosh(M_PI - 1) * cosh(1), near);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}
END_TEST

/* Mean of T_m over the values, by the cosine's definition. */
static double mean_chebyshev(int64_t n, const double *w, double lo, double hi, int64_t m) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += cos((double)m * acos(fmax(-1, fmin(1, (2 * w[i] - lo - hi) / (hi - lo)))));
    return sum / (double)n;
}

START_TEST(moments_of_all_eigenvalues) {
    double w[N];
    szg_density density;
    for (int kind = 0; kind < 2; kind++) {
        szg_toeplitz *t = open_lags(N, N, kind, 71);
        dense_values(t, w);
        density_of(szg_matrix_toeplitz(t), (szg_density_options){.moments = M}, &density);
        ck_assert_int_eq(density.vectors, 0);
        ck_assert_double_eq(density.moment_error, 0);
        /* T_m has derivative m^2 at most; eigenvalues differ by Weyl's bound on both sides. */
        double error = 4 * weyl(N, szgi_toeplitz_norm_frobenius(t)) / (density.hi - density.lo);
        for (int64_t m = 0; m < M; m++)
            ck_close(density.moment[m], mean_chebyshev(N, w, density.lo, density.hi, m),
                     (double)(m * m + 1) * (error + 64 * DBL_EPSILON));
        szg_density_close(&density);
        szg_toeplitz_close(&t);
    }
}
END_TEST

/* v^T T_m(A) v / n by the dense matrix, v the signs that the library draws. */
static void dense_moments(const szg_toeplitz *t, const szg_density *density, uint64_t seed,
                          double *moment) {
    szg_c64 *a = get(N * N, sizeof *a), before[N] = {0}, now[N], next[N];
    const szgi_stream stream = {.seed = seed};
    double centre = (density->lo + density->hi) / 2, half = (density->hi - density->lo) / 2;
    double sign[N];
    ck_szg_ok(szgi_toeplitz_dense_complex(test_context(), t, a, N));
    for (int i = 0; i < N; i++) {
        sign[i] = szgi_random_word(&stream, (uint64_t)i / 32) >> (i % 32) & 1 ? 1 : -1;
        now[i] = (szg_c64){sign[i], 0};
    }
    for (int m = 0; m < M; m++) {
        moment[m] = 0;
        for (int i = 0; i < N; i++)
            moment[m] += sign[i] * now[i].re / N;
        for (int i = 0; i < N; i++) {
            szg_c64 sum = {-centre * now[i].re, -centre * now[i].im};
            for (int j = 0; j < N; j++) {
                sum.re += a[i * N + j].re * now[j].re - a[i * N + j].im * now[j].im;
                sum.im += a[i * N + j].re * now[j].im + a[i * N + j].im * now[j].re;
            }
            double times = (m == 0 ? 1 : 2) / half;
            next[i] = (szg_c64){times * sum.re - before[i].re, times * sum.im - before[i].im};
        }
        memcpy(before, now, sizeof now);
        memcpy(now, next, sizeof next);
    }
    szgi_memory_free(a);
}

START_TEST(moments_of_products_against_the_dense_recurrence) {
    double want[M];
    szg_density density;
    for (int kind = 0; kind < 2; kind++)
        for (int64_t count = 2; count <= N; count += N - 2) { /* sums over a band, transforms */
            szg_toeplitz *t = open_lags(N, count, kind, 72);
            density_of(szg_matrix_toeplitz(t),
                       (szg_density_options){.moments = M, .vectors = 1, .seed = 9}, &density);
            dense_moments(t, &density, 9, want);
            /* A product without the diagonal errs by N eps sum |a_k| / half, of vectors no longer
             * than sqrt(N); the dense one, with it, by more; m steps add up like m^2. */
            double norm = szgi_toeplitz_norm_wiener(t) / ((density.hi - density.lo) / 2);
            for (int64_t m = 0; m < M; m++)
                ck_close(density.moment[m], want[m], 4 * M * M * N * norm * DBL_EPSILON);
            ck_close(density.moment_error, sqrt(2.0 / N), 1e-15);
            szg_density_close(&density);
            szg_toeplitz_close(&t);
        }
}
END_TEST

/* A moment's standard error is at most moment_error. The mean of its square over seeds lies above
 * 2 only with a chance of some e^-30 (a mean of 64 squares, almost normal); each error above 7 with
 * 1e-11. */
START_TEST(moments_of_products_within_their_error) {
    enum { SEEDS = 64 };
    double w[N], squares[M] = {0};
    szg_density density;
    szg_toeplitz *t = open_lags(N, N, false, 73);
    dense_values(t, w);
    for (int seed = 0; seed < SEEDS; seed++) {
        density_of(
            szg_matrix_toeplitz(t),
            (szg_density_options){.moments = M, .vectors = 5, .seed = test_seed() + (uint64_t)seed},
            &density);
        for (int64_t m = 0; m < M; m++) {
            double want = mean_chebyshev(N, w, density.lo, density.hi, m);
            double error = (density.moment[m] - want) / density.moment_error;
            ck_close(error, 0, 7);
            squares[m] += error * error / SEEDS;
        }
        szg_density_close(&density);
    }
    for (int64_t m = 1; m < M; m++)
        ck_assert_double_le(squares[m], 2);
    ck_assert_double_ge(squares[2], 1e-4); /* and it is an estimate */
    szg_toeplitz_close(&t);
}
END_TEST

/* Chebyshev-Gauss quadrature is exact for the kernel's polynomial. */
static double integral(const szg_density *density, int power) {
    double sum = 0, centre = (density->lo + density->hi) / 2;
    double half = (density->hi - density->lo) / 2;
    for (int64_t i = 0; i < density->points; i++) {
        double x = (density->lambda[i] - centre) / half;
        sum += density->density[i] * half * sqrt(1 - x * x) * pow(x, power);
    }
    return sum * M_PI / (double)density->points;
}

START_TEST(density_is_one_whole) {
    szg_density density;
    szg_toeplitz *t = open_lags(N, N, false, 74);
    for (int64_t vectors = 0; vectors < 4; vectors += 3) {
        density_of(szg_matrix_toeplitz(t), (szg_density_options){.moments = M, .vectors = vectors},
                   &density);
        ck_close(integral(&density, 0), 1, 1e-12);
        /* Jackson's g_1 = cos(pi / (M + 1)). */
        ck_close(integral(&density, 1), cos(M_PI / (M + 1)) * density.moment[1], 1e-12);
        for (int64_t i = 0; i < density.points; i++) {
            ck_assert(vectors > 0 || density.density[i] >= -1e-12);
            ck_assert(i == 0 || density.lambda[i] > density.lambda[i - 1]);
            ck_assert(vectors > 0 || i == 0 ||
                      density.cumulative[i] >= density.cumulative[i - 1] - 1e-12);
        }
        ck_close(density.cumulative[density.points - 1], 1, 0.2);
        szg_density_close(&density);
    }
    szg_toeplitz_close(&t);
}
END_TEST

/* Jackson's kernel is the square of a polynomial of degree M - 1 whose coefficients are
 * sin(pi (k + 1) / (M + 1)), and its factors are their autocorrelation (Weisse and others 2006,
 * III.A). Chebyshev-Gauss quadrature of twice the order tells what the density has of each T_m. */
static double jackson_factor(int m, int count) {
    double sum = 0;
    for (int k = 0; k + m < count; k++)
        sum += sin(M_PI * (k + 1) / (count + 1)) * sin(M_PI * (k + m + 1) / (count + 1));
    return 2 * sum / (count + 1);
}

START_TEST(moments_are_damped_by_jacksons_factors) {
    szg_density density;
    szg_toeplitz *t = open_lags(N, N, false, 76);
    density_of(szg_matrix_toeplitz(t), (szg_density_options){.moments = M}, &density);
    double centre = (density.lo + density.hi) / 2, half = (density.hi - density.lo) / 2;
    for (int m = 0; m < M; m++) {
        double sum = 0;
        for (int64_t i = 0; i < density.points; i++) {
            double x = (density.lambda[i] - centre) / half;
            sum += density.density[i] * half * sqrt(1 - x * x) * cos(m * acos(x));
        }
        /* acos near the ends: x errs by an ulp, the angle by its square root at most. */
        ck_close(sum * M_PI / (double)density.points, jackson_factor(m, M) * density.moment[m],
                 1e-6);
    }
    szg_density_close(&density);
    szg_toeplitz_close(&t);
}
END_TEST

/* The kernel at x is 1 + 2 sum g_m T_m(x) T_m(y) over the arcsine law of y: `resolution` is its
 * standard deviation, which quadrature gives too. */
START_TEST(resolution_is_the_kernels_deviation) {
    enum { NODES = 4 * M };
    szg_density density;
    szg_toeplitz *t = open_lags(N, N, false, 77);
    for (int moments = 2; moments <= M; moments += M - 2) {
        density_of(szg_matrix_toeplitz(t), (szg_density_options){.moments = moments}, &density);
        double half = (density.hi - density.lo) / 2;
        for (int64_t i = 0; i < density.points; i++) {
            double theta = M_PI * (1 - ((double)i + 0.5) / (double)density.points);
            double mean = 0, square = 0;
            for (int k = 0; k < NODES; k++) {
                double phi = M_PI * (k + 0.5) / NODES, kernel = 1, y = cos(phi);
                for (int m = 1; m < moments; m++)
                    kernel += 2 * jackson_factor(m, moments) * cos(m * theta) * cos(m * phi);
                mean += kernel * y / NODES;
                square += kernel * y * y / NODES;
            }
            ck_close(density.resolution[i], half * sqrt(square - mean * mean), 1e-7 * half);
        }
        szg_density_close(&density);
    }
    szg_toeplitz_close(&t);
}
END_TEST

/* 2 cos t, t uniform: 1 / (pi sqrt(4 - x^2)), whose Chebyshev moments but the first vanish. */
START_TEST(density_of_the_second_difference) {
    const double lags[2] = {0, 1};
    szg_density density;
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 4000, 2, lags, &t));
    density_of(szg_matrix_toeplitz(t), (szg_density_options){.moments = 64}, &density);
    for (int64_t m = 1; m < 64; m++) /* -1 / n if m is even, 0 else; the interval is 2 cos(pi/n) */
        ck_close(density.moment[m], m % 2 ? 0 : -1.0 / 4000, 1e-6 * (double)(m * m));
    for (int64_t i = 0; i < density.points; i++) {
        double x = density.lambda[i];
        /* Of the 63 other terms each is at most 2 * 1e-6 m^2 + 2 / n. */
        ck_close(density.density[i] * (M_PI * sqrt(4 - x * x)), 1, 0.25);
        ck_close(density.cumulative[i], 1 - acos(x / 2) / M_PI, 0.02);
        double unit = x / 2, known = (1 - unit * unit + (4 * unit * unit - 3) / 64) * M_PI * M_PI;
        ck_close(pow(density.resolution[i] / 2 * 64, 2), known, 0.1 * known + 0.3);
    }
    szg_density_close(&density);
    szg_toeplitz_close(&t);
}
END_TEST

/* Against the density of exact moments over the same interval, which a closed form has. */
START_TEST(error_of_the_density) {
    enum { ORDER = 5000 };
    double *lags = get(ORDER, sizeof *lags), worst = 0;
    for (int64_t k = 0; k < ORDER; k++)
        lags[k] = pow(0.5, (double)k);
    szg_density sampled, exact;
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), ORDER, ORDER, lags, &t));
    density_of(szg_matrix_toeplitz(t),
               (szg_density_options){.moments = 32, .vectors = 4, .seed = test_seed()}, &sampled);
    density_of(szg_matrix_kms(ORDER, 0.5), (szg_density_options){.moments = 32}, &exact);
    ck_assert_int_eq(exact.vectors, 0);
    ck_close(sampled.lo, exact.lo, 1e-5);
    ck_close(sampled.hi, exact.hi, 1e-5);
    for (int64_t i = 0; i < sampled.points; i++) {
        double error = fabs(sampled.density[i] - exact.density[i]) / sampled.error[i];
        ck_assert_double_le(error, 7); /* 1e-11 a point */
        worst = fmax(worst, error);
    }
    ck_assert_double_ge(worst, 0.05);
    szg_density_close(&sampled);
    szg_density_close(&exact);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}
END_TEST

START_TEST(zeros_by_structure_count) {
    const double theta[1] = {0};
    szg_density density; /* all ones of order 1000: 1000 once, 0 else */
    density_of(szg_matrix_rotary_mean(1000, 1, theta, 1), (szg_density_options){.moments = 8},
               &density);
    for (int64_t m = 0; m < 8; m++)
        ck_close(density.moment[m], (999.0 * (m % 2 ? -1 : 1) + 1) / 1000, 1e-12);
    szg_density_close(&density);
}
END_TEST

/* 1 and a neighbour at 2^-53: some units in the last place apart, so that the middle of the
 * interval is no double. Moments of numbers on [-1, 1] are at most 1, and the density's integral
 * rises. */
START_TEST(intervals_of_a_few_units) {
    for (int64_t n = 2; n <= 50; n += 3)
        for (int size = 1; size <= 5; size++) {
            const double lags[2] = {1, size * 0x1p-54};
            szg_toeplitz *t;
            szg_density density;
            ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, 2, lags, &t));
            const szg_matrix matrix = szg_matrix_toeplitz(t);
            szg_status status = szg_density_compute(test_context(), &matrix, NULL, &density);
            ck_assert(status == SZG_OK || status == SZG_EDOMAIN); /* every value is 1, as rounded */
            for (int64_t m = 0; m < density.moments; m++)
                ck_assert_double_le(fabs(density.moment[m]), 1 + 1e-12);
            for (int64_t i = 1; i < density.points; i++)
                ck_assert_double_ge(density.cumulative[i], density.cumulative[i - 1] - 1e-12);
            szg_density_close(&density);
            szg_toeplitz_close(&t);
        }
}
END_TEST

START_TEST(hermitian_part_of_others) {
    const double lags[3] = {1, 0, 3}; /* a_{-1}, a_0, a_1: the part has 2, 0, 2 */
    szg_density density, want;
    szg_toeplitz *t, *part;
    const double half[2] = {0, 2};
    ck_szg_ok(szg_toeplitz_open_real(test_context(), N, 2, lags, &t));
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), N, 2, half, &part));
    for (int64_t vectors = 0; vectors < 2; vectors++) {
        szg_density_options options = {.moments = 8, .vectors = vectors};
        density_of(szg_matrix_toeplitz(t), options, &density);
        density_of(szg_matrix_toeplitz(part), options, &want);
        ck_assert(density.hermitian_part && !want.hermitian_part);
        for (int64_t m = 0; m < 8; m++)
            ck_close(density.moment[m], want.moment[m], 1e-13);
        szg_density_close(&density);
        szg_density_close(&want);
    }
    szg_toeplitz_close(&t);
    szg_toeplitz_close(&part);
}
END_TEST

START_TEST(same_numbers_at_any_number_of_threads) {
    szg_density one, two;
    szg_toeplitz *t = open_lags(N, N, true, 75);
    szg_matrix matrix = szg_matrix_toeplitz(t);
    szg_density_options options = {SZG_INIT(szg_density_options), .vectors = 9, .seed = 4};
    szg_context_options threads = {SZG_INIT(szg_context_options), .threads = 3};
    szg_context *other;
    ck_szg_ok(szg_density_compute(test_context(), &matrix, &options, &one));
    ck_szg_ok(szg_context_open(&threads, &other));
    ck_szg_ok(szg_density_compute(other, &matrix, &options, &two));
    ck_assert_mem_eq(one.moment, two.moment, (size_t)one.moments * sizeof *one.moment);
    szg_density_close(&one);
    szg_density_close(&two);
    szg_context_close(&other);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(refusals) {
    const double one[1] = {3}, huge[2] = {1e308, 1e308}, array[6] = {1, 2, 3, 4, 5, 6};
    szg_context *ctx = test_context();
    szg_density density;
    szg_density_options options = {SZG_INIT(szg_density_options)};
    szg_matrix flat = szg_matrix_dense(2, 3, array, 3), kms = szg_matrix_kms(9000, 0.5);
    ck_szg_fails(SZG_EINVAL, "2 x 3", szg_density_compute(ctx, &flat, NULL, &density));
    options.vectors = 2;
    ck_szg_fails(SZG_EDOMAIN, "leave the vectors out",
                 szg_density_compute(ctx, &kms, &options, &density));
    options.vectors = -1;
    ck_szg_fails(SZG_EINVAL, "vectors -1", szg_density_compute(ctx, &kms, &options, &density));
    options = (szg_density_options){SZG_INIT(szg_density_options), .moments = 1};
    ck_szg_fails(SZG_EINVAL, "moments 1", szg_density_compute(ctx, &kms, &options, &density));
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(ctx, 5, 1, one, &t));
    for (int64_t vectors = 0; vectors < 2; vectors++) {
        options = (szg_density_options){SZG_INIT(szg_density_options), .vectors = vectors};
        szg_matrix same = szg_matrix_toeplitz(t);
        ck_szg_fails(SZG_EDOMAIN, "every eigenvalue is 3",
                     szg_density_compute(ctx, &same, &options, &density));
        ck_assert_ptr_null(density.moment);
    }
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(ctx, 5, 2, huge, &t));
    szg_matrix large = szg_matrix_toeplitz(t);
    ck_szg_fails(SZG_EDATA, "power of two", szg_density_compute(ctx, &large, &options, &density));
    szg_toeplitz_close(&t);
}
END_TEST

/* The message names the bytes: those of `vectors` at once on as many threads. */
static double bytes_needed(int threads) {
    const szg_context_options own = {SZG_INIT(szg_context_options), .threads = threads};
    const szg_density_options options = {SZG_INIT(szg_density_options), .vectors = threads};
    const double lags[2] = {0, 1};
    szg_context *context;
    szg_toeplitz *t;
    szg_density density;
    double value = 0;
    char unit[4] = "";
    ck_szg_ok(szg_context_open(&own, &context));
    ck_szg_ok(szg_toeplitz_open_symmetric(context, szgi_memory_available() / 8, 2, lags, &t));
    szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_assert_int_eq(szg_density_compute(context, &matrix, &options, &density), SZG_ENOMEM);
    const char *said = strstr(szg_context_message(context), "density needs ");
    ck_assert_ptr_nonnull(said);
    ck_assert_int_eq(sscanf(said, "density needs %lf %3s", &value, unit), 2);
    szg_toeplitz_close(&t);
    szg_context_close(&context);
    return value * (unit[0] == 'T' ? 1024 : 1);
}

START_TEST(memory_of_every_thread_is_asked_for) {
    double one = bytes_needed(1);
    ck_close(bytes_needed(4) / one, 4, 0.4); /* numbers of three digits; memory that others take */
}
END_TEST

typedef struct counted {
    int64_t done, all;
} counted;

static void count_products(void *user, const char *what, int64_t done, int64_t all) {
    (void)what;
    *(counted *)user = (counted){done, all};
}

/* Two moments a product, and the last of an odd number takes none: the same as among more. */
START_TEST(odd_numbers_of_moments) {
    counted seen = {0};
    const szg_context_options own = {SZG_INIT(szg_context_options), .threads = 1,
                                     .progress = count_products, .user = &seen};
    szg_density more, odd;
    szg_context *context;
    szg_toeplitz *t = open_lags(N, N, false, 78);
    szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_szg_ok(szg_context_open(&own, &context));
    for (int64_t moments = 3; moments <= 9; moments += 2) {
        szg_density_options options = {SZG_INIT(szg_density_options), .moments = moments,
                                       .vectors = 2, .seed = 5};
        ck_szg_ok(szg_density_compute(context, &matrix, &options, &odd));
        ck_assert_int_eq(seen.done, 2 * (moments / 2));
        ck_assert_int_eq(seen.all, seen.done);
        options.moments = moments + 1;
        ck_szg_ok(szg_density_compute(context, &matrix, &options, &more));
        for (int64_t m = 0; m < moments; m++) /* the last is summed in another order */
            ck_close(odd.moment[m], more.moment[m], 4 * N * DBL_EPSILON);
        szg_density_close(&odd);
        szg_density_close(&more);
    }
    szg_context_close(&context);
    szg_toeplitz_close(&t);
}
END_TEST

static szg_status whole_call(void) {
    const double lags[40] = {1, 2, 3, 0.5, [39] = 1};
    szg_density_options options = {SZG_INIT(szg_density_options), .moments = 4, .vectors = 2};
    szg_density_tables tables = {0};
    szg_toeplitz *t;
    szg_density density = {0};
    const szg_matrix_labels labels = {SZG_INIT(szg_matrix_labels), .source = "lags",
                                      .matrix = "coefficients"};
    SZG_TRY(szg_toeplitz_open_symmetric(test_context(), 40, 40, lags, &t));
    szg_matrix matrix = szg_matrix_toeplitz(t);
    szg_status status = szg_density_compute(test_context(), &matrix, &options, &density);
    if (status == SZG_OK)
        status = szg_density_tables_open(test_context(), &tables);
    if (status == SZG_OK)
        status = szg_density_add(test_context(), &tables, &labels, &density);
    if (status == SZG_OK) {
        ck_assert_int_eq(szg_table_rows(tables.density), 8);
        ck_assert_int_eq(szg_table_rows(tables.moments), 4);
    }
    szg_density_tables_close(&tables);
    szg_density_close(&density);
    szg_toeplitz_close(&t);
    return status;
}

START_TEST(every_allocation_may_fail) {
    ck_survives_failed_allocations(10, whole_call());
}
END_TEST

TEST_FILE("density") {
    test_add(suite, "interval_holds_every_eigenvalue", interval_holds_every_eigenvalue);
    test_add(suite, "ends_are_proved", ends_are_proved);
    test_add(suite, "interval_is_short", interval_is_short);
    test_add(suite, "short_intervals_are_refused", short_intervals_are_refused);
    test_add(suite, "interval_of_a_closed_form", interval_of_a_closed_form);
    test_add(suite, "interval_of_a_long_matrix", interval_of_a_long_matrix);
    test_add(suite, "moments_of_all_eigenvalues", moments_of_all_eigenvalues);
    test_add(suite, "moments_of_products_against_the_dense_recurrence",
             moments_of_products_against_the_dense_recurrence);
    test_add(suite, "moments_of_products_within_their_error",
             moments_of_products_within_their_error);
    test_add(suite, "density_is_one_whole", density_is_one_whole);
    test_add(suite, "moments_are_damped_by_jacksons_factors",
             moments_are_damped_by_jacksons_factors);
    test_add(suite, "resolution_is_the_kernels_deviation", resolution_is_the_kernels_deviation);
    test_add(suite, "memory_of_every_thread_is_asked_for", memory_of_every_thread_is_asked_for);
    test_add(suite, "odd_numbers_of_moments", odd_numbers_of_moments);
    test_add(suite, "density_of_the_second_difference", density_of_the_second_difference);
    test_add(suite, "error_of_the_density", error_of_the_density);
    test_add(suite, "zeros_by_structure_count", zeros_by_structure_count);
    test_add(suite, "intervals_of_a_few_units", intervals_of_a_few_units);
    test_add(suite, "hermitian_part_of_others", hermitian_part_of_others);
    test_add(suite, "same_numbers_at_any_number_of_threads", same_numbers_at_any_number_of_threads);
    test_add(suite, "refusals", refusals);
    test_add(suite, "every_allocation_may_fail", every_allocation_may_fail);
}
