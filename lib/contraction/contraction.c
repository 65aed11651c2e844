/* Contraction reports: two matrices, their spectra, and the ratios between them. */
#include <math.h>
#include <string.h>

#include "contraction/contraction.h"
#include "base/memory.h"
#include "base/options.h"
#include "coupling/look.h"
#include "encoding/encoding.h"
#include "theory/theory.h"
#include "toeplitz/matrix.h"
#include "summary/report_private.h"
#include "summary/summary.h"

void szg_contraction_close(szg_contraction *contraction) {
    if (!contraction)
        return;
    szg_matrix_report_close(&contraction->content);
    szg_matrix_report_close(&contraction->coupled);
    *contraction = (szg_contraction){0};
}

/* ---- Ratios ---- */

/* All n values, structural zeros included; NULL where some are not listed or not real. */
static szg_status expand(szg_context *context, const szg_spectrum *spectrum, double **out) {
    *out = NULL;
    if (!spectrum->kind || spectrum->im || spectrum->count + spectrum->zeros != spectrum->n)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, spectrum->n, out));
    if (spectrum->count)
        memcpy(*out, spectrum->re, (size_t)spectrum->count * sizeof **out);
    return SZG_OK;
}

/* Singular values: listed ones, or the moduli of a normal matrix's eigenvalues. */
static szg_status expand_singular(szg_context *context, const szg_matrix_report *report,
                                  double **out) {
    if (report->singular.kind)
        return expand(context, &report->singular, out);
    *out = NULL;
    if (!report->eigenvalues.normal)
        return SZG_OK;
    SZG_TRY(expand(context, &report->eigenvalues, out));
    for (int64_t i = 0; *out && i < report->eigenvalues.n; i++)
        (*out)[i] = fabs((*out)[i]);
    return SZG_OK;
}

/* Eigenvalues are those of symmetric matrices, if need be of the Hermitian part: complex ones have
 * no order to compare, and the diagonal of a masked matrix says nothing of its size. */
static szg_status compared(szg_context *context, const szg_report_options *options,
                           szg_report_options *out) {
    SZG_TRY(SZGI_OPTIONS(context, szg_report_options, options, out));
    out->hermitian_part = true;
    return SZG_OK;
}

/* Backward stable solvers: an eigenvalue of a symmetric matrix is off by n eps ||A||_2 at most (in
 * practice far less); by as much again where the entries are off by eps themselves. */
static double value_error(const szg_contraction *c, double precision) {
    return (double)c->n * fmax(precision, 0x1p-52) *
           fmax(c->content.summary.sigma_max, c->coupled.summary.sigma_max);
}

static szg_status fill_ratios(szg_context *context, double precision, szg_contraction *c) {
    enum { CONTENT_VALUES, COUPLED_VALUES, CONTENT_SINGULAR, COUPLED_SINGULAR, ARRAYS };
    double *array[ARRAYS] = {0};
    szg_status status;
    SZG_TRY_GOTO(status, expand(context, &c->content.eigenvalues, &array[CONTENT_VALUES]), done);
    SZG_TRY_GOTO(status, expand(context, &c->coupled.eigenvalues, &array[COUPLED_VALUES]), done);
    SZG_TRY_GOTO(status, expand_singular(context, &c->content, &array[CONTENT_SINGULAR]), done);
    SZG_TRY_GOTO(status, expand_singular(context, &c->coupled, &array[COUPLED_SINGULAR]), done);
    bool real = array[CONTENT_VALUES] && array[COUPLED_VALUES];
    szgi_contraction_input input = {
        .eigenvalues = real ? c->n : 0,
        .content_eigenvalues = real ? array[CONTENT_VALUES] : NULL,
        .coupled_eigenvalues = real ? array[COUPLED_VALUES] : NULL,
        .content_values = array[CONTENT_SINGULAR] ? c->n : 0,
        .coupled_values = array[COUPLED_SINGULAR] ? c->n : 0,
        .content_singular = array[CONTENT_SINGULAR],
        .coupled_singular = array[COUPLED_SINGULAR],
        .error = value_error(c, precision),
    };
    if (!(input.error >= 0))
        input.error = 0;
    status = szgi_contraction_ratios_of(context, &input, &c->ratios);
    /* Partial spectra still have their ends. */
    if (status == SZG_OK && isnan(c->ratios.norm) && c->content.summary.sigma_max > 0)
        c->ratios.norm = c->coupled.summary.sigma_max / c->content.summary.sigma_max;
    if (status == SZG_OK && isnan(c->ratios.width) && c->content.summary.width > 0)
        c->ratios.width = c->coupled.summary.width / c->content.summary.width;
done:
    for (int i = 0; i < ARRAYS; i++)
        szgi_memory_free(array[i]);
    return status;
}

/* Where a dense matrix has fewer dimensions than order, its least computed singular value is
 * rounding. */
static void drop_noise(double precision, szg_matrix_report *report) {
    const szg_summary *summary = &report->summary;
    double error = (double)summary->n * fmax(precision, 0x1p-52) * summary->sigma_max;
    if (!(summary->sigma_max > 0) || !(summary->sigma_min <= error))
        return;
    szgi_report_drop_noise(error, "rounding, n eps sigma_max", report);
}

static szg_status summarise(szg_context *context, const szg_matrix *given, const char *name,
                            const szg_report_options *options, szg_spectrum *eigenvalues,
                            szg_matrix_report *out) {
    szg_matrix matrix = *given;
    matrix.name = name;
    SZG_TRY(szgi_summary_compute(context, &matrix, options, eigenvalues, out));
    if (szgi_matrix_is_dense(given))
        drop_noise(options->precision, out);
    return SZG_OK;
}

szg_status szgi_contraction_compute(szg_context *context, const szg_matrix *content,
                                    const szg_matrix *coupled, const szg_report_options *options,
                                    szg_spectrum eigenvalues[2], szg_contraction *out) {
    szg_report_options own;
    szg_status status = SZG_OK;
    *out = (szg_contraction){.ratios = {.width = NAN, .norm = NAN, .nuclear = NAN}};
    SZG_TRY(compared(context, options, &own));
    SZG_TRY(szgi_matrix_check(context, coupled));
    if (content)
        SZG_TRY(szgi_matrix_check(context, content));
    out->n = coupled->rows;
    if (content && content->rows != coupled->rows)
        return szgi_fail(context, SZG_EINVAL,
                         "content of order %lld against coupled logits of order %lld",
                         (long long)content->rows, (long long)coupled->rows);
    if (content)
        SZG_TRY(summarise(context, content, "content", &own, &eigenvalues[0], &out->content));
    SZG_TRY_GOTO(status,
                 summarise(context, coupled, "logits", &own, &eigenvalues[1], &out->coupled),
                 failed);
    if (content)
        SZG_TRY_GOTO(status, fill_ratios(context, own.precision, out), failed);
    return SZG_OK;
failed:
    szg_contraction_close(out);
    return status;
}

szg_status szg_contraction_compute(szg_context *context, const szg_matrix *content,
                                   const szg_matrix *coupled, const szg_report_options *options,
                                   szg_contraction *out) {
    static const char remedy[] = "put 0 where a causal mask hides the future, and cut padding off";
    SZGI_ENTER(context);
    *out = (szg_contraction){.ratios = {.width = NAN, .norm = NAN, .nuclear = NAN}};
    for (int i = 0; i < 2; i++) {
        const szg_matrix *matrix = i ? coupled : content;
        if (!matrix)
            continue;
        SZG_TRY(szgi_matrix_check(context, matrix));
        SZG_TRY(szgi_logits_look(context, matrix, i ? "coupled" : "content", false, remedy));
    }
    szg_spectrum unknown[2] = {{0}};
    return szgi_contraction_compute(context, content, coupled, options, unknown, out);
}

const char *szg_contraction_content_kind(const szg_encoding *encoding) {
    return szgi_encoding_attaches(encoding) & SZGI_ATTACH_INPUT ? "zeroed" : "same_qk";
}
