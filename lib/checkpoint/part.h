/* Which layers and heads of a checkpoint are analysed: a part of the work that several processes
 * share. Each row of a whole run belongs to one part of any division into layers and heads. */
#ifndef SZG_CHECKPOINT_PART_H
#define SZG_CHECKPOINT_PART_H

#include "checkpoint_private.h"

typedef struct head_part {
    bool *layer, *head; /* [layers], [heads]: whether it is asked for */
} head_part;

/* SZG_EINVAL: a list of the options that is none, or names what the model does not have, or of a
 * model whose architecture is unknown. */
SZG_CHECK_RESULT szg_status szgi_part_open(szg_context *context, const szg_checkpoint *checkpoint,
                                           const szg_checkpoint_options *options, head_part *part);
void szgi_part_close(head_part *part);

/* Whether rows about a layer as a whole are this part's: it has the layer's first head. What
 * belongs to no layer is layer 0's. */
static inline bool szgi_part_owns(const head_part *part, int64_t layer) {
    return part->layer[layer] && part->head[0];
}

/* Heads of the part. */
int64_t szgi_part_heads(const szg_checkpoint *checkpoint, const head_part *part);

#endif
