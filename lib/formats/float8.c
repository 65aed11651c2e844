/* Tensors of 8-bit floats: their elements as doubles, and which tensor scales them. */
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "safetensors_private.h"

enum { CODES = 256 };

typedef double decoder(uint8_t bits);

static decoder *decoder_of(const szgi_tensor *tensor) {
    static const struct {
        const char *name;
        decoder *decode;
    } types[] = {{"F8_E4M3", szgi_real_from_e4m3},
                 {"F8_E5M2", szgi_real_from_e5m2},
                 {"F8_E8M0", szgi_real_from_e8m0}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, tensor->dtype_name) == 0)
            return types[i].decode;
    return NULL;
}

static bool has_factor_a_block(const szgi_tensor *tensor, const szgi_tensor *scale,
                               const int64_t block[2]) {
    int64_t count;
    return tensor->dims == 2 && block[0] > 0 && block[1] > 0 &&
           !__builtin_mul_overflow(szgi_blocks_along(tensor->shape[0], block[0]),
                                   szgi_blocks_along(tensor->shape[1], block[1]), &count) &&
           count == scale->count;
}

szg_status szgi_safetensors_scale(szg_context *context, szgi_safetensors *set, int64_t index,
                                  const szgi_tensor *scale, const int64_t block[2]) {
    szgi_tensor *tensor = &set->tensor[index];
    if (!decoder_of(tensor) || (scale && !has_factor_a_block(tensor, scale, block)))
        return szgi_fail(context, SZG_EINVAL, "%s: tensor %s: its type or its scale does not fit",
                         tensor->file, SHOWN(tensor->name));
    tensor->dtype = SZGI_DTYPE_FLOAT8;
    tensor->scale = scale;
    for (int i = 0; scale && i < 2; i++)
        tensor->block[i] = block[i];
    if (scale)
        set->tensor[scale - set->tensor].scales = true;
    return SZG_OK;
}

szg_status szgi_safetensors_refuse(szg_context *context, szgi_safetensors *set, int64_t index,
                                   const char *reason) {
    char *copy;
    SZG_TRY(szgi_memory_copy_text(context, reason, &copy));
    szgi_memory_free(set->tensor[index].refusal);
    set->tensor[index].refusal = copy;
    return SZG_OK;
}

szg_status szgi_tensor_read_float8(szg_context *context, const szgi_tensor *tensor, int64_t start,
                                   int64_t count, double *out) {
    unsigned char buffer[TENSOR_BLOCK];
    const unsigned char *at;
    double value[CODES];
    decoder *decode = decoder_of(tensor);
    for (int code = 0; code < CODES; code++)
        value[code] = decode((uint8_t)code);
    while (count > 0) {
        int64_t part = count < TENSOR_BLOCK ? count : TENSOR_BLOCK;
        SZG_TRY(szgi_tensor_bytes(context, tensor, start, part, buffer, &at));
        for (int64_t i = 0; i < part; i++)
            out[i] = value[at[i]];
        start += part;
        count -= part;
        out += part;
    }
    return SZG_OK;
}
