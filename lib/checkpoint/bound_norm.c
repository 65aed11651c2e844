/* Spectral norms from above. A computed eigenvalue is only a guess: that mu I - G has a Cholesky
 * factor in floating point proves that no eigenvalue is above mu (1 + a few roundings). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "bound_norm.h"

/* At least gamma_k = k u / (1 - k u), and 1 / (1 - gamma_k) - 1: twice k u, u = DBL_EPSILON / 2. */
static double gamma_above(double k) {
    return k * DBL_EPSILON;
}

double szgi_above(double x, double count) {
    return x * (1 + gamma_above(count + 2));
}

/* The lower triangle becomes L of L L^T; false where a pivot is not positive. */
static bool cholesky(int64_t n, double *a) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (j < i) {
                a[i * n + j] = sum / a[j * n + j];
                continue;
            }
            if (!(sum > 0) || !isfinite(sum))
                return false;
            a[i * n + i] = sqrt(sum);
        }
    return true;
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

/* Is mu I - G factored? Then lambda_max(G) <= mu (1 + 4 n gamma_(n+2)). */
static bool is_below(int64_t n, const double *g, double mu, double *work) {
    for (int64_t i = 0; i < n * n; i++)
        work[i] = -g[i];
    for (int64_t i = 0; i < n; i++)
        work[i * (n + 1)] = mu - g[i * (n + 1)];
    return cholesky(n, work);
}

szg_status szgi_eigenvalue_above(szg_context *context, int64_t n, const double *g, double *out) {
    double *work, *values;
    SZG_TRY(szgi_memory_alloc(context, n * n + n, &work));
    values = work + n * n;
    memcpy(work, g, (size_t)(n * n) * sizeof *g);
    szg_status status = szgi_eigen_symmetric(context, n, work, n, values, false);
    double slack = 4 * (double)n * gamma_above((double)n + 2);
    *out = row_sums(n, g);
    for (int i = 0; i < 6 && status == SZG_OK; i++, slack *= 16) {
        double mu = values[n - 1] * (1 + slack);
        if (!(mu < *out) || !(mu > DBL_MIN / DBL_EPSILON))
            break;
        if (!is_below(n, g, mu, work))
            continue;
        *out = mu * (1 + 4 * (double)n * gamma_above((double)n + 2));
        break;
    }
    szgi_memory_free(work);
    return status;
}

/* G = W W^T, exactly symmetric; its distance from the true Gram matrix is at most *slack. */
static szg_status make_gram(szg_context *context, int64_t e, int64_t d, const double *rows,
                            double *g, double *slack) {
    double trace = 0;
    SZG_TRY(szgi_gemm(context, 'n', 't', e, e, d, 1, rows, d, rows, d, 0, g, e));
    for (int64_t i = 0; i < e; i++) {
        trace += g[i * (e + 1)];
        for (int64_t j = 0; j < i; j++)
            g[j * e + i] = g[i * e + j];
    }
    /* Each entry is off by gamma_d |a_i| |a_j|, so the norm by gamma_d times the trace; products
     * that underflow add e d of the least number. */
    *slack =
        szgi_above(trace, (double)e) * gamma_above(2 * (double)d + 4) + (double)(e * d) * DBL_MIN;
    return SZG_OK;
}

/* L with L L^T - G positive semidefinite, G within `slack` of the true one. `l` is lower. */
static bool factor_above(int64_t e, const double *g, double slack, double *l) {
    double trace = 0, n = (double)e;
    for (int64_t i = 0; i < e; i++)
        trace += g[i * (e + 1)];
    double shift = 4 * (slack + szgi_above(trace, n) * gamma_above(n + 4)) + DBL_MIN / DBL_EPSILON;
    for (int i = 0; i < 6; i++, shift *= 64) {
        memcpy(l, g, (size_t)(e * e) * sizeof *g);
        for (int64_t j = 0; j < e; j++)
            l[j * (e + 1)] += shift;
        if (cholesky(e, l))
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

/* sigma_1(A^T B)^2 <= lambda_max(L^T G_B L), L L^T >= G_A. */
static szg_status above_product(szg_context *context, int64_t e, const double *ga, double slack_a,
                                const double *gb, double slack_b, double *out) {
    double *l, *inner, *core;
    SZG_TRY(szgi_memory_alloc(context, 3 * e * e, &l));
    inner = l + e * e;
    core = inner + e * e;
    szg_status status = SZG_OK;
    *out = INFINITY;
    if (factor_above(e, ga, slack_a, l)) {
        for (int64_t i = 0; i < e; i++)
            for (int64_t j = i + 1; j < e; j++)
                l[i * e + j] = 0;
        status = szgi_gemm(context, 'n', 'n', e, e, e, 1, gb, e, l, e, 0, inner, e);
        if (status == SZG_OK)
            status = szgi_gemm(context, 't', 'n', e, e, e, 1, l, e, inner, e, 0, core, e);
        for (int64_t i = 0; i < e; i++) {
            core[i * (e + 1)] = fmax(core[i * (e + 1)], 0);
            for (int64_t j = 0; j < i; j++)
                core[j * e + i] = core[i * e + j];
        }
        double top = 0, length = squares(e * e, l);
        if (status == SZG_OK)
            status = szgi_eigenvalue_above(context, e, core, &top);
        double off = gamma_above(4 * (double)e + 8) * sqrt(squares(e * e, gb)) + slack_b;
        double tiny = (double)(e * e) * DBL_MIN * (1 + length); /* products that underflow */
        *out = szgi_above(sqrt(szgi_above(top + off * length + tiny, 4)), 2);
    }
    szgi_memory_free(l);
    return status;
}

/* sigma_1 of the rows whose Gram matrix this is, with what they are off by. */
static szg_status above_side(szg_context *context, int64_t e, const double *g, double slack,
                             double error, double *spectral, double *frobenius) {
    double top, trace = 0;
    for (int64_t i = 0; i < e; i++)
        trace += g[i * (e + 1)];
    SZG_TRY(szgi_eigenvalue_above(context, e, g, &top));
    *spectral = szgi_above(sqrt(szgi_above(top + slack, 2)) + error, 2);
    *frobenius = szgi_above(sqrt(szgi_above(trace + slack, (double)e)) + error, 2);
    return SZG_OK;
}

szg_status szgi_norms_above_of(szg_context *context, const szgi_row_pair *rows, bool product,
                               szgi_norms_above *out) {
    int64_t e = rows->e;
    double *ga, *gb, slack_a, slack_b;
    *out = (szgi_norms_above){.product = NAN};
    SZG_TRY(szgi_memory_alloc(context, 2 * e * e, &ga));
    gb = ga + e * e;
    szg_status status = make_gram(context, e, rows->da, rows->a, ga, &slack_a);
    if (status == SZG_OK)
        status = make_gram(context, e, rows->db, rows->b, gb, &slack_b);
    if (status == SZG_OK)
        status = above_side(context, e, ga, slack_a, rows->error_a, &out->a, &out->frobenius_a);
    if (status == SZG_OK)
        status = above_side(context, e, gb, slack_b, rows->error_b, &out->b, &out->frobenius_b);
    if (status == SZG_OK && product) {
        status = above_product(context, e, ga, slack_a, gb, slack_b, &out->product);
        /* (A + E)^T (B + F): out->a and out->b have E and F in. */
        out->product =
            szgi_above(out->product + rows->error_a * out->b + rows->error_b * out->a, 4);
        out->product = fmin(out->product, szgi_above(out->a * out->b, 1));
    }
    szgi_memory_free(ga);
    return status;
}
