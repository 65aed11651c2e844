#ifndef SZG_REPORT_PRIVATE_H
#define SZG_REPORT_PRIVATE_H

#include "network/network.h"
#include "summary/report.h"

/* Adds a sentence after "; ". */
SZG_PRINTF(2, 3)
void szgi_report_note(szg_matrix_report *report, const char *format, ...);

/* Leaves sigma_min and condition out, NaN: the least singular value lies below `error`, which
 * `what` names. */
void szgi_report_drop_noise(double error, const char *what, szg_matrix_report *report);

#define REPORT_HERMITIAN_PART                                                                      \
    "not symmetric: lambda_min, lambda_max, width and radius are those of the Hermitian part "     \
    "(L + L^T)/2"

/* Eigenvalues of scale R R^T, R n x d with leading dimension ldr: those of scale R^T R and zeros.
 */
SZG_CHECK_RESULT szg_status szgi_report_gram(szg_context *context, int64_t n, int64_t d,
                                             const double *r, int64_t ldr, double scale,
                                             szg_spectrum *out);

/* A new n x n array with the matrix, to be freed by the caller; `what` and `remedy` are for the
 * message where memory does not reach. */
SZG_CHECK_RESULT szg_status szgi_report_form_dense(szg_context *context,
                                                   const szg_factored *factored, const char *what,
                                                   const char *remedy, double **out);

/* Derived numbers from the spectra that the report holds. */
SZG_CHECK_RESULT szg_status szgi_report_summarise(szg_context *context, int64_t n,
                                                  szg_matrix_report *report);

/* The answer is that of "not Toeplitz"; a single matrix may be Toeplitz all the same, so the
 * sentence speaks of the family. */
SZG_CHECK_RESULT szg_status szgi_report_no_theorem(szg_context *context, szg_matrix_report *report);

/* Up to 64 eps: `skew` is max |a_ij - a_ji|, `largest` max |a_ij|. */
bool szgi_report_is_symmetric(double skew, double largest);

/* Symbol of a dense matrix's Toeplitz part, unless the options or the order forbid it. */
SZG_CHECK_RESULT szg_status szgi_report_part_symbol(szg_context *context, const szg_toeplitz *part,
                                                    const szg_report_options *options,
                                                    szg_matrix_report *report);

/* An n x n matrix called `name` from the numbers that a device has computed: with hermitian_part in
 * any case. */
SZG_CHECK_RESULT szg_status szgi_report_numbers(szg_context *context, int64_t n,
                                                const szg_logit_numbers *numbers, const char *name,
                                                const szg_report_options *options,
                                                szg_matrix_report *out);

/* `status` of a toeplitzness; the zero matrix, SZG_EDOMAIN, gets NaN and a note. */
SZG_CHECK_RESULT szg_status szgi_report_no_zero(szg_status status, szg_matrix_report *report);

/* toeplitzness of the report; NaN with a note for the zero matrix. */
SZG_CHECK_RESULT szg_status szgi_report_toeplitzness(szg_context *context,
                                                     const szg_factored *factored,
                                                     szg_matrix_report *report);

/* Range and samples of the symbol of `t` by the convention of the options. */
SZG_CHECK_RESULT szg_status szgi_report_symbol(szg_context *context, const szg_toeplitz *t,
                                               const szg_report_options *options, bool modulus,
                                               szg_matrix_report *report);

#endif
