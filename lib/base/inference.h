/* Inference from few numbers: tests of a mean, and rank correlation. */
#ifndef SZG_BASE_INFERENCE_H
#define SZG_BASE_INFERENCE_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- The mean ---- */

/* The 97.5% quantile of Student's t with so many degrees of freedom; NaN below 1. */
double szgi_student_quantile(int64_t freedom);

/* The 95% interval of the mean by Student's t; NaN with fewer than two numbers. */
typedef struct szgi_mean_interval {
    double mean, low, high;
} szgi_mean_interval;

szgi_mean_interval szgi_mean_interval_of(int64_t count, const double *x);

/* ---- Signs ---- */

enum { SZGI_EXACT_SIGNS = 20, SZGI_DRAWN_SIGNS = 1000000 };

/* Fisher's test of differences that are symmetric about 0 (1935): the share of all 2^count choices
 * of signs whose sum is as far from 0 as that of `x`, to both sides. Each of `x` may be off by
 * `error`: sums that are equal but for that are as far. Beyond SZGI_EXACT_SIGNS numbers
 * SZGI_DRAWN_SIGNS choices are drawn, and the share counts `x` itself among them (Phipson and Smyth
 * 2010). NaN without numbers. */
double szgi_sign_flip(int64_t count, const double *x, double error);

/* ---- Several hypotheses ---- */

/* Holm (1979): `adjusted[i]` is the least level at which hypothesis i of `count` is rejected. A
 * `p` that is NaN was not tested: it counts as 1 among the others, and stays NaN. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_holm(szg_context *context, int64_t count, const double *p,
                                      double *adjusted);

/* ---- Rank correlation ---- */

/* Spearman's: Pearson's of the ranks, ties with the mean of theirs. NaN: fewer than two pairs, a
 * number that is NaN, or all numbers of a side are equal. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_spearman(szg_context *context, int64_t count, const double *x,
                                          const double *y, double *out);

SZGI_END_DECLS

#endif
