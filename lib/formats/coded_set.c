/* Which tensors of a set are packed weights. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "coded.h"
#include "safetensors_private.h"

void szgi_coded_close(szgi_coded *packed) {
    if (packed) {
        szgi_memory_free(packed->name);
        szgi_memory_free(packed->label);
    }
    szgi_memory_free(packed);
}

/* A line's codes, and all lines, fit into the tensor. */
static bool codes_fit(const szgi_codes *codes, int64_t rows, int64_t columns) {
    int64_t unit = codes->strided ? 32 : 8, span = codes->span ? codes->span : 1, bits, bytes;
    if (codes->bits < 1 || codes->bits > 8 || codes->span > CODED_SPAN ||
        codes->lines != (codes->turned ? columns : rows) ||
        codes->length != (codes->turned ? rows : columns) || codes->length < 1 || codes->lines < 1)
        return false;
    if (__builtin_mul_overflow((codes->length - 1) / span + 1, span * codes->bits, &bits) ||
        __builtin_mul_overflow((bits - 1) / unit + 1, codes->lines * (unit / 8), &bytes))
        return false;
    return codes->tensor.bytes >= bytes &&
           (codes->strided || codes->tensor.bytes % codes->lines == 0);
}

/* The last element that is read is within `count`. */
static bool reaches(int64_t count, const szgi_factors *factors, int64_t rows, int64_t groups) {
    int64_t last, more;
    return factors->row_step >= 0 && factors->group_step >= 0 &&
           (factors->row_step == 1 || factors->group_step <= 1) &&
           !__builtin_mul_overflow(factors->row_step, rows - 1, &last) &&
           !__builtin_mul_overflow(factors->group_step, groups - 1, &more) &&
           !__builtin_add_overflow(last, more, &last) && last < count;
}

static bool factors_fit(const szgi_factors *factors, int64_t rows, int64_t groups) {
    if (!factors->nested)
        return reaches(factors->tensor.count, factors, rows, groups);
    return factors->block > 0 && factors->table.count == CODED_VALUES &&
           reaches(factors->tensor.bytes, factors, rows, groups) &&
           (factors->tensor.bytes - 1) / factors->block < factors->outer.count;
}

static bool fits(const szgi_coded *packed) {
    int64_t count = 1, flat;
    for (int i = 0; i < packed->dims; i++)
        if (packed->shape[i] < 1 || __builtin_mul_overflow(count, packed->shape[i], &count))
            return false;
    return packed->rows > 0 && packed->columns > 0 && packed->group > 0 && packed->groups > 0 &&
           !__builtin_mul_overflow(packed->rows, packed->columns, &flat) && flat == count &&
           (packed->index.name ? packed->index.count == packed->columns
                               : (packed->columns - 1) / packed->group < packed->groups) &&
           codes_fit(&packed->codes, packed->rows, packed->columns) &&
           (!packed->zeros.bits || codes_fit(&packed->zeros, packed->rows, packed->groups)) &&
           factors_fit(&packed->scales, packed->rows, packed->groups) &&
           (!packed->biases.tensor.name ||
            factors_fit(&packed->biases, packed->rows, packed->groups));
}

static szg_status copy(szg_context *context, const szgi_coded *packed, szgi_coded **out) {
    szgi_coded *own;
    SZG_TRY(szgi_memory_alloc(context, 1, &own));
    *own = *packed;
    own->name = own->label = NULL;
    szg_status status = szgi_memory_copy_text(context, packed->name, &own->name);
    if (status == SZG_OK)
        status = szgi_memory_copy_text(context, packed->label, &own->label);
    if (status != SZG_OK)
        szgi_coded_close(own);
    else
        *out = own;
    return status;
}

/* The set's own tensor beside this copy of it, if it is one. */
static void mark(szgi_safetensors *set, const szgi_tensor *part) {
    const szgi_tensor *tensor = part->name ? szgi_safetensors_find(set, part->name) : NULL;
    if (tensor)
        set->tensor[tensor - set->tensor].scales = true;
}

szg_status szgi_safetensors_decode(szg_context *context, szgi_safetensors *set, int64_t index,
                                   const szgi_coded *packed) {
    szgi_tensor *tensor = &set->tensor[index];
    if (tensor->coded || !fits(packed))
        return szgi_fail(context, SZG_EINVAL, "%s: tensor %s: its parts do not fit", tensor->file,
                         SHOWN(tensor->name));
    SZG_TRY(copy(context, packed, &tensor->coded));
    const szgi_tensor *const part[] = {&packed->scales.tensor, &packed->scales.table,
                                       &packed->scales.outer,  &packed->biases.tensor,
                                       &packed->zeros.tensor,  &packed->index};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        mark(set, part[i]);
    tensor->dtype = SZGI_DTYPE_CODED;
    return SZG_OK;
}

szg_status szgi_safetensors_decode_refused(szg_context *context, szgi_safetensors *set,
                                           int64_t index, const char *name, const char *label,
                                           const char *reason) {
    szgi_tensor *tensor = &set->tensor[index];
    const szgi_coded named = {.name = (char *)name, .label = (char *)label};
    SZG_TRY(copy(context, &named, &tensor->coded));
    tensor->dtype = SZGI_DTYPE_OTHER;
    return szgi_safetensors_refuse(context, set, index, reason);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const szgi_tensor *)a)->name, ((const szgi_tensor *)b)->name);
}

szg_status szgi_safetensors_rename(szg_context *context, szgi_safetensors *set) {
    for (int64_t i = 0; i < set->count; i++) {
        szgi_tensor *tensor = &set->tensor[i];
        const szgi_coded *packed = tensor->coded;
        if (!packed)
            continue;
        tensor->name = packed->name;
        tensor->dtype_name = packed->label;
        if (tensor->dtype != SZGI_DTYPE_CODED)
            continue;
        tensor->dims = packed->dims;
        tensor->shape = packed->shape;
        tensor->count = packed->rows * packed->columns;
    }
    if (set->count > 0)
        qsort(set->tensor, (size_t)set->count, sizeof *set->tensor, by_name);
    for (int64_t i = 1; i < set->count; i++)
        if (by_name(&set->tensor[i - 1], &set->tensor[i]) == 0)
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: two tensors have its codes, or one has them and one "
                             "is called so: remove one",
                             set->tensor[i].file, SHOWN(set->tensor[i].name));
    return SZG_OK;
}
