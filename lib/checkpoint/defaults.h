/* What a model's class takes where its configuration has no such key. */
#ifndef SZG_CHECKPOINT_DEFAULTS_H
#define SZG_CHECKPOINT_DEFAULTS_H

#include "checkpoint_private.h"

/* Adds to the configuration what the class of its model_type takes for keys that are not there:
 * checkpoint->taken has them as texts PATH=VALUE. Values of the configuration that were looked up
 * before are no longer valid. SZG_EDATA: keys are missing for which the class has no default; the
 * message names all. */
SZG_CHECK_RESULT szg_status szgi_defaults_take(szg_context *context, szg_checkpoint *checkpoint);

/* The configuration notes which of them are read. */
SZG_CHECK_RESULT szg_status szgi_defaults_watch(szg_context *context, szg_checkpoint *checkpoint);

/* Keeps those that were read, the first of which is member `first` of those watched, and names
 * them in the note. */
SZG_CHECK_RESULT szg_status szgi_defaults_note(szg_context *context, szg_checkpoint *checkpoint,
                                               int64_t first);

/* Is the key, `length` bytes, one of the defaults? */
bool szgi_defaults_has(const szg_checkpoint *checkpoint, const char *key, size_t length);

/* Layers and model size by default follow the tensors where these contradict them, with a sentence
 * in the note; so does the head size, once it is known. SZG_EDATA: the number of heads is by
 * default too, and nothing confirms it. */
SZG_CHECK_RESULT szg_status szgi_defaults_fit(szg_context *context, szg_checkpoint *checkpoint);
SZG_CHECK_RESULT szg_status szgi_defaults_fit_head(szg_context *context,
                                                   szg_checkpoint *checkpoint);

void szgi_defaults_free(szg_checkpoint *checkpoint);

#endif
