/* Reports of logit matrices, factored or dense. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "spectra/spectra.h"
#include "toeplitz/factored.h"
#include "toeplitz/toeplitz.h"
#include "report_private.h"

static const szg_report_options defaults;

szg_status szgi_report_no_zero(szg_status status, szg_matrix_report *report) {
    if (status != SZG_EDOMAIN)
        return status;
    report->toeplitzness = (szg_tau){NAN, NAN, false};
    szgi_report_note(report, "the zero matrix has no toeplitzness");
    return SZG_OK;
}

szg_status szgi_report_toeplitzness(szg_context *context, const szg_factored *factored,
                                    szg_matrix_report *report) {
    return szgi_report_no_zero(szg_factored_toeplitzness(context, factored, &report->toeplitzness),
                               report);
}

szg_status szgi_report_no_theorem(szg_context *context, szg_matrix_report *report) {
    const szg_hypotheses none = {0};
    SZG_TRY(szg_theorem_select(context, &none, &report->theorem));
    snprintf(report->theorem.sentence, sizeof report->theorem.sentence,
             "no limit theorem: content and logits are no Toeplitz family in N");
    szgi_report_note(report, "%s", report->theorem.sentence);
    return SZG_OK;
}

/* ---- Dense ---- */

bool szgi_report_is_symmetric(double skew, double largest) {
    return skew <= 64 * 0x1p-52 * largest;
}

static szg_status look_for_symmetry(szg_context *context, int64_t n, const double *a, int64_t lda,
                                    bool *symmetric) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < n; j++)
            largest = fmax(largest, fabs(a[i * lda + j]));
    }
    *symmetric = true;
    for (int64_t i = 0; i < n && *symmetric; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < i && *symmetric; j++)
            *symmetric = szgi_report_is_symmetric(fabs(a[i * lda + j] - a[j * lda + i]), largest);
    }
    return SZG_OK;
}

static szg_status dense_spectra(szg_context *context, int64_t n, const double *a, int64_t lda,
                                const szg_report_options *options, szg_matrix_report *report) {
    bool symmetric;
    SZG_TRY(look_for_symmetry(context, n, a, lda, &symmetric));
    if (symmetric)
        return szg_spectra_symmetric(context, n, a, lda, NULL, &report->eigenvalues);
    report->hermitian_part = options->hermitian_part;
    if (options->hermitian_part)
        SZG_TRY(szgi_spectra_hermitian_part(context, n, a, lda, NULL, &report->eigenvalues));
    else if (options->all || options->dense || n <= SZG_REPORT_GENERAL_LIMIT)
        SZG_TRY(szg_spectra_general(context, n, a, lda, &report->eigenvalues));
    else
        szgi_report_note(report, "complex eigenvalues above N = %d only with all of them",
                         SZG_REPORT_GENERAL_LIMIT);
    return szg_spectra_singular(context, n, n, a, lda, NULL, &report->singular);
}

szg_status szgi_report_part_symbol(szg_context *context, const szg_toeplitz *part,
                                   const szg_report_options *options, szg_matrix_report *report) {
    if (isnan(report->toeplitzness.value) || options->no_symbol ||
        szg_toeplitz_size(part) > SZG_SYMBOL_RANGE_LIMIT)
        return SZG_OK;
    report->toeplitz_part = true;
    return szgi_report_symbol(context, part, options, true, report);
}

static szg_status dense_toeplitz_part(szg_context *context, int64_t n, const double *a, int64_t lda,
                                      const szg_report_options *options,
                                      szg_matrix_report *report) {
    szg_toeplitz *part;
    SZG_TRY(
        szgi_report_no_zero(szg_toeplitzness(context, n, a, lda, &report->toeplitzness), report));
    SZG_TRY(szgi_toeplitz_project(context, n, a, lda, &part));
    szg_status status = szgi_report_part_symbol(context, part, options, report);
    szg_toeplitz_close(&part);
    return status;
}

szg_status szgi_report_dense(szg_context *context, int64_t n, const double *a, int64_t lda,
                             const char *name, const szg_report_options *options,
                             szg_matrix_report *out) {
    *out = (szg_matrix_report){.matrix = name};
    options = options ? options : &defaults;
    szg_status status;
    SZG_TRY_GOTO(status, dense_spectra(context, n, a, lda, options, out), done);
    SZG_TRY_GOTO(status, szgi_report_summarise(context, n, out), done);
    SZG_TRY_GOTO(status, szgi_report_no_theorem(context, out), done);
    status = dense_toeplitz_part(context, n, a, lda, options, out);
done:
    if (status != SZG_OK)
        szg_matrix_report_close(out);
    return status;
}

/* ---- Factored ---- */

/* A = scale B up to rounding of the entries: then A B^T is symmetric. */
static bool proportional(const szg_factored *f, double *scale) {
    double largest_a = 0, largest_b = 0;
    *scale = 0;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->d; j++) {
            largest_a = fmax(largest_a, fabs(f->a[i * f->lda + j]));
            if (fabs(f->b[i * f->ldb + j]) > largest_b) {
                largest_b = fabs(f->b[i * f->ldb + j]);
                *scale = f->a[i * f->lda + j] / f->b[i * f->ldb + j];
            }
        }
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->d; j++)
            if (!(fabs(f->a[i * f->lda + j] - *scale * f->b[i * f->ldb + j]) <=
                  16 * 0x1p-52 * largest_a))
                return false;
    return true;
}

static szg_status dense_report(szg_context *context, const szg_factored *f,
                               const szg_report_options *options, szg_matrix_report *report) {
    double *dense;
    SZG_TRY(
        szgi_report_form_dense(context, f, "dense logits", "leave --dense or --all out", &dense));
    szg_status status = dense_spectra(context, f->n, dense, f->n, options, report);
    szgi_memory_free(dense);
    return status;
}

/* Not symmetric: eigenvalues where they are affordable, singular values besides. */
static szg_status general_spectra(szg_context *context, const szg_factored *f,
                                  const szg_report_options *options, szg_matrix_report *report) {
    bool low_rank = !f->bias && !f->causal;
    bool whole = low_rank || options->all || f->n <= SZG_REPORT_ALL_LIMIT;
    szg_spectra_options part = {.want = whole ? SZG_WANT_ALL : SZG_WANT_RANGE};
    if (options->hermitian_part)
        SZG_TRY(szgi_spectra_factored_hermitian_part(context, f, &part, &report->eigenvalues));
    else if (low_rank || f->causal || options->all || f->n <= SZG_REPORT_GENERAL_LIMIT)
        SZG_TRY(szg_spectra_factored_eigen(context, f, NULL, &report->eigenvalues));
    else
        szgi_report_note(report, "complex eigenvalues above N = %d only with all of them",
                         SZG_REPORT_GENERAL_LIMIT);
    return szg_spectra_factored_singular(context, f, &part, &report->singular);
}

static szg_status factored_spectra(szg_context *context, const szg_factored *f,
                                   const szg_report_options *options, szg_matrix_report *report) {
    double scale = 0;
    bool whole = options->all || f->n <= SZG_REPORT_ALL_LIMIT;
    bool balanced = !f->causal && (!f->bias || szgi_toeplitz_is_hermitian(f->bias)) &&
                    (f->d == 0 || proportional(f, &scale));
    if (options->dense || (balanced && f->bias && whole))
        return dense_report(context, f, options, report);
    if (balanced && !f->bias && f->d > 0)
        return szgi_report_gram(context, f->n, f->d, f->b, f->ldb, scale, &report->eigenvalues);
    report->hermitian_part = options->hermitian_part && !balanced;
    return general_spectra(context, f, options, report);
}

static szg_status factored_toeplitz_part(szg_context *context, const szg_factored *f,
                                         const szg_report_options *options,
                                         szg_matrix_report *report) {
    SZG_TRY(szgi_report_toeplitzness(context, f, report));
    if (options->no_symbol || isnan(report->toeplitzness.value))
        return SZG_OK;
    if (f->n > SZG_SYMBOL_RANGE_LIMIT) {
        szgi_report_note(report, "no symbol range of the Toeplitz part above N = %d",
                         SZG_SYMBOL_RANGE_LIMIT);
        return SZG_OK;
    }
    szg_toeplitz *part;
    SZG_TRY(szgi_factored_toeplitz_part(context, f, &part));
    report->toeplitz_part = true;
    szg_status status = szgi_report_symbol(context, part, options, true, report);
    szg_toeplitz_close(&part);
    return status;
}

szg_status szg_report_factored(szg_context *context, const szg_factored *factored, const char *name,
                               const szg_report_options *options, szg_matrix_report *out) {
    *out = (szg_matrix_report){.matrix = name};
    options = options ? options : &defaults;
    szg_status status;
    SZG_TRY_GOTO(status, factored_spectra(context, factored, options, out), done);
    SZG_TRY_GOTO(status, szgi_report_summarise(context, factored->n, out), done);
    SZG_TRY_GOTO(status, szgi_report_no_theorem(context, out), done);
    status = factored_toeplitz_part(context, factored, options, out);
done:
    if (status != SZG_OK)
        szg_matrix_report_close(out);
    return status;
}
