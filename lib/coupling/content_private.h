#ifndef SZG_CONTENT_PRIVATE_H
#define SZG_CONTENT_PRIVATE_H

#include "coupling/coupling.h"

/* An array of content: [blocks][rows][columns], blocks = 0 for a 2-D one that every head
 * shares. */
typedef struct content_array {
    int64_t blocks, rows, columns;
    double *data;
} content_array;

SZG_CHECK_RESULT szg_status szgi_content_array_read(szg_context *context, const char *path,
                                                    content_array *out);

/* A copy of n rows of d numbers, row i at x + i * ldx, that every head shares. `name` begins the
 * messages. SZG_EINVAL: sizes; SZG_EDATA: a number that is not finite. */
SZG_CHECK_RESULT szg_status szgi_content_array_copy(szg_context *context, const char *name,
                                                    int64_t n, int64_t d, const double *x,
                                                    int64_t ldx, content_array *out);

/* First row of the array for `head`. SZG_EDOMAIN: fewer than n rows, or no such block. */
SZG_CHECK_RESULT szg_status szgi_content_array_rows(szg_context *context,
                                                    const content_array *array, const char *key,
                                                    int64_t head, int64_t n, const double **out);

#endif
