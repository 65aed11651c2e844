/* The inverse of a real Toeplitz matrix whose order transforms fast, from its first column. */
#ifndef SZG_TOEPLITZ_INVERSE_PRIVATE_H
#define SZG_TOEPLITZ_INVERSE_PRIVATE_H

#include "toeplitz/inverse.h"

typedef struct szgi_inverse_packed szgi_inverse_packed;

bool szgi_inverse_packed_serves(int64_t n);

/* x: the first column, n numbers, x_0 > 0. */
SZG_CHECK_RESULT szg_status szgi_inverse_packed_open(szg_context *context, int64_t n,
                                                     const double *x, szgi_inverse_packed **out);
void szgi_inverse_packed_close(szgi_inverse_packed **inverse);

/* As szgi_inverse_apply. */
SZG_CHECK_RESULT szg_status szgi_inverse_packed_apply(szg_context *context,
                                                      szgi_inverse_packed *self, const double *x,
                                                      double *y);

#endif
