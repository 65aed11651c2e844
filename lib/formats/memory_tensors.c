/* Tensors that a program has in memory, as a set like that of a file. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/memory_tensors.h"
#include "safetensors_private.h"

szg_status szgi_asked_read(szg_context *context, const szgi_tensor *tensor, int64_t begin,
                           int64_t count, void *out) {
    SZG_TRY(szgi_context_check_cancel(context));
    if (tensor->asked->read(tensor->asked->user, tensor->number, begin, count, out) == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EIO,
                     "%s: tensor %s: bytes %" PRId64 " to %" PRId64
                     " could not be had: the caller's function says so",
                     tensor->file, SHOWN(tensor->name), begin, begin + count - 1);
}

static szg_status check_name(szg_context *context, const szg_tensors *from, int64_t index) {
    const char *name = from->tensor[index].name;
    if (!name || !*name)
        return szgi_fail(context, SZG_EDATA, "%s: tensor %" PRId64 " has no name", from->name,
                         index);
    if (szgi_utf8_check(name, strlen(name)) >= 0)
        return szgi_fail(context, SZG_EDATA, "%s: tensor %s: its name is not UTF-8", from->name,
                         SHOWN(name));
    return SZG_OK;
}

static szg_status check_source(szg_context *context, const szg_tensors *from, int64_t index) {
    const szg_tensor *tensor = &from->tensor[index];
    if (tensor->dims < 0 || tensor->dims > INT_MAX || (tensor->dims > 0 && !tensor->shape))
        return szgi_fail(context, SZG_EINVAL, "%s: tensor %s: %" PRId64 " dimensions without sizes",
                         from->name, SHOWN(tensor->name), tensor->dims);
    if (!tensor->dtype)
        return szgi_fail(context, SZG_EINVAL, "%s: tensor %s: no type is given", from->name,
                         SHOWN(tensor->name));
    return SZG_OK;
}

/* The product of the sizes. */
static szg_status count_elements(szg_context *context, const szgi_tensor *tensor, int64_t *out) {
    bool empty = false, large = false;
    *out = 1;
    for (int i = 0; i < tensor->dims; i++) {
        if (tensor->shape[i] < 0)
            return szgi_fail(context, SZG_EDATA, "%s: tensor %s: a size of %" PRId64 " is negative",
                             tensor->file, SHOWN(tensor->name), tensor->shape[i]);
        empty = empty || tensor->shape[i] == 0;
    }
    for (int i = 0; i < tensor->dims && !empty; i++)
        large =
            large || __builtin_mul_overflow(*out, tensor->shape[i], out) || *out > INT64_MAX / 64;
    if (large)
        return szgi_fail(context, SZG_EDATA, "%s: tensor %s: the sizes multiply beyond 64 bits",
                         tensor->file, SHOWN(tensor->name));
    *out = empty ? 0 : *out;
    return SZG_OK;
}

static const char *copied(char **at, const char *text) {
    size_t size = strlen(text) + 1;
    const char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

/* One tensor; its texts go to *text, its sizes to *shape. */
static szg_status take(szg_context *context, szgi_safetensors *set, const szg_tensors *from,
                       int64_t index, char **text, int64_t **shape) {
    const szgi_shard *shard = &set->shard[0];
    const szg_tensor *given = &from->tensor[index];
    const szgi_dtype_info *info = szgi_dtype_find(given->dtype);
    szgi_tensor *tensor = &set->tensor[index];
    *tensor = (szgi_tensor){.name = copied(text, given->name),
                            .dtype = given->refusal ? SZGI_DTYPE_OTHER : info->dtype,
                            .dtype_name = copied(text, given->dtype),
                            .dims = (int)given->dims,
                            .shape = *shape,
                            .data = given->data,
                            .file = shard->file,
                            .number = index};
    for (int i = 0; i < tensor->dims; i++)
        *(*shape)++ = given->shape[i];
    set->count++;
    SZG_TRY(count_elements(context, tensor, &tensor->count));
    tensor->bytes = (tensor->count * info->bits + 7) / 8;
    if (given->refusal)
        return szgi_safetensors_refuse(context, set, index, given->refusal);
    tensor->asked = tensor->data ? NULL : shard->asked;
    if (tensor->data || shard->asked->read || tensor->bytes == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%s: tensor %s: has no data, and `read` is NULL",
                     tensor->file, SHOWN(tensor->name));
}

static szg_status take_all(szg_context *context, szgi_safetensors *set, const szg_tensors *from) {
    int64_t texts = 0, sizes = 0;
    if (from->count < 0 || (from->count > 0 && !from->tensor))
        return szgi_fail(context, SZG_EINVAL, "%s: %" PRId64 " tensors, and no array of them",
                         from->name, from->count);
    for (int64_t i = 0; i < from->count; i++) {
        SZG_TRY(check_name(context, from, i));
        SZG_TRY(check_source(context, from, i));
        texts += (int64_t)(strlen(from->tensor[i].name) + strlen(from->tensor[i].dtype)) + 2;
        if (__builtin_add_overflow(sizes, from->tensor[i].dims, &sizes))
            return szgi_fail(context, SZG_EINVAL, "%s: too many dimensions", from->name);
    }
    szgi_shard *shard = &set->shard[0];
    SZG_TRY(szgi_memory_alloc(context, texts, &shard->texts));
    SZG_TRY(szgi_memory_alloc(context, sizes, &shard->shapes));
    SZG_TRY(szgi_memory_alloc(context, 1, &shard->asked));
    SZG_TRY(szgi_memory_alloc(context, from->count, &set->tensor));
    *shard->asked = (szgi_asked){from->read, from->user};
    char *text = shard->texts;
    int64_t *shape = shard->shapes;
    for (int64_t i = 0; i < from->count; i++)
        SZG_TRY(take(context, set, from, i, &text, &shape));
    return szgi_shards_complete(context, set);
}

szg_status szgi_memory_tensors_open(szg_context *context, const szg_tensors *from,
                                    szgi_safetensors **out) {
    szgi_safetensors *set;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &set));
    szg_status status = szgi_shard_add(context, set, from->name);
    if (status == SZG_OK)
        status = szgi_json_open_object_named(context, from->name, &set->shard[0].header);
    if (status == SZG_OK)
        status = take_all(context, set, from);
    if (status != SZG_OK)
        szgi_safetensors_close(&set);
    *out = set;
    return status;
}
