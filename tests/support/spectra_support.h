/* Oracles that the suites of this room share. */
#ifndef SZG_TESTS_SPECTRA_SUPPORT_H
#define SZG_TESTS_SPECTRA_SUPPORT_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "spectra/spectra.h"
#include "toeplitz/toeplitz.h"
#include "base/memory.h"

#include "rounding.h"
#include "suite.h"
#include "tested_backend.h"

/* docs/explanation/methods.md: the residual of LAPACK's values that are not refused. */
static inline double residual_limit(int64_t n) {
    return 64 * (double)n * DBL_EPSILON;
}

static inline void *get(int64_t count, size_t size) {
    void *block;
    ck_szg_ok(szgi_memory_take(test_context(), count, size, &block));
    return block;
}

/* A context of its own for oracles: what a test has opened stays with the backend under test. It
 * lives as long as the program. */
static inline szg_context *oracle_context(const char *backend) {
    static szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    if (!context)
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_backend_select(context, backend), SZG_OK);
    return context;
}

/* All eigenvalues of a symmetric array by the reference backend's Jacobi up to order 40, beyond it
 * by LAPACK; `a` is destroyed. */
static inline void oracle_symmetric(int64_t n, double *a, double *w) {
    szg_context *ctx = oracle_context(n <= 40 ? "reference" : "cpu");
    ck_assert_int_eq(szgi_eigen_symmetric(ctx, n, a, n, w, false), SZG_OK);
}

/* The same of [lags_|i-j|]; returns the Frobenius norm. */
static inline double oracle_toeplitz(int64_t n, const double *lags, double *w) {
    double *a = get(n * n, sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = lags[i > j ? i - j : j - i];
    double norm = norm_of(n * n, a);
    oracle_symmetric(n, a, w);
    szgi_memory_free(a);
    return norm;
}

/* The verb's three questions of a view that was just made. */
static inline szg_status eigenvalues_of(szg_context *context, szg_matrix matrix,
                                        const szg_spectra_options *options, szg_spectrum *out) {
    return szg_spectrum_compute(context, &matrix, SZG_QUESTION_EIGENVALUES, options, out);
}

static inline szg_status singular_of(szg_context *context, szg_matrix matrix,
                                     const szg_spectra_options *options, szg_spectrum *out) {
    return szg_spectrum_compute(context, &matrix, SZG_QUESTION_SINGULAR, options, out);
}

static inline szg_status part_of(szg_context *context, szg_matrix matrix,
                                 const szg_spectra_options *options, szg_spectrum *out) {
    return szg_spectrum_compute(context, &matrix, SZG_QUESTION_HERMITIAN_PART, options, out);
}

/* The spectrum, its structural zeros included, against n ascending values. */
static inline void check_values(const szg_spectrum *s, int64_t n, const double *want,
                                double bound) {
    ck_assert_int_eq(s->n, n);
    ck_assert_int_eq(s->count + s->zeros, n);
    ck_assert_ptr_null(s->im);
    double *all = get(n, sizeof *all);
    int64_t below = 0;
    while (below < s->count && s->re[below] < 0)
        below++;
    for (int64_t i = 0; i < below; i++)
        all[i] = s->re[i];
    for (int64_t i = below; i < s->count; i++)
        all[i + s->zeros] = s->re[i];
    for (int64_t i = 0; i < n; i++)
        ck_close(all[i], want[i], bound);
    szgi_memory_free(all);
}

/* What every spectrum promises, and what trace and Frobenius norm say. */
static inline void check_promises(const szg_spectrum *s, double bound) {
    ck_assert_ptr_nonnull(s->residual_meaning);
    ck_assert_ptr_nonnull(szg_method_name(s->method));
    ck_assert(isfinite(s->residual) && s->residual >= 0);
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++) {
        sum += s->re[i];
        ck_assert(i == 0 || s->re[i - 1] <= s->re[i]);
    }
    if (s->count + s->zeros != s->n)
        return;
    if (!isnan(s->trace))
        ck_close(sum, s->trace, (double)s->n * bound);
    if (!isnan(s->frobenius))
        ck_close(norm_of(s->count, s->re), s->frobenius, sqrt((double)s->n) * bound);
}

#endif
