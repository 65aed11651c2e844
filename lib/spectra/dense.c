/* Dense matrices through the op table: the oracle of every other path, and the only path of
 * matrices without structure. */
#include <inttypes.h>
#include <stdlib.h>

#include "linalg/linalg.h"

#include "dense.h"
#include "solvers.h"
#include "symmetry.h"

static szg_status check_shape(szg_context *context, int64_t m, int64_t n, const void *a,
                              int64_t lda) {
    if (!a)
        return szgi_fail(context, SZG_EINVAL, "a dense matrix without an array of entries");
    if (m < 1 || n < 1 || lda < n)
        return szgi_fail(context, SZG_EINVAL,
                         "a %" PRId64 " x %" PRId64 " matrix with rows %" PRId64
                         " apart: sizes are >= 1, rows at least n apart",
                         m, n, lda);
    return SZG_OK;
}

/* A copy without padding; `width` is 1 for real, 2 for complex entries. */
static szg_status copy_matrix(szg_context *context, int64_t m, int64_t n, int64_t width,
                              const void *a, int64_t lda, double **out) {
    int64_t size;
    SZG_TRY(szgi_memory_require(context, m, n * width, sizeof **out, "the dense matrix",
                                "use a structured or matrix-free method, or a smaller order"));
    SZG_TRY(szgi_memory_product(context, m, n * width, &size));
    SZG_TRY(szgi_memory_alloc(context, size, out));
    const double *from = a;
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < m && status == SZG_OK; i++) {
        memcpy(*out + i * n * width, from + i * lda * width, (size_t)(n * width) * sizeof **out);
        status = szgi_context_check_cancel(context);
    }
    if (status != SZG_OK)
        szgi_memory_free(*out);
    return status;
}

szg_status szgi_dense_open_toeplitz(szg_context *context, const szg_toeplitz *t, int64_t copies,
                                    const char *what, const char *remedy, double **out) {
    int64_t n = szg_toeplitz_size(t), size, width = szgi_toeplitz_is_real(t) ? 1 : 2;
    SZG_TRY(szgi_memory_product(context, n, n * width, &size));
    SZG_TRY(szgi_memory_require(context, size, copies, sizeof **out, what, remedy));
    SZG_TRY(szgi_memory_alloc(context, size, out));
    szg_status status = width == 1 ? szgi_toeplitz_dense(context, t, *out, n)
                                   : szgi_toeplitz_dense_complex(context, t, (szg_c64 *)*out, n);
    if (status != SZG_OK)
        szgi_memory_free(*out);
    return status;
}

static double trace_of(int64_t n, const double *a, int64_t step) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i * step];
    return sum;
}

static szg_status asymmetric(szg_context *context, int64_t i, int64_t j) {
    return szgi_fail(context, SZG_EDATA,
                     "entries (%" PRId64 ", %" PRId64 ") and (%" PRId64 ", %" PRId64
                     ") differ beyond rounding: not symmetric; ask for general eigenvalues",
                     i, j, j, i);
}

static szg_status check_symmetric(szg_context *context, int64_t n, const double *a, int64_t lda,
                                  double frobenius) {
    double allowed = 64 * DBL_EPSILON * frobenius;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < i; j++)
            if (!(fabs(a[i * lda + j] - a[j * lda + i]) <= allowed))
                return asymmetric(context, i, j);
    }
    return SZG_OK;
}

static szg_status not_hermitian(szg_context *context, int64_t i, int64_t j) {
    if (i == j)
        return szgi_fail(context, SZG_EDATA,
                         "entry (%" PRId64 ", %" PRId64
                         ") is not real: not Hermitian; ask for general eigenvalues",
                         i, i);
    return szgi_fail(context, SZG_EDATA,
                     "entries (%" PRId64 ", %" PRId64 ") and (%" PRId64 ", %" PRId64
                     ") are not conjugate: not Hermitian; ask for general eigenvalues",
                     i, j, j, i);
}

static szg_status check_hermitian(szg_context *context, int64_t n, const szg_c64 *a, int64_t lda,
                                  double frobenius) {
    double allowed = 64 * DBL_EPSILON * frobenius;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j <= i; j++) {
            szg_c64 x = a[i * lda + j], y = a[j * lda + i];
            if (!(hypot(x.re - y.re, x.im + y.im) <= allowed))
                return not_hermitian(context, i, j);
        }
    }
    return SZG_OK;
}

/* From all n ascending values of a Hermitian matrix. */
static szg_status accept_values(szg_context *context, const double *w, double trace,
                                double frobenius, const szgi_selection *selection,
                                szg_spectrum *out) {
    szg_status status = szgi_spectrum_from_values(context, selection, w, out);
    if (status == SZG_OK)
        status = szgi_spectrum_check(context, selection->n, w, trace, frobenius, out);
    out->normal = true;
    return status;
}

/* `width` is 1 for a symmetric array, 2 for a Hermitian one, whose norm is `frobenius`. */
static szg_status hermitian_values(szg_context *context, int64_t n, int64_t width, double *a,
                                   double frobenius, const szgi_selection *selection,
                                   szg_spectrum *out) {
    double trace = trace_of(n, a, (n + 1) * width), *w;
    SZG_TRY(szgi_memory_alloc(context, n, &w));
    szg_status status = width == 1 ? szgi_eigen_symmetric(context, n, a, n, w, false)
                                   : szgi_eigen_hermitian(context, n, (szg_c64 *)a, n, w, false);
    if (status == SZG_OK)
        status = accept_values(context, w, trace, frobenius, selection, out);
    szgi_memory_free(w);
    return status;
}

szg_status szgi_dense_symmetric_values(szg_context *context, int64_t n, double *a,
                                       const szgi_selection *selection, szg_spectrum *out) {
    double frobenius;
    SZG_TRY(szgi_dense_frobenius(context, n, n, a, n, &frobenius));
    return hermitian_values(context, n, 1, a, frobenius, selection, out);
}

szg_status szgi_dense_hermitian_values(szg_context *context, int64_t n, szg_c64 *a,
                                       const szgi_selection *selection, szg_spectrum *out) {
    double frobenius;
    SZG_TRY(szgi_wide_frobenius(context, n, 2 * n, 2, (double *)a, 2 * n, &frobenius));
    return hermitian_values(context, n, 2, (double *)a, frobenius, selection, out);
}

szg_status szgi_dense_symmetrise(szg_context *context, int64_t n, double *a) {
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i] = a[i * n + j] / 2 + a[j * n + i] / 2;
    }
    return SZG_OK;
}

static int64_t width_of(szgi_hermitian_form form) {
    return form == SZGI_HERMITIAN ? 2 : 1;
}

/* The norm of an array that is checked to have the form. */
static szg_status check_form(szg_context *context, szgi_hermitian_form form, int64_t n,
                             const void *a, int64_t lda, double *frobenius) {
    int64_t width = width_of(form);
    SZG_TRY(check_shape(context, n, n, a, lda));
    SZG_TRY(szgi_wide_frobenius(context, n, n * width, width, a, lda * width, frobenius));
    if (form == SZGI_SYMMETRIC)
        return check_symmetric(context, n, a, lda, *frobenius);
    return form == SZGI_HERMITIAN ? check_hermitian(context, n, a, lda, *frobenius) : SZG_OK;
}

/* The matrix whose eigenvalues are asked for, of its array's copy without padding. */
static szg_status form_copy(szg_context *context, szgi_hermitian_form form, int64_t n, double *copy,
                            double *frobenius) {
    if (form != SZGI_HERMITIAN_PART)
        return SZG_OK;
    SZG_TRY(szgi_dense_symmetrise(context, n, copy));
    return szgi_dense_frobenius(context, n, n, copy, n, frobenius);
}

static const szg_method methods[] = {SZG_METHOD_DENSE_SYMMETRIC, SZG_METHOD_DENSE_HERMITIAN,
                                     SZG_METHOD_DENSE_PART};

/* Divides numbers whose norm may exceed doubles by a power of two, whose exponent it returns. */
static int scale_huge(int64_t count, double *a) {
    enum { HUGE_FROM = 900 };
    double largest = 0;
    int exponent;
    for (int64_t i = 0; i < count; i++)
        largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
    frexp(largest, &exponent);
    if (exponent < HUGE_FROM)
        return 0;
    for (int64_t i = 0; i < count; i++)
        a[i] = ldexp(a[i], -exponent);
    return exponent;
}

static szg_status scale_values(szg_context *context, int exponent, szg_spectrum *out) {
    szgi_spectrum_scale(out, exponent);
    for (int64_t i = 0; exponent != 0 && i < out->count; i++)
        if (!isfinite(out->re[i]))
            return szgi_fail(context, SZG_EDOMAIN,
                             "an eigenvalue exceeds the largest double: divide the matrix by a "
                             "power of two");
    return SZG_OK;
}

static szg_status hermitian_run(szg_context *context, szgi_hermitian_form form, int64_t n,
                                const void *a, int64_t lda, const szg_spectra_options *options,
                                szg_spectrum *out) {
    szgi_selection selection;
    double frobenius, *copy;
    SZG_TRY(szgi_selection_of(context, n, options, &selection));
    SZG_TRY(check_form(context, form, n, a, lda, &frobenius));
    SZG_TRY(copy_matrix(context, n, n, width_of(form), a, lda, &copy));
    int64_t row = n * width_of(form);
    int exponent = scale_huge(n * row, copy);
    szg_status status = form_copy(context, form, n, copy, &frobenius);
    if (status == SZG_OK && exponent != 0)
        status = szgi_wide_frobenius(context, n, row, width_of(form), copy, row, &frobenius);
    if (status == SZG_OK)
        status = hermitian_values(context, n, width_of(form), copy, frobenius, &selection, out);
    if (status == SZG_OK)
        status = scale_values(context, exponent, out);
    szgi_memory_free(copy);
    out->method = methods[form];
    return szgi_spectrum_finish(status, out);
}

szg_status szgi_dense_prepare(szg_context *context, szgi_hermitian_form form,
                              const szg_matrix *matrix, double *copy, szgi_prepared *out) {
    int64_t n = matrix->rows, lda = matrix->of.dense.lda;
    const double *a = matrix->of.dense.a;
    out->form = form;
    SZG_TRY(check_form(context, form, n, a, lda, &out->frobenius));
    for (int64_t i = 0; i < n; i++)
        memcpy(copy + i * n, a + i * lda, (size_t)n * sizeof *copy);
    SZG_TRY(form_copy(context, form, n, copy, &out->frobenius));
    out->trace = trace_of(n, copy, n + 1);
    return SZG_OK;
}

szg_status szgi_dense_accept(szg_context *context, const szgi_prepared *prepared, const double *w,
                             const szgi_selection *selection, szg_spectrum *out) {
    szg_status status =
        accept_values(context, w, prepared->trace, prepared->frobenius, selection, out);
    out->method = methods[prepared->form];
    return szgi_spectrum_finish(status, out);
}

szg_status szgi_symmetric_eigen(szg_context *context, const szg_matrix *matrix,
                                const szg_spectra_options *options, szg_spectrum *out) {
    return hermitian_run(context, SZGI_SYMMETRIC, matrix->rows, matrix->of.dense.a,
                         matrix->of.dense.lda, options, out);
}

szg_status szgi_hermitian_eigen(szg_context *context, const szg_matrix *matrix,
                                const szg_spectra_options *options, szg_spectrum *out) {
    return hermitian_run(context, SZGI_HERMITIAN, matrix->rows, matrix->of.complex_dense.a,
                         matrix->of.complex_dense.lda, options, out);
}

szg_status szgi_dense_part(szg_context *context, const szg_matrix *matrix,
                           const szg_spectra_options *options, szg_spectrum *out) {
    return hermitian_run(context, SZGI_HERMITIAN_PART, matrix->rows, matrix->of.dense.a,
                         matrix->of.dense.lda, options, out);
}

static int compare_complex(const void *left, const void *right) {
    const szg_c64 *a = left, *b = right;
    if (a->re != b->re)
        return a->re < b->re ? -1 : 1;
    return (a->im > b->im) - (a->im < b->im);
}

/* Of the eigenvalues of a matrix that need not be normal only the trace is an invariant that its
 * entries show; the sum of squared moduli stays below the squared Frobenius norm (Schur). */
static szg_status check_general(szg_context *context, int64_t n, const szg_c64 *w, szg_c64 trace,
                                double frobenius, szg_spectrum *out) {
    double unit = frobenius > 0 ? frobenius : 1, re = 0, im = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = w[i].re / unit, y = w[i].im / unit;
        re += x;
        im += y;
        squares += x * x + y * y;
    }
    double defect = hypot(re - trace.re / unit, im - trace.im / unit) / sqrt((double)n);
    double excess = sqrt(squares) - 1; /* below 0 up to rounding; for the zero matrix -1 */
    bool missed = !(defect <= szgi_defect_limit(n)) || !(excess <= szgi_defect_limit(n));
    if (missed && frobenius < DBL_MIN) /* n 2^-1075, of n products, is beyond the limit there */
        return szgi_fail(context, SZG_EDOMAIN,
                         "eigenvalues of a matrix whose Frobenius norm is %.3g: numbers below %.3g "
                         "lose their digits; multiply the matrix by a power of two, or the queries "
                         "or keys that it comes from",
                         frobenius, DBL_MIN);
    if (missed)
        return szgi_fail(context, SZG_ENOCONV,
                         "the computed eigenvalues miss the trace by %.3g or exceed the Frobenius "
                         "norm by %.3g (relative, n = %" PRId64 "): they are not returned",
                         defect, excess, n);
    out->residual = defect;
    out->residual_meaning =
        "|sum of eigenvalues - trace| / (sqrt(n) ||L||_F): a necessary check of the solver's "
        "backward-stable answer, the exact eigenvalues of L + E, ||E||_2 <= c n eps ||L||_2; where "
        "L is far from normal they may move by more than ||E||";
    out->trace = trace.re;
    out->frobenius = frobenius;
    return SZG_OK;
}

/* Real where every imaginary part is exactly zero. */
static szg_status general_spectrum(szg_context *context, int64_t n, szg_c64 *w, szg_c64 trace,
                                   double frobenius, szg_spectrum *out) {
    bool is_complex = false;
    for (int64_t i = 0; i < n; i++)
        is_complex = is_complex || w[i].im != 0;
    qsort(w, (size_t)n, sizeof *w, compare_complex);
    SZG_TRY(szgi_spectrum_open(context, n, n, SZG_SPECTRUM_EIGENVALUE, is_complex, out));
    for (int64_t i = 0; i < n; i++) {
        out->re[i] = w[i].re;
        if (is_complex)
            out->im[i] = w[i].im;
    }
    return check_general(context, n, w, trace, frobenius, out);
}

static szg_status general_run(szg_context *context, int64_t n, int64_t width, const double *a,
                              int64_t lda, szg_spectrum *out) {
    double frobenius, *copy;
    szg_c64 *w = NULL;
    SZG_TRY(check_shape(context, n, n, a, lda));
    SZG_TRY(szgi_wide_frobenius(context, n, n * width, width, a, lda * width, &frobenius));
    szg_c64 trace = {.re = trace_of(n, a, (lda + 1) * width),
                     .im = width == 2 ? trace_of(n, a + 1, (lda + 1) * width) : 0};
    SZG_TRY(copy_matrix(context, n, n, width, a, lda, &copy));
    szg_status status = szgi_memory_alloc(context, n, &w);
    if (status == SZG_OK)
        status = width == 1 ? szgi_eigen_general(context, n, copy, n, w)
                            : szgi_eigen_general_complex(context, n, (szg_c64 *)copy, n, w);
    if (status == SZG_OK)
        status = general_spectrum(context, n, w, trace, frobenius, out);
    szgi_memory_free(w);
    szgi_memory_free(copy);
    out->method = width == 1 ? SZG_METHOD_DENSE_GENERAL : SZG_METHOD_DENSE_COMPLEX;
    return szgi_spectrum_finish(status, out);
}

szg_status szgi_general_eigen(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    (void)options;
    return general_run(context, matrix->rows, 1, matrix->of.dense.a, matrix->of.dense.lda, out);
}

szg_status szgi_complex_eigen(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    (void)options;
    return general_run(context, matrix->rows, 2, (const double *)matrix->of.complex_dense.a,
                       matrix->of.complex_dense.lda, out);
}

szg_status szgi_dense_eigen(szg_context *context, const szg_matrix *matrix,
                            const szg_spectra_options *options, szg_spectrum *out) {
    int64_t n = matrix->rows, lda = matrix->of.dense.lda;
    bool symmetric;
    SZG_TRY(check_shape(context, n, n, matrix->of.dense.a, lda));
    SZG_TRY(szgi_dense_is_symmetric(context, n, matrix->of.dense.a, lda, &symmetric));
    return symmetric ? szgi_symmetric_eigen(context, matrix, options, out)
                     : szgi_general_eigen(context, matrix, options, out);
}

/* All singular values s (any order) of a matrix whose Frobenius norm is known. */
static szg_status singular_spectrum(szg_context *context, const szgi_selection *selection,
                                    const double *s, double frobenius, szg_spectrum *out) {
    SZG_TRY(szgi_spectrum_from_moduli(context, selection, s, out));
    return szgi_spectrum_check(context, selection->n, s, NAN, frobenius, out);
}

static szg_status singular_run(szg_context *context, int64_t m, int64_t n, int64_t width,
                               const void *a, int64_t lda, const szg_spectra_options *options,
                               szg_spectrum *out) {
    szgi_selection selection;
    double frobenius, *copy, *s = NULL;
    SZG_TRY(check_shape(context, m, n, a, lda));
    int64_t rank = m < n ? m : n;
    SZG_TRY(szgi_selection_of(context, rank, options, &selection));
    SZG_TRY(szgi_wide_frobenius(context, m, n * width, width, a, lda * width, &frobenius));
    SZG_TRY(copy_matrix(context, m, n, width, a, lda, &copy));
    szg_status status = szgi_memory_alloc(context, rank, &s);
    if (status == SZG_OK && width == 1)
        status = szgi_singular(context, m, n, copy, n, s, NULL, 1, NULL, 1);
    else if (status == SZG_OK)
        status = szgi_singular_complex(context, m, n, (szg_c64 *)copy, n, s, NULL, 1, NULL, 1);
    if (status == SZG_OK)
        status = singular_spectrum(context, &selection, s, frobenius, out);
    szgi_memory_free(s);
    szgi_memory_free(copy);
    out->method = width == 1 ? SZG_METHOD_DENSE_SINGULAR : SZG_METHOD_COMPLEX_SINGULAR;
    return szgi_spectrum_finish(status, out);
}

szg_status szgi_dense_singular(szg_context *context, const szg_matrix *matrix,
                               const szg_spectra_options *options, szg_spectrum *out) {
    return singular_run(context, matrix->rows, matrix->columns, 1, matrix->of.dense.a,
                        matrix->of.dense.lda, options, out);
}

szg_status szgi_complex_singular(szg_context *context, const szg_matrix *matrix,
                                 const szg_spectra_options *options, szg_spectrum *out) {
    return singular_run(context, matrix->rows, matrix->columns, 2, matrix->of.complex_dense.a,
                        matrix->of.complex_dense.lda, options, out);
}
