/* The directory of a GGUF file: names, sizes, types, and where the data are. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "blocks.h"
#include "gguf_private.h"

enum { DIMS_MOST = 4, ALIGNMENT = 32, TYPE_TEXT = 24 };

/* The directory while it grows: its texts and sizes move until it is complete. */
typedef struct directory {
    szgi_tensor *tensor; /* name and shape are set by place_texts */
    int64_t count, room;
    char *texts; /* of each tensor its name and, of an unknown type, "GGML-N"; each with its NUL */
    int64_t text_length, text_room;
    int64_t *shapes;
    int64_t sizes, shape_room;
} directory;

static void close_directory(directory *own) {
    szgi_memory_free(own->tensor);
    szgi_memory_free(own->texts);
    szgi_memory_free(own->shapes);
}

static szg_status add_text(gguf_reader *reader, directory *own, const char *text) {
    int64_t length = (int64_t)strlen(text) + 1;
    SZG_TRY(szgi_memory_reserve(reader->context, &own->texts, &own->text_room, own->text_length,
                                length));
    memcpy(own->texts + own->text_length, text, (size_t)length);
    own->text_length += length;
    return SZG_OK;
}

static szg_status fail_tensor(gguf_reader *reader, const char *name, const char *problem) {
    return szgi_fail(reader->context, SZG_EDATA, "%s: tensor %s: %s", reader->file, SHOWN(name),
                     problem);
}

/* Sizes with the fastest first in the file; the shape is row-major. */
static szg_status read_shape(gguf_reader *reader, const char *name, directory *own,
                             szgi_tensor *tensor) {
    uint32_t dims;
    uint64_t size;
    SZG_TRY(szgi_gguf_u32(reader, &dims));
    if (dims > DIMS_MOST)
        return fail_tensor(reader, name, "has more than 4 sizes: the file is damaged");
    tensor->dims = (int)dims;
    tensor->count = 1;
    SZG_TRY(szgi_memory_reserve(reader->context, &own->shapes, &own->shape_room, own->sizes,
                                DIMS_MOST)); /* also for a tensor without sizes */
    int64_t *shape = own->shapes + own->sizes;
    bool empty = false;
    for (uint32_t i = 0; i < dims; i++) {
        SZG_TRY(szgi_gguf_u64(reader, &size));
        if (size > INT64_MAX / 64)
            return fail_tensor(reader, name, "has a size beyond 64 bits: the file is damaged");
        shape[dims - 1 - i] = (int64_t)size;
        empty = empty || size == 0;
    }
    for (uint32_t i = 0; i < dims && !empty; i++)
        if (__builtin_mul_overflow(tensor->count, shape[i], &tensor->count) ||
            tensor->count > INT64_MAX / 64)
            return fail_tensor(reader, name,
                               "its sizes multiply beyond 64 bits: the file is "
                               "damaged");
    if (empty)
        tensor->count = 0;
    own->sizes += dims;
    return SZG_OK;
}

/* The type, and the bytes that the elements take; -1 where the type does not tell. */
static szg_status read_type(gguf_reader *reader, const char *name, directory *own,
                            szgi_tensor *tensor) {
    uint32_t id;
    char text[TYPE_TEXT] = "";
    SZG_TRY(szgi_gguf_u32(reader, &id));
    const szgi_block_type *type = szgi_block_type_find(id);
    tensor->dtype = type->dtype;
    tensor->dtype_name = type->name;
    tensor->blocks = type->elements == 1 ? NULL : type;
    tensor->bytes = -1;
    if (!*type->name)
        snprintf(text, sizeof text, "GGML-%" PRIu32, id);
    SZG_TRY(add_text(reader, own, name));
    if (*text)
        SZG_TRY(add_text(reader, own, text));
    if (type->elements == 0)
        return SZG_OK;
    int64_t row = tensor->dims > 0 ? own->shapes[own->sizes - 1] : 1;
    if (row % type->elements != 0) {
        char problem[160];
        snprintf(problem, sizeof problem,
                 "rows of %" PRId64 " elements are no whole blocks of %d, which type %s has: the "
                 "file is damaged",
                 row, type->elements, type->name);
        return fail_tensor(reader, name, problem);
    }
    if (__builtin_mul_overflow(tensor->count / type->elements, type->bytes, &tensor->bytes))
        return fail_tensor(reader, name, "its sizes multiply beyond 64 bits: the file is damaged");
    return SZG_OK;
}

static szg_status read_tensor(gguf_reader *reader, directory *own, szgi_tensor *tensor) {
    char name[GGUF_NAME + 1];
    uint64_t offset;
    SZG_TRY(szgi_gguf_name(reader, name));
    SZG_TRY(read_shape(reader, name, own, tensor));
    SZG_TRY(read_type(reader, name, own, tensor));
    SZG_TRY(szgi_gguf_u64(reader, &offset));
    if (offset > INT64_MAX)
        return fail_tensor(reader, name, "its offset is beyond 63 bits: the file is damaged");
    tensor->offset = (int64_t)offset; /* within the data, until place_data */
    tensor->file = reader->file;
    tensor->source = reader->source;
    return SZG_OK;
}

/* Names and shapes stand one after the other, in the order of the tensors. */
static void place_texts(directory *own) {
    const char *text = own->texts;
    const int64_t *shape = own->shapes;
    for (int64_t i = 0; i < own->count; i++) {
        szgi_tensor *tensor = &own->tensor[i];
        tensor->name = text;
        text += strlen(text) + 1;
        if (!*tensor->dtype_name) {
            tensor->dtype_name = text;
            text += strlen(text) + 1;
        }
        tensor->shape = shape;
        shape += tensor->dims;
    }
}

static szg_status alignment_of(gguf_reader *reader, szgi_json_value metadata, int64_t *out) {
    *out = ALIGNMENT;
    if (!szgi_json_has(metadata, "general.alignment"))
        return SZG_OK;
    szgi_json_value value = szgi_json_member(metadata, "general.alignment");
    SZG_TRY(szgi_json_as_integer(reader->context, value, out));
    if (*out < 1 || *out > UINT32_MAX || (*out & (*out - 1)) != 0)
        return szgi_json_fail(reader->context, value,
                              "is %" PRId64 ", which is no power of two: the file is damaged",
                              *out);
    return SZG_OK;
}

static int by_offset(const void *a, const void *b) {
    const szgi_tensor *const *s = a, *const *t = b;
    if ((*s)->offset != (*t)->offset)
        return (*s)->offset < (*t)->offset ? -1 : 1;
    return ((*s)->bytes > (*t)->bytes) - ((*s)->bytes < (*t)->bytes);
}

static int64_t align(int64_t at, int64_t alignment) {
    return at > INT64_MAX - alignment ? INT64_MAX : (at + alignment - 1) & -alignment;
}

/* One tensor after `covered` bytes of the data, of which there are `size`; `next` is where the
 * tensor after it begins, or `size`. */
static szg_status check_place(gguf_reader *reader, szgi_tensor *tensor, int64_t covered,
                              int64_t alignment, int64_t size, int64_t next) {
    char problem[200] = "";
    int64_t at = tensor->offset;
    if (at % alignment != 0)
        snprintf(problem, sizeof problem,
                 "begins at byte %" PRId64 " of the data, which is no multiple of the alignment "
                 "%" PRId64 ": the file is damaged",
                 at, alignment);
    else if (at > size || (tensor->bytes >= 0 && tensor->bytes > size - at))
        snprintf(problem, sizeof problem,
                 "%" PRId64 " bytes from byte %" PRId64 " on reach beyond the %" PRId64
                 " bytes of data: the file is truncated; fetch it again",
                 tensor->bytes, at, size);
    else if (at < covered)
        snprintf(problem, sizeof problem,
                 "begins at byte %" PRId64 " of the data, within the tensor before it: the file is "
                 "damaged",
                 at);
    else if (at > align(covered, alignment))
        snprintf(problem, sizeof problem,
                 "begins at byte %" PRId64 " of the data, and bytes from %" PRId64
                 " on belong to no tensor: the file is damaged",
                 at, covered);
    if (*problem)
        return fail_tensor(reader, tensor->name, problem);
    if (tensor->bytes < 0)
        tensor->bytes = next > at ? next - at : 0;
    return SZG_OK;
}

static szg_status check_end(gguf_reader *reader, int64_t covered, int64_t alignment, int64_t size) {
    int64_t after = size - align(covered, alignment);
    if (after <= 0)
        return SZG_OK;
    return szgi_fail(reader->context, SZG_EDATA,
                     "%s: %" PRId64 " bytes after the last tensor belong to none: if the tensors "
                     "are known to be whole, cut the file with: truncate -s -%" PRId64 " %s",
                     reader->file, after, after, szgi_path_name(reader->file));
}

/* The tensors and the padding that aligns them cover the data. Then their offsets count from the
 * file's beginning. */
static szg_status place_data(gguf_reader *reader, directory *own, int64_t alignment) {
    szgi_tensor **order;
    int64_t begin = align(reader->at, alignment), covered = 0;
    int64_t size = reader->size > begin ? reader->size - begin : 0;
    SZG_TRY(szgi_memory_alloc(reader->context, own->count, &order));
    for (int64_t i = 0; i < own->count; i++)
        order[i] = &own->tensor[i];
    qsort(order, (size_t)own->count, sizeof *order, by_offset);
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < own->count && status == SZG_OK; i++) {
        int64_t next = i + 1 < own->count ? order[i + 1]->offset : size;
        status = check_place(reader, order[i], covered, alignment, size, next < size ? next : size);
        if (status == SZG_OK)
            covered = order[i]->offset + order[i]->bytes;
    }
    szgi_memory_free(order);
    SZG_TRY(status);
    for (int64_t i = 0; i < own->count; i++) {
        szgi_tensor *tensor = &own->tensor[i];
        tensor->offset += begin <= reader->size ? begin : reader->size; /* empty: at the end */
        tensor->data = reader->data ? reader->data + tensor->offset : NULL;
    }
    return check_end(reader, covered, alignment, size);
}

static szg_status read_directory(gguf_reader *reader, uint64_t count, directory *own) {
    /* A name's length, one byte of it, the number of sizes, the type and the offset. */
    const int64_t least = 8 + 1 + 4 + 4 + 8;
    snprintf(reader->what, sizeof reader->what, "the directory");
    SZG_TRY(szgi_gguf_expect(reader, count, least, "tensors"));
    for (uint64_t i = 0; i < count; i++) {
        snprintf(reader->what, sizeof reader->what, "tensor %" PRIu64 " of %" PRIu64, i + 1, count);
        SZG_TRY(szgi_memory_reserve(reader->context, &own->tensor, &own->room, own->count, 1));
        SZG_TRY(read_tensor(reader, own, &own->tensor[i]));
        own->count++;
    }
    place_texts(own);
    return SZG_OK;
}

/* Blocks have had another layout under the same numbers. */
static szg_status check_quantisation(gguf_reader *reader, const directory *own,
                                     szgi_json_value metadata) {
    szgi_json_value value = szgi_json_member(metadata, "general.quantization_version");
    int64_t version;
    bool blocks = false;
    for (int64_t i = 0; i < own->count; i++)
        blocks = blocks || own->tensor[i].blocks;
    if (!blocks || !szgi_json_has(metadata, "general.quantization_version"))
        return SZG_OK;
    SZG_TRY(szgi_json_as_integer(reader->context, value, &version));
    if (version != 2)
        return szgi_json_fail(reader->context, value,
                              "is %" PRId64 ", and szego reads the blocks of version 2: quantise "
                              "the model again with a current llama.cpp",
                              version);
    return SZG_OK;
}

szg_status szgi_gguf_read_tensors(gguf_reader *reader, uint64_t count, szgi_safetensors *set) {
    directory own = {.count = 0};
    szgi_shard *shard = &set->shard[set->shards - 1];
    szgi_json_value metadata = szgi_json_root(shard->header);
    int64_t alignment = 0;
    szg_status status = alignment_of(reader, metadata, &alignment);
    if (status == SZG_OK)
        status = read_directory(reader, count, &own);
    if (status == SZG_OK)
        status = check_quantisation(reader, &own, metadata);
    if (status == SZG_OK)
        status = place_data(reader, &own, alignment);
    if (status == SZG_OK)
        status =
            szgi_memory_grow(reader->context, &set->tensor, set->count, set->count + own.count);
    if (status == SZG_OK && own.count > 0)
        memcpy(set->tensor + set->count, own.tensor, (size_t)own.count * sizeof *own.tensor);
    if (status == SZG_OK) {
        set->count += own.count;
        shard->texts = own.texts;
        shard->shapes = own.shapes;
        own.texts = NULL;
        own.shapes = NULL;
    }
    close_directory(&own);
    return status;
}
