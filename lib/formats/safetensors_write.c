#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "json_emit.h"
#include "safetensors_private.h"

static szg_status check_tensor(szg_context *context, const szgi_tensor *tensor, int64_t *bytes) {
    const szgi_dtype_info *info = szgi_dtype_info_of(tensor->dtype);
    const char *name = tensor->name;
    if (!*name || strcmp(name, "__metadata__") == 0 || szgi_utf8_check(name, strlen(name)) >= 0)
        return szgi_fail(context, SZG_EINVAL, "\"%s\" cannot be the name of a tensor", SHOWN(name));
    if (!info)
        return szgi_fail(context, SZG_EINVAL, "tensor %s: F64, F32, F16 or BF16 can be written",
                         SHOWN(name));
    int64_t count = 1;
    for (int i = 0; i < tensor->dims; i++)
        if (tensor->shape[i] < 0 || __builtin_mul_overflow(count, tensor->shape[i], &count))
            return szgi_fail(context, SZG_EINVAL, "tensor %s: impossible sizes", SHOWN(name));
    if (__builtin_mul_overflow(count, info->bits / 8, bytes))
        return szgi_fail(context, SZG_EINVAL, "tensor %s: impossible sizes", SHOWN(name));
    return SZG_OK;
}

static szg_status check_names(szg_context *context, const szgi_tensor *tensors, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++)
            if (strcmp(tensors[i].name, tensors[j].name) == 0)
                return szgi_fail(context, SZG_EINVAL, "tensor %s is there twice",
                                 SHOWN(tensors[i].name));
    return SZG_OK;
}

static void emit_metadata(const char *const *metadata, int64_t pairs, FILE *stream) {
    fputs("\"__metadata__\":{", stream);
    for (int64_t i = 0; i < pairs; i++) {
        fputs(i ? "," : "", stream);
        szgi_emit_text(metadata[2 * i], stream);
        putc(':', stream);
        szgi_emit_text(metadata[2 * i + 1], stream);
    }
    putc('}', stream);
}

static void emit_entry(const szgi_tensor *tensor, int64_t begin, int64_t end, FILE *stream) {
    szgi_emit_text(tensor->name, stream);
    fprintf(stream, ":{\"dtype\":\"%s\",\"shape\":[", szgi_dtype_info_of(tensor->dtype)->name);
    for (int i = 0; i < tensor->dims; i++)
        fprintf(stream, "%s%" PRId64, i ? "," : "", tensor->shape[i]);
    fprintf(stream, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", begin, end);
}

/* Calls once for every tensor, the widest elements first, so that all data is aligned. */
#define IN_FILE_ORDER(tensors, count, i)                                                           \
    for (int bits_ = 64; bits_ >= 16; bits_ /= 2)                                                  \
        for (int64_t i = 0; i < (count); i++)                                                      \
            if (szgi_dtype_info_of((tensors)[i].dtype)->bits == bits_)

static szg_status emit_header(szg_context *context, const szgi_tensor *tensors, int64_t count,
                              const char *const *metadata, int64_t pairs, FILE *stream) {
    int64_t offset = 0;
    const char *comma = "";
    putc('{', stream);
    if (pairs > 0) {
        emit_metadata(metadata, pairs, stream);
        comma = ",";
    }
    IN_FILE_ORDER(tensors, count, i) {
        int64_t bytes = 0;
        SZG_TRY(check_tensor(context, &tensors[i], &bytes));
        if (bytes > INT64_MAX - offset)
            return szgi_fail(context, SZG_EINVAL, "the tensors together exceed 64 bits");
        fputs(comma, stream);
        emit_entry(&tensors[i], offset, offset + bytes, stream);
        offset += bytes;
        comma = ",";
    }
    putc('}', stream);
    return SZG_OK;
}

/* The header with its length in front, padded with spaces to a multiple of 8. */
static szg_status write_header(szg_context *context, const szgi_tensor *tensors, int64_t count,
                               const char *const *metadata, int64_t pairs, FILE *out) {
    szgi_text header;
    SZG_TRY(szgi_text_open(context, &header));
    szg_status status = szgi_text_end(
        &header, emit_header(context, tensors, count, metadata, pairs, header.stream));
    if (status == SZG_OK) {
        uint64_t size = (uint64_t)header.length, length = (size + 7) / 8 * 8;
        fwrite(&length, sizeof length, 1, out);
        fprintf(out, "%s%*s", header.text, (int)(length - size), "");
    }
    szgi_text_close(&header);
    return status;
}

/* Where the bytes are in a file, a block at a time. */
static szg_status write_tensor(szg_context *context, const szgi_tensor *tensor, int64_t bytes,
                               FILE *out) {
    unsigned char block[TENSOR_BLOCK];
    const unsigned char *at;
    for (int64_t begin = 0, part; begin < bytes; begin += part) {
        part = bytes - begin < TENSOR_BLOCK ? bytes - begin : TENSOR_BLOCK;
        SZG_TRY(szgi_tensor_bytes(context, tensor, begin, part, block, &at));
        fwrite(at, 1, (size_t)part, out);
    }
    return SZG_OK;
}

szg_status szgi_safetensors_write(szg_context *context, const char *path,
                                  const szgi_tensor *tensors, int64_t count,
                                  const char *const *metadata, int64_t pairs) {
    int64_t bytes = 0;
    SZG_TRY(check_names(context, tensors, count));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(check_tensor(context, &tensors[i], &bytes));
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    FILE *stream = szgi_writer_stream(writer);
    szg_status status = write_header(context, tensors, count, metadata, pairs, stream);
    if (status != SZG_OK) {
        szgi_writer_discard(&writer);
        return szgi_fail_prefix(context, status, "%s", path);
    }
    IN_FILE_ORDER(tensors, count, i) {
        if (status == SZG_OK)
            status = check_tensor(context, &tensors[i], &bytes);
        if (status == SZG_OK)
            status = write_tensor(context, &tensors[i], bytes, stream);
    }
    if (status == SZG_OK)
        return szgi_writer_commit(context, &writer);
    szgi_writer_discard(&writer);
    return status;
}
