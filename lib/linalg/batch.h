/* Batches over the single operations of the selected table, one matrix a block of the pool; small
 * symmetric matrices one a lane of a vector (cpu_lanes.h), but not in the oracle. */
#ifndef SZG_LINALG_BATCH_H
#define SZG_LINALG_BATCH_H

#include "ops.h"
#include "base/pool.h"

szg_status szgi_batch_eigen_symmetric(szg_context *context, int64_t count, int64_t n, double *a,
                                      int64_t stride, double *w);
szg_status szgi_batch_eigen_general(szg_context *context, int64_t count, int64_t n, double *a,
                                    int64_t stride, szg_c64 *w);
szg_status szgi_batch_singular(szg_context *context, int64_t count, int64_t m, int64_t n, double *a,
                               int64_t stride, double *s);

#endif
