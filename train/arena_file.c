/* Arenas in safetensors files: each tensor under its name, with a prefix where several arenas share
 * a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <szego/memory.h>
#include "arena_file.h"
#include "model_private.h"

enum { CHUNK = 1 << 16 };

/* The tensors of one arena on the host, in front of those of the next. */
typedef struct file_tensors {
    szg_tensor *tensor;
    char (*name)[ARENA_NAME];
    unsigned char **bytes; /* one block an arena */
    int64_t arenas, tensors;
} file_tensors;

static void close_tensors(file_tensors *self) {
    for (int64_t i = 0; self->bytes && i < self->arenas; i++)
        szg_memory_free(self->bytes[i]);
    szg_memory_free(self->bytes);
    szg_memory_free(self->name);
    szg_memory_free(self->tensor);
}

/* Tensors, and numbers, of an arena. */
static int64_t tensors_of(const szg_model *model, const void *arena) {
    return arena == szg_model_arena(model) ? szg_model_tensors(model) : szg_model_parameters(model);
}

static int64_t numbers_of(const szg_model *model, const void *arena) {
    return arena == szg_model_arena(model) ? szg_model_numbers(model) : szg_model_count(model);
}

static szg_status fetch_arena(szg_context *context, const szg_model *model, const void *arena,
                              unsigned char **out) {
    int64_t bytes;
    SZG_TRY(szg_memory_product(context, numbers_of(model, arena), szg_network_real_size(context),
                               &bytes));
    SZG_TRY(szg_memory_alloc(context, bytes, 1, out));
    return szg_device_download(context, *out, arena, bytes);
}

static void describe_arena(const szg_model *model, const arena_part *part, int64_t real_size,
                           const unsigned char *bytes, szg_tensor *tensor,
                           char (*name)[ARENA_NAME]) {
    for (int64_t i = 0; i < tensors_of(model, part->arena); i++) {
        const szg_parameter *parameter = szg_model_parameter(model, i);
        snprintf(name[i], ARENA_NAME, "%s%s", part->prefix, parameter->name);
        tensor[i] = (szg_tensor){.name = name[i],
                                 .dtype = real_size == 8 ? SZG_DTYPE_F64 : SZG_DTYPE_F32,
                                 .dims = parameter->dims,
                                 .shape = parameter->shape,
                                 .data = bytes + parameter->offset * real_size};
    }
}

static szg_status collect(szg_context *context, const szg_model *model, const arena_part *parts,
                          int64_t count, file_tensors *out) {
    int64_t capacity = count * szg_model_tensors(model);
    out->arenas = count;
    SZG_TRY(szg_memory_alloc(context, count, sizeof *out->bytes, &out->bytes));
    SZG_TRY(szg_memory_alloc(context, capacity, sizeof *out->tensor, &out->tensor));
    SZG_TRY(szg_memory_alloc(context, capacity, sizeof *out->name, &out->name));
    for (int64_t a = 0; a < count; a++) {
        SZG_TRY(fetch_arena(context, model, parts[a].arena, &out->bytes[a]));
        describe_arena(model, &parts[a], szg_network_real_size(context), out->bytes[a],
                       out->tensor + out->tensors, out->name + out->tensors);
        out->tensors += tensors_of(model, parts[a].arena);
    }
    return SZG_OK;
}

szg_status szg_arena_write(szg_context *context, const szg_model *model, const char *path,
                           const arena_part *parts, int64_t count, const char *const *metadata,
                           int64_t pairs) {
    file_tensors tensors = {0};
    szg_status status = collect(context, model, parts, count, &tensors);
    if (status == SZG_OK)
        status =
            szg_safetensors_write(context, path, tensors.tensor, tensors.tensors, metadata, pairs);
    close_tensors(&tensors);
    return status;
}

/* The released code keeps its position rows as [1, length, width]. */
static bool same_shape(const szg_tensor *tensor, const szg_parameter *parameter) {
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

static szg_status missing(szg_context *context, const szg_parameter *parameter, const char *name) {
    return szg_fail(context, SZG_EDATA, "tensor %s is missing: %s", name,
                    parameter->frozen
                        ? "it is drawn, not trained, and nothing tells its numbers: name a file of "
                          "them in model.encoding with table=ROWS.npy"
                        : "the configuration describes another model than the one that was saved");
}

/* NULL: a frozen tensor is missing whose numbers the configuration gives. */
static szg_status find_tensor(szg_context *context, const szg_safetensors *file, const char *prefix,
                              const szg_model *model, const szg_parameter *parameter,
                              const szg_tensor **out) {
    char name[ARENA_NAME], text[64];
    snprintf(name, sizeof name, "%s%s", prefix, parameter->name);
    const szg_tensor *tensor = *out = szg_safetensors_find(file, name);
    if (!tensor)
        return parameter->frozen && model_table_given(model) ? SZG_OK
                                                             : missing(context, parameter, name);
    if (same_shape(tensor, parameter))
        return SZG_OK;
    szg_tensor wanted = {.dims = parameter->dims, .shape = parameter->shape};
    char other[64];
    return szg_fail(context, SZG_EDATA,
                    "tensor %s has shape %s, the model that the configuration describes needs %s",
                    name, szg_tensor_shape_text(tensor, text, sizeof text),
                    szg_tensor_shape_text(&wanted, other, sizeof other));
}

static szg_status read_tensor(szg_context *context, szg_model *model, const szg_tensor *tensor,
                              int64_t offset, void *arena, double *values) {
    SZG_TRY(szg_tensor_check(context, tensor));
    for (int64_t start = 0; start < tensor->count; start += CHUNK) {
        int64_t count = tensor->count - start < CHUNK ? tensor->count - start : CHUNK;
        SZG_TRY(szg_tensor_read(context, tensor, start, count, values));
        SZG_TRY(szg_model_write(context, model, arena, offset + start, count, values));
    }
    return SZG_OK;
}

/* Frozen numbers that the SPEC decides too: both must say the same. */
static szg_status check_given(szg_context *context, szg_model *model, int64_t index) {
    const szg_parameter *parameter = szg_model_parameter(model, index);
    void *arena = szg_model_arena(model);
    int64_t count = parameter->count;
    double *both;
    SZG_TRY(szg_memory_alloc(context, 2 * count, sizeof *both, &both));
    szg_status status = szg_model_read(context, model, arena, parameter->offset, count, both);
    if (status == SZG_OK)
        status = model_initialise_tensor(context, model, 0, index);
    if (status == SZG_OK)
        status = szg_model_read(context, model, arena, parameter->offset, count, both + count);
    if (status == SZG_OK && memcmp(both, both + count, (size_t)count * sizeof *both) != 0)
        status = szg_fail(context, SZG_EDATA,
                          "tensor %s has other numbers than model.encoding=%.80s: give the table "
                          "or seed that it was trained with, or none",
                          parameter->name, szg_model_settings(model)->model.encoding);
    szg_memory_free(both);
    return status;
}

static szg_status read_arena(szg_context *context, szg_model *model, const szg_safetensors *file,
                             const arena_part *part, double *values) {
    for (int64_t i = 0; i < tensors_of(model, part->arena); i++) {
        const szg_parameter *parameter = szg_model_parameter(model, i);
        const szg_tensor *tensor;
        SZG_TRY(find_tensor(context, file, part->prefix, model, parameter, &tensor));
        if (tensor)
            SZG_TRY(read_tensor(context, model, tensor, parameter->offset, part->arena, values));
        else
            SZG_TRY(model_initialise_tensor(context, model, 0, i));
        if (tensor && parameter->frozen && model_table_given(model))
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
        const szg_parameter *parameter = szg_model_find(model, name + length);
        if (parameter && (!parameter->frozen || parts[a].arena == szg_model_arena(model)))
            return true;
    }
    return false;
}

/* What the released code's layers keep besides parameters: layers.L.rope.inv_freq, .cos, .sin. The
 * encoding makes such numbers anew. */
static bool is_buffer(const szg_model *model, const char *name) {
    static const char *const buffers[] = {"inv_freq", "cos", "sin"};
    const szg_model_config *c = &model->config.model;
    if (!(szg_encoding_attaches(model->encoding) & SZG_ATTACH_ROTARY))
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
                              const szg_safetensors *file, const arena_part *parts, int64_t count) {
    const char *buffer = NULL;
    int64_t buffers = 0;
    for (int64_t i = 0; i < szg_safetensors_count(file); i++) {
        const char *name = szg_safetensors_tensor(file, i)->name;
        if (belongs(model, name, parts, count))
            continue;
        if (*parts->prefix || !is_buffer(model, name))
            return szg_fail(context, SZG_EDATA,
                            "tensor %.100s has no place in the model that the configuration "
                            "describes: check encoding, layers and the other switches of `model`",
                            name);
        buffer = name;
        buffers++;
    }
    if (buffers > 0)
        szg_say(context, SZG_NOTE,
                "%" PRId64 " tensor%s that the released code keeps for its rotation (%.100s) %s "
                "skipped: model.encoding=%.80s makes the numbers anew",
                buffers, buffers == 1 ? "" : "s", buffer, buffers == 1 ? "is" : "are",
                model->config.model.encoding);
    return SZG_OK;
}

szg_status szg_arena_read(szg_context *context, szg_model *model, const szg_safetensors *file,
                          const arena_part *parts, int64_t count) {
    double *values;
    SZG_TRY(szg_memory_alloc(context, CHUNK, sizeof *values, &values));
    szg_status status = SZG_OK;
    for (int64_t a = 0; a < count && status == SZG_OK; a++)
        status = read_arena(context, model, file, &parts[a], values);
    szg_memory_free(values);
    SZG_TRY(status);
    return check_extra(context, model, file, parts, count);
}
