/* Arenas in safetensors files: each tensor under its name, with a prefix where several arenas share
 * a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "arena_file.h"
#include "train/decoder/model_private.h"

enum { CHUNK = 1 << 16, MOST_PAIRS = 8 };

/* The tensors of one arena on the host, in front of those of the next. */
typedef struct file_tensors {
    szgi_tensor *tensor;
    char (*name)[ARENA_NAME];
    unsigned char **bytes; /* one block an arena */
    int64_t arenas, tensors;
} file_tensors;

static void close_tensors(file_tensors *self) {
    for (int64_t i = 0; self->bytes && i < self->arenas; i++)
        szgi_memory_free(self->bytes[i]);
    szgi_memory_free(self->bytes);
    szgi_memory_free(self->name);
    szgi_memory_free(self->tensor);
}

/* Tensors, and numbers, of an arena. */
static int64_t tensors_of(const szg_model *model, const void *arena) {
    return arena == szgi_model_arena(model) ? szgi_model_tensors(model)
                                            : szgi_model_parameters(model);
}

static int64_t numbers_of(const szg_model *model, const void *arena) {
    return arena == szgi_model_arena(model) ? szgi_model_numbers(model) : szgi_model_count(model);
}

static szg_status fetch_arena(szg_context *context, const szg_model *model, const void *arena,
                              unsigned char **out) {
    int64_t bytes;
    SZG_TRY(szgi_memory_product(context, numbers_of(model, arena), szgi_network_real_size(context),
                                &bytes));
    SZG_TRY(szgi_memory_alloc(context, bytes, out));
    return szgi_device_download(context, *out, arena, bytes);
}

static void describe_arena(const szg_model *model, const arena_part *part, int64_t real_size,
                           const unsigned char *bytes, szgi_tensor *tensor,
                           char (*name)[ARENA_NAME]) {
    for (int64_t i = 0; i < tensors_of(model, part->arena); i++) {
        const szgi_parameter *parameter = szgi_model_parameter(model, i);
        snprintf(name[i], ARENA_NAME, "%s%s", part->prefix, parameter->name);
        tensor[i] = (szgi_tensor){.name = name[i],
                                  .dtype = real_size == 8 ? SZGI_DTYPE_F64 : SZGI_DTYPE_F32,
                                  .dims = parameter->dims,
                                  .shape = parameter->shape,
                                  .data = bytes + parameter->offset * real_size,
                                  .bytes = parameter->count * real_size};
    }
}

static szg_status collect(szg_context *context, const szg_model *model, const arena_part *parts,
                          int64_t count, file_tensors *out) {
    int64_t capacity = count * szgi_model_tensors(model);
    out->arenas = count;
    SZG_TRY(szgi_memory_alloc(context, count, &out->bytes));
    SZG_TRY(szgi_memory_alloc(context, capacity, &out->tensor));
    SZG_TRY(szgi_memory_alloc(context, capacity, &out->name));
    for (int64_t a = 0; a < count; a++) {
        SZG_TRY(fetch_arena(context, model, parts[a].arena, &out->bytes[a]));
        describe_arena(model, &parts[a], szgi_network_real_size(context), out->bytes[a],
                       out->tensor + out->tensors, out->name + out->tensors);
        out->tensors += tensors_of(model, parts[a].arena);
    }
    return SZG_OK;
}

/* ---- The checksum ---- */

static const char checksum_key[] = "crc32";

static uint32_t add_bytes(uint32_t check, const void *data, int64_t bytes) {
    return (uint32_t)crc32_z(check, data, (size_t)bytes);
}

static uint32_t add_text(uint32_t check, const char *text) {
    return add_bytes(check, text, (int64_t)strlen(text) + 1);
}

/* Of name, type, shape and numbers, by zlib's CRC-32. Those of all tensors are summed, so that
 * their order does not matter. */
static szg_status check_of(szg_context *context, const szgi_tensor *tensor, uint32_t *out) {
    unsigned char block[1 << 14];
    int32_t type = tensor->dtype;
    uint32_t check = add_bytes(add_text(0, tensor->name), &type, sizeof type);
    check = add_bytes(check, tensor->shape, tensor->dims * (int64_t)sizeof *tensor->shape);
    if (tensor->data)
        check = add_bytes(check, tensor->data, tensor->bytes);
    for (int64_t at = 0; !tensor->data && at < tensor->bytes;) {
        int64_t left = tensor->bytes - at,
                count = left < (int64_t)sizeof block ? left : (int64_t)sizeof block;
        SZG_TRY(szgi_source_read(context, tensor->source, tensor->offset + at, count, block));
        check = add_bytes(check, block, count);
        at += count;
    }
    *out = check;
    return SZG_OK;
}

static szg_status write_tensors(szg_context *context, const char *path, const file_tensors *tensors,
                                const char *const *metadata, int64_t pairs, bool checked) {
    const char *all[2 * MOST_PAIRS];
    char text[16];
    uint32_t check = 0;
    if (pairs + checked > MOST_PAIRS)
        return szgi_fail(context, SZG_EINTERNAL, "%s: %" PRId64 " pairs of metadata", path, pairs);
    for (int64_t i = 0; i < 2 * pairs; i++)
        check = add_text(check, all[i] = metadata[i]);
    for (int64_t i = 0; checked && i < tensors->tensors; i++) {
        uint32_t own;
        SZG_TRY(check_of(context, &tensors->tensor[i], &own));
        check += own;
    }
    snprintf(text, sizeof text, "%08" PRIx32, check);
    if (checked) {
        all[2 * pairs] = checksum_key;
        all[2 * pairs + 1] = text;
    }
    return szgi_safetensors_write(context, path, tensors->tensor, tensors->tensors, all,
                                  pairs + checked);
}

szg_status szgi_arena_write(szg_context *context, const szg_model *model, const char *path,
                            const arena_part *parts, int64_t count, const char *const *metadata,
                            int64_t pairs, bool checked) {
    file_tensors tensors = {0};
    szg_status status = collect(context, model, parts, count, &tensors);
    if (status == SZG_OK)
        status = write_tensors(context, path, &tensors, metadata, pairs, checked);
    close_tensors(&tensors);
    return status;
}

szg_status szgi_arena_check(szg_context *context, const szgi_safetensors *file,
                            const char *const *keys, int64_t count) {
    const char *stored = szgi_safetensors_metadata(file, checksum_key);
    char text[16];
    uint32_t check = 0;
    if (!stored)
        return szgi_fail(context, SZG_EDATA,
                         "has no checksum (an older szego wrote it): train anew in another folder, "
                         "or continue with the version that wrote it");
    for (int64_t i = 0; i < count; i++) {
        const char *value = szgi_safetensors_metadata(file, keys[i]);
        check = add_text(add_text(check, keys[i]), value ? value : "");
    }
    for (int64_t i = 0; i < szgi_safetensors_count(file); i++) {
        uint32_t own;
        SZG_TRY(check_of(context, szgi_safetensors_tensor(file, i), &own));
        check += own;
    }
    snprintf(text, sizeof text, "%08" PRIx32, check);
    if (strcmp(stored, text) == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "is damaged: the checksum of its contents is %s, but it records %.20s: "
                     "restore a copy, or train anew in another folder",
                     text, stored);
}

/* The released code keeps its position rows as [1, length, width]. */
static bool same_shape(const szgi_tensor *tensor, const szgi_parameter *parameter) {
    int dims = parameter->dims;
    const int64_t *shape = tensor->shape;
    if (tensor->dims == dims + 1 && shape[0] == 1 && strcmp(parameter->name, "pos_embed") == 0)
        shape++;
    else if (tensor->dims != dims)
        return false;
    for (int i = 0; i < dims; i++)
        if (shape[i] != parameter->shape[i])
            return false;
    return true;
}

static szg_status missing(szg_context *context, const szgi_parameter *parameter, const char *name) {
    return szgi_fail(context, SZG_EDATA, "tensor %s is missing: %s", name,
                     parameter->frozen
                         ? "it is drawn, not trained, and its numbers are unknown: name a file of "
                           "them in model.encoding with table=ROWS.npy"
                         : "the configuration describes another model than the one that was saved");
}

/* NULL: a frozen tensor is missing whose numbers the configuration gives. */
static szg_status find_tensor(szg_context *context, const szgi_safetensors *file,
                              const char *prefix, const szg_model *model,
                              const szgi_parameter *parameter, const szgi_tensor **out) {
    char name[ARENA_NAME], text[64];
    snprintf(name, sizeof name, "%s%s", prefix, parameter->name);
    const szgi_tensor *tensor = *out = szgi_safetensors_find(file, name);
    if (!tensor)
        return parameter->frozen && szgi_model_table_given(model)
                   ? SZG_OK
                   : missing(context, parameter, name);
    if (same_shape(tensor, parameter))
        return SZG_OK;
    szgi_tensor wanted = {.dims = parameter->dims, .shape = parameter->shape};
    char other[64];
    return szgi_fail(
        context, SZG_EDATA,
        "tensor %s has shape %s, but the model that the configuration describes needs %s", name,
        szgi_tensor_shape_text(tensor, text, sizeof text),
        szgi_tensor_shape_text(&wanted, other, sizeof other));
}

static szg_status read_tensor(szg_context *context, szg_model *model, const szgi_tensor *tensor,
                              int64_t offset, void *arena, double *values) {
    SZG_TRY(szgi_tensor_check(context, tensor));
    for (int64_t start = 0; start < tensor->count; start += CHUNK) {
        int64_t count = tensor->count - start < CHUNK ? tensor->count - start : CHUNK;
        SZG_TRY(szgi_tensor_read(context, tensor, start, count, values));
        SZG_TRY(szgi_model_write(context, model, arena, offset + start, count, values));
    }
    return SZG_OK;
}

/* Frozen numbers that the SPEC decides too: both must say the same. */
static szg_status check_given(szg_context *context, szg_model *model, int64_t index) {
    const szgi_parameter *parameter = szgi_model_parameter(model, index);
    void *arena = szgi_model_arena(model);
    int64_t count = parameter->count;
    double *both;
    SZG_TRY(szgi_memory_alloc(context, 2 * count, &both));
    szg_status status = szgi_model_read(context, model, arena, parameter->offset, count, both);
    if (status == SZG_OK)
        status = szgi_model_initialise_tensor(context, model, 0, index);
    if (status == SZG_OK)
        status = szgi_model_read(context, model, arena, parameter->offset, count, both + count);
    if (status == SZG_OK && memcmp(both, both + count, (size_t)count * sizeof *both) != 0)
        status = szgi_fail(context, SZG_EDATA,
                           "tensor %s has other numbers than model.encoding=%.80s: give the table "
                           "or seed that it was trained with, or none",
                           parameter->name, szgi_model_settings(model)->model.encoding);
    szgi_memory_free(both);
    return status;
}

static szg_status read_arena(szg_context *context, szg_model *model, const szgi_safetensors *file,
                             const arena_part *part, double *values) {
    for (int64_t i = 0; i < tensors_of(model, part->arena); i++) {
        const szgi_parameter *parameter = szgi_model_parameter(model, i);
        const szgi_tensor *tensor;
        SZG_TRY(find_tensor(context, file, part->prefix, model, parameter, &tensor));
        if (tensor)
            SZG_TRY(read_tensor(context, model, tensor, parameter->offset, part->arena, values));
        else
            SZG_TRY(szgi_model_initialise_tensor(context, model, 0, i));
        if (tensor && parameter->frozen && szgi_model_table_given(model))
            SZG_TRY(check_given(context, model, i));
    }
    return SZG_OK;
}

static bool belongs(const szg_model *model, const char *name, const arena_part *parts,
                    int64_t count) {
    for (int64_t a = 0; a < count; a++) {
        size_t length = strlen(parts[a].prefix);
        if (strncmp(name, parts[a].prefix, length) != 0)
            continue;
        const szgi_parameter *parameter = szgi_model_find(model, name + length);
        if (parameter && (!parameter->frozen || parts[a].arena == szgi_model_arena(model)))
            return true;
    }
    return false;
}

/* What the released code's layers keep besides parameters: layers.L.rope.inv_freq, .cos, .sin. The
 * encoding makes such numbers anew. */
static bool is_buffer(const szg_model *model, const char *name) {
    static const char *const buffers[] = {"inv_freq", "cos", "sin"};
    const szg_model_config *c = &model->config.model;
    if (!(szgi_encoding_attaches(model->encoding) & SZGI_ATTACH_ROTARY))
        return false;
    for (int64_t layer = 0; layer < c->layers; layer++)
        for (int i = 0; i < 3; i++) {
            char own[ARENA_NAME];
            snprintf(own, sizeof own, "layers.%" PRId64 ".rope.%s", layer, buffers[i]);
            if (strcmp(name, own) == 0)
                return true;
        }
    return false;
}

static szg_status check_extra(szg_context *context, const szg_model *model,
                              const szgi_safetensors *file, const arena_part *parts,
                              int64_t count) {
    const char *buffer = NULL;
    int64_t buffers = 0;
    for (int64_t i = 0; i < szgi_safetensors_count(file); i++) {
        const char *name = szgi_safetensors_tensor(file, i)->name;
        if (belongs(model, name, parts, count))
            continue;
        if (*parts->prefix || !is_buffer(model, name))
            return szgi_fail(context, SZG_EDATA,
                             "tensor %.100s does not belong to the model that the configuration "
                             "describes: check encoding, layers and the other switches of `model`",
                             name);
        buffer = name;
        buffers++;
    }
    if (buffers > 0)
        szgi_say(context, SZG_NOTE,
                 "%" PRId64 " tensor%s that the released code keeps for its rotation (%.100s) %s "
                 "skipped: model.encoding=%.80s makes the numbers anew",
                 buffers, buffers == 1 ? "" : "s", buffer, buffers == 1 ? "is" : "are",
                 model->config.model.encoding);
    return SZG_OK;
}

szg_status szgi_arena_read(szg_context *context, szg_model *model, const szgi_safetensors *file,
                           const arena_part *parts, int64_t count) {
    double *values;
    SZG_TRY(szgi_memory_alloc(context, CHUNK, &values));
    szg_status status = SZG_OK;
    for (int64_t a = 0; a < count && status == SZG_OK; a++)
        status = read_arena(context, model, file, &parts[a], values);
    szgi_memory_free(values);
    SZG_TRY(status);
    return check_extra(context, model, file, parts, count);
}
