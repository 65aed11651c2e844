/* Many small matrices at once, each answer checked against its own matrix. */
#include <inttypes.h>

#include "linalg/linalg.h"
#include "base/pool.h"

#include "spectra_private.h"

double szgi_batch_limit(int64_t n) {
    return 1e3 * (double)n * DBL_EPSILON;
}

typedef struct invariants_job {
    int64_t m, n, stride;
    const double *a;
    double *known;
} invariants_job;

static szg_status invariants_block(szg_context *context, void *argument, int64_t i, int worker) {
    const invariants_job *job = argument;
    const double *matrix = job->a + i * job->stride;
    double trace = 0;
    (void)worker;
    for (int64_t j = 0; j < job->m && j < job->n; j++)
        trace += matrix[j * (job->n + 1)];
    job->known[2 * i] = trace;
    szg_status status =
        szgi_dense_frobenius(context, job->m, job->n, matrix, job->n, &job->known[2 * i + 1]);
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_fail_prefix(context, status, "matrix %" PRId64, i);
}

/* Trace and Frobenius norm of each matrix before the solver overwrites it: 2 count numbers. */
static szg_status invariants(szg_context *context, int64_t count, int64_t m, int64_t n,
                             const double *a, int64_t stride, double **out) {
    if (count < 0 || m < 1 || n < 1 || stride < m * n)
        return szgi_fail(context, SZG_EINVAL,
                         "%" PRId64 " matrices of %" PRId64 " x %" PRId64 ", %" PRId64
                         " apart: sizes are >= 1 and matrices do not overlap",
                         count, m, n, stride);
    SZG_TRY(szgi_memory_alloc(context, 2 * count, out));
    invariants_job job = {.m = m, .n = n, .stride = stride, .a = a, .known = *out};
    szg_status status = szgi_pool_run(context, count, invariants_block, &job);
    if (status != SZG_OK)
        szgi_memory_free(*out);
    return status;
}

static szg_status accept(szg_context *context, int64_t i, int64_t n, double defect, double *worst) {
    *worst = szgi_larger(*worst, defect);
    if (!(defect <= szgi_batch_limit(n)))
        return szgi_fail(context, SZG_ENOCONV,
                         "matrix %" PRId64 ": the computed values miss its trace or Frobenius norm "
                         "by %.3g (relative, n = %" PRId64 ")",
                         i, defect, n);
    return SZG_OK;
}

static szg_status check_real(szg_context *context, int64_t count, int64_t n, const double *values,
                             const double *known, bool trace, double *worst) {
    for (int64_t i = 0; i < count; i++) {
        double defect =
            szgi_spectrum_defect(n, values + i * n, trace ? known[2 * i] : NAN, known[2 * i + 1]);
        SZG_TRY(accept(context, i, n, defect, worst));
    }
    return SZG_OK;
}

/* The trace alone, and sum |lambda|^2 <= ||a||_F^2 (Schur). */
static szg_status check_complex(szg_context *context, int64_t count, int64_t n,
                                const szg_c64 *values, const double *known, double *worst) {
    for (int64_t i = 0; i < count; i++) {
        double norm = known[2 * i + 1], unit = norm > 0 ? norm : 1;
        double re = -known[2 * i] / unit, im = 0, squares = 0;
        for (int64_t j = 0; j < n; j++) {
            szg_c64 value = values[i * n + j];
            double x = value.re / unit, y = value.im / unit;
            re += x;
            im += y;
            squares += x * x + y * y;
        }
        double defect = hypot(re, im) / sqrt((double)n), excess = sqrt(squares) - 1;
        SZG_TRY(accept(context, i, n, szgi_larger(excess, defect), worst));
    }
    return SZG_OK;
}

szg_status szgi_spectra_batch_symmetric(szg_context *context, int64_t count, int64_t n, double *a,
                                        int64_t stride, double *values, double *worst) {
    double *known;
    *worst = 0;
    SZG_TRY(invariants(context, count, n, n, a, stride, &known));
    szg_status status = szgi_eigen_symmetric_batch(context, count, n, a, stride, values);
    if (status == SZG_OK)
        status = check_real(context, count, n, values, known, true, worst);
    szgi_memory_free(known);
    return status;
}

szg_status szgi_spectra_batch_general(szg_context *context, int64_t count, int64_t n, double *a,
                                      int64_t stride, szg_c64 *values, double *worst) {
    double *known;
    *worst = 0;
    SZG_TRY(invariants(context, count, n, n, a, stride, &known));
    szg_status status = szgi_eigen_general_batch(context, count, n, a, stride, values);
    if (status == SZG_OK)
        status = check_complex(context, count, n, values, known, worst);
    szgi_memory_free(known);
    return status;
}

szg_status szgi_spectra_batch_singular(szg_context *context, int64_t count, int64_t m, int64_t n,
                                       double *a, int64_t stride, double *values, double *worst) {
    double *known;
    *worst = 0;
    SZG_TRY(invariants(context, count, m, n, a, stride, &known));
    szg_status status = szgi_singular_batch(context, count, m, n, a, stride, values);
    if (status == SZG_OK)
        status = check_real(context, count, m < n ? m : n, values, known, false, worst);
    szgi_memory_free(known);
    return status;
}
