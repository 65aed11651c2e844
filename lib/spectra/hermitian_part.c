/* Eigenvalues of H = (L + L^T) / 2. */
#include "linalg/linalg.h"

#include "dense.h"
#include "extremes.h"
#include "factored.h"
#include "solvers.h"
#include "symmetry.h"

/* H = [A B] S [A B]^T / 2, S exchanging the two blocks, has 2 d nonzero eigenvalues at most. */
static bool is_low_rank(const szg_factored *f, const szg_spectra_options *options) {
    return !f->bias && !f->causal && 2 * f->d < f->n && !szgi_options_dense(options);
}

/* With [A B] = Q R, R = [R_1 R_2], they are those of R S R^T / 2 = (R_1 R_2^T + R_2 R_1^T) / 2. */
static szg_status small_matrix(szg_context *context, const szg_factored *f, double *both, double *r,
                               double *small) {
    int64_t d = f->d, m = 2 * d;
    for (int64_t i = 0; i < f->n; i++) {
        memcpy(both + i * m, f->a + i * f->lda, (size_t)d * sizeof *both);
        memcpy(both + i * m + d, f->b + i * f->ldb, (size_t)d * sizeof *both);
    }
    SZG_TRY(szgi_tall_r(context, f->n, m, both, m, r));
    SZG_TRY(szgi_gemm(context, 'n', 't', m, m, d, 1, r, m, r + d, m, 0, small, m));
    return szgi_dense_symmetrise(context, m, small);
}

static szg_status low_rank(szg_context *context, const szg_factored *f, szg_spectrum *out) {
    if (f->d == 0)
        return szgi_spectrum_zero(context, f->n, SZG_SPECTRUM_EIGENVALUE, out);
    int64_t m = 2 * f->d, size;
    double *work;
    SZG_TRY(szgi_memory_product(context, f->n + 2 * m, m, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &work));
    double *r = work + f->n * m, *small = r + m * m;
    szg_status status = small_matrix(context, f, work, r, small);
    szg_matrix part = szg_matrix_symmetric(m, small, m);
    if (status == SZG_OK)
        status = szgi_symmetric_eigen(context, &part, NULL, out);
    szgi_memory_free(work);
    if (status != SZG_OK)
        return status;
    out->zeros = f->n - m;
    out->n = f->n;
    out->method = SZG_METHOD_LOW_RANK_PART;
    return SZG_OK;
}

typedef struct half_product {
    const szg_factored *f;
    double *scratch; /* n; NULL: L is its own Hermitian part */
} half_product;

static szg_status apply(szg_context *context, void *data, const double *x, double *y) {
    const half_product *self = data;
    int64_t n = self->f->n;
    SZG_TRY(szgi_factored_apply(context, self->f, 'n', 1, x, n, y, n));
    if (!self->scratch)
        return SZG_OK;
    SZG_TRY(szgi_factored_apply(context, self->f, 't', 1, x, n, self->scratch, n));
    for (int64_t i = 0; i < n; i++)
        y[i] = y[i] / 2 + self->scratch[i] / 2;
    return SZG_OK;
}

static szg_status ends(szg_context *context, const szg_factored *f, const szgi_selection *selection,
                       szg_spectrum *out, bool *complete) {
    half_product product = {.f = f};
    double rounding, scale;
    SZG_TRY(szgi_logits_product_error(context, f, &rounding));
    if (f->causal || !szgi_factored_is_symmetric(f, &scale))
        SZG_TRY(szgi_memory_alloc(context, f->n, &product.scratch));
    szgi_operator s = {.n = f->n, .apply = apply, .data = &product};
    szg_status status = szgi_extremes_symmetric(context, &s, rounding, selection, out, complete);
    szgi_memory_free(product.scratch);
    if (status == SZG_OK && out->count > 0)
        out->method = SZG_METHOD_MATRIX_FREE_PART;
    return status;
}

static szg_status dense(szg_context *context, const szg_factored *f,
                        const szgi_selection *selection, szg_spectrum *out) {
    double *matrix;
    SZG_TRY(szgi_logits_dense(context, f, &matrix));
    szg_status status = szgi_dense_symmetrise(context, f->n, matrix);
    if (status == SZG_OK)
        status = szgi_dense_symmetric_values(context, f->n, matrix, selection, out);
    szgi_memory_free(matrix);
    out->method = SZG_METHOD_DENSE_PART;
    return status;
}

/* A B^T is exactly 0 where a factor is: the other one's numbers are finite. */
static bool is_zero_factor(const szg_factored *f, const double *a, int64_t lda) {
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t t = 0; t < f->d; t++)
            if (a[i * lda + t] != 0)
                return false;
    return true;
}

static szg_status is_zero(szg_context *context, const szg_factored *f, bool *out) {
    *out = !f->bias && (is_zero_factor(f, f->a, f->lda) || is_zero_factor(f, f->b, f->ldb));
    return *out ? szgi_factored_check_finite(context, f) : SZG_OK;
}

szg_status szgi_factored_part(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    const szg_factored *f = &matrix->of.factored;
    szgi_selection selection;
    bool complete = false, zero;
    SZG_TRY(szgi_factored_check(context, f));
    SZG_TRY(szgi_selection_of(context, f->n, options, &selection));
    if (is_low_rank(f, options))
        return low_rank(context, f, out);
    SZG_TRY(is_zero(context, f, &zero));
    if (zero && !szgi_options_dense(options))
        return szgi_spectrum_zero(context, f->n, SZG_SPECTRUM_EIGENVALUE, out);
    if (!szgi_options_dense(options) && szgi_extremes_apply(&selection))
        SZG_TRY(ends(context, f, &selection, out, &complete));
    if (complete || (selection.high > 1 && szgi_extremes_suffice(&selection, complete, out)))
        return SZG_OK;
    szg_spectrum_close(out);
    return dense(context, f, &selection, out);
}
