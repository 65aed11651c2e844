/* The inside of the GGUF reader. */
#ifndef SZG_FORMATS_GGUF_PRIVATE_H
#define SZG_FORMATS_GGUF_PRIVATE_H

#include "base/text.h"
#include "formats/gguf.h"
#include "safetensors_private.h"

enum { GGUF_MAGIC = 4 };

/* ---- gguf_read.c: bytes of a header, in order, through a window ---- */

enum { GGUF_WINDOW = 1 << 16 };

typedef struct gguf_reader {
    szg_context *context;
    const char *file;
    const unsigned char *data; /* the whole file, or NULL: `source` */
    const szgi_source *source;
    int64_t size, at;      /* of the file; the next byte */
    int64_t from, held;    /* what the window holds */
    unsigned char *window; /* [GGUF_WINDOW]; NULL with `data` */
    char what[SZGI_SHOWN]; /* what is being read, for messages: a key, "tensor 3 of 24" */
} gguf_reader;

/* The next `count` bytes (at most GGUF_WINDOW), valid until the next call. */
SZG_CHECK_RESULT szg_status szgi_gguf_take(gguf_reader *reader, int64_t count,
                                           const unsigned char **out);
SZG_CHECK_RESULT szg_status szgi_gguf_u32(gguf_reader *reader, uint32_t *out);
SZG_CHECK_RESULT szg_status szgi_gguf_u64(gguf_reader *reader, uint64_t *out);
/* Moves on by count * size bytes, which must be within the file. */
SZG_CHECK_RESULT szg_status szgi_gguf_skip(gguf_reader *reader, uint64_t count, int64_t size,
                                           const char *noun);
/* A name: 1 to GGUF_NAME bytes of UTF-8 without NUL, into text[GGUF_NAME + 1]. */
enum { GGUF_NAME = 4096 };
SZG_CHECK_RESULT szg_status szgi_gguf_name(gguf_reader *reader, char *text);
/* Is there room in the file for `count` things, called `noun`, of at least `least` bytes? SZG_EDATA
 * where not. */
SZG_CHECK_RESULT szg_status szgi_gguf_expect(gguf_reader *reader, uint64_t count, int64_t least,
                                             const char *noun);

/* ---- gguf_metadata.c, gguf_tensors.c: the two parts of a header ---- */

SZG_CHECK_RESULT szg_status szgi_gguf_read_metadata(gguf_reader *reader, uint64_t count,
                                                    szgi_json *out);

/* Reads the directory and appends its tensors to the set, for its last shard. */
SZG_CHECK_RESULT szg_status szgi_gguf_read_tensors(gguf_reader *reader, uint64_t count,
                                                   szgi_safetensors *set);

#endif
