/* The ways in which a configuration scales rotary frequencies, as values of the keys of `rope`. */
#include <math.h>
#include <string.h>

#include "rotary_scaling.h"

void szgi_rotary_values_integer(rotary_values *values, const char *key, int64_t number) {
    values->value[values->count++] =
        (szgi_key_value){.key = key, .type = SZGI_KEY_INTEGER, .integer = number};
}

void szgi_rotary_values_real(rotary_values *values, const char *key, double number) {
    values->value[values->count++] =
        (szgi_key_value){.key = key, .type = SZGI_KEY_REAL, .real = number};
}

void szgi_rotary_values_word(rotary_values *values, const char *key, const char *word) {
    values->value[values->count++] =
        (szgi_key_value){.key = key, .type = SZGI_KEY_CHOICE, .text = word};
}

/* Takes a required number of the scaling object. */
static szg_status copy_number(szg_context *context, szgi_json_value scaling, const char *from,
                              const char *key, rotary_values *values) {
    double value;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, from), &value));
    szgi_rotary_values_real(values, key, value);
    return SZG_OK;
}

static szg_status copy_optional(szg_context *context, szgi_json_value scaling, const char *from,
                                const char *key, rotary_values *values) {
    return szgi_json_has(scaling, from) ? copy_number(context, scaling, from, key, values) : SZG_OK;
}

static szg_status scale_linear(szg_context *context, const szg_checkpoint *checkpoint,
                               szgi_json_value scaling, rotary_values *values) {
    (void)checkpoint;
    szgi_rotary_values_word(values, "scaling", "linear");
    return copy_number(context, scaling, "factor", "factor", values);
}

/* Frequencies depend on the length in use; those of lengths up to the trained one are given. */
static szg_status scale_dynamic(szg_context *context, const szg_checkpoint *checkpoint,
                                szgi_json_value scaling, rotary_values *values) {
    szgi_rotary_values_word(values, "scaling", "dynamic");
    szgi_json_value from =
        szgi_json_has(scaling, "original_max_position_embeddings") ? scaling : checkpoint->settings;
    const char *key = szgi_json_has(scaling, "original_max_position_embeddings")
                          ? "original_max_position_embeddings"
                          : "max_position_embeddings";
    SZG_TRY(copy_number(context, scaling, "factor", "factor", values));
    SZG_TRY(copy_number(context, from, key, "original", values));
    return copy_number(context, from, key, "length", values);
}

static szg_status scale_llama3(szg_context *context, const szg_checkpoint *checkpoint,
                               szgi_json_value scaling, rotary_values *values) {
    (void)checkpoint;
    szgi_rotary_values_word(values, "scaling", "llama3");
    SZG_TRY(copy_number(context, scaling, "factor", "factor", values));
    SZG_TRY(copy_number(context, scaling, "low_freq_factor", "low", values));
    SZG_TRY(copy_number(context, scaling, "high_freq_factor", "high", values));
    return copy_number(context, scaling, "original_max_position_embeddings", "original", values);
}

/* 0.1 m ln(s) + 1, YaRN's attention factor with the multiplier m. */
static double yarn_factor(double factor, double multiplier) {
    return factor > 1 ? 0.1 * multiplier * log(factor) + 1 : 1;
}

static szg_status yarn_attention(szg_context *context, szgi_json_value scaling,
                                 rotary_values *values) {
    if (szgi_json_has(scaling, "attention_factor"))
        return copy_number(context, scaling, "attention_factor", "attention_factor", values);
    if (!szgi_json_has(scaling, "mscale") && !szgi_json_has(scaling, "mscale_all_dim"))
        return SZG_OK; /* the paper's 0.1 ln(factor) + 1 */
    double factor, numerator, denominator;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &factor));
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "mscale"), &numerator));
    SZG_TRY(
        szgi_config_positive(context, szgi_json_member(scaling, "mscale_all_dim"), &denominator));
    szgi_rotary_values_real(values, "attention_factor",
                            yarn_factor(factor, numerator) / yarn_factor(factor, denominator));
    return SZG_OK;
}

static szg_status scale_yarn(szg_context *context, const szg_checkpoint *checkpoint,
                             szgi_json_value scaling, rotary_values *values) {
    (void)checkpoint;
    bool truncate;
    SZG_TRY(szgi_config_flag(context, scaling, "truncate", true, &truncate));
    if (!truncate)
        return szgi_json_fail(context, szgi_json_member(scaling, "truncate"),
                              "false is not known to szego: YaRN's ramp ends at whole pairs");
    szgi_rotary_values_word(values, "scaling", "yarn");
    SZG_TRY(copy_number(context, scaling, "factor", "factor", values));
    SZG_TRY(copy_number(context, scaling, "original_max_position_embeddings", "original", values));
    SZG_TRY(copy_optional(context, scaling, "beta_fast", "beta_fast", values));
    SZG_TRY(copy_optional(context, scaling, "beta_slow", "beta_slow", values));
    return yarn_attention(context, scaling, values);
}

static szg_status scale_default(szg_context *context, const szg_checkpoint *checkpoint,
                                szgi_json_value scaling, rotary_values *values) {
    (void)context, (void)checkpoint, (void)scaling, (void)values;
    return SZG_OK;
}

static szg_status scale_proportional(szg_context *context, const szg_checkpoint *checkpoint,
                                     szgi_json_value scaling, rotary_values *values) {
    (void)checkpoint;
    szgi_rotary_values_word(values, "scaling", "proportional");
    return copy_optional(context, scaling, "factor", "factor", values);
}

static const struct scaling_type {
    const char *name;
    szg_status (*add)(szg_context *, const szg_checkpoint *, szgi_json_value, rotary_values *);
} scaling_types[] = {
    {"default", scale_default},
    {"mrope", scale_default}, /* sections of the positions; text has one position for all */
    {"linear", scale_linear},
    {"dynamic", scale_dynamic},
    {"llama3", scale_llama3},
    {"yarn", scale_yarn},
    {"proportional", scale_proportional},
};

szg_status szgi_rotary_scaling_name(szg_context *context, szgi_json_value scaling, bool flat,
                                    const char **out) {
    *out = NULL;
    const char *key = szgi_json_has(scaling, "rope_type") ? "rope_type" : "type";
    if (szgi_json_has(scaling, key))
        return szgi_json_as_text(context, szgi_json_member(scaling, key), out);
    if (!flat || szgi_json_has(scaling, "factor"))
        return szgi_json_fail(context, szgi_json_member(scaling, "rope_type"),
                              "missing: how are the frequencies scaled?");
    return SZG_OK;
}

szg_status szgi_rotary_scaling_add(szg_context *context, const szg_checkpoint *checkpoint,
                                   szgi_json_value scaling, bool flat, rotary_values *values) {
    const char *name;
    SZG_TRY(szgi_json_as_object(context, scaling));
    SZG_TRY(szgi_rotary_scaling_name(context, scaling, flat, &name));
    if (!name)
        return SZG_OK;
    for (size_t i = 0; i < sizeof scaling_types / sizeof *scaling_types; i++)
        if (strcmp(scaling_types[i].name, name) == 0)
            return scaling_types[i].add(context, checkpoint, scaling, values);
    return szgi_json_fail(context, scaling,
                          "rope_type '%s' is not known to szego; known are default, linear, "
                          "dynamic, llama3, yarn, proportional, mrope",
                          name);
}
