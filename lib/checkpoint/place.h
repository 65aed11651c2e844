/* Where the model is that a path names. */
#ifndef SZG_CHECKPOINT_PLACE_H
#define SZG_CHECKPOINT_PLACE_H

#include "base/context.h"

/* The file or folder to read: the path itself, or the one model in a folder of the Hugging Face
 * hub's cache (models--ORG--NAME) or of sentence-transformers; or where a cache has the model that
 * the hub calls so. A note says which. A path that is there comes before a name of the hub.
 * revision NULL: main. *out is the caller's to free. SZG_EDATA: several models are there, or a
 * store of Ollama, with what to name instead, or a snapshot that is not whole; SZG_EIO: no cache
 * has the model; SZG_EINVAL: a revision of what is no name of the hub. */
SZG_CHECK_RESULT szg_status szgi_place_find(szg_context *context, const char *path,
                                            const char *revision, char **out);

#endif
