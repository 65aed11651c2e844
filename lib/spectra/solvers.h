/* The solvers of the table in compute.c, one a structure and question. */
#ifndef SZG_SPECTRA_SOLVERS_H
#define SZG_SPECTRA_SOLVERS_H

#include "spectra/spectra.h"

/* The matrix is of the solver's kind, its sizes are at least 1, it is square (any shape for
 * singular values), and *out is zeroed. On failure *out is closed. */
typedef szg_status szgi_solver(szg_context *context, const szg_matrix *matrix,
                               const szg_spectra_options *options, szg_spectrum *out);

/* dense.c: arrays are kept as they are. Symmetric and Hermitian ones are read whole, SZG_EDATA if
 * they are unsymmetric beyond rounding (64 eps max|a|), with the place. */
SZG_CHECK_RESULT szgi_solver szgi_dense_eigen, szgi_dense_part, szgi_dense_singular;
SZG_CHECK_RESULT szgi_solver szgi_symmetric_eigen, szgi_hermitian_eigen;
SZG_CHECK_RESULT szgi_solver szgi_complex_eigen, szgi_complex_singular;
/* Of a dense array of which nothing is assumed, nor looked at: always all eigenvalues. */
SZG_CHECK_RESULT szgi_solver szgi_general_eigen;

/* toeplitz.c, toeplitz_singular.c, toeplitz_part.c */
SZG_CHECK_RESULT szgi_solver szgi_toeplitz_eigen, szgi_toeplitz_singular, szgi_toeplitz_part;
/* (T + T^*) / 2. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_open_part(szg_context *context, const szg_toeplitz *t,
                                                    szg_toeplitz **out);

/* factored.c, hermitian_part.c */
SZG_CHECK_RESULT szgi_solver szgi_factored_eigen, szgi_factored_singular, szgi_factored_part;

/* closed_forms.c, atoms.c: symmetric matrices in closed form; moduli.c. */
SZG_CHECK_RESULT szgi_solver szgi_closed_eigen, szgi_cosines_eigen;
SZG_CHECK_RESULT szgi_solver szgi_closed_singular, szgi_cosines_singular;

/* computed.c: what a device has computed, checked. */
SZG_CHECK_RESULT szgi_solver szgi_device_eigen, szgi_device_singular, szgi_device_part;

/* spectrum.c */
SZG_CHECK_RESULT szgi_solver szgi_zero_eigen, szgi_zero_singular;

#endif
