/* Singular values of Toeplitz matrices. */
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

#include "dense.h"
#include "extremes.h"
#include "solvers.h"
#include "scaled.h"

/* Up to this order all values are computed where only a few are asked for: the least of them too.
 */
enum { COMPLETE_MAX = 16384 };

static bool is_large(const szgi_selection *selection, const szg_spectra_options *options) {
    return !szgi_options_dense(options) && selection->n > COMPLETE_MAX &&
           szgi_extremes_apply(selection);
}

static void copy_origin(const szg_spectrum *eigenvalues, szg_spectrum *out) {
    out->rank = eigenvalues->rank;
    out->frobenius = eigenvalues->frobenius;
    out->residual = eigenvalues->residual;
    out->residual_meaning = eigenvalues->residual_meaning;
    out->method = eigenvalues->method;
}

/* Singular values from a complete real spectrum. */
static szg_status moduli_of(szg_context *context, const szgi_selection *selection,
                            const szg_spectrum *eigenvalues, szg_spectrum *out) {
    double *values;
    SZG_TRY(szgi_memory_alloc(context, selection->n, &values));
    for (int64_t i = 0; i < eigenvalues->count; i++)
        values[i] = eigenvalues->re[i];
    szg_status status = szgi_spectrum_from_moduli(context, selection, values, out);
    szgi_memory_free(values);
    if (status == SZG_OK)
        copy_origin(eigenvalues, out);
    return status;
}

static szg_status hermitian_singular(szg_context *context, const szg_toeplitz *t,
                                     const szgi_selection *selection,
                                     const szg_spectra_options *options, szg_spectrum *out) {
    bool ends = is_large(selection, options);
    szg_spectra_options all = {SZG_INIT(szg_spectra_options), .dense = szgi_options_dense(options)};
    szg_matrix matrix = szg_matrix_toeplitz(t);
    szg_spectrum eigenvalues = {.kind = SZG_SPECTRUM_NONE};
    SZG_TRY(szgi_toeplitz_eigen(context, &matrix, ends ? options : &all, &eigenvalues));
    szg_status status = SZG_OK;
    if (!ends || eigenvalues.count + eigenvalues.zeros == selection->n)
        status = moduli_of(context, selection, &eigenvalues, out);
    else if (eigenvalues.note)
        status = szgi_fail(context, SZG_ENOCONV,
                           "the ends of the spectrum are too crowded: ask for all singular values");
    else {
        *out = eigenvalues;
        szgi_spectrum_to_moduli(out);
        return SZG_OK;
    }
    szg_spectrum_close(&eigenvalues);
    return status;
}

szg_status szgi_dense_hankel(szg_context *context, const szg_toeplitz *t, double *a) {
    int64_t n = szg_toeplitz_size(t);
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = szg_toeplitz_at(t, i + j - (n - 1)).re;
    }
    return SZG_OK;
}

/* The eigenvalues of T J have the singular values of T as moduli, at half the price. */
static szg_status hankel_singular(szg_context *context, const szg_toeplitz *t,
                                  const szgi_selection *selection, szg_spectrum *out) {
    int64_t n = selection->n, size;
    double *a, *w = NULL;
    SZG_TRY(szgi_memory_require(context, n, n, sizeof *a, "all singular values",
                                "ask for the range: the largest need no dense matrix"));
    SZG_TRY(szgi_memory_product(context, n, n, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &a));
    szg_status status = szgi_memory_alloc(context, n, &w);
    if (status == SZG_OK)
        status = szgi_dense_hankel(context, t, a);
    if (status == SZG_OK)
        status = szgi_eigen_symmetric(context, n, a, n, w, false);
    if (status == SZG_OK)
        status = szgi_spectrum_from_moduli(context, selection, w, out);
    if (status == SZG_OK)
        status = szgi_spectrum_check(context, n, w, NAN, szgi_toeplitz_norm_frobenius(t), out);
    out->method = SZG_METHOD_HANKEL;
    szgi_memory_free(w);
    szgi_memory_free(a);
    return status;
}

static szg_status dense_singular(szg_context *context, const szg_toeplitz *t,
                                 const szg_spectra_options *options, szg_spectrum *out) {
    int64_t n = szg_toeplitz_size(t);
    double *a;
    SZG_TRY(
        szgi_dense_open_toeplitz(context, t, 2, "all singular values", "take a smaller order", &a));
    szg_matrix array = szgi_toeplitz_is_real(t) ? szg_matrix_dense(n, n, a, n)
                                                : szg_matrix_complex(n, n, (szg_c64 *)a, n);
    szg_status status = szgi_toeplitz_is_real(t)
                            ? szgi_dense_singular(context, &array, options, out)
                            : szgi_complex_singular(context, &array, options, out);
    szgi_memory_free(a);
    return status;
}

static szg_status square_apply(szg_context *context, const void *data, char op, const double *x,
                               double *y) {
    int64_t n = szg_toeplitz_size(data);
    return szg_toeplitz_apply(context, data, op, 1, x, n, y, n);
}

static szg_status singular_values(szg_context *context, const szg_toeplitz *t,
                                  const szg_spectra_options *options, szg_spectrum *out) {
    szgi_selection selection;
    int64_t n = szg_toeplitz_size(t);
    SZG_TRY(szgi_selection_of(context, n, options, &selection));
    bool dense = szgi_options_dense(options), real = szgi_toeplitz_is_real(t);
    szg_status status;
    if (szgi_toeplitz_is_hermitian(t)) {
        status = hermitian_singular(context, t, &selection, options, out);
    } else if (real && is_large(&selection, options)) {
        szgi_square_operator l = {.n = n, .apply = square_apply, .data = t};
        status = szgi_extremes_singular(context, &l, &selection, out);
        if (status == SZG_OK)
            out->frobenius = szgi_toeplitz_norm_frobenius(t);
    } else if (dense || !real) {
        status = dense_singular(context, t, options, out);
    } else {
        status = hankel_singular(context, t, &selection, out);
    }
    return szgi_spectrum_finish(status, out);
}

szg_status szgi_toeplitz_singular(szg_context *context, const szg_matrix *matrix,
                                  const szg_spectra_options *options, szg_spectrum *out) {
    return szgi_scaled_solve(context, matrix->of.toeplitz, options, singular_values, out);
}
