/* Checks of arguments that the checked functions share. */
#ifndef SZG_LINALG_CHECK_H
#define SZG_LINALG_CHECK_H

#include "base/context.h"

/* A matrix of rows x columns with leading dimension ld, called `name` in the message: sizes at
 * least 0, ld >= max(1, columns). SZG_EINVAL. */
SZG_CHECK_RESULT szg_status szgi_check_shape(szg_context *context, const char *name, int64_t rows,
                                             int64_t columns, int64_t ld);

/* The same, and `width` doubles an entry (2 for complex), all finite: SZG_EDATA. SZG_ECANCEL: a
 * decomposition that may take minutes follows. */
SZG_CHECK_RESULT szg_status szgi_check_matrix(szg_context *context, const char *name, int64_t rows,
                                              int64_t columns, int width, const void *a,
                                              int64_t ld);

/* The lower triangle of an n x n matrix is finite. */
SZG_CHECK_RESULT szg_status szgi_check_lower(szg_context *context, int64_t n, int width,
                                             const void *a, int64_t lda);

#endif
