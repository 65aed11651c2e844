#ifndef SZG_CHECKPOINT_POSITIONAL_ROWS_H
#define SZG_CHECKPOINT_POSITIONAL_ROWS_H

#include "positional.h"
#include "rows.h"

/* Opens `heads`, and `kernel` where `dense` lags are asked for. */
SZG_CHECK_RESULT szg_status szgi_positional_rows_open(szg_context *context, int64_t dense,
                                                      szg_checkpoint_tables *tables);

/* What stands beside a head's shares; NaN: not known. */
typedef struct head_sizes {
    double bound, effective_rank;
} head_sizes;
/* A row of `heads`. */
SZG_CHECK_RESULT szg_status szgi_positional_rows_add(szg_context *context,
                                                     szg_checkpoint_tables *tables,
                                                     const row_key *key, int64_t key_head,
                                                     const head_sizes *sizes,
                                                     const head_positional *found);
/* Fills `stands_out` of all rows of `heads`, which are those of one model. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_positional_rows_judge(szg_context *context,
                                                       szg_checkpoint_tables *tables);
/* Heads of a layer that stand out by the kernel, "mean" or "self". */
int64_t szgi_positional_rows_standing(const szg_table *heads, int64_t layer, const char *kernel);
/* What other tables say of a row of `heads`. */
typedef struct heads_row {
    int64_t layer, head;
    double share[KERNEL_KINDS];      /* NaN: not known */
    const char *shape[KERNEL_KINDS]; /* NULL: not known */
    const char *note;                /* NULL: none */
} heads_row;
heads_row szgi_positional_rows_get(const szg_table *heads, int64_t row);

/* Rows of `kernel`, a row a lag. */
SZG_CHECK_RESULT szg_status szgi_kernel_rows_add(szg_context *context,
                                                 szg_checkpoint_tables *tables, const row_key *key,
                                                 int64_t key_head, const head_positional *found);
typedef struct kernel_row {
    int64_t layer, head, lag;
    double value[KERNEL_KINDS]; /* NaN: not known */
} kernel_row;
kernel_row szgi_kernel_rows_get(const szg_table *kernel, int64_t row);

#endif
