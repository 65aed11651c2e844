/* What circuits of random weights look like: products of two Gaussian factors of a head's shapes,
 * with the gains that the head's own factors have (docs/explanation/theory.md, "A random
 * baseline"). */
#ifndef SZG_CHECKPOINT_BASELINE_H
#define SZG_CHECKPOINT_BASELINE_H

#include "circuit.h"

typedef enum baseline_quantity {
    BASELINE_SIGMA_MAX,
    BASELINE_STABLE_RANK,
    BASELINE_EFFECTIVE_RANK,
    BASELINE_QUANTITIES
} baseline_quantity;

/* The quantiles at 0.025, 0.5 and 0.975; NaN where the circuit of random weights is zero. */
typedef struct baseline_quantiles {
    double low, median, high;
} baseline_quantiles;

typedef struct baseline baseline;

/* `options` with at least one draw. All are borrowed. */
SZG_CHECK_RESULT szg_status szgi_baseline_open(szg_context *context,
                                               const szg_checkpoint *checkpoint,
                                               const szg_checkpoint_options *options,
                                               const head_part *part, const value_set *values,
                                               baseline **out);
void szgi_baseline_close(baseline **own);

/* Draws what a layer's quantiles need and was not drawn last, on the pool: what takes long.
 * ov: of OV circuits too. */
SZG_CHECK_RESULT szg_status szgi_baseline_draw(szg_context *context, baseline *own, int64_t layer,
                                               bool ov);
/* The quantiles of a QK circuit at lag number `lag` of szgi_circuit_lags, for factors of those
 * norms; of an OV circuit. A layer is drawn when it is first asked for, on the pool. SZG_EDATA: a
 * gain that is no number; SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_baseline_qk(szg_context *context, baseline *own, int64_t layer,
                                             int64_t head, int64_t lag, const circuit_norms *norms,
                                             baseline_quantiles out[BASELINE_QUANTITIES]);
SZG_CHECK_RESULT szg_status szgi_baseline_ov(szg_context *context, baseline *own, int64_t layer,
                                             const circuit_norms *norms,
                                             baseline_quantiles out[BASELINE_QUANTITIES]);

/* The quantile at `at` of numbers in ascending order. */
double szgi_baseline_quantile(int64_t count, const double *ascending, double at);

/* ---- What it draws, for its tests too ---- */

/* L of an e x d matrix of independent standard normals W = L Q, e x e, from e (e + 1) / 2 numbers
 * (Bartlett 1933): normals below the diagonal, chi of d - i degrees of freedom at place i of it.
 * e <= d. */
void szgi_baseline_triangle(uint64_t seed, int64_t draw, uint32_t side, int64_t e, int64_t d,
                            double *lower);
/* The e x d matrix itself, with other numbers. */
void szgi_baseline_gaussian(uint64_t seed, int64_t draw, uint32_t side, int64_t e, int64_t d,
                            double *rows);

#endif
