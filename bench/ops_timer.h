/* The op table of a context with a clock around each layer: where a training step spends its time.
 */
#ifndef SZG_BENCH_OPS_TIMER_H
#define SZG_BENCH_OPS_TIMER_H

#include <szego/ops.h>

typedef enum bench_op_kind {
    BENCH_LINEAR,
    BENCH_LINEAR_BACKWARD,
    BENCH_ATTENTION,
    BENCH_ATTENTION_BACKWARD,
    BENCH_DROPOUT,
    BENCH_NORM,
    BENCH_JOIN,
    BENCH_ENDS,
    BENCH_OPTIMISER,
    BENCH_MEMORY,
    BENCH_OP_KINDS
} bench_op_kind;

extern const char *const bench_op_names[BENCH_OP_KINDS];

/* Puts the clocks around the context's table, at zero, until bench_ops_untimed. One at a time. */
void bench_ops_timed(szg_context *context);
/* Restores the table; seconds of each kind since then. */
void bench_ops_untimed(szg_context *context, double seconds[BENCH_OP_KINDS]);

#endif
