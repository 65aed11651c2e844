/* Which spectra a summary asks for. Which solver answers is decided in lib/spectra. */
#include <math.h>

#include "base/memory.h"
#include "spectra/spectra.h"
#include "toeplitz/factored.h"
#include "toeplitz/matrix.h"
#include "report_private.h"

/* A closed form lists any number of values fast; the table of them is what does not fit. */
static szg_status require_list(szg_context *context, const szg_matrix *matrix,
                               const szg_report_options *options) {
    enum { BYTES_LISTED = 200 }; /* a value, and its row of ten cells while the table grows */
    if (!options->all || !szgi_spectrum_is_closed(matrix))
        return SZG_OK;
    return szgi_memory_require(context, matrix->rows, 1, BYTES_LISTED,
                               "the table of all eigenvalues",
                               "leave --all out for the range, or take a smaller N");
}

/* Of the Hermitian part, or of the matrix where they are affordable. */
static szg_status ask_eigenvalues(szg_context *context, const szg_matrix *matrix, bool of_part,
                                  const szg_report_options *options,
                                  const szg_spectra_options *part, szg_matrix_report *report) {
    int64_t n = matrix->rows;
    bool dense = szgi_matrix_is_dense(matrix), cheap = szgi_spectrum_is_cheap(matrix);
    if (of_part)
        return szg_spectrum_compute(context, matrix, SZG_QUESTION_HERMITIAN_PART, part,
                                    &report->eigenvalues);
    if (cheap || options->all || (dense && options->dense) || n <= SZG_REPORT_GENERAL_LIMIT)
        return szg_spectrum_compute(context, matrix, SZG_QUESTION_EIGENVALUES, NULL,
                                    &report->eigenvalues);
    szgi_report_note(report, "complex eigenvalues above N = %d only with all of them",
                     SZG_REPORT_GENERAL_LIMIT);
    return SZG_OK;
}

/* Real eigenvalues of a normal matrix tell all; otherwise eigenvalues where they are affordable,
 * singular values besides. Eigenvalues that the report holds are not asked for again. */
static szg_status ask(szg_context *context, const szg_matrix *matrix,
                      const szg_report_options *options, szg_matrix_report *report) {
    int64_t n = matrix->rows;
    bool dense = szgi_matrix_is_dense(matrix), cheap = szgi_spectrum_is_cheap(matrix), hermitian;
    bool whole = dense || options->all || options->dense || n <= SZG_REPORT_ALL_LIMIT;
    bool of_part = options->hermitian_part || matrix->kind == SZG_MATRIX_DEVICE;
    szg_spectra_options part = {SZG_INIT(szg_spectra_options),
                                .want = whole ? SZG_WANT_ALL : SZG_WANT_RANGE,
                                .dense = options->dense, .certify = options->certify};
    bool known = report->eigenvalues.kind != SZG_SPECTRUM_NONE;
    SZG_TRY(require_list(context, matrix, options));
    SZG_TRY(szgi_matrix_is_hermitian(context, matrix, &hermitian));
    if (hermitian && (matrix->kind != SZG_MATRIX_FACTORED || cheap || whole)) {
        szg_matrix symmetric = *matrix;
        if (symmetric.kind == SZG_MATRIX_DENSE)
            symmetric.kind = SZG_MATRIX_SYMMETRIC; /* spares a second look */
        return known ? SZG_OK
                     : szg_spectrum_compute(context, &symmetric, SZG_QUESTION_EIGENVALUES, &part,
                                            &report->eigenvalues);
    }
    report->hermitian_part = of_part && !hermitian;
    if (!known)
        SZG_TRY(ask_eigenvalues(context, matrix, of_part, options, &part, report));
    return szg_spectrum_compute(context, matrix, SZG_QUESTION_SINGULAR, &part, &report->singular);
}

static szg_status ask_dense(szg_context *context, const szg_factored *f,
                            const szg_report_options *options, szg_matrix_report *report) {
    double *array;
    int64_t n = f->n, size;
    SZG_TRY(szgi_memory_product(context, n, n, &size));
    SZG_TRY(
        szgi_memory_require(context, n, n, sizeof *array, "the dense matrix", "leave --dense out"));
    SZG_TRY(szgi_memory_alloc(context, size, &array));
    szg_matrix matrix = szg_matrix_dense(n, n, array, n);
    szg_status status = szgi_factored_dense(context, f, array, n);
    if (status == SZG_OK)
        status = ask(context, &matrix, options, report);
    szgi_memory_free(array);
    return status;
}

/* Where a proof was asked for and is none, a row says why. */
static void note_eigenvalues(const szg_spectrum *values, bool every, szg_matrix_report *report) {
    bool triangular = values->method == SZG_METHOD_TRIANGULAR;
    if (every && values->certified && !values->lo)
        szgi_report_note(report, "bounds of the ends alone: no proof of each eigenvalue is known "
                                 "for this structure");
    if (values->certified)
        return;
    bool general = !values->kind || values->im || !values->normal;
    szgi_report_note(report, "no certified range of the eigenvalues: %s",
                     general ? "the matrix is not Hermitian"
                     : values->count > 0 &&
                             (isnan(values->re[0]) || isnan(values->re[values->count - 1]))
                         ? "an end of the spectrum could not be established"
                         : "no proof is known for this structure");
    if (values->kind && general && !triangular)
        szgi_report_note(report, "the eigenvalues are exact for a matrix within the residual; "
                                 "their distance to the spectrum is unknown");
}

/* `needed` of sigma_max is what a proof takes. */
static void note_least(szg_interval min, const char *needed, szg_matrix_report *report) {
    if (min.lo == 0 && min.hi > 0)
        szgi_report_note(
            report, "sigma_min_lo is 0: a value below about %s has no proven lower bound", needed);
}

static void note_singular(const szg_spectrum *values, bool every, szg_matrix_report *report) {
    szg_interval min, max;
    if (!values->kind && szgi_spectrum_moduli(&report->eigenvalues, &min, &max))
        note_least(min, every ? "n u sigma_max" : "n^2 u sigma_max (with --all n u sigma_max)",
                   report);
    if (!values->kind)
        return;
    if (!values->certified)
        szgi_report_note(report, "no certified range of the singular values: %s",
                         values->count > 0 && isnan(values->re[0])
                             ? "the largest one could not be established"
                             : "no proof is known for this structure");
    else
        note_least(values->min,
                   every ? "n u sigma_max" : "n sqrt(u) sigma_max (with --all n u sigma_max)",
                   report);
}

static void note_certificate(const szg_report_options *options, szg_matrix_report *report) {
    bool every = options->certify == SZG_CERTIFY_VALUES;
    if (options->certify < SZG_CERTIFY_ENDS)
        return;
    note_eigenvalues(&report->eigenvalues, every, report);
    note_singular(&report->singular, every, report);
}

szg_status szgi_report_spectra(szg_context *context, const szg_matrix *matrix,
                               const szg_report_options *options, szg_matrix_report *report) {
    SZG_TRY(options->dense && matrix->kind == SZG_MATRIX_FACTORED
                ? ask_dense(context, &matrix->of.factored, options, report)
                : ask(context, matrix, options, report));
    note_certificate(options, report);
    return SZG_OK;
}
