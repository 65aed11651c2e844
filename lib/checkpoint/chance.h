/* What random alignment of W_Q and W_K would give: docs/explanation/theory.md, "Positional heads".
 */
#ifndef SZG_CHECKPOINT_CHANCE_H
#define SZG_CHECKPOINT_CHANCE_H

#include "lag_moments.h"

enum { CHANCE_DRAWS = 999 };

/* Deviations to either side of the mean that hold 95% of normal numbers. */
#define CHANCE_BAND 1.96

/* A kernel's parts by the columns of W_K, d of them: a draw multiplies each by a sign, and those of
 * a layer are the same for all of its heads. Each draw's signs are independent and fair. */

/* out[r, i] = sum_j sign_ij matrix[r, j], of a matrix [rows, d]; out: [rows, CHANCE_DRAWS].
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_chance_sums(szg_context *context, uint64_t seed, int64_t layer,
                                             int64_t rows, int64_t d, const double *matrix,
                                             double *out);
/* squares[i] += (sums[i] + still)^2 */
void szgi_chance_add_squares(int64_t count, const double *sums, double still, double *squares);

/* The draws' quantile at 0.95, and the share of the draws and of `value` itself that are at least
 * `value`, to rounding. */
typedef struct chance_found {
    double quantile, p;
} chance_found;
chance_found szgi_chance_compare(const double draws[CHANCE_DRAWS], double value);
/* variance / (variance + noise), 0 of nothing. */
double szgi_share_of(double variance, double noise);

/* The columns that make a kernel: column j adds the waves of q_j^T R_k k_j times `factor`, the self
 * kernel; with `token` those of q^T R_k k_j times token_j, the mean kernel of a mean query. */
typedef struct pair_columns {
    const szgi_rotary *rotary;
    int64_t d;
    const double *q;     /* [e, d]; with `token` [e] */
    const double *k;     /* [e, d] */
    const double *token; /* [d], or NULL */
    double factor;
} pair_columns;

/* Their draws, [2 pairs, CHANCE_DRAWS], and their sums with the signs that they have, [2 pairs].
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_chance_pairs(szg_context *context, uint64_t seed, int64_t layer,
                                              const pair_columns *from, double *drawn,
                                              double *whole);

#endif
