/* Dense eigenvalues of arrays that the caller gives away. */
#ifndef SZG_SPECTRA_DENSE_H
#define SZG_SPECTRA_DENSE_H

#include "toeplitz/toeplitz.h"

#include "spectra_private.h"

/* The dense array of t, complex numbers interleaved where t is complex; `copies` such arrays must
 * fit into memory, else `what` and `remedy` make the message. */
SZG_CHECK_RESULT szg_status szgi_dense_open_toeplitz(szg_context *context, const szg_toeplitz *t,
                                                     int64_t copies, const char *what,
                                                     const char *remedy, double **out);

/* toeplitz_singular.c: T J of a real t, n x n, where J is the reversal: the symmetric Hankel matrix
 * (T J)_ij = a_{i+j-(n-1)}. SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_dense_hankel(szg_context *context, const szg_toeplitz *t,
                                              double *a);

/* Selected eigenvalues of the n x n array a (rows n apart), which is overwritten, with the check of
 * trace and Frobenius norm. Symmetry is taken for granted; `method` is the caller's. On failure
 * *out may hold arrays: szgi_spectrum_finish. */
SZG_CHECK_RESULT szg_status szgi_dense_symmetric_values(szg_context *context, int64_t n, double *a,
                                                        const szgi_selection *selection,
                                                        szg_spectrum *out);
SZG_CHECK_RESULT szg_status szgi_dense_hermitian_values(szg_context *context, int64_t n, szg_c64 *a,
                                                        const szgi_selection *selection,
                                                        szg_spectrum *out);

/* ---- The eigenvalues of one of many arrays, in two parts with the solver between them ---- */

/* Of an array: itself, which has to be symmetric or Hermitian, or its Hermitian part. */
typedef enum szgi_hermitian_form {
    SZGI_SYMMETRIC,
    SZGI_HERMITIAN,
    SZGI_HERMITIAN_PART
} szgi_hermitian_form;

typedef struct szgi_prepared {
    szgi_hermitian_form form;
    double trace, frobenius;
} szgi_prepared;

/* The matrix to solve, of a real array of order n, into n x n numbers `copy`. SZG_EINVAL,
 * SZG_EDATA: what the solvers say. */
SZG_CHECK_RESULT szg_status szgi_dense_prepare(szg_context *context, szgi_hermitian_form form,
                                               const szg_matrix *matrix, double *copy,
                                               szgi_prepared *out);
/* Its spectrum from all ascending values, with the check of trace and norm. On failure *out is
 * closed. */
SZG_CHECK_RESULT szg_status szgi_dense_accept(szg_context *context, const szgi_prepared *prepared,
                                              const double *w, const szgi_selection *selection,
                                              szg_spectrum *out);

/* a := (a + a^T) / 2 for an n x n array without padding; halves first: no overflow. SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_dense_symmetrise(szg_context *context, int64_t n, double *a);

#endif
