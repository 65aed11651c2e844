/* Where the model is that a path names. */
#ifndef SZG_CHECKPOINT_PLACE_H
#define SZG_CHECKPOINT_PLACE_H

#include "base/context.h"

/* The file or folder to read: the path itself, or the one model in a folder of the Hugging Face
 * hub's cache (models--ORG--NAME) or of sentence-transformers, which a note names. *out is the
 * caller's to free. SZG_EDATA: several models are there, or a store of Ollama, with what to name
 * instead; SZG_EIO: nothing is there, and the path looks like a model's name on the hub. */
SZG_CHECK_RESULT szg_status szgi_place_find(szg_context *context, const char *path, char **out);

#endif
