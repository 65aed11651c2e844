/* Packed weights as doubles. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "coded.h"
#include "safetensors_private.h"

/* Elements that are made at once: a few rows of a head. */
enum { TILE = 1 << 18 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* ---- Codes ---- */

static szg_status read_bytes(szg_context *context, const szgi_tensor *tensor, int64_t begin,
                             int64_t count, unsigned char *out) {
    unsigned char block[TENSOR_BLOCK];
    const unsigned char *at;
    while (count > 0) {
        int64_t part = smaller(count, TENSOR_BLOCK);
        SZG_TRY(szgi_tensor_bytes(context, tensor, begin, part, block, &at));
        memcpy(out, at, (size_t)part);
        begin += part;
        count -= part;
        out += part;
    }
    return SZG_OK;
}

/* Which bytes of a line have codes first .. first + count - 1. */
typedef struct byte_range {
    int64_t begin, count;
} byte_range;

static byte_range bytes_of(const szgi_codes *codes, int64_t first, int64_t count) {
    int64_t span = codes->span ? codes->span : 1, unit = codes->strided ? 4 : 1;
    int64_t from = first / span * span, to = ((first + count - 1) / span + 1) * span;
    int64_t begin = from * codes->bits / 8 / unit * unit;
    int64_t end = ((to * codes->bits - 1) / (8 * unit) + 1) * unit;
    return (byte_range){begin, end - begin};
}

/* The bytes of some lines, one line after the other, a byte of padding behind each. */
static szg_status read_lines(szg_context *context, const szgi_codes *codes, int64_t line,
                             int64_t lines, byte_range range, unsigned char *out) {
    const int64_t pitch = range.count + 1;
    if (!codes->strided) {
        int64_t width = codes->tensor.bytes / codes->lines;
        for (int64_t i = 0; i < lines; i++)
            SZG_TRY(read_bytes(context, &codes->tensor, (line + i) * width + range.begin,
                               range.count, out + i * pitch));
        return SZG_OK;
    }
    unsigned char *row;
    SZG_TRY(szgi_memory_alloc(context, 4 * lines, &row));
    szg_status status = SZG_OK;
    for (int64_t word = range.begin / 4; word < (range.begin + range.count) / 4; word++) {
        SZG_TRY_GOTO(
            status,
            read_bytes(context, &codes->tensor, 4 * (word * codes->lines + line), 4 * lines, row),
            done);
        for (int64_t i = 0; i < lines; i++)
            memcpy(out + i * pitch + 4 * word - range.begin, row + 4 * i, 4);
    }
done:
    szgi_memory_free(row);
    return status;
}

/* Codes first .. first + count - 1 of a line whose bytes from range.begin on are given. */
static void extract(const szgi_codes *codes, const unsigned char *bytes, byte_range range,
                    int64_t first, int64_t count, int64_t step, uint8_t *out) {
    const unsigned mask = (1u << codes->bits) - 1;
    for (int64_t i = first; i < first + count; i++, out += step) {
        int64_t at = codes->span ? i - i % codes->span + codes->place[i % codes->span] : i;
        int64_t bit = at * codes->bits - 8 * range.begin;
        const unsigned char *from = bytes + bit / 8;
        *out = (uint8_t)((from[0] | (unsigned)from[1] << 8) >> bit % 8 & mask);
    }
}

/* Codes of rows x columns of the weight, row-major. */
static szg_status read_codes(szg_context *context, const szgi_codes *codes, int64_t row,
                             int64_t rows, int64_t column, int64_t columns, uint8_t *out) {
    bool turned = codes->turned;
    int64_t line = turned ? column : row, lines = turned ? columns : rows;
    int64_t first = turned ? row : column, count = turned ? rows : columns, size;
    byte_range range = bytes_of(codes, first, count);
    unsigned char *bytes;
    SZG_TRY(szgi_memory_product(context, lines, range.count + 1, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &bytes));
    szg_status status = read_lines(context, codes, line, lines, range, bytes);
    for (int64_t i = 0; i < lines && status == SZG_OK; i++)
        extract(codes, bytes + i * (range.count + 1), range, first, count, turned ? columns : 1,
                out + i * (turned ? 1 : columns));
    szgi_memory_free(bytes);
    return status;
}

/* ---- Scales ---- */

/* Elements first .. first + count - 1. */
static szg_status read_nested(szg_context *context, const szgi_factors *factors, int64_t first,
                              int64_t count, double *out) {
    double table[CODED_VALUES], outer = 0;
    uint8_t *code;
    SZG_TRY(szgi_tensor_read(context, &factors->table, 0, CODED_VALUES, table));
    SZG_TRY(szgi_memory_alloc(context, count, &code));
    szg_status status = read_bytes(context, &factors->tensor, first, count, code);
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        if (i == 0 || (first + i) % factors->block == 0)
            status =
                szgi_tensor_read(context, &factors->outer, (first + i) / factors->block, 1, &outer);
        float product = (float)table[code[i]] * (float)outer;
        out[i] = (double)(product + factors->offset);
    }
    szgi_memory_free(code);
    return status;
}

static szg_status read_some(szg_context *context, const szgi_factors *factors, int64_t first,
                            int64_t count, double *out) {
    return factors->nested ? read_nested(context, factors, first, count, out)
                           : szgi_tensor_read(context, &factors->tensor, first, count, out);
}

/* Of rows x groups, row-major; `room` has place for the larger of both. */
static szg_status read_factors(szg_context *context, const szgi_factors *factors, int64_t row,
                               int64_t rows, int64_t group, int64_t groups, double *room,
                               double *out) {
    bool down = factors->row_step == 1 && factors->group_step != 1;
    int64_t outer = down ? groups : rows, inner = down ? rows : groups;
    for (int64_t i = 0; i < outer; i++) {
        int64_t first = down ? row + (group + i) * factors->group_step
                             : (row + i) * factors->row_step + group * factors->group_step;
        bool one = !down && factors->group_step == 0;
        SZG_TRY(read_some(context, factors, first, one ? 1 : inner, room));
        for (int64_t k = 0; k < inner; k++)
            out[down ? k * groups + i : i * groups + k] = room[one ? 0 : k] / factors->divisor;
    }
    return SZG_OK;
}

/* ---- Numbers ---- */

/* What rows x columns need; `group` is that of the first column where they are in turn. */
typedef struct coded_tile {
    int64_t row, rows, column, columns, group, groups;
    uint8_t *code, *zero_code;
    double *scale, *bias, *room, *zero;
    int64_t *index;
} coded_tile;

static void release(coded_tile *tile) {
    szgi_memory_free(tile->code);
    szgi_memory_free(tile->zero_code);
    szgi_memory_free(tile->scale);
    szgi_memory_free(tile->bias);
    szgi_memory_free(tile->room);
    szgi_memory_free(tile->zero);
    szgi_memory_free(tile->index);
}

static szg_status reserve(szg_context *context, const szgi_coded *packed, coded_tile *tile) {
    int64_t size, numbers;
    SZG_TRY(szgi_memory_product(context, tile->rows, tile->columns, &size));
    SZG_TRY(szgi_memory_product(context, tile->rows, tile->groups, &numbers));
    SZG_TRY(szgi_memory_alloc(context, size, &tile->code));
    SZG_TRY(szgi_memory_alloc(context, numbers, &tile->scale));
    SZG_TRY(szgi_memory_alloc(context, tile->rows + tile->groups, &tile->room));
    SZG_TRY(szgi_memory_alloc(context, tile->columns, &tile->index));
    if (packed->zeros.bits) {
        SZG_TRY(szgi_memory_alloc(context, numbers, &tile->zero_code));
        SZG_TRY(szgi_memory_alloc(context, numbers, &tile->zero));
    }
    return packed->biases.tensor.name ? szgi_memory_alloc(context, numbers, &tile->bias) : SZG_OK;
}

/* The group of each column, from tile->group on. */
static szg_status read_index(szg_context *context, const szgi_coded *packed, coded_tile *tile) {
    if (packed->index.name)
        SZG_TRY(szgi_tensor_read_integers(context, &packed->index, tile->column, tile->columns,
                                          tile->index));
    for (int64_t j = 0; j < tile->columns; j++) {
        if (!packed->index.name)
            tile->index[j] = (tile->column + j) / packed->group - tile->group;
        else if (tile->index[j] < 0 || tile->index[j] >= packed->groups)
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: column %" PRId64 " is of group %" PRId64
                             ", and %s has %" PRId64 " groups: the checkpoint is damaged, fetch "
                             "it again",
                             packed->index.file, SHOWN(packed->index.name), tile->column + j,
                             tile->index[j], SHOWN(packed->scales.tensor.name), packed->groups);
    }
    return SZG_OK;
}

static szg_status read_zeros(szg_context *context, const szgi_coded *packed, coded_tile *tile) {
    const szgi_codes *zeros = &packed->zeros;
    if (!zeros->bits)
        return SZG_OK;
    SZG_TRY(read_codes(context, zeros, tile->row, tile->rows, tile->group, tile->groups,
                       tile->zero_code));
    for (int64_t i = 0; i < tile->rows * tile->groups; i++) {
        tile->zero[i] = packed->zero[tile->zero_code[i]];
        if (isnan(tile->zero[i]))
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: the zero of row %" PRId64 ", group %" PRId64
                             " is stored as %d: programs that read this format take it as %d or "
                             "as 0: quantise the model again, or read the one it was made from",
                             zeros->tensor.file, SHOWN(zeros->tensor.name),
                             tile->row + i / tile->groups, tile->group + i % tile->groups,
                             tile->zero_code[i], tile->zero_code[i] + 1);
    }
    return SZG_OK;
}

static szg_status fill(szg_context *context, const szgi_coded *packed, coded_tile *tile) {
    SZG_TRY(reserve(context, packed, tile));
    SZG_TRY(read_index(context, packed, tile));
    SZG_TRY(read_zeros(context, packed, tile));
    SZG_TRY(read_codes(context, &packed->codes, tile->row, tile->rows, tile->column, tile->columns,
                       tile->code));
    SZG_TRY(read_factors(context, &packed->scales, tile->row, tile->rows, tile->group, tile->groups,
                         tile->room, tile->scale));
    return tile->bias ? read_factors(context, &packed->biases, tile->row, tile->rows, tile->group,
                                     tile->groups, tile->room, tile->bias)
                      : SZG_OK;
}

static szg_status read_tile(szg_context *context, const szgi_coded *packed, coded_tile *tile,
                            double *out) {
    bool sorted = !packed->index.name;
    tile->group = sorted ? tile->column / packed->group : 0;
    tile->groups = sorted ? (tile->column + tile->columns - 1) / packed->group + 1 - tile->group
                          : packed->groups;
    szg_status status = fill(context, packed, tile);
    for (int64_t i = 0; i < tile->rows && status == SZG_OK; i++)
        for (int64_t j = 0; j < tile->columns; j++) {
            int64_t at = i * tile->groups + tile->index[j];
            double value = packed->value[tile->code[i * tile->columns + j]];
            *out++ = tile->scale[at] * (tile->zero ? value - tile->zero[at] : value) +
                     (tile->bias ? tile->bias[at] : 0);
        }
    release(tile);
    return status;
}

szg_status szgi_tensor_read_coded(szg_context *context, const szgi_tensor *tensor, int64_t start,
                                  int64_t count, double *out) {
    const szgi_coded *packed = tensor->coded;
    while (count > 0) {
        int64_t column = start % packed->columns, most = TILE / packed->columns;
        coded_tile tile = {.row = start / packed->columns, .rows = 1, .column = column};
        if (column == 0 && count >= packed->columns && most > 0) {
            tile.rows = smaller(most, count / packed->columns);
            tile.columns = packed->columns;
        } else {
            tile.columns = smaller(smaller(count, packed->columns - column), TILE);
        }
        SZG_TRY(read_tile(context, packed, &tile, out));
        start += tile.rows * tile.columns;
        count -= tile.rows * tile.columns;
        out += tile.rows * tile.columns;
    }
    return SZG_OK;
}

int szgi_coded_numbers(const szgi_coded *packed, const szgi_tensor *out[CODED_NUMBERS]) {
    int count = 0;
    if (!packed->scales.nested)
        out[count++] = &packed->scales.tensor;
    if (packed->scales.nested) {
        out[count++] = &packed->scales.table;
        out[count++] = &packed->scales.outer;
    }
    if (packed->biases.tensor.name)
        out[count++] = &packed->biases.tensor;
    return count;
}
