/* What the house alone uses of <szego/report.h>. */
#ifndef SZEGO_CONTRACTION_REPORT_H
#define SZEGO_CONTRACTION_REPORT_H

#include <szego/report.h>
#include "ball/ball.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* A dense n x n matrix, kept as it is: symmetric ones (up to 64 eps max|a|) have real eigenvalues.
 */
SZG_CHECK_RESULT szg_status szgi_report_dense(szg_context *context, int64_t n, const double *a,
                                              int64_t lda, const char *name,
                                              const szg_report_options *options,
                                              szg_matrix_report *out);

SZGI_END_DECLS

#endif
