/* Does a computed spectrum of a symmetric Toeplitz matrix fit what is known of it apart? */
#ifndef SZG_SPECTRA_DC_VERIFY_H
#define SZG_SPECTRA_DC_VERIFY_H

#include "base/context.h"

/* The answer to be checked: eigenvalues of both halves, ascending, of the matrix with these lags,
 * whose norm is at least `norm`. Entries are of size 1 at most. */
typedef struct szgi_dc_answer {
    int64_t n;
    const double *lags;
    double norm;
    const double *half[2]; /* (n + 1) / 2 and n / 2 values */
    const double *all;     /* both, ascending */
} szgi_dc_answer;

/* Sums of the eigenvalues and of their squares, for each half, against trace and Frobenius norm of
 * t_|i-j| +- t_|n-1-i-j|; and the number of eigenvalues below two shifts in wide gaps against the
 * signs of the pivots of T - shift (Durbin's recursion; Sylvester's law of inertia). A count whose
 * recursion came near a breakdown decides nothing. False where a check fails, NaN included. */
SZG_CHECK_RESULT szg_status szgi_dc_verify(szg_context *context, const szgi_dc_answer *answer,
                                           bool *confirmed);

#endif
