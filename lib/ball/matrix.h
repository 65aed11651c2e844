#ifndef SZG_BALL_MATRIX_H
#define SZG_BALL_MATRIX_H

#include "ball/arb.h"

struct szgi_ball_matrix {
    acb_mat_t a;
    slong bits;
};

/* SZG_EINVAL unless the matrix is square; the message says that `what` needs it. */
SZG_CHECK_RESULT szg_status szgi_check_square(szg_context *context, const szgi_ball_matrix *matrix,
                                              const char *what);

/* out[k] contains the k-th eigenvalue, ascending, of the Hermitian matrix above the diagonal of h,
 * n x n; out is initialised. SZG_ENOMEM, SZG_ECANCEL, SZG_ENOCONV. */
SZG_CHECK_RESULT szg_status szgi_hermitian_eigenvalues(szg_context *context, const acb_mat_t h,
                                                       slong bits, arb_ptr out);

/* out[k], k < min(rows, columns), descending. */
SZG_CHECK_RESULT szg_status szgi_singular_values(szg_context *context, const acb_mat_t a,
                                                 slong bits, arb_ptr out);

/* Approximate unit eigenvectors of a Hermitian n x n matrix, in the columns of v; a is destroyed.
 * Cyclic Jacobi in double. SZG_ECANCEL; stops after a fixed number of sweeps at worst, since what
 * is proved does not depend on it. */
SZG_CHECK_RESULT szg_status szgi_jacobi(szg_context *context, int64_t n, szg_c64 *a, szg_c64 *v);

#endif
