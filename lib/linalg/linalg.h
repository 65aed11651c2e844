/* Dense linear algebra and FFT behind a table of functions. Callers use the functions
 * szgi_gemm, szgi_eigen_*, szgi_singular*, szgi_fft_* below: they check sizes and numbers once, for
 * every backend, and then call the table that the context has selected.
 *
 * Matrices are row-major: entry (i, j) of a is a[i * lda + j], lda >= max(1, columns), counted in
 * elements. Arrays belong to the caller. Sizes may be 0: the function then does nothing.
 *
 * Errors of all functions: SZG_EINVAL (a negative size, a leading dimension that is too small, an
 * unknown option letter), SZG_EDATA (NaN or infinity in the input; the message names the first
 * place), SZG_ENOMEM (workspace refused, or a size beyond the library's 32-bit integers),
 * SZG_ENOCONV (the iteration did not converge), SZG_EBACKEND (the selected backend has no such
 * operation). */
#ifndef SZEGO_LINALG_LINALG_H
#define SZEGO_LINALG_LINALG_H

#include <szego/backend.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- Libraries ---- */

/* NULL, or the value of OPENBLAS_NUM_THREADS ("1") that the library needs while it is loaded where
 * memory is limited (RLIMIT_AS, RLIMIT_DATA, vm.overcommit_memory = 2): threads that it starts then
 * would ask for their buffers without an end. The threads of a context do not depend on it. */
const char *szgi_backend_threads_remedy(void);

/* Tries the memory that the CPU's libraries take for each thread of the context, before their first
 * call: SZG_ENOMEM where a limit refuses it. From then on BLAS works in the thread that calls it.
 * Functions of this header do so themselves; it is for who calls BLAS beside them. */
SZG_CHECK_RESULT szg_status szgi_backend_prepare(szg_context *context);

/* ---- Products ---- */

/* C := alpha op(A) op(B) + beta C, op(A) m x k, op(B) k x n, C m x n. op by letter: 'n' as it is,
 * 't' or 'c' transposed. beta = 0: C need not be set.
 * Inputs are not searched for NaN: they propagate. C overlaps neither A nor B.
 * Certified eigenvalues rely on this of every backend: each entry is a sum of the k products and
 * beta C in double precision, in any order, fused or not; no fast products (Strassen). */
SZG_CHECK_RESULT szg_status szgi_gemm(szg_context *context, char op_a, char op_b, int64_t m,
                                      int64_t n, int64_t k, double alpha, const double *a,
                                      int64_t lda, const double *b, int64_t ldb, double beta,
                                      double *c, int64_t ldc);

/* ---- Eigenvalues. Each destroys a. Backward stable: the computed values are the exact ones of
 * a + E, ||E||_2 <= c(n) eps ||a||_2, c a small polynomial (LAPACK Users' Guide, 3rd ed., 4.7).
 * ---- */

/* From this order on the cpu's reduction is in two stages (Haidar, Ltaief, Dongarra 2011), which
 * gives no vectors and is faster on one thread: docs/reference/conventions.md has the figures. */
enum { SZGI_TWO_STAGE_ORDER = 2560 };

/* Symmetric: w[0..n-1] ascending. Reads the lower triangle (i >= j) only. vectors: row i of a
 * becomes the i-th normalised eigenvector. */
SZG_CHECK_RESULT szg_status szgi_eigen_symmetric(szg_context *context, int64_t n, double *a,
                                                 int64_t lda, double *w, bool vectors);

/* Hermitian: the same; imaginary parts of the diagonal are taken as 0. Row i of a becomes the i-th
 * eigenvector v itself, not its conjugate. */
SZG_CHECK_RESULT szg_status szgi_eigen_hermitian(szg_context *context, int64_t n, szg_c64 *a,
                                                 int64_t lda, double *w, bool vectors);

/* General: w[0..n-1] in no particular order; of a real matrix in conjugate pairs, positive
 * imaginary part first. SZG_EBACKEND: the reference has none. */
SZG_CHECK_RESULT szg_status szgi_eigen_general(szg_context *context, int64_t n, double *a,
                                               int64_t lda, szg_c64 *w);
SZG_CHECK_RESULT szg_status szgi_eigen_general_complex(szg_context *context, int64_t n, szg_c64 *a,
                                                       int64_t lda, szg_c64 *w);

/* ---- Singular values and QR. Each destroys a. ---- */

/* a m x n, k = min(m, n): s[0..k-1] descending. u (m x k) and vt (k x n): both given or both NULL;
 * a = u diag(s) vt, in the complex case vt holds the conjugate transpose of the right vectors. */
SZG_CHECK_RESULT szg_status szgi_singular(szg_context *context, int64_t m, int64_t n, double *a,
                                          int64_t lda, double *s, double *u, int64_t ldu,
                                          double *vt, int64_t ldvt);
SZG_CHECK_RESULT szg_status szgi_singular_complex(szg_context *context, int64_t m, int64_t n,
                                                  szg_c64 *a, int64_t lda, double *s, szg_c64 *u,
                                                  int64_t ldu, szg_c64 *vt, int64_t ldvt);

/* R of a = Q R, m x n: the first min(m, n) rows of a become R, upper triangular, zeros below its
 * diagonal; the other rows are destroyed. Signs of the rows of R are not fixed. */
SZG_CHECK_RESULT szg_status szgi_qr_r(szg_context *context, int64_t m, int64_t n, double *a,
                                      int64_t lda);

/* R, d x d, of a tall n x d matrix, n >= d, which stays as it is: by blocks of rows, in a few
 * megabytes. */
SZG_CHECK_RESULT szg_status szgi_tall_r(szg_context *context, int64_t n, int64_t d, const double *a,
                                        int64_t lda, double *r);
/* The same by one reflection after the other, on every backend, whose rounding is proved: R is the
 * factor of a + e with ||e_t|| <= szgi_tall_r_error(n, d) ||a_t|| for each column t. szgi_tall_r of
 * more than 128 columns is expected to be as near. */
SZG_CHECK_RESULT szg_status szgi_tall_r_proved(szg_context *context, int64_t n, int64_t d,
                                               const double *a, int64_t lda, double *r);
double szgi_tall_r_error(int64_t n, int64_t d);

/* L of [l b] = L Q, where l is n x n, lower triangular, and b n x count: L replaces l, whose upper
 * triangle is neither read nor written, and b is destroyed. Signs of the columns of L are not
 * fixed. */
SZG_CHECK_RESULT szg_status szgi_lq_append(szg_context *context, int64_t n, int64_t count,
                                           double *l, int64_t ldl, double *b, int64_t ldb);

/* L, n x n, lower triangular with zeros above its diagonal, of a wide n x d matrix a = L Q, which
 * stays as it is: by blocks of columns that fit the cache, on the calling thread. n <= d is not
 * needed. */
SZG_CHECK_RESULT szg_status szgi_wide_l(szg_context *context, int64_t n, int64_t d, const double *a,
                                        int64_t lda, double *l);

/* L of a = L L^*, a symmetric or Hermitian: L replaces the lower triangle (i >= j), which alone is
 * read; imaginary parts of the diagonal are taken as 0. *completed: whether every pivot was a
 * finite number above 0; else a is destroyed.
 *
 * docs/explanation/theory.md proves from a completed factorisation that a is nearly positive
 * semidefinite. It relies on this of every backend: l_ij is computed as (a_ij - sum_k l_ik conj
 * l_jk) / l_jj, each product once. Additions may come in any order, products may be fused with
 * them, and 1 / l_jj may be rounded first. Fast products (Strassen, 3M) and inverses of diagonal
 * blocks are excluded. Rounding is to nearest; underflow may be gradual, or flush to zero. */
SZG_CHECK_RESULT szg_status szgi_cholesky(szg_context *context, int64_t n, double *a, int64_t lda,
                                          bool *completed);
SZG_CHECK_RESULT szg_status szgi_cholesky_complex(szg_context *context, int64_t n, szg_c64 *a,
                                                  int64_t lda, bool *completed);

/* ---- Many small matrices: one matrix a worker of the pool, BLAS single-threaded inside, or all at
 * once on a device. Symmetric ones up to SZGI_SMALL_ORDER are solved one a lane of a vector: other
 * last bits than a single call's, the same ones at any number of threads and beside any others.
 * Matrix i begins at a + i * stride, without gaps between its rows, its values at row i of the
 * result. A failure names the matrix. ---- */

/* Above this order LAPACK takes one matrix a thread: the triangles of a vector of matrices are far
 * beyond the second-level cache then. */
enum { SZGI_SMALL_ORDER = 256 };

SZG_CHECK_RESULT szg_status szgi_eigen_symmetric_batch(szg_context *context, int64_t count,
                                                       int64_t n, double *a, int64_t stride,
                                                       double *w);
SZG_CHECK_RESULT szg_status szgi_eigen_general_batch(szg_context *context, int64_t count, int64_t n,
                                                     double *a, int64_t stride, szg_c64 *w);
SZG_CHECK_RESULT szg_status szgi_singular_batch(szg_context *context, int64_t count, int64_t m,
                                                int64_t n, double *a, int64_t stride, double *s);

/* ---- Fourier and cosine transforms, unnormalised ---- */

typedef enum szgi_fft_kind {
    SZGI_FFT_FORWARD,       /* n complex -> n complex: y_j = sum_k x_k e^{-2 pi i jk/n} */
    SZGI_FFT_BACKWARD,      /* the same with e^{+2 pi i jk/n}; the two in turn multiply by n */
    SZGI_FFT_REAL,          /* n real -> n/2 + 1 complex: the first half of FORWARD */
    SZGI_FFT_REAL_BACKWARD, /* n/2 + 1 complex -> n real: BACKWARD of a Hermitian sequence;
                               imaginary parts of entry 0 and, n even, of entry n/2 are ignored */
    SZGI_FFT_COSINE_2,      /* n real -> n real: y_j = 2 sum_k x_k cos(pi j (k + 1/2) / n) */
    SZGI_FFT_COSINE_3,      /* y_j = x_0 + 2 sum_{k>=1} x_k cos(pi (j + 1/2) k / n) */
    SZGI_FFT_COSINE_4,      /* y_j = 2 sum_k x_k cos(pi (j + 1/2)(k + 1/2) / n) */
    SZGI_FFT_KINDS
} szgi_fft_kind;

typedef struct szgi_fft szgi_fft;

/* A plan for `batch` transforms of length n >= 1 that stand one after the other without gaps. Plans
 * are shared and cached over the process; opening one that was open before costs a look-up. */
SZG_CHECK_RESULT szg_status szgi_fft_open(szg_context *context, szgi_fft_kind kind, int64_t n,
                                          int64_t batch, szgi_fft **out);

/* Transforms in to out, which must not overlap. Thread-safe on one plan. 16-byte aligned arrays are
 * faster (szgi_memory_alloc gives such), others work. Runs on the calling thread. */
SZG_CHECK_RESULT szg_status szgi_fft_run(szg_context *context, const szgi_fft *fft, const void *in,
                                         void *out);
void szgi_fft_close(szgi_fft **fft);

/* The smallest 2^a 3^b 5^c 7^d >= n, even for n >= 2: a length that transforms fast. n <= 2^56. */
int64_t szgi_fft_fast_length(int64_t n);

SZGI_END_DECLS

#endif
