/* The inside of a set of safetensors files. */
#ifndef SZG_FORMATS_SAFETENSORS_PRIVATE_H
#define SZG_FORMATS_SAFETENSORS_PRIVATE_H

#include <szego/checkpoint.h>

#include "base/file.h"
#include "formats/json.h"
#include "formats/safetensors.h"

/* One file. */
typedef struct szgi_shard {
    char *file;          /* its path, for messages */
    szgi_source *source; /* NULL where the caller owns the bytes */
    szgi_json *header;
    int64_t *shapes;          /* of all its tensors, one after the other */
    char *texts;              /* names of GGUF tensors, one after the other; NULL: in the header */
    szgi_json *left_out;      /* NULL: every tensor of the header is whole */
    int64_t *left_out_shapes; /* as `shapes` */
    struct szgi_asked *asked; /* NULL: no tensor is asked of the caller */
} szgi_shard;

struct szgi_safetensors {
    szgi_shard *shard;
    int64_t shards;
    szgi_tensor *tensor; /* sorted by name once the set is complete */
    int64_t count;
    char *missing; /* NULL, or which shards the index names that are not there: a sentence */
};

/* Sizes of the types that the format names; 0 bits for a name unknown to szego. */
typedef struct szgi_dtype_info {
    const char *name;
    szgi_dtype dtype;
    int bits;
} szgi_dtype_info;
const szgi_dtype_info *szgi_dtype_find(const char *name);
const szgi_dtype_info *szgi_dtype_info_of(szgi_dtype dtype); /* F64, F32, F16, BF16; else NULL */

/* Bytes that are read at once: they stay in the cache until they are converted. */
enum { TENSOR_BLOCK = 1 << 16 };

/* *out: bytes begin .. begin + count - 1 of a tensor, where they lie in memory, or read into
 * `block`, which takes TENSOR_BLOCK of them. */
SZG_CHECK_RESULT szg_status szgi_tensor_bytes(szg_context *context, const szgi_tensor *tensor,
                                              int64_t begin, int64_t count,
                                              unsigned char block[static TENSOR_BLOCK],
                                              const unsigned char **out);

/* ---- memory_tensors.c ---- */

/* Who is asked for the bytes of tensors. */
typedef struct szgi_asked {
    szg_tensor_read *read;
    void *user;
} szgi_asked;
SZG_CHECK_RESULT szg_status szgi_asked_read(szg_context *context, const szgi_tensor *tensor,
                                            int64_t begin, int64_t count, void *out);

/* ---- tensor.c: szgi_tensor_read without what an adapter makes of the tensor ---- */
SZG_CHECK_RESULT szg_status szgi_tensor_read_stored(szg_context *context, const szgi_tensor *tensor,
                                                    int64_t start, int64_t count, double *out);
SZG_CHECK_RESULT szg_status szgi_tensor_check_range(szg_context *context, const szgi_tensor *tensor,
                                                    int64_t start, int64_t count);

/* ---- low_rank.c: what szgi_tensor_read and szgi_tensor_check do for an update ---- */
SZG_CHECK_RESULT szg_status szgi_tensor_read_updated(szg_context *context,
                                                     const szgi_tensor *tensor, int64_t start,
                                                     int64_t count, double *out);
SZG_CHECK_RESULT szg_status szgi_update_check(szg_context *context, const szgi_tensor *tensor);
void szgi_update_close(szgi_update **update);

/* ---- blocks.c: what szgi_tensor_read does for SZGI_DTYPE_BLOCKS ---- */
SZG_CHECK_RESULT szg_status szgi_tensor_read_blocks(szg_context *context, const szgi_tensor *tensor,
                                                    int64_t start, int64_t count, double *out);

/* ---- float8.c: elements of SZGI_DTYPE_FLOAT8, without their scales ---- */
SZG_CHECK_RESULT szg_status szgi_tensor_read_float8(szg_context *context, const szgi_tensor *tensor,
                                                    int64_t start, int64_t count, double *out);
/* ---- coded.c, coded_set.c: SZGI_DTYPE_CODED ---- */
SZG_CHECK_RESULT szg_status szgi_tensor_read_coded(szg_context *context, const szgi_tensor *tensor,
                                                   int64_t start, int64_t count, double *out);
/* The tensors of floats that it is made from: whether they are finite decides whether it is. */
enum { CODED_NUMBERS = 3 };
int szgi_coded_numbers(const struct szgi_coded *packed, const szgi_tensor *out[CODED_NUMBERS]);
void szgi_coded_close(struct szgi_coded *packed);

/* Blocks along `size` elements; the last one may be smaller. */
static inline int64_t szgi_blocks_along(int64_t size, int64_t block) {
    return size > 0 ? (size - 1) / block + 1 : 0;
}

/* Appends an empty shard called `file`. */
SZG_CHECK_RESULT szg_status szgi_shard_add(szg_context *context, szgi_safetensors *set,
                                           const char *file);

/* Sorts a set that is complete by name. SZG_EDATA: a name is there twice. */
SZG_CHECK_RESULT szg_status szgi_shards_complete(szg_context *context, szgi_safetensors *set);

/* Does the name say that the file is PyTorch's? Opening it tells how to convert it. */
bool szgi_path_is_pytorch(const char *path);
/* The same of parts of a checkpoint of torch.distributed, which is a folder. */
bool szgi_path_is_distributed(const char *path);
/* SZG_EDATA with the commands that convert the folder, `length` bytes of text. */
szg_status szgi_distributed_refuse(szg_context *context, const char *folder, int length);

/* Checks the last shard, a file of `size` bytes of which data[0 .. szgi_shard_head - 1] are needed,
 * and appends its tensors. Their bytes are in the shard's source, or in `data`. */
SZG_CHECK_RESULT szg_status szgi_shard_parse(szg_context *context, szgi_safetensors *set,
                                             const unsigned char *data, int64_t size);

/* A header's entry whose bytes no file has; shape: room for its sizes. */
SZG_CHECK_RESULT szg_status szgi_shard_read_left(szg_context *context, szgi_json_value entry,
                                                 int64_t *shape, szgi_tensor *tensor);
/* Appends the tensors that the last shard's metadata says were left out of it. */
#define SZGI_LEFT_OUT_KEY "szego.left_out"
SZG_CHECK_RESULT szg_status szgi_shard_read_left_out(szg_context *context, szgi_safetensors *set);

/* SZG_EDATA, with the command that fetches the file, where these first bytes of it are those of a
 * Git LFS pointer; `size` bytes in all. */
SZG_CHECK_RESULT szg_status szgi_lfs_refuse(szg_context *context, const char *file,
                                            const unsigned char *start, int64_t size);

/* How many bytes at the beginning of a file the header takes, its length included, where that
 * length can be true; else as many as tell what the file is. `start` holds the first
 * min(size, SHARD_START) bytes. */
enum { SHARD_START = 64 };
int64_t szgi_shard_head(const unsigned char *start, int64_t size);

#endif
