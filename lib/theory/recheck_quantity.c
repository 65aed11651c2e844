/* The second code path: the quantities of certificates at twice the precision, by other means.
 * Ranges by branch and bound on mean value forms, eigenvalues by bisection on the inertia of LDL^*,
 * sums from sines and cosines. Shares no step with enclose_quantity.c but the ball arithmetic
 * (tests/layering/paths.py). */
#include <math.h>

#include "recheck.h"

enum { BITS = RECHECK_BITS };

/* ---- Trigonometric polynomials ---- */

static szg_status range_of(szg_context *context, const instance *at, bool phases,
                           szgi_phase_mode mode, szg_range *range) {
    const szgi_phase *theta = phases && at->phases > 0 ? at->theta : NULL;
    return szgi_ball_range_check(context, at->weights, at->w, theta, mode, BITS, 1e-12, range);
}

static szg_status modulus(szg_context *context, const instance *at, bool phases,
                          szgi_phase_mode mode, szg_interval *out) {
    szg_range range;
    SZG_TRY(range_of(context, at, phases, mode, &range));
    out->lo = fmax(0.0, fmax(range.max.lo, -range.min.hi));
    out->hi = fmax(range.max.hi, -range.min.lo);
    return SZG_OK;
}

static szg_status width(szg_context *context, const instance *at, bool phases, szg_interval *out) {
    szg_range range;
    SZG_TRY(range_of(context, at, phases, SZGI_PHASE_TIMES_INDEX, &range));
    *out = szgi_interval_subtract(range.max, range.min);
    return SZG_OK;
}

szg_status szgi_recheck_max_f(szg_context *context, const instance *at, szg_interval *out) {
    return modulus(context, at, true, SZGI_PHASE_TIMES_INDEX, out);
}

szg_status szgi_recheck_max_f_plain(szg_context *context, const instance *at, szg_interval *out) {
    return modulus(context, at, true, SZGI_PHASE_PLAIN, out);
}

szg_status szgi_recheck_max_g(szg_context *context, const instance *at, szg_interval *out) {
    return modulus(context, at, false, SZGI_PHASE_TIMES_INDEX, out);
}

szg_status szgi_recheck_width_f(szg_context *context, const instance *at, szg_interval *out) {
    return width(context, at, true, out);
}

szg_status szgi_recheck_width_g(szg_context *context, const instance *at, szg_interval *out) {
    return width(context, at, false, out);
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

static szg_status spread_of(szg_context *context, const szgi_ball_matrix *matrix, double radius,
                            szg_interval *out) {
    szg_interval least, largest;
    SZG_TRY(extreme(context, matrix, radius, true, &largest));
    SZG_TRY(extreme(context, matrix, radius, false, &least));
    *out = szgi_interval_subtract(largest, least);
    return SZG_OK;
}

static double gershgorin(const instance *at) {
    double radius = fabs(at->w[0]);
    for (int64_t k = 1; k < at->weights; k++)
        radius += 2.0 * fabs(at->w[k]);
    return radius * (1.0 + 1e-9) + 1e-300;
}

/* The matrix entry by entry, from sines and cosines of angles, above the diagonal conjugated. */
szg_status szgi_recheck_matrix(szg_context *context, const instance *at, bool coupled,
                               szgi_ball_matrix **out) {
    szgi_phase zero = szgi_phase_ratio(0, 1);
    SZG_TRY(szgi_ball_matrix_open(context, at->n, at->n, BITS, out));
    for (int64_t i = 0; i < at->n; i++)
        for (int64_t j = 0; j < at->n; j++) {
            int64_t lag = i < j ? j - i : i - j;
            if (lag >= at->weights)
                continue;
            const szgi_phase *theta = coupled ? &at->theta[lag] : &zero;
            SZG_TRY(
                szgi_ball_matrix_add_polar(context, *out, i, j, at->w[lag], i < j ? -1 : 1, theta));
        }
    return SZG_OK;
}

static szg_status top(szg_context *context, const instance *at, bool coupled, szg_interval *out) {
    szgi_ball_matrix *matrix = NULL;
    szg_status status = szgi_recheck_matrix(context, at, coupled, &matrix);
    if (status == SZG_OK)
        status = extreme(context, matrix, gershgorin(at), true, out);
    szgi_ball_matrix_close(&matrix);
    return status;
}

static szg_status spread(szg_context *context, const instance *at, bool coupled,
                         szg_interval *out) {
    szgi_ball_matrix *matrix = NULL;
    szg_status status = szgi_recheck_matrix(context, at, coupled, &matrix);
    if (status == SZG_OK)
        status = spread_of(context, matrix, gershgorin(at), out);
    szgi_ball_matrix_close(&matrix);
    return status;
}

szg_status szgi_recheck_top_w(szg_context *context, const instance *at, szg_interval *out) {
    return top(context, at, false, out);
}

szg_status szgi_recheck_top_we(szg_context *context, const instance *at, szg_interval *out) {
    return top(context, at, true, out);
}

szg_status szgi_recheck_spread_w(szg_context *context, const instance *at, szg_interval *out) {
    return spread(context, at, false, out);
}

szg_status szgi_recheck_spread_we(szg_context *context, const instance *at, szg_interval *out) {
    return spread(context, at, true, out);
}

/* sum += w trig(multiplier theta), trig arb_cos or arb_sin. */
static void add_trig(arb_t sum, double w, void (*trig)(arb_t, const arb_t, slong),
                     int64_t multiplier, const szgi_phase *theta) {
    arb_t term, factor;
    arb_init(term);
    arb_init(factor);
    szgi_phase_angle(term, theta, BITS);
    arb_mul_si(term, term, (slong)multiplier, BITS);
    trig(term, term, BITS);
    arb_set_d(factor, w);
    szgi_ball_accumulate(sum, term, factor, BITS);
    arb_clear(term);
    arb_clear(factor);
}

/* The matrix lag by lag from cosines. */
szg_status szgi_recheck_rotary_top(szg_context *context, const instance *at, szg_interval *out) {
    szgi_ball_matrix *kernel;
    SZG_TRY(szgi_ball_matrix_open(context, at->n, at->n, BITS, &kernel));
    arb_t mean;
    arb_init(mean);
    for (int64_t lag = 0; lag < at->n; lag++) {
        arb_zero(mean);
        for (int64_t t = 0; t < at->phases; t++)
            add_trig(mean, 1.0, arb_cos, lag, &at->theta[t]);
        arb_div_si(mean, mean, (slong)at->phases, BITS);
        for (int64_t i = lag; i < at->n; i++) {
            acb_set_arb(szgi_ball_matrix_entry(kernel, i, i - lag), mean);
            acb_set_arb(szgi_ball_matrix_entry(kernel, i - lag, i), mean);
        }
    }
    arb_clear(mean);
    szg_status status = extreme(context, kernel, (double)at->n + 1.0, true, out);
    szgi_ball_matrix_close(&kernel);
    return status;
}

/* What lag k of a matrix is, for one pair. */
typedef void pair_lag(acb_t lag, double w, int64_t k, const szgi_phase *theta);

/* The matrix lag by lag: of tokens that turn evenly it is Toeplitz. */
static szg_status spread_by_lag(szg_context *context, const instance *at, pair_lag *add,
                                szg_interval *out) {
    double radius = 0.0;
    szgi_ball_matrix *matrix;
    SZG_TRY(szgi_ball_matrix_open(context, at->n, at->n, BITS, &matrix));
    for (int64_t t = 0; t < at->weights; t++)
        radius += (double)at->n * fabs(at->w[t]);
    for (int64_t k = 0; k < at->n; k++) {
        acb_ptr lag = szgi_ball_matrix_entry(matrix, k, 0);
        for (int64_t t = 0; t < at->weights; t++)
            add(lag, at->w[t], k, &at->theta[t]);
        for (int64_t i = k; i < at->n; i++) {
            acb_set(szgi_ball_matrix_entry(matrix, i, i - k), lag);
            acb_conj(szgi_ball_matrix_entry(matrix, i - k, i), lag);
        }
    }
    szg_status status = spread_of(context, matrix, radius * (1.0 + 1e-9) + 1e-300, out);
    szgi_ball_matrix_close(&matrix);
    return status;
}

static void add_content(acb_t lag, double w, int64_t k, const szgi_phase *theta) {
    add_trig(acb_realref(lag), w, arb_cos, k, theta);
}

static void add_gram(acb_t lag, double w, int64_t k, const szgi_phase *theta) {
    add_trig(acb_realref(lag), w, arb_cos, k, theta);
    add_trig(acb_imagref(lag), -w, arb_sin, k, theta);
}

/* Re(G o E) at the lag: w (cos^2 + sin^2). */
static void add_coupled(acb_t lag, double w, int64_t k, const szgi_phase *theta) {
    acb_t square;
    arb_t weight;
    acb_init(square);
    arb_init(weight);
    arb_set_d(weight, w);
    add_trig(acb_realref(square), 1.0, arb_cos, k, theta);
    add_trig(acb_imagref(square), 1.0, arb_sin, k, theta);
    arb_mul(acb_realref(square), acb_realref(square), acb_realref(square), BITS);
    szgi_ball_accumulate(acb_realref(square), acb_imagref(square), acb_imagref(square), BITS);
    szgi_ball_accumulate(acb_realref(lag), weight, acb_realref(square), BITS);
    acb_clear(square);
    arb_clear(weight);
}

szg_status szgi_recheck_spread_content(szg_context *context, const instance *at,
                                       szg_interval *out) {
    return spread_by_lag(context, at, add_content, out);
}

szg_status szgi_recheck_spread_gram(szg_context *context, const instance *at, szg_interval *out) {
    return spread_by_lag(context, at, add_gram, out);
}

szg_status szgi_recheck_spread_coupled(szg_context *context, const instance *at,
                                       szg_interval *out) {
    return spread_by_lag(context, at, add_coupled, out);
}

/* ---- Formulas ---- */

static void sum_backwards(arb_t sum, const instance *at) {
    arb_t term;
    arb_init(term);
    arb_zero(sum);
    for (int64_t t = at->weights - 1; t >= 0; t--) {
        arb_set_d(term, at->w[t]);
        arb_add(sum, sum, term, BITS);
    }
    arb_clear(term);
}

void szgi_recheck_two_sum(arb_t value, const instance *at) {
    sum_backwards(value, at);
    arb_mul_si(value, value, 2, BITS);
}

void szgi_recheck_four_sum(arb_t value, const instance *at) {
    sum_backwards(value, at);
    arb_mul_si(value, value, 4, BITS);
}

void szgi_recheck_gram(arb_t value, const instance *at) {
    sum_backwards(value, at);
    arb_abs(value, value);
}

/* sqrt(C^2 + S^2), C = sum w cos(n theta), S = sum w sin(n theta) */
void szgi_recheck_rotated(arb_t value, const instance *at) {
    arb_t sines;
    arb_init(sines);
    arb_zero(value);
    for (int64_t t = 0; t < at->weights; t++) {
        add_trig(value, at->w[t], arb_cos, at->n, &at->theta[t]);
        add_trig(sines, at->w[t], arb_sin, at->n, &at->theta[t]);
    }
    arb_mul(value, value, value, BITS);
    szgi_ball_accumulate(value, sines, sines, BITS);
    arb_sqrtpos(value, value, BITS);
    arb_clear(sines);
}

/* sqrt(C^2) */
void szgi_recheck_rotated_real(arb_t value, const instance *at) {
    arb_zero(value);
    for (int64_t t = 0; t < at->weights; t++)
        add_trig(value, at->w[t], arb_cos, at->n, &at->theta[t]);
    arb_mul(value, value, value, BITS);
    arb_sqrtpos(value, value, BITS);
}

/* x <- e^x = Re(cos(ix) - i sin(ix)) */
static void exponential(arb_t x) {
    acb_t turned, sine;
    acb_init(turned);
    acb_init(sine);
    arb_set(acb_imagref(turned), x);
    acb_sin_cos(sine, turned, turned, BITS);
    acb_mul_onei(sine, sine);
    arb_sub(x, acb_realref(turned), acb_realref(sine), BITS);
    acb_clear(turned);
    acb_clear(sine);
}

/* 1 / sum_j e^{a_{row-j} - a_0}, a_k = w_{k + n - 1} */
static void softmax(arb_t value, const instance *at, int64_t row) {
    const double *a = at->w + at->n - 1;
    arb_t difference, diagonal;
    arb_init(difference);
    arb_init(diagonal);
    arb_set_d(diagonal, a[0]);
    arb_zero(value);
    for (int64_t j = at->n - 1; j >= 0; j--) {
        arb_set_d(difference, a[row - j]);
        arb_sub(difference, difference, diagonal, BITS);
        exponential(difference);
        arb_add(value, value, difference, BITS);
    }
    arb_inv(value, value, BITS);
    arb_clear(difference);
    arb_clear(diagonal);
}

void szgi_recheck_softmax_0(arb_t value, const instance *at) {
    softmax(value, at, 0);
}

void szgi_recheck_softmax_1(arb_t value, const instance *at) {
    softmax(value, at, 1);
}

/* The determinant of [[w_0, w_1], [w_1, w_0]]. */
void szgi_recheck_unit_minor(arb_t value, const instance *at) {
    arb_mat_t moduli;
    arb_mat_init(moduli, 2, 2);
    for (int64_t e = 0; e < 4; e++)
        arb_set_d(arb_mat_entry(moduli, e / 2, e % 2), at->w[e / 2 != e % 2]);
    arb_mat_det(value, moduli, BITS);
    arb_mat_clear(moduli);
}

void szgi_recheck_zero(arb_t value, const instance *at) {
    (void)at;
    arb_zero(value);
}

/* c + r cos theta */
void szgi_recheck_mla_true(arb_t value, const instance *at) {
    arb_set_d(value, at->w[0]);
    add_trig(value, at->w[1], arb_cos, 1, &at->theta[0]);
}

/* |S alpha|, S = c + r, alpha = L_00 / S - 1 with L_00 = c + r cos 0; 0 where S = 0. */
void szgi_recheck_mla_printed(arb_t value, const instance *at) {
    szgi_phase zero = szgi_phase_ratio(0, 1);
    arb_t alpha;
    sum_backwards(value, at);
    if (arb_is_zero(value))
        return;
    arb_init(alpha);
    arb_set_d(alpha, at->w[0]);
    add_trig(alpha, at->w[1], arb_cos, 0, &zero);
    arb_div(alpha, alpha, value, BITS);
    arb_sub_ui(alpha, alpha, 1, BITS);
    arb_mul(value, value, alpha, BITS);
    arb_abs(value, value);
    arb_clear(alpha);
}

/* cos(k pi / 2); sin(k pi / 2) is quarter_cosine(k + 3). */
static int quarter_cosine(int64_t k) {
    static const int values[] = {1, 0, -1, 0};
    return values[k % 4];
}

/* sum over k and -k of a_k i^k: twice w_k (cos theta_k Re i^k - sin theta_k Im i^k), once for k = 0
 */
void szgi_recheck_symbol(arb_t value, const instance *at) {
    arb_zero(value);
    for (int64_t k = 0; k < at->weights; k++) {
        for (int copy = 0; copy <= (k > 0); copy++) {
            add_trig(value, quarter_cosine(k) * at->w[k], arb_cos, 1, &at->theta[k]);
            add_trig(value, -quarter_cosine(k + 3) * at->w[k], arb_sin, 1, &at->theta[k]);
        }
    }
}

void szgi_recheck_symbol_printed(arb_t value, const instance *at) {
    arb_zero(value);
    for (int64_t k = 0; k < at->weights; k++)
        add_trig(value, quarter_cosine(k) * at->w[k], arb_cos, 1, &at->theta[k]);
    arb_mul_si(value, value, 2, BITS);
}

/* Entry (i, i): M_00 s^2 + (M_01 + M_10) s c + M_11 c^2, s = sin i theta, c = cos i theta. */
static void position(arb_t value, const instance *at, int64_t i) {
    arb_t sine, cosine, weight;
    arb_init(sine);
    arb_init(cosine);
    arb_init(weight);
    add_trig(sine, 1.0, arb_sin, i, &at->theta[0]);
    add_trig(cosine, 1.0, arb_cos, i, &at->theta[0]);
    arb_set_d(value, at->w[1]);
    arb_set_d(weight, at->w[2]);
    arb_add(value, value, weight, BITS);
    arb_mul(value, value, sine, BITS);
    arb_mul(value, value, cosine, BITS);
    arb_mul(sine, sine, sine, BITS);
    arb_set_d(weight, at->w[0]);
    szgi_ball_accumulate(value, sine, weight, BITS);
    arb_mul(cosine, cosine, cosine, BITS);
    arb_set_d(weight, at->w[3]);
    szgi_ball_accumulate(value, cosine, weight, BITS);
    arb_clear(sine);
    arb_clear(cosine);
    arb_clear(weight);
}

void szgi_recheck_position_00(arb_t value, const instance *at) {
    position(value, at, 0);
}

void szgi_recheck_position_11(arb_t value, const instance *at) {
    position(value, at, 1);
}

/* -n w_0 by doubling: no product is formed. */
void szgi_recheck_alibi(arb_t value, const instance *at) {
    arb_t doubled;
    arb_init(doubled);
    arb_set_d(doubled, -at->w[0]);
    arb_zero(value);
    for (int64_t rest = at->n; rest > 0; rest /= 2) {
        if (rest % 2)
            arb_add(value, value, doubled, BITS);
        arb_add(doubled, doubled, doubled, BITS);
    }
    arb_clear(doubled);
}

void szgi_recheck_tail(arb_t value, const instance *at) {
    arb_set_d(value, at->w[at->weights - 1]);
}

void szgi_recheck_rotary_share(arb_t value, const instance *at) {
    fmpq_t share;
    fmpq_init(share);
    fmpq_set_si(share, (slong)at->n, 2 * (ulong)at->phases);
    arb_set_fmpq(value, share, BITS);
    fmpq_clear(share);
}
