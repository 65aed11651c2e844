#ifndef SZG_REPORT_PRIVATE_H
#define SZG_REPORT_PRIVATE_H

#include <szego/report.h>

/* Adds a sentence after "; ". */
SZG_PRINTF(2, 3)
void report_note(szg_matrix_report *report, const char *format, ...);

#define REPORT_HERMITIAN_PART                                                                      \
    "not symmetric: lambda_min, lambda_max, width and radius are those of the Hermitian part "     \
    "(L + L^T)/2"

/* Eigenvalues of scale R R^T, R n x d with leading dimension ldr: those of scale R^T R and zeros.
 */
SZG_CHECK_RESULT szg_status report_gram(szg_context *context, int64_t n, int64_t d, const double *r,
                                        int64_t ldr, double scale, szg_spectrum *out);

/* A new n x n array with the matrix, to be freed by the caller; `what` and `remedy` are for the
 * message where memory does not reach. */
SZG_CHECK_RESULT szg_status report_dense(szg_context *context, const szg_factored *factored,
                                         const char *what, const char *remedy, double **out);

/* Derived numbers from the spectra that the report holds. */
SZG_CHECK_RESULT szg_status report_summarise(szg_context *context, int64_t n,
                                             szg_matrix_report *report);

/* toeplitzness of the report; NaN with a note for the zero matrix. */
SZG_CHECK_RESULT szg_status report_toeplitzness(szg_context *context, const szg_factored *factored,
                                                szg_matrix_report *report);

/* Range and samples of the symbol of `t` by the convention of the options. */
SZG_CHECK_RESULT szg_status report_symbol(szg_context *context, const szg_toeplitz *t,
                                          const szg_report_options *options, bool modulus,
                                          szg_matrix_report *report);

#endif
