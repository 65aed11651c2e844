/* The inside of a set of safetensors files. */
#ifndef SZG_FORMATS_SAFETENSORS_PRIVATE_H
#define SZG_FORMATS_SAFETENSORS_PRIVATE_H

#include <szego/file.h>
#include <szego/json.h>
#include <szego/safetensors.h>

/* One file. */
typedef struct szg_shard {
    char *file;          /* its path, for messages */
    szg_mapping mapping; /* empty where the caller owns the bytes */
    szg_json *header;
    int64_t *shapes; /* of all its tensors, one after the other */
} szg_shard;

struct szg_safetensors {
    szg_shard *shard;
    int64_t shards;
    szg_tensor *tensor; /* sorted by name once the set is complete */
    int64_t count;
};

/* Sizes of the types that the format names; 0 bits for a name unknown to szego. */
typedef struct szg_dtype_info {
    const char *name;
    szg_dtype dtype;
    int bits;
} szg_dtype_info;
const szg_dtype_info *szg_dtype_find(const char *name);
const szg_dtype_info *szg_dtype_info_of(szg_dtype dtype); /* F64, F32, F16, BF16; else NULL */

/* Appends an empty shard called `file`. */
SZG_CHECK_RESULT szg_status szg_shard_add(szg_context *context, szg_safetensors *set,
                                          const char *file);

/* Checks the bytes of the last shard and appends its tensors. */
SZG_CHECK_RESULT szg_status szg_shard_parse(szg_context *context, szg_safetensors *set,
                                            const unsigned char *data, int64_t size);

#endif
