/* L = M o (A B^T + T) without n x n wherever the structure allows it. */
#include <stdlib.h>

#include "linalg/linalg.h"

#include "dense.h"
#include "extremes.h"
#include "factored.h"
#include "solvers.h"
#include "symmetry.h"

static const char causal_note[] =
    "causal mask: L is triangular, its eigenvalues are the diagonal and say little of a matrix so "
    "far from normal; its size and conditioning are in the singular values";

/* d x d matrices tell all where neither bias nor mask intervenes, and d is the smaller. */
static bool is_low_rank(const szg_factored *f, const szg_spectra_options *options) {
    return !f->bias && !f->causal && f->d < f->n && !szgi_options_dense(options);
}

szg_status szgi_logits_dense(szg_context *context, const szg_factored *f, double **out) {
    int64_t size;
    SZG_TRY(szgi_memory_product(context, f->n, f->n, &size));
    SZG_TRY(szgi_memory_require(context, size, 2, sizeof **out, "the dense logit matrix",
                                "ask for the range of its singular values, or a smaller order"));
    SZG_TRY(szgi_memory_alloc(context, size, out));
    szg_status status = szgi_factored_dense(context, f, *out, f->n);
    if (status != SZG_OK)
        szgi_memory_free(*out);
    return status;
}

typedef struct factor_norms {
    double a, b; /* ||A||_F, ||B||_F */
} factor_norms;

static szg_status norms_of(szg_context *context, const szg_factored *f, factor_norms *out) {
    *out = (factor_norms){0, 0};
    if (f->d == 0)
        return SZG_OK;
    SZG_TRY(szgi_dense_frobenius(context, f->n, f->d, f->a, f->lda, &out->a));
    return szgi_dense_frobenius(context, f->n, f->d, f->b, f->ldb, &out->b);
}

szg_status szgi_logits_product_error(szg_context *context, const szg_factored *f, double *out) {
    const double u = DBL_EPSILON / 2, n = (double)f->n;
    factor_norms norm;
    SZG_TRY(norms_of(context, f, &norm));
    *out = ((double)f->d + 8 + n * n * u) * u * norm.a * norm.b;
    if (f->bias)
        *out += szgi_toeplitz_product_error(f->bias);
    return SZG_OK;
}

/* *out >= ||X||_2, X n x d, apart from the rounding of its Gram matrix: sums of n terms move it by
 * n u ||X||_F^2 at most. A Gram matrix out of range gives the Frobenius norm. */
static szg_status spectral_norm(szg_context *context, int64_t n, int64_t d, const double *x,
                                int64_t ldx, double frobenius, double *out) {
    const double u = DBL_EPSILON / 2;
    double *gram;
    *out = frobenius;
    SZG_TRY(szgi_memory_alloc(context, d * d + d, &gram));
    double *w = gram + d * d;
    szg_status status = szgi_gemm(context, 't', 'n', d, d, n, 1, x, ldx, x, ldx, 0, gram, d);
    if (status == SZG_OK && frobenius > 0x1p-400 && frobenius < 0x1p400)
        status = szgi_eigen_symmetric(context, d, gram, d, w, false);
    if (status == SZG_OK && w[d - 1] > 0)
        *out = fmin(frobenius, sqrt(w[d - 1] + ((double)(n + 8 * d)) * u * frobenius * frobenius));
    szgi_memory_free(gram);
    return status;
}

szg_status szgi_logits_reduced_error(szg_context *context, const szg_factored *f, bool by_columns,
                                     double *out) {
    factor_norms norm;
    double a, b;
    SZG_TRY(norms_of(context, f, &norm));
    *out = 8 * sqrt((double)(f->n + f->d)) * DBL_EPSILON * norm.a * norm.b;
    if (!by_columns || f->d == 0)
        return SZG_OK;
    SZG_TRY(spectral_norm(context, f->n, f->d, f->a, f->lda, norm.a, &a));
    SZG_TRY(spectral_norm(context, f->n, f->d, f->b, f->ldb, norm.b, &b));
    *out = 8 * sqrt((double)(f->n + f->d)) * DBL_EPSILON * (norm.a * b + a * norm.b);
    return SZG_OK;
}

/* Whether products of four such numbers neither overflow nor lose digits. */
static bool in_range(double x) {
    return x == 0 || (x >= 0x1p-250 && x <= 0x1p250);
}

/* How far the square of the computed Frobenius norm may be off. Gram matrices of n products and
 * their inner product, d^2 terms: all moduli add up to S^2 at most, S = ||A||_F ||B||_F; a mask
 * sums them in steps, another n terms at most. A diagonal's sum is off by three transforms and d
 * sums of S, its lag's product with it and the lag's own square by 2 n more. A product that
 * underflows loses less than DBL_MIN, times another factor at most. */
static double square_error(const szg_factored *f, double a, double b, double lags) {
    const double u = DBL_EPSILON / 2;
    double n = (double)f->n, d = (double)f->d, size = a * b;
    double bias = f->bias ? szgi_toeplitz_norm_frobenius(f->bias) : 0;
    double transform = 8 * (log2(4 * n) + 2) * DBL_EPSILON;
    return (3 * n + d * d + 2 * d + 512) * u * size * size +
           2 * (3 * transform + (d + 8) * u) * size * lags +
           (2 * n + 8) * u * (2 * size * lags + bias * bias) +
           8 * n * (d + 1) * (d + 1) * DBL_MIN * (1 + a * a + b * b + lags);
}

/* ||L||_2 <= ||A||_F ||B||_F + sum |t_k|; the Frobenius norm may be shorter. */
szg_status szgi_logits_norm_above(szg_context *context, const szg_factored *f, double *out) {
    double a = 0, b = 0, sums = (double)f->n * ((double)f->d + 2), norm;
    if (f->d > 0) {
        SZG_TRY(szgi_dense_frobenius(context, f->n, f->d, f->a, f->lda, &a));
        SZG_TRY(szgi_dense_frobenius(context, f->n, f->d, f->b, f->ldb, &b));
    }
    double lags = f->bias ? szgi_toeplitz_norm_wiener(f->bias) : 0;
    *out = (a * b + DBL_TRUE_MIN + lags) * (1 + (2 * sums + 4) * DBL_EPSILON);
    if (!in_range(a) || !in_range(b) || !in_range(lags))
        return SZG_OK;
    SZG_TRY(szgi_factored_norm_frobenius(context, f, &norm));
    double square = norm * norm + square_error(f, a, b, lags);
    *out = fmin(*out, sqrt(square) * (1 + 0x1p-40));
    return SZG_OK;
}

/* From the d x d matrix's values to those of the n x n matrix, which has n - d zeros besides. */
static void widen(int64_t n, int64_t d, szg_spectrum *out) {
    out->zeros = n - d;
    out->n = n;
}

/* A B^T and B^T A have the same nonzero eigenvalues (Sylvester). */
szg_status szgi_low_rank_eigen(szg_context *context, int64_t n, int64_t d, const double *inner,
                               szg_spectrum *out) {
    szg_matrix small = szg_matrix_dense(d, d, inner, d);
    SZG_TRY(szgi_general_eigen(context, &small, NULL, out));
    widen(n, d, out);
    out->frobenius = NAN; /* the value there is that of B^T A */
    out->method = SZG_METHOD_LOW_RANK;
    return SZG_OK;
}

static szg_status low_rank_eigen(szg_context *context, const szg_factored *f, szg_spectrum *out) {
    double *m;
    int64_t d = f->d;
    SZG_TRY(szgi_memory_alloc(context, d * d, &m));
    szg_status status =
        szgi_gemm(context, 't', 'n', d, d, f->n, 1, f->b, f->ldb, f->a, f->lda, 0, m, d);
    if (status == SZG_OK)
        status = szgi_low_rank_eigen(context, f->n, d, m, out);
    szgi_memory_free(m);
    return status;
}

/* scale B B^T: with scale B^T B, or itself where that is the smaller one. */
static szg_status gram_eigen(szg_context *context, const szg_factored *f, double scale,
                             szg_spectrum *out) {
    int64_t n = f->n, d = f->d, order = n < d ? n : d, size;
    if (d == 0)
        return szgi_spectrum_zero(context, n, SZG_SPECTRUM_EIGENVALUE, out);
    double *small;
    SZG_TRY(szgi_memory_product(context, order, order, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &small));
    szg_status status =
        n < d
            ? szgi_gemm(context, 'n', 't', n, n, d, scale, f->b, f->ldb, f->b, f->ldb, 0, small, n)
            : szgi_gemm(context, 't', 'n', d, d, n, scale, f->b, f->ldb, f->b, f->ldb, 0, small, d);
    szg_matrix gram = szg_matrix_symmetric(order, small, order);
    if (status == SZG_OK)
        status = szgi_symmetric_eigen(context, &gram, NULL, out);
    szgi_memory_free(small);
    if (status != SZG_OK)
        return status;
    if (n >= d)
        out->method = SZG_METHOD_GRAM;
    out->zeros = n - order;
    out->n = n;
    return SZG_OK;
}

static szg_status causal_eigen(szg_context *context, const szg_factored *f, szg_spectrum *out) {
    SZG_TRY(szgi_spectrum_open(context, f->n, f->n, SZG_SPECTRUM_EIGENVALUE, false, out));
    SZG_TRY(szgi_factored_diagonal(context, f, out->re));
    SZG_TRY(szgi_factored_norm_frobenius(context, f, &out->frobenius));
    out->trace = 0;
    for (int64_t i = 0; i < f->n; i++)
        out->trace += out->re[i];
    szgi_sort_ascending(f->n, out->re);
    out->residual = ((double)f->d + 1) * DBL_EPSILON;
    out->residual_meaning =
        "(d + 1) eps: bounds the rounding error of each diagonal entry relative "
        "to |a_i| |b_i| + |t_0|";
    out->method = SZG_METHOD_TRIANGULAR;
    out->note = causal_note;
    return SZG_OK;
}

static szg_status factored_product(szg_context *context, void *data, const double *x, double *y) {
    const szg_factored *f = data;
    return szgi_factored_apply(context, f, 'n', 1, x, f->n, y, f->n);
}

/* A = scale B and a symmetric bias. */
static szg_status symmetric_eigen(szg_context *context, const szg_factored *f,
                                  const szg_spectra_options *options, szg_spectrum *out) {
    szgi_selection selection;
    SZG_TRY(szgi_selection_of(context, f->n, options, &selection));
    if (!szgi_options_dense(options) && szgi_extremes_apply(&selection)) {
        szg_factored copy = *f;
        szgi_operator s = {.n = f->n, .apply = factored_product, .data = &copy};
        bool complete;
        double rounding;
        SZG_TRY(szgi_logits_product_error(context, f, &rounding));
        SZG_TRY(szgi_extremes_symmetric(context, &s, rounding, &selection, out, &complete));
        if (complete || (selection.high > 1 && szgi_extremes_suffice(&selection, complete, out))) {
            out->method = SZG_METHOD_MATRIX_FREE;
            return szgi_factored_norm_frobenius(context, f, &out->frobenius);
        }
        szg_spectrum_close(out);
    }
    double *dense;
    SZG_TRY(szgi_logits_dense(context, f, &dense));
    szg_status status = szgi_dense_symmetric_values(context, f->n, dense, &selection, out);
    out->method = SZG_METHOD_DENSE_SYMMETRIC;
    szgi_memory_free(dense);
    return status;
}

static szg_status general_eigen(szg_context *context, const szg_factored *f, szg_spectrum *out) {
    double *dense;
    SZG_TRY(szgi_logits_dense(context, f, &dense));
    szg_matrix array = szg_matrix_dense(f->n, f->n, dense, f->n);
    szg_status status = szgi_general_eigen(context, &array, NULL, out);
    szgi_memory_free(dense);
    return status;
}

szg_status szgi_factored_eigen(szg_context *context, const szg_matrix *matrix,
                               const szg_spectra_options *options, szg_spectrum *out) {
    const szg_factored *f = &matrix->of.factored;
    bool dense = szgi_options_dense(options);
    double scale;
    SZG_TRY(szgi_factored_check(context, f));
    if (f->causal && !dense)
        return causal_eigen(context, f, out);
    bool symmetric = szgi_factored_is_symmetric(f, &scale);
    if (symmetric && !f->bias && !dense)
        return gram_eigen(context, f, scale, out);
    if (symmetric)
        return symmetric_eigen(context, f, options, out);
    return is_low_rank(f, options) ? low_rank_eigen(context, f, out)
                                   : general_eigen(context, f, out);
}

/* ---- Singular values ---- */

static double largest_of(int64_t n, int64_t d, const double *a, int64_t lda) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < d; t++)
            largest = fmax(largest, fabs(a[i * lda + t]));
    return largest;
}

/* Two factors of the power: one may overflow. */
static void scale_factor(int64_t n, int64_t d, const double *a, int64_t lda, int exponent,
                         double *to) {
    int half = exponent / 2;
    double first = ldexp(1, -half), second = ldexp(1, half - exponent);
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < d; t++)
            to[i * d + t] = a[i * lda + t] * first * second;
}

szg_status szgi_logits_scale(szg_context *context, const szg_factored *f, szgi_scaled_logits *out) {
    enum { PLAIN = 400 };
    int64_t n = f->n, d = f->d, size;
    bool same = f->a == f->b && f->lda == f->ldb;
    int a, b;
    frexp(largest_of(n, d, f->a, f->lda), &a);
    frexp(largest_of(n, d, f->b, f->ldb), &b);
    *out = (szgi_scaled_logits){.f = *f};
    if (abs(a) <= PLAIN && abs(b) <= PLAIN)
        return SZG_OK;
    SZG_TRY(szgi_memory_product(context, n, 2 * d, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &out->memory));
    double *left = out->memory, *right = same ? left : left + n * d;
    scale_factor(n, d, f->a, f->lda, a, left);
    scale_factor(n, d, f->b, f->ldb, b, right);
    out->f.a = left, out->f.b = right;
    out->f.lda = out->f.ldb = d;
    out->exponent = a + b;
    return SZG_OK;
}

szg_status szgi_logits_core(szg_context *context, const szg_factored *f, bool proved, double *r_a,
                            double *r_b, double *product) {
    int64_t d = f->d;
    szg_status (*tall_r)(szg_context *, int64_t, int64_t, const double *, int64_t, double *) =
        proved ? szgi_tall_r_proved : szgi_tall_r;
    SZG_TRY(tall_r(context, f->n, d, f->a, f->lda, r_a));
    if (f->a == f->b && f->lda == f->ldb)
        memcpy(r_b, r_a, (size_t)(d * d) * sizeof *r_b);
    else
        SZG_TRY(tall_r(context, f->n, d, f->b, f->ldb, r_b));
    return szgi_gemm(context, 'n', 't', d, d, d, 1, r_a, d, r_b, d, 0, product, d);
}

szg_status szgi_low_rank_singular(szg_context *context, int64_t n, int64_t d, const double *core,
                                  szg_spectrum *out) {
    szg_matrix small = szg_matrix_dense(d, d, core, d);
    SZG_TRY(szgi_dense_singular(context, &small, NULL, out));
    widen(n, d, out);
    out->method = SZG_METHOD_LOW_RANK_SINGULAR;
    return SZG_OK;
}

static szg_status low_rank_singular(szg_context *context, const szg_factored *f,
                                    szg_spectrum *out) {
    if (f->d == 0)
        return szgi_spectrum_zero(context, f->n, SZG_SPECTRUM_SINGULAR, out);
    int64_t d = f->d;
    szgi_scaled_logits scaled;
    double *work;
    SZG_TRY(szgi_memory_alloc(context, 3 * d * d, &work));
    double *product = work + 2 * d * d;
    szg_status status = szgi_logits_scale(context, f, &scaled);
    if (status == SZG_OK)
        status = szgi_logits_core(context, &scaled.f, false, work, work + d * d, product);
    if (status == SZG_OK)
        status = szgi_low_rank_singular(context, f->n, d, product, out);
    if (status == SZG_OK && scaled.exponent != 0)
        szgi_spectrum_scale(out, scaled.exponent);
    szgi_memory_free(scaled.memory);
    szgi_memory_free(work);
    return status;
}

static szg_status square_apply(szg_context *context, const void *data, char op, const double *x,
                               double *y) {
    const szg_factored *f = data;
    return szgi_factored_apply(context, f, op, 1, x, f->n, y, f->n);
}

static szg_status dense_singular(szg_context *context, const szg_factored *f,
                                 const szg_spectra_options *options, szg_spectrum *out) {
    double *dense;
    SZG_TRY(szgi_logits_dense(context, f, &dense));
    szg_matrix array = szg_matrix_dense(f->n, f->n, dense, f->n);
    szg_status status = szgi_dense_singular(context, &array, options, out);
    szgi_memory_free(dense);
    return status;
}

szg_status szgi_factored_singular(szg_context *context, const szg_matrix *matrix,
                                  const szg_spectra_options *options, szg_spectrum *out) {
    const szg_factored *f = &matrix->of.factored;
    szgi_selection selection;
    SZG_TRY(szgi_factored_check(context, f));
    SZG_TRY(szgi_selection_of(context, f->n, options, &selection));
    if (is_low_rank(f, options))
        return low_rank_singular(context, f, out);
    if (szgi_options_dense(options) || !szgi_extremes_apply(&selection))
        return dense_singular(context, f, options, out);
    szgi_square_operator l = {.n = f->n, .apply = square_apply, .data = f};
    SZG_TRY(szgi_extremes_singular(context, &l, &selection, out));
    return szgi_factored_norm_frobenius(context, f, &out->frobenius);
}
