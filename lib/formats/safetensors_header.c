#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "npy_private.h"
#include "safetensors_private.h"

enum { LENGTH_BYTES = 8, HEADER_LIMIT = 100000000 };

static const char metadata_key[] = "__metadata__";

bool szgi_path_is_pytorch(const char *path) {
    static const char *const endings[] = {".bin", ".pt", ".pth", ".ckpt"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (szgi_path_ends(path, endings[i]))
            return true;
    return false;
}

/* Takes the name of a PyTorch file. */
#define CONVERT                                                                                    \
    "python -c \"import torch; from safetensors.torch import save_file; "                          \
    "x = torch.load('%s', map_location='cpu', weights_only=True); "                                \
    "x = x.get('state_dict', x.get('model', x)) if isinstance(x, dict) else {'tensor': x}; "       \
    "save_file({k: v.clone().contiguous() for k, v in x.items() "                                  \
    "if isinstance(v, torch.Tensor)}, 'model.safetensors')\""

bool szgi_path_is_distributed(const char *path) {
    return szgi_path_ends(path, ".distcp") || strcmp(szgi_path_name(path), ".metadata") == 0;
}

szg_status szgi_distributed_refuse(szg_context *context, const char *folder, int length) {
    return szgi_fail(context, SZG_EDATA,
                     "%.*s: is a checkpoint of torch.distributed.checkpoint, in parts that szego "
                     "does not read: make one file of it: python -m "
                     "torch.distributed.checkpoint.format_utils dcp_to_torch '%.*s' model.pt, and "
                     "then safetensors: " CONVERT,
                     length, folder, length, folder, "model.pt");
}

/* Other formats that arrive under a checkpoint's name, told by their first bytes. */
static szg_status refuse_other_formats(szg_context *context, const char *file,
                                       const unsigned char *data, int64_t size) {
    SZG_TRY(szgi_lfs_refuse(context, file, data, size));
    bool zip = size >= 4 && memcmp(data, "PK\3\4", 4) == 0;
    char names[NPZ_NAMES] = "";
    bool npz = zip && (szgi_npz_names(context, file, names) || szgi_path_ends(file, ".npz"));
    if (npz)
        return szgi_fail(context, SZG_EDATA,
                         "%s: is an archive of NumPy arrays%s%s: save them as tensors: python -c "
                         "\"import numpy; from safetensors.numpy import save_file; save_file({k: "
                         "numpy.ascontiguousarray(v) for k, v in numpy.load('%s').items()}, "
                         "'arrays.safetensors')\"",
                         file, *names ? ": " : "", names, szgi_path_name(file));
    if (size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: is a NumPy array, and safetensors are needed here: `szego logits` "
                         "reads logits, queries and keys from npy, `szego spectrum` lags",
                         file);
    if (szgi_path_is_distributed(file)) {
        int length = (int)(szgi_path_name(file) - file);
        return szgi_distributed_refuse(context, length ? file : ".", length ? length : 1);
    }
    bool named = szgi_path_is_pytorch(file);
    bool pickle = size >= 2 && data[0] == 0x80 && data[1] >= 2 && data[1] <= 5 &&
                  (size < LENGTH_BYTES + 1 || data[LENGTH_BYTES] != '{');
    if (zip || pickle || named)
        return szgi_fail(
            context, SZG_EDATA,
            "%s: is a PyTorch file, which can run code when read; convert it: " CONVERT, file,
            szgi_path_name(file));
    if (size >= 4 && memcmp(data, "GGUF", 4) == 0)
        return szgi_fail(
            context, SZG_EDATA,
            "%s: is a GGUF file, and safetensors are needed here: use the files that it was made "
            "from (szego checkpoint reads GGUF itself)",
            file);
    return SZG_OK;
}

int64_t szgi_shard_head(const unsigned char *start, int64_t size) {
    uint64_t length = 0;
    if (size >= LENGTH_BYTES)
        memcpy(&length, start, sizeof length);
    if (size >= LENGTH_BYTES && length <= HEADER_LIMIT && (int64_t)length <= size - LENGTH_BYTES)
        return LENGTH_BYTES + (int64_t)length;
    return size < SHARD_START ? size : SHARD_START;
}

/* Finds the header's text: data[8 .. 8 + *length - 1]. */
static szg_status locate_header(szg_context *context, const char *file, const unsigned char *data,
                                int64_t size, int64_t *length) {
    SZG_TRY(refuse_other_formats(context, file, data, size));
    if (size < LENGTH_BYTES)
        return szgi_fail(context, SZG_EDATA,
                         "%s: is truncated: %" PRId64 " bytes, and the header's length alone takes "
                         "8; fetch the file again",
                         file, size);
    uint64_t value;
    memcpy(&value, data, sizeof value);
    if (value > HEADER_LIMIT)
        return szgi_fail(context, SZG_EDATA,
                         "%s: byte 0: a header of %" PRIu64 " bytes exceeds the format's 100 MB: "
                         "this is not a safetensors file, or it is damaged",
                         file, value);
    *length = (int64_t)value;
    if (*length > size - LENGTH_BYTES)
        return szgi_fail(context, SZG_EDATA,
                         "%s: byte 0: a header of %" PRId64
                         " bytes reaches beyond the file's %" PRId64
                         ": the file is truncated; fetch it again",
                         file, *length, size);
    if (*length == 0 || data[LENGTH_BYTES] != '{')
        return szgi_fail(context, SZG_EDATA,
                         "%s: byte 8: the header does not begin with {: this is not a safetensors "
                         "file, or it is damaged",
                         file);
    int64_t bad = szgi_utf8_check((const char *)data + LENGTH_BYTES, (size_t)*length);
    if (bad >= 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: byte %" PRId64 ": the header is not valid UTF-8: the file is damaged",
                         file, LENGTH_BYTES + bad);
    return SZG_OK;
}

static szg_status check_metadata(szg_context *context, szgi_json_value metadata) {
    const char *text;
    SZG_TRY(szgi_json_as_object(context, metadata));
    for (szgi_json_value member = {0}; szgi_json_next(metadata, &member);)
        SZG_TRY(szgi_json_as_text(context, member, &text));
    return SZG_OK;
}

static szg_status read_shape(szg_context *context, szgi_json_value entry, int64_t *shape,
                             szgi_tensor *tensor) {
    szgi_json_value list = szgi_json_member(entry, "shape");
    SZG_TRY(szgi_json_as_array(context, list));
    tensor->dims = (int)szgi_json_count(list);
    tensor->shape = shape;
    tensor->count = 1;
    bool empty = false;
    for (int i = 0; i < tensor->dims; i++) {
        szgi_json_value size = szgi_json_element(list, i);
        SZG_TRY(szgi_json_as_integer(context, size, &shape[i]));
        if (shape[i] < 0)
            return szgi_json_fail(context, size, "a size of %" PRId64 " is negative", shape[i]);
        empty = empty || shape[i] == 0;
    }
    for (int i = 0; i < tensor->dims && !empty; i++)
        if (__builtin_mul_overflow(tensor->count, shape[i], &tensor->count) ||
            tensor->count > INT64_MAX / 64)
            return szgi_json_fail(context, list, "the sizes multiply beyond 64 bits");
    if (empty)
        tensor->count = 0;
    return SZG_OK;
}

/* Where a file's data begin, and how much there is. */
typedef struct data_place {
    const unsigned char *data; /* NULL: in the file */
    int64_t offset, size;
} data_place;

static szg_status read_offsets(szg_context *context, szgi_json_value entry, const data_place *place,
                               szgi_tensor *tensor) {
    szgi_json_value list = szgi_json_member(entry, "data_offsets");
    int64_t begin, end;
    SZG_TRY(szgi_json_as_array(context, list));
    if (szgi_json_count(list) != 2)
        return szgi_json_fail(context, list, "needs two numbers, begin and end, not %" PRId64,
                              szgi_json_count(list));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_element(list, 0), &begin));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_element(list, 1), &end));
    if (begin < 0 || end < begin)
        return szgi_json_fail(context, list, "bytes %" PRId64 " to %" PRId64 " are not a range",
                              begin, end);
    if (end > place->size)
        return szgi_json_fail(context, list,
                              "bytes %" PRId64 " to %" PRId64 " reach beyond the %" PRId64
                              " bytes of data: the file is truncated; fetch it again",
                              begin, end, place->size);
    tensor->data = place->data ? place->data + begin : NULL;
    tensor->offset = place->offset + begin;
    tensor->bytes = end - begin;
    return SZG_OK;
}

static szg_status read_tensor(szg_context *context, szgi_json_value entry, int64_t *shape,
                              const data_place *place, szgi_tensor *tensor) {
    SZG_TRY(szgi_json_as_object(context, entry));
    tensor->name = entry.key;
    szgi_json_value type = szgi_json_member(entry, "dtype");
    SZG_TRY(szgi_json_as_text(context, type, &tensor->dtype_name));
    const szgi_dtype_info *info = szgi_dtype_find(tensor->dtype_name);
    tensor->dtype = info->dtype;
    SZG_TRY(read_shape(context, entry, shape, tensor));
    SZG_TRY(read_offsets(context, entry, place, tensor));
    int64_t bits = tensor->count * info->bits;
    if (bits % 8 != 0 || (info->bits > 0 && bits / 8 != tensor->bytes))
        return szgi_json_fail(context, entry,
                              "%" PRId64 " elements of type %s take %" PRId64 " bytes, and the "
                              "header gives it %" PRId64 ": the file is damaged",
                              tensor->count, info->name, (bits + 7) / 8, tensor->bytes);
    return SZG_OK;
}

szg_status szgi_shard_read_left(szg_context *context, szgi_json_value entry, int64_t *shape,
                                szgi_tensor *tensor) {
    const data_place anywhere = {NULL, 0, INT64_MAX};
    tensor->left_out = true;
    return read_tensor(context, entry, shape, &anywhere, tensor);
}

static int by_place(const void *a, const void *b) {
    const szgi_tensor *const *s = a, *const *t = b;
    if ((*s)->offset != (*t)->offset)
        return (*s)->offset < (*t)->offset ? -1 : 1;
    return ((*s)->bytes > (*t)->bytes) - ((*s)->bytes < (*t)->bytes);
}

/* The tensors of a file cover its data without gap and without overlap. */
static szg_status check_cover(szg_context *context, const char *file, const szgi_tensor **tensor,
                              int64_t count, const data_place *place) {
    int64_t covered = 0;
    qsort(tensor, (size_t)count, sizeof *tensor, by_place);
    for (int64_t i = 0; i < count; i++) {
        int64_t begin = tensor[i]->offset - place->offset;
        if (begin < covered)
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensors %s and %s overlap at byte %" PRId64 " of the data: the "
                             "file is damaged",
                             file, SHOWN(tensor[i - 1]->name), SHOWN(tensor[i]->name), begin);
        if (begin > covered)
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: begins at byte %" PRId64
                             " of the data, and bytes from "
                             "%" PRId64 " on belong to no tensor: the file is damaged",
                             file, SHOWN(tensor[i]->name), begin, covered);
        covered = begin + tensor[i]->bytes;
    }
    int64_t after = place->size - covered;
    if (after == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: %" PRId64 " bytes after the last tensor belong to none: if the tensors "
                     "are known to be whole, cut the file with: truncate -s -%" PRId64 " %s",
                     file, after, after, szgi_path_name(file));
}

/* Counts tensors and the sizes in their shapes, so that both are allocated once: pointers into them
 * must stay. */
static void count_entries(szgi_json_value root, int64_t *tensors, int64_t *sizes) {
    *tensors = *sizes = 0;
    for (szgi_json_value member = {0}; szgi_json_next(root, &member);) {
        if (strcmp(member.key, metadata_key) == 0)
            continue;
        ++*tensors;
        *sizes += szgi_json_count(szgi_json_member(member, "shape"));
    }
}

static szg_status read_entries(szg_context *context, szgi_safetensors *set, szgi_json_value root,
                               const data_place *place) {
    szgi_shard *shard = &set->shard[set->shards - 1];
    int64_t tensors, sizes;
    count_entries(root, &tensors, &sizes);
    SZG_TRY(szgi_memory_alloc(context, sizes, &shard->shapes));
    SZG_TRY(szgi_memory_grow(context, &set->tensor, set->count, set->count + tensors));
    int64_t *shape = shard->shapes;
    for (szgi_json_value member = {0}; szgi_json_next(root, &member);) {
        if (strcmp(member.key, metadata_key) == 0) {
            SZG_TRY(check_metadata(context, member));
            continue;
        }
        szgi_tensor *tensor = &set->tensor[set->count];
        tensor->file = shard->file;
        tensor->source = shard->source;
        SZG_TRY(read_tensor(context, member, shape, place, tensor));
        shape += tensor->dims;
        set->count++;
    }
    return SZG_OK;
}

szg_status szgi_shard_parse(szg_context *context, szgi_safetensors *set, const unsigned char *data,
                            int64_t size) {
    szgi_shard *shard = &set->shard[set->shards - 1];
    int64_t length = 0, first = set->count;
    SZG_TRY(locate_header(context, shard->file, data, size, &length));
    SZG_TRY(szgi_json_parse(context, shard->file, data + LENGTH_BYTES, length, &shard->header));
    const int64_t begin = LENGTH_BYTES + length;
    const data_place place = {shard->source ? NULL : data + begin, begin, size - begin};
    SZG_TRY(read_entries(context, set, szgi_json_root(shard->header), &place));
    int64_t count = set->count - first;
    const szgi_tensor **tensor;
    SZG_TRY(szgi_memory_alloc(context, count, &tensor));
    for (int64_t i = 0; i < count; i++)
        tensor[i] = &set->tensor[first + i];
    szg_status status = check_cover(context, shard->file, tensor, count, &place);
    szgi_memory_free(tensor);
    return status == SZG_OK ? szgi_shard_read_left_out(context, set) : status;
}
