/* What the items on a GPU share. */
#ifndef SZG_BENCH_DEVICE_H
#define SZG_BENCH_DEVICE_H

#include "train.h"

/* "tf32", "f32" or "bf16". */
const char *bench_precision(szg_context *context);

/* Name of the first device. */
SZG_CHECK_RESULT szg_status bench_device_name(szg_context *context, size_t size, char *name);

/* Row: a large product in the context's precision. rate: operations a second of the faster side,
 * the peak that the steps are measured against. */
SZG_CHECK_RESULT szg_status bench_device_product(szg_context *context, const bench_options *options,
                                                 bench_peer *peer, double *rate, szg_table *table);

#endif
