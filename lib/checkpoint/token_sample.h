/* Isotropic tokens that norms of queries and keys are tried on: docs/explanation/theory.md,
 * "Positional heads". */
#ifndef SZG_CHECKPOINT_TOKEN_SAMPLE_H
#define SZG_CHECKPOINT_TOKEN_SAMPLE_H

#include "checkpoint_private.h"

/* Tokens x with ||x||^2 = d: whole ones, or the first `size` coordinates in a random
 * orthonormal basis, which products with at most so many rows depend on. */
typedef struct token_sample {
    int64_t count, size;
    bool whole;
    double *value; /* [count, size] */
} token_sample;

/* For heads of this checkpoint; nothing where queries and keys have no norm. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_token_sample_open(szg_context *context,
                                                   const szg_checkpoint *checkpoint, uint64_t seed,
                                                   token_sample *out);
void szgi_token_sample_close(token_sample *sample);

#endif
