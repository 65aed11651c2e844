/* Spectral norms from above. A computed eigenvalue is only a guess: that mu I - G has a Cholesky
 * factor in floating point proves that no eigenvalue is above mu (1 + a few roundings). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"
#include "bound_norm.h"
#include "bound_kernels.h"

/* At least gamma_k = k u / (1 - k u), and 1 / (1 - gamma_k) - 1: twice k u, u = DBL_EPSILON / 2. */
static double gamma_above(double k) {
    return k * DBL_EPSILON;
}

double szgi_above(double x, double count) {
    return x * (1 + gamma_above(count + 2));
}

double szgi_norm_above(int64_t count, const double *x) {
    return szgi_above(sqrt(szgi_dot(count, x, x) + (double)count * DBL_MIN), (double)count + 4);
}

/* The largest sum of moduli in a row bounds every eigenvalue. */
static double row_sums(int64_t n, const double *g) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += fabs(g[i * n + j]);
        largest = fmax(largest, sum);
    }
    return szgi_above(largest, (double)n);
}

/* Is mu I - G factored? Then lambda_max(G) <= mu (1 + 4 n gamma_(n+3)). */
static bool is_below(int64_t n, const double *g, double mu, double *work) {
    for (int64_t i = 0; i < n * n; i++)
        work[i] = -g[i];
    for (int64_t i = 0; i < n; i++)
        work[i * (n + 1)] = mu - g[i * (n + 1)];
    return szgi_cholesky_upper(n, work);
}

szg_status szgi_eigenvalue_above(szg_context *context, int64_t n, const double *g, double *out) {
    double *work, *values;
    SZG_TRY(szgi_memory_alloc(context, n * n + n, &work));
    values = work + n * n;
    memcpy(work, g, (size_t)(n * n) * sizeof *g);
    szg_status status = szgi_eigen_symmetric(context, n, work, n, values, false);
    double slack = 4 * (double)n * gamma_above((double)n + 3);
    *out = row_sums(n, g);
    for (int i = 0; i < 6 && status == SZG_OK; i++, slack *= 16) {
        double mu = values[n - 1] * (1 + slack);
        if (!(mu < *out) || !(mu > DBL_MIN / DBL_EPSILON))
            break;
        if (!is_below(n, g, mu, work))
            continue;
        *out = mu * (1 + 4 * (double)n * gamma_above((double)n + 3));
        break;
    }
    szgi_memory_free(work);
    return status;
}

static double trace_of(int64_t n, const double *g) {
    double trace = 0;
    for (int64_t i = 0; i < n; i++)
        trace += g[i * (n + 1)];
    return trace;
}

/* The upper triangle, mirrored. */
static void make_symmetric(int64_t n, double *g) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            g[i * n + j] = g[j * n + i];
}

/* The norms of the true rows, from the Gram matrix. */
static szg_status find_norms(szg_context *context, double error, double relative, szgi_gram *out) {
    double top, trace = trace_of(out->e, out->value);
    double length = sqrt(szgi_above(trace + out->slack, (double)out->e));
    out->error = szgi_above(error + relative * length, 2);
    out->frobenius = szgi_above(length + out->error, 2);
    SZG_TRY(szgi_eigenvalue_above(context, out->e, out->value, &top));
    out->spectral = szgi_above(sqrt(szgi_above(top + out->slack, 2)) + out->error, 2);
    return SZG_OK;
}

szg_status szgi_gram_make(szg_context *context, int64_t e, int64_t d, const double *rows,
                          double error, double relative, szgi_gram *out) {
    int64_t half = e / 2, rest = e - half;
    const double *lower = rows + half * d;
    double *g = out->value;
    out->e = e;
    /* Three of the four quarters: the last one is the second's mirror image. */
    SZG_TRY(szgi_gemm(context, 'n', 't', half, e, d, 1, rows, d, rows, d, 0, g, e));
    SZG_TRY(szgi_gemm(context, 'n', 't', rest, rest, d, 1, lower, d, lower, d, 0,
                      g + half * (e + 1), e));
    make_symmetric(e, g);
    /* Each entry is off by gamma_d |a_i| |a_j|, so the norm by gamma_d times the trace; products
     * that underflow add e d of the least number. */
    out->slack = szgi_above(trace_of(e, g), (double)e) * gamma_above(2 * (double)d + 4) +
                 (double)(e * d) * DBL_MIN;
    return find_norms(context, error, relative, out);
}

szg_status szgi_gram_part(szg_context *context, const szgi_gram *whole, int64_t first, int64_t e,
                          szgi_gram *out) {
    out->e = e;
    out->slack = whole->slack;
    for (int64_t i = 0; i < e; i++)
        memcpy(out->value + i * e, whole->value + (first + i) * whole->e + first,
               (size_t)e * sizeof *out->value);
    return find_norms(context, whole->error, 0, out);
}

/* U with U^T U - G positive semidefinite, G within `slack` of the true one; zeros below. */
static bool factor_above(int64_t e, const double *g, double slack, double *u) {
    double n = (double)e, trace = trace_of(e, g);
    double shift = 4 * (slack + szgi_above(trace, n) * gamma_above(n + 5)) + DBL_MIN / DBL_EPSILON;
    for (int i = 0; i < 6; i++, shift *= 64) {
        memcpy(u, g, (size_t)(e * e) * sizeof *g);
        for (int64_t j = 0; j < e; j++)
            u[j * (e + 1)] += shift;
        if (!szgi_cholesky_upper(e, u))
            continue;
        for (int64_t j = 1; j < e; j++)
            memset(u + j * e, 0, (size_t)j * sizeof *u);
        return true;
    }
    return false;
}

static double squares(int64_t count, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return szgi_above(sum, (double)count + 1);
}

/* sigma_1(A^T B)^2 <= lambda_max(U G_B U^T), U^T U >= G_A. */
static szg_status above_product(szg_context *context, const szgi_gram *a, const szgi_gram *b,
                                double *out) {
    int64_t e = a->e;
    double *u, *inner, *core;
    SZG_TRY(szgi_memory_alloc(context, 3 * e * e, &u));
    inner = u + e * e;
    core = inner + e * e;
    szg_status status = SZG_OK;
    *out = INFINITY;
    if (factor_above(e, a->value, a->slack, u)) {
        status = szgi_gemm(context, 'n', 'n', e, e, e, 1, u, e, b->value, e, 0, inner, e);
        if (status == SZG_OK)
            status = szgi_gemm(context, 'n', 't', e, e, e, 1, inner, e, u, e, 0, core, e);
        for (int64_t i = 0; i < e; i++)
            core[i * (e + 1)] = fmax(core[i * (e + 1)], 0);
        make_symmetric(e, core);
        double top = 0, length = squares(e * e, u);
        if (status == SZG_OK)
            status = szgi_eigenvalue_above(context, e, core, &top);
        double off = gamma_above(4 * (double)e + 8) * sqrt(squares(e * e, b->value)) + b->slack;
        double tiny = (double)(e * e) * DBL_MIN * (1 + length); /* products that underflow */
        *out = szgi_above(sqrt(szgi_above(top + off * length + tiny, 4)), 2);
    }
    szgi_memory_free(u);
    return status;
}

szg_status szgi_gram_product(szg_context *context, const szgi_gram *a, const szgi_gram *b,
                             double *out) {
    SZG_TRY(above_product(context, a, b, out));
    /* (A + E)^T (B + F): the spectral norms have E and F in. */
    *out = szgi_above(*out + a->error * b->spectral + b->error * a->spectral, 4);
    *out = fmin(*out, szgi_above(a->spectral * b->spectral, 1));
    return SZG_OK;
}
