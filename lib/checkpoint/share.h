/* How much of a head's logits the lag explains: docs/explanation/theory.md, "Positional heads". */
#ifndef SZG_CHECKPOINT_SHARE_H
#define SZG_CHECKPOINT_SHARE_H

#include "lag_moments.h"

/* What a layer's tokens make of a head's queries and keys, before rotation: their means, their
 * covariances, and the mean of k q^T of a token and its copy. Scale and amplitude are in them. */
typedef struct head_law {
    double *q_mean, *k_mean;             /* [e] */
    double *q_covariance, *k_covariance; /* [e, e] */
    double *cross;                       /* [e, e] */
} head_law;

/* A kernel over the lag: constant + sum_w wave[w] times wave w of lag_moments. */
typedef struct lag_kernel {
    double constant;
    double *wave; /* [2 pairs] */
} lag_kernel;

/* The kernel k |-> tr(R_k cross), of e x e numbers. */
void szgi_kernel_of_cross(const szgi_rotary *rotary, int64_t e, const double *cross,
                          lag_kernel *out);
/* The kernel k |-> q^T R_k k: the expected logit of independent tokens, of their means. */
void szgi_kernel_of_means(const szgi_rotary *rotary, const double *q, const double *k, int64_t e,
                          lag_kernel *out);

/* At every lag: szgi_lag_moments_count of them. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_kernel_values(szg_context *context, const lag_kernel *kernel,
                                               const lag_moments *moments, double *out);

/* A variance as computed: of queries orthogonal to keys it is 0, and rounding gives it either sign.
 */
static inline double szgi_variance_of(double computed) {
    return computed < 0 ? 0 : computed;
}

/* The mean over the lags of the variance of q_i^T R_k k_j, tokens i and j independent. What depends
 * on the query alone, q_i times the part of the mean key that does not turn, cancels in the softmax
 * and is left out. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_share_noise(szg_context *context, const szgi_rotary *rotary,
                                             int64_t e, const head_law *law,
                                             const lag_moments *moments, double *out);

#endif
