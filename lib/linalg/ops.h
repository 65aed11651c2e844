/* The op table: what a backend implements. Programs call the functions of "linalg/linalg.h" and
 * "network/network.h", which check their arguments; entries of a table rely on that and are called
 * by nothing else. An entry that a backend lacks is NULL. Shapes and meanings are those of the
 * functions of the same name. */
#ifndef SZEGO_LINALG_OPS_H
#define SZEGO_LINALG_OPS_H

#include "linalg.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_linalg_ops {
    szg_status (*gemm)(szg_context *context, char op_a, char op_b, int64_t m, int64_t n, int64_t k,
                       double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                       double beta, double *c, int64_t ldc);

    szg_status (*eigen_symmetric)(szg_context *context, int64_t n, double *a, int64_t lda,
                                  double *w, bool vectors);
    szg_status (*eigen_hermitian)(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                  double *w, bool vectors);
    szg_status (*eigen_general)(szg_context *context, int64_t n, double *a, int64_t lda,
                                szg_c64 *w);
    szg_status (*eigen_general_complex)(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                        szg_c64 *w);

    szg_status (*singular)(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda,
                           double *s, double *u, int64_t ldu, double *vt, int64_t ldvt);
    szg_status (*singular_complex)(szg_context *context, int64_t m, int64_t n, szg_c64 *a,
                                   int64_t lda, double *s, szg_c64 *u, int64_t ldu, szg_c64 *vt,
                                   int64_t ldvt);
    szg_status (*qr_r)(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda);

    /* NULL: one matrix a block of the pool. */
    szg_status (*eigen_symmetric_batch)(szg_context *context, int64_t count, int64_t n, double *a,
                                        int64_t stride, double *w);
    szg_status (*eigen_general_batch)(szg_context *context, int64_t count, int64_t n, double *a,
                                      int64_t stride, szg_c64 *w);
    szg_status (*singular_batch)(szg_context *context, int64_t count, int64_t m, int64_t n,
                                 double *a, int64_t stride, double *s);

    /* A plan is the backend's own; opened and closed in pairs. */
    szg_status (*fft_open)(szg_context *context, szgi_fft_kind kind, int64_t n, int64_t batch,
                           void **plan);
    szg_status (*fft_run)(szg_context *context, const void *plan, const void *in, void *out);
    void (*fft_close)(void *plan);
} szgi_linalg_ops;

typedef struct szgi_ops {
    const char *name;
    const szgi_linalg_ops *linalg;
    const struct szgi_network_ops *network; /* "network/ops.h" */
} szgi_ops;

/* OpenBLAS, LAPACKE and FFTW; and plain C, the oracle of all others. Their batches are the pool's
 * ("linalg/batch.h"). */
extern const szgi_linalg_ops szgi_linalg_cpu, szgi_linalg_reference;

/* "cpu", "reference", "reference64", "cuda:tf32", "cuda:f32" or "cuda:bf16". */
const char *szgi_backend_name(szg_context *context);

/* Of the context's table, the cpu's where none was selected. Never NULL. */
const szgi_linalg_ops *szgi_linalg_of(szg_context *context);

SZGI_END_DECLS

#endif
