/* What the files of this room share: building a spectrum, choosing what is wanted, checking. */
#ifndef SZG_SPECTRA_PRIVATE_H
#define SZG_SPECTRA_PRIVATE_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "spectra/spectra.h"
#include "toeplitz/toeplitz.h"

/* Which of n ascending values are listed: the first `low` and the last `high`. */
typedef struct szgi_selection {
    int64_t n, low, high;
} szgi_selection;

/* Reads the options (NULL: all) for n >= 1 values. SZG_EINVAL: n < 1, an unknown want. */
SZG_CHECK_RESULT szg_status szgi_selection_of(szg_context *context, int64_t n,
                                              const szg_spectra_options *options,
                                              szgi_selection *out);

static inline int64_t szgi_selection_count(const szgi_selection *selection) {
    return selection->low + selection->high;
}

/* Ascending index, 0 .. n - 1, of the value listed at `place`. */
static inline int64_t szgi_selection_index(const szgi_selection *selection, int64_t place) {
    return place < selection->low ? place : selection->n - szgi_selection_count(selection) + place;
}

static inline bool szgi_options_dense(const szg_spectra_options *options) {
    return options && options->dense;
}

/* Starts a spectrum of `count` listed values (zeroed), all other fields neutral: rank -1, trace and
 * Frobenius norm NaN. On failure *out stays zeroed. */
SZG_CHECK_RESULT szg_status szgi_spectrum_open(szg_context *context, int64_t n, int64_t count,
                                               szg_spectrum_kind kind, bool is_complex,
                                               szg_spectrum *out);

/* Makes out->error: `error` for each value. */
SZG_CHECK_RESULT szg_status szgi_spectrum_errors(szg_context *context, double error,
                                                 szg_spectrum *out);

/* After the solver: the proof of the ends that the options ask for, and the errors of a range. */
SZG_CHECK_RESULT szg_status szgi_spectrum_complete(szg_context *context, const szg_matrix *matrix,
                                                   szg_question question,
                                                   const szg_spectra_options *options,
                                                   szg_spectrum *out);

/* Returns `status`; where that is a failure, closes *out first. */
SZG_CHECK_RESULT szg_status szgi_spectrum_finish(szg_status status, szg_spectrum *out);

/* A real spectrum from all n ascending values, of which the selected ones are kept. */
SZG_CHECK_RESULT szg_status szgi_spectrum_from_values(szg_context *context,
                                                      const szgi_selection *selection,
                                                      const double *ascending, szg_spectrum *out);

/* A spectrum of singular values from those of `n` numbers' moduli (any order, any sign). */
SZG_CHECK_RESULT szg_status szgi_spectrum_from_moduli(szg_context *context,
                                                      const szgi_selection *selection,
                                                      const double *values, szg_spectrum *out);

/* The zero matrix of order n. */
SZG_CHECK_RESULT szg_status szgi_spectrum_zero(szg_context *context, int64_t n,
                                               szg_spectrum_kind kind, szg_spectrum *out);

/* Whether an eigenvalue within `error` is told from its neighbours, the nearest of which is `gap`
 * away, in a matrix of that norm. NaN: no. */
static inline bool szgi_is_resolved(double error, double gap, double norm) {
    return szgi_is_known(error, norm) && error <= gap / 10;
}

/* Sorts in place. */
void szgi_sort_ascending(int64_t count, double *values);
void szgi_sort_descending(int64_t count, double *values);

/* What n values say against the matrix's own trace and Frobenius norm, computed from its entries:
 * max(|sum - trace| / (sqrt n F), |norm - F| / F), 0 for the zero matrix. Pass trace = NaN where it
 * does not apply (singular values). NaN among the values gives NaN. */
double szgi_spectrum_defect(int64_t n, const double *values, double trace, double frobenius);

/* The sentence for such a defect, and the largest one that an accurate solver may leave: 64 n eps.
 */
extern const char szgi_defect_meaning[];
double szgi_defect_limit(int64_t n);

/* Fills residual and its meaning from all n values; SZG_ENOCONV where the defect exceeds the limit
 * or is NaN: the solver's answer is wrong, and it is not handed out. */
SZG_CHECK_RESULT szg_status szgi_spectrum_check(szg_context *context, int64_t n,
                                                const double *values, double trace,
                                                double frobenius, szg_spectrum *out);

/* The same with a limit of the caller's; and that of batched solvers, 1e3 n eps: a wrong answer of
 * theirs is wrong by far. */
SZG_CHECK_RESULT szg_status szgi_spectrum_check_within(szg_context *context, int64_t n,
                                                       const double *values, double trace,
                                                       double frobenius, double limit,
                                                       szg_spectrum *out);
double szgi_batch_limit(int64_t n);

/* Whether a positive semidefinite matrix has no zero eigenvalue by structure and the computed least
 * one is within n eps of the norm. */
static inline bool szgi_least_is_rounding(const szg_spectrum *spectrum) {
    return spectrum->zeros == 0 && spectrum->count > 0 &&
           spectrum->re[0] <= (double)spectrum->n * DBL_EPSILON * spectrum->re[spectrum->count - 1];
}

/* SZG_EINVAL unless value is finite; the message names it. */
SZG_CHECK_RESULT szg_status szgi_require_finite(szg_context *context, const char *name,
                                                double value);

/* Frobenius norm of an m x n array without overflow; SZG_EDATA names the first entry that is NaN or
 * infinite. */
SZG_CHECK_RESULT szg_status szgi_dense_frobenius(szg_context *context, int64_t m, int64_t n,
                                                 const double *a, int64_t lda, double *out);
/* The same of n numbers a row, lda apart, `width` to an entry: 2 of complex ones. */
SZG_CHECK_RESULT szg_status szgi_wide_frobenius(szg_context *context, int64_t m, int64_t n,
                                                int64_t width, const double *a, int64_t lda,
                                                double *out);

/* A monotone equation value(t) = 0 with its derivative; `at` carries the index of the root. */
typedef struct szgi_secular {
    void (*value)(const struct szgi_secular *self, double t, double *f, double *slope);
    double n, at, parameter;
} szgi_secular;

/* The root between lo and hi, f(lo) <= 0 <= f(hi), by Newton's method kept inside the bracket, and
 * the step that the equation's residual at the root still asks for. */
double szgi_secular_root(const szgi_secular *equation, double lo, double hi, double *last_step);

/* The eigenvalue number `index`, ascending, of a matrix of order n that has a closed form, and its
 * relative error. */
typedef double szgi_closed_form(const void *data, int64_t n, int64_t index, double *relative);

/* Fills out->re with the selected eigenvalues, in parallel; out->residual becomes the largest
 * relative error. out->error is filled where it was made. */
SZG_CHECK_RESULT szg_status szgi_closed_form_fill(szg_context *context,
                                                  const szgi_selection *selection,
                                                  szgi_closed_form *eigenvalue, const void *data,
                                                  szg_spectrum *out);

/* The oracle of the closed forms: eigenvalues of the Toeplitz matrix whose lag k is lag(data, k),
 * n^2 numbers and LAPACK. */
SZG_CHECK_RESULT szg_status szgi_dense_kernel(szg_context *context, int64_t n,
                                              double (*lag)(const void *data, int64_t k),
                                              const void *data, const szg_spectra_options *options,
                                              szg_spectrum *out);

/* A real spectrum of eigenvalues becomes one of singular values, in place: the moduli. Of ends of
 * two signs the least modulus is NaN, with a note. */
void szgi_spectrum_to_moduli(szg_spectrum *spectrum);

#endif
