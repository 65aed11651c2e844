/* The table `layers`: do a layer's shares stand in few heads, and do they by chance? */
#ifndef SZG_CHECKPOINT_LAYER_ROWS_H
#define SZG_CHECKPOINT_LAYER_ROWS_H

#include "positional.h"
#include "rows.h"

/* Shares of one kernel, over the heads of a layer so far. */
typedef struct share_sum {
    int64_t heads, largest;
    double sum, squares, most;
    int64_t drawn; /* heads with draws */
    double drawn_sum[CHANCE_DRAWS], drawn_most[CHANCE_DRAWS];
} share_sum;

typedef struct layer_shares {
    share_sum kernel[KERNEL_KINDS];
} layer_shares;

void szgi_layer_shares_add(const head_positional *found, int64_t head, layer_shares *out);

SZG_CHECK_RESULT szg_status szgi_layer_rows_open(szg_context *context,
                                                 szg_checkpoint_tables *tables);
/* A row for each kernel that is known of all `heads`; sorts the draws. */
SZG_CHECK_RESULT szg_status szgi_layer_rows_add(szg_context *context, szg_checkpoint_tables *tables,
                                                const row_key *key, int64_t heads,
                                                layer_shares *shares);
/* Fills `stand_out` of all rows, from `heads`. */
SZG_CHECK_RESULT szg_status szgi_layer_rows_judge(szg_context *context,
                                                  szg_checkpoint_tables *tables);

#endif
