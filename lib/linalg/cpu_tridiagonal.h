/* Eigenvalues alone of Hermitian matrices, on the cpu. */
#ifndef SZG_LINALG_CPU_TRIDIAGONAL_H
#define SZG_LINALG_CPU_TRIDIAGONAL_H

#include "cpu.h"
#include "linalg.h"

/* Of a lower triangle, which is destroyed; w ascends. `large`: as for szgi_blas_begin, which the
 * function calls. SZG_ENOMEM, SZG_ENOCONV. */
SZG_CHECK_RESULT szg_status szgi_cpu_values_symmetric(szg_context *context, int64_t n, double *a,
                                                      int64_t lda, bool large, double *w);

/* Likewise; work: `count` numbers, as zheevd asks for, and n more. The caller has called
 * szgi_blas_begin. */
SZG_CHECK_RESULT szg_status szgi_cpu_values_hermitian(szg_context *context, int64_t n, szg_c64 *a,
                                                      int64_t lda, szg_c64 *work, int64_t count,
                                                      double *w);

/* Divides a lower triangle, `width` numbers an entry, by the power of two that brings its largest
 * number to [1/2, 1), if that is so small or large that squares leave the range of doubles. Returns
 * the exponent, 0: nothing was done. */
int szgi_cpu_scale_triangle(int64_t n, int64_t width, double *a, int64_t lda);

#endif
