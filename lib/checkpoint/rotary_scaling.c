/* The ways in which a configuration scales rotary frequencies, as keys of a SPEC. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/csv.h"

#include "rotary_scaling.h"

void szgi_rotary_spec_number(rotary_spec *spec, const char *key, double value) {
    char number[SZG_REAL_TEXT];
    int printed = snprintf(spec->text + spec->length, sizeof spec->text - spec->length, ",%s=%s",
                           key, szgi_real_text(value, number));
    spec->length += (size_t)printed; /* a dozen keys of at most 40 characters: they fit */
}

void szgi_rotary_spec_word(rotary_spec *spec, const char *key, const char *word) {
    int printed =
        snprintf(spec->text + spec->length, sizeof spec->text - spec->length, ",%s=%s", key, word);
    spec->length += (size_t)printed;
}

/* Copies a required number of the scaling object into the SPEC. */
static szg_status copy_number(szg_context *context, szgi_json_value scaling, const char *from,
                              const char *key, rotary_spec *spec) {
    double value;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, from), &value));
    szgi_rotary_spec_number(spec, key, value);
    return SZG_OK;
}

static szg_status copy_optional(szg_context *context, szgi_json_value scaling, const char *from,
                                const char *key, rotary_spec *spec) {
    return szgi_json_has(scaling, from) ? copy_number(context, scaling, from, key, spec) : SZG_OK;
}

static szg_status scale_linear(szg_context *context, const szg_checkpoint *checkpoint,
                               szgi_json_value scaling, rotary_spec *spec) {
    (void)checkpoint;
    szgi_rotary_spec_word(spec, "scaling", "linear");
    return copy_number(context, scaling, "factor", "factor", spec);
}

/* Frequencies depend on the length in use; those of lengths up to the trained one are given. */
static szg_status scale_dynamic(szg_context *context, const szg_checkpoint *checkpoint,
                                szgi_json_value scaling, rotary_spec *spec) {
    szgi_rotary_spec_word(spec, "scaling", "dynamic");
    szgi_json_value from =
        szgi_json_has(scaling, "original_max_position_embeddings") ? scaling : checkpoint->settings;
    const char *key = szgi_json_has(scaling, "original_max_position_embeddings")
                          ? "original_max_position_embeddings"
                          : "max_position_embeddings";
    SZG_TRY(copy_number(context, scaling, "factor", "factor", spec));
    SZG_TRY(copy_number(context, from, key, "original", spec));
    return copy_number(context, from, key, "length", spec);
}

static szg_status scale_llama3(szg_context *context, const szg_checkpoint *checkpoint,
                               szgi_json_value scaling, rotary_spec *spec) {
    (void)checkpoint;
    szgi_rotary_spec_word(spec, "scaling", "llama3");
    SZG_TRY(copy_number(context, scaling, "factor", "factor", spec));
    SZG_TRY(copy_number(context, scaling, "low_freq_factor", "low", spec));
    SZG_TRY(copy_number(context, scaling, "high_freq_factor", "high", spec));
    return copy_number(context, scaling, "original_max_position_embeddings", "original", spec);
}

/* 0.1 m ln(s) + 1, YaRN's attention factor with the multiplier m. */
static double yarn_factor(double factor, double multiplier) {
    return factor > 1 ? 0.1 * multiplier * log(factor) + 1 : 1;
}

static szg_status yarn_attention(szg_context *context, szgi_json_value scaling, rotary_spec *spec) {
    if (szgi_json_has(scaling, "attention_factor"))
        return copy_number(context, scaling, "attention_factor", "attention_factor", spec);
    if (!szgi_json_has(scaling, "mscale") && !szgi_json_has(scaling, "mscale_all_dim"))
        return SZG_OK; /* the paper's 0.1 ln(factor) + 1 */
    double factor, numerator, denominator;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &factor));
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "mscale"), &numerator));
    SZG_TRY(
        szgi_config_positive(context, szgi_json_member(scaling, "mscale_all_dim"), &denominator));
    szgi_rotary_spec_number(spec, "attention_factor",
                            yarn_factor(factor, numerator) / yarn_factor(factor, denominator));
    return SZG_OK;
}

static szg_status scale_yarn(szg_context *context, const szg_checkpoint *checkpoint,
                             szgi_json_value scaling, rotary_spec *spec) {
    (void)checkpoint;
    bool truncate;
    SZG_TRY(szgi_config_flag(context, scaling, "truncate", true, &truncate));
    if (!truncate)
        return szgi_json_fail(context, szgi_json_member(scaling, "truncate"),
                              "false is not known to szego: YaRN's ramp ends at whole pairs");
    szgi_rotary_spec_word(spec, "scaling", "yarn");
    SZG_TRY(copy_number(context, scaling, "factor", "factor", spec));
    SZG_TRY(copy_number(context, scaling, "original_max_position_embeddings", "original", spec));
    SZG_TRY(copy_optional(context, scaling, "beta_fast", "beta_fast", spec));
    SZG_TRY(copy_optional(context, scaling, "beta_slow", "beta_slow", spec));
    return yarn_attention(context, scaling, spec);
}

static szg_status scale_default(szg_context *context, const szg_checkpoint *checkpoint,
                                szgi_json_value scaling, rotary_spec *spec) {
    (void)context, (void)checkpoint, (void)scaling, (void)spec;
    return SZG_OK;
}

static szg_status scale_proportional(szg_context *context, const szg_checkpoint *checkpoint,
                                     szgi_json_value scaling, rotary_spec *spec) {
    (void)checkpoint;
    szgi_rotary_spec_word(spec, "scaling", "proportional");
    return copy_optional(context, scaling, "factor", "factor", spec);
}

static const struct scaling_type {
    const char *name;
    szg_status (*add)(szg_context *, const szg_checkpoint *, szgi_json_value, rotary_spec *);
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
                                   szgi_json_value scaling, bool flat, rotary_spec *spec) {
    const char *name;
    SZG_TRY(szgi_json_as_object(context, scaling));
    SZG_TRY(szgi_rotary_scaling_name(context, scaling, flat, &name));
    if (!name)
        return SZG_OK;
    for (size_t i = 0; i < sizeof scaling_types / sizeof *scaling_types; i++)
        if (strcmp(scaling_types[i].name, name) == 0)
            return scaling_types[i].add(context, checkpoint, scaling, spec);
    return szgi_json_fail(context, scaling,
                          "rope_type '%s' is not known to szego; known are default, linear, "
                          "dynamic, llama3, yarn, proportional, mrope",
                          name);
}
