/* Factored matrices M o (A B^T + T): checks, products, the dense form. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "factored_private.h"

szg_status szgi_factored_check(szg_context *context, const szg_factored *f) {
    if (f->n < 1 || f->d < 0)
        return szgi_fail(context, SZG_EINVAL,
                         "factored matrix: size %" PRId64 " and width %" PRId64
                         " must be at least 1 and 0",
                         f->n, f->d);
    if (f->d > 0 && (!f->a || !f->b || f->lda < f->d || f->ldb < f->d))
        return szgi_fail(context, SZG_EINVAL,
                         "factored matrix: factors of width %" PRId64
                         " are missing or have leading dimensions %" PRId64 ", %" PRId64
                         " below it",
                         f->d, f->lda, f->ldb);
    if (f->bias && (!f->bias->real || f->bias->n != f->n))
        return szgi_fail(context, SZG_EINVAL,
                         "factored matrix: the bias is %s of order %" PRId64 ", needed is real of "
                         "order %" PRId64,
                         f->bias->real ? "real" : "complex", f->bias->n, f->n);
    return SZG_OK;
}

static szg_status check_finite(szg_context *context, const char *name, int64_t n, int64_t d,
                               const double *a, int64_t lda) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < d; t++)
            if (!isfinite(a[i * lda + t]))
                return szgi_fail(context, SZG_EDATA,
                                 "factored matrix: %s: row %" PRId64 ", column %" PRId64 " is %g",
                                 name, i, t, a[i * lda + t]);
    return SZG_OK;
}

szg_status szgi_factored_check_finite(szg_context *context, const szg_factored *f) {
    SZG_TRY(szgi_factored_check(context, f));
    SZG_TRY(check_finite(context, "A", f->n, f->d, f->a, f->lda));
    return check_finite(context, "B", f->n, f->d, f->b, f->ldb);
}

/* The low-rank part: y_i = left_i . c_i with c_i the sum of x_k right_k over all k, or over those
 * that the mask lets i see: a running sum. */
typedef struct low_rank {
    int64_t n, d;
    const double *left, *right;
    int64_t ldleft, ldright;
    int order; /* 0: no mask; 1: k <= i; -1: k >= i */
    int64_t ldx, ldy;
    const double *x;
    double *y;
} low_rank;

/* c[0 .. d-1] += x right, whose rounding goes to the next d numbers (Knuth's TwoSum): sums of n
 * terms are then as good as one rounding, whatever n is. */
static void accumulate(const low_rank *job, int64_t k, double x, double *restrict c) {
    const double *restrict right = job->right + k * job->ldright;
    double *restrict lost = c + job->d;
    for (int64_t t = 0; t < job->d; t++) {
        double term = x * right[t], sum = c[t] + term, back = sum - c[t];
        lost[t] += (c[t] - (sum - back)) + (term - back);
        c[t] = sum;
    }
}

/* The sums with what they lost, behind both. */
static const double *total_of(const low_rank *job, double *c) {
    double *total = c + 2 * job->d;
    for (int64_t t = 0; t < job->d; t++)
        total[t] = c[t] + c[job->d + t];
    return total;
}

static void running_products(const low_rank *job, const double *x, double *y, double *c) {
    for (int64_t i = 0; i < job->n; i++) {
        int64_t k = job->order > 0 ? i : job->n - 1 - i;
        accumulate(job, k, x[k], c);
        y[k] = szgi_dot(job->d, job->left + k * job->ldleft, total_of(job, c));
    }
}

static void full_products(const low_rank *job, const double *x, double *y, double *c) {
    for (int64_t k = 0; k < job->n; k++)
        accumulate(job, k, x[k], c);
    const double *total = total_of(job, c);
    for (int64_t i = 0; i < job->n; i++)
        y[i] = szgi_dot(job->d, job->left + i * job->ldleft, total);
}

static szg_status low_rank_block(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    const low_rank *job = argument;
    double *c; /* sums, what they lost, and both together */
    SZG_TRY(szgi_memory_alloc(context, 3 * job->d, &c));
    const double *x = job->x + block * job->ldx;
    double *y = job->y + block * job->ldy;
    if (job->d == 0)
        memset(y, 0, (size_t)job->n * sizeof *y);
    else if (job->order == 0)
        full_products(job, x, y, c);
    else
        running_products(job, x, y, c);
    szgi_memory_free(c);
    return SZG_OK;
}

szg_status szgi_factored_apply(szg_context *context, const szg_factored *f, char op, int64_t batch,
                               const double *x, int64_t ldx, double *y, int64_t ldy) {
    SZG_TRY(szgi_factored_check(context, f));
    SZG_TRY(szgi_toeplitz_check_vectors(context, f->n, op, batch, ldx, ldy));
    bool plain = op == 'n';
    low_rank job = {.n = f->n,
                    .d = f->d,
                    .left = plain ? f->a : f->b,
                    .right = plain ? f->b : f->a,
                    .ldleft = plain ? f->lda : f->ldb,
                    .ldright = plain ? f->ldb : f->lda,
                    .order = !f->causal ? 0
                             : plain    ? 1
                                        : -1,
                    .ldx = ldx,
                    .ldy = ldy,
                    .x = x,
                    .y = y};
    SZG_TRY(szgi_pool_run(context, batch, low_rank_block, &job));
    if (!f->bias)
        return SZG_OK;
    return szgi_toeplitz_multiply(context, f->bias, f->causal, op, batch, x, ldx, y, ldy, true);
}

szg_status szgi_factored_dense(szg_context *context, const szg_factored *f, double *out,
                               int64_t ldout) {
    SZG_TRY(szgi_factored_check(context, f));
    if (ldout < f->n)
        return szgi_fail(context, SZG_EINVAL,
                         "dense logits: leading dimension %" PRId64 " is below %" PRId64, ldout,
                         f->n);
    SZG_TRY(szgi_memory_require(context, f->n, f->n, sizeof *out, "a dense logit matrix",
                                "szg_spectrum_compute of the factored matrix (szg_matrix_factored) "
                                "works without it"));
    if (f->bias)
        SZG_TRY(szgi_toeplitz_dense(context, f->bias, out, ldout));
    double beta = f->bias ? 1 : 0;
    for (int64_t i = 0; !f->bias && i < f->n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        memset(out + i * ldout, 0, (size_t)f->n * sizeof *out);
    }
    if (f->d > 0)
        SZG_TRY(szgi_gemm(context, 'n', 't', f->n, f->n, f->d, 1, f->a, f->lda, f->b, f->ldb, beta,
                          out, ldout));
    for (int64_t i = 0; f->causal && i < f->n; i++)
        memset(out + i * ldout + i + 1, 0, (size_t)(f->n - 1 - i) * sizeof *out);
    return SZG_OK;
}

szg_status szgi_factored_diagonal(szg_context *context, const szg_factored *f, double *out) {
    SZG_TRY(szgi_factored_check_finite(context, f));
    double bias = f->bias ? szg_toeplitz_at(f->bias, 0).re : 0;
    for (int64_t i = 0; i < f->n; i++)
        out[i] = bias + (f->d > 0 ? szgi_dot(f->d, f->a + i * f->lda, f->b + i * f->ldb) : 0);
    return SZG_OK;
}
