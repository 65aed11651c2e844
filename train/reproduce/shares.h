/* What the largest of several shares is in two references. */
#ifndef SZG_TRAIN_REPRODUCE_SHARES_H
#define SZG_TRAIN_REPRODUCE_SHARES_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- The largest of `count` shares of 1 ---- */

/* Of shares uniform on the simplex (the flat Dirichlet distribution): the chance that the largest
 * is above `share`, sum over j >= 1 of (-1)^(j + 1) C(count, j) (1 - j share)_+^(count - 1) (Fisher
 * 1929), within 1e-7. And the share that it exceeds with the chance `chance`. NaN for count < 1. */
double szgi_largest_share_tail(int64_t count, double share);
double szgi_largest_share_quantile(int64_t count, double chance);

/* Heads that all cost the same, judged on a test split: `examples` test examples, of which the
 * whole model gets the share `accuracy` right, and a model without one head `accuracy - total /
 * heads`, whichever head. */
typedef struct szgi_equal_heads {
    int64_t heads, examples;
    double accuracy, total;
} szgi_equal_heads;

enum { SZGI_EQUAL_TRIALS = 10000 };

/* The largest share of the drops in SZGI_EQUAL_TRIALS simulated ablations, ascending: counts of
 * right answers without a head are binomial and independent, drops below 0 count as 0. Trials
 * without a drop have the share 0. `out`: [SZGI_EQUAL_TRIALS]. They follow from `seed` and `layer`
 * alone. SZG_EINVAL: no such numbers; SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_equal_heads_shares(szg_context *context,
                                                    const szgi_equal_heads *of, uint64_t seed,
                                                    int64_t layer, double *out);

SZGI_END_DECLS

#endif
