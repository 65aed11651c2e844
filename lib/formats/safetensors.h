/* Tensors of a checkpoint in safetensors files: one file, or shards with their index. */
#ifndef SZEGO_FORMATS_SAFETENSORS_H
#define SZEGO_FORMATS_SAFETENSORS_H

#include "base/context.h"
#include "base/decls.h"
#include "formats/json.h"

SZGI_BEGIN_DECLS

typedef enum szgi_dtype {
    SZGI_DTYPE_F64,
    SZGI_DTYPE_F32,
    SZGI_DTYPE_F16,
    SZGI_DTYPE_BF16,
    SZGI_DTYPE_INTEGER, /* BOOL, I8 .. I64, U8 .. U64: never converted to reals */
    SZGI_DTYPE_OTHER,   /* 8-bit and smaller floats, complex, names unknown to szego */
    SZGI_DTYPE_BLOCKS,  /* quantised blocks of GGUF, read as float32 */
    SZGI_DTYPE_FLOAT8,  /* 8-bit floats, once szgi_safetensors_scale has said what scales them */
    SZGI_DTYPE_CODED    /* codes of a few bits, once szgi_safetensors_decode has said of what */
} szgi_dtype;

typedef struct szgi_update szgi_update;

/* One tensor, row-major. */
typedef struct szgi_tensor {
    const char *name; /* UTF-8 without NUL, possibly hostile otherwise */
    szgi_dtype dtype;
    const char *dtype_name;    /* as in the file */
    int dims;                  /* 0: one number */
    const int64_t *shape;      /* [dims] */
    int64_t count;             /* product of the shape; 0: an empty tensor */
    const unsigned char *data; /* its bytes, unaligned perhaps; NULL: read from `source`, `asked` */
    int64_t bytes;
    int64_t offset;                   /* of its first byte in the file */
    const char *file;                 /* the file it is in */
    const struct szgi_source *source; /* "base/file.h": that file, open; NULL: the caller's bytes */
    const struct szgi_asked *asked;   /* without `source`: the caller's function; NULL: `data` */
    int64_t number;                   /* with `asked`: which tensor of the caller it is */
    const struct szgi_block_type *blocks; /* GGUF types alone have it: how they are stored */
    const struct szgi_tensor *scale;      /* SZGI_DTYPE_FLOAT8: a factor a block; NULL: 1 */
    int64_t block[2];                     /* with scale: rows and columns of a block */
    bool scales;                          /* it is the scale of another tensor */
    struct szgi_coded *coded;             /* what it is made from; NULL: it is as it is stored */
    bool left_out; /* no file has its bytes: szego.hub did not fetch them; SZG_EIO to read it */
    szgi_update *update; /* what an adapter makes of it when it is read; NULL: nothing */
    char *refusal;       /* NULL, or why it is not read: a clause for messages */
} szgi_tensor;

/* What LoRA makes of a matrix W [outputs, inputs]: W + scale B A. With a magnitude (DoRA) each row
 * of that has the length that the magnitude gives. Of a vector [outputs]: itself + scale B. */
typedef struct szgi_low_rank {
    const szgi_tensor *down;      /* A [rank, inputs]; NULL: of a vector */
    const szgi_tensor *up;        /* B [outputs, rank], or [outputs] */
    const szgi_tensor *magnitude; /* [outputs]; NULL: lengths are what they are */
    double scale;
    bool turned; /* W is stored [inputs, outputs]: rows above are its columns */
} szgi_low_rank;

typedef struct szgi_safetensors szgi_safetensors;

/* Opens a checkpoint: FILE.safetensors, FILE.index.json with its shards beside it, or a folder with
 * either (model.safetensors.index.json before model.safetensors before every *.safetensors). Reads
 * headers only. The tensors are the union of the shards' headers: what a stale index omits, or puts
 * in another shard, or promises and none holds, is a warning. A tensor in several shards is that of
 * the shard that the index names. Where shards of the index are missing, the others are read, or
 * where none is there the files beside it: szgi_safetensors_missing. Every message names file,
 * tensor and remedy. SZG_EDATA: truncated, header length beyond the file or 100 MB, invalid UTF-8
 * or JSON, a repeated name, unknown or missing fields, negative or overflowing shapes, offsets out
 * of range, overlapping or with holes, a size that is not shape times type, bytes after the last
 * tensor; one tensor in two shards without an index that chooses; a PyTorch or GGUF file (the
 * message names the conversion). SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_safetensors_open(szg_context *context, const char *path,
                                                  szgi_safetensors **out);

/* The names of shards that the index names and that are not there; NULL: none. */
const char *szgi_safetensors_missing(const szgi_safetensors *set);

/* How many tensors were left out: those of the metadata szego.left_out that no file has. */
int64_t szgi_safetensors_left_out(const szgi_safetensors *set);

/* As above for one file's bytes, which the caller keeps; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_safetensors_open_bytes(szg_context *context, const char *name,
                                                        const void *data, int64_t size,
                                                        szgi_safetensors **out);
void szgi_safetensors_close(szgi_safetensors **set);

/* SZG_EIO where one of the files was changed since it was opened: call it when everything that
 * matters has been read. */
SZG_CHECK_RESULT szg_status szgi_safetensors_check(szg_context *context,
                                                   const szgi_safetensors *set);

/* Adds to the object `json` a member for each file: its bytes and when it was changed. */
SZG_CHECK_RESULT szg_status szgi_safetensors_describe(szg_context *context,
                                                      const szgi_safetensors *set, szgi_json *json);

/* Tensors in the order of their names (bytewise). */
int64_t szgi_safetensors_count(const szgi_safetensors *set);
const szgi_tensor *szgi_safetensors_tensor(const szgi_safetensors *set, int64_t index);
/* By name; NULL if no tensor has it. */
const szgi_tensor *szgi_safetensors_find(const szgi_safetensors *set, const char *name);
/* The text under `key` in __metadata__ of the first file that has it; NULL where none does. */
const char *szgi_safetensors_metadata(const szgi_safetensors *set, const char *key);

/* From now on tensor `index`, F8_E4M3, F8_E5M2 or F8_E8M0, is read as its elements times `scale`, a
 * tensor of the set with a factor for each block of block[0] x block[1] elements, row-major; where
 * the block does not divide the shape the last ones are smaller. scale NULL: as its elements.
 * SZG_EINVAL: another type, or a scale that has not one factor a block. */
SZG_CHECK_RESULT szg_status szgi_safetensors_scale(szg_context *context, szgi_safetensors *set,
                                                   int64_t index, const szgi_tensor *scale,
                                                   const int64_t block[2]);
/* From now on tensor `index` is read as what the adapter makes of it; its tensors stay until the
 * set is closed. SZG_EINVAL: shapes that do not go together, or a tensor that has an adapter. */
SZG_CHECK_RESULT szg_status szgi_safetensors_update(szg_context *context, szgi_safetensors *set,
                                                    int64_t index, const szgi_low_rank *change);
/* NULL: no adapter changes the tensor. */
const szgi_low_rank *szgi_tensor_low_rank(const szgi_tensor *tensor);
/* From now on tensor `index` is `other`, of the same shape, under its own name; `other` stays until
 * the set is closed. SZG_EINVAL: another shape. */
SZG_CHECK_RESULT szg_status szgi_safetensors_replace(szg_context *context, szgi_safetensors *set,
                                                     int64_t index, const szgi_tensor *other);
/* From now on messages say of tensor `index`, which is not read, why that is. */
SZG_CHECK_RESULT szg_status szgi_safetensors_refuse(szg_context *context, szgi_safetensors *set,
                                                    int64_t index, const char *reason);

/* Elements start .. start + count - 1 as doubles, exactly (products with scales in F64 are
 * rounded, and sums and quotients of packed weights: "formats/coded.h"). SZG_EINVAL (outside the
 * tensor), SZG_EDATA (an integer or unknown type: the message names tensor, type and remedy),
 * SZG_EIO (the file cannot be read, or was cut since it was opened). NaN and infinities pass. */
SZG_CHECK_RESULT szg_status szgi_tensor_read(szg_context *context, const szgi_tensor *tensor,
                                             int64_t start, int64_t count, double *out);

/* The same of a part of a matrix, from `row` and `column` on: rows x columns numbers, row-major.
 * Where an adapter changes the matrix this costs less than to read each row apart. SZG_EINVAL: it
 * has not two axes, or not these rows and columns. */
SZG_CHECK_RESULT szg_status szgi_tensor_read_part(szg_context *context, const szgi_tensor *tensor,
                                                  int64_t row, int64_t rows, int64_t column,
                                                  int64_t columns, double *out);

/* The same of the integer types but BOOL: token ids, lengths. SZG_EINVAL, SZG_EDATA (another type,
 * an unsigned number beyond 2^63 - 1), SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_tensor_read_integers(szg_context *context,
                                                      const szgi_tensor *tensor, int64_t start,
                                                      int64_t count, int64_t *out);

/* Index of the first NaN or infinite element, -1 if all are finite; of floats and blocks, as they
 * are stored: szgi_tensor_check looks at an adapter's tensors too. Other types: SZG_EDATA as
 * szgi_tensor_read. Needs no memory, but for packed weights that have a bad scale; SZG_EIO,
 * SZG_ECANCEL, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_tensor_first_bad(szg_context *context, const szgi_tensor *tensor,
                                                  int64_t *out);

/* SZG_EDATA with a message that names file, tensor, indices and value of the first NaN or infinite
 * element. */
SZG_CHECK_RESULT szg_status szgi_tensor_check(szg_context *context, const szgi_tensor *tensor);

/* What can be done about a tensor whose type is no weight's: a clause for messages. */
const char *szgi_tensor_remedy(const szgi_tensor *tensor);

/* "[384, 384]" in `text`, cut with "..." where it does not fit; returns `text`. */
const char *szgi_tensor_shape_text(const szgi_tensor *tensor, char *text, size_t size);

/* Unit roundoff of the tensor's type: 2^-53, 2^-24, 2^-11, 2^-8 of BF16; 0 for others. */
double szgi_tensor_roundoff(const szgi_tensor *tensor);

/* IEEE binary16 and bfloat16 to double, exactly (subnormals, infinities and NaN too). */
double szgi_real_from_half(uint16_t bits);
double szgi_real_from_bfloat(uint16_t bits);

/* The 8-bit floats of the OCP to double, exactly: E4M3 (no infinities), E5M2, and E8M0 (a power of
 * two). */
double szgi_real_from_e4m3(uint8_t bits);
double szgi_real_from_e5m2(uint8_t bits);
double szgi_real_from_e8m0(uint8_t bits);

/* Writes one file atomically. Of each tensor name, dtype (F64, F32, F16, BF16), dims, shape and
 * data (little-endian elements; where it is NULL, `source` and `offset`) are read. `metadata`: 2 *
 * pairs texts, key and value in turn. SZG_EINVAL: a repeated or empty name, "__metadata__", a name
 * that is not UTF-8, another dtype. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_safetensors_write(szg_context *context, const char *path,
                                                   const szgi_tensor *tensors, int64_t count,
                                                   const char *const *metadata, int64_t pairs);

SZGI_END_DECLS

#endif
