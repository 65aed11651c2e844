/* Weights that act on latents (MLA). */
#ifndef SZG_CHECKPOINT_LATENT_H
#define SZG_CHECKPOINT_LATENT_H

#include "checkpoint_private.h"

/* Rows first .. first + rows - 1 of the weight of a side that acts on a latent of `rank` numbers,
 * rows x rank, times the model's factor on what it makes. Gains are not in. */
SZG_CHECK_RESULT szg_status szgi_latent_read_up(szg_context *context, const side_weights *side,
                                                int64_t first, int64_t rows, int64_t rank,
                                                double *out);

#endif
