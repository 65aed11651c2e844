/* What the suites of this room share. */
#ifndef SZG_TESTS_CONTRACTION_SUPPORT_H
#define SZG_TESTS_CONTRACTION_SUPPORT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rounding.h"
#include "suite.h"
#include "contraction/contraction.h"
#include "base/memory.h"

static const double EPS = 0x1p-52;

/* How far a ratio of two numbers is off, to first order, where they are off by these. */
static inline double quotient_error(double ratio, double below, double above_error,
                                    double below_error) {
    return (above_error + fabs(ratio) * below_error) / below;
}

/* What the eigen- or singular values of both matrices may be off by. */
static inline double content_error(const szg_contraction *c) {
    return weyl(c->n, c->content.summary.frobenius);
}

static inline double coupled_error(const szg_contraction *c) {
    return weyl(c->n, c->coupled.summary.frobenius);
}

static inline szg_encoding *encoding_of(const char *spec) {
    szg_encoding *encoding;
    ck_szg_ok(szg_encoding_parse(test_context(), spec, &encoding));
    return encoding;
}

static inline szg_content *content_of(const char *spec) {
    szg_content *content;
    ck_szg_ok(szg_content_parse(test_context(), spec, test_seed(), &content));
    return content;
}

static inline int descending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* The verbs, of views that were just made. */
static inline szg_status summarise(szg_context *context, szg_matrix matrix, const char *name,
                                   const szg_report_options *options, szg_matrix_report *out) {
    matrix.name = name;
    return szg_summary_compute(context, &matrix, options, out);
}

/* Of any numbers: whether a caller's are logits is not asked. */
static inline szg_status contracted(szg_context *context, szg_matrix content, szg_matrix coupled,
                                    const szg_report_options *options, szg_contraction *out) {
    szg_spectrum unknown[2] = {{0}};
    return szgi_contraction_compute(context, content.kind == SZG_MATRIX_NONE ? NULL : &content,
                                    &coupled, options, unknown, out);
}

/* Summary, or symbol alone, of an encoding's own matrix. */
static inline szg_status summarise_kernel(szg_context *context, const szg_encoding *encoding,
                                          int64_t head, int64_t index, int64_t n,
                                          const szg_report_options *options,
                                          szg_matrix_report *out) {
    szg_matrix matrix;
    *out = (szg_matrix_report){0};
    SZG_TRY(szg_encoding_matrix(context, encoding, head, index, n, &matrix));
    szg_status status = szg_summary_compute(context, &matrix, options, out);
    szg_matrix_close(&matrix);
    return status;
}

static inline szg_status symbol_of_kernel(szg_context *context, const szg_encoding *encoding,
                                          int64_t head, int64_t index, int64_t n,
                                          const szg_report_options *options,
                                          szg_matrix_report *out) {
    szg_matrix matrix;
    *out = (szg_matrix_report){0};
    SZG_TRY(szg_encoding_matrix(context, encoding, head, index, n, &matrix));
    szg_status status = szg_symbol_compute(context, &matrix, options, out);
    szg_matrix_close(&matrix);
    return status;
}

/* All n values of a real spectrum, largest first. */
static inline void values_of(const szg_spectrum *spectrum, double *out) {
    ck_assert(spectrum->kind != SZG_SPECTRUM_NONE);
    ck_assert_ptr_null(spectrum->im);
    ck_assert_int_eq(spectrum->count + spectrum->zeros, spectrum->n);
    for (int64_t i = 0; i < spectrum->n; i++)
        out[i] = i < spectrum->count ? spectrum->re[i] : 0;
    qsort(out, (size_t)spectrum->n, sizeof *out, descending);
}

#endif
