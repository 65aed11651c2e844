/* GGUF files made by the tests, byte by byte: the library has no writer. */
#ifndef SZG_TESTS_GGUF_FILE_H
#define SZG_TESTS_GGUF_FILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct gguf_bytes {
    unsigned char *byte;
    size_t size, room;
} gguf_bytes;

void gguf_add(gguf_bytes *bytes, const void *data, size_t size);
void gguf_add_u32(gguf_bytes *bytes, uint32_t value);
void gguf_add_u64(gguf_bytes *bytes, uint64_t value);
void gguf_add_text(gguf_bytes *bytes, const char *text); /* its length first */

/* Numbers that the format gives to types of values. */
enum {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_TEXT,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64
};

/* A file: its three parts, and what the header says of them. Zeros begin one. */
typedef struct gguf_file {
    gguf_bytes keys, directory, data;
    uint64_t key_count, tensor_count;
    uint32_t version;   /* 0: 3 */
    uint32_t alignment; /* 0: 32, and no key says so */
} gguf_file;

void gguf_key_u32(gguf_file *file, const char *key, uint32_t value);
void gguf_key_f32(gguf_file *file, const char *key, float value);
void gguf_key_text(gguf_file *file, const char *key, const char *value);
/* A key and the number of its type: the value follows through gguf_add to file->keys. */
void gguf_key(gguf_file *file, const char *key, uint32_t type);

/* A tensor of that row-major shape, type and data, after the others. */
void gguf_tensor(gguf_file *file, const char *name, uint32_t type, int dims, const int64_t *shape,
                 const void *data, size_t size);
/* Its entry in the directory alone. */
void gguf_entry(gguf_file *file, const char *name, uint32_t type, int dims, const int64_t *shape,
                uint64_t offset);

/* The whole file; the caller frees `byte` with free. */
gguf_bytes gguf_image(const gguf_file *file);
void gguf_write(const gguf_file *file, const char *path);
void gguf_free(gguf_file *file);

#endif
