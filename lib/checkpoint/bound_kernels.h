/* Inner loops of bounds: small matrices, many of them. */
#ifndef SZG_CHECKPOINT_BOUND_KERNELS_H
#define SZG_CHECKPOINT_BOUND_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

/* A symmetric n x n matrix, given whole: its upper triangle, by rows, becomes U of U^T U; what is
 * below the diagonal is spoilt. False where a pivot is not positive (or NaN). Where it is true,
 * U^T U = A + E with |E_ij| <= gamma_(n+2) |u_i| |u_j|, u_i the columns of U (Higham 2002, theorem
 * 10.3, for sums in any order; one more rounding, as rows are multiplied by 1 / u_ii). */
bool szgi_cholesky_upper(int64_t n, double *a);

/* out = P - R Q R^T, n x n. R turns dimensions t and pairs + t, t < pairs, by the angle of cosine
 * c[t] and sine s[t], and leaves those from 2 pairs on. */
void szgi_rotated_rest(int64_t n, int64_t pairs, const double *c, const double *s, const double *p,
                       const double *q, double *out);

#endif
