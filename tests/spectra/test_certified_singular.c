/* Certified singular values against enclosures of Arb, closed forms, and arrays built so that every
 * rounding goes the same way. The oracle is [0 A; A^* 0], whose eigenvalues are +- sigma_i. */
#include "certified_support.h"
#include "spectra/certified_residual.h"
#include "spectra/certified_singular.h"
#include "spectra/factored.h"

/* ---- The oracle ---- */

typedef struct oracle {
    int64_t m, n;                  /* of A */
    szgi_ball_matrix *a, *doubled; /* A, and [0 A; A^* 0] */
    szg_interval *sigma;           /* min(m, n), descending */
    double size;                   /* Frobenius norm, from above */
} oracle;

static oracle oracle_open(szgi_ball_matrix *a, int64_t m, int64_t n) {
    oracle o = {.m = m, .n = n, .a = a};
    int64_t small = m < n ? m : n, order = m + n;
    ck_szg_ok(szgi_ball_matrix_open(test_context(), order, order, BITS, &o.doubled));
    double squares = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            acb_ptr value = szgi_ball_matrix_entry(a, i, j);
            acb_set(szgi_ball_matrix_entry(o.doubled, i, m + j), value);
            acb_conj(szgi_ball_matrix_entry(o.doubled, m + j, i), value);
            double re = arf_get_d(arb_midref(acb_realref(value)), ARF_RND_NEAR);
            double im = arf_get_d(arb_midref(acb_imagref(value)), ARF_RND_NEAR);
            squares = hypot(squares, hypot(re, im));
        }
    o.size = squares * (1 + 0x1p-20);
    szg_interval *values = get(order, sizeof *values);
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), o.doubled, values));
    o.sigma = get(small, sizeof *o.sigma);
    for (int64_t i = 0; i < small; i++)
        o.sigma[i] = (szg_interval){fmax(values[order - 1 - i].lo, 0), values[order - 1 - i].hi};
    szgi_memory_free(values);
    return o;
}

static void oracle_close_all(oracle *o) {
    szgi_ball_matrix_close(&o->a), szgi_ball_matrix_close(&o->doubled);
    szgi_memory_free(o->sigma);
}

/* A dense array, `width` doubles an entry, as balls. */
static szgi_ball_matrix *balls_of_array(int64_t m, int64_t n, int64_t width, const double *a) {
    szgi_ball_matrix *matrix;
    ck_szg_ok(szgi_ball_matrix_open(test_context(), m, n, BITS, &matrix));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const double *from = a + (i * n + j) * width;
            szg_c64 value = {from[0], width == 2 ? from[1] : 0};
            ck_szg_ok(szgi_ball_matrix_set(test_context(), matrix, i, j, value));
        }
    return matrix;
}

/* ---- Checks ---- */

/* The root of what the proof allows in sigma^2: the factorisation's defect, k u n (n + 11) / 2
 * times pivots of at most 2 ||A||_F^2; the product's, sqrt 2 (2 m + 2) u ||A||_F^2, once as an
 * error and up to 16 times as a margin; the other margins, 16 times 2 (4 (n + 4) u); `error` is
 * that of the entries. */
static double allowed(const oracle *o, double error) {
    double n = (double)(o->m < o->n ? o->m : o->n), m = (double)(o->m > o->n ? o->m : o->n);
    double units = 2.83 * (n + 11) * n + 17 * 1.42 * (2 * m + 3) + 128 * (n + 4) + 64;
    return sqrt(units * UNIT) * o->size + sqrt(34 * error) * sqrt(o->size + error);
}

/* Subnormal numbers lose their own distance. */
static void check_widths(const szg_spectrum *s, const oracle *o, double error) {
    int64_t small = o->m < o->n ? o->m : o->n;
    double off = allowed(o, error), top = o->sigma[0].hi, last = o->sigma[small - 1].hi;
    double slack = 2 * error + 8 * DBL_EPSILON * top + 40 * 0x1p-1074;
    double largest = (top > off ? off * (off / top) : off) + slack;
    double below = last > off ? sqrt(last - off) * sqrt(last + off) : 0;
    double least = hypot(last, off) - below + slack;
    ck_assert_msg(s->max.hi - s->max.lo <= largest, "%g wide, not %g", s->max.hi - s->max.lo,
                  largest);
    ck_assert_msg(!(s->min.hi - s->min.lo > least), "%g wide, not %g", s->min.hi - s->min.lo,
                  least);
}

/* LAPACK's residual is 32 n eps ||A|| at most, its bound by row and column sums sqrt(n) times as
 * large; both parts of complex numbers, and more rows than columns, are sqrt 2 each. */
static double value_width(const oracle *o, double error) {
    double order = (double)(o->m > o->n ? o->m : o->n) + 8;
    return 2 * 2 * 33 * order * sqrt(order) * DBL_EPSILON * o->size + 2.1 * error + 40 * 0x1p-1074;
}

static void check_each(const szg_spectrum *s, const oracle *o, double error) {
    double bound = value_width(o, error);
    for (int64_t i = 0; i < s->count; i++) {
        ck_meets(((szg_interval){s->lo[i], s->hi[i]}), o->sigma[i]);
        ck_assert_msg(s->hi[i] - s->lo[i] <= bound, "%.17g wide, not %.17g", s->hi[i] - s->lo[i],
                      bound);
        ck_assert(s->lo[i] >= 0);
        ck_assert(i == 0 || (s->lo[i] <= s->lo[i - 1] && s->hi[i] <= s->hi[i - 1]));
    }
}

/* Sylvester's law of inertia on [0 A; A^* 0]: `small` positive eigenvalues above a lower bound of
 * the least singular value, none above an upper bound of the largest. It sees what intervals of
 * doubles hide. */
static int64_t check_inertia(const szg_spectrum *s, const oracle *o) {
    int64_t below, above, decided = 0, small = o->m < o->n ? o->m : o->n;
    if (s->max.hi > 0 && counts(o->doubled, s->max.hi, &below, &above)) {
        ck_assert_int_eq(above, 0);
        decided++;
    }
    if (s->max.lo > 0 && counts(o->doubled, s->max.lo, &below, &above)) {
        ck_assert_int_gt(above, 0);
        decided++;
    }
    if (s->min.lo > 0 && counts(o->doubled, s->min.lo, &below, &above)) {
        ck_assert_int_eq(above, small);
        decided++;
    }
    if (s->min.hi > 0 && counts(o->doubled, s->min.hi, &below, &above)) {
        ck_assert_int_lt(above, small);
        decided++;
    }
    return decided;
}

/* With bounds of every value, and of the ends alone, which are wider. */
static void check_matrix(szg_matrix matrix, const oracle *o, double error) {
    szg_spectra_options ends = certified;
    szg_spectrum s;
    int64_t small = o->m < o->n ? o->m : o->n;
    ends.certify = SZG_CERTIFY_ENDS;
    for (int every = 0; every < 2; every++) {
        ck_szg_ok(singular_of(test_context(), matrix, every ? &certified : &ends, &s));
        ck_assert(s.certified && !s.lo == !every);
        ck_assert_int_eq(s.count + s.zeros, small);
        ck_meets(s.max, o->sigma[0]);
        if (every || matrix.kind != SZG_MATRIX_DISTANCE) /* its ends have two signs */
            ck_meets(s.min, o->sigma[small - 1]);
        if (s.lo)
            check_each(&s, o, error);
        check_inertia(&s, o);
        check_widths(&s, o, error);
        szg_spectrum_close(&s);
    }
}

/* ---- Arrays ---- */

static void check_array(family kind, int64_t m, int64_t n, int64_t width) {
    szgi_stream stream = {
        .seed = test_seed(), .purpose = 50, .step = (uint32_t)(kind * 9999 + m * 99 + n)};
    double *a = get(m * n * width, sizeof *a);
    int64_t order = m > n ? m : n;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            for (int part = 0; part < width; part++)
                a[(i * n + j) * width + part] = entry(kind, &stream, order, i, j, part);
    oracle o = oracle_open(balls_of_array(m, n, width, a), m, n);
    check_matrix(width == 1 ? szg_matrix_dense(m, n, a, n)
                            : szg_matrix_complex(m, n, (szg_c64 *)a, n),
                 &o, 0);
    oracle_close_all(&o);
    szgi_memory_free(a);
}

START_TEST(arrays_against_arb) {
    const int64_t sizes[][2] = {{1, 1}, {2, 2}, {3, 3},  {1, 4},  {4, 1},  {5, 3},
                                {3, 5}, {8, 8}, {13, 7}, {7, 16}, {17, 17}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t width = 1; width <= 2; width++)
            check_array((family)_i, sizes[i][0], sizes[i][1], width);
    check_array((family)_i, 64, 64, 1);
    check_array((family)_i, 40, 33, 2);
}
END_TEST

/* ---- Toeplitz matrices ---- */

/* All lags, or those below the diagonal alone: a causal mask. */
static szg_toeplitz *lags_of(family kind, int64_t n, int64_t width, bool causal) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 51, .step = (uint32_t)(kind * 99 + n)};
    double *lags = get((2 * n - 1) * width, sizeof *lags);
    szg_toeplitz *t;
    for (int64_t k = causal ? n - 1 : 0; k < 2 * n - 1; k++)
        for (int part = 0; part < width; part++)
            lags[k * width + part] = entry(kind, &stream, 2 * n, k, k % 3, part);
    ck_szg_ok(width == 1 ? szg_toeplitz_open_real(test_context(), n, n, lags, &t)
                         : szg_toeplitz_open_complex(test_context(), n, n, (szg_c64 *)lags, &t));
    szgi_memory_free(lags);
    return t;
}

static void check_toeplitz(szg_toeplitz *t) {
    int64_t n = szg_toeplitz_size(t);
    double *a = get(2 * n * n, sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            szg_c64 value = szg_toeplitz_at(t, i - j);
            a[(i * n + j) * 2] = value.re;
            a[(i * n + j) * 2 + 1] = value.im;
        }
    oracle o = oracle_open(balls_of_array(n, n, 2, a), n, n);
    check_matrix(szg_matrix_toeplitz(t), &o, 0);
    oracle_close_all(&o);
    szg_toeplitz_close(&t);
    szgi_memory_free(a);
}

START_TEST(toeplitz_against_arb) {
    const int64_t orders[] = {1, 2, 3, 5, 8, 20};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (int64_t width = 1; width <= 2; width++) {
            check_toeplitz(lags_of((family)_i, orders[i], width, false));
            check_toeplitz(lags_of((family)_i, orders[i], width, true));
        }
}
END_TEST

/* ---- Moduli of eigenvalues ---- */

/* KMS and the distance of a path, whose entries are balls too. */
START_TEST(closed_forms_against_arb) {
    for (int64_t n = 1; n <= 21; n += 5)
        for (int form = 0; form < 2; form++) {
            szgi_ball_matrix *a;
            ck_szg_ok(szgi_ball_matrix_open(test_context(), n, n, BITS, &a));
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++) {
                    arb_ptr at = acb_realref(szgi_ball_matrix_entry(a, i, j));
                    ulong lag = (ulong)(i > j ? i - j : j - i);
                    arb_set_d(at, -0.7);
                    if (form == 0)
                        arb_pow_ui(at, at, lag, BITS);
                    else
                        arb_mul_ui(at, at, lag, BITS);
                }
            oracle o = oracle_open(a, n, n);
            check_matrix(form == 0 ? szg_matrix_kms(n, -0.7) : szg_matrix_distance(n, 0.7), &o, 0);
            oracle_close_all(&o);
        }
}
END_TEST

/* Ends of two signs tell the largest modulus alone. */
START_TEST(ends_of_two_signs) {
    szg_spectra_options ends = certified;
    szg_interval min, max;
    szg_spectrum s;
    ends.certify = SZG_CERTIFY_ENDS;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_distance(7, 1), &ends, &s));
    ck_assert(szgi_spectrum_moduli(&s, &min, &max));
    ck_assert(isnan(min.lo) && isnan(min.hi));
    ck_assert(max.lo == fmax(-s.min.hi, s.max.lo) && max.hi == fmax(-s.min.lo, s.max.hi));
    szg_spectrum_close(&s);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(7, 0.5), &ends, &s));
    ck_assert(szgi_spectrum_moduli(&s, &min, &max));
    ck_assert(min.lo == s.min.lo && min.hi == s.min.hi && max.lo == s.max.lo);
    szg_spectrum_close(&s);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_kms(7, 0.5), NULL, &s));
    ck_assert(!szgi_spectrum_moduli(&s, &min, &max) && isnan(max.hi));
    szg_spectrum_close(&s);
}
END_TEST

/* ---- Content and logits, whose entries are rounded ---- */

/* M o (A B^T + T) as balls. */
static szgi_ball_matrix *logit_balls(const szg_factored *f) {
    szgi_ball_matrix *matrix;
    arb_t x, y;
    arb_init(x), arb_init(y);
    ck_szg_ok(szgi_ball_matrix_open(test_context(), f->n, f->n, BITS, &matrix));
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < (f->causal ? i + 1 : f->n); j++) {
            arb_ptr at = acb_realref(szgi_ball_matrix_entry(matrix, i, j));
            arb_set_d(at, f->bias ? szg_toeplitz_at(f->bias, i - j).re : 0);
            for (int64_t t = 0; t < f->d; t++) {
                arb_set_d(x, f->a[i * f->lda + t]);
                arb_set_d(y, f->b[j * f->ldb + t]);
                arb_addmul(at, x, y, BITS);
            }
        }
    arb_clear(y), arb_clear(x);
    return matrix;
}

/* What the proof may count for entries: (d + 3) u (|| |A| ||_F || |B| ||_F + sum |t_k|) of products
 * and 2 eta of factors by QR, in Frobenius norms; sqrt(n) is what row and column sums may lose. */
static double entry_error(const szg_factored *f) {
    double a = norm_of(f->n * f->d, f->a), b = norm_of(f->n * f->d, f->b);
    double lags = f->bias ? szgi_toeplitz_norm_wiener(f->bias) : 0;
    double n = (double)f->n, d = (double)f->d;
    double eta = f->d > 0 ? szgi_tall_r_error(f->n, f->d) : 0;
    return ((d + 4) * UNIT * (sqrt(n) * a * b + lags) + 3 * eta * a * b) * 1.01 +
           2 * n * (d + 3) * DBL_MIN;
}

static void check_factored(const szg_factored *f) {
    oracle o = oracle_open(logit_balls(f), f->n, f->n);
    check_matrix(szg_matrix_factored(f), &o, entry_error(f));
    oracle_close_all(&o);
}

static void check_logits(family kind, int64_t n, int64_t d, bool bias, bool causal) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 52, .step = (uint32_t)(n * 99 + d)};
    double *a = get(2 * n * d + 1, sizeof *a), *b = a + n * d;
    for (int64_t i = 0; i < 2 * n; i++)
        for (int64_t j = 0; j < d; j++)
            a[i * d + j] = entry(kind, &stream, 2 * n + d, i, j, 0);
    szg_toeplitz *t = bias ? lags_of(kind, n, 1, false) : NULL;
    szg_factored f = {
        .n = n, .d = d, .a = a, .lda = d, .b = b, .ldb = d, .bias = t, .causal = causal};
    check_factored(&f);
    szg_toeplitz_close(&t);
    szgi_memory_free(a);
}

START_TEST(logits_against_arb) {
    const family kinds[] = {RANDOM, GRADED, SINGULAR, INTEGER};
    const int64_t sizes[][2] = {{1, 1}, {3, 2}, {5, 8}, {12, 12}, {20, 6}, {31, 4}};
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int bits = 0; bits < 4; bits++)
                check_logits(kinds[k], sizes[i][0], sizes[i][1], bits & 1, bits & 2);
}
END_TEST

/* Entries are off by 2 eta d of the norm, eta = 4 * 3 * 13 u, and the residuals take as much as in
 * value_width: 1e-11 in all, and more than that would be lost digits. */
static void check_scaled(const szg_factored *f) {
    oracle o = oracle_open(logit_balls(f), f->n, f->n);
    szg_matrix matrix = szg_matrix_factored(f);
    szg_spectrum s;
    ck_szg_ok(singular_of(test_context(), matrix, &certified, &s));
    ck_assert(s.certified && s.lo && s.count == f->d);
    ck_meets(s.max, o.sigma[0]);
    for (int64_t i = 0; i < s.count; i++) {
        ck_meets(((szg_interval){s.lo[i], s.hi[i]}), o.sigma[i]);
        ck_close(s.hi[i], s.lo[i], 1e-11 * o.sigma[0].hi + 4 * DBL_TRUE_MIN);
    }
    szg_spectrum_close(&s);
    oracle_close_all(&o);
}

/* Queries of subnormal or huge numbers and keys that make up for them, or do not: reflections of
 * either lose digits unless they are scaled. */
START_TEST(logits_of_any_size) {
    const double sizes[][2] = {
        {0x1p-1060, 0x1p1000}, {0x1p1010, 0x1p-1000}, {0x1p-1066, 0x1p-1066}};
    enum { ORDER = 9, WIDTH = 3 };
    double a[ORDER * WIDTH], b[ORDER * WIDTH];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < ORDER * WIDTH; i++) {
            const szgi_stream stream = {.seed = test_seed(), .purpose = 54};
            a[i] = sizes[k][0] * szgi_random_normal(&stream, (uint64_t)i);
            b[i] = sizes[k][1] * szgi_random_normal(&stream, (uint64_t)(i + ORDER * WIDTH));
        }
        const szg_factored f = {.n = ORDER, .d = WIDTH, .a = a, .lda = WIDTH, .b = b, .ldb = WIDTH};
        check_scaled(&f);
    }
}
END_TEST

/* A = c B with rounded numbers: the eigenvalues are those of the Hermitian part. */
static void check_symmetric_logits(int64_t n, int64_t d, double scale, bool bias) {
    double *b = new_test_reals(53, (uint32_t)(n * 99 + d), 2 * n * d), *a = b + n * d;
    double lags[40];
    szg_toeplitz *t = NULL;
    for (int64_t i = 0; i < n * d; i++) {
        b[i] = fmax(fmin(b[i], 1e3), -1e3);
        a[i] = scale * b[i];
    }
    for (int64_t k = 0; k < n; k++)
        lags[k] = 1 / (double)(k + 3);
    if (bias)
        ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, n, lags, &t));
    szg_factored f = {.n = n, .d = d, .a = a, .lda = d, .b = b, .ldb = d, .bias = t};
    szgi_ball_matrix *balls = logit_balls(&f), *adjoint;
    ck_szg_ok(szgi_ball_matrix_open(test_context(), n, n, BITS, &adjoint));
    ck_szg_ok(
        szgi_ball_matrix_apply(test_context(), SZGI_BALL_MATRIX_ADJOINT, adjoint, balls, NULL));
    ck_szg_ok(szgi_ball_matrix_apply(test_context(), SZGI_BALL_MATRIX_ADD, balls, balls, adjoint));
    ck_szg_ok(szgi_ball_matrix_scale(test_context(), balls, 1, 2));
    szg_interval *truth = get(n, sizeof *truth);
    ck_szg_ok(szgi_ball_matrix_eigenvalues(test_context(), balls, truth));
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&f), &certified, &s));
    ck_assert(s.certified && s.lo);
    ck_meets(s.min, truth[0]);
    ck_meets(s.max, truth[n - 1]);
    int64_t first = scale > 0 ? n - s.count : 0;
    for (int64_t i = 0; i < s.count; i++)
        ck_meets(((szg_interval){s.lo[i], s.hi[i]}), truth[first + i]);
    double n_units = 4 * (double)((n + 16) * (n + 16)) * UNIT;
    ck_assert(s.max.hi - s.max.lo <= n_units * s.frobenius + 4 * sqrt((double)n) * entry_error(&f));
    szg_spectrum_close(&s);
    szgi_ball_matrix_close(&balls), szgi_ball_matrix_close(&adjoint);
    szg_toeplitz_close(&t);
    szgi_memory_free(truth), szgi_memory_free(b);
}

START_TEST(symmetric_logits_against_arb) {
    const int64_t sizes[][2] = {{1, 1}, {3, 2}, {5, 8}, {12, 12}, {20, 6}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int bias = 0; bias < 2; bias++) {
            check_symmetric_logits(sizes[i][0], sizes[i][1], 0.1, bias);
            check_symmetric_logits(sizes[i][0], sizes[i][1], 3, bias);
        }
}
END_TEST

/* A is B / 2 but for 14 eps in all rows but the first, which sets the scale: the eigenvalue of the
 * Hermitian part is 4 + 7 * 14 eps / 2, up to eps^2, where B B^T / 2 has 4 and bounds of 7 u. */
START_TEST(queries_that_are_off) {
    double a[8], b[8];
    for (int i = 0; i < 8; i++) {
        b[i] = 1;
        a[i] = i == 0 ? 0.5 : 0.5 * (1 + 14 * DBL_EPSILON);
    }
    szg_factored f = {.n = 8, .d = 1, .a = a, .lda = 1, .b = b, .ldb = 1};
    double want = 4 + 7 * 7 * DBL_EPSILON;
    szg_spectrum s;
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&f), &certified, &s));
    ck_assert(s.certified && s.max.lo <= want && s.max.hi >= want);
    ck_assert(s.lo[0] <= want && s.hi[0] >= want && s.min.lo < 0 && s.min.hi > 0);
    ck_close(s.max.hi, want, 160 * DBL_EPSILON);
    szg_spectrum_close(&s);
}
END_TEST

/* Orthonormal columns: 2 eta for each, and (d + 2) u d of the product. */
START_TEST(errors_of_factors) {
    const double a[] = {1, 0, 0, 1, 0, 0, 0, 0}, r[] = {1, 0, 0, 1};
    const szg_factored f = {.n = 4, .d = 2, .a = a, .lda = 2, .b = a, .ldb = 2};
    double out, want = 4 * szgi_tall_r_error(4, 2) + 8 * UNIT;
    ck_szg_ok(szgi_logits_core_error(test_context(), &f, r, r, &out));
    ck_assert(out >= want);
    ck_close(out, want, 0.01 * want);
}
END_TEST

/* ---- Constants and terms of the proofs ---- */

/* One row and m - 1 small entries, each product of which is lost: the product is 1, and sigma^2 is
 * 1 + 0.98 u (m - 1). The guess is such that the first attempt completes just above 1, if the
 * margin is what the code says. Without the product's error the bound would be 61 u too low. */
START_TEST(the_product_rounds_down) {
    enum { M = 64 };
    double a[M] = {1}, memory[M];
    for (int i = 1; i < M; i++)
        a[i] = sqrt(0.98 * UNIT);
    memcpy(memory, a, sizeof a);
    szg_context *context = oracle_context("reference"); /* adds one product after the other */
    const szgi_tall tall = {.a = {M, 1, 1, memory}, .memory = memory};
    double want = sqrt(1 + 0.98 * UNIT * (M - 1));
    for (int units = 0; units < 80; units++) {
        szgi_tall_ends ends = {.least = NAN, .largest = 1 - (double)units * UNIT};
        ck_assert_int_eq(szgi_tall_prove_ends(context, &tall, &ends), SZG_OK);
        ck_assert_msg(ends.max.hi >= want && ends.max.lo <= want, "%d: [%.17g, %.17g], %.17g",
                      units, ends.max.lo, ends.max.hi, want);
        ck_assert(isnan(ends.min.lo) && isnan(ends.min.hi));
    }
}
END_TEST

/* One value with vectors of lengths u and v: A = 1, and the value is s. */
static double distance_of(double u, double v, double s) {
    double one = 1, room[4], out;
    const szgi_triples triples = {.u = {1, 1, 1, &u},
                                  .v = {1, 1, 1, &v},
                                  .adjoint = {1, 1, 1, &one},
                                  .s = &s,
                                  .scratch = {room, room + 1, room + 2, room + 3}};
    const szgi_parts a = {1, 1, 1, &one};
    ck_szg_ok(szgi_triples_distance(test_context(), &a, &triples, &out));
    return out;
}

/* Equality in the theorem: short vectors make both residuals too small by the root of the defect.
 * One residual may vanish where the other does not. */
START_TEST(terms_of_the_distance) {
    ck_close(distance_of(0.75, 0.75, 0.9), 0.1, 1e-6);
    ck_assert(distance_of(0.75, 0.75, 0.9) >= 0.1);
    ck_assert(distance_of(1 / 0.9, 1, 0.9) >= 0.1);
    ck_assert(distance_of(1, 1 / 0.9, 0.9) >= 0.1);
}
END_TEST

/* A = [0; 1/2] and U = [1; 0] with the value 0: the completed list has the values 0 and 0, and
 * sigma = 1/2 is as far from them as the residual is large. */
START_TEST(more_rows_than_columns) {
    double a[] = {0, 0.5}, u[] = {1, 0}, v = 1, s = 0, room[8], out;
    const szgi_triples triples = {.u = {1, 2, 1, u},
                                  .v = {1, 1, 1, &v},
                                  .adjoint = {1, 2, 1, a},
                                  .s = &s,
                                  .scratch = {room, room + 2, room + 4, room + 6}};
    const szgi_parts tall = {2, 1, 1, a};
    ck_szg_ok(szgi_triples_distance(test_context(), &tall, &triples, &out));
    ck_assert(out >= sqrt(0.5)); /* sqrt 2 max ||R|| */
    ck_close(out, sqrt(0.5), 1e-5);
}
END_TEST

/* k, m and n of 1: the residual is the number itself, so that no norm hides a term. The exact value
 * comes from Arb. */
static void check_residual(int64_t width, uint32_t step) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 54, .step = step};
    enum { TERMS = 9 };
    double x[2 * TERMS], y[2 * TERMS], z[2], room[6 * TERMS + 8], s, out;
    for (int i = 0; i < TERMS * width; i++) {
        x[i] = szgi_random_uniform(&stream, (uint64_t)i) - 0.5;
        y[i] = szgi_random_uniform(&stream, (uint64_t)i + 50) - 0.5;
    }
    double re = 0, im = 0;
    for (int i = 0; i < TERMS; i++) {
        szg_c64 p = {x[i], width == 2 ? x[TERMS + i] : 0},
                q = {y[i], width == 2 ? y[TERMS + i] : 0};
        re += p.re * q.re + p.im * q.im;
        im += p.im * q.re - p.re * q.im;
    }
    s = 1 + szgi_random_uniform(&stream, 99);
    z[0] = re / s; /* what remains is rounding */
    z[1] = im / s;
    const szgi_parts px = {1, TERMS, width, x}, py = {1, TERMS, width, y}, pz = {1, 1, width, z};
    const szgi_residual_work work = {room, room + 2 * TERMS, room + 4 * TERMS, room + 5 * TERMS};
    ck_szg_ok(szgi_residual_bound(test_context(), &px, &py, &s, &pz, &work, &out));
    acb_t sum, term, other;
    arb_t size;
    acb_init(sum), acb_init(term), acb_init(other), arb_init(size);
    acb_set_d_d(sum, -z[0], width == 2 ? -z[1] : 0);
    arb_set_d(size, s);
    acb_mul_arb(sum, sum, size, BITS);
    for (int i = 0; i < TERMS; i++) {
        acb_set_d_d(term, x[i], width == 2 ? x[TERMS + i] : 0);
        acb_set_d_d(other, y[i], width == 2 ? -y[TERMS + i] : 0);
        acb_addmul(sum, term, other, BITS);
    }
    acb_abs(size, sum, BITS);
    double truth = arf_get_d(arb_midref(size), ARF_RND_NEAR);
    ck_assert_msg(out >= truth, "%.17g < %.17g", out, truth);
    /* Products with tails of 25 bits err by 1.42 (4 width TERMS + 4) u 2^-25 of two norms. */
    ck_assert_msg(out <= truth * (1 + 1e-5) + 1e3 * UNIT * 0x1p-22 + 8 * UNIT * truth, "%g, %g",
                  out, truth);
    acb_clear(sum), acb_clear(term), acb_clear(other), arb_clear(size);
}

START_TEST(residuals_are_sharp) {
    for (uint32_t step = 0; step < 200; step++)
        check_residual(1 + step % 2, step);
}
END_TEST

/* X X^* - I of one short complex row. */
START_TEST(defects_are_sharp) {
    double x[] = {0.5, 0.25, -0.5, 0.125}, room[12], out;
    const szgi_parts row = {1, 2, 2, x};
    const szgi_residual_work work = {room, room + 4, room + 8, room + 10};
    ck_szg_ok(szgi_defect_bound(test_context(), &row, &work, &out));
    ck_close(out, 1 - 0.578125, 1e-5);
    ck_assert(out >= 1 - 0.578125);
}
END_TEST

/* Vectors of length 1/2 are refused. */
START_TEST(short_vectors_are_refused) {
    double half = 0.5, one = 1, room[4], out;
    const szgi_triples triples = {.u = {1, 1, 1, &half},
                                  .v = {1, 1, 1, &one},
                                  .adjoint = {1, 1, 1, &one},
                                  .s = &one,
                                  .scratch = {room, room + 1, room + 2, room + 3}};
    const szgi_parts a = {1, 1, 1, &one};
    ck_szg_fails(SZG_ENOCONV, "the computed singular vectors are not orthonormal (defect 0.75)",
                 szgi_triples_distance(test_context(), &a, &triples, &out));
}
END_TEST

/* A guess too far inside is not proved. */
START_TEST(wrong_values_are_refused) {
    double a[] = {0.5, 0, 0, 0.75};
    const szgi_tall tall = {.a = {2, 2, 1, a}, .memory = a};
    szgi_tall_ends ends = {.least = NAN, .largest = 0.5};
    ck_szg_fails(SZG_ENOCONV, "no proof that the computed eigenvalue",
                 szgi_tall_prove_ends(test_context(), &tall, &ends));
}
END_TEST

/* ---- A large order, by a closed form ---- */

/* Ones on and above the diagonal: sigma_k = 1 / (2 sin((2 k - 1) pi / (4 n + 2))), from below; an
 * angle of three roundings and a sine. */
static void check_large(int64_t n) {
    double *lags = get(2 * n - 1, sizeof *lags);
    szg_toeplitz *t;
    szg_spectrum s;
    for (int64_t k = 0; k < n; k++)
        lags[k] = 1;
    ck_szg_ok(szg_toeplitz_open_real(test_context(), n, n, lags, &t));
    ck_szg_ok(singular_of(test_context(), szg_matrix_toeplitz(t), &certified, &s));
    ck_assert(s.certified && s.lo && s.count == n);
    for (int64_t k = 0; k < n; k++) {
        double angle = (double)(2 * k + 1) * M_PI / (double)(4 * n + 2), want = 0.5 / sin(angle);
        double off = gamma_of(8) * want * (1 + angle / tan(angle));
        ck_meets(((szg_interval){s.lo[k], s.hi[k]}), ((szg_interval){want - off, want + off}));
        ck_assert_msg(s.hi[k] - s.lo[k] <= 2e-12 * s.re[0], "%g wide", s.hi[k] - s.lo[k]);
    }
    ck_assert(s.min.lo >= s.lo[n - 1] && s.min.hi <= s.hi[n - 1]);
    ck_assert(s.max.lo >= s.lo[0] && s.max.hi <= s.hi[0]);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}

START_TEST(a_closed_form_of_a_large_order) {
    check_large(257);
    check_large(test_trials(1) > 1 ? 2048 : 768);
}
END_TEST

/* ---- What is asked for ---- */

START_TEST(only_where_it_is_asked_for) {
    const double a[] = {1, 2, 3, 4, 5, 6}, zeros[4] = {0};
    szg_spectra_options cheap = certified;
    szg_spectrum s;
    cheap.certify = SZG_CERTIFY_CHEAP;
    ck_szg_ok(singular_of(test_context(), szg_matrix_dense(3, 2, a, 2), &cheap, &s));
    ck_assert(!s.certified && !s.lo);
    szg_spectrum_close(&s);
    ck_szg_ok(singular_of(test_context(), szg_matrix_zero(3), &certified, &s));
    ck_assert(s.certified && s.min.lo == 0 && s.max.hi == 0);
    szg_spectrum_close(&s);
    ck_szg_ok(singular_of(test_context(), szg_matrix_dense(2, 2, zeros, 2), &certified, &s));
    ck_assert(s.certified && s.min.lo == 0 && s.max.hi == 0 && s.hi[1] == 0);
    szg_spectrum_close(&s);
    const szg_factored empty = {.n = 3};
    ck_szg_ok(singular_of(test_context(), szg_matrix_factored(&empty), &certified, &s));
    ck_assert(s.certified && s.zeros == 3 && s.min.lo == 0 && s.max.hi == 0);
    szg_spectrum_close(&s);
    ck_szg_ok(eigenvalues_of(test_context(), szg_matrix_factored(&empty), &certified, &s));
    ck_assert(s.certified && s.zeros == 3 && s.min.lo == 0 && s.max.hi == 0);
    szg_spectrum_close(&s);
}
END_TEST

START_TEST(failed_allocations) {
    double *a = new_test_reals(55, 0, 60);
    szg_toeplitz *t = lags_of(RANDOM, 5, 1, false), *z = lags_of(RANDOM, 4, 2, false);
    szg_factored f = {.n = 6, .d = 3, .a = a, .lda = 3, .b = a + 20, .ldb = 3};
    const szg_matrix matrices[] = {
        szg_matrix_dense(4, 3, a, 3), szg_matrix_complex(3, 4, (szg_c64 *)a, 4),
        szg_matrix_toeplitz(t),       szg_matrix_toeplitz(z),
        szg_matrix_factored(&f),      szg_matrix_kms(4, 0.5)};
    szg_spectrum s = {0};
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        ck_survives_failed_allocations(
            3, (szg_spectrum_close(&s), singular_of(test_context(), matrices[i], &certified, &s)));
    f.causal = true;
    ck_survives_failed_allocations(
        3, (szg_spectrum_close(&s),
            singular_of(test_context(), szg_matrix_factored(&f), &certified, &s)));
    f = (szg_factored){.n = 6, .d = 3, .a = a, .lda = 3, .b = a + 20, .ldb = 3};
    for (int i = 0; i < 18; i++)
        a[20 + i] = 0.1 * a[i];
    ck_survives_failed_allocations(
        3, (szg_spectrum_close(&s),
            eigenvalues_of(test_context(), szg_matrix_factored(&f), &certified, &s)));
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t), szg_toeplitz_close(&z);
    szgi_memory_free(a);
}
END_TEST

/* ---- A search for bounds that miss ---- */

/* Arrays of every size of numbers, zeros and repeats: test_real leans to the corners. */
START_TEST(search_for_a_miss) {
    const int64_t trials = test_trials(1500);
    int64_t decided = 0;
    for (int64_t trial = 0; trial < trials; trial++) {
        szgi_stream stream = {.seed = test_seed(), .purpose = 56, .step = (uint32_t)trial};
        int64_t m = 1 + szgi_random_below(&stream, 0, 5), n = 1 + szgi_random_below(&stream, 1, 5);
        int64_t width = 1 + trial % 2;
        double a[50];
        for (int64_t i = 0; i < m * n * width; i++)
            a[i] = fmax(fmin(test_real(&stream, (uint64_t)i + 8), 1e300), -1e300);
        szg_matrix matrix =
            width == 1 ? szg_matrix_dense(m, n, a, n) : szg_matrix_complex(m, n, (szg_c64 *)a, n);
        szg_spectrum s;
        ck_szg_ok(singular_of(test_context(), matrix, &certified, &s));
        oracle o = oracle_open(balls_of_array(m, n, width, a), m, n);
        ck_assert(s.certified);
        decided += check_inertia(&s, &o);
        for (int64_t i = 0; i < s.count; i++)
            ck_meets(((szg_interval){s.lo[i], s.hi[i]}), o.sigma[i]);
        oracle_close_all(&o);
        szg_spectrum_close(&s);
    }
    ck_assert_msg(decided >= trials, "%lld of %lld", (long long)decided, (long long)(4 * trials));
}
END_TEST

TEST_FILE("certified_singular") {
    test_before_each(use_tested_backend);
    test_add_loop(suite, "arrays_against_arb", arrays_against_arb, FAMILIES);
    test_add_loop(suite, "toeplitz_against_arb", toeplitz_against_arb, FAMILIES);
    test_add(suite, "closed_forms_against_arb", closed_forms_against_arb);
    test_add(suite, "ends_of_two_signs", ends_of_two_signs);
    test_add(suite, "logits_against_arb", logits_against_arb);
    test_add(suite, "logits_of_any_size", logits_of_any_size);
    test_add(suite, "symmetric_logits_against_arb", symmetric_logits_against_arb);
    test_add(suite, "queries_that_are_off", queries_that_are_off);
    test_add(suite, "errors_of_factors", errors_of_factors);
    test_add(suite, "the_product_rounds_down", the_product_rounds_down);
    test_add(suite, "terms_of_the_distance", terms_of_the_distance);
    test_add(suite, "more_rows_than_columns", more_rows_than_columns);
    test_add(suite, "residuals_are_sharp", residuals_are_sharp);
    test_add(suite, "defects_are_sharp", defects_are_sharp);
    test_add(suite, "short_vectors_are_refused", short_vectors_are_refused);
    test_add(suite, "wrong_values_are_refused", wrong_values_are_refused);
    test_add(suite, "a_closed_form_of_a_large_order", a_closed_form_of_a_large_order);
    test_add(suite, "only_where_it_is_asked_for", only_where_it_is_asked_for);
    test_add(suite, "failed_allocations", failed_allocations);
    test_add(suite, "search_for_a_miss", search_for_a_miss);
}
