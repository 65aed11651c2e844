/* What the files of the factored matrix share. */
#ifndef SZG_FACTORED_PRIVATE_H
#define SZG_FACTORED_PRIVATE_H

#include "toeplitz/factored.h"
#include "toeplitz_private.h"

/* A new array: sums along the diagonals of L, 2 n - 1 of them, lag 1 - n first. Their errors go
 * with *low_rank, the norm of the sums of A B^T before the mask; NULL: not asked for. */
SZG_CHECK_RESULT szg_status szgi_factored_diagonal_sums(szg_context *context, const szg_factored *f,
                                                        double *low_rank, double **out);

/* ||M o A B^T||_F^2 from Gram matrices: of all rows, or running ones in steps of so many rows. */
enum { SZGI_FACTORED_STEP = 256 };
SZG_CHECK_RESULT szg_status szgi_factored_low_rank_square(szg_context *context,
                                                          const szg_factored *f, double *out);

#endif
