/* Which theorem applies: by hypotheses, by coefficients, by an encoding's facts. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "suite.h"
#include "encoding/encoding.h"
#include "linalg/linalg.h"
#include "theory/theory.h"
#include "toeplitz/toeplitz.h"

static const char *const names[SZG_THEOREM_COUNT] = {
    [SZG_THEOREM_NONE] = "none",
    [SZG_THEOREM_SZEGO] = "szego",
    [SZG_THEOREM_SZEGO_RANK_1] = "szego+rank-one",
    [SZG_THEOREM_AVRAM_PARTER] = "avram-parter",
    [SZG_THEOREM_AVRAM_PARTER_RANK_1] = "avram-parter+rank-one",
    [SZG_THEOREM_TYRTYSHNIKOV_ZAMARASHKIN] = "tyrtyshnikov-zamarashkin",
};

static szg_theorem select_theorem(szg_hypotheses h) {
    szg_theorem_answer answer;
    ck_szg_ok(szg_theorem_select(test_context(), &h, &answer));
    ck_assert(strlen(answer.sentence) > 20);
    ck_assert_str_eq(answer.name, names[answer.theorem]);
    return answer.theorem;
}

/* Every consistent combination, against the rule written as a formula. */
START_TEST(every_combination) {
    for (int bits = 0; bits < 256; bits++) {
        szg_hypotheses h = {.toeplitz = bits & 1,
                            .zero = bits & 2,
                            .hermitian = bits & 4,
                            .finite_degree = bits & 8,
                            .summable = bits & 16,
                            .bounded = bits & 32,
                            .integrable = bits & 64,
                            .rank_one = bits & 128};
        szg_theorem_answer answer;
        bool chain = (!h.finite_degree || h.summable) && (!h.summable || h.bounded) &&
                     (!h.bounded || h.integrable) && (!h.integrable || h.toeplitz);
        if (!chain) {
            ck_szg_fails(SZG_EINVAL, "contradictory",
                         szg_theorem_select(test_context(), &h, &answer));
            continue;
        }
        bool any = h.toeplitz && !h.zero && h.integrable;
        szg_theorem want =
            !any           ? SZG_THEOREM_NONE
            : !h.bounded   ? SZG_THEOREM_TYRTYSHNIKOV_ZAMARASHKIN
            : !h.hermitian ? h.rank_one ? SZG_THEOREM_AVRAM_PARTER_RANK_1 : SZG_THEOREM_AVRAM_PARTER
            : h.rank_one   ? SZG_THEOREM_SZEGO_RANK_1
                           : SZG_THEOREM_SZEGO;
        ck_assert_int_eq(select_theorem(h), want);
    }
}
END_TEST

static szg_theorem_answer of_toeplitz(szg_toeplitz *t) {
    szg_theorem_answer answer;
    ck_szg_ok(szg_theorem_of_toeplitz(test_context(), t, &answer));
    szg_toeplitz_close(&t);
    return answer;
}

START_TEST(coefficients) {
    const double symmetric[] = {2.0, -1.0}, even[] = {-1.0, 2.0, -1.0}, odd[] = {1.0, 0.0, -1.0};
    const double zero[] = {0.0};
    const szg_c64 hermitian[] = {{1.0, 0.0}, {0.0, 1.0}};
    const szg_c64 general[] = {{0.0, 1.0}, {1.0, 0.0}, {0.0, 1.0}};
    szg_toeplitz *t;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 5, 2, symmetric, &t));
    ck_assert_int_eq(of_toeplitz(t).theorem, SZG_THEOREM_SZEGO);
    ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), 5, 2, hermitian, &t));
    ck_assert_int_eq(of_toeplitz(t).theorem, SZG_THEOREM_SZEGO);
    /* declared general, symmetric in fact */
    ck_szg_ok(szg_toeplitz_open_real(test_context(), 5, 2, even, &t));
    ck_assert_int_eq(of_toeplitz(t).theorem, SZG_THEOREM_SZEGO);
    ck_szg_ok(szg_toeplitz_open_real(test_context(), 5, 2, odd, &t));
    ck_assert_int_eq(of_toeplitz(t).theorem, SZG_THEOREM_AVRAM_PARTER);
    ck_szg_ok(szg_toeplitz_open_complex(test_context(), 5, 2, general, &t));
    ck_assert_int_eq(of_toeplitz(t).theorem, SZG_THEOREM_AVRAM_PARTER);
    /* Coefficients are looked at, not lags: an order that nobody could count to answers at once. */
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), (int64_t)1 << 50, 2, symmetric, &t));
    ck_assert_int_eq(of_toeplitz(t).theorem, SZG_THEOREM_SZEGO);
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 5, 1, zero, &t));
    szg_theorem_answer none = of_toeplitz(t);
    ck_assert_int_eq(none.theorem, SZG_THEOREM_NONE);
    ck_assert(strstr(none.sentence, "kernel is 0"));
}
END_TEST

START_TEST(facts_of_encodings) {
    static const struct {
        szg_kernel_facts facts;
        szg_theorem want;
        const char *words;
    } cases[] = {
        {{.form = SZG_FORM_ZERO, .kind = SZG_TOEPLITZ_SYMMETRIC}, SZG_THEOREM_NONE, "is 0"},
        {{.form = SZG_FORM_CLOSED, .kind = SZG_TOEPLITZ_SYMMETRIC, .summable = true},
         SZG_THEOREM_SZEGO,
         "Szego"},
        {{.form = SZG_FORM_CLOSED,
          .kind = SZG_TOEPLITZ_SYMMETRIC,
          .summable = false,
          .line = "rho is 1"},
         SZG_THEOREM_NONE,
         "rho is 1"},
        {{.form = SZG_FORM_ATOMS, .kind = SZG_TOEPLITZ_SYMMETRIC, .line = "atoms at theta"},
         SZG_THEOREM_NONE,
         "atoms at theta"},
        {{.form = SZG_FORM_POLYNOMIAL, .kind = SZG_TOEPLITZ_HERMITIAN}, SZG_THEOREM_SZEGO, "real"},
        {{.form = SZG_FORM_POLYNOMIAL, .kind = SZG_TOEPLITZ_REAL},
         SZG_THEOREM_AVRAM_PARTER,
         "singular"},
        {{.form = SZG_FORM_POLYNOMIAL_TAILS,
          .kind = SZG_TOEPLITZ_SYMMETRIC,
          .tail_plus = 1.0,
          .tail_minus = 1.0},
         SZG_THEOREM_SZEGO_RANK_1,
         "outlier"},
        {{.form = SZG_FORM_POLYNOMIAL_TAILS, .kind = SZG_TOEPLITZ_SYMMETRIC},
         SZG_THEOREM_SZEGO,
         "Szego"},
        {{.form = SZG_FORM_POLYNOMIAL_TAILS,
          .kind = SZG_TOEPLITZ_REAL,
          .tail_plus = 1.0,
          .tail_minus = 1.0},
         SZG_THEOREM_AVRAM_PARTER_RANK_1,
         "bounds neither"},
        {{.form = SZG_FORM_POLYNOMIAL_TAILS, .kind = SZG_TOEPLITZ_REAL},
         SZG_THEOREM_AVRAM_PARTER,
         "field of values lies"},
        {{.form = SZG_FORM_POLYNOMIAL_TAILS,
          .kind = SZG_TOEPLITZ_REAL,
          .tail_plus = 1.0,
          .tail_minus = 0.0,
          .line = "tails differ"},
         SZG_THEOREM_NONE,
         "tails differ"},
        {{.form = SZG_FORM_UNBOUNDED, .kind = SZG_TOEPLITZ_SYMMETRIC, .line = "lags grow"},
         SZG_THEOREM_NONE,
         "lags grow"},
        {{.form = SZG_FORM_NOT_TOEPLITZ, .kind = SZG_TOEPLITZ_SYMMETRIC, .line = "a table"},
         SZG_THEOREM_NONE,
         "nothing makes the matrix Toeplitz"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        szg_theorem_answer answer;
        ck_szg_ok(szg_theorem_of_encoding(test_context(), &cases[i].facts, &answer));
        ck_assert_msg(answer.theorem == cases[i].want, "case %zu: %s", i, answer.name);
        ck_assert_msg(strstr(answer.sentence, cases[i].words), "case %zu: %s", i, answer.sentence);
    }
}
END_TEST

static szg_theorem_answer of_spec(const char *spec) {
    szg_encoding *encoding;
    szg_kernel_facts facts;
    szg_theorem_answer answer;
    ck_szg_ok(szg_encoding_parse(test_context(), spec, &encoding));
    ck_szg_ok(szg_encoding_facts(test_context(), encoding, 0, 0, &facts));
    ck_szg_ok(szg_theorem_of_encoding(test_context(), &facts, &answer));
    szg_encoding_close(&encoding);
    return answer;
}

START_TEST(encodings_themselves) {
    static const struct {
        const char *spec;
        szg_theorem want;
    } cases[] = {
        {"nope", SZG_THEOREM_NONE},
        {"absolute:dim=8", SZG_THEOREM_NONE},
        {"learned:dim=8,seed=1", SZG_THEOREM_NONE},
        {"random:dim=8,seed=1", SZG_THEOREM_NONE},
        {"relative:seed=1", SZG_THEOREM_NONE},
        {"t5:seed=1", SZG_THEOREM_NONE}, /* drawn tails differ */
        {"alibi", SZG_THEOREM_NONE},
        {"rope:dim=8", SZG_THEOREM_NONE},
        {"rope+absolute:dim=8", SZG_THEOREM_NONE},
        {"rope:dim=8,theta=1", SZG_THEOREM_NONE},
        {"rope:dim=8,heads=2,bands=heads", SZG_THEOREM_NONE},
        {"rope-bias:dim=8", SZG_THEOREM_NONE}, /* as RoPE's mean kernel: no density */
        {"kms:rho=0.9", SZG_THEOREM_SZEGO},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        szg_theorem_answer answer = of_spec(cases[i].spec);
        ck_assert_msg(answer.theorem == cases[i].want, "%s: %s: %s", cases[i].spec, answer.name,
                      answer.sentence);
        ck_assert(strlen(answer.sentence) > 30);
    }
}
END_TEST

/* ---- The range is filled: the proof of T3.1 in docs/explanation/theory.md ---- */

enum { DEGREE = 2, LARGEST_ORDER = 128 };

/* a_k, k = -DEGREE .. DEGREE, of a real symbol, less `value` at k = 0. */
static double complex coefficient(const double complex *a, double value, int64_t k) {
    double complex own = k < -DEGREE || k > DEGREE ? 0 : k < 0 ? conj(a[-k]) : a[k];
    return k == 0 ? own - value : own;
}

/* ||(T_n(a) - value) x||^2, x_k = e^{-i k t} / sqrt n, with `more` rows above and below. */
static double residual(const double complex *a, double value, double t, int64_t n, int64_t more) {
    double sum = 0;
    for (int64_t i = -more; i < n + more; i++) {
        double complex entry = 0;
        for (int64_t k = 0; k < n; k++)
            entry += coefficient(a, value, i - k) * cexp(-I * (double)k * t) / sqrt((double)n);
        sum += creal(entry * conj(entry));
    }
    return sum;
}

/* The Fejer mean of order n of |a - value|^2 at t. */
static double fejer_mean(const double complex *a, double value, double t, int64_t n) {
    double sum = 0;
    for (int64_t m = -2 * DEGREE; m <= 2 * DEGREE; m++) {
        double complex square = 0;
        for (int64_t k = -DEGREE; k <= DEGREE; k++)
            square += coefficient(a, value, k) * conj(coefficient(a, value, k - m));
        sum += (1 - fabs((double)m) / (double)n) * creal(square * cexp(I * (double)m * t));
    }
    return sum;
}

/* The distance of `value` from the spectrum of T_n(a). */
static double distance(const double complex *a, double value, int64_t n) {
    static szg_c64 matrix[LARGEST_ORDER * LARGEST_ORDER];
    double values[LARGEST_ORDER], least = INFINITY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            double complex own = coefficient(a, 0, i - k);
            matrix[i * n + k] = (szg_c64){creal(own), cimag(own)};
        }
    ck_szg_ok(szgi_eigen_hermitian(test_context(), n, matrix, n, values, false));
    for (int64_t i = 0; i < n; i++)
        least = fmin(least, fabs(values[i] - value));
    return least;
}

/* Distance <= residual <= the root of the Fejer mean. That is the residual of all rows (Parseval);
 * for a polynomial it is exactly c / n, since |a - a(t)|^2 is 0 at t. */
START_TEST(range_is_filled) {
    for (int64_t trial = 0; trial < test_trials(12); trial++) {
        szgi_stream stream = {test_seed(), (uint32_t)trial, 77};
        double complex a[DEGREE + 1] = {szgi_random_normal(&stream, 0)};
        double t = 3 * szgi_random_normal(&stream, 1), value = creal(a[0]), before = 0;
        for (int64_t k = 1; k <= DEGREE; k++) {
            a[k] = szgi_random_normal(&stream, (uint64_t)(2 * k)) +
                   I * szgi_random_normal(&stream, (uint64_t)(2 * k + 1));
            value += 2 * creal(a[k] * cexp(I * (double)k * t));
        }
        for (int64_t n = 8; n <= LARGEST_ORDER; n *= 4) {
            double mean = fejer_mean(a, value, t, n), own = residual(a, value, t, n, 0);
            ck_close(residual(a, value, t, n, DEGREE), mean, 1e-12 * (1 + mean));
            ck_assert_msg(own <= mean + 1e-12, "%g > %g", own, mean);
            ck_assert_msg(distance(a, value, n) <= sqrt(own) + 1e-12, "n = %d", (int)n);
            if (n > 8)
                ck_close(mean, before / 4, 1e-12 * (1 + before));
            before = mean;
        }
    }
}
END_TEST

TEST_FILE("theorem") {
    test_add(suite, "range_is_filled", range_is_filled);
    test_add(suite, "every_combination", every_combination);
    test_add(suite, "coefficients", coefficients);
    test_add(suite, "facts_of_encodings", facts_of_encodings);
    test_add(suite, "encodings_themselves", encodings_themselves);
}
