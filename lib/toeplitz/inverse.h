/* The inverse of a positive definite Toeplitz matrix as an operator. */
#ifndef SZG_TOEPLITZ_INVERSE_H
#define SZG_TOEPLITZ_INVERSE_H

#include "toeplitz/toeplitz.h"

SZGI_BEGIN_DECLS

typedef struct szgi_inverse szgi_inverse;

/* From the first column of the inverse, which conjugate gradients find once: as right as the
 * condition number lets it be. SZG_EDOMAIN: not positive definite, or not of a Hermitian kind;
 * SZG_ENOCONV: no column x with ||T x - e_0|| <= 2^-10 was found; SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_inverse_open(szg_context *context, const szg_toeplitz *t,
                                              szgi_inverse **out);
void szgi_inverse_close(szgi_inverse **inverse);

/* Memory that it keeps, in vectors of n real numbers. */
int64_t szgi_inverse_vectors(const szg_toeplitz *t);

/* y = B x, n numbers each (of a complex kind 2 n: real and imaginary parts in turn), B the exactly
 * Hermitian matrix of the column found, near T^-1: six transforms, two threads. x and y may be the
 * same. One thread at a time. */
SZG_CHECK_RESULT szg_status szgi_inverse_apply(szg_context *context, szgi_inverse *inverse,
                                               const double *x, double *y);

SZGI_END_DECLS

#endif
