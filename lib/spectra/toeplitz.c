/* Which way to the spectrum of a Toeplitz matrix. */
#include "toeplitz/toeplitz.h"

#include "spectra/dc/dc.h"
#include "dense.h"
#include "extremes.h"
#include "halves.h"
#include "shared.h"
#include "solvers.h"
#include "scaled.h"

static const char triangular_note[] =
    "triangular: the eigenvalues are the diagonal and say little of a matrix so far from normal; "
    "its size and conditioning are in the singular values";

/* ---- Triangular ---- */

static bool is_triangular(const szg_toeplitz *t) {
    bool lower = false, upper = false;
    for (int64_t k = 1; k <= szgi_toeplitz_degree(t); k++) {
        szg_c64 below = szg_toeplitz_at(t, k), above = szg_toeplitz_at(t, -k);
        lower = lower || below.re != 0 || below.im != 0;
        upper = upper || above.re != 0 || above.im != 0;
    }
    return !(lower && upper);
}

static szg_status triangular(szg_context *context, const szg_toeplitz *t,
                             const szgi_selection *selection, szg_spectrum *out) {
    szg_c64 diagonal = szg_toeplitz_at(t, 0);
    int64_t n = selection->n;
    bool zero = diagonal.re == 0 && diagonal.im == 0, normal = szgi_toeplitz_degree(t) == 0;
    /* All values are one number; complex ones have no ends and are listed in full. */
    int64_t count = diagonal.im != 0 ? n : szgi_selection_count(selection);
    SZG_TRY(szgi_spectrum_open(context, n, zero ? 0 : count, SZG_SPECTRUM_EIGENVALUE,
                               diagonal.im != 0, out));
    for (int64_t i = 0; i < out->count; i++) {
        out->re[i] = diagonal.re;
        if (out->im)
            out->im[i] = diagonal.im;
    }
    out->zeros = zero ? n : 0;
    if (!zero || normal)
        out->rank = zero ? 0 : n;
    out->normal = normal;
    out->trace = szgi_toeplitz_trace(t).re;
    out->frobenius = szgi_toeplitz_norm_frobenius(t);
    out->residual_meaning = "exact: the diagonal of a triangular matrix";
    out->method = normal ? SZG_METHOD_DIAGONAL : SZG_METHOD_TRIANGULAR;
    out->note = normal ? NULL : triangular_note;
    return SZG_OK;
}

/* ---- Symmetric and Hermitian ---- */

static szg_status dense_values(szg_context *context, const szg_toeplitz *t,
                               const szgi_selection *selection, szg_spectrum *out) {
    int64_t n = selection->n;
    double *a;
    SZG_TRY(szgi_dense_open_toeplitz(context, t, 1, "the dense matrix",
                                     "leave out --dense, or ask for the range", &a));
    szg_status status = szgi_toeplitz_is_real(t)
                            ? szgi_dense_symmetric_values(context, n, a, selection, out)
                            : szgi_dense_hermitian_values(context, n, (szg_c64 *)a, selection, out);
    szgi_memory_free(a);
    out->method = SZG_METHOD_DENSE;
    return status;
}

static szg_status all_values(szg_context *context, const szg_toeplitz *t, double *w,
                             szg_method *method, double *dropped) {
    if (szgi_toeplitz_kind_of(t) != SZG_TOEPLITZ_SYMMETRIC) {
        *method = SZG_METHOD_MAPPED;
        return szgi_mapped_eigenvalues(context, t, w);
    }
    bool applicable;
    *method = SZG_METHOD_DIVIDE;
    SZG_TRY(szgi_dc_eigenvalues(context, t, w, &applicable, dropped));
    if (applicable)
        return SZG_OK;
    *method = SZG_METHOD_HALVES;
    return szgi_halves_eigenvalues(context, t, w);
}

static szg_status structured_values(szg_context *context, const szg_toeplitz *t,
                                    const szgi_selection *selection, szg_spectrum *out) {
    double *w;
    double dropped = 0;
    szg_method method = SZG_METHOD_NONE;
    SZG_TRY(szgi_memory_alloc(context, selection->n, &w));
    szg_status status = all_values(context, t, w, &method, &dropped);
    if (status == SZG_OK)
        status = szgi_spectrum_from_values(context, selection, w, out);
    if (status == SZG_OK)
        status = szgi_spectrum_check(context, selection->n, w, szgi_toeplitz_trace(t).re,
                                     szgi_toeplitz_norm_frobenius(t), out);
    out->normal = true;
    out->method = method;
    out->dropped = method == SZG_METHOD_DIVIDE ? dropped : 0;
    szgi_memory_free(w);
    return status;
}

static szg_status all_selected(szg_context *context, const szg_toeplitz *t,
                               const szgi_selection *selection, bool dense, szg_spectrum *out) {
    if (szgi_shared_takes(context, selection->n))
        return szgi_shared_values(context, t, selection, dense, out);
    return dense ? dense_values(context, t, selection, out)
                 : structured_values(context, t, selection, out);
}

static szg_status hermitian(szg_context *context, const szg_toeplitz *t,
                            const szgi_selection *selection, bool dense, szg_spectrum *out) {
    bool few = !dense && szgi_extremes_apply(selection), complete = false;
    if (few)
        SZG_TRY(szgi_shared_takes(context, selection->n)
                    ? szgi_shared_extremes(context, t, selection, out, &complete)
                    : szgi_extremes_toeplitz(context, t, selection, out, &complete));
    if (few && szgi_extremes_suffice(selection, complete, out))
        return SZG_OK;
    if (few && selection->n > SZGI_FALLBACK_MAX)
        return szgi_fail(context, SZG_ENOCONV,
                         "Lanczos found no clear ends of the spectrum at n = %lld: ask for all "
                         "eigenvalues, or for the symbol's certified range",
                         (long long)selection->n);
    szg_spectrum_close(out);
    return all_selected(context, t, selection, dense, out);
}

/* ---- No symmetry ---- */

static szg_status general(szg_context *context, const szg_toeplitz *t, szg_spectrum *out) {
    int64_t n = szg_toeplitz_size(t);
    double *a;
    SZG_TRY(szgi_dense_open_toeplitz(context, t, 2,
                                     "all eigenvalues of a Toeplitz matrix without symmetry",
                                     "take a smaller order, or its singular values' range", &a));
    szg_matrix array = szgi_toeplitz_is_real(t) ? szg_matrix_dense(n, n, a, n)
                                                : szg_matrix_complex(n, n, (szg_c64 *)a, n);
    szg_status status = szgi_toeplitz_is_real(t) ? szgi_general_eigen(context, &array, NULL, out)
                                                 : szgi_complex_eigen(context, &array, NULL, out);
    szgi_memory_free(a);
    return status;
}

static szg_status eigenvalues(szg_context *context, const szg_toeplitz *t,
                              const szg_spectra_options *options, szg_spectrum *out) {
    szgi_selection selection;
    SZG_TRY(szgi_selection_of(context, szg_toeplitz_size(t), options, &selection));
    szg_status status;
    bool dense = szgi_options_dense(options);
    if (!dense && is_triangular(t))
        status = triangular(context, t, &selection, out);
    else if (szgi_toeplitz_is_hermitian(t))
        status = hermitian(context, t, &selection, dense, out);
    else
        status = general(context, t, out);
    return szgi_spectrum_finish(status, out);
}

szg_status szgi_toeplitz_eigen(szg_context *context, const szg_matrix *matrix,
                               const szg_spectra_options *options, szg_spectrum *out) {
    return szgi_scaled_solve(context, matrix->of.toeplitz, options, eigenvalues, out);
}
