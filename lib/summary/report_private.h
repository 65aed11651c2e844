#ifndef SZG_REPORT_PRIVATE_H
#define SZG_REPORT_PRIVATE_H

#include "network/network.h"
#include <szego/report.h>

#include "ball/ball.h"

/* Adds a sentence after "; ". */
SZG_PRINTF(2, 3)
void szgi_report_note(szg_matrix_report *report, const char *format, ...);

/* Leaves sigma_min and condition out, NaN: the least singular value lies below `error`, which
 * `what` names. */
void szgi_report_drop_noise(double error, const char *what, szg_matrix_report *report);

#define REPORT_HERMITIAN_PART                                                                      \
    "not symmetric: lambda_min, lambda_max, width and radius are those of the Hermitian part "     \
    "(L + L^T)/2"

/* Eigenvalues and singular values, as far as the options and the order want them. Eigenvalues that
 * the report holds are kept. */
SZG_CHECK_RESULT szg_status szgi_report_spectra(szg_context *context, const szg_matrix *matrix,
                                                const szg_report_options *options,
                                                szg_matrix_report *report);

/* Derived numbers from the spectra that the report holds. */
SZG_CHECK_RESULT szg_status szgi_report_summarise(szg_context *context, int64_t n,
                                                  szg_matrix_report *report);

/* Toeplitzness and, unless the options or the order forbid it, the symbol of the Toeplitz part of a
 * dense or factored matrix, or of a device's numbers. */
SZG_CHECK_RESULT szg_status szgi_report_part(szg_context *context, const szg_matrix *matrix,
                                             const szg_report_options *options,
                                             szg_matrix_report *report);

/* Summary and symbol of a matrix whose `encoding` is set. */
SZG_CHECK_RESULT szg_status szgi_family_summarise(szg_context *context, const szg_matrix *matrix,
                                                  const szg_report_options *options,
                                                  szg_matrix_report *report);
SZG_CHECK_RESULT szg_status szgi_family_symbol(szg_context *context, const szg_matrix *matrix,
                                               const szg_report_options *options,
                                               szg_matrix_report *report);

/* toeplitzness of the report; NaN with a note for the zero matrix. */
SZG_CHECK_RESULT szg_status szgi_report_toeplitzness(szg_context *context,
                                                     const szg_factored *factored,
                                                     szg_matrix_report *report);

/* Range and samples of the symbol of `t` by the convention of the options. */
SZG_CHECK_RESULT szg_status szgi_report_symbol(szg_context *context, const szg_toeplitz *t,
                                               const szg_report_options *options, bool modulus,
                                               szg_matrix_report *report);

#endif
