/* Scales of 8-bit floats. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "quantised.h"

#define SCALE "_scale_inv"

/* weight_block_size; zeros if the configuration has no such member. */
static szg_status read_block(szg_context *context, const szg_checkpoint *checkpoint,
                             int64_t block[2]) {
    szgi_json_value settings = szgi_quantised_settings(checkpoint, QUANTISED_CONFIG);
    block[0] = block[1] = 0;
    if (!szgi_json_has(settings, "weight_block_size"))
        return SZG_OK;
    szgi_json_value value = szgi_json_member(settings, "weight_block_size");
    SZG_TRY(szgi_json_as_array(context, value));
    if (szgi_json_count(value) != 2)
        return szgi_json_fail(context, value,
                              "has %" PRId64 " entries, and rows and columns of a "
                              "block are needed, as in [128, 128]",
                              szgi_json_count(value));
    for (int i = 0; i < 2; i++) {
        szgi_json_value side = szgi_json_element(value, i);
        SZG_TRY(szgi_json_as_integer(context, side, &block[i]));
        if (block[i] < 1)
            return szgi_json_fail(context, side, "is %" PRId64 ", and must be at least 1",
                                  block[i]);
    }
    return SZG_OK;
}

/* What a weight's scale is called: NAME of the weight and an ending, or instead of its `weight`.
 * All are factors. `methods` call it so, and stand between spaces. */
static const struct {
    const char *ending;
    bool after;   /* the weight's whole name */
    bool unnamed; /* so do files without a quant_method */
    const char *methods;
} names[] = {
    {"_scale_inv", true, true, " fp8 "},
    {"_scale", true, false, " fbgemm_fp8 compressed-tensors modelopt "},
    {"scale", false, false, " fp8 "},
    {"qscale_weight", false, false, " fp8 "},
};

static const szgi_tensor *find_named(const szg_checkpoint *checkpoint, const char *weight,
                                     const char *ending, bool after) {
    char name[640];
    const char *point = strrchr(weight, '.');
    int stem = after ? (int)strlen(weight) : point ? (int)(point + 1 - weight) : 0;
    int length = snprintf(name, sizeof name, "%.*s%s", stem, weight, ending);
    return length > 0 && (size_t)length < sizeof name
               ? szgi_safetensors_find(checkpoint->tensors, name)
               : NULL;
}

static bool is_method(const char *methods, const char *method) {
    char word[64];
    int length = snprintf(word, sizeof word, " %s ", method);
    return (size_t)length < sizeof word && strstr(methods, word);
}

/* The scale that goes with quant_method; NULL: there is none. *two: another one is there too. */
static const szgi_tensor *find_scale(const szg_checkpoint *checkpoint, const char *weight,
                                     const szgi_tensor **two) {
    const char *method =
        szgi_quantised_text(szgi_quantised_settings(checkpoint, QUANTISED_CONFIG), "quant_method");
    const szgi_tensor *out = NULL;
    *two = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const szgi_tensor *one = find_named(checkpoint, weight, names[i].ending, names[i].after);
        if (!one || !(method ? is_method(names[i].methods, method) : names[i].unnamed))
            continue;
        *two = out ? one : NULL;
        out = out ? out : one;
    }
    return out;
}

/* A tensor whose name says that it scales the weight in a way that szego does not know here. */
static const szgi_tensor *find_other_scale(const szg_checkpoint *checkpoint, const char *weight) {
    static const char *const endings[] = {"weight_scale",     "weight_scale_inv", "scale",
                                          "scales",           "scale_weight",     "weight_scale_2",
                                          "weight_zero_point"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const szgi_tensor *tensor = find_named(checkpoint, weight, endings[i], false);
        if (tensor)
            return tensor;
    }
    return NULL;
}

/* Methods whose scales szego knows. */
static bool is_known(const szg_checkpoint *checkpoint) {
    const char *method =
        szgi_quantised_text(szgi_quantised_settings(checkpoint, QUANTISED_CONFIG), "quant_method");
    for (size_t i = 0; method && i < sizeof names / sizeof *names; i++)
        if (is_method(names[i].methods, method))
            return true;
    return false;
}

/* The block of compressed-tensors whose grid the scales have; of two such neither. */
static void find_structure(const szg_checkpoint *checkpoint, const szgi_tensor *weight,
                           const szgi_tensor *scale, int64_t block[2]) {
    szgi_json_value groups =
        szgi_json_member(szgi_quantised_settings(checkpoint, QUANTISED_CONFIG), "config_groups");
    int64_t found = 0, side[2], first[2] = {0, 0};
    for (szgi_json_value group = {0}; szgi_json_next(groups, &group);) {
        szgi_json_value list =
            szgi_json_member(szgi_json_member(group, "weights"), "block_structure");
        bool good = szgi_json_count(list) == 2 && scale->dims == 2;
        for (int i = 0; i < 2 && good; i++)
            good = szgi_json_as_integer(NULL, szgi_json_element(list, i), &side[i]) == SZG_OK &&
                   side[i] > 0 && (weight->shape[i] - 1) / side[i] + 1 == scale->shape[i];
        if (!good || (found > 0 && memcmp(side, first, sizeof side) == 0))
            continue;
        found++;
        memcpy(first, side, sizeof side);
    }
    if (found == 1)
        memcpy(block, first, sizeof first);
}

/* Scales of other names than NAME_scale_inv may be one a row, without a block in the
 * configuration. */
static void find_block(const szg_checkpoint *checkpoint, const szgi_tensor *weight,
                       const szgi_tensor *scale, int64_t block[2]) {
    int64_t rows = weight->shape[0];
    bool flat = scale->dims == 1 || (scale->dims == 2 && scale->shape[1] == 1);
    if (block[0] > 0 || scale->count == 1 || szgi_text_ends(scale->name, SCALE))
        return;
    if (flat && scale->shape[0] == rows) {
        block[0] = 1;
        block[1] = weight->shape[1];
    } else {
        find_structure(checkpoint, weight, scale, block);
    }
}

/* Why the weight's scales cannot be used; "" where they can: then `block` is that of the weight. */
static void judge_scale(const szgi_tensor *weight, const szgi_tensor *scale, int64_t block[2],
                        char *text, size_t size) {
    char shape[64];
    int64_t wanted[2];
    *text = 0;
    if (scale->dtype == SZGI_DTYPE_INTEGER ||
        (scale->dtype == SZGI_DTYPE_OTHER && strcmp(scale->dtype_name, "F8_E8M0") != 0)) {
        szgi_print(text, size,
                   "its scales %s have type %s, and F32, BF16, F16, F64 or F8_E8M0 is "
                   "needed",
                   scale->name, scale->dtype_name);
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (block[i] == 0 && scale->count == 1)
            block[i] = weight->shape[i];
        wanted[i] = block[i] > 0 ? (weight->shape[i] - 1) / block[i] + 1 : 0;
    }
    szgi_tensor_shape_text(scale, shape, sizeof shape);
    if (block[0] == 0)
        szgi_print(text, size,
                   "its scales %s have shape %s, and " QUANTISED_CONFIG
                   ".weight_block_size is missing: --set " QUANTISED_CONFIG
                   ".weight_block_size=[128,128] gives it",
                   scale->name, shape);
    else if (!(scale->count == 1 && wanted[0] == 1 && wanted[1] == 1) &&
             !(scale->dims == 1 && block[0] == 1 && scale->shape[0] == wanted[0] &&
               wanted[1] == 1) &&
             !(scale->dims == 2 && scale->shape[0] == wanted[0] && scale->shape[1] == wanted[1]))
        szgi_print(text, size,
                   "its scales %s have shape %s, and blocks of [%" PRId64 ", %" PRId64
                   "] (" QUANTISED_CONFIG ".weight_block_size) want [%" PRId64 ", %" PRId64 "]",
                   scale->name, shape, block[0], block[1], wanted[0], wanted[1]);
}

/* Why an 8-bit weight without scales under the known name is not read; "" where it has none. */
static void judge_bare(const szg_checkpoint *checkpoint, const szgi_tensor *weight, char *text,
                       size_t size) {
    char name[128];
    const szgi_tensor *other = find_other_scale(checkpoint, weight->name);
    *text = 0;
    if (other && szgi_quantised_name(checkpoint, name, sizeof name))
        szgi_print(text, size,
                   "its scales are %s, and szego does not know that name of %s: read the "
                   "checkpoint that it was made from",
                   other->name, name);
    else if (other)
        szgi_print(text, size,
                   "its scales are %s, and " QUANTISED_CONFIG ".quant_method, which says what "
                   "they mean, is missing: --set " QUANTISED_CONFIG
                   ".quant_method=compressed-tensors (or fbgemm_fp8, modelopt, fp8) says so",
                   other->name);
    else if (szgi_quantised_name(checkpoint, name, sizeof name))
        szgi_print(text, size, "its scales %s" SCALE " are missing: fetch the checkpoint again",
                   weight->name);
}

/* Scales that are 8-bit powers of two are read as such. */
static szg_status join(szg_context *context, szg_checkpoint *checkpoint, int64_t index,
                       const szgi_tensor *scale, const int64_t block[2]) {
    if (scale && scale->dtype == SZGI_DTYPE_OTHER)
        SZG_TRY(szgi_safetensors_scale(context, checkpoint->tensors,
                                       scale - szgi_safetensors_tensor(checkpoint->tensors, 0),
                                       NULL, block));
    return szgi_safetensors_scale(context, checkpoint->tensors, index, scale, block);
}

static szg_status resolve_weight(szg_context *context, szg_checkpoint *checkpoint, int64_t index,
                                 const int64_t configured[2]) {
    const szgi_tensor *weight = szgi_safetensors_tensor(checkpoint->tensors, index), *two;
    const szgi_tensor *scale = find_scale(checkpoint, weight->name, &two);
    int64_t block[2] = {configured[0], configured[1]};
    char text[1024], method[128];
    if (szgi_quantised_name(checkpoint, method, sizeof method) && !is_known(checkpoint)) {
        szgi_quantised_refusal(checkpoint, text, sizeof text);
    } else if (two) {
        szgi_print(text, sizeof text,
                   "%s and %s may both be its scales: remove one of them from the file",
                   scale->name, two->name);
    } else if (scale) {
        find_block(checkpoint, weight, scale, block);
        judge_scale(weight, scale, block, text, sizeof text);
    } else {
        judge_bare(checkpoint, weight, text, sizeof text);
    }
    return *text ? szgi_safetensors_refuse(context, checkpoint->tensors, index, text)
                 : join(context, checkpoint, index, scale, block);
}

szg_status szgi_quantised_scale(szg_context *context, szg_checkpoint *checkpoint) {
    int64_t block[2], count = szgi_safetensors_count(checkpoint->tensors);
    SZG_TRY(read_block(context, checkpoint, block));
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        bool eight = strcmp(tensor->dtype_name, "F8_E4M3") == 0 ||
                     strcmp(tensor->dtype_name, "F8_E5M2") == 0;
        if (eight && tensor->dims == 2 && tensor->count > 0) /* experts, 3-D, are no matrices */
            SZG_TRY(resolve_weight(context, checkpoint, i, block));
    }
    return SZG_OK;
}
