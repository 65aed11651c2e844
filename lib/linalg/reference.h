/* Entries of the reference table: plain C, written for clarity, the oracles of the fast ones. */
#ifndef SZG_LINALG_REFERENCE_H
#define SZG_LINALG_REFERENCE_H

#include "ops.h"

/* The rotation that makes two vectors or coordinates p, q orthogonal, given the squares (or
 * diagonal entries) at both and the product w_p^* w_q (or a_pq): p' = c p - s conj(phase) q,    q'
 * = s phase p + c q. */
typedef struct szgi_rotation {
    double c, s;
    szg_c64 phase;
} szgi_rotation;

szgi_rotation szgi_rotation_of(double at_p, double at_q, szg_c64 product);
/* Rotates `count` pairs that stand `step` apart. */
void szgi_rotation_apply(const szgi_rotation *rotation, int64_t count, szg_c64 *p, szg_c64 *q,
                         int64_t step);

/* The power of two that brings the largest modulus of rows x columns entries to [1/2, 1); 1 for 0.
 */
double szgi_reference_scale(int64_t rows, int64_t columns, const szg_c64 *a, int64_t lda);

/* rows x columns complex copy of a real matrix without gaps; free with szgi_memory_free. */
szg_status szgi_reference_widen(szg_context *context, int64_t rows, int64_t columns,
                                const double *a, int64_t lda, szg_c64 **out);

#define ORACLE(returns, name, parameters) returns szgi_reference_##name parameters;
#include "linalg_ops.def"

#endif
