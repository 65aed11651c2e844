/* One matrix at eight lags, a vector lane each: no loop is shorter than a vector. */
#ifndef SZG_CHECKPOINT_BOUND_LANES_H
#define SZG_CHECKPOINT_BOUND_LANES_H

#include <stdbool.h>
#include <stdint.h>

enum { SZGI_LAG_LANES = 8 };

/* Numbers of room for order n. */
int64_t szgi_lanes_room(int64_t n);

/* What bound_kernels.h computes of one lag: bit l of the answer says whether P - R Q R^T has a
 * Cholesky factor, R that of cosines c[t][l] and sines s[t][l]. The bound on its error is the same.
 * `room` is aligned to 64 bytes. Where the processor has no AVX-512 it goes lane by lane. */
unsigned szgi_lanes_factored(int64_t n, int64_t pairs, const double *c, const double *s,
                             const double *p, const double *q, double *room);

#endif
