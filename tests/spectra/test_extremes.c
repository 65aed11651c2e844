/* Eigenvalues at both ends: of long matrices by their lags against closed forms, of short ones
 * against all eigenvalues. What is resolved lies within its error of the eigenvalue of its place;
 * whatever is listed lies within its error of some eigenvalue; and what is not resolved really has
 * an error above its limits. */
#include <szego/extremes.h>

#include "spectra/extremes.h"
#include "spectra/factored.h"
#include "toeplitz/factored.h"
#include "toeplitz/inverse.h"

#include "spectra_support.h"

enum { LONG = 100000 };

static szg_toeplitz *open_symmetric(int64_t n, int64_t count, const double *lags) {
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, count, lags, &t));
    return t;
}

static szg_toeplitz *open_kms(int64_t n, double rho) {
    double *lags = get(n, sizeof *lags);
    for (int64_t k = 0; k < n; k++)
        lags[k] = pow(rho, (double)k);
    szg_toeplitz *t = open_symmetric(n, n, lags);
    szgi_memory_free(lags);
    return t;
}

/* Values of a matrix that are known another way, each within `rounding`. */
typedef struct truth {
    int64_t n;
    double (*at)(const struct truth *self, int64_t index); /* ascending */
    const szg_spectrum *all;                               /* of n values, where `at` reads it */
    double rounding;
} truth;

static double listed(const truth *self, int64_t index) {
    return self->all->re[index];
}

static double of_zero(const truth *self, int64_t index) {
    (void)self, (void)index;
    return 0;
}

static double nearest(const truth *self, double value) {
    int64_t lo = 0, hi = self->n - 1; /* the last one that is at most `value`, or the first */
    while (lo < hi) {
        int64_t middle = hi - (hi - lo) / 2;
        if (self->at(self, middle) <= value)
            lo = middle;
        else
            hi = middle - 1;
    }
    double distance = fabs(value - self->at(self, lo));
    return lo + 1 < self->n ? fmin(distance, fabs(value - self->at(self, lo + 1))) : distance;
}

static double norm_of_truth(const truth *self) {
    return fmax(fabs(self->at(self, 0)), fabs(self->at(self, self->n - 1)));
}

static void check_value(const truth *self, const szg_extreme *value, double want) {
    double norm = norm_of_truth(self);
    bool small = value->error <= 1e-10 * norm && value->error <= value->gap / 10;
    ck_assert_int_eq(value->resolved, small);
    ck_close(nearest(self, value->value), 0, value->error + self->rounding);
    if (value->resolved)
        ck_close(value->value, want, value->error + self->rounding);
}

static void check_ends(const truth *self, const szg_extremes *s) {
    double least = self->at(self, 0), largest = self->at(self, self->n - 1);
    ck_assert_double_le(s->least_lo, least + self->rounding);
    ck_assert_double_ge(s->least_hi, least - self->rounding);
    ck_assert_double_le(s->largest_lo, largest + self->rounding);
    ck_assert_double_ge(s->largest_hi, largest - self->rounding);
}

/* The number of resolved values. */
static int check_extremes(const truth *self, const szg_extremes *s) {
    int resolved = 0;
    int64_t n = self->n;
    ck_assert_int_eq(s->n, n);
    for (int64_t i = 0; i < s->count; i++) {
        check_value(self, &s->least[i], self->at(self, i));
        check_value(self, &s->largest[i], self->at(self, n - 1 - i));
        resolved += s->least[i].resolved + s->largest[i].resolved;
    }
    check_ends(self, s);
    return resolved;
}

static int check_matrix(const truth *self, szg_matrix matrix, int64_t k, szg_method method) {
    szg_extremes s;
    ck_szg_ok(szg_extremes_compute(test_context(), &matrix, k, &s));
    ck_assert_int_eq(s.count, k < self->n ? k : self->n);
    ck_assert_int_eq(s.method, method);
    int resolved = check_extremes(self, &s);
    szg_extremes_close(&s);
    ck_assert_ptr_null(s.least);
    return resolved;
}

static int check_toeplitz(const truth *self, szg_toeplitz *t, int64_t k, szg_method method) {
    int resolved = check_matrix(self, szg_matrix_toeplitz(t), k, method);
    szg_toeplitz_close(&t);
    return resolved;
}

/* All values in closed form, right to 64 units each. */
static truth closed_form(szg_matrix matrix, szg_spectrum *all) {
    ck_szg_ok(eigenvalues_of(test_context(), matrix, NULL, all));
    truth known = {.n = all->n, .at = listed, .all = all};
    known.rounding = 64 * DBL_EPSILON * norm_of_truth(&known);
    return known;
}

/* Both edges are clustered: at n = 100,000 neighbours are 2.7e-7 (top) and 2e-12 (bottom) of the
 * norm apart, and products err by 1.5e-13. */
START_TEST(kms_by_its_lags) {
    const int64_t orders[] = {3000, LONG};
    for (int i = 0; i < 2; i++) {
        szg_spectrum all;
        truth known = closed_form(szg_matrix_kms(orders[i], 0.9), &all);
        ck_assert_int_eq(check_toeplitz(&known, open_kms(orders[i], 0.9), 5, SZG_METHOD_LANCZOS),
                         10);
        szg_spectrum_close(&all);
    }
}
END_TEST

/* The symbol is 1 up to 4e-5; neighbours at both edges are 3e-14 apart, which no product tells. */
START_TEST(crowded_ends_are_not_resolved) {
    szg_spectrum all;
    truth known = closed_form(szg_matrix_kms(LONG, 1e-5), &all);
    ck_assert_int_eq(check_toeplitz(&known, open_kms(LONG, 1e-5), 3, SZG_METHOD_LANCZOS), 0);
    szg_spectrum_close(&all);
}
END_TEST

/* Of 0.9^|k| cut after `count` lags the symbol is largest at 0: 1 + 18 (1 - 0.9^(count - 1)) = 19
 * and at least 1/19. The circulant around T says that up to the rounding of a transform, 8e-13;
 * ball arithmetic to a few units. */
START_TEST(symbols_bound_the_ends) {
    enum { LAGS = 3000 };
    double lags[LAGS];
    for (int k = 0; k < LAGS; k++)
        lags[k] = pow(0.9, k);
    for (int64_t n = LAGS; n <= 40000; n += 40000 - LAGS) {
        szg_toeplitz *t;
        szg_extremes s;
        ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, LAGS, lags, &t));
        szg_matrix matrix = szg_matrix_toeplitz(t);
        ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 2, &s));
        ck_assert(s.largest_hi >= s.largest[0].value && s.least_lo <= s.least[0].value);
        ck_close(s.largest_hi, 19, 8 * 19 * DBL_EPSILON); /* lags err by half a unit each */
        ck_close(s.least_lo, 1.0 / 19, 8 * DBL_EPSILON);
        szg_extremes_close(&s);
        szg_toeplitz_close(&t);
    }
}
END_TEST

static double second_difference(const truth *self, int64_t index) {
    double half = sin((double)(index + 1) * M_PI / (2 * (double)(self->n + 1)));
    return 4 * half * half;
}

START_TEST(tridiagonal_by_its_lags) {
    const double lags[2] = {2, -1};
    const truth known = {.n = 50000, .at = second_difference, .rounding = 16 * DBL_EPSILON};
    ck_assert_int_eq(
        check_toeplitz(&known, open_symmetric(known.n, 2, lags), 10, SZG_METHOD_LANCZOS), 20);
}
END_TEST

/* -|i - j|: the least and the largest ones stand apart, and behind the least all others crowd. */
START_TEST(alibi_by_its_lags) {
    const int64_t n = 17000; /* above it a failed search is not made good by all values */
    double *lags = get(n, sizeof *lags);
    for (int64_t k = 0; k < n; k++)
        lags[k] = -(double)k;
    szg_spectrum all;
    szg_extremes s;
    truth known = closed_form(szg_matrix_distance(n, 1), &all);
    szg_toeplitz *t = open_symmetric(n, n, lags);
    szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 3, &s));
    ck_assert_int_eq(check_extremes(&known, &s), 4);
    ck_assert(s.least[0].resolved && !s.least[1].resolved && !s.least[2].resolved);
    szg_extremes_close(&s);
    szg_spectrum_close(&all);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}
END_TEST

static double random_lag(int64_t k) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 90};
    return test_real(&stream, (uint64_t)k);
}

static szg_toeplitz *random_symmetric(int64_t n) {
    double *lags = get(n, sizeof *lags);
    for (int64_t k = 0; k < n; k++)
        lags[k] = random_lag(k);
    szg_toeplitz *t = open_symmetric(n, n, lags);
    szgi_memory_free(lags);
    return t;
}

static szg_toeplitz *random_hermitian(int64_t n) {
    szg_toeplitz *t;
    szg_c64 *lags = get(n, sizeof *lags);
    for (int64_t k = 0; k < n; k++)
        lags[k] = (szg_c64){random_lag(2 * k), k > 0 ? random_lag(2 * k + 1) : 0};
    ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), n, n, lags, &t));
    szgi_memory_free(lags);
    return t;
}

/* All values by LAPACK or the divide and conquer: right to n eps of the norm. */
static truth all_values(szg_matrix matrix, szg_spectrum *all) {
    ck_szg_ok(part_of(test_context(), matrix, NULL, all));
    truth known = {.n = all->n, .at = listed, .all = all};
    known.rounding = weyl(all->n, all->frobenius);
    return known;
}

/* At these orders Lanczos is asked where the public door would compute all values. */
START_TEST(random_lags_by_lanczos) {
    for (int kind = 0; kind < 2; kind++) {
        const int64_t n = 500, k = 4;
        szg_toeplitz *t = kind ? random_hermitian(n) : random_symmetric(n);
        szg_spectrum all, s;
        truth known = all_values(szg_matrix_toeplitz(t), &all);
        szgi_selection selection = {.n = n, .low = k, .high = k};
        bool complete;
        ck_szg_ok(szgi_extremes_toeplitz(test_context(), t, &selection, &s, &complete));
        ck_assert(complete && s.count == 2 * k);
        for (int64_t i = 0; i < s.count; i++) {
            double want = known.at(&known, szgi_selection_index(&selection, i));
            ck_close(s.re[i], want, s.error[i] + known.rounding);
            ck_close(s.error[i], 0, 1e-10 * norm_of_truth(&known));
        }
        szg_spectrum_close(&s);
        szg_spectrum_close(&all);
        szg_toeplitz_close(&t);
    }
}
END_TEST

/* ARPACK's tolerance has an absolute part, and squares of residuals have a range: neither tells on
 * matrices far from 1. Powers of two cost no digits. */
START_TEST(size_does_not_matter) {
    enum { ORDER = 500, K = 4 };
    const int exponents[] = {-70, -390, 700};
    double lags[ORDER];
    szgi_selection selection = {.n = ORDER, .low = K, .high = K};
    szg_spectrum plain, s;
    bool complete;
    szg_toeplitz *t = random_symmetric(ORDER);
    ck_szg_ok(szgi_extremes_toeplitz(test_context(), t, &selection, &plain, &complete));
    ck_assert(complete);
    for (int e = 0; e < 3; e++) {
        for (int64_t k = 0; k < ORDER; k++)
            lags[k] = ldexp(random_lag(k), exponents[e]);
        szg_toeplitz *scaled = open_symmetric(ORDER, ORDER, lags);
        ck_szg_ok(szgi_extremes_toeplitz(test_context(), scaled, &selection, &s, &complete));
        ck_assert(complete);
        for (int64_t i = 0; i < s.count; i++) { /* errors are residuals, mostly rounding */
            double error = ldexp(s.error[i], -exponents[e]);
            ck_assert_double_le(error, 2 * plain.error[i]);
            ck_close(ldexp(s.re[i], -exponents[e]), plain.re[i], error + plain.error[i]);
        }
        szg_spectrum_close(&s);
        szg_toeplitz_close(&scaled);
    }
    szg_spectrum_close(&plain);
    szg_toeplitz_close(&t);
}
END_TEST

/* The top of a Gaussian kernel is resolved; its bottom is 0 to rounding, where Lanczos gives up and
 * all values are computed. */
START_TEST(smooth_kernel_by_all_values) {
    const int64_t n = 2500;
    double lags[400];
    for (int k = 0; k < 400; k++)
        lags[k] = exp(-k * k / 800.0);
    szg_toeplitz *t = open_symmetric(n, 400, lags);
    szg_spectrum all;
    truth known = all_values(szg_matrix_toeplitz(t), &all);
    ck_assert_int_ge(check_toeplitz(&known, t, 4, SZG_METHOD_DIVIDE), 4);
    szg_spectrum_close(&all);
}
END_TEST

/* Value number i's distance to its nearest neighbour. */
static double gap_of(const truth *self, int64_t i) {
    double value = self->at(self, i);
    double below = i > 0 ? value - self->at(self, i - 1) : INFINITY;
    double above = i + 1 < self->n ? self->at(self, i + 1) - value : INFINITY;
    return fmin(below, above);
}

static void check_gaps(const truth *self, const szg_extremes *s) {
    for (int64_t i = 0; i < s->count && self->n > 1; i++) {
        ck_close(s->least[i].gap, gap_of(self, i), 4 * self->rounding);
        ck_close(s->largest[i].gap, gap_of(self, self->n - 1 - i), 4 * self->rounding);
    }
}

START_TEST(short_matrices_by_all_values) {
    for (int64_t n = 1; n <= 40; n += 13)
        for (int kind = 0; kind < 2; kind++) {
            szg_toeplitz *t = kind ? random_hermitian(n) : random_symmetric(n);
            szg_spectrum all;
            szg_matrix matrix = szg_matrix_toeplitz(t);
            truth known = all_values(matrix, &all);
            for (int64_t k = 1; k <= n + 1; k += 1 + n / 3) {
                szg_extremes s;
                ck_szg_ok(szg_extremes_compute(test_context(), &matrix, k, &s));
                check_extremes(&known, &s);
                check_gaps(&known, &s);
                double stated = (double)n * DBL_EPSILON * norm_of_truth(&known);
                ck_close(s.least[0].error, n > 1 ? stated : 0, 1e-6 * stated);
                ck_assert(s.method != SZG_METHOD_LANCZOS);
                ck_assert(n > 1 || isinf(s.least[0].gap));
                szg_extremes_close(&s);
            }
            szg_spectrum_close(&all);
            szg_toeplitz_close(&t);
        }
}
END_TEST

/* Powers of two cost no digits, up or down: each value is off by its error at most. */
static void check_powers_of_two(int64_t n, int exponent) {
    const double same[2] = {1, -0.5}, lags[2] = {ldexp(1, exponent), ldexp(-0.5, exponent)};
    szg_extremes scaled, plain;
    szg_toeplitz *t = open_symmetric(n, 2, lags), *u = open_symmetric(n, 2, same);
    const szg_matrix times = szg_matrix_toeplitz(t), once = szg_matrix_toeplitz(u);
    ck_szg_ok(szg_extremes_compute(test_context(), &times, 1, &scaled));
    ck_szg_ok(szg_extremes_compute(test_context(), &once, 1, &plain));
    ck_close(ldexp(scaled.least[0].value, -exponent), plain.least[0].value,
             2 * plain.least[0].error);
    ck_close(ldexp(scaled.largest[0].error, -exponent), plain.largest[0].error,
             plain.largest[0].error / 2); /* residuals are rounding */
    ck_assert(scaled.least[0].resolved && scaled.largest[0].resolved);
    szg_extremes_close(&scaled);
    szg_extremes_close(&plain);
    szg_toeplitz_close(&t);
    szg_toeplitz_close(&u);
}

START_TEST(tiny_and_huge_matrices_keep_their_errors) {
    for (int64_t n = 50; n < 3000; n += 2500) {
        check_powers_of_two(n, -600);
        check_powers_of_two(n, 600);
        check_powers_of_two(n, 930);
    }
}
END_TEST

/* Lags that are a few units of 2^-1074 against the same multiplied by 2^1074. Between them are
 * roundings to that unit: of the values, which `error` counts, and of the ends. */
START_TEST(subnormal_matrices_keep_their_errors) {
    enum { N = 257 };
    double tiny[N], lags[N];
    for (int64_t k = 0; k < N; k++) {
        int64_t cube = k * k * k % 11; /* so few lags that their transform over 2 N rounds to 0 */
        lags[k] = cube == 1 ? 1 : cube == 2 ? -1 : 0;
        tiny[k] = ldexp(lags[k], -1074);
    }
    for (int64_t count = 2; count <= N; count += N - 2) {
        szg_toeplitz *t = open_symmetric(N, count, tiny), *u = open_symmetric(N, count, lags);
        const szg_matrix small = szg_matrix_toeplitz(t), large = szg_matrix_toeplitz(u);
        szg_extremes of_small, of_large;
        ck_szg_ok(szg_extremes_compute(test_context(), &small, 2, &of_small));
        ck_szg_ok(szg_extremes_compute(test_context(), &large, 2, &of_large));
        for (int64_t i = 0; i < 2; i++) {
            const szg_extreme *x = &of_small.least[i], *y = &of_large.least[i];
            ck_close(ldexp(x->value, 1074), y->value, ldexp(x->error, 1074) + y->error);
            x = &of_small.largest[i];
            y = &of_large.largest[i];
            ck_close(ldexp(x->value, 1074), y->value, ldexp(x->error, 1074) + y->error);
        }
        double least = of_large.least[0].value, largest = of_large.largest[0].value;
        double error = of_large.least[0].error;
        ck_assert_double_le(ldexp(of_small.least_lo, 1074), least + error);
        ck_assert_double_ge(ldexp(of_small.least_hi, 1074), least - error);
        ck_assert_double_le(ldexp(of_small.largest_lo, 1074), largest + error);
        ck_assert_double_ge(ldexp(of_small.largest_hi, 1074), largest - error);
        szg_extremes_close(&of_small);
        szg_extremes_close(&of_large);
        szg_toeplitz_close(&t);
        szg_toeplitz_close(&u);
    }
}
END_TEST

/* Any order: the ends alone are computed. */
START_TEST(closed_forms_of_huge_matrices) {
    const szg_matrix matrices[] = {szg_matrix_kms(1000000000, 0.9),
                                   szg_matrix_distance(1000000000, 0.5)};
    for (int i = 0; i < 2; i++) {
        szg_extremes s;
        ck_szg_ok(szg_extremes_compute(test_context(), &matrices[i], 3, &s));
        for (int k = 0; k < 3; k++) {
            double size = 1e-12 * fabs(s.largest[k].value);
            ck_assert(s.largest[k].error > 0 && s.largest[k].error < size);
            ck_assert(k == 0 || s.largest[k].value <= s.largest[k - 1].value);
        }
        /* 2.7e-15 of the norm apart at the top of KMS; ALiBi's are 1/p^2 */
        ck_assert_int_eq(s.largest[0].resolved, i == 1);
        szg_extremes_close(&s);
    }
}
END_TEST

START_TEST(zeros_by_structure_count) {
    const double weight[2] = {1, 2}, theta[2] = {0.5, 1.7};
    szg_matrix matrix = szg_matrix_cosines(1000000000, 2, weight, theta);
    szg_extremes s;
    ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 6, &s));
    for (int i = 0; i < 6; i++) {
        ck_assert(s.least[i].value == 0 && s.least[i].error == 0 && s.least[i].resolved);
        ck_assert_int_eq(s.largest[i].value > 0, i < 4); /* w n / 2 each, nearly in pairs */
        ck_close(s.largest[i].value, i < 2 ? 1e9 : i < 4 ? 5e8 : 0, 10);
    }
    ck_assert(s.least_lo == 0 || fabs(s.least_lo) < 1e-300);
    szg_extremes_close(&s);
    szg_matrix zero = szg_matrix_zero(5);
    ck_szg_ok(szg_extremes_compute(test_context(), &zero, 2, &s));
    ck_assert(s.least[1].value == 0 && s.largest[0].resolved);
    szg_extremes_close(&s);
}
END_TEST

/* (a b^T + b a^T) / 2 with orthogonal units a and b: 1/2, -1/2, and n - 2 zeros between them. */
START_TEST(zeros_between_values) {
    enum { ORDER = 50 };
    double a[ORDER] = {1}, b[ORDER] = {0, 1};
    const szg_factored logits = {.n = ORDER, .d = 1, .a = a, .lda = 1, .b = b, .ldb = 1};
    const szg_matrix matrix = szg_matrix_factored(&logits);
    szg_extremes s;
    ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 2, &s));
    ck_close(s.least[0].value, -0.5, 8 * DBL_EPSILON);
    ck_close(s.largest[0].value, 0.5, 8 * DBL_EPSILON);
    ck_assert(s.least[1].value == 0 && s.largest[1].value == 0);
    ck_close(s.least[0].gap, 0.5, 8 * DBL_EPSILON);
    szg_extremes_close(&s);
}
END_TEST

/* a a^T + T = 1e-9 KMS(0.9), a = (1, .., 1): what is left of two parts of norm n has no digit of
 * its Frobenius norm, but its ends are enclosed. */
START_TEST(a_gram_matrix_and_a_bias_that_cancel) {
    enum { ORDER = 2500 };
    double ones[ORDER], lags[ORDER], left[ORDER];
    for (int k = 0; k < ORDER; k++) {
        ones[k] = 1;
        lags[k] = -1 + 1e-9 * pow(0.9, k);
        left[k] = 1 + lags[k]; /* exactly */
    }
    for (int64_t n = 20; n <= ORDER; n += ORDER - 20) {
        szg_toeplitz *bias = open_symmetric(n, n, lags), *t = open_symmetric(n, n, left);
        szg_factored f = {.n = n, .d = 1, .a = ones, .lda = 1, .b = ones, .ldb = 1, .bias = bias};
        szg_matrix matrix = szg_matrix_factored(&f);
        szg_spectrum all;
        szg_extremes s;
        truth known = all_values(szg_matrix_toeplitz(t), &all);
        ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 1, &s));
        check_ends(&known, &s);
        szg_extremes_close(&s);
        szg_spectrum_close(&all);
        szg_toeplitz_close(&bias);
        szg_toeplitz_close(&t);
    }
}
END_TEST

/* A search that cannot fit says so before any work. */
START_TEST(memory_is_asked_for_first) {
    const double lags[2] = {2, -1};
    szg_toeplitz *t;
    szg_extremes s;
    ck_szg_ok(
        szg_toeplitz_open_symmetric(test_context(), szgi_memory_available() / 8, 2, lags, &t));
    szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_szg_fails(SZG_ENOMEM, "ask for fewer values",
                 szg_extremes_compute(test_context(), &matrix, 2, &s));
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 100000, 2, lags, &t));
    ck_assert_int_eq(szgi_toeplitz_vectors(t), 0); /* sums over the band */
    ck_assert_int_eq(szgi_inverse_vectors(t), 7);
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 100003, 2, lags, &t));
    ck_assert_int_eq(szgi_inverse_vectors(t), 14); /* a prime */
    szg_toeplitz_close(&t);
}
END_TEST

/* K + 1 values at each end, K = 3: 2 K + 26 vectors, of a Toeplitz matrix K + 17 and those of the
 * inverse, 7 or 14. From order 2^25 on 2 K + 14 and K + 10. (docs/explanation/methods.md) */
START_TEST(long_searches_keep_fewer_vectors) {
    enum { VAST = 1 << 25, K = 3 };
    const double lags[2] = {2, -1};
    const struct {
        int64_t n, k, plain, inverted;
    } want[] = {{VAST - 2, K + 1, 2 * K + 26, 2 * K + 18 + 14},
                {VAST, K + 1, 2 * K + 14, K + 10 + 7},
                {VAST + 2, K + 1, 2 * K + 14, K + 10 + 14},
                {VAST, 31, 2 * 30 + 14, 2 * 30 + 14}}; /* there the plain search takes more */
    for (int i = 0; i < 4; i++) {
        szg_toeplitz *t = open_symmetric(want[i].n, 2, lags); /* a band: products take no vectors */
        ck_assert_int_eq(szgi_extremes_vectors(want[i].n, want[i].k, NULL), want[i].plain);
        ck_assert_int_eq(szgi_extremes_vectors(want[i].n, want[i].k, t),
                         want[i].inverted > 19 ? want[i].inverted : 19);
        szg_toeplitz_close(&t);
    }
}
END_TEST

static szg_status apply_inverse(szg_context *context, void *data, const double *x, double *y) {
    return szgi_inverse_apply(context, data, x, y);
}

/* The bases of long searches, at a short order: k + 5 vectors of the inverse of a shifted second
 * difference, 1 / (shift + 4 sin^2). */
START_TEST(few_vectors_converge) {
    enum { ORDER = 3000, K = 4 };
    const double shift = 1e-6, lags[2] = {2 + shift, -1};
    const truth known = {.n = ORDER, .at = second_difference};
    szg_toeplitz *t = open_symmetric(ORDER, 2, lags);
    szgi_inverse *inverse;
    ck_szg_ok(szgi_inverse_open(test_context(), t, &inverse));
    szgi_operator s = {.n = ORDER, .apply = apply_inverse, .data = inverse};
    szgi_lanczos_options options = {.largest = true,
                                    .k = K,
                                    .basis = K + 5,
                                    .restarts = 8,
                                    .tolerance = 1e-10,
                                    .what = "few vectors"};
    double values[K], *vectors;
    bool converged;
    ck_szg_ok(szgi_lanczos(test_context(), &s, &options, values, &vectors, &converged));
    ck_assert(converged);
    for (int i = 0; i < K; i++) { /* the tolerance and what conjugate gradients leave, 1e-13 */
        double want = 1 / (shift + second_difference(&known, K - 1 - i));
        ck_close(values[i], want, 1e-9 * want);
    }
    szgi_memory_free(vectors);
    szgi_inverse_close(&inverse);
    szg_toeplitz_close(&t);
}
END_TEST

static szg_status apply_nothing(szg_context *context, void *data, const double *x, double *y) {
    (void)context, (void)data, (void)x, (void)y;
    ck_abort_msg("no product is to be asked for");
    return SZG_OK;
}

/* ARPACK counts its work space, (2 k + 20) (2 k + 28) numbers here, in 32 bits. */
START_TEST(bases_have_a_limit) {
    szgi_operator s = {.n = 100000, .apply = apply_nothing};
    szgi_lanczos_options options = {.k = 23159, .restarts = 1, .what = "too many vectors"};
    double *vectors;
    bool converged;
    ck_szg_fails(SZG_EINVAL, "at most 46336 vectors, not 46338: ask for fewer values",
                 szgi_lanczos(test_context(), &s, &options, NULL, &vectors, &converged));
}
END_TEST

/* Logits with a lag bias, without and with a mask: products against the dense matrix. */
START_TEST(logits_by_products) {
    const int64_t n = 2100, d = 3;
    double *a = get(n * d, sizeof *a), *lags = get(n, sizeof *lags);
    const szgi_stream stream = {.seed = test_seed(), .purpose = 91};
    for (int64_t i = 0; i < n * d; i++) /* of one size, so that content does not hide the bias */
        a[i] = szgi_random_normal(&stream, (uint64_t)i);
    for (int64_t k = 0; k < n; k++)
        lags[k] = szgi_random_normal(&stream, (uint64_t)(n * d + k));
    szg_toeplitz *bias = open_symmetric(n, n, lags);
    for (int causal = 0; causal < 2; causal++) {
        szg_factored f = {.n = n, .d = d, .a = a, .lda = d, .b = a, .ldb = d, .causal = causal};
        f.bias = bias;
        szg_matrix matrix = szg_matrix_factored(&f);
        szg_spectrum all;
        truth known = all_values(matrix, &all);
        ck_assert_int_eq(check_matrix(&known, matrix, 2, SZG_METHOD_MATRIX_FREE_PART), 4);
        szg_spectrum_close(&all);
    }
    szg_toeplitz_close(&bias);
    szgi_memory_free(a);
    szgi_memory_free(lags);
}
END_TEST

/* Sums of n products whose terms grow and cancel: what they lose must not grow with n. The oracle
 * sums in long doubles, which lose 2^-11 of a unit a term. */
static void check_product(int64_t n, int64_t d, bool causal) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 96};
    double *a = get(n * d, sizeof *a), *b = get(n * d, sizeof *b), *x = get(n, sizeof *x),
           *y = get(n, sizeof *y), bound, square = 0;
    long double c[8] = {0}, off = 0;
    for (int64_t i = 0; i < n * d; i++) {
        a[i] = szgi_random_normal(&stream, (uint64_t)i);
        b[i] = 1 + szgi_random_normal(&stream, (uint64_t)(n * d + i)) / 8;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] =
            (1 + szgi_random_normal(&stream, (uint64_t)(2 * n * d + i)) / 8) * (i < n / 2 ? 1 : -1);
        square += x[i] * x[i];
    }
    const szg_factored f = {.n = n, .d = d, .a = a, .lda = d, .b = b, .ldb = d, .causal = causal};
    ck_szg_ok(szgi_factored_apply(test_context(), &f, 'n', 1, x, n, y, n));
    ck_szg_ok(szgi_logits_product_error(test_context(), &f, &bound));
    for (int64_t k = 0; !causal && k < n; k++)
        for (int64_t t = 0; t < d; t++)
            c[t] += (long double)x[k] * b[k * d + t];
    for (int64_t i = 0; i < n; i++) {
        long double want = 0;
        for (int64_t t = 0; t < d; t++) {
            c[t] += causal ? (long double)x[i] * b[i * d + t] : 0;
            want += c[t] * a[i * d + t];
        }
        off += (y[i] - want) * (y[i] - want);
    }
    ck_assert_msg(sqrtl(off) <= bound * sqrt(square) * (1 + 0x1p-10), "%Lg, at most %g", sqrtl(off),
                  bound * sqrt(square));
    szgi_memory_free(a), szgi_memory_free(b), szgi_memory_free(x), szgi_memory_free(y);
}

START_TEST(long_products_of_logits) {
    for (int causal = 0; causal < 2; causal++) {
        check_product(50000, 1, causal);
        check_product(50000, 8, causal);
    }
}
END_TEST

/* The truncated symbol's edge ripples: 5e-5 outside, where eigenvalues are 4e-9 apart. Both
 * searches of one end and of several find it; all values by another method say whether it is the
 * right one. */
START_TEST(lags_that_decay_slowly) {
    const int64_t n = 16500; /* above SZGI_FALLBACK_MAX */
    double *lags = get(n, sizeof *lags);
    const szg_spectra_options ask_range = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE};
    szg_spectrum all, range;
    szg_extremes s;
    for (int64_t k = 0; k < n; k++)
        lags[k] = 1 / (1 + (double)k);
    szg_toeplitz *t = open_symmetric(n, n, lags);
    const szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 2, &s));
    ck_szg_ok(szg_spectrum_compute(test_context(), &matrix, SZG_QUESTION_EIGENVALUES, NULL, &all));
    ck_szg_ok(szg_spectrum_compute(test_context(), &matrix, SZG_QUESTION_EIGENVALUES, &ask_range,
                                   &range));
    ck_assert_int_eq(all.method, SZG_METHOD_DIVIDE);
    ck_assert_int_eq(range.method, SZG_METHOD_LANCZOS);
    double slack = n * DBL_EPSILON * all.re[n - 1];
    for (int i = 0; i < 2; i++) {
        ck_assert(s.least[i].resolved && s.largest[i].resolved);
        ck_close(s.least[i].value, all.re[i], s.least[i].error + slack);
        ck_close(s.largest[i].value, all.re[n - 1 - i], s.largest[i].error + slack);
    }
    ck_close(range.re[0], all.re[0], 2 * slack);
    szg_extremes_close(&s);
    szg_spectrum_close(&all), szg_spectrum_close(&range);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
}
END_TEST

/* L = M o (A B^T + T) with t_k = -m k, a_i = (i + x_i, 1 + y_i), b_j = (m, -m j): what is left of
 * the sum is m (x_i - y_i j), which rounding of the products exceeds by far in relative terms. */
static void check_cancelling(int64_t n, double noise) {
    const double m = 0x1p-8;
    const szgi_stream stream = {.seed = test_seed(), .purpose = 94};
    double *a = get(2 * n, sizeof *a), *b = get(2 * n, sizeof *b), *lags = get(n, sizeof *lags);
    double *left = get(n * n, sizeof *left);
    for (int64_t i = 0; i < n; i++) {
        a[2 * i] = (double)i + noise * szgi_random_normal(&stream, (uint64_t)(2 * i));
        a[2 * i + 1] = 1 + noise * szgi_random_normal(&stream, (uint64_t)(2 * i + 1));
        b[2 * i] = m;
        b[2 * i + 1] = -m * (double)i;
        lags[i] = -m * (double)i;
        for (int64_t j = 0; j <= i; j++) /* exact differences */
            left[i * n + j] = m * ((a[2 * i] - (double)i) - (a[2 * i + 1] - 1) * (double)j);
    }
    szg_toeplitz *bias = open_symmetric(n, n, lags);
    const szg_factored f = {
        .n = n, .d = 2, .a = a, .lda = 2, .b = b, .ldb = 2, .bias = bias, .causal = true};
    const szg_matrix logits = szg_matrix_factored(&f), exact = szg_matrix_dense(n, n, left, n);
    szg_extremes s, known;
    ck_szg_ok(szg_extremes_compute(test_context(), &logits, 1, &s));
    ck_szg_ok(szg_extremes_compute(test_context(), &exact, 1, &known));
    double least = known.least[0].value, largest = known.largest[0].value;
    double error = known.least[0].error + n * DBL_EPSILON * fmax(-least, largest);
    ck_close(s.least[0].value, least, s.least[0].error + error);
    ck_close(s.largest[0].value, largest, s.largest[0].error + error);
    ck_assert(s.least_lo <= least + error && least - error <= s.least_hi);
    ck_assert(s.largest_lo <= largest + error && largest - error <= s.largest_hi);
    szg_extremes_close(&s);
    szg_extremes_close(&known);
    szg_toeplitz_close(&bias);
    szgi_memory_free(a);
    szgi_memory_free(b);
    szgi_memory_free(lags);
    szgi_memory_free(left);
}

START_TEST(logits_that_cancel) {
    check_cancelling(12, 1e-9);
    check_cancelling(60, 1e-6);
    check_cancelling(60, 1e-12);
}
END_TEST

/* Of entries near 1e-300 the Frobenius norm's square is 0, and of some near 1e250 an infinity. */
START_TEST(logits_of_any_size) {
    enum { N = 9 };
    for (int exponent = -500; exponent <= 420; exponent += 460)
        for (int causal = 0; causal < 2; causal++) {
            double a[N], same[N];
            for (int64_t i = 0; i < N; i++) {
                same[i] = i % 2 ? -1 - 0.25 * (double)i : 2;
                a[i] = ldexp(same[i], exponent);
            }
            szg_factored f = {.n = N, .d = 1, .a = a, .lda = 1, .b = a, .ldb = 1, .causal = causal};
            szg_extremes s, plain;
            const szg_matrix matrix = szg_matrix_factored(&f);
            ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 1, &s));
            f.a = f.b = same;
            const szg_matrix once = szg_matrix_factored(&f);
            ck_szg_ok(szg_extremes_compute(test_context(), &once, 1, &plain));
            double least = plain.least[0].value, largest = plain.largest[0].value;
            double error = plain.largest[0].error;
            ck_assert_double_le(ldexp(s.least_lo, -2 * exponent), least + error);
            ck_assert_double_ge(ldexp(s.least_hi, -2 * exponent), least - error);
            ck_assert_double_le(ldexp(s.largest_lo, -2 * exponent), largest + error);
            ck_assert_double_ge(ldexp(s.largest_hi, -2 * exponent), largest - error);
            szg_extremes_close(&s);
            szg_extremes_close(&plain);
        }
}
END_TEST

/* Of a factor that is 0 all values are known, masked or not; what underflows is told. */
START_TEST(masked_logits_of_nothing) {
    enum { LONGEST = 3000 };
    static double zeros[LONGEST], ones[LONGEST], tiny[LONGEST];
    for (int64_t i = 0; i < LONGEST; i++) {
        ones[i] = 1 + 0.25 * (double)(i % 5);
        tiny[i] = 1e-170 * ones[i];
    }
    for (int64_t n = 40; n <= LONGEST; n += LONGEST - 40)
        for (int side = 0; side < 2; side++) {
            const truth known = {.n = n, .at = of_zero};
            const szg_factored f = {.n = n,
                                    .d = 1,
                                    .a = side ? zeros : ones,
                                    .lda = 1,
                                    .b = side ? ones : zeros,
                                    .ldb = 1,
                                    .causal = true};
            ck_assert_int_eq(check_matrix(&known, szg_matrix_factored(&f), 2, SZG_METHOD_ZERO), 4);
        }
    const szg_factored f = {
        .n = LONGEST, .d = 1, .a = tiny, .lda = 1, .b = tiny, .ldb = 1, .causal = true};
    const szg_matrix matrix = szg_matrix_factored(&f);
    szg_extremes s;
    ck_szg_fails(SZG_EDOMAIN, "multiply it by a power of two",
                 szg_extremes_compute(test_context(), &matrix, 2, &s));
    ones[1] = NAN;
    const szg_factored bad = {
        .n = 40, .d = 1, .a = ones, .lda = 1, .b = zeros, .ldb = 1, .causal = true};
    const szg_matrix with_nan = szg_matrix_factored(&bad);
    ck_szg_fails(SZG_EDATA, "nan", szg_extremes_compute(test_context(), &with_nan, 2, &s));
}
END_TEST

START_TEST(hermitian_part_of_others) {
    const double lags[3] = {1, 0, 3}; /* the part has 2, 0, 2: 4 cos(j pi / (n + 1)) */
    szg_extremes s;
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_real(test_context(), 5000, 2, lags, &t));
    szg_matrix matrix = szg_matrix_toeplitz(t);
    ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 2, &s));
    ck_assert(s.hermitian_part);
    for (int i = 0; i < 2; i++) {
        double want = 4 * cos((i + 1) * M_PI / 5001);
        ck_assert(s.least[i].resolved && s.largest[i].resolved);
        ck_close(s.largest[i].value, want, s.largest[i].error + 16 * DBL_EPSILON);
        ck_close(s.least[i].value, -want, s.least[i].error + 16 * DBL_EPSILON);
    }
    szg_extremes_close(&s);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(same_numbers_at_any_number_of_threads) {
    szg_extremes one, three;
    szg_toeplitz *t = open_kms(40000, 0.7); /* long enough for two transforms side by side */
    szg_matrix matrix = szg_matrix_toeplitz(t);
    szg_context_options threads = {SZG_INIT(szg_context_options), .threads = 3};
    szg_context *other;
    ck_szg_ok(szg_extremes_compute(test_context(), &matrix, 3, &one));
    ck_szg_ok(szg_context_open(&threads, &other));
    ck_szg_ok(szg_extremes_compute(other, &matrix, 3, &three));
    for (int i = 0; i < 3; i++) {
        ck_assert(one.least[i].value == three.least[i].value);
        ck_assert(one.largest[i].value == three.largest[i].value);
        ck_assert(one.largest[i].error == three.largest[i].error);
    }
    szg_extremes_close(&one);
    szg_extremes_close(&three);
    szg_context_close(&other);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(refusals) {
    const double array[6] = {1, 2, 3, 4, 5, 6};
    szg_context *ctx = test_context();
    szg_extremes s;
    szg_spectrum spectrum;
    szg_spectra_options several = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE,
                                   .ends = 2};
    szg_matrix flat = szg_matrix_dense(2, 3, array, 3), kms = szg_matrix_kms(9000, 0.5);
    ck_szg_fails(SZG_EINVAL, "2 x 3", szg_extremes_compute(ctx, &flat, 1, &s));
    ck_szg_fails(SZG_EINVAL, "at least one", szg_extremes_compute(ctx, &kms, 0, &s));
    ck_szg_fails(SZG_EDOMAIN, "one is possible", singular_of(ctx, kms, &several, &spectrum));
    several.ends = 1;
    ck_szg_ok(singular_of(ctx, kms, &several, &spectrum));
    ck_assert_ptr_null(spectrum.error); /* the statement is of eigenvalues */
    szg_spectrum_close(&spectrum);
    ck_szg_ok(eigenvalues_of(ctx, kms, &several, &spectrum));
    ck_assert(spectrum.error && spectrum.error[1] > 0);
    szg_spectrum_close(&spectrum);
    several.ends = -1;
    ck_szg_fails(SZG_EINVAL, "negative", eigenvalues_of(ctx, kms, &several, &spectrum));
}
END_TEST

static szg_status whole_call(void) {
    szg_context *context = test_context();
    const double lags[3] = {1, 0.25, 0.5};
    const szg_matrix_labels labels = {SZG_INIT(szg_matrix_labels), "a", "b", 1};
    szg_extremes s = {0};
    szg_table *table = NULL;
    szg_toeplitz *t;
    SZG_TRY(szg_toeplitz_open_symmetric(context, 2100, 3, lags, &t));
    szg_matrix matrix = szg_matrix_toeplitz(t);
    szg_status status = szg_extremes_compute(context, &matrix, 1, &s);
    if (status == SZG_OK)
        status = szg_extremes_table(context, &table);
    if (status == SZG_OK)
        status = szg_extremes_add(context, table, &labels, &s);
    if (status == SZG_OK)
        ck_assert_int_eq(szg_table_rows(table), 2);
    szg_table_close(&table);
    szg_extremes_close(&s);
    szg_toeplitz_close(&t);
    return status;
}

START_TEST(every_allocation_may_fail) {
    ck_survives_failed_allocations(20, whole_call());
}
END_TEST

/* A context that is cancelled when one of its jobs reports progress. */
typedef struct stopped {
    szg_context *context;
    const char *job;
} stopped;

static void stop(void *user, const char *what, int64_t done, int64_t total) {
    const stopped *self = user;
    (void)total;
    if (done == 2 && strcmp(what, self->job) == 0)
        szg_context_cancel(self->context);
}

/* In the solve of the inverse's column, and in both kinds of search. */
START_TEST(searches_can_be_cancelled) {
    static const char *const jobs[] = {"conjugate gradients", "extremes, shift and invert",
                                       "extremes"};
    szg_extremes s;
    szg_toeplitz *clustered = open_kms(5000, 0.9), *separated = random_symmetric(5000);
    for (int i = 0; i < 3; i++) {
        stopped self = {.job = jobs[i]};
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                       .progress = stop, .user = &self};
        szg_matrix matrix = szg_matrix_toeplitz(i < 2 ? clustered : separated);
        ck_szg_ok(szg_context_open(&options, &self.context));
        ck_assert_int_eq(szg_extremes_compute(self.context, &matrix, 2, &s), SZG_ECANCEL);
        ck_assert_ptr_null(s.least);
        szg_context_close(&self.context);
    }
    szg_toeplitz_close(&clustered);
    szg_toeplitz_close(&separated);
}
END_TEST

/* A value with an error above 1e-10 of the norm has its error alone; one that is known and has a
 * close neighbour is given with a note. The norm is 2: the errors lie on both sides of 2e-10. */
START_TEST(table_of_the_ends) {
    szg_extreme values[6] = {{1, 0.25, 0.5, false},     {1.5, 1.9e-10, 1e-11, false},
                             {1.75, 2.1e-10, 1, false}, {2, 1e-12, 1, true},
                             {2, NAN, 0, false},        {2, 1e-12, 1e-13, false}};
    static const bool given[6] = {false, true, false, true, false, true};
    szg_extremes s = {.n = 9,
                      .count = 3,
                      .method = SZG_METHOD_LANCZOS,
                      .least = values,
                      .largest = values + 3,
                      .least_lo = 0.5,
                      .least_hi = 1.25,
                      .largest_lo = 2,
                      .largest_hi = 3};
    const szg_matrix_labels labels = {SZG_INIT(szg_matrix_labels), "a", "b", -1};
    szg_table *table;
    ck_szg_ok(szg_extremes_table(test_context(), &table));
    ck_szg_ok(szg_extremes_add(test_context(), table, &labels, &s));
    int64_t value = szg_table_find(table, "value"), error = szg_table_find(table, "error");
    int64_t end = szg_table_find(table, "end"), hi = szg_table_find(table, "hi");
    int64_t resolved = szg_table_find(table, "resolved"), note = szg_table_find(table, "note");
    ck_assert_int_eq(szg_table_rows(table), 6);
    for (int64_t i = 0; i < 6; i++) {
        ck_assert_int_eq(!szg_table_is_empty(table, i, value), given[i]);
        ck_assert_int_eq(szg_table_get_integer(table, i, resolved), i == 3);
        ck_assert_int_eq(szg_table_is_empty(table, i, note), i == 3);
        ck_assert(!given[i] || szg_table_get_real(table, i, value) == values[i].value);
    }
    ck_assert(strstr(szg_table_get_text(table, 1, note), "two rows may be one eigenvalue"));
    ck_assert(szg_table_get_real(table, 0, error) == 0.25);
    ck_assert_str_eq(szg_table_get_text(table, 3, end), "largest");
    ck_assert(szg_table_get_real(table, 0, hi) == 1.25 && szg_table_get_real(table, 3, hi) == 3);
    szg_table_close(&table);
}
END_TEST

TEST_FILE("extremes") {
    test_add(suite, "kms_by_its_lags", kms_by_its_lags);
    test_add(suite, "crowded_ends_are_not_resolved", crowded_ends_are_not_resolved);
    test_add(suite, "symbols_bound_the_ends", symbols_bound_the_ends);
    test_add(suite, "tridiagonal_by_its_lags", tridiagonal_by_its_lags);
    test_add(suite, "alibi_by_its_lags", alibi_by_its_lags);
    test_add(suite, "random_lags_by_lanczos", random_lags_by_lanczos);
    test_add(suite, "size_does_not_matter", size_does_not_matter);
    test_add(suite, "smooth_kernel_by_all_values", smooth_kernel_by_all_values);
    test_add(suite, "short_matrices_by_all_values", short_matrices_by_all_values);
    test_add(suite, "tiny_and_huge_matrices_keep_their_errors",
             tiny_and_huge_matrices_keep_their_errors);
    test_add(suite, "subnormal_matrices_keep_their_errors", subnormal_matrices_keep_their_errors);
    test_add(suite, "closed_forms_of_huge_matrices", closed_forms_of_huge_matrices);
    test_add(suite, "zeros_by_structure_count", zeros_by_structure_count);
    test_add(suite, "zeros_between_values", zeros_between_values);
    test_add(suite, "a_gram_matrix_and_a_bias_that_cancel", a_gram_matrix_and_a_bias_that_cancel);
    test_add(suite, "memory_is_asked_for_first", memory_is_asked_for_first);
    test_add(suite, "long_searches_keep_fewer_vectors", long_searches_keep_fewer_vectors);
    test_add(suite, "few_vectors_converge", few_vectors_converge);
    test_add(suite, "bases_have_a_limit", bases_have_a_limit);
    test_add(suite, "logits_by_products", logits_by_products);
    test_add(suite, "long_products_of_logits", long_products_of_logits);
    test_add(suite, "lags_that_decay_slowly", lags_that_decay_slowly);
    test_add(suite, "logits_that_cancel", logits_that_cancel);
    test_add(suite, "logits_of_any_size", logits_of_any_size);
    test_add(suite, "masked_logits_of_nothing", masked_logits_of_nothing);
    test_add(suite, "hermitian_part_of_others", hermitian_part_of_others);
    test_add(suite, "same_numbers_at_any_number_of_threads", same_numbers_at_any_number_of_threads);
    test_add(suite, "refusals", refusals);
    test_add(suite, "every_allocation_may_fail", every_allocation_may_fail);
    test_add(suite, "searches_can_be_cancelled", searches_can_be_cancelled);
    test_add(suite, "table_of_the_ends", table_of_the_ends);
}
