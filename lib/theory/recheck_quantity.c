/* The second code path: the quantities of certificates at twice the precision, by other means.
 * Ranges by branch and bound on mean value forms, eigenvalues by bisection on the inertia of LDL^*,
 * sums from sines and cosines, equality by trying every shift in integers. Shares no step with
 * quantity.c but the ball arithmetic. */
#include <math.h>

#include "recheck.h"

enum { BITS = RECHECK_BITS };

/* ---- Trigonometric polynomials ---- */

static szg_status recheck_polynomial(szg_context *context, quantity q, const certificate *c,
                                     szg_interval *out) {
    szg_range range;
    bool zero = q == Q_MAX_G || q == Q_WIDTH_G || c->phases == 0;
    SZG_TRY(szgi_ball_range_check(context, c->weights, c->w, zero ? NULL : c->theta,
                                  q == Q_MAX_F_PLAIN ? SZG_PHASE_PLAIN : SZG_PHASE_TIMES_INDEX,
                                  BITS, 1e-12, &range));
    if (q == Q_WIDTH_F || q == Q_WIDTH_G) {
        *out = szgi_interval_subtract(range.max, range.min);
        return SZG_OK;
    }
    szg_interval negative = {-range.min.hi, -range.min.lo};
    out->lo = fmax(0.0, fmax(range.max.lo, negative.lo));
    out->hi = fmax(range.max.hi, negative.hi);
    return SZG_OK;
}

/* ---- Eigenvalues ---- */

/* Inertia at a shift; a shift that meets an eigenvalue of a leading block is moved a little. */
static szg_status inertia_near(szg_context *context, const szgi_ball_matrix *matrix, double *shift,
                               double room, int64_t *below, int64_t *above) {
    szg_status status = SZG_ENOCONV;
    double start = *shift;
    for (int attempt = 0; attempt < 12 && status == SZG_ENOCONV; attempt++) {
        *shift = start + room * 0.0371 * attempt;
        status = szgi_ball_matrix_inertia(context, matrix, *shift, below, above);
    }
    return status;
}

/* The largest (or least) eigenvalue, which lies in [-radius, radius]. */
static szg_status extreme(szg_context *context, const szgi_ball_matrix *matrix, double radius,
                          bool largest, szg_interval *out) {
    szg_interval x = {nextafter(-radius, -INFINITY), nextafter(radius, INFINITY)};
    for (int step = 0; step < 80 && x.hi - x.lo > ldexp(radius, -36); step++) {
        double middle = 0.5 * (x.lo + x.hi);
        int64_t below, above;
        SZG_TRY(inertia_near(context, matrix, &middle, x.hi - x.lo, &below, &above));
        bool right = largest ? above > 0 : below == 0;
        if (right)
            x.lo = middle;
        else
            x.hi = middle;
    }
    *out = x;
    return SZG_OK;
}

static double gershgorin(const certificate *c) {
    double radius = fabs(c->w[0]);
    for (int64_t k = 1; k < c->weights; k++)
        radius += 2.0 * fabs(c->w[k]);
    return radius * (1.0 + 1e-9) + 1e-300;
}

/* The matrix entry by entry, from sines and cosines of angles, above the diagonal conjugated. */
szg_status szgi_recheck_matrix(szg_context *context, const certificate *c, bool coupled,
                               szgi_ball_matrix **out) {
    szgi_phase zero = szgi_phase_ratio(0, 1);
    SZG_TRY(szgi_ball_matrix_open(context, c->n, c->n, BITS, out));
    for (int64_t i = 0; i < c->n; i++)
        for (int64_t j = 0; j < c->n; j++) {
            int64_t lag = i < j ? j - i : i - j;
            if (lag >= c->weights)
                continue;
            const szgi_phase *theta = coupled ? &c->theta[lag] : &zero;
            SZG_TRY(
                szgi_ball_matrix_add_polar(context, *out, i, j, c->w[lag], i < j ? -1 : 1, theta));
        }
    return SZG_OK;
}

static szg_status recheck_spectrum(szg_context *context, quantity q, const certificate *c,
                                   szg_interval *out) {
    bool coupled = q == Q_TOP_WE || q == Q_SPREAD_WE, spread = q == Q_SPREAD_W || q == Q_SPREAD_WE;
    szgi_ball_matrix *matrix = NULL;
    szg_interval least;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_recheck_matrix(context, c, coupled, &matrix), done);
    SZG_TRY_GOTO(status, extreme(context, matrix, gershgorin(c), true, out), done);
    if (spread) {
        SZG_TRY_GOTO(status, extreme(context, matrix, gershgorin(c), false, &least), done);
        *out = szgi_interval_subtract(*out, least);
    }
done:
    szgi_ball_matrix_close(&matrix);
    return status;
}

static szg_status recheck_rotary(szg_context *context, const certificate *c, szg_interval *out) {
    szgi_ball_matrix *matrix = NULL;
    szgi_balls *b = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_balls_open(context, 3, BITS, &b), done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, c->n, c->n, BITS, &matrix), done);
    for (int64_t lag = 0; lag < c->n; lag++) {
        SZG_TRY_GOTO(status, szgi_balls_set(context, b, 0, (szg_c64){0.0, 0.0}), done);
        for (int64_t t = 0; t < c->phases; t++) {
            SZG_TRY_GOTO(status, szgi_balls_set_angle(context, b, 1, &c->theta[t]), done);
            SZG_TRY_GOTO(status, szgi_balls_set_ratio(context, b, 2, lag, 1), done);
            SZG_TRY_GOTO(status, szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 1, 1, 2), done);
            SZG_TRY_GOTO(status, szgi_balls_apply(context, b, SZG_BALL_COS, 1, 1, 1), done);
            SZG_TRY_GOTO(status, szgi_balls_apply(context, b, SZG_BALL_ADD, 0, 0, 1), done);
        }
        SZG_TRY_GOTO(status, szgi_balls_set_ratio(context, b, 2, c->phases, 1), done);
        SZG_TRY_GOTO(status, szgi_balls_apply(context, b, SZG_BALL_DIVIDE, 0, 0, 2), done);
        for (int64_t i = lag; i < c->n; i++) {
            SZG_TRY_GOTO(status, szgi_ball_matrix_put(context, matrix, i, i - lag, b, 0), done);
            SZG_TRY_GOTO(status, szgi_ball_matrix_put(context, matrix, i - lag, i, b, 0), done);
        }
    }
    SZG_TRY_GOTO(status, extreme(context, matrix, (double)c->n + 1.0, true, out), done);
done:
    szgi_balls_close(&b);
    szgi_ball_matrix_close(&matrix);
    return status;
}

/* ---- Numbers: the result is Re of register 0 ---- */

static szg_status set(szg_context *context, szgi_balls *b, int64_t r, double x) {
    return szgi_balls_set(context, b, r, (szg_c64){x, 0.0});
}

static szg_status sum_backwards(szg_context *context, szgi_balls *b, const certificate *c,
                                int64_t factor) {
    SZG_TRY(set(context, b, 0, 0.0));
    for (int64_t t = c->weights - 1; t >= 0; t--) {
        SZG_TRY(set(context, b, 1, c->w[t]));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_ADD, 0, 0, 1));
    }
    SZG_TRY(szgi_balls_set_ratio(context, b, 1, factor, 1));
    return szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 0, 0, 1);
}

/* register out += w trig(multiplier theta), trig COS or SIN; 4 and 5 are scratch. */
static szg_status add_trig(szg_context *context, szgi_balls *b, int64_t out, double w,
                           szgi_ball_op trig, int64_t multiplier, const szgi_phase *theta) {
    SZG_TRY(szgi_balls_set_angle(context, b, 4, theta));
    SZG_TRY(szgi_balls_set_ratio(context, b, 5, multiplier, 1));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 4, 4, 5));
    SZG_TRY(szgi_balls_apply(context, b, trig, 4, 4, 4));
    SZG_TRY(set(context, b, 5, w));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 4, 4, 5));
    return szgi_balls_apply(context, b, SZG_BALL_ADD, out, out, 4);
}

/* sqrt(C^2 + S^2), or |C|, of C = sum w cos(n theta), S = sum w sin(n theta). */
static szg_status rotated(szg_context *context, szgi_balls *b, const certificate *c, bool real) {
    SZG_TRY(set(context, b, 0, 0.0));
    SZG_TRY(set(context, b, 1, 0.0));
    for (int64_t t = 0; t < c->weights; t++) {
        SZG_TRY(add_trig(context, b, 0, c->w[t], SZG_BALL_COS, c->n, &c->theta[t]));
        if (!real)
            SZG_TRY(add_trig(context, b, 1, c->w[t], SZG_BALL_SIN, c->n, &c->theta[t]));
    }
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 0, 0, 0));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 1, 1, 1));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_ADD, 0, 0, 1));
    return szgi_balls_apply(context, b, SZG_BALL_ROOT, 0, 0, 0);
}

/* 1 / sum_j e^{a_{row-j} - a_0}, e^x = cos(ix) - i sin(ix). */
static szg_status recheck_softmax(szg_context *context, szgi_balls *b, const certificate *c,
                                  int64_t row) {
    SZG_TRY(set(context, b, 0, 0.0));
    for (int64_t j = c->n - 1; j >= 0; j--) {
        SZG_TRY(set(context, b, 1, c->w[row - j + c->n - 1]));
        SZG_TRY(set(context, b, 2, c->w[c->n - 1]));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_SUBTRACT, 1, 1, 2));
        SZG_TRY(szgi_balls_set(context, b, 2, (szg_c64){0.0, 1.0}));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 1, 1, 2));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_SIN, 3, 1, 1));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_COS, 1, 1, 1));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 3, 3, 2));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_SUBTRACT, 1, 1, 3));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_REAL, 1, 1, 1));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_ADD, 0, 0, 1));
    }
    SZG_TRY(set(context, b, 1, 1.0));
    return szgi_balls_apply(context, b, SZG_BALL_DIVIDE, 0, 1, 0);
}

/* |S alpha|, S = c + r, alpha = L_00 / S - 1 with L_00 = c + r cos 0; 0 where S = 0. */
static szg_status mla_printed(szg_context *context, szgi_balls *b, const certificate *c) {
    szgi_phase zero = szgi_phase_ratio(0, 1);
    szg_interval sum;
    SZG_TRY(sum_backwards(context, b, c, 1));
    SZG_TRY(szgi_balls_get(context, b, 0, &sum, NULL));
    if (sum.lo == 0.0 && sum.hi == 0.0)
        return SZG_OK;
    SZG_TRY(set(context, b, 1, c->w[0]));
    SZG_TRY(add_trig(context, b, 1, c->w[1], SZG_BALL_COS, 0, &zero));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_DIVIDE, 1, 1, 0));
    SZG_TRY(set(context, b, 2, 1.0));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_SUBTRACT, 1, 1, 2));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 0, 0, 1));
    return szgi_balls_apply(context, b, SZG_BALL_MODULUS, 0, 0, 0);
}

/* Re i^k and Im i^k. */
static double quarter_cosine(int64_t k) {
    static const double values[] = {1.0, 0.0, -1.0, 0.0};
    return values[k % 4];
}

/* sum over k and -k of a_k i^k: twice Re a_k Re i^k - Im a_k Im i^k, once for k = 0. */
static szg_status recheck_symbol(szg_context *context, szgi_balls *b, const certificate *c,
                                 bool printed) {
    SZG_TRY(set(context, b, 0, 0.0));
    for (int64_t k = 0; k < c->weights; k++) {
        double factor = k == 0 && !printed ? 1.0 : 2.0;
        double cosine = factor * quarter_cosine(k), sine = factor * quarter_cosine(k + 3);
        SZG_TRY(add_trig(context, b, 0, cosine * c->w[k], SZG_BALL_COS, 1, &c->theta[k]));
        if (!printed)
            SZG_TRY(add_trig(context, b, 0, -sine * c->w[k], SZG_BALL_SIN, 1, &c->theta[k]));
    }
    return SZG_OK;
}

/* Entry (i, i): M_00 s^2 + (M_01 + M_10) s c + M_11 c^2, s = sin i theta, c = cos i theta. */
static szg_status recheck_position(szg_context *context, szgi_balls *b, const certificate *c,
                                   int64_t i) {
    SZG_TRY(set(context, b, 1, 0.0));
    SZG_TRY(set(context, b, 2, 0.0));
    SZG_TRY(add_trig(context, b, 1, 1.0, SZG_BALL_SIN, i, &c->theta[0]));
    SZG_TRY(add_trig(context, b, 2, 1.0, SZG_BALL_COS, i, &c->theta[0]));
    SZG_TRY(set(context, b, 0, c->w[1]));
    SZG_TRY(set(context, b, 3, c->w[2]));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_ADD, 0, 0, 3));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 0, 0, 1));
    SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 0, 0, 2));
    for (int64_t e = 0; e < 2; e++) {
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 1 + e, 1 + e, 1 + e));
        SZG_TRY(set(context, b, 3, c->w[3 * e]));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_MULTIPLY, 3, 3, 1 + e));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_ADD, 0, 0, 3));
    }
    return SZG_OK;
}

/* -n w_0 by doubling: no product is formed. */
static szg_status alibi_lag(szg_context *context, szgi_balls *b, const certificate *c) {
    SZG_TRY(set(context, b, 0, 0.0));
    SZG_TRY(set(context, b, 1, -c->w[0]));
    for (int64_t rest = c->n; rest > 0; rest /= 2) {
        if (rest % 2)
            SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_ADD, 0, 0, 1));
        SZG_TRY(szgi_balls_apply(context, b, SZG_BALL_ADD, 1, 1, 1));
    }
    return SZG_OK;
}

static szg_status minor_matrix(szg_context *context, const certificate *c, szg_interval *out) {
    szgi_ball_matrix *matrix = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, 2, 2, BITS, &matrix), done);
    for (int64_t e = 0; e < 4; e++) {
        szg_c64 entry = {c->w[e / 2 == e % 2 ? 0 : 1], 0.0};
        SZG_TRY_GOTO(status, szgi_ball_matrix_set(context, matrix, e / 2, e % 2, entry), done);
    }
    SZG_TRY_GOTO(status, szgi_ball_matrix_minor(context, matrix, 2, out, NULL), done);
done:
    szgi_ball_matrix_close(&matrix);
    return status;
}

static szg_status number(szg_context *context, quantity q, const certificate *c, szgi_balls *b) {
    switch (q) {
    case Q_TWO_SUM:
        return sum_backwards(context, b, c, 2);
    case Q_FOUR_SUM:
        return sum_backwards(context, b, c, 4);
    case Q_SOFTMAX_0:
    case Q_SOFTMAX_1:
        return recheck_softmax(context, b, c, q == Q_SOFTMAX_1);
    case Q_GRAM:
        SZG_TRY(sum_backwards(context, b, c, 1));
        return szgi_balls_apply(context, b, SZG_BALL_MODULUS, 0, 0, 0);
    case Q_ROTATED:
    case Q_ROTATED_REAL:
        return rotated(context, b, c, q == Q_ROTATED_REAL);
    case Q_MLA_TRUE:
        SZG_TRY(set(context, b, 0, c->w[0]));
        return add_trig(context, b, 0, c->w[1], SZG_BALL_COS, 1, &c->theta[0]);
    case Q_MLA_PRINTED:
        return mla_printed(context, b, c);
    case Q_SYMBOL:
    case Q_SYMBOL_PRINTED:
        return recheck_symbol(context, b, c, q == Q_SYMBOL_PRINTED);
    case Q_POSITION_00:
    case Q_POSITION_11:
        return recheck_position(context, b, c, q == Q_POSITION_11);
    case Q_ALIBI_LAG:
    case Q_ALIBI_LINE:
        return alibi_lag(context, b, c);
    case Q_TAIL_LAG:
    case Q_TAIL:
        return set(context, b, 0, c->w[c->weights - 1]);
    case Q_ROTARY_SHARE:
        return szgi_balls_set_ratio(context, b, 0, c->n, 2 * c->phases);
    default:
        return set(context, b, 0, 0.0);
    }
}

szg_status szgi_recheck_enclose(szg_context *context, quantity q, const certificate *c,
                                szg_interval *out) {
    switch (q) {
    case Q_MAX_F:
    case Q_MAX_F_PLAIN:
    case Q_MAX_G:
    case Q_WIDTH_F:
    case Q_WIDTH_G:
        return recheck_polynomial(context, q, c, out);
    case Q_TOP_W:
    case Q_TOP_WE:
    case Q_SPREAD_W:
    case Q_SPREAD_WE:
        return recheck_spectrum(context, q, c, out);
    case Q_ROTARY_TOP:
        return recheck_rotary(context, c, out);
    case Q_UNIT_MINOR:
        return minor_matrix(context, c, out);
    default:
        break;
    }
    szgi_balls *b = NULL;
    SZG_TRY(szgi_balls_open(context, 6, BITS, &b));
    szg_status status = number(context, q, c, b);
    if (status == SZG_OK)
        status = szgi_balls_get(context, b, 0, out, NULL);
    szgi_balls_close(&b);
    return status;
}
