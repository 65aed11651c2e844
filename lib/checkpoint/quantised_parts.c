/* Parts of packed weights: found by name, checked by type and shape. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "quantised.h"

const szgi_tensor *szgi_part_find(const unpack_job *job, const char *ending) {
    char name[640];
    snprintf(name, sizeof name, "%s%s", job->stem, ending);
    return szgi_safetensors_find(job->tensors, name);
}

bool szgi_part_problem(unpack_job *job, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(job->problem, sizeof job->problem, format, list);
    va_end(list);
    return false;
}

void szgi_part_label(unpack_job *job, const char *format, ...) {
    size_t used = strlen(job->label);
    va_list list;
    va_start(list, format);
    vsnprintf(job->label + used, sizeof job->label - used, format, list);
    va_end(list);
}

/* ---- Types ---- */

static const struct {
    const char *name;
    int kind;
} types[] = {{"F32", PART_FLOAT}, {"F16", PART_FLOAT},    {"BF16", PART_FLOAT},
             {"I32", PART_WORD},  {"U32", PART_WORD},     {"U8", PART_BYTE},
             {"I8", PART_SIGNED}, {"F8_E4M3", PART_EIGHT}};

static bool has_kind(const szgi_tensor *tensor, int kinds) {
    if ((kinds & PART_INDEX) && tensor->dtype == SZGI_DTYPE_INTEGER &&
        strcmp(tensor->dtype_name, "BOOL") != 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((kinds & types[i].kind) && strcmp(types[i].name, tensor->dtype_name) == 0)
            return true;
    return false;
}

/* "F32, F16 or BF16" */
static const char *kinds_text(int kinds, char *text, size_t size) {
    size_t used = 0, left = 0;
    if (kinds & PART_INDEX)
        return "an integer type";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        left += (kinds & types[i].kind) != 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (kinds & types[i].kind) {
            left--;
            used += (size_t)snprintf(text + used, size - used, "%s%s", types[i].name,
                                     left > 1    ? ", "
                                     : left == 1 ? " or "
                                                 : "");
        }
    return text;
}

static bool has_shape(const szgi_tensor *tensor, int64_t rows, int64_t columns) {
    if (columns < 0)
        return tensor->dims == 1 && tensor->shape[0] == rows;
    return tensor->dims == 2 && tensor->shape[0] == rows && tensor->shape[1] == columns;
}

bool szgi_part_take(unpack_job *job, const char *ending, int kinds, int64_t rows, int64_t columns,
                    szgi_tensor *out) {
    char text[64], wanted[64];
    const szgi_tensor *tensor = szgi_part_find(job, ending);
    if (!tensor)
        return szgi_part_problem(job, "its %s%s is missing: fetch the checkpoint again",
                                 SHOWN(job->stem), ending);
    if (!has_kind(tensor, kinds))
        return szgi_part_problem(job, "its %s has type %s, and %s is needed", SHOWN(tensor->name),
                                 tensor->dtype_name, kinds_text(kinds, text, sizeof text));
    if (columns < 0)
        snprintf(wanted, sizeof wanted, "[%" PRId64 "]", rows);
    else
        snprintf(wanted, sizeof wanted, "[%" PRId64 ", %" PRId64 "]", rows, columns);
    if (!has_shape(tensor, rows, columns))
        return szgi_part_problem(
            job, "its %s has shape %s, and %s goes with %s %s: fetch the checkpoint again",
            SHOWN(tensor->name), szgi_tensor_shape_text(tensor, text, sizeof text), wanted,
            SHOWN(job->codes->name),
            szgi_tensor_shape_text(job->codes, (char[64]){0}, sizeof(char[64])));
    *out = *tensor;
    return true;
}

/* ---- What they make ---- */

void szgi_part_shape(unpack_job *job, int64_t rows, int64_t columns, int64_t group) {
    szgi_coded *packed = &job->packed;
    packed->dims = 2;
    packed->shape[0] = packed->rows = rows;
    packed->shape[1] = packed->columns = columns;
    packed->group = group;
    packed->groups = (columns - 1) / group + 1;
}

szgi_factors szgi_part_factors(const szgi_tensor *tensor, int64_t row_step, int64_t group_step) {
    return (szgi_factors){
        .tensor = *tensor, .row_step = row_step, .group_step = group_step, .divisor = 1};
}

void szgi_part_values(double value[CODED_VALUES], int bits, int64_t offset, bool is_signed) {
    for (int64_t code = 0; code < CODED_VALUES; code++) {
        int64_t number = is_signed && code >> (bits - 1) & 1 ? code - (1 << bits) : code;
        value[code] = (double)(number - offset);
    }
}

void szgi_part_e2m1(double value[CODED_VALUES]) {
    static const double half[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    for (int code = 0; code < 16; code++)
        value[code] = code < 8 ? half[code] : -half[code - 8];
}
