#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "safetensors_private.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are little-endian in files");

static const szgi_dtype_info dtypes[] = {
    {"F64", SZGI_DTYPE_F64, 64},      {"F32", SZGI_DTYPE_F32, 32},
    {"F16", SZGI_DTYPE_F16, 16},      {"BF16", SZGI_DTYPE_BF16, 16},
    {"BOOL", SZGI_DTYPE_INTEGER, 8},  {"I8", SZGI_DTYPE_INTEGER, 8},
    {"U8", SZGI_DTYPE_INTEGER, 8},    {"I16", SZGI_DTYPE_INTEGER, 16},
    {"U16", SZGI_DTYPE_INTEGER, 16},  {"I32", SZGI_DTYPE_INTEGER, 32},
    {"U32", SZGI_DTYPE_INTEGER, 32},  {"I64", SZGI_DTYPE_INTEGER, 64},
    {"U64", SZGI_DTYPE_INTEGER, 64},  {"C64", SZGI_DTYPE_OTHER, 64},
    {"F8_E5M2", SZGI_DTYPE_OTHER, 8}, {"F8_E4M3", SZGI_DTYPE_OTHER, 8},
    {"F8_E8M0", SZGI_DTYPE_OTHER, 8}, {"F6_E2M3", SZGI_DTYPE_OTHER, 6},
    {"F6_E3M2", SZGI_DTYPE_OTHER, 6}, {"F4", SZGI_DTYPE_OTHER, 4},
};

const szgi_dtype_info *szgi_dtype_find(const char *name) {
    static const szgi_dtype_info unknown = {"", SZGI_DTYPE_OTHER, 0};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return &unknown;
}

const szgi_dtype_info *szgi_dtype_info_of(szgi_dtype dtype) {
    return (unsigned)dtype <= SZGI_DTYPE_BF16 ? &dtypes[dtype] : NULL;
}

double szgi_tensor_roundoff(const szgi_tensor *tensor) {
    static const double roundoff[] = {[SZGI_DTYPE_F64] = 0x1p-53,
                                      [SZGI_DTYPE_F32] = 0x1p-24,
                                      [SZGI_DTYPE_F16] = 0x1p-11,
                                      [SZGI_DTYPE_BF16] = 0x1p-8};
    return (unsigned)tensor->dtype <= SZGI_DTYPE_BF16 ? roundoff[tensor->dtype] : 0;
}

static szg_status check_readable(szg_context *context, const szgi_tensor *tensor) {
    if (szgi_dtype_info_of(tensor->dtype) || tensor->dtype == SZGI_DTYPE_BLOCKS ||
        tensor->dtype == SZGI_DTYPE_FLOAT8 || tensor->dtype == SZGI_DTYPE_CODED)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA, "%s: tensor %s: type %s is not a weight's type: %s",
                     tensor->file, SHOWN(tensor->name), SHOWN(tensor->dtype_name),
                     szgi_tensor_remedy(tensor));
}

szg_status szgi_tensor_check_range(szg_context *context, const szgi_tensor *tensor, int64_t start,
                                   int64_t count) {
    if (start >= 0 && count >= 0 && start <= tensor->count && count <= tensor->count - start)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "%s: tensor %s: elements %" PRId64 " .. %" PRId64
                     " are not within its %" PRId64,
                     tensor->file, SHOWN(tensor->name), start, start + count - 1, tensor->count);
}

static void convert(szgi_dtype dtype, const unsigned char *at, int64_t count, double *out) {
    uint16_t bits;
    float single;
    switch (dtype) {
    case SZGI_DTYPE_F64:
        memcpy(out, at, (size_t)count * sizeof *out);
        break;
    case SZGI_DTYPE_F32:
        for (int64_t i = 0; i < count; i++, at += 4) {
            memcpy(&single, at, 4);
            out[i] = (double)single;
        }
        break;
    case SZGI_DTYPE_F16:
        for (int64_t i = 0; i < count; i++, at += 2) {
            memcpy(&bits, at, 2);
            out[i] = szgi_real_from_half(bits);
        }
        break;
    default:
        for (int64_t i = 0; i < count; i++, at += 2) {
            memcpy(&bits, at, 2);
            out[i] = szgi_real_from_bfloat(bits);
        }
    }
}

/* `count` elements of one row, from `column` on, times their factors. */
static szg_status scale_row(szg_context *context, const szgi_tensor *tensor, int64_t row,
                            int64_t column, int64_t count, double *out) {
    enum { PART = 256 };
    double factor[PART];
    const int64_t width = tensor->block[1], end = column + count;
    const int64_t line = row / tensor->block[0] * szgi_blocks_along(tensor->shape[1], width);
    while (column < end) {
        int64_t first = column / width, blocks = (end - 1) / width + 1 - first;
        if (blocks > PART)
            blocks = PART;
        SZG_TRY(szgi_tensor_read(context, tensor->scale, line + first, blocks, factor));
        for (int64_t i = 0; i < blocks; i++) {
            int64_t left = width - column % width;
            for (int64_t stop = left < end - column ? column + left : end; column < stop; column++)
                *out++ *= factor[i];
        }
    }
    return SZG_OK;
}

/* Elements of 8 bits times the factors of their blocks. */
static szg_status read_scaled(szg_context *context, const szgi_tensor *tensor, int64_t start,
                              int64_t count, double *out) {
    SZG_TRY(szgi_tensor_read_float8(context, tensor, start, count, out));
    while (tensor->scale && count > 0) {
        const int64_t columns = tensor->shape[1], column = start % columns;
        int64_t part = columns - column < count ? columns - column : count;
        SZG_TRY(scale_row(context, tensor, start / columns, column, part, out));
        start += part;
        count -= part;
        out += part;
    }
    return SZG_OK;
}

szg_status szgi_tensor_read(szg_context *context, const szgi_tensor *tensor, int64_t start,
                            int64_t count, double *out) {
    return tensor->update ? szgi_tensor_read_updated(context, tensor, start, count, out)
                          : szgi_tensor_read_stored(context, tensor, start, count, out);
}

szg_status szgi_tensor_read_stored(szg_context *context, const szgi_tensor *tensor, int64_t start,
                                   int64_t count, double *out) {
    SZG_TRY(check_readable(context, tensor));
    SZG_TRY(szgi_tensor_check_range(context, tensor, start, count));
    if (tensor->dtype == SZGI_DTYPE_BLOCKS)
        return szgi_tensor_read_blocks(context, tensor, start, count, out);
    if (tensor->dtype == SZGI_DTYPE_FLOAT8)
        return read_scaled(context, tensor, start, count, out);
    if (tensor->dtype == SZGI_DTYPE_CODED)
        return szgi_tensor_read_coded(context, tensor, start, count, out);
    int64_t width = szgi_dtype_info_of(tensor->dtype)->bits / 8, most = TENSOR_BLOCK / width;
    unsigned char block[TENSOR_BLOCK];
    while (count > 0) {
        const unsigned char *at;
        int64_t part = count < most ? count : most;
        SZG_TRY(szgi_tensor_bytes(context, tensor, start * width, part * width, block, &at));
        convert(tensor->dtype, at, part, out);
        start += part;
        count -= part;
        out += part;
    }
    return SZG_OK;
}

/* An element of `width` bytes as a signed number. */
static bool integer_at(const unsigned char *at, int width, bool is_signed, int64_t *out) {
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)width);
    int unused = 64 - 8 * width;
    if (is_signed) {
        *out = (int64_t)(bits << unused) >> unused;
        return true;
    }
    *out = (int64_t)bits;
    return *out >= 0;
}

szg_status szgi_tensor_read_integers(szg_context *context, const szgi_tensor *tensor, int64_t start,
                                     int64_t count, int64_t *out) {
    if (tensor->dtype != SZGI_DTYPE_INTEGER || strcmp(tensor->dtype_name, "BOOL") == 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: type %s: an integer, I8 .. I64 or U8 .. U64, is needed",
                         tensor->file, SHOWN(tensor->name), SHOWN(tensor->dtype_name));
    SZG_TRY(szgi_tensor_check_range(context, tensor, start, count));
    int width = szgi_dtype_find(tensor->dtype_name)->bits / 8, most = TENSOR_BLOCK / width;
    unsigned char block[TENSOR_BLOCK];
    const unsigned char *at = NULL;
    for (int64_t i = 0; i < count; i++, at += width) {
        if (i % most == 0) {
            int64_t part = count - i < most ? count - i : most;
            SZG_TRY(
                szgi_tensor_bytes(context, tensor, (start + i) * width, part * width, block, &at));
        }
        if (!integer_at(at, width, tensor->dtype_name[0] == 'I', &out[i]))
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: element %" PRId64 " is beyond 2^63 - 1", tensor->file,
                             SHOWN(tensor->name), start + i);
    }
    return SZG_OK;
}

/* Does one of `count` elements have all the bits of `mask`? Without a branch, so that compilers
 * take many elements at once: nearly every block of nearly every file has none. */
#define HAS_BAD(name, word)                                                                        \
    static bool name(const unsigned char *at, int64_t count, word mask) {                          \
        word bits, found = 0;                                                                      \
        for (int64_t i = 0; i < count; i++) {                                                      \
            memcpy(&bits, at + i * (int64_t)sizeof bits, sizeof bits);                             \
            found |= (bits & mask) == mask;                                                        \
        }                                                                                          \
        return found;                                                                              \
    }
HAS_BAD(has_bad_16, uint16_t)
HAS_BAD(has_bad_32, uint32_t)
HAS_BAD(has_bad_64, uint64_t)

/* NaN and infinities are the values whose exponent is all ones. Index of the first among `count`
 * elements, or -1. */
static int64_t first_bad(szgi_dtype dtype, const unsigned char *at, int64_t count) {
    static const uint64_t masks[] = {[SZGI_DTYPE_F64] = 0x7FF0000000000000u,
                                     [SZGI_DTYPE_F32] = 0x7F800000u,
                                     [SZGI_DTYPE_F16] = 0x7C00u,
                                     [SZGI_DTYPE_BF16] = 0x7F80u};
    uint64_t mask = masks[dtype];
    int width = szgi_dtype_info_of(dtype)->bits / 8;
    bool any = width == 2   ? has_bad_16(at, count, (uint16_t)mask)
               : width == 4 ? has_bad_32(at, count, (uint32_t)mask)
                            : has_bad_64(at, count, mask);
    for (int64_t i = 0; any && i < count; i++, at += width) {
        uint64_t bits = 0;
        memcpy(&bits, at, (size_t)width);
        if ((bits & mask) == mask)
            return i;
    }
    return -1;
}

/* Types whose bits do not tell what is bad: by their numbers. */
static szg_status first_bad_value(szg_context *context, const szgi_tensor *tensor, int64_t *out) {
    enum { PART = 4096 };
    double value[PART];
    *out = -1;
    for (int64_t from = 0; from < tensor->count; from += PART) {
        int64_t part = tensor->count - from < PART ? tensor->count - from : PART;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_tensor_read_stored(context, tensor, from, part, value));
        for (int64_t i = 0; i < part; i++)
            if (!isfinite(value[i])) {
                *out = from + i;
                return SZG_OK;
            }
    }
    return SZG_OK;
}

/* Codes are finite, so scales and biases alone tell. */
static szg_status first_bad_coded(szg_context *context, const szgi_tensor *tensor, int64_t *out) {
    const szgi_tensor *part[CODED_NUMBERS];
    int parts = szgi_coded_numbers(tensor->coded, part);
    *out = -1;
    for (int i = 0; i < parts && *out < 0; i++)
        SZG_TRY(szgi_tensor_first_bad(context, part[i], out));
    return *out < 0 ? SZG_OK : first_bad_value(context, tensor, out);
}

szg_status szgi_tensor_first_bad(szg_context *context, const szgi_tensor *tensor, int64_t *out) {
    *out = -1;
    SZG_TRY(check_readable(context, tensor));
    if (tensor->dtype == SZGI_DTYPE_CODED)
        return first_bad_coded(context, tensor, out);
    if (!szgi_dtype_info_of(tensor->dtype))
        return first_bad_value(context, tensor, out);
    int64_t width = szgi_dtype_info_of(tensor->dtype)->bits / 8, most = TENSOR_BLOCK / width;
    unsigned char block[TENSOR_BLOCK];
    for (int64_t from = 0; from < tensor->count && *out < 0; from += most) {
        const unsigned char *at;
        int64_t part = tensor->count - from < most ? tensor->count - from : most;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_tensor_bytes(context, tensor, from * width, part * width, block, &at));
        int64_t bad = first_bad(tensor->dtype, at, part);
        *out = bad < 0 ? -1 : from + bad;
    }
    return SZG_OK;
}

/* "[3, 17]", the place of element `index` of a tensor that has one. */
static void index_text(const szgi_tensor *tensor, int64_t index, char *text, size_t size) {
    int64_t place[8];
    for (int i = tensor->dims - 1; i >= 0; i--) {
        if (i < 8)
            place[i] = index % tensor->shape[i];
        index /= tensor->shape[i];
    }
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < tensor->dims && i < 8 && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? ", " : "", place[i]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

szg_status szgi_tensor_check(szg_context *context, const szgi_tensor *tensor) {
    int64_t bad;
    double value;
    if (tensor->scale) /* the message names the tensor that has the bad number */
        SZG_TRY(szgi_tensor_check(context, tensor->scale));
    if (tensor->dtype == SZGI_DTYPE_CODED) {
        const szgi_tensor *part[CODED_NUMBERS];
        int parts = szgi_coded_numbers(tensor->coded, part);
        for (int i = 0; i < parts; i++)
            SZG_TRY(szgi_tensor_check(context, part[i]));
    }
    if (tensor->update)
        SZG_TRY(szgi_update_check(context, tensor));
    SZG_TRY(szgi_tensor_first_bad(context, tensor, &bad));
    if (bad < 0)
        return SZG_OK;
    SZG_TRY(szgi_tensor_read_stored(context, tensor, bad, 1, &value));
    char place[192];
    index_text(tensor, bad, place, sizeof place);
    return szgi_fail(context, SZG_EDATA,
                     "%s: tensor %s: the weight at %s is %s: the checkpoint is damaged or training "
                     "diverged",
                     tensor->file, SHOWN(tensor->name), place,
                     isnan(value) ? "NaN"
                     : value < 0  ? "-infinity"
                                  : "infinity");
}

const char *szgi_tensor_shape_text(const szgi_tensor *tensor, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < tensor->dims; i++) {
        char one[24];
        int length = snprintf(one, sizeof one, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
        if (used + (size_t)length + 5 > size) { /* room for "...]" */
            used += (size_t)snprintf(text + used, used < size ? size - used : 0, "...");
            break;
        }
        memcpy(text + used, one, (size_t)length + 1);
        used += (size_t)length;
    }
    if (used + 1 < size)
        memcpy(text + used, "]", 2);
    return text;
}
