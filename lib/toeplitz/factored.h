/* What the house alone uses of <szego/factored.h>. */
#ifndef SZEGO_TOEPLITZ_FACTORED_H
#define SZEGO_TOEPLITZ_FACTORED_H

#include <szego/factored.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Shapes and pointers: SZG_EINVAL. */
SZG_CHECK_RESULT szg_status szgi_factored_check(szg_context *context, const szg_factored *factored);

/* szgi_factored_check, and the numbers of A and B. */
SZG_CHECK_RESULT szg_status szgi_factored_check_finite(szg_context *context, const szg_factored *f);

/* y_b := L x_b (op 'n') or L^T x_b ('t', 'c'), b = 0 .. batch-1, vector b at x + b * ldx, not
 * overlapping y. O(n d + n log n) time a vector and O(d + n) memory, causal too: there the low-rank
 * part is a running sum and the causal part of T is Toeplitz again. */
SZG_CHECK_RESULT szg_status szgi_factored_apply(szg_context *context, const szg_factored *factored,
                                                char op, int64_t batch, const double *x,
                                                int64_t ldx, double *y, int64_t ldy);

/* The n x n matrix. SZG_ENOMEM where 8 n^2 bytes exceed the available memory. */
SZG_CHECK_RESULT szg_status szgi_factored_dense(szg_context *context, const szg_factored *factored,
                                                double *out, int64_t ldout);

/* The n diagonal entries: the eigenvalues of a causal matrix. */
SZG_CHECK_RESULT szg_status szgi_factored_diagonal(szg_context *context,
                                                   const szg_factored *factored, double *out);

/* Projection on the Toeplitz matrices (means along diagonals; the masked entries count as 0), kind
 * real. 2 d + 1 transforms; the error of a diagonal's sum is c log2(n) eps sum_t |A_t| |B_t|. */
SZG_CHECK_RESULT szg_status szgi_factored_toeplitz_part(szg_context *context,
                                                        const szg_factored *factored,
                                                        szg_toeplitz **out);

/* Frobenius norm: from the Gram matrices A^T A and B^T B, running ones if causal; O(n d^2). The
 * square has the error c n eps (|A B^T| + |T|)^2: where A B^T and -T nearly cancel, digits are
 * lost. */
SZG_CHECK_RESULT szg_status szgi_factored_norm_frobenius(szg_context *context,
                                                         const szg_factored *factored, double *out);

SZGI_END_DECLS

#endif
