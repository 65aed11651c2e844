/* What the softmax makes of one head's logits: the largest of them, the entropy of the attention
 * weights, and how much of the weight falls on sinks. */
#ifndef SZEGO_STATISTICS_H
#define SZEGO_STATISTICS_H

#include <szego/matrix.h>

SZG_BEGIN_DECLS

/* Row i of the matrix is query i, column j key j. Its softmax is over the keys that the query sees.
 * `options` may be NULL. */
typedef struct szg_statistics_options {
    SZG_SIZE(szg_statistics_options);
    bool causal;     /* query i sees keys 0 .. i; what is above the diagonal is not read. A factored
                        matrix that is causal is so without it */
    double soft_cap; /* > 0: the softmax is of cap tanh(x / cap), x the logits; 0: of x */
    double scale;  /* > 0: the factor of the dot products that a factored matrix has in A, by which
                      the norms of A's rows are divided; 0: 1 */
    int64_t sinks; /* how many declared sinks there are */
    const int64_t *sink; /* their tokens, 0 <= token < n, no two alike */
    /* The learned logit of a sink that is no token (gpt-oss): it joins the softmax of every query,
     * neither scaled nor capped; NULL: none. */
    const double *sink_logit;
    bool exact; /* products and exponentials in double precision, whatever the order */
} szg_statistics_options;

/* NaN: the number does not apply; its index is then -1. Entropies are in nats. */
typedef struct szg_statistics {
    int64_t n;
    /* Over the pairs that the mask leaves, before the soft cap, with the bias. The first of equals
     * by query, then by key. */
    double largest, smallest;
    int64_t largest_query, largest_key, smallest_query, smallest_key;
    /* Each logit is within it: gamma_K (max|A_i| max|B_j| + max|T|), Higham 2002, (3.5), with A, B
     * and T taken as exact. In double precision u = 2^-53 and K = d + 3; in single precision
     * u = 2^-24 and K = 13 + ceil(d / 32), one more with a bias. 0 of dense numbers. */
    double error;
    /* -sum p log p over a query's weights, the learned sink's among them. The mean is over all
     * queries. Of the entropy divided by the logarithm of the number of weights it is over those
     * queries that have two or more; so are the extremes. */
    double entropy_mean, entropy_normalised, entropy_min, entropy_max;
    int64_t entropy_min_query, entropy_max_query;
    /* Mean weight of token 0 over queries 1 .. n - 1; that of the declared sinks together, over the
     * queries after the last of them; that of the learned sink, over all queries. */
    double first_share, sink_share, learned_share;
    /* Norms of queries and keys, greatest and root mean square: rows of A (less the scale) and B;
     * NaN of dense numbers. */
    double q_norm_max, q_norm_rms, k_norm_max, k_norm_rms;
    /* Were products in single precision? The largest and the smallest logit are products in double
     * precision even so, within gamma_{d+3} with u = 2^-53, and so are their places. */
    bool single;
    /* Each entropy and each share is within weight_error of itself and (n + 8) 2^-51 of the exact
     * one (docs/explanation/methods.md, Softmax of logits). */
    double weight_error;
} szg_statistics;

/* Statistics of an n x n matrix of logits: dense, symmetric, factored or zero. Keys come in blocks
 * with a running maximum and rescaled sums (Milakov and Gimelshein 2018), so that a factored matrix
 * takes O(n d) memory with its factors, whatever n^2 is: 4 n^2 d operations and n^2 exponentials,
 * half of them if causal. The entropy is log Z - sum (x - max) e^{x - max} / Z, two terms that are
 * never negative: nothing cancels. On the sinks see Xiao et al. 2023, on the collapse of the
 * entropy Zhai et al. 2023. The numbers do not depend on the number of threads. SZG_EINVAL: a
 * matrix that is not square, options out of range (the message names the field); SZG_EDOMAIN:
 * another kind of matrix; SZG_EDATA: NaN or infinity, given or by overflow of a dot product (the
 * message names query and key), or dense logits that finite numbers mask, -1e9 for instance, except
 * in the future with `causal`; SZG_ENOMEM, SZG_ECANCEL. Dense attention weights are warned of. */
SZG_CHECK_RESULT szg_status szg_statistics_compute(szg_context *context, const szg_matrix *logits,
                                                   const szg_statistics_options *options,
                                                   szg_statistics *out);

SZG_END_DECLS

#endif
