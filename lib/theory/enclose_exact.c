/* How the checkers decide hypotheses and equalities. recheck_exact.c does the same by other means.
 */
#include <string.h>

#include "base/memory.h"

#include "enclose.h"
#include "refutation.h"

/* ---- Hypotheses decided exactly ---- */

bool szgi_hold_nonnegative(const instance *at) {
    for (int64_t i = 0; i < at->weights; i++)
        if (!(at->w[i] >= 0.0))
            return false;
    return true;
}

bool szgi_hold_moduli(const instance *at) {
    for (int64_t i = 0; i < at->weights; i++)
        if (at->w[i] != 1.0)
            return false;
    return true;
}

bool szgi_hold_nonzero(const instance *at) {
    return at->w[at->weights - 1] != 0.0;
}

bool szgi_hold_aligned(const instance *at) {
    return szgi_lemma_aligned(at->phases, at->theta);
}

bool szgi_hold_unaligned(const instance *at) {
    return !szgi_lemma_aligned(at->phases, at->theta);
}

bool szgi_hold_unit(const instance *at) {
    szgi_phase zero = szgi_phase_ratio(0, 1);
    return at->phases > 0 && szgi_phase_congruent(&at->theta[0], &zero, 1);
}

/* Floats: only where all are zero. */
bool szgi_hold_rank_one(const instance *at) {
    for (int64_t k = 2; k < at->phases; k++) {
        szgi_phase one = at->theta[1], multiple;
        if (!one.rational && one.radians == 0.0)
            one = szgi_phase_ratio(0, 1);
        if (!one.rational || one.q > INSTANCE_PHASE_MAX)
            return false;
        multiple = szgi_phase_ratio(k * (one.p % (2 * one.q)), one.q);
        if (!szgi_phase_congruent(&at->theta[k], &multiple, 1))
            return false;
    }
    return true;
}

/* 2 theta_0 = 0: a multiple of pi */
bool szgi_hold_hermitian(const instance *at) {
    szgi_phase zero = szgi_phase_ratio(0, 1);
    return at->w[0] == 0.0 || szgi_phase_congruent(&at->theta[0], &zero, 2);
}

/* ---- Hypotheses decided in balls ---- */

/* The symbol of W is w_0 + sum 2 w_i cos(i t): half the lemma's w_0. Halving is exact. */
szg_status szgi_hold_positive_symbol(szg_context *context, const instance *at, bool *holds) {
    double *w = NULL;
    SZG_TRY(szgi_memory_alloc(context, at->weights, &w));
    memcpy(w, at->w, (size_t)at->weights * sizeof *w);
    w[0] *= 0.5;
    szg_range range;
    szg_status status = szgi_ball_range(context, at->weights, w, NULL, SZGI_PHASE_TIMES_INDEX,
                                        SZGI_BALL_BITS, &range);
    szgi_memory_free(w);
    *holds = status == SZG_OK && range.min.lo > 0.0;
    return status;
}

szg_status szgi_hold_definite(szg_context *context, const instance *at, bool *holds) {
    szg_interval least, largest;
    szg_status status =
        szgi_toeplitz_extremes(context, at->n, at->weights, at->w, NULL, &least, &largest);
    *holds = status == SZG_OK && least.lo > 0.0;
    return status;
}

/* ---- Equalities ---- */

szg_status szgi_equal_maximum(szg_context *context, const instance *at, bool *holds) {
    return szgi_lemma_equality(context, at->weights, at->w, at->theta, holds);
}

szg_status szgi_equal_widths(szg_context *context, const instance *at, bool *holds) {
    return szgi_lemma_shift(context, at->weights, at->w, at->theta, 0, holds);
}

szg_status szgi_equal_spectra(szg_context *context, const instance *at, bool *holds) {
    (void)context;
    *holds = szgi_hold_rank_one(at);
    return SZG_OK;
}

szg_status szgi_equal_zero_minor(szg_context *context, const instance *at, bool *holds) {
    (void)context;
    *holds = at->w[0] * at->w[0] == at->w[1] * at->w[1];
    return SZG_OK;
}

/* ALiBi is linear in the lag; a tail is constant from lag weights - 1 on. */
szg_status szgi_equal_by_statement(szg_context *context, const instance *at, bool *holds) {
    (void)context;
    (void)at;
    *holds = true;
    return SZG_OK;
}
