/* Sums over rows in a fixed order: the rows are cut in parts, each part is summed by one block, and
 * the parts are then added. How they are cut depends on the shape alone. */
#ifndef SZG_CUDA_LAYERS_SUMS_H
#define SZG_CUDA_LAYERS_SUMS_H

#include "session.h"

typedef struct row_parts {
    int64_t rows, each, count; /* rows of each part but the last; parts */
} row_parts;

row_parts row_parts_of(int64_t rows);

/* target[s][c] += the sum of partial[p][c] over the parts p of segment s: bounds[s] .. bounds[s+1]
 * - 1, of them all where bounds is NULL (and segments 1). Rows of partial are `stride` apart. */
typedef struct parts_sum {
    int64_t segments, columns, parts, stride;
    const int32_t *bounds;
    const float *partial;
    float *target; /* [segments][columns] */
} parts_sum;

szg_status parts_add(szg_context *context, session *self, const parts_sum *sum);

/* An activation's gradient and the sums of the columns, in one pass over dy. */
typedef struct column_sums {
    int64_t rows, columns;
    szg_activation activation;
    float *dy; /* becomes dy act' */
    int64_t lddy;
    const float *at; /* RELU: y; GELU: the argument; NONE: not read */
    int64_t ldat;
    float *sums; /* added to; NULL: not wanted */
} column_sums;

/* Takes SCRATCH_OPERATION. */
szg_status column_sums_add(szg_context *context, session *self, const column_sums *sums);

#endif
