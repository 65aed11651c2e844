/* Codes in bytes: bitsandbytes and MXFP4. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "quantised.h"

/* ---- bitsandbytes, 4 bits: weight, all its codes in turn, the first of two in the high bits;
 * weight.absmax, weight.quant_map, and JSON in weight.quant_state.bitsandbytes__TYPE ---- */

#define STATE "weight.quant_state.bitsandbytes__"

static szg_status read_state(unpack_job *job, const szgi_tensor *tensor, szgi_json **out) {
    enum { MOST = 1 << 16 };
    int64_t *byte, count = tensor->count;
    if (strcmp(tensor->dtype_name, "U8") != 0 || count > MOST) {
        szgi_part_problem(job, "its %s is no JSON in U8", SHOWN(tensor->name));
        return SZG_OK;
    }
    char *text = NULL;
    SZG_TRY(szgi_memory_alloc(job->context, count, &byte));
    szg_status status = szgi_memory_alloc(job->context, count + 1, &text);
    if (status == SZG_OK)
        status = szgi_tensor_read_integers(job->context, tensor, 0, count, byte);
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        text[i] = (char)byte[i];
    if (status == SZG_OK) {
        status = szgi_json_parse(job->context, tensor->name, text, count, out);
        if (status == SZG_EDATA) {
            szgi_part_problem(job, "its state %s", szg_context_message(job->context));
            status = SZG_OK;
        }
    }
    szgi_memory_free(byte);
    szgi_memory_free(text);
    return status;
}

/* Numbers of 8-bit scales: nested_quant_map of each byte, times nested_absmax of its block, plus
 * the offset. */
static bool take_nested(unpack_job *job, szgi_json_value state, szgi_factors *scales,
                        int64_t groups) {
    double offset;
    scales->nested = true;
    scales->block = szgi_quantised_number(state, "nested_blocksize");
    if (scales->block < 1 ||
        szgi_json_as_real(NULL, szgi_json_member(state, "nested_offset"), &offset) != SZG_OK ||
        !isfinite(offset))
        return szgi_part_problem(job, "its state has no nested_blocksize and nested_offset that "
                                      "go with 8-bit scales: save it again");
    scales->offset = (float)offset;
    return szgi_part_take(job, "weight.nested_quant_map", PART_FLOAT, CODED_VALUES, -1,
                          &scales->table) &&
           szgi_part_take(job, "weight.nested_absmax", PART_FLOAT, (groups - 1) / scales->block + 1,
                          -1, &scales->outer);
}

static bool state_shape(unpack_job *job, szgi_json_value state, int64_t shape[2], int64_t *group) {
    szgi_json_value value = szgi_json_member(state, "shape");
    int64_t count;
    *group = szgi_quantised_number(state, "blocksize");
    bool good = *group > 0 && szgi_json_count(value) == 2;
    for (int i = 0; i < 2 && good; i++)
        good = szgi_json_as_integer(NULL, szgi_json_element(value, i), &shape[i]) == SZG_OK &&
               shape[i] > 0;
    if (!good)
        return szgi_part_problem(job, "its state has no blocksize and no shape of two sizes");
    if (!__builtin_mul_overflow(shape[0], shape[1], &count) &&
        job->codes->bytes == (count - 1) / 2 + 1)
        return true;
    return szgi_part_problem(job,
                             "it has %" PRId64 " bytes, and its state says [%" PRId64 ", %" PRId64
                             "] codes of 4 bits: fetch the checkpoint again",
                             job->codes->bytes, shape[0], shape[1]);
}

static bool take_four(unpack_job *job, szgi_json_value state, szgi_tensor *map) {
    szgi_coded *packed = &job->packed;
    int64_t shape[2], group;
    szgi_tensor part;
    if (!state_shape(job, state, shape, &group))
        return false;
    int64_t count = shape[0] * shape[1], groups = (count - 1) / group + 1;
    szgi_part_shape(job, 1, count, group);
    packed->shape[0] = shape[0];
    packed->shape[1] = shape[1];
    packed->codes = (szgi_codes){
        .tensor = *job->codes, .bits = 4, .lines = 1, .length = count, .span = 2, .place = {1, 0}};
    if (!szgi_part_take(job, "weight.absmax", PART_FLOAT | PART_BYTE, groups, -1, &part) ||
        !szgi_part_take(job, "weight.quant_map", PART_FLOAT, 16, -1, map))
        return false;
    packed->scales = szgi_part_factors(&part, 0, 1);
    bool bytes = strcmp(part.dtype_name, "U8") == 0;
    szgi_part_label(job, ", blocks of %" PRId64 "%s", group, bytes ? ", nested scales" : "");
    return !bytes || take_nested(job, state, &packed->scales, groups);
}

szg_status szgi_unpack_four(unpack_job *job) {
    static const char *const types[][2] = {{"nf4", " NF4"}, {"fp4", " FP4"}};
    const szgi_tensor *tensor = NULL;
    szgi_tensor map;
    szgi_json *state = NULL;
    for (int i = 0; i < 2 && !tensor; i++) {
        char ending[64] = STATE;
        strcat(ending, types[i][0]);
        tensor = szgi_part_find(job, ending);
        if (tensor)
            szgi_part_label(job, "%s", types[i][1]);
    }
    if (!tensor) {
        szgi_part_problem(job,
                          "its %s" STATE "nf4 or fp4 is missing: fetch the checkpoint again, "
                          "or save it with a newer bitsandbytes",
                          SHOWN(job->stem));
        return SZG_OK;
    }
    SZG_TRY(read_state(job, tensor, &state));
    szg_status status = SZG_OK;
    if (state && take_four(job, szgi_json_root(state), &map)) {
        status = szgi_tensor_check(job->context, &map);
        if (status == SZG_OK)
            status = szgi_tensor_read(job->context, &map, 0, 16, job->packed.value);
        if (status == SZG_EDATA) {
            szgi_part_problem(job, "%s", szg_context_message(job->context));
            status = SZG_OK;
        }
    }
    szgi_json_close(&state);
    return status;
}

/* ---- bitsandbytes, 8 bits: weight I8 [rows, columns], SCB [rows], the largest of each row ---- */

szg_status szgi_unpack_eight(unpack_job *job) {
    szgi_coded *packed = &job->packed;
    const szgi_tensor *format = szgi_part_find(job, "weight_format");
    int64_t rows = job->codes->shape[0], columns = job->codes->shape[1], number = 0;
    szgi_tensor part;
    if (format && format->count == 1 && format->dtype == SZGI_DTYPE_INTEGER)
        SZG_TRY(szgi_tensor_read_integers(job->context, format, 0, 1, &number));
    if (number != 0) {
        szgi_part_problem(job,
                          "its order is that of a processor (weight_format %" PRId64
                          "), and 0, by rows, is read: save it again with a newer "
                          "bitsandbytes",
                          number);
        return SZG_OK;
    }
    if (!szgi_part_take(job, "SCB", PART_FLOAT, rows, -1, &part))
        return SZG_OK;
    szgi_part_shape(job, rows, columns, columns);
    packed->codes =
        (szgi_codes){.tensor = *job->codes, .bits = 8, .lines = rows, .length = columns};
    packed->scales = szgi_part_factors(&part, 1, 1);
    packed->scales.divisor = 127;
    szgi_part_values(packed->value, 8, 0, true);
    szgi_part_label(job, " int8");
    return SZG_OK;
}

/* ---- MXFP4 of gpt-oss: NAME_blocks U8 [.., rows, groups, 16], NAME_scales U8 [.., rows, groups]
 * ---- */

szg_status szgi_unpack_mxfp4(unpack_job *job) {
    enum { BYTES = 16, GROUP = 32 };
    szgi_coded *packed = &job->packed;
    const szgi_tensor *scales = szgi_part_find(job, "_scales"), *codes = job->codes;
    char shape[64];
    if (codes->dims < 3 || codes->dims > CODED_DIMS + 1 || codes->shape[codes->dims - 1] != BYTES) {
        szgi_part_problem(job, "it has shape %s, and [rows, groups, 16] is needed",
                          szgi_tensor_shape_text(codes, shape, sizeof shape));
        return SZG_OK;
    }
    if (!scales || strcmp(scales->dtype_name, "U8") != 0 || scales->dims != codes->dims - 1 ||
        memcmp(scales->shape, codes->shape, (size_t)scales->dims * sizeof *scales->shape) != 0) {
        szgi_part_problem(job,
                          "its %s_scales is missing, or is no U8 with its shape but the last "
                          "size: fetch the checkpoint again",
                          SHOWN(job->stem));
        return SZG_OK;
    }
    int64_t groups = codes->shape[codes->dims - 2], columns = GROUP * groups;
    szgi_part_shape(job, codes->bytes / (BYTES * groups), columns, GROUP);
    packed->dims = codes->dims - 1;
    for (int i = 0; i < packed->dims - 1; i++)
        packed->shape[i] = codes->shape[i];
    packed->shape[packed->dims - 1] = columns;
    packed->codes =
        (szgi_codes){.tensor = *codes, .bits = 4, .lines = packed->rows, .length = columns};
    packed->scales = szgi_part_factors(scales, groups, 1);
    packed->scales.tensor.dtype = SZGI_DTYPE_FLOAT8;
    packed->scales.tensor.dtype_name = "F8_E8M0";
    szgi_part_e2m1(packed->value);
    szgi_part_label(job, ", blocks of 32");
    return SZG_OK;
}
