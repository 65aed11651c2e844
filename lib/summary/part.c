/* The Toeplitz part of a matrix that is not Toeplitz: how much of it, and its symbol. */
#include <math.h>

#include "network/network.h"
#include "toeplitz/factored.h"
#include "toeplitz/matrix.h"
#include "toeplitz/toeplitz.h"
#include "report_private.h"

static szg_status no_zero(szg_status status, szg_matrix_report *report) {
    if (status != SZG_EDOMAIN)
        return status;
    report->toeplitzness = (szg_tau){NAN, NAN, false};
    szgi_report_note(report, "the zero matrix has no toeplitzness");
    return SZG_OK;
}

szg_status szgi_report_toeplitzness(szg_context *context, const szg_factored *factored,
                                    szg_matrix_report *report) {
    return no_zero(szg_factored_toeplitzness(context, factored, &report->toeplitzness), report);
}

/* The symbol, unless the options or the order forbid it. */
static szg_status part_symbol(szg_context *context, const szg_toeplitz *part,
                              const szg_report_options *options, szg_matrix_report *report) {
    if (isnan(report->toeplitzness.value) || options->no_symbol ||
        szg_toeplitz_size(part) > SZG_SYMBOL_RANGE_LIMIT)
        return SZG_OK;
    report->toeplitz_part = true;
    return szgi_report_symbol(context, part, options, true, report);
}

static szg_status split_dense(szg_context *context, const szg_matrix *matrix,
                              szg_matrix_report *report, szg_toeplitz **part) {
    const double *a = matrix->of.dense.a;
    int64_t n = matrix->rows, lda = matrix->of.dense.lda;
    SZG_TRY(no_zero(szg_toeplitzness(context, n, a, lda, &report->toeplitzness), report));
    return szgi_toeplitz_project(context, n, a, lda, part);
}

static szg_status split_complex(szg_context *context, const szg_matrix *matrix,
                                szg_matrix_report *report, szg_toeplitz **part) {
    const szg_c64 *a = matrix->of.complex_dense.a;
    int64_t n = matrix->rows, lda = matrix->of.complex_dense.lda;
    SZG_TRY(no_zero(szgi_toeplitzness_complex(context, n, a, lda, &report->toeplitzness), report));
    return szgi_toeplitz_project_complex(context, n, a, lda, part);
}

static szg_status split_device(szg_context *context, const szg_matrix *matrix,
                               szg_matrix_report *report, szg_toeplitz **part) {
    const szgi_logit_numbers *x = matrix->of.numbers;
    SZG_TRY(szgi_toeplitz_open_means(context, matrix->rows, x->means, part));
    return no_zero(
        szgi_toeplitzness_of_parts(context, *part, x->rest_frobenius, &report->toeplitzness),
        report);
}

static szg_status split_factored(szg_context *context, const szg_matrix *matrix,
                                 const szg_report_options *options, szg_matrix_report *report,
                                 szg_toeplitz **part) {
    const szg_factored *f = &matrix->of.factored;
    SZG_TRY(szgi_report_toeplitzness(context, f, report));
    if (options->no_symbol || isnan(report->toeplitzness.value))
        return SZG_OK;
    if (f->n > SZG_SYMBOL_RANGE_LIMIT) {
        szgi_report_note(report, "no symbol range of the Toeplitz part above N = %d",
                         SZG_SYMBOL_RANGE_LIMIT);
        return SZG_OK;
    }
    return szgi_factored_toeplitz_part(context, f, part);
}

szg_status szgi_report_part(szg_context *context, const szg_matrix *matrix,
                            const szg_report_options *options, szg_matrix_report *report) {
    szg_toeplitz *part = NULL;
    szg_status status =
        matrix->kind == SZG_MATRIX_FACTORED
            ? split_factored(context, matrix, options, report, &part)
        : matrix->kind == SZG_MATRIX_DEVICE ? split_device(context, matrix, report, &part)
        : szgi_matrix_is_complex(matrix)    ? split_complex(context, matrix, report, &part)
                                            : split_dense(context, matrix, report, &part);
    if (status == SZG_OK && part)
        status = part_symbol(context, part, options, report);
    szg_toeplitz_close(&part);
    return status;
}
