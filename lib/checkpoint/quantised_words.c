/* Codes of a few bits in 32-bit words: GPTQ, AWQ, compressed-tensors, MLX. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "quantised.h"

#define SET_REMEDY(key, value) "--set " QUANTISED_CONFIG "." key "=" value

/* ---- GPTQ: qweight [columns bits/32, rows], qzeros [groups, rows bits/32], scales [groups, rows]
 * and g_idx [columns], the group of each column ---- */

/* What is added to the zeros that the file has. The first format stores them less one. */
typedef enum zero_format { ZEROS_UNKNOWN, ZEROS_LESS_ONE, ZEROS_PLAIN, ZEROS_REFUSED } zero_format;

static zero_format named_format(unpack_job *job) {
    const char *name = szgi_quantised_text(job->settings, "checkpoint_format");
    const char *other = szgi_quantised_text(job->settings, "format");
    if (name && other && strcmp(name, other) != 0) {
        szgi_part_problem(job,
                          QUANTISED_CONFIG ".checkpoint_format is %s and format is %s: "
                                           "--set one of them",
                          SHOWN(name), SHOWN(other));
        return ZEROS_REFUSED;
    }
    name = name ? name : other;
    if (!name)
        return ZEROS_UNKNOWN;
    if (strcmp(name, "gptq") == 0)
        return ZEROS_LESS_ONE;
    if (strcmp(name, "gptq_v2") == 0)
        return ZEROS_PLAIN;
    szgi_part_problem(job,
                      "its format %s (" QUANTISED_CONFIG ".checkpoint_format) is not read "
                      "here, gptq and gptq_v2 are: read the checkpoint that it was made from",
                      SHOWN(name));
    return ZEROS_REFUSED;
}

/* Where the configuration does not name the format: symmetric codes have their zero in the middle,
 * so the first one tells. */
static szg_status find_format(unpack_job *job, int bits, zero_format *out) {
    int64_t word, middle = 1 << (bits - 1);
    *out = named_format(job);
    if (*out != ZEROS_UNKNOWN)
        return SZG_OK;
    if (szgi_quantised_true(job->settings, "sym")) {
        SZG_TRY(szgi_tensor_read_integers(job->context, &job->packed.zeros.tensor, 0, 1, &word));
        int64_t code = word & ((1 << bits) - 1);
        *out = code == middle - 1 ? ZEROS_LESS_ONE : code == middle ? ZEROS_PLAIN : ZEROS_UNKNOWN;
    }
    if (*out == ZEROS_UNKNOWN)
        szgi_part_problem(job, QUANTISED_CONFIG
                          ".checkpoint_format is missing, and the zeros are stored as they are "
                          "(gptq_v2) or less one (gptq, which AutoGPTQ wrote): " SET_REMEDY(
                              "checkpoint_format", "gptq") " says so");
    return SZG_OK;
}

/* Bits as the shapes tell them; 0: the problem is written. */
static int gptq_bits(unpack_job *job, int64_t rows) {
    const szgi_tensor *zeros = szgi_part_find(job, "qzeros");
    int64_t bits = zeros && zeros->dims == 2 ? 32 * zeros->shape[1] / rows : 0;
    int64_t named = szgi_quantised_number(job->settings, "bits");
    bool varies = szgi_json_has(job->settings, "dynamic");
    if (!zeros)
        szgi_part_problem(job, "its %sqzeros is missing: fetch the checkpoint again",
                          SHOWN(job->stem));
    else if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
        szgi_part_problem(job,
                          "its qzeros and qweight make codes of %" PRId64
                          " bits, and 2, 3, 4 or 8 are possible: fetch the checkpoint again",
                          bits);
    else if (named >= 0 && named != bits && !varies)
        szgi_part_problem(job,
                          "its shapes make codes of %" PRId64 " bits, and " QUANTISED_CONFIG
                          ".bits is %" PRId64,
                          bits, named);
    else
        return (int)bits;
    return 0;
}

/* The group of each column, from g_idx or in turn. */
static bool gptq_groups(unpack_job *job, int64_t columns, int64_t groups) {
    szgi_coded *packed = &job->packed;
    int64_t size = szgi_quantised_number(job->settings, "group_size");
    packed->group = columns;
    packed->groups = groups;
    if (szgi_part_find(job, "g_idx"))
        return szgi_part_take(job, "g_idx", PART_INDEX, columns, -1, &packed->index);
    if (szgi_quantised_true(job->settings, "desc_act"))
        return szgi_part_problem(job,
                                 "its %sg_idx is missing, and " QUANTISED_CONFIG
                                 ".desc_act is true: fetch the checkpoint again",
                                 SHOWN(job->stem));
    packed->group = size > 0 ? size : columns;
    if ((columns - 1) / packed->group + 1 == groups)
        return true;
    return szgi_part_problem(job,
                             "its scales have %" PRId64 " groups, and " QUANTISED_CONFIG
                             ".group_size %" PRId64 " makes %" PRId64 " of %" PRId64 " columns",
                             groups, size, (columns - 1) / packed->group + 1, columns);
}

static bool take_gptq(unpack_job *job, int *bits) {
    szgi_coded *packed = &job->packed;
    const szgi_tensor *scales = szgi_part_find(job, "scales");
    int64_t rows = job->codes->shape[1];
    int64_t groups = scales && scales->dims == 2 ? scales->shape[0] : 1;
    *bits = gptq_bits(job, rows);
    if (*bits == 0)
        return false;
    int64_t columns = job->codes->shape[0] * 32 / *bits;
    szgi_part_shape(job, rows, columns, columns);
    packed->codes = (szgi_codes){.bits = *bits, .lines = rows, .length = columns, .strided = true};
    packed->zeros = (szgi_codes){.bits = *bits, .lines = groups, .length = rows, .turned = true};
    szgi_tensor part;
    if (!szgi_part_take(job, "qweight", PART_WORD, job->codes->shape[0], rows,
                        &packed->codes.tensor) ||
        !szgi_part_take(job, "scales", PART_FLOAT, groups, rows, &part) ||
        !szgi_part_take(job, "qzeros", PART_WORD, groups, rows * *bits / 32, &packed->zeros.tensor))
        return false;
    packed->scales = szgi_part_factors(&part, 1, rows);
    return gptq_groups(job, columns, groups);
}

szg_status szgi_unpack_gptq(unpack_job *job) {
    szgi_coded *packed = &job->packed;
    zero_format format;
    int bits = 0;
    if (!take_gptq(job, &bits))
        return SZG_OK;
    SZG_TRY(find_format(job, bits, &format));
    szgi_part_values(packed->value, bits, 0, false);
    szgi_part_values(packed->zero, bits, format == ZEROS_LESS_ONE ? -1 : 0, false);
    if (format == ZEROS_LESS_ONE) /* 2^bits to AutoGPTQ, 0 to GPTQModel */
        packed->zero[(1 << bits) - 1] = NAN;
    szgi_part_label(job, "%s, %d bits, %" PRId64 " group%s%s",
                    format == ZEROS_LESS_ONE ? "" : " v2", bits, packed->groups,
                    packed->groups == 1 ? "" : "s",
                    szgi_quantised_true(job->settings, "desc_act") ? ", act-order" : "");
    return SZG_OK;
}

/* ---- AWQ: qweight [columns, rows/8], qzeros [groups, rows/8], scales [groups, rows] ---- */

static bool awq_settings(unpack_job *job) {
    const char *version = szgi_quantised_text(job->settings, "version");
    const char *format = szgi_quantised_text(job->settings, "format");
    int64_t bits = szgi_quantised_number(job->settings, "bits");
    bits = bits >= 0 ? bits : szgi_quantised_number(job->settings, "w_bit");
    version = version ? version : format;
    if (version && strcmp(version, "gemm") != 0 && strcmp(version, "GEMM") != 0)
        return szgi_part_problem(job,
                                 "its order %s (" QUANTISED_CONFIG
                                 ".version) is not read here, gemm is: quantise with "
                                 "version GEMM, or read the checkpoint that it was made from",
                                 SHOWN(version));
    if (bits >= 0 && bits != 4)
        return szgi_part_problem(
            job, "codes of %" PRId64 " bits (" QUANTISED_CONFIG ".bits), and gemm's order has 4",
            bits);
    return true;
}

szg_status szgi_unpack_awq(unpack_job *job) {
    enum { BITS = 4, WORD = 8 };
    static const uint8_t place[CODED_SPAN] = {0, 4, 1, 5, 2, 6, 3, 7};
    szgi_coded *packed = &job->packed;
    const szgi_tensor *scales = szgi_part_find(job, "scales"), *codes = job->codes;
    szgi_tensor part;
    if (!awq_settings(job))
        return SZG_OK;
    int64_t columns = codes->shape[0], rows = WORD * codes->shape[1];
    int64_t groups = scales && scales->dims == 2 && scales->shape[0] > 0 ? scales->shape[0] : 1;
    packed->codes = (szgi_codes){.bits = BITS, .lines = columns, .length = rows, .turned = true};
    packed->codes.span = WORD;
    memcpy(packed->codes.place, place, sizeof place);
    packed->zeros = packed->codes;
    packed->zeros.lines = groups;
    if (!szgi_part_take(job, "qweight", PART_WORD, columns, rows / WORD, &packed->codes.tensor) ||
        !szgi_part_take(job, "scales", PART_FLOAT, groups, rows, &part) ||
        !szgi_part_take(job, "qzeros", PART_WORD, groups, rows / WORD, &packed->zeros.tensor))
        return SZG_OK;
    if (columns % groups != 0) {
        szgi_part_problem(
            job, "its scales have %" PRId64 " groups, which do not divide %" PRId64 " columns",
            groups, columns);
        return SZG_OK;
    }
    szgi_part_shape(job, rows, columns, columns / groups);
    packed->scales = szgi_part_factors(&part, 1, rows);
    szgi_part_values(packed->value, BITS, 0, false);
    szgi_part_values(packed->zero, BITS, 0, false);
    szgi_part_label(job, " gemm, 4 bits, groups of %" PRId64, columns / groups);
    return SZG_OK;
}

/* ---- compressed-tensors: weight_packed [rows, columns bits/32], weight_scale [rows, groups],
 * weight_zero_point [rows bits/32, groups] packed down its columns, weight_shape ---- */

/* Does a group of config_groups have this number under `key` of its weights? */
static bool group_has(const unpack_job *job, const char *key, int64_t number) {
    szgi_json_value groups = szgi_json_member(job->settings, "config_groups");
    for (szgi_json_value group = {0}; szgi_json_next(groups, &group);) {
        szgi_json_value weights = szgi_json_member(group, "weights");
        if (szgi_quantised_number(weights, key) == number)
            return true;
    }
    return false;
}

/* The bits of `columns` codes in so many words; 0: the problem is written. */
static int packed_bits(unpack_job *job, int64_t columns, int64_t words) {
    int bits = 0, found = 0;
    for (int b = 1; b <= 8; b++) {
        bool whole = words == (columns * b - 1) / 32 + 1,
             padded = words == (columns - 1) / (32 / b) + 1;
        if (!group_has(job, "num_bits", b) || (!whole && !padded))
            continue;
        if (32 % b != 0 && padded) {
            szgi_part_problem(job,
                              "codes of %d bits may fill their words or leave some bits of "
                              "each, as older versions of compressed-tensors do, and its shape "
                              "does not tell which: save it again with a newer version",
                              b);
            return 0;
        }
        bits = b;
        found++;
    }
    if (found != 1)
        szgi_part_problem(job,
                          "it has %" PRId64 " words a row for %" PRId64
                          " columns, and %s " QUANTISED_CONFIG
                          ".config_groups.*.weights.num_bits %s",
                          words, columns, found ? "more than one" : "no",
                          found ? "goes with them" : "makes as many");
    return found == 1 ? bits : 0;
}

/* Columns that share a scale; 0: the problem is written. */
static int64_t packed_group(unpack_job *job, int64_t columns, int64_t groups) {
    int64_t size = 0;
    int found = 0;
    szgi_json_value all = szgi_json_member(job->settings, "config_groups");
    if (groups == 1)
        return columns;
    for (szgi_json_value group = {0}; szgi_json_next(all, &group);) {
        int64_t one = szgi_quantised_number(szgi_json_member(group, "weights"), "group_size");
        if (one > 0 && (columns - 1) / one + 1 == groups && one != size) {
            size = one;
            found++;
        }
    }
    if (found == 1)
        return size;
    szgi_part_problem(job,
                      "its weight_scale has %" PRId64 " groups of %" PRId64
                      " columns, and %s " QUANTISED_CONFIG
                      ".config_groups.*.weights.group_size makes as many",
                      groups, columns, found ? "more than one" : "no");
    return 0;
}

/* Numbers of weight_scale: one in all, one a row, or one a group. */
static bool take_scales(unpack_job *job, int kinds, int64_t rows, int64_t *groups) {
    const szgi_tensor *scales = szgi_part_find(job, "weight_scale");
    szgi_tensor part;
    bool one = scales && scales->count == 1, flat = scales && scales->dims == 1;
    *groups = scales && scales->dims == 2 && scales->shape[1] > 0 ? scales->shape[1] : 1;
    int64_t along = one ? 1 : rows;
    if (one && scales->dims == 0)
        return szgi_part_problem(job, "its %s is one number without an axis, and [1] is needed",
                                 SHOWN(scales->name));
    if (!szgi_part_take(job, "weight_scale", kinds, along, flat ? -1 : *groups, &part))
        return false;
    if (kinds & (PART_EIGHT | PART_BYTE)) { /* read as powers of two, or as small floats */
        part.dtype = SZGI_DTYPE_FLOAT8;
        if (strcmp(part.dtype_name, "U8") == 0)
            part.dtype_name = "F8_E8M0";
    }
    job->packed.scales = szgi_part_factors(&part, one ? 0 : *groups, one ? 0 : 1);
    return true;
}

/* Zeros are packed down the columns of their tensor, or are whole bytes. Stored without the offset
 * that packing adds, they are signed. */
static bool take_zeros(unpack_job *job, int bits, int64_t rows, int64_t groups) {
    szgi_codes *zeros = &job->packed.zeros;
    const szgi_tensor *tensor = szgi_part_find(job, "weight_zero_point");
    if (!tensor)
        return true;
    if (strcmp(tensor->dtype_name, "I8") == 0) {
        *zeros = (szgi_codes){.bits = 8, .lines = rows, .length = groups};
        szgi_part_values(job->packed.zero, 8, 0, true);
        return szgi_part_take(job, "weight_zero_point", PART_SIGNED, rows, groups, &zeros->tensor);
    }
    *zeros = (szgi_codes){
        .bits = bits, .lines = groups, .length = rows, .strided = true, .turned = true};
    szgi_part_values(job->packed.zero, bits, 1 << (bits - 1), false);
    return szgi_part_take(job, "weight_zero_point", PART_WORD, (rows * bits - 1) / 32 + 1, groups,
                          &zeros->tensor);
}

static szg_status read_shape(unpack_job *job, int64_t shape[2]) {
    szgi_tensor part;
    shape[0] = shape[1] = 0;
    if (!szgi_part_take(job, "weight_shape", PART_INDEX, 2, -1, &part))
        return SZG_OK;
    SZG_TRY(szgi_tensor_read_integers(job->context, &part, 0, 2, shape));
    if (shape[0] == job->codes->shape[0] && shape[1] > 0 && shape[1] <= 32 * job->codes->shape[1])
        return SZG_OK;
    szgi_part_problem(job,
                      "its %s says [%" PRId64 ", %" PRId64 "], which does not go with its "
                      "shape: fetch the checkpoint again",
                      SHOWN(part.name), shape[0], shape[1]);
    shape[0] = 0;
    return SZG_OK;
}

szg_status szgi_unpack_words(unpack_job *job) {
    szgi_coded *packed = &job->packed;
    int64_t shape[2], groups;
    SZG_TRY(read_shape(job, shape));
    int bits = shape[0] ? packed_bits(job, shape[1], job->codes->shape[1]) : 0;
    if (bits == 0 || !take_scales(job, PART_FLOAT, shape[0], &groups))
        return SZG_OK;
    int64_t group = packed_group(job, shape[1], groups);
    if (group == 0 || !take_zeros(job, bits, shape[0], groups))
        return SZG_OK;
    szgi_part_shape(job, shape[0], shape[1], group);
    packed->codes =
        (szgi_codes){.tensor = *job->codes, .bits = bits, .lines = shape[0], .length = shape[1]};
    szgi_part_values(packed->value, bits, 1 << (bits - 1), false);
    if (szgi_part_find(job, "weight_g_idx") &&
        !szgi_part_take(job, "weight_g_idx", PART_INDEX, shape[1], -1, &packed->index))
        return SZG_OK;
    szgi_part_label(job, ", %d bits, groups of %" PRId64 "%s", bits, group,
                    packed->zeros.bits ? ", with zeros" : "");
    return SZG_OK;
}

/* The same of whole bytes: weight I8 [rows, columns]. */
szg_status szgi_unpack_integers(unpack_job *job) {
    szgi_coded *packed = &job->packed;
    int64_t groups, rows = job->codes->shape[0], columns = job->codes->shape[1];
    if (!take_scales(job, PART_FLOAT, rows, &groups))
        return SZG_OK;
    int64_t group = packed_group(job, columns, groups);
    if (group == 0 || !take_zeros(job, 8, rows, groups))
        return SZG_OK;
    szgi_part_shape(job, rows, columns, group);
    packed->codes =
        (szgi_codes){.tensor = *job->codes, .bits = 8, .lines = rows, .length = columns};
    szgi_part_values(packed->value, 8, 0, true);
    szgi_part_label(job, ", 8 bits, %s%s",
                    packed->scales.row_step == 0 ? "one scale"
                    : groups == 1                ? "a scale a row"
                                                 : "scales by groups",
                    packed->zeros.bits ? ", with zeros" : "");
    return SZG_OK;
}

/* ---- 4-bit floats of compressed-tensors: weight_packed U8 [rows, columns/2] with scales of a
 * power of two for each 32 columns (MXFP4), or of 8 bits for each 16 (NVFP4), there over one
 * weight_global_scale ---- */

szg_status szgi_unpack_floats(unpack_job *job) {
    szgi_coded *packed = &job->packed;
    const szgi_tensor *scales = szgi_part_find(job, "weight_scale");
    bool powers = scales && strcmp(scales->dtype_name, "U8") == 0;
    int64_t group = powers ? 32 : 16, groups;
    szgi_tensor global;
    double divisor = 1;
    int64_t rows = job->codes->shape[0], columns = 2 * job->codes->shape[1];
    if (!take_scales(job, PART_EIGHT | PART_BYTE, rows, &groups))
        return SZG_OK;
    if (groups * group != columns) {
        szgi_part_problem(job,
                          "its weight_scale has %" PRId64 " groups, and groups of %" PRId64
                          " make %" PRId64 " columns a row, where %" PRId64 " are packed",
                          groups, group, groups * group, columns);
        return SZG_OK;
    }
    if (!powers) {
        if (!szgi_part_take(job, "weight_global_scale", PART_FLOAT, 1, -1, &global))
            return SZG_OK;
        SZG_TRY(szgi_tensor_read(job->context, &global, 0, 1, &divisor));
        if (!isfinite(divisor) || divisor == 0) {
            szgi_part_problem(job, "its %s is %g: the checkpoint is damaged", SHOWN(global.name),
                              divisor);
            return SZG_OK;
        }
    }
    szgi_part_shape(job, rows, columns, group);
    packed->codes =
        (szgi_codes){.tensor = *job->codes, .bits = 4, .lines = rows, .length = columns};
    packed->scales.divisor = divisor;
    szgi_part_e2m1(packed->value);
    szgi_part_label(job, " %s, groups of %" PRId64, powers ? "MXFP4" : "NVFP4", group);
    return SZG_OK;
}

/* ---- MLX: weight U32 [rows, columns bits/32], scales and biases [rows, groups] ---- */

/* The weight's own member of `quantization`, or that of all. */
static int64_t mlx_number(const unpack_job *job, const char *key) {
    char path[sizeof job->stem];
    size_t length = strlen(job->stem);
    memcpy(path, job->stem, length + 1);
    if (length > 0)
        path[length - 1] = 0; /* the point */
    szgi_json_value own = szgi_json_member(job->settings, path);
    bool has = szgi_json_kind_of(own) == SZGI_JSON_OBJECT && szgi_json_has(own, key);
    return szgi_quantised_number(has ? own : job->settings, key);
}

static bool mlx_sizes(unpack_job *job, int64_t *bits, int64_t *group) {
    static const char *const name[] = {"bits", "group_size"};
    const char *mode = szgi_quantised_text(job->settings, "mode");
    int64_t *const size[] = {bits, group};
    for (int i = 0; i < 2; i++) {
        *size[i] = mlx_number(job, name[i]);
        if (*size[i] < 1)
            return szgi_part_problem(
                job, "%s of " QUANTISED_MLX " is missing: --set " QUANTISED_MLX ".%s=%s gives it",
                name[i], name[i], i ? "64" : "4");
    }
    if (mode && strcmp(mode, "affine") != 0)
        return szgi_part_problem(job,
                                 "its mode %s (" QUANTISED_MLX ".mode) is not read here, affine "
                                 "is: dequantise it (PyPI: mlx-lm: mlx_lm.convert --hf-path "
                                 "FOLDER --dequantize)",
                                 SHOWN(mode));
    if (*bits < 2 || *bits > 8 || *bits == 7)
        return szgi_part_problem(job,
                                 "codes of %" PRId64 " bits (" QUANTISED_MLX
                                 ".bits), and 2, 3, 4, 5, 6 or 8 are possible",
                                 *bits);
    return true;
}

szg_status szgi_unpack_mlx(unpack_job *job) {
    szgi_coded *packed = &job->packed;
    const char *biases = szgi_part_find(job, "qbiases") ? "qbiases" : "biases";
    int64_t rows = job->codes->shape[0], words = job->codes->shape[1], bits, group, groups;
    szgi_tensor scale, bias;
    if (!mlx_sizes(job, &bits, &group))
        return SZG_OK;
    int64_t columns = words * 32 / bits;
    if (words * 32 % bits != 0 || columns % group != 0) {
        szgi_part_problem(job,
                          "%" PRId64 " words a row are no groups of %" PRId64 " codes of %" PRId64
                          " bits (" QUANTISED_MLX ")",
                          words, group, bits);
        return SZG_OK;
    }
    groups = columns / group;
    if (!szgi_part_take(job, "scales", PART_FLOAT, rows, groups, &scale) ||
        !szgi_part_take(job, biases, PART_FLOAT, rows, groups, &bias))
        return SZG_OK;
    szgi_part_shape(job, rows, columns, group);
    packed->codes =
        (szgi_codes){.tensor = *job->codes, .bits = (int)bits, .lines = rows, .length = columns};
    packed->scales = szgi_part_factors(&scale, groups, 1);
    packed->biases = szgi_part_factors(&bias, groups, 1);
    szgi_part_values(packed->value, (int)bits, 0, false);
    szgi_part_label(job, ", %" PRId64 " bits, groups of %" PRId64, bits, group);
    return SZG_OK;
}
