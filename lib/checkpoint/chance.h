/* What random alignment of W_Q and W_K would give: docs/explanation/theory.md, "Positional heads".
 */
#ifndef SZG_CHECKPOINT_CHANCE_H
#define SZG_CHECKPOINT_CHANCE_H

#include "lag_moments.h"

enum { CHANCE_DRAWS = 999 };

/* Of a head, rows e x d with scale and gains, centred where the norm centres: a draw multiplies the
 * columns of the keys by independent signs, which are the layer's. Gains, norms of pairs and noise
 * stay what they are. */
typedef struct chance_input {
    const szgi_rotary *rotary;
    int64_t e, d, layer;
    const double *q, *k;  /* rows */
    double factor;        /* of the products of q and k */
    const double *offset; /* [2 pairs] waves that no draw changes */
    uint64_t seed;
} chance_input;

/* variance[i]: szgi_lag_moments_variance of draw i's kernel. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_chance_variances(szg_context *context, const chance_input *input,
                                                  const lag_moments *moments,
                                                  double variance[CHANCE_DRAWS]);

/* Sign of column j in a draw of a layer. */
double szgi_chance_sign(uint64_t seed, int64_t layer, int64_t draw, int64_t column);

#endif
