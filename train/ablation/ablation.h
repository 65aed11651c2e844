/* What the house alone uses of <szego/ablation.h>. */
#ifndef SZEGO_TRAIN_ABLATION_H
#define SZEGO_TRAIN_ABLATION_H

#include <szego/ablation.h>
#include "train/decoder/decoder.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* "output", "values", "latent_columns", "cumulative", "rotation". */
const char *szgi_ablation_method_name(szg_ablation_method method);

/* Whether `spared` has the head, and how many heads of a layer something is taken from. */
static inline bool szgi_ablation_spares(const szg_ablation *ablation, int64_t layer, int64_t head) {
    return ablation->spared && ablation->spared[layer * ablation->heads + head];
}
int64_t szgi_ablation_able(const szg_ablation *ablation, int64_t layer);

/* Arrays of zeros for so many layers and heads. */
SZG_CHECK_RESULT szg_status szgi_ablation_open(szg_context *context, int64_t layers, int64_t heads,
                                               szg_ablation *out);

/* ---- Deposit ---- */

/* The 97.5% quantile of Student's t with so many degrees of freedom; NaN below 1. */
double szgi_student_quantile(int64_t freedom);

/* The 95% interval of the mean by Student's t; NaN with fewer than two numbers. */
typedef struct szgi_mean_interval {
    double mean, low, high;
} szgi_mean_interval;

szgi_mean_interval szgi_mean_interval_of(int64_t count, const double *x);

/* What seeds spread over: the least and the greatest of them, and the 95% interval of their mean by
 * Student's t (normal values; it may reach beyond what the quantity can be). NaN with fewer than
 * two. */
typedef struct szgi_seed_spread {
    double least, greatest, low, high;
} szgi_seed_spread;

/* Of one layer. A run's drops are the accuracy of its whole model less those without each head,
 * negative ones counted as 0; its index is the share of their sum that the worst head carries (1 /
 * heads .. 1), its Gini coefficient 0 (equal) .. (heads - 1) / heads (one head). Here stand the
 * means over the runs that have a drop at all: heads of different seeds are different heads, so
 * their drops are not averaged first. Index and Gini coefficient are NaN where no run has a drop.
 */
typedef struct szgi_deposit {
    int64_t runs; /* that have a drop */
    double index, gini;
    szgi_seed_spread index_spread, gini_spread;
    double coverage;      /* chance that [least, greatest] holds the median of the distribution that
                             the seeds are drawn from, whatever it is: 1 - 2^(1 - runs); NaN: one */
    double uniform_index; /* szgi_deposit_uniform of the reach; NaN: runs of several, or CUMULATIVE
                          above layer 0, where drops have a part in common */
    double total;         /* sum of a run's drops, mean over all runs */
    double largest;       /* the worst head's drop of accuracy, mean over all runs */
    int64_t worst_head;   /* of the only run; -1 with several runs or none */
} szgi_deposit;

/* SZG_EINVAL: no runs, or runs of other shapes, or no such layer. */
SZG_CHECK_RESULT szg_status szgi_ablation_deposit(szg_context *context,
                                                  const szg_ablation *const *runs, int64_t count,
                                                  int64_t layer, szgi_deposit *out);

/* The expected index of shares uniform on the simplex: of independent drops with one exponential
 * distribution, say, the largest of n has the share (1 + 1/2 + .. + 1/n) / n on average (Fisher
 * 1929). Heads that all cost the same have less. NaN for n < 1. */
double szgi_deposit_uniform(int64_t heads);

/* Gini coefficient of numbers >= 0: sum_ij |x_i - x_j| / (2 n sum x); NaN where the sum is not
 * positive. Sorts `x`. */
double szgi_gini_coefficient(int64_t count, double *x);

SZGI_END_DECLS

#endif
