/* Metadata of a GGUF file on their way to the configuration that the rest of this room reads. */
#ifndef SZG_CHECKPOINT_GGUF_TRANSLATE_H
#define SZG_CHECKPOINT_GGUF_TRANSLATE_H

#include "gguf.h"
#include "gguf_architecture.h"

typedef struct gguf_translation {
    szg_context *context;
    szg_checkpoint *checkpoint;
    const gguf_architecture *architecture;
    model_family *family; /* the checkpoint's own copy */
    szgi_json_value metadata;
    szgi_json *out;                /* config.json as transformers would have it */
    char key[GGUF_KEYS][GGUF_KEY]; /* names that values point to */
    int keys;
} gguf_translation;

typedef struct gguf_sizes {
    int64_t layers, heads, key_heads, head, model;
} gguf_sizes;

/* ---- gguf_keys.c: values of the metadata. Keys are without the architecture's name ---- */

/* The member ARCHITECTURE.`key`. */
szgi_json_value szgi_gguf_value(gguf_translation *own, const char *key);
bool szgi_gguf_has(gguf_translation *own, const char *key);
SZG_CHECK_RESULT szg_status szgi_gguf_at_least_one(gguf_translation *own, szgi_json_value value,
                                                   int64_t number);
/* An integer of at least 1 for all layers. */
SZG_CHECK_RESULT szg_status szgi_gguf_number_or(gguf_translation *own, const char *key,
                                                int64_t otherwise, int64_t *out);
SZG_CHECK_RESULT szg_status szgi_gguf_positive_or(gguf_translation *own, const char *key,
                                                  double otherwise, double *out);
/* A real that switches something on unless it is 0. */
SZG_CHECK_RESULT szg_status szgi_gguf_switch(gguf_translation *own, const char *key, double *out);
SZG_CHECK_RESULT szg_status szgi_gguf_put_integer(gguf_translation *own, const char *key,
                                                  int64_t value);
SZG_CHECK_RESULT szg_status szgi_gguf_put_real(gguf_translation *own, const char *key,
                                               double value);
/* SZG_EDATA: the key is missing, and nothing is assumed. */
SZG_CHECK_RESULT szg_status szgi_gguf_require(gguf_translation *own, const char *key);
/* SZG_EDATA: szego does not know what the key does in this architecture. */
SZG_CHECK_RESULT szg_status szgi_gguf_refuse(gguf_translation *own, const char *key);
/* The key that decides for the layers of this stack: KEY_swa of those that slide. */
const char *szgi_gguf_of_stack(const model_family *family, const char *key,
                               char text[static GGUF_KEY]);
/* The key of the length that the model was first trained for. */
const char *szgi_gguf_original_key(gguf_translation *own);

/* ---- gguf_kinds.c: what each layer is ---- */

/* Which layers have attention, in families where some have not. */
SZG_CHECK_RESULT szg_status szgi_gguf_kinds(gguf_translation *own, const gguf_sizes *sizes);
/* Which layers slide. */
SZG_CHECK_RESULT szg_status szgi_gguf_sliding_kinds(gguf_translation *own, int64_t layers);
/* Which layers rotate: those that slide, and the leading dense ones. */
SZG_CHECK_RESULT szg_status szgi_gguf_skips(gguf_translation *own, int64_t layers);
/* Layers that do not rotate are counted: those that the key says not to slide are the same, or the
 * file is refused. */
SZG_CHECK_RESULT szg_status szgi_gguf_check_counted(gguf_translation *own, int64_t layers);
/* Is the layer one of the stack's? */
SZG_CHECK_RESULT szg_status szgi_gguf_in_stack(gguf_translation *own, int64_t layer, bool *out);

/* ---- gguf_integer.c: integers that may be one for each layer ---- */

/* An integer of at least 1. One for each layer is one if all are equal; 0 is a layer without
 * attention where the family has such. */
SZG_CHECK_RESULT szg_status szgi_gguf_integer(gguf_translation *own, const char *key, int64_t *out);
SZG_CHECK_RESULT szg_status szgi_gguf_integer_or(gguf_translation *own, const char *key,
                                                 int64_t otherwise, int64_t *out);

/* ---- gguf_rotary.c ---- */
SZG_CHECK_RESULT szg_status szgi_gguf_rotary(gguf_translation *own, const gguf_sizes *sizes);

#endif
