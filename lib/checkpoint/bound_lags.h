/* The largest logit over some lags: docs/explanation/theory.md, "The maximum over lags". */
#ifndef SZG_CHECKPOINT_BOUND_LAGS_H
#define SZG_CHECKPOINT_BOUND_LAGS_H

#include "encoding/encoding.h"
#include "bound_norm.h"

/* Queries or keys A n + b with ||n|| <= root, A the rows of `gram`. */
typedef struct szgi_reach {
    const szgi_gram *gram;
    double root;
    const double *shift; /* b, e numbers; NULL: 0 */
    double shift_error;
} szgi_reach;

typedef struct szgi_lag_problem {
    szgi_reach q, k;
    const szgi_rotary *rotary; /* of these e dimensions; the amplitude is in the rows */
    int64_t lags;              /* 0 .. lags - 1, query minus key; at least 1 */
    bool both;                 /* and -(lags - 1) .. -1 */
    double all;                /* a bound at all lags: the answer is no larger */
} szgi_lag_problem;

/* No product of a query and a key is larger at one of these lags, and the answer exceeds the
 * largest that such sets of queries and keys have by 0.5% or a little more. SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_bound_lags(szg_context *context, const szgi_lag_problem *problem,
                                            double *out);

#endif
