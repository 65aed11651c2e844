/* Linear algebra between the device and the cpu. The device takes one call at a time; while it
 * works, other workers of the pool compute what the cpu takes. */
#include "base/context.h"
#include "linalg/batch.h"
#include "dispatch.h"

#include "crossover.h"

static plugin_session *session_of(szg_context *context) {
    return szgi_context_state(context);
}

static double least(int64_t a, int64_t b) {
    return (double)(a < b ? a : b);
}

/* Calls `entry` of the device where it has one and `size` of `work` reaches the crossover, else
 * `host`. */
#define DISPATCH_OR(host, context, work, size, entry, ...)                                         \
    do {                                                                                           \
        plugin_session *session_ = session_of(context);                                            \
        const szgi_linalg_ops *device_ = session_->device->linalg;                                 \
        if (!device_->entry ||                                                                     \
            !szgi_plugin_crossover_reached((work), (size), session_->crossover))                   \
            return host(context, __VA_ARGS__);                                                     \
        pthread_mutex_lock(&session_->lock);                                                       \
        szg_status status_ = device_->entry(context, __VA_ARGS__);                                 \
        pthread_mutex_unlock(&session_->lock);                                                     \
        return status_;                                                                            \
    } while (0)
#define DISPATCH(context, work, size, entry, ...)                                                  \
    DISPATCH_OR(szgi_linalg_cpu.entry, context, work, size, entry, __VA_ARGS__)

/* ---- Products ---- */

/* Harmonic mean: numbers moved an operation are in proportion to its inverse. 0 where k is: beta C
 * is the cpu's. */
static double mean_side(int64_t m, int64_t n, int64_t k) {
    return k > 0 ? 3 / (1 / (double)m + 1 / (double)n + 1 / (double)k) : 0;
}

static szg_status gemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n, int64_t k,
                       double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                       double beta, double *c, int64_t ldc) {
    DISPATCH(context, PLUGIN_PRODUCT, mean_side(m, n, k), gemm, op_a, op_b, m, n, k, alpha, a, lda,
             b, ldb, beta, c, ldc);
}

/* ---- One matrix ---- */

static szg_status eigen_symmetric(szg_context *context, int64_t n, double *a, int64_t lda,
                                  double *w, bool vectors) {
    DISPATCH(context, vectors ? PLUGIN_EIGEN_VECTORS : PLUGIN_EIGEN, (double)n, eigen_symmetric, n,
             a, lda, w, vectors);
}

static szg_status eigen_hermitian(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                  double *w, bool vectors) {
    DISPATCH(context, vectors ? PLUGIN_HERMITIAN_VECTORS : PLUGIN_HERMITIAN, (double)n,
             eigen_hermitian, n, a, lda, w, vectors);
}

static szg_status eigen_general(szg_context *context, int64_t n, double *a, int64_t lda,
                                szg_c64 *w) {
    DISPATCH(context, PLUGIN_GENERAL, (double)n, eigen_general, n, a, lda, w);
}

static szg_status eigen_general_complex(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                        szg_c64 *w) {
    DISPATCH(context, PLUGIN_GENERAL_COMPLEX, (double)n, eigen_general_complex, n, a, lda, w);
}

static szg_status singular(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda,
                           double *s, double *u, int64_t ldu, double *vt, int64_t ldvt) {
    DISPATCH(context, u ? PLUGIN_SINGULAR_VECTORS : PLUGIN_SINGULAR, least(m, n), singular, m, n, a,
             lda, s, u, ldu, vt, ldvt);
}

static szg_status singular_complex(szg_context *context, int64_t m, int64_t n, szg_c64 *a,
                                   int64_t lda, double *s, szg_c64 *u, int64_t ldu, szg_c64 *vt,
                                   int64_t ldvt) {
    DISPATCH(context, u ? PLUGIN_SINGULAR_COMPLEX_VECTORS : PLUGIN_SINGULAR_COMPLEX, least(m, n),
             singular_complex, m, n, a, lda, s, u, ldu, vt, ldvt);
}

/* ---- Batches. Those of large matrices are the pool's, over the single operations of the
 * selected table: they come back to the device one at a time. ---- */

static double cube(double n) {
    return n * n * n;
}

static szg_status eigen_symmetric_batch(szg_context *context, int64_t count, int64_t n, double *a,
                                        int64_t stride, double *w) {
    if (n > PLUGIN_BATCH_ORDER)
        return szgi_batch_eigen_symmetric(context, count, n, a, stride, w);
    DISPATCH_OR(szgi_batch_eigen_symmetric, context, PLUGIN_EIGEN_BATCH,
                (double)count * cube((double)n), eigen_symmetric_batch, count, n, a, stride, w);
}

static szg_status singular_batch(szg_context *context, int64_t count, int64_t m, int64_t n,
                                 double *a, int64_t stride, double *s) {
    if (m + n > PLUGIN_BATCH_ORDER)
        return szgi_batch_singular(context, count, m, n, a, stride, s);
    DISPATCH_OR(szgi_batch_singular, context, PLUGIN_SINGULAR_BATCH,
                (double)count * cube((double)(m + n)) / 8, singular_batch, count, m, n, a, stride,
                s);
}

szg_status szgi_plugin_dispatch_fill(szg_context *context, plugin_session *session) {
    SZG_TRY(szgi_plugin_crossover_scale(context, &session->crossover));
    session->ops = (szgi_ops){.name = session->device->name,
                              .linalg = &session->linalg,
                              .network = session->device->network};
    session->linalg = szgi_linalg_cpu;
    session->linalg.gemm = gemm;
    session->linalg.eigen_symmetric = eigen_symmetric;
    session->linalg.eigen_hermitian = eigen_hermitian;
    session->linalg.eigen_general = eigen_general;
    session->linalg.eigen_general_complex = eigen_general_complex;
    session->linalg.singular = singular;
    session->linalg.singular_complex = singular_complex;
    session->linalg.eigen_symmetric_batch = eigen_symmetric_batch;
    session->linalg.singular_batch = singular_batch;
    szgi_plugin_transforms_fill(session);
    return SZG_OK;
}
