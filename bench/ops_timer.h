/* The op table of a context with a clock around each layer: where a training step spends its time.
 */
#ifndef SZG_BENCH_OPS_TIMER_H
#define SZG_BENCH_OPS_TIMER_H

#include "network/ops.h"

/* All calls of one operation with one shape. */
typedef struct bench_op {
    char name[64]; /* "linear 256 to 768" */
    int64_t calls;
    double bytes;   /* that have to be read and written, at least; 0: not counted */
    double seconds; /* by the device's own clock, where it has one */
} bench_op;

enum { BENCH_OPS = 64 };
typedef struct bench_ops {
    int count;
    bench_op op[BENCH_OPS];
} bench_ops;

/* Puts the clocks around the context's table until bench_ops_untimed, and empties *ops, which they
 * fill. One at a time. */
void bench_ops_timed(szg_context *context, bench_ops *ops);
/* Waits for the work given so far, and adds its seconds: after each step. SZG_ENOCONV: more kinds
 * of operations than there is room for. */
SZG_CHECK_RESULT szg_status bench_ops_collect(szg_context *context);
/* Restores the table. */
void bench_ops_untimed(szg_context *context);

#endif
