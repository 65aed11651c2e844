/* Norms that do not belong to one head: of all heads together (OLMo 2), and of the latents that
 * queries and keys come from (MLA). docs/explanation/theory.md, "Positional heads". */
#ifndef SZG_CHECKPOINT_SHARED_NORM_H
#define SZG_CHECKPOINT_SHARED_NORM_H

#include "law.h"

/* Of the layers with wanted[layer], which have no problem; known: NULL, or what layer 0 reads.
 * *out: [layers], or NULL where no norm is shared. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_shared_norms_open(szg_context *context,
                                                   const szg_checkpoint *checkpoint,
                                                   const bool *wanted, const token_sample *tokens,
                                                   const known_tokens *known, shared_norm **out);
void szgi_shared_norms_close(const szg_checkpoint *checkpoint, shared_norm *norms);

#endif
