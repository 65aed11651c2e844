/* A GGUF file in place of safetensors and config.json. */
#ifndef SZG_CHECKPOINT_GGUF_H
#define SZG_CHECKPOINT_GGUF_H

#include "checkpoint_private.h"

/* Key names that live at once, and their length. */
enum { GGUF_KEYS = 8, GGUF_KEY = 96 };

/* Opens the file as the checkpoint's tensors and, unless the chosen configuration is "" (no
 * architecture), sets its family and configuration from the metadata. SZG_EINVAL: it names a file,
 * or the stack is none of the model's. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_open_gguf(szg_context *context,
                                                      szg_checkpoint *checkpoint, const char *file,
                                                      const szg_checkpoint_choices *choices);

/* What a GGUF file calls the key of config.json that decided something, in `text`; NULL where the
 * file does not have it, so that llama.cpp's code decided. Of other checkpoints, and for the names
 * of tensors, `key` itself. */
const char *szgi_gguf_key(const szg_checkpoint *checkpoint, const char *key,
                          char text[static GGUF_KEY]);

/* Is it the stack of layers that slide? */
bool szgi_gguf_is_sliding(const model_family *family);

/* The numbers that divide the frequencies of `pairs` pairs. SZG_EDATA: the tensor has fewer, or
 * more and none may be spare. */
SZG_CHECK_RESULT szg_status szgi_gguf_read_divisors(szg_context *context, const szgi_tensor *tensor,
                                                    int64_t pairs, bool spare, double *out);

/* After the rotations are open: takes the frequencies' divisors from tensors that hold them. */
SZG_CHECK_RESULT szg_status szgi_gguf_divide(szg_context *context, szg_checkpoint *checkpoint);

#endif
