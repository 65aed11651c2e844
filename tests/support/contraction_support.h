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
