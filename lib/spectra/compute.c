/* Which solver serves which structure and question: here alone. */
#include <inttypes.h>

#include "base/options.h"
#include "toeplitz/matrix.h"

#include "certified.h"
#include "certified_singular.h"
#include "shared.h"
#include "factored.h"
#include "solvers.h"
#include "spectra_private.h"

/* For eigenvalues, singular values, and eigenvalues of the Hermitian part; the latter are those of
 * the matrix itself where that is Hermitian. */
static szgi_solver *const solvers[SZG_MATRIX_KINDS][SZG_QUESTIONS] = {
    [SZG_MATRIX_ZERO] = {szgi_zero_eigen, szgi_zero_singular, szgi_zero_eigen},
    [SZG_MATRIX_DENSE] = {szgi_dense_eigen, szgi_dense_singular, szgi_dense_part},
    [SZG_MATRIX_SYMMETRIC] = {szgi_symmetric_eigen, szgi_dense_singular, szgi_symmetric_eigen},
    [SZG_MATRIX_COMPLEX] = {szgi_complex_eigen, szgi_complex_singular, NULL},
    [SZG_MATRIX_HERMITIAN] = {szgi_hermitian_eigen, szgi_complex_singular, szgi_hermitian_eigen},
    [SZG_MATRIX_TOEPLITZ] = {szgi_toeplitz_eigen, szgi_toeplitz_singular, szgi_toeplitz_part},
    [SZG_MATRIX_FACTORED] = {szgi_factored_eigen, szgi_factored_singular, szgi_factored_part},
    [SZG_MATRIX_COSINES] = {szgi_cosines_eigen, szgi_cosines_singular, szgi_cosines_eigen},
#define SZG_CLOSED_FORM(NAME, name, words, method)                                                 \
    [SZG_MATRIX_##NAME] = {szgi_closed_eigen, szgi_closed_singular, szgi_closed_eigen},
#include <szego/closed_forms.def>
    [SZG_MATRIX_DEVICE] = {szgi_device_eigen, szgi_device_singular, szgi_device_part},
};

static const char *const questions[SZG_QUESTIONS] = {"eigenvalues", "singular values",
                                                     "eigenvalues of the Hermitian part"};

static szg_status refuse(szg_context *context, const szg_matrix *matrix, szg_question question) {
    return szgi_fail(context, SZG_EDOMAIN,
                     "%s of a %s matrix: no solver; form the Hermitian part and ask for the "
                     "eigenvalues of szg_matrix_hermitian",
                     questions[question], szg_matrix_kind_name(matrix->kind));
}

/* How far the matrix whose values were computed is from logits: their entries are rounded, or the
 * sums of n terms that make the small matrix of a low rank. */
static szg_status rounded_logits(szg_context *context, const szg_matrix *matrix,
                                 const szg_spectrum *values, double *out) {
    *out = 0;
    if (matrix->kind != SZG_MATRIX_FACTORED)
        return SZG_OK;
    bool by_columns = values->method == SZG_METHOD_LOW_RANK_PART;
    return values->zeros > 0
               ? szgi_logits_reduced_error(context, &matrix->of.factored, by_columns, out)
               : szgi_logits_entry_error(context, &matrix->of.factored, out);
}

/* What backward stability says of values from LAPACK and from our divide and conquer, which are the
 * exact ones of T + E with ||E||_2 <= n eps ||T||_2 (Weyl): solvers that know better have said so.
 * The ends are among the values, and so is the norm. */
static szg_status complete_errors(szg_context *context, const szg_matrix *matrix,
                                  const szg_spectra_options *options, szg_spectrum *out) {
    bool applies = options->want == SZG_WANT_RANGE && out->kind == SZG_SPECTRUM_EIGENVALUE &&
                   out->normal && !out->im;
    if (!applies || out->error)
        return SZG_OK;
    double norm = 0, entries;
    SZG_TRY(rounded_logits(context, matrix, out, &entries));
    for (int64_t i = 0; i < out->count; i++)
        norm = szgi_larger(norm, fabs(out->re[i]));
    bool exact = (norm == 0 && entries == 0) || out->method == SZG_METHOD_DIAGONAL ||
                 out->method == SZG_METHOD_ZERO;
    /* LAPACK saw the small matrix where one was made. */
    bool reduced = matrix->kind == SZG_MATRIX_FACTORED && out->zeros > 0;
    double order = (double)(reduced ? out->count : out->n);
    double error = order * DBL_EPSILON * norm + entries;
    error += DBL_TRUE_MIN; /* of subnormal values */
    return szgi_spectrum_errors(context, exact ? 0 : error, out);
}

szg_status szgi_spectrum_complete(szg_context *context, const szg_matrix *matrix,
                                  szg_question question, const szg_spectra_options *options,
                                  szg_spectrum *out) {
    SZG_TRY(question == SZG_QUESTION_SINGULAR
                ? szgi_singular_certify(context, matrix, options, out)
                : szgi_spectrum_certify(context, matrix, options, out));
    if (!out->certified)
        out->min = out->max = (szg_interval){NAN, NAN};
    return complete_errors(context, matrix, options, out);
}

szg_status szg_spectrum_compute(szg_context *context, const szg_matrix *matrix,
                                szg_question question, const szg_spectra_options *options,
                                szg_spectrum *out) {
    szgi_selection checked;
    szg_spectra_options own;
    memset(out, 0, sizeof *out);
    SZGI_ENTER(context);
    SZG_TRY(SZGI_OPTIONS(context, szg_spectra_options, options, &own));
    if ((int)question < 0 || question >= SZG_QUESTIONS)
        return szgi_fail(context, SZG_EINVAL, "unknown question of a spectrum: %d", (int)question);
    SZG_TRY(szgi_matrix_check(context, matrix));
    SZG_TRY(szgi_selection_of(context, matrix->rows, &own, &checked));
    if ((int)own.certify < 0 || own.certify > SZG_CERTIFY_VALUES)
        return szgi_fail(context, SZG_EINVAL, "unknown extent of certified ends: %d",
                         (int)own.certify);
    if (question != SZG_QUESTION_SINGULAR && matrix->rows != matrix->columns)
        return szgi_fail(context, SZG_EINVAL,
                         "%s of a %" PRId64 " x %" PRId64
                         " matrix: it is not square; ask for its singular values",
                         questions[question], matrix->rows, matrix->columns);
    if (question == SZG_QUESTION_SINGULAR && own.ends > 1)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%" PRId64 " singular values at each end: one is possible, or all",
                         own.ends);
    SZG_TRY(szgi_shared_check(context, matrix, question, &own));
    szgi_solver *solve = solvers[matrix->kind][question];
    if (!solve)
        return refuse(context, matrix, question);
    szg_status status = solve(context, matrix, &own, out);
    if (status == SZG_OK)
        status = szgi_spectrum_complete(context, matrix, question, &own, out);
    return szgi_spectrum_finish(status, out);
}

bool szgi_spectrum_is_cheap(const szg_matrix *matrix) {
    const szg_factored *f = &matrix->of.factored;
    switch (matrix->kind) {
    case SZG_MATRIX_DENSE:
    case SZG_MATRIX_SYMMETRIC:
    case SZG_MATRIX_COMPLEX:
    case SZG_MATRIX_HERMITIAN:
    case SZG_MATRIX_TOEPLITZ:
        return false;
    case SZG_MATRIX_FACTORED:
        return f->causal || !f->bias;
    default:
        return true;
    }
}
