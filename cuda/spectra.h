/* Spectra on the device, for the entries of the table and for spectra captured while a model
 * trains. Matrices are row-major and stand one after the other without gaps; all numbers are double
 * precision. Everything is queued on `stream`; scratch memory of `use` is taken, so that what the
 * caller took for that use before is lost. Host side. */
#ifndef SZG_CUDA_SPECTRA_H
#define SZG_CUDA_SPECTRA_H

#include "session.h"

/* ---- Batches of small matrices ----
 *
 * cusolverDnXsyevBatched, not cusolverDn<t>syevjBatched: the former reduces each matrix to
 * tridiagonal form, is backward stable with no parameter to choose, takes 64-bit sizes and says for
 * each matrix whether it converged; the latter's Jacobi sweeps are made for orders up to 32, end at
 * a tolerance and a number of sweeps that the caller guesses, and batched Jacobi solvers are known
 * to have handed out unconverged values without a word. Neither is trusted: check. */

/* a: count x n x n, symmetric, of which the lower triangle is read; destroyed. w: count x n,
 * ascending. check: count numbers, the verdict on each matrix (spectra_accept): the larger of the
 * defects of trace, |sum w - tr a| / (sqrt(n) ||a||_F), and of the Frobenius norm, | ||w|| /
 * ||a||_F - 1 |; -info where the solver did not converge; NaN where a number of the matrix is no
 * number. */
szg_status spectra_eigen_batch(szg_context *context, session *self, cudaStream_t stream,
                               scratch_use use, int64_t count, int64_t n, double *a, double *w,
                               double *check);

/* Matrices of order n that one call of cuSOLVER is given at most; a batch goes in several calls. */
int64_t spectra_eigen_batch_most(int64_t n);

/* The scratch memory that it takes. */
szg_status spectra_eigen_batch_bytes(szg_context *context, session *self, scratch_use use,
                                     int64_t count, int64_t n, int64_t *bytes);

/* On the host: a matrix's check, downloaded. SZG_ENOCONV: not converged; SZG_EBACKEND: the values
 * do not belong to the matrix (a defect beyond 1e3 n eps, as szgi_spectra_batch_symmetric allows).
 * The message names the matrix, the defect and the remedy. */
szg_status spectra_accept(szg_context *context, int64_t index, int64_t n, double check);
double spectra_limit(int64_t n);

/* Gram matrices, count x k x k with k = min(m, n): L^T L where n <= m, else L L^T, of L: count x m
 * x n. Scratch memory: for float, the same numbers as doubles; for double, none. */
szg_status spectra_gram_batch(szg_context *context, session *self, cudaStream_t stream,
                              scratch_use use, int64_t count, int64_t m, int64_t n, const double *l,
                              double *gram);
szg_status spectra_gram_batch(szg_context *context, session *self, cudaStream_t stream,
                              scratch_use use, int64_t count, int64_t m, int64_t n, const float *l,
                              double *gram);

/* From eigenvalues of Gram matrices, count x k ascending, to singular values, descending, in place:
 * the roots, of negative ones 0. A NaN stays one.
 *
 * Accuracy: the computed Gram matrix has the eigenvalues sigma^2 + d, |d| <= eta ||L||_F^2 with eta
 * = spectra_gram_error(m, n) (products: Higham 2002, 3.5; eigenvalues: Weyl, with 10 k eps for the
 * solver), so that |computed sigma - sigma| <= min(eta ||L||_F^2 / sigma, sqrt(eta) ||L||_F). At m
 * = n = 128 sqrt(eta) is 6e-7: of the order of the rounding of logits in single precision, but far
 * from the c n eps ||L|| of szgi_singular: the table's entry for batches does not use it. */
szg_status spectra_gram_roots(szg_context *context, cudaStream_t stream, int64_t count, int64_t k,
                              double *w);
double spectra_gram_error(int64_t m, int64_t n);

#endif
