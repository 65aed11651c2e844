/* The verbs: summary and symbol of one matrix. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/options.h"
#include "spectra/spectra.h"
#include "toeplitz/matrix.h"
#include "toeplitz/toeplitz.h"
#include "report_private.h"
#include "summary.h"

/* Square roots of noise are no least singular value. */
static void note_device(szg_matrix_report *report) {
    double error = szgi_squares_error(report->summary.n, report->singular.frobenius);
    if (report->singular.kind == SZG_SPECTRUM_NONE) {
        szgi_report_note(report, "spectra by a device");
        return;
    }
    szgi_report_note(
        report, "spectra by a device; singular values from L^T L, off by at most %.2g each", error);
    if (!(report->summary.sigma_min > error))
        szgi_report_drop_noise(error, "the error of the singular values", report);
}

/* ---- Theorems of matrices that belong to no encoding ---- */

/* The answer is that of "not Toeplitz"; a single matrix may be Toeplitz all the same, so the
 * sentence speaks of the family. */
static szg_status no_theorem(szg_context *context, szg_matrix_report *report) {
    const szg_hypotheses none = {0};
    SZG_TRY(szg_theorem_select(context, &none, &report->theorem));
    snprintf(report->theorem.sentence, sizeof report->theorem.sentence,
             "no limit theorem: content and logits are not a Toeplitz family in N");
    return SZG_OK;
}

/* The family is that of the same lags, rho or frequencies at every N. */
static szg_status theorem(szg_context *context, const szg_matrix *matrix,
                          szg_matrix_report *report) {
    szg_hypotheses known = {.toeplitz = true, .hermitian = true};
    if (!szgi_matrix_is_toeplitz(matrix))
        return no_theorem(context, report);
    if (matrix->kind == SZG_MATRIX_TOEPLITZ)
        return szg_theorem_of_toeplitz(context, matrix->of.toeplitz, &report->theorem);
    known.zero = known.finite_degree = matrix->kind == SZG_MATRIX_ZERO;
    known.summable = known.bounded = known.integrable =
        known.zero || szgi_spectrum_is_summable(matrix);
    return szg_theorem_select(context, &known, &report->theorem);
}

/* ---- The symbol of matrices that are Toeplitz, and belong to no encoding ---- */

static szg_status toeplitz_symbol(szg_context *context, const szg_matrix *matrix,
                                  const szg_report_options *options, szg_matrix_report *report) {
    szg_report_options own = *options;
    if (matrix->kind != SZG_MATRIX_TOEPLITZ)
        return szgi_fail(context, SZG_EDOMAIN,
                         "the symbol of a %s matrix: open its lags by szg_toeplitz_open_symmetric "
                         "and ask for that of szg_matrix_toeplitz",
                         szg_matrix_kind_name(matrix->kind));
    if (own.convention != SZG_SYMBOL_FEJER && own.convention != SZG_SYMBOL_TRUNCATED)
        return szgi_fail(context, SZG_EDOMAIN,
                         "a Toeplitz matrix has no symbol in closed form; conventions: truncated, "
                         "fejer");
    return szgi_report_symbol(context, matrix->of.toeplitz, &own, false, report);
}

static szg_status toeplitz_part(szg_context *context, const szg_matrix *matrix,
                                const szg_report_options *options, szg_matrix_report *report) {
    bool zero = report->summary.sigma_max == 0;
    if (!szgi_matrix_is_toeplitz(matrix))
        return szgi_report_part(context, matrix, options, report);
    report->toeplitzness = zero ? (szg_tau){NAN, NAN, false} : (szg_tau){1, 0, false};
    if (zero)
        szgi_report_note(report, "the zero matrix has no toeplitzness");
    if (options->no_symbol || matrix->kind != SZG_MATRIX_TOEPLITZ)
        return SZG_OK;
    return toeplitz_symbol(context, matrix, options, report);
}

/* ---- The verbs ---- */

static szg_status summarise(szg_context *context, const szg_matrix *matrix,
                            const szg_report_options *options, szg_matrix_report *report) {
    SZG_TRY(szgi_report_spectra(context, matrix, options, report));
    SZG_TRY(szgi_report_summarise(context, matrix->rows, report));
    if (matrix->kind == SZG_MATRIX_DEVICE)
        note_device(report);
    SZG_TRY(theorem(context, matrix, report));
    szgi_report_note(report, "%s", report->theorem.sentence);
    return toeplitz_part(context, matrix, options, report);
}

static szg_status open_report(szg_context *context, const szg_matrix *matrix,
                              szg_matrix_report *out) {
    SZG_TRY(szgi_matrix_check(context, matrix));
    if (matrix->rows != matrix->columns)
        return szgi_fail(context, SZG_EINVAL,
                         "the summary of a %" PRId64 " x %" PRId64
                         " matrix: it is not square; szg_spectrum_compute has its singular values",
                         matrix->rows, matrix->columns);
    out->matrix = matrix->name ? matrix->name : szg_matrix_kind_name(matrix->kind);
    return SZG_OK;
}

/* What nobody proved is NaN. */
static void mark_absent(szg_matrix_report *report) {
    const szg_interval none = {NAN, NAN};
    if (!report->symbol.method)
        report->symbol = (szg_range){none, none, NAN, NAN, NULL};
    if (!report->eigenvalues.certified)
        report->eigenvalues.min = report->eigenvalues.max = none;
    if (!report->singular.certified)
        report->singular.min = report->singular.max = none;
}

static szg_status end_report(szg_context *context, szg_status status, const szg_matrix *matrix,
                             szg_matrix_report *out) {
    const char *name = out->matrix;
    if (status == SZG_OK) {
        mark_absent(out);
        return SZG_OK;
    }
    szg_matrix_report_close(out);
    return matrix->kind == SZG_MATRIX_DEVICE ? szgi_fail_prefix(context, status, "%s", name)
                                             : status;
}

szg_status szgi_summary_compute(szg_context *context, const szg_matrix *matrix,
                                const szg_report_options *options, szg_spectrum *eigenvalues,
                                szg_matrix_report *out) {
    szg_report_options own;
    *out = (szg_matrix_report){0};
    SZG_TRY(SZGI_OPTIONS(context, szg_report_options, options, &own));
    SZG_TRY(open_report(context, matrix, out));
    out->eigenvalues = *eigenvalues;
    *eigenvalues = (szg_spectrum){0};
    szg_status status = matrix->encoding ? szgi_family_summarise(context, matrix, &own, out)
                                         : summarise(context, matrix, &own, out);
    return end_report(context, status, matrix, out);
}

szg_status szg_summary_compute(szg_context *context, const szg_matrix *matrix,
                               const szg_report_options *options, szg_matrix_report *out) {
    SZGI_ENTER(context);
    szg_spectrum unknown = {0};
    return szgi_summary_compute(context, matrix, options, &unknown, out);
}

szg_status szg_symbol_compute(szg_context *context, const szg_matrix *matrix,
                              const szg_report_options *options, szg_matrix_report *out) {
    szg_report_options own;
    *out = (szg_matrix_report){0};
    SZGI_ENTER(context);
    SZG_TRY(SZGI_OPTIONS(context, szg_report_options, options, &own));
    SZG_TRY(open_report(context, matrix, out));
    out->summary.n = matrix->rows;
    szg_status status = matrix->encoding ? szgi_family_symbol(context, matrix, &own, out)
                                         : toeplitz_symbol(context, matrix, &own, out);
    return end_report(context, status, matrix, out);
}
