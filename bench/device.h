/* What the items on a GPU share. */
#ifndef SZG_BENCH_DEVICE_H
#define SZG_BENCH_DEVICE_H

#include "train.h"

/* "tf32", "f32" or "bf16". */
const char *bench_precision(szg_context *context);

/* Adds the name of the first device to the latest row's note. */
SZG_CHECK_RESULT szg_status bench_note_device(szg_context *context, bench_run *run);

/* Row: memory of the device copied. */
bench_item_fn bench_device_copy;
/* Row: a large product in the context's precision; run->product_rate is the faster side's, the peak
 * that the steps are measured against. */
bench_item_fn bench_device_product;

#endif
