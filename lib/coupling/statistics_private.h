/* What the two ways to a softmax's statistics share: statistics.c in double precision,
 * statistics_single.c with products in single precision. */
#ifndef SZG_COUPLING_STATISTICS_PRIVATE_H
#define SZG_COUPLING_STATISTICS_PRIVATE_H

#include "coupling/coupling.h"

/* One query's sums over the keys so far, relative to their maximum `top`. */
typedef struct statistics_sums {
    double top;           /* of what the softmax is of */
    double weight, slope; /* sum e^t and sum t e^t, t = x - top <= 0 */
    double first, sinks;  /* sums of e^t over token 0 and over the declared sinks */
} statistics_sums;

/* What is left of a query. */
typedef struct statistics_query {
    double largest, smallest, entropy, first, sinks, learned;
    double a_norm, b_norm; /* of its row of A and of B */
    int64_t largest_key, smallest_key;
} statistics_query;

typedef struct statistics_job {
    const szg_matrix *matrix;
    const szg_factored *factored; /* NULL: dense, or zero */
    szg_statistics_options options;
    int64_t n;
    bool causal;
    double *bias; /* of lag i - j at i - j + n - 1; NULL: none */
    /* The greatest norms of rows of A and of B, and modulus of the bias. */
    double a_norm, b_norm, bias_most;
    statistics_query *query;
} statistics_job;

/* tanh, the quotient before it and the product after it move a number by so many u cap at most. */
enum { SZGI_STATISTICS_CAPPED = 10 };

/* How many of the keys from `first` on, `count` of them, query i sees. */
static inline int64_t statistics_seen(const statistics_job *job, int64_t i, int64_t first,
                                      int64_t count) {
    if (!job->causal || i >= first + count)
        return count;
    return i < first ? 0 : i - first + 1;
}

/* The sums so far, relative to a greater maximum. */
void szgi_statistics_raise(double top, statistics_sums *s);

/* Takes `count` numbers in and leaves their weights, relative to the new top, in their place. */
void szgi_statistics_take(int64_t count, double *x, statistics_sums *s);

/* Entropy and shares of a query from its sums, the learned sink included. */
void szgi_statistics_finish(const statistics_job *job, const statistics_sums *sums,
                            statistics_query *q);

/* Entropies, shares and extremes of every query, from products in single precision; norms are
 * there. *error: the bound on a logit. *taken = false, and nothing is kept of it: that bound is too
 * large to be of use, or so many logits lie so near the extreme ones that it would not be faster.
 * SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_statistics_single(szg_context *context, statistics_job *job,
                                                   bool *taken, double *error);

#endif
