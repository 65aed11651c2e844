/* L = M o (A B^T + T) without n x n wherever the structure allows it. */
#include "linalg/linalg.h"

#include "dense.h"
#include "extremes.h"
#include "factored.h"

static const char causal_note[] =
    "causal mask: L is triangular, its eigenvalues are the diagonal and say little of a matrix so "
    "far from normal; its size and conditioning are in the singular values";

/* d x d matrices tell all where neither bias nor mask intervenes, and d is the smaller. */
static bool is_low_rank(const szg_factored *f, const szg_spectra_options *options) {
    return !f->bias && !f->causal && f->d < f->n && !szgi_options_dense(options);
}

bool szgi_logits_symmetric(const szg_factored *f) {
    bool same = f->d == 0 || (f->a == f->b && f->lda == f->ldb);
    return same && !f->causal &&
           (!f->bias || szgi_toeplitz_kind_of(f->bias) == SZG_TOEPLITZ_SYMMETRIC);
}

szg_status szgi_logits_dense(szg_context *context, const szg_factored *f, double **out) {
    int64_t size;
    SZG_TRY(szgi_memory_product(context, f->n, f->n, &size));
    SZG_TRY(szgi_memory_require(context, size, 2, sizeof **out, "the dense logit matrix",
                                "ask for the range of its singular values, or a smaller order"));
    SZG_TRY(szgi_memory_alloc(context, size, sizeof **out, out));
    szg_status status = szgi_factored_dense(context, f, *out, f->n);
    if (status != SZG_OK)
        szgi_memory_free(*out);
    return status;
}

szg_status szgi_logits_zero(szg_context *context, const szg_factored *f, szg_spectrum_kind kind,
                            szg_spectrum *out) {
    SZG_TRY(szgi_spectrum_open(context, f->n, 0, kind, false, out));
    out->zeros = f->n;
    out->rank = 0;
    out->normal = kind == SZG_SPECTRUM_EIGENVALUE;
    out->trace = out->frobenius = 0;
    out->residual_meaning = "exact: the zero matrix";
    out->method = SZG_METHOD_ZERO;
    return SZG_OK;
}

/* From the d x d matrix's values to those of L, which has n - d zeros besides. */
static void widen(const szg_factored *f, szg_spectrum *out) {
    out->zeros = f->n - f->d;
    out->n = f->n;
}

/* A B^T and B^T A have the same nonzero eigenvalues (Sylvester). */
static szg_status low_rank_eigen(szg_context *context, const szg_factored *f, szg_spectrum *out) {
    if (f->d == 0)
        return szgi_logits_zero(context, f, SZG_SPECTRUM_EIGENVALUE, out);
    double *m;
    int64_t d = f->d;
    SZG_TRY(szgi_memory_alloc(context, d * d, sizeof *m, &m));
    szg_status status =
        szgi_gemm(context, 't', 'n', d, d, f->n, 1, f->b, f->ldb, f->a, f->lda, 0, m, d);
    szg_spectra_options all = {0};
    if (status == SZG_OK)
        status = szgi_logits_symmetric(f) ? szg_spectra_symmetric(context, d, m, d, &all, out)
                                          : szg_spectra_general(context, d, m, d, out);
    szgi_memory_free(m);
    if (status != SZG_OK)
        return status;
    widen(f, out);
    if (!szgi_logits_symmetric(f))
        out->frobenius = NAN; /* what stands there is that of B^T A */
    out->method = SZG_METHOD_LOW_RANK;
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

/* A = B and a symmetric bias. */
static szg_status symmetric_eigen(szg_context *context, const szg_factored *f,
                                  const szg_spectra_options *options, szg_spectrum *out) {
    szgi_selection selection;
    SZG_TRY(szgi_selection_of(context, f->n, options, &selection));
    if (!szgi_options_dense(options) && szgi_extremes_apply(&selection)) {
        szg_factored copy = *f;
        szgi_operator s = {.n = f->n, .apply = factored_product, .data = &copy};
        bool complete;
        SZG_TRY(szgi_extremes_symmetric(context, &s, &selection, out, &complete));
        if (complete) {
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
    szg_status status = szg_spectra_general(context, f->n, dense, f->n, out);
    szgi_memory_free(dense);
    return status;
}

szg_status szgi_logits_check(szg_context *context, const szg_factored *f,
                             const szg_spectra_options *options) {
    szgi_selection checked;
    SZG_TRY(szgi_selection_of(context, f->n, options, &checked));
    if (f->d < 0 || (f->d > 0 && (!f->a || !f->b || f->lda < f->d || f->ldb < f->d)))
        return szgi_fail(
            context, SZG_EINVAL,
            "factors of %lld columns with rows %lld and %lld apart: missing, or narrower "
            "than d",
            (long long)f->d, (long long)f->lda, (long long)f->ldb);
    return SZG_OK;
}

szg_status szg_spectra_factored_eigen(szg_context *context, const szg_factored *f,
                                      const szg_spectra_options *options, szg_spectrum *out) {
    memset(out, 0, sizeof *out);
    SZG_TRY(szgi_logits_check(context, f, options));
    szg_status status;
    if (f->causal && !szgi_options_dense(options))
        status = causal_eigen(context, f, out);
    else if (is_low_rank(f, options))
        status = low_rank_eigen(context, f, out);
    else if (szgi_logits_symmetric(f))
        status = symmetric_eigen(context, f, options, out);
    else
        status = general_eigen(context, f, out);
    return szgi_spectrum_finish(status, out);
}

/* ---- Singular values ---- */

/* A B^T = Q_A (R_A R_B^T) Q_B^T. */
static szg_status product_of_factors(szg_context *context, const szg_factored *f, double *r_a,
                                     double *r_b, double *product) {
    int64_t d = f->d;
    SZG_TRY(szgi_tall_r(context, f->n, d, f->a, f->lda, r_a));
    if (szgi_logits_symmetric(f))
        memcpy(r_b, r_a, (size_t)(d * d) * sizeof *r_b);
    else
        SZG_TRY(szgi_tall_r(context, f->n, d, f->b, f->ldb, r_b));
    return szgi_gemm(context, 'n', 't', d, d, d, 1, r_a, d, r_b, d, 0, product, d);
}

static szg_status low_rank_singular(szg_context *context, const szg_factored *f,
                                    szg_spectrum *out) {
    if (f->d == 0)
        return szgi_logits_zero(context, f, SZG_SPECTRUM_SINGULAR, out);
    int64_t d = f->d;
    double *work;
    SZG_TRY(szgi_memory_alloc(context, 3 * d * d, sizeof *work, &work));
    double *product = work + 2 * d * d;
    szg_status status = product_of_factors(context, f, work, work + d * d, product);
    szg_spectra_options all = {0};
    if (status == SZG_OK)
        status = szg_spectra_singular(context, d, d, product, d, &all, out);
    szgi_memory_free(work);
    if (status != SZG_OK)
        return status;
    widen(f, out);
    out->method = SZG_METHOD_LOW_RANK_SINGULAR;
    return SZG_OK;
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
    szg_status status = szg_spectra_singular(context, f->n, f->n, dense, f->n, options, out);
    szgi_memory_free(dense);
    return status;
}

szg_status szg_spectra_factored_singular(szg_context *context, const szg_factored *f,
                                         const szg_spectra_options *options, szg_spectrum *out) {
    memset(out, 0, sizeof *out);
    SZG_TRY(szgi_logits_check(context, f, options));
    szgi_selection selection;
    SZG_TRY(szgi_selection_of(context, f->n, options, &selection));
    szg_status status;
    if (is_low_rank(f, options)) {
        status = low_rank_singular(context, f, out);
    } else if (!szgi_options_dense(options) && szgi_extremes_apply(&selection)) {
        szgi_square_operator l = {.n = f->n, .apply = square_apply, .data = f};
        status = szgi_extremes_singular(context, &l, &selection, out);
        if (status == SZG_OK)
            status = szgi_factored_norm_frobenius(context, f, &out->frobenius);
    } else {
        status = dense_singular(context, f, options, out);
    }
    return szgi_spectrum_finish(status, out);
}
