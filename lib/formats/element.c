/* Elements of tensors: their bytes, in memory or in a file, and the numbers of 16 and 8 bits. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "safetensors_private.h"

static double real_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double szgi_real_from_half(uint16_t bits) {
    uint64_t sign = (uint64_t)(bits >> 15) << 63, exponent = bits >> 10 & 31,
             mantissa = bits & 1023;
    if (exponent == 0)
        return (sign ? -1.0 : 1.0) * (double)mantissa * 0x1p-24;
    uint64_t wide = exponent == 31 ? 2047 : exponent - 15 + 1023;
    return real_from_bits(sign | wide << 52 | mantissa << 42);
}

double szgi_real_from_bfloat(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* The bits as those of a half, whose exponent has a bias greater by 8. */
double szgi_real_from_e4m3(uint8_t bits) {
    if ((bits & 127) == 127)
        return NAN;
    return 0x1p8 * szgi_real_from_half((uint16_t)((bits & 128) << 8 | (bits & 127) << 7));
}

double szgi_real_from_e5m2(uint8_t bits) {
    return szgi_real_from_half((uint16_t)(bits << 8));
}

double szgi_real_from_e8m0(uint8_t bits) {
    return bits == 255 ? NAN : real_from_bits((uint64_t)(bits - 127 + 1023) << 52);
}

szg_status szgi_tensor_bytes(szg_context *context, const szgi_tensor *tensor, int64_t begin,
                             int64_t count, unsigned char block[static TENSOR_BLOCK],
                             const unsigned char **out) {
    if (tensor->left_out)
        return szgi_fail(context, SZG_EIO,
                         "%s: tensor %s: was not fetched: szego.checkpoint in Python fetches what "
                         "it needs, hf download everything",
                         tensor->file, SHOWN(tensor->name));
    if (tensor->data) {
        *out = tensor->data + begin;
        return SZG_OK;
    }
    *out = block;
    if (tensor->asked)
        return szgi_asked_read(context, tensor, begin, count, block);
    return szgi_source_read(context, tensor->source, tensor->offset + begin, count, block);
}
