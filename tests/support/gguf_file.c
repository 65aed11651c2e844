#include "gguf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gguf_add(gguf_bytes *bytes, const void *data, size_t size) {
    if (bytes->size + size > bytes->room) {
        bytes->room = 2 * (bytes->size + size) + 64;
        bytes->byte = realloc(bytes->byte, bytes->room);
        if (!bytes->byte)
            abort();
    }
    if (size > 0)
        memcpy(bytes->byte + bytes->size, data, size);
    bytes->size += size;
}

void gguf_add_u32(gguf_bytes *bytes, uint32_t value) {
    gguf_add(bytes, &value, sizeof value);
}

void gguf_add_u64(gguf_bytes *bytes, uint64_t value) {
    gguf_add(bytes, &value, sizeof value);
}

void gguf_add_text(gguf_bytes *bytes, const char *text) {
    gguf_add_u64(bytes, strlen(text));
    gguf_add(bytes, text, strlen(text));
}

void gguf_key(gguf_file *file, const char *key, uint32_t type) {
    gguf_add_text(&file->keys, key);
    gguf_add_u32(&file->keys, type);
    file->key_count++;
}

void gguf_key_u32(gguf_file *file, const char *key, uint32_t value) {
    gguf_key(file, key, GGUF_U32);
    gguf_add_u32(&file->keys, value);
}

void gguf_key_f32(gguf_file *file, const char *key, float value) {
    gguf_key(file, key, GGUF_F32);
    gguf_add(&file->keys, &value, sizeof value);
}

void gguf_key_text(gguf_file *file, const char *key, const char *value) {
    gguf_key(file, key, GGUF_TEXT);
    gguf_add_text(&file->keys, value);
}

void gguf_entry(gguf_file *file, const char *name, uint32_t type, int dims, const int64_t *shape,
                uint64_t offset) {
    gguf_add_text(&file->directory, name);
    gguf_add_u32(&file->directory, (uint32_t)dims);
    for (int i = dims - 1; i >= 0; i--)
        gguf_add_u64(&file->directory, (uint64_t)shape[i]);
    gguf_add_u32(&file->directory, type);
    gguf_add_u64(&file->directory, offset);
    file->tensor_count++;
}

static void pad(gguf_bytes *bytes, size_t alignment) {
    static const unsigned char zero;
    while (bytes->size % alignment != 0)
        gguf_add(bytes, &zero, 1);
}

static size_t alignment_of(const gguf_file *file) {
    return file->alignment ? file->alignment : 32;
}

void gguf_tensor(gguf_file *file, const char *name, uint32_t type, int dims, const int64_t *shape,
                 const void *data, size_t size) {
    pad(&file->data, alignment_of(file));
    gguf_entry(file, name, type, dims, shape, file->data.size);
    gguf_add(&file->data, data, size);
}

gguf_bytes gguf_image(const gguf_file *file) {
    gguf_bytes out = {NULL, 0, 0};
    gguf_add(&out, "GGUF", 4);
    gguf_add_u32(&out, file->version ? file->version : 3);
    gguf_add_u64(&out, file->tensor_count);
    gguf_add_u64(&out, file->key_count);
    gguf_add(&out, file->keys.byte, file->keys.size);
    gguf_add(&out, file->directory.byte, file->directory.size);
    if (file->data.size > 0)
        pad(&out, alignment_of(file));
    gguf_add(&out, file->data.byte, file->data.size);
    return out;
}

void gguf_write(const gguf_file *file, const char *path) {
    gguf_bytes image = gguf_image(file);
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(image.byte, 1, image.size, stream) != image.size || fclose(stream) != 0)
        abort();
    free(image.byte);
}

void gguf_free(gguf_file *file) {
    free(file->keys.byte);
    free(file->directory.byte);
    free(file->data.byte);
    *file = (gguf_file){.version = 0};
}
