/* Arenas (parameters, moments) in safetensors files. */
#ifndef SZG_TRAIN_ARENA_FILE_H
#define SZG_TRAIN_ARENA_FILE_H

#include "train/decoder/decoder.h"
#include "formats/safetensors.h"

enum { ARENA_NAME = 80 };

/* An arena like the model's, in the backend's memory; its tensors are called PREFIX NAME. */
typedef struct arena_part {
    const char *prefix; /* at most 15 bytes */
    void *arena;        /* the model's own holds its frozen tensors too */
} arena_part;

/* Writes `count` arenas to one file, atomically, as F32 or F64 as the backend has them. checked:
 * with a checksum of the metadata and of all tensors, at most 7 pairs. */
SZG_CHECK_RESULT szg_status szgi_arena_write(szg_context *context, const szg_model *model,
                                             const char *path, const arena_part *parts,
                                             int64_t count, const char *const *metadata,
                                             int64_t pairs, bool checked);

/* Whether the file is what was written with these keys of metadata, in this order. SZG_EDATA: its
 * checksum is missing or another. */
SZG_CHECK_RESULT szg_status szgi_arena_check(szg_context *context, const szgi_safetensors *file,
                                             const char *const *keys, int64_t count);

/* Reads them back, bit for bit on the same backend. Frozen tensors that the encoding's SPEC decides
 * may be missing. SZG_EDATA: a tensor that is missing, has
 * another shape or type, belongs to no arena, or holds NaN or infinities; the message names it. */
SZG_CHECK_RESULT szg_status szgi_arena_read(szg_context *context, szg_model *model,
                                            const szgi_safetensors *file, const arena_part *parts,
                                            int64_t count);

#endif
