/* What the house alone uses of <szego/ablation.h>. */
#ifndef SZEGO_TRAIN_ABLATION_H
#define SZEGO_TRAIN_ABLATION_H

#include <szego/ablation.h>
#include "train/decoder/decoder.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* "output", "values", "latent_columns", "cumulative". */
const char *szgi_ablation_method_name(szg_ablation_method method);

/* Arrays of zeros for so many layers and heads. */
SZG_CHECK_RESULT szg_status szgi_ablation_open(szg_context *context, int64_t layers, int64_t heads,
                                               szg_ablation *out);

/* SZG_EINVAL: no runs, or runs of other shapes, or no such layer. */
SZG_CHECK_RESULT szg_status szgi_ablation_deposit(szg_context *context,
                                                  const szg_ablation *const *runs, int64_t count,
                                                  int64_t layer, szgi_deposit *out);

/* The expected index where no head is special: of independent drops with one exponential
 * distribution (shares uniform on the simplex) the largest of n has the share
 * (1 + 1/2 + .. + 1/n) / n on average (Fisher 1929). NaN for n < 1. */
double szgi_deposit_null(int64_t heads);

/* The 97.5% quantile of Student's t with so many degrees of freedom; NaN below 1. */
double szgi_student_quantile(int64_t freedom);

/* Gini coefficient of numbers >= 0: sum_ij |x_i - x_j| / (2 n sum x); NaN where the sum is not
 * positive. Sorts `x`. */
double szgi_gini_coefficient(int64_t count, double *x);

SZGI_END_DECLS

#endif
