/* How the checkers compute the quantities of certificates: Taylor ranges and refined eigenvectors.
 * recheck_quantity.c does the same by other means. */
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "certificate.h"

enum { BITS = SZG_BALL_BITS };

/* ---- Trigonometric polynomials ---- */

static szg_status polynomial(szg_context *context, quantity q, const certificate *c,
                             szg_interval *out) {
    bool zero_phases = q == Q_MAX_G || q == Q_WIDTH_G || c->phases == 0;
    szg_range range;
    SZG_TRY(szgi_ball_range(context, c->weights, c->w, zero_phases ? NULL : c->theta,
                            q == Q_MAX_F_PLAIN ? SZG_PHASE_PLAIN : SZG_PHASE_TIMES_INDEX, BITS,
                            &range));
    bool width = q == Q_WIDTH_F || q == Q_WIDTH_G;
    *out = width ? szgi_range_width(&range) : szgi_range_modulus(&range);
    return SZG_OK;
}

/* ---- Hermitian Toeplitz matrices ---- */

static szg_status eigenvalues(szg_context *context, const certificate *c, bool coupled,
                              szg_interval **values) {
    szgi_ball_matrix *matrix = NULL;
    szg_status status;
    *values = NULL;
    SZG_TRY_GOTO(status,
                 szgi_ball_matrix_open_toeplitz(context, c->n, c->weights, c->w,
                                                coupled ? c->theta : NULL, SZG_PHASE_PLAIN, BITS,
                                                &matrix),
                 done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, c->n, sizeof **values, values), done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_eigenvalues(context, matrix, *values), done);
done:
    szgi_ball_matrix_close(&matrix);
    return status;
}

static szg_status spectrum(szg_context *context, quantity q, const certificate *c,
                           szg_interval *out) {
    bool coupled = q == Q_TOP_WE || q == Q_SPREAD_WE;
    szg_interval *values;
    szg_status status = eigenvalues(context, c, coupled, &values);
    if (status == SZG_OK) {
        bool spread = q == Q_SPREAD_W || q == Q_SPREAD_WE;
        *out = values[c->n - 1];
        if (spread)
            *out = szgi_interval_subtract(*out, values[0]);
    }
    szgi_memory_free(values);
    return status;
}

static szg_status rotary_top(szg_context *context, const certificate *c, szg_interval *out) {
    szgi_ball_matrix *matrix = NULL;
    szg_interval *values = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, c->n, c->n, BITS, &matrix), done);
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < c->n; j++)
            for (int64_t t = 0; t < c->phases; t++)
                for (int sign = -1; sign <= 1; sign += 2)
                    SZG_TRY_GOTO(status,
                                 szgi_ball_matrix_add_polar(context, matrix, i, j, 0.5,
                                                            sign * (i - j), &c->theta[t]),
                                 done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_scale(context, matrix, 1, c->phases), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, c->n, sizeof *values, &values), done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_eigenvalues(context, matrix, values), done);
    *out = values[c->n - 1];
done:
    szgi_memory_free(values);
    szgi_ball_matrix_close(&matrix);
    return status;
}

/* ---- Numbers ---- */

/* register 0 = sum_t w_t e^{i multiplier theta_t}, register 1 is scratch. */
static szg_status sum_polar(szg_context *context, szgi_balls *balls, const certificate *c,
                            int64_t multiplier) {
    SZG_TRY(szgi_balls_set(context, balls, 0, (szg_c64){0.0, 0.0}));
    for (int64_t t = 0; t < c->weights; t++) {
        SZG_TRY(szgi_balls_set_polar(context, balls, 1, c->w[t], multiplier, &c->theta[t]));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_ADD, 0, 0, 1));
    }
    return SZG_OK;
}

/* register 0 = factor sum_t w_t. */
static szg_status sum_weights(szg_context *context, szgi_balls *balls, const certificate *c,
                              double factor) {
    SZG_TRY(szgi_balls_set(context, balls, 0, (szg_c64){0.0, 0.0}));
    for (int64_t t = 0; t < c->weights; t++) {
        SZG_TRY(szgi_balls_set(context, balls, 1, (szg_c64){c->w[t], 0.0}));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_ADD, 0, 0, 1));
    }
    SZG_TRY(szgi_balls_set(context, balls, 1, (szg_c64){factor, 0.0}));
    return szgi_balls_apply(context, balls, SZG_BALL_MULTIPLY, 0, 0, 1);
}

/* register 0 = softmax entry (row, row): e^{a_0} / sum_j e^{a_{row - j}}. */
static szg_status softmax(szg_context *context, szgi_balls *balls, const certificate *c,
                          int64_t row) {
    SZG_TRY(szgi_balls_set(context, balls, 0, (szg_c64){0.0, 0.0}));
    for (int64_t j = 0; j < c->n; j++) {
        szg_c64 logit = {c->w[row - j + c->n - 1], 0.0};
        SZG_TRY(szgi_balls_set(context, balls, 1, logit));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_EXP, 1, 1, 1));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_ADD, 0, 0, 1));
    }
    SZG_TRY(szgi_balls_set(context, balls, 1, (szg_c64){c->w[c->n - 1], 0.0}));
    SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_EXP, 1, 1, 1));
    return szgi_balls_apply(context, balls, SZG_BALL_DIVIDE, 0, 1, 0);
}

/* register 0 = c + r e^{-i theta}. */
static szg_status mla_entry(szg_context *context, szgi_balls *balls, const certificate *c) {
    SZG_TRY(szgi_balls_set_polar(context, balls, 0, c->w[1], -1, &c->theta[0]));
    SZG_TRY(szgi_balls_set(context, balls, 1, (szg_c64){c->w[0], 0.0}));
    return szgi_balls_apply(context, balls, SZG_BALL_ADD, 0, 0, 1);
}

/* register 0 = w_0 + 2 sum_{k>=1} Re(w_k e^{i (theta_k + k pi / 2)}), or the printed sum. */
static szg_status symbol(szg_context *context, szgi_balls *balls, const certificate *c,
                         bool printed) {
    SZG_TRY(szgi_balls_set(context, balls, 0, (szg_c64){0.0, 0.0}));
    for (int64_t k = 0; k < c->weights; k++) {
        double factor = k == 0 && !printed ? 1.0 : 2.0;
        szgi_phase quarter = szgi_phase_ratio(k, 2);
        SZG_TRY(szgi_balls_set_polar(context, balls, 1, factor * c->w[k], 1, &c->theta[k]));
        SZG_TRY(szgi_balls_set_polar(context, balls, 2, 1.0, 1, &quarter));
        if (printed) { /* Re{w_k} cos(k pi / 2) in place of Re{w_k e^{i k pi / 2}} */
            SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_REAL, 1, 1, 1));
            SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_REAL, 2, 2, 2));
        }
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_MULTIPLY, 1, 1, 2));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_REAL, 1, 1, 1));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_ADD, 0, 0, 1));
    }
    return SZG_OK;
}

/* register 0 = p M p^T with p = (sin i theta, cos i theta), row i. */
static szg_status position(szg_context *context, szgi_balls *balls, const certificate *c,
                           int64_t i) {
    SZG_TRY(szgi_balls_set_polar(context, balls, 1, 1.0, i, &c->theta[0]));
    SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_REAL, 2, 1, 1));
    SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_IMAGINARY, 1, 1, 1));
    SZG_TRY(szgi_balls_set(context, balls, 0, (szg_c64){0.0, 0.0}));
    for (int64_t e = 0; e < 4; e++) {
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_MULTIPLY, 3, 1 + e / 2, 1 + e % 2));
        SZG_TRY(szgi_balls_set(context, balls, 4, (szg_c64){c->w[e], 0.0}));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_MULTIPLY, 3, 3, 4));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_ADD, 0, 0, 3));
    }
    return SZG_OK;
}

/* register 0 = a b, or a / b. */
static szg_status two(szg_context *context, szgi_balls *balls, double a, szgi_ball_op op,
                      double b) {
    SZG_TRY(szgi_balls_set(context, balls, 0, (szg_c64){a, 0.0}));
    SZG_TRY(szgi_balls_set(context, balls, 1, (szg_c64){b, 0.0}));
    return szgi_balls_apply(context, balls, op, 0, 0, 1);
}

static szg_status minor(szg_context *context, szgi_balls *balls, const certificate *c) {
    SZG_TRY(two(context, balls, c->w[1], SZG_BALL_MULTIPLY, c->w[1]));
    SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_COPY, 2, 0, 0));
    SZG_TRY(two(context, balls, c->w[0], SZG_BALL_MULTIPLY, c->w[0]));
    return szgi_balls_apply(context, balls, SZG_BALL_SUBTRACT, 0, 0, 2);
}

/* Leaves a number in register 0; its real part is the quantity. */
static szg_status number(szg_context *context, quantity q, const certificate *c,
                         szgi_balls *balls) {
    switch (q) {
    case Q_TWO_SUM:
        return sum_weights(context, balls, c, 2.0);
    case Q_FOUR_SUM:
        return sum_weights(context, balls, c, 4.0);
    case Q_SOFTMAX_0:
    case Q_SOFTMAX_1:
        return softmax(context, balls, c, q == Q_SOFTMAX_1);
    case Q_GRAM:
        SZG_TRY(sum_weights(context, balls, c, 1.0));
        return szgi_balls_apply(context, balls, SZG_BALL_MODULUS, 0, 0, 0);
    case Q_ROTATED:
        SZG_TRY(sum_polar(context, balls, c, c->n));
        return szgi_balls_apply(context, balls, SZG_BALL_MODULUS, 0, 0, 0);
    case Q_ROTATED_REAL:
        SZG_TRY(sum_polar(context, balls, c, c->n));
        SZG_TRY(szgi_balls_apply(context, balls, SZG_BALL_REAL, 0, 0, 0));
        return szgi_balls_apply(context, balls, SZG_BALL_MODULUS, 0, 0, 0);
    case Q_UNIT_MINOR:
        return minor(context, balls, c);
    case Q_MLA_TRUE:
        return mla_entry(context, balls, c);
    case Q_SYMBOL:
    case Q_SYMBOL_PRINTED:
        return symbol(context, balls, c, q == Q_SYMBOL_PRINTED);
    case Q_POSITION_00:
    case Q_POSITION_11:
        return position(context, balls, c, q == Q_POSITION_11);
    case Q_ALIBI_LAG:
    case Q_ALIBI_LINE:
        return two(context, balls, -c->w[0], SZG_BALL_MULTIPLY, (double)c->n);
    case Q_TAIL_LAG:
    case Q_TAIL:
        return szgi_balls_set(context, balls, 0, (szg_c64){c->w[c->weights - 1], 0.0});
    case Q_ROTARY_SHARE:
        return two(context, balls, (double)c->n, SZG_BALL_DIVIDE, 2.0 * (double)c->phases);
    default: /* Q_ZERO; Q_MLA_PRINTED: the diagonal c + r forces alpha = 0, see docs/theory.md */
        return szgi_balls_set(context, balls, 0, (szg_c64){0.0, 0.0});
    }
}

static szg_status enclose_number(szg_context *context, quantity q, const certificate *c,
                                 szg_interval *out) {
    szgi_balls *balls = NULL;
    SZG_TRY(szgi_balls_open(context, 5, BITS, &balls));
    szg_status status = number(context, q, c, balls);
    if (status == SZG_OK)
        status = szgi_balls_get(context, balls, 0, out, NULL);
    szgi_balls_close(&balls);
    return status;
}

szg_status szgi_quantity_enclose(szg_context *context, quantity q, const certificate *c,
                                 szg_interval *out) {
    switch (q) {
    case Q_MAX_F:
    case Q_MAX_F_PLAIN:
    case Q_MAX_G:
    case Q_WIDTH_F:
    case Q_WIDTH_G:
        return polynomial(context, q, c, out);
    case Q_TOP_W:
    case Q_TOP_WE:
    case Q_SPREAD_W:
    case Q_SPREAD_WE:
        return spectrum(context, q, c, out);
    case Q_ROTARY_TOP:
        return rotary_top(context, c, out);
    default:
        return enclose_number(context, q, c, out);
    }
}

/* ---- Hypotheses ---- */

static bool nonnegative(const certificate *c) {
    for (int64_t i = 0; i < c->weights; i++)
        if (!(c->w[i] >= 0.0))
            return false;
    return true;
}

static bool all_ones(const certificate *c) {
    for (int64_t i = 0; i < c->weights; i++)
        if (c->w[i] != 1.0)
            return false;
    return true;
}

/* theta_k = k theta_1 modulo 2 pi; floats: only where all are zero. */
static bool rank_one(const certificate *c) {
    for (int64_t k = 2; k < c->phases; k++) {
        szgi_phase one = c->theta[1], multiple;
        if (!one.rational && one.radians == 0.0)
            one = szgi_phase_ratio(0, 1);
        if (!one.rational || one.q > CERTIFICATE_PHASE_MAX)
            return false;
        multiple = szgi_phase_ratio(k * (one.p % (2 * one.q)), one.q);
        if (!szgi_phase_congruent(&c->theta[k], &multiple, 1))
            return false;
    }
    return true;
}

/* The symbol of W is w_0 + sum 2 w_i cos(i t): half the lemma's w_0. Halving is exact. */
static szg_status symbol_positive(szg_context *context, const certificate *c, bool *positive) {
    double *w = NULL;
    SZG_TRY(szgi_memory_alloc(context, c->weights, sizeof *w, &w));
    memcpy(w, c->w, (size_t)c->weights * sizeof *w);
    w[0] *= 0.5;
    szg_range range;
    szg_status status =
        szgi_ball_range(context, c->weights, w, NULL, SZG_PHASE_TIMES_INDEX, BITS, &range);
    szgi_memory_free(w);
    *positive = status == SZG_OK && range.min.lo > 0.0;
    return status;
}

static szg_status definite(szg_context *context, const certificate *c, bool *positive) {
    szg_interval *values;
    szg_status status = eigenvalues(context, c, false, &values);
    *positive = status == SZG_OK && values[0].lo > 0.0;
    szgi_memory_free(values);
    return status;
}

szg_status szgi_certificate_hypotheses_hold(szg_context *context, int hypotheses,
                                            const certificate *c, bool *hold) {
    szgi_phase zero = szgi_phase_ratio(0, 1);
    *hold = true;
    if (hypotheses & HYPOTHESIS_NONNEGATIVE)
        *hold = *hold && nonnegative(c);
    if (hypotheses & HYPOTHESIS_ALIGNED)
        *hold = *hold && szgi_lemma_aligned(c->phases, c->theta);
    if (hypotheses & HYPOTHESIS_UNALIGNED)
        *hold = *hold && !szgi_lemma_aligned(c->phases, c->theta);
    if (hypotheses & HYPOTHESIS_UNIT)
        *hold = *hold && c->phases > 0 && szgi_phase_congruent(&c->theta[0], &zero, 1);
    if (hypotheses & HYPOTHESIS_RANK_ONE)
        *hold = *hold && rank_one(c);
    if (hypotheses & HYPOTHESIS_MODULI)
        *hold = *hold && all_ones(c);
    if (hypotheses & HYPOTHESIS_NONZERO)
        *hold = *hold && c->w[c->weights - 1] != 0.0;
    if (hypotheses & HYPOTHESIS_HERMITIAN) /* 2 theta_0 = 0: a multiple of pi */
        *hold = *hold && (c->w[0] == 0.0 || szgi_phase_congruent(&c->theta[0], &zero, 2));
    if (*hold && (hypotheses & HYPOTHESIS_SYMBOL))
        SZG_TRY(symbol_positive(context, c, hold));
    if (*hold && (hypotheses & HYPOTHESIS_DEFINITE))
        SZG_TRY(definite(context, c, hold));
    return SZG_OK;
}

szg_status szgi_certificate_exactly_equal(szg_context *context, const certificate *c, bool *equal) {
    switch (c->left) {
    case Q_MAX_F:
        return szgi_lemma_equality(context, c->weights, c->w, c->theta, equal);
    case Q_WIDTH_F: /* a shift that turns f into g */
        return szgi_lemma_shift(context, c->weights, c->w, c->theta, 0, equal);
    case Q_SPREAD_WE: /* E = v v^*: W o E = D W D^* */
        *equal = rank_one(c);
        return SZG_OK;
    case Q_UNIT_MINOR:
        *equal = c->w[0] * c->w[0] == c->w[1] * c->w[1];
        return SZG_OK;
    case Q_ALIBI_LAG: /* linear in the lag by definition */
    case Q_TAIL_LAG:  /* constant from lag weights - 1 on by definition */
        *equal = true;
        return SZG_OK;
    default:
        return szgi_fail(context, SZG_EINTERNAL, "no exact rule for the quantity %s",
                         szgi_quantity_name(c->left));
    }
}
