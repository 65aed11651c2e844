/* Heads of layer 0 where positions are added to the embeddings: docs/explanation/theory.md,
 * "Positional heads". */
#ifndef SZG_CHECKPOINT_ABSOLUTE_H
#define SZG_CHECKPOINT_ABSOLUTE_H

#include "positional.h"
#include "vocabulary.h"

/* What layer 0 reads, behind its norm but without gains and shift. */
typedef struct absolute_input {
    const char *why;   /* NULL, or why it is not known: static */
    int64_t positions; /* the leading ones */
    int64_t lags;      /* so many are seen, or of each sign: positions, or the layer's window */
    bool both;         /* queries see later keys */
    double *memory;
    double *mean; /* [positions, d]: the mean over tokens at each position */
    int64_t tokens;
    double *rest; /* [tokens, d]: tokens less the mean of their position */
    lag_list listed;
} absolute_input;

/* p: `positions` rows of the position table, divided by 2^exponent; dense: of the listed lags.
 * SZG_EDATA: a number that is not finite; SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_absolute_open(szg_context *context,
                                               const szg_checkpoint *checkpoint,
                                               const token_counts *counts, int64_t positions,
                                               const double *p, int exponent, int64_t dense,
                                               absolute_input *out);
void szgi_absolute_close(absolute_input *input);

/* The rows of a head with all gains, and what biases add. */
typedef struct absolute_head {
    const szg_checkpoint *checkpoint;
    const absolute_input *input;
    law_side q, k;
    uint64_t seed;
    const double *bias; /* NULL, or what the lag adds too: at lag 0, with its neighbours */
} absolute_head;

SZG_CHECK_RESULT szg_status szgi_absolute_find(szg_context *context, const absolute_head *head,
                                               head_positional *out);

#endif
