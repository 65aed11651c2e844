/* How the checkers compute the quantities of certificates: Taylor ranges, refined eigenvectors,
 * e^{i k theta}. recheck_quantity.c does the same by other means. */
#include "base/memory.h"

#include "enclose.h"

enum { BITS = SZGI_BALL_BITS };

/* ---- Trigonometric polynomials ---- */

static szg_status range_of(szg_context *context, const instance *at, bool phases,
                           szgi_phase_mode mode, szg_range *range) {
    const szgi_phase *theta = phases && at->phases > 0 ? at->theta : NULL;
    return szgi_ball_range(context, at->weights, at->w, theta, mode, BITS, range);
}

static szg_status modulus(szg_context *context, const instance *at, bool phases,
                          szgi_phase_mode mode, szg_interval *out) {
    szg_range range;
    SZG_TRY(range_of(context, at, phases, mode, &range));
    *out = szgi_range_modulus(&range);
    return SZG_OK;
}

static szg_status width(szg_context *context, const instance *at, bool phases, szg_interval *out) {
    szg_range range;
    SZG_TRY(range_of(context, at, phases, SZGI_PHASE_TIMES_INDEX, &range));
    *out = szgi_range_width(&range);
    return SZG_OK;
}

szg_status szgi_enclose_max_f(szg_context *context, const instance *at, szg_interval *out) {
    return modulus(context, at, true, SZGI_PHASE_TIMES_INDEX, out);
}

szg_status szgi_enclose_max_f_plain(szg_context *context, const instance *at, szg_interval *out) {
    return modulus(context, at, true, SZGI_PHASE_PLAIN, out);
}

szg_status szgi_enclose_max_g(szg_context *context, const instance *at, szg_interval *out) {
    return modulus(context, at, false, SZGI_PHASE_TIMES_INDEX, out);
}

szg_status szgi_enclose_width_f(szg_context *context, const instance *at, szg_interval *out) {
    return width(context, at, true, out);
}

szg_status szgi_enclose_width_g(szg_context *context, const instance *at, szg_interval *out) {
    return width(context, at, false, out);
}

/* ---- Eigenvalues ---- */

/* The least and the largest eigenvalue of a Hermitian matrix. */
static szg_status extremes(szg_context *context, const szgi_ball_matrix *matrix,
                           szg_interval *least, szg_interval *largest) {
    int64_t n = szgi_ball_matrix_rows(matrix);
    szg_interval *values;
    SZG_TRY(szgi_memory_alloc(context, n, &values));
    szg_status status = szgi_ball_matrix_eigenvalues(context, matrix, values);
    if (status == SZG_OK) {
        *least = values[0];
        *largest = values[n - 1];
    }
    szgi_memory_free(values);
    return status;
}

szg_status szgi_toeplitz_extremes(szg_context *context, int64_t n, int64_t count, const double *w,
                                  const szgi_phase *theta, szg_interval *least,
                                  szg_interval *largest) {
    szgi_ball_matrix *matrix;
    SZG_TRY(szgi_ball_matrix_open_toeplitz(context, n, count, w, theta, SZGI_PHASE_PLAIN, BITS,
                                           &matrix));
    szg_status status = extremes(context, matrix, least, largest);
    szgi_ball_matrix_close(&matrix);
    return status;
}

static szg_status top(szg_context *context, const instance *at, const szgi_phase *theta,
                      szg_interval *out) {
    szg_interval least;
    return szgi_toeplitz_extremes(context, at->n, at->weights, at->w, theta, &least, out);
}

static szg_status spread(szg_context *context, const instance *at, const szgi_phase *theta,
                         szg_interval *out) {
    szg_interval least, largest;
    SZG_TRY(szgi_toeplitz_extremes(context, at->n, at->weights, at->w, theta, &least, &largest));
    *out = szgi_interval_subtract(largest, least);
    return SZG_OK;
}

szg_status szgi_enclose_top_w(szg_context *context, const instance *at, szg_interval *out) {
    return top(context, at, NULL, out);
}

szg_status szgi_enclose_top_we(szg_context *context, const instance *at, szg_interval *out) {
    return top(context, at, at->theta, out);
}

szg_status szgi_enclose_spread_w(szg_context *context, const instance *at, szg_interval *out) {
    return spread(context, at, NULL, out);
}

szg_status szgi_enclose_spread_we(szg_context *context, const instance *at, szg_interval *out) {
    return spread(context, at, at->theta, out);
}

szg_status szgi_rotary_kernel_open(szg_context *context, int64_t n, int64_t pairs,
                                   const szgi_phase *theta, szgi_ball_matrix **out) {
    szg_status status;
    SZG_TRY(szgi_ball_matrix_open(context, n, n, BITS, out));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t t = 0; t < pairs; t++)
                for (int sign = -1; sign <= 1; sign += 2)
                    SZG_TRY_GOTO(status,
                                 szgi_ball_matrix_add_polar(context, *out, i, j, 0.5,
                                                            sign * (i - j), &theta[t]),
                                 failed);
    SZG_TRY_GOTO(status, szgi_ball_matrix_scale(context, *out, 1, pairs), failed);
    return SZG_OK;
failed:
    szgi_ball_matrix_close(out);
    return status;
}

szg_status szgi_enclose_rotary_top(szg_context *context, const instance *at, szg_interval *out) {
    szgi_ball_matrix *kernel;
    szg_interval least;
    SZG_TRY(szgi_rotary_kernel_open(context, at->n, at->phases, at->theta, &kernel));
    szg_status status = extremes(context, kernel, &least, out);
    szgi_ball_matrix_close(&kernel);
    return status;
}

/* Queries, which are the keys too, as rows: e^{-i j theta_t}, and times e^{i j theta_t} after the
 * rotation. */
static void fill_turned(szgi_ball_matrix *rows, const instance *at, bool rotated) {
    acb_t turn;
    acb_init(turn);
    for (int64_t j = 0; j < at->n; j++)
        for (int64_t t = 0; t < at->phases; t++) {
            acb_ptr entry = szgi_ball_matrix_entry(rows, j, t);
            szgi_phase_exp(entry, &at->theta[t], -j, BITS);
            szgi_phase_exp(turn, &at->theta[t], j, BITS);
            if (rotated)
                acb_mul(entry, entry, turn, BITS);
        }
    acb_clear(turn);
}

/* sum_t w_t q_jt conj(k_lt), or its real part. */
static void fill_logits(szgi_ball_matrix *logits, szgi_ball_matrix *rows, const instance *at,
                        bool real_part) {
    acb_t product;
    arb_t weight;
    acb_init(product);
    arb_init(weight);
    for (int64_t j = 0; j < at->n; j++)
        for (int64_t l = 0; l < at->n; l++) {
            acb_ptr sum = szgi_ball_matrix_entry(logits, j, l);
            for (int64_t t = 0; t < at->weights; t++) {
                acb_conj(product, szgi_ball_matrix_entry(rows, l, t));
                acb_mul(product, product, szgi_ball_matrix_entry(rows, j, t), BITS);
                arb_set_d(weight, at->w[t]);
                acb_mul_arb(product, product, weight, BITS);
                acb_add(sum, sum, product, BITS);
            }
            if (real_part)
                arb_zero(acb_imagref(sum));
        }
    acb_clear(product);
    arb_clear(weight);
}

static szg_status spread_turned(szg_context *context, const instance *at, bool rotated,
                                bool real_part, szg_interval *out) {
    szgi_ball_matrix *rows = NULL, *logits = NULL;
    szg_interval least, largest;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, at->n, at->phases, BITS, &rows), done);
    SZG_TRY_GOTO(status, szgi_ball_matrix_open(context, at->n, at->n, BITS, &logits), done);
    fill_turned(rows, at, rotated);
    fill_logits(logits, rows, at, real_part);
    SZG_TRY_GOTO(status, extremes(context, logits, &least, &largest), done);
    *out = szgi_interval_subtract(largest, least);
done:
    szgi_ball_matrix_close(&rows);
    szgi_ball_matrix_close(&logits);
    return status;
}

szg_status szgi_enclose_spread_content(szg_context *context, const instance *at,
                                       szg_interval *out) {
    return spread_turned(context, at, false, true, out);
}

szg_status szgi_enclose_spread_gram(szg_context *context, const instance *at, szg_interval *out) {
    return spread_turned(context, at, false, false, out);
}

szg_status szgi_enclose_spread_coupled(szg_context *context, const instance *at,
                                       szg_interval *out) {
    return spread_turned(context, at, true, true, out);
}

/* ---- Formulas ---- */

static void sum_weights(arb_t sum, const instance *at) {
    arb_t term;
    arb_init(term);
    arb_zero(sum);
    for (int64_t t = 0; t < at->weights; t++) {
        arb_set_d(term, at->w[t]);
        arb_add(sum, sum, term, BITS);
    }
    arb_clear(term);
}

void szgi_enclose_two_sum(arb_t value, const instance *at) {
    sum_weights(value, at);
    arb_mul_2exp_si(value, value, 1);
}

void szgi_enclose_four_sum(arb_t value, const instance *at) {
    sum_weights(value, at);
    arb_mul_2exp_si(value, value, 2);
}

void szgi_enclose_gram(arb_t value, const instance *at) {
    sum_weights(value, at);
    arb_abs(value, value);
}

/* sum_t w_t e^{i n theta_t} */
static void sum_rotated(acb_t sum, const instance *at) {
    acb_t term;
    acb_init(term);
    acb_zero(sum);
    for (int64_t t = 0; t < at->weights; t++) {
        szgi_phase_polar(term, at->w[t], at->n, &at->theta[t], BITS);
        acb_add(sum, sum, term, BITS);
    }
    acb_clear(term);
}

void szgi_enclose_rotated(arb_t value, const instance *at) {
    acb_t sum;
    acb_init(sum);
    sum_rotated(sum, at);
    acb_abs(value, sum, BITS);
    acb_clear(sum);
}

void szgi_enclose_rotated_real(arb_t value, const instance *at) {
    acb_t sum;
    acb_init(sum);
    sum_rotated(sum, at);
    arb_abs(value, acb_realref(sum));
    acb_clear(sum);
}

/* e^{a_0} / sum_j e^{a_{row - j}}, a_k = w_{k + n - 1} */
static void softmax(arb_t value, const instance *at, int64_t row) {
    const double *a = at->w + at->n - 1;
    arb_t sum;
    arb_init(sum);
    for (int64_t j = 0; j < at->n; j++) {
        arb_set_d(value, a[row - j]);
        arb_exp(value, value, BITS);
        arb_add(sum, sum, value, BITS);
    }
    arb_set_d(value, a[0]);
    arb_exp(value, value, BITS);
    arb_div(value, value, sum, BITS);
    arb_clear(sum);
}

void szgi_enclose_softmax_0(arb_t value, const instance *at) {
    softmax(value, at, 0);
}

void szgi_enclose_softmax_1(arb_t value, const instance *at) {
    softmax(value, at, 1);
}

void szgi_enclose_unit_minor(arb_t value, const instance *at) {
    arb_t beside;
    arb_init(beside);
    arb_set_d(value, at->w[0]);
    arb_mul(value, value, value, BITS);
    arb_set_d(beside, at->w[1]);
    arb_mul(beside, beside, beside, BITS);
    arb_sub(value, value, beside, BITS);
    arb_clear(beside);
}

void szgi_enclose_zero(arb_t value, const instance *at) {
    (void)at;
    arb_zero(value);
}

/* Re(c + r e^{-i theta}) */
void szgi_enclose_mla_true(arb_t value, const instance *at) {
    acb_t rotary;
    acb_init(rotary);
    szgi_phase_polar(rotary, at->w[1], -1, &at->theta[0], BITS);
    arb_set_d(value, at->w[0]);
    arb_add(value, acb_realref(rotary), value, BITS);
    acb_clear(rotary);
}

/* The diagonal c + r forces alpha = 0: docs/explanation/theory.md, E12. */
void szgi_enclose_mla_printed(arb_t value, const instance *at) {
    (void)at;
    arb_zero(value);
}

/* a_0 + 2 sum_{k >= 1} Re(a_k e^{i k pi / 2}) */
void szgi_enclose_symbol(arb_t value, const instance *at) {
    acb_t lag, turn;
    acb_init(lag);
    acb_init(turn);
    arb_zero(value);
    for (int64_t k = 0; k < at->weights; k++) {
        szgi_phase quarters = szgi_phase_ratio(k, 2);
        szgi_phase_polar(lag, at->w[k], 1, &at->theta[k], BITS);
        szgi_phase_exp(turn, &quarters, 1, BITS);
        acb_mul(lag, lag, turn, BITS);
        acb_mul_2exp_si(lag, lag, k > 0);
        arb_add(value, value, acb_realref(lag), BITS);
    }
    acb_clear(lag);
    acb_clear(turn);
}

/* sum_{k >= 0} 2 Re{a_k} cos(k pi / 2) */
void szgi_enclose_symbol_printed(arb_t value, const instance *at) {
    acb_t lag, turn;
    acb_init(lag);
    acb_init(turn);
    arb_zero(value);
    for (int64_t k = 0; k < at->weights; k++) {
        szgi_phase quarters = szgi_phase_ratio(k, 2);
        szgi_phase_polar(lag, at->w[k], 1, &at->theta[k], BITS);
        szgi_phase_exp(turn, &quarters, 1, BITS);
        arb_mul_2exp_si(acb_realref(lag), acb_realref(lag), 1);
        szgi_ball_accumulate(value, acb_realref(lag), acb_realref(turn), BITS);
    }
    acb_clear(lag);
    acb_clear(turn);
}

/* p M p^T with p = (sin i theta, cos i theta) */
static void position(arb_t value, const instance *at, int64_t i) {
    acb_t angle; /* cos + i sin */
    arb_t term, weight;
    acb_init(angle);
    arb_init(term);
    arb_init(weight);
    szgi_phase_exp(angle, &at->theta[0], i, BITS);
    const arb_srcptr p[] = {acb_imagref(angle), acb_realref(angle)};
    arb_zero(value);
    for (int64_t e = 0; e < 4; e++) {
        arb_mul(term, p[e / 2], p[e % 2], BITS);
        arb_set_d(weight, at->w[e]);
        szgi_ball_accumulate(value, term, weight, BITS);
    }
    acb_clear(angle);
    arb_clear(term);
    arb_clear(weight);
}

void szgi_enclose_position_00(arb_t value, const instance *at) {
    position(value, at, 0);
}

void szgi_enclose_position_11(arb_t value, const instance *at) {
    position(value, at, 1);
}

void szgi_enclose_alibi(arb_t value, const instance *at) {
    arb_set_d(value, -at->w[0]);
    arb_mul_si(value, value, (slong)at->n, BITS);
}

void szgi_enclose_tail(arb_t value, const instance *at) {
    arb_set_d(value, at->w[at->weights - 1]);
}

void szgi_enclose_rotary_share(arb_t value, const instance *at) {
    arb_set_si(value, (slong)at->n);
    arb_div_si(value, value, 2 * (slong)at->phases, BITS);
}
