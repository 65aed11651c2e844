/* The ways in which a configuration scales rotary frequencies, as values of the keys of `rope`. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "rotary_scaling.h"

#define TYPES "default, linear, dynamic, llama3, yarn, longrope, proportional, mrope"

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

int64_t szgi_rotary_values_length(const rotary_values *values) {
    for (int64_t i = 0; i < values->count; i++)
        if (strcmp(values->value[i].key, "length") == 0)
            return (int64_t)fmin(fmax(values->value[i].real, 1), 0x1p40);
    return 0;
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

/* A multiplier of YaRN's factor; `otherwise` if the configuration lacks it. */
static szg_status yarn_multiplier(szg_context *context, szgi_json_value scaling, const char *key,
                                  double otherwise, double *out) {
    szgi_json_value value = szgi_json_member(scaling, key);
    *out = otherwise;
    if (!szgi_json_has(scaling, key))
        return SZG_OK;
    SZG_TRY(szgi_json_as_real(context, value, out));
    if (!(*out >= 0 && *out < 1e6))
        return szgi_json_fail(context, value, "is %.17g, and may not be negative or above 10^6",
                              *out);
    return SZG_OK;
}

/* attention_factor; or the quotient of the factors of mscale and mscale_all_dim where both are
 * there and not 0; or the paper's 0.1 ln(factor) + 1, where mscale is 1 or not there and
 * mscale_all_dim is 0 or not there. Of the rest DeepSeek's code and transformers make different
 * numbers. */
static szg_status yarn_amplitude(szg_context *context, szgi_json_value scaling, double *out) {
    double factor, numerator, denominator;
    char path[256];
    szgi_json_value own = szgi_json_member(scaling, "attention_factor");
    if (szgi_json_has(scaling, "attention_factor"))
        return szgi_config_positive(context, own, out);
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &factor));
    SZG_TRY(yarn_multiplier(context, scaling, "mscale", 1, &numerator));
    SZG_TRY(yarn_multiplier(context, scaling, "mscale_all_dim", 0, &denominator));
    *out = yarn_factor(factor, numerator) / yarn_factor(factor, denominator);
    bool both = szgi_json_has(scaling, "mscale") && numerator > 0 && denominator > 0;
    if (both || (numerator == 1 && denominator == 0))
        return SZG_OK;
    szgi_json_path(own, path, sizeof path);
    return szgi_json_fail(context, scaling,
                          "mscale and mscale_all_dim give a factor on queries and keys if both are "
                          "there and not 0, or if mscale is 1 alone: --set %s=VALUE gives it",
                          path);
}

static szg_status yarn_attention(szg_context *context, szgi_json_value scaling,
                                 rotary_values *values) {
    double amplitude;
    if (!szgi_json_has(scaling, "attention_factor") && !szgi_json_has(scaling, "mscale") &&
        !szgi_json_has(scaling, "mscale_all_dim"))
        return SZG_OK; /* the encoding's own */
    SZG_TRY(yarn_amplitude(context, scaling, &amplitude));
    szgi_rotary_values_real(values, "attention_factor", amplitude);
    return SZG_OK;
}

static szg_status scale_yarn(szg_context *context, const szg_checkpoint *checkpoint,
                             szgi_json_value scaling, rotary_values *values) {
    (void)checkpoint;
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

/* ---- Frequencies that no scaling of `rope` gives ---- */

static const double PI = 3.14159265358979323846;

static double plain_theta(double base, int64_t rotary, int64_t pair) {
    return pow(base, -2 * (double)pair / (double)rotary);
}

/* YaRN whose ramp does not end at whole pairs (GPT-OSS): Peng et al. 2023 without rounding. */
static szg_status replace_yarn(szg_context *context, const szg_checkpoint *checkpoint,
                               szgi_json_value scaling, double base, int64_t rotary,
                               layer_rotation *out) {
    double factor, original, turns[2] = {32, 1}, end[2];
    static const char *const keys[2] = {"beta_fast", "beta_slow"};
    static const char *const originals[] = {"original_max_position_embeddings", NULL};
    szgi_json_value value;
    (void)checkpoint;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &factor));
    SZG_TRY(szgi_config_find(context, scaling, originals, &value));
    SZG_TRY(szgi_config_positive(context, value, &original));
    for (int i = 0; i < 2; i++) {
        if (szgi_json_has(scaling, keys[i]))
            SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, keys[i]), &turns[i]));
        end[i] = (double)rotary * log(original / (turns[i] * 2 * PI)) / (2 * log(base));
    }
    double low = fmax(end[0], 0), high = fmin(end[1], (double)rotary - 1);
    if (!(base > 1) || !(low <= high))
        return szgi_json_fail(context, scaling,
                              "its numbers leave YaRN no ramp between kept and divided frequencies "
                              "(pairs %g .. %g)",
                              low, high);
    if (low == high)
        high += 0.001; /* as the published code does: no division by zero */
    SZG_TRY(yarn_amplitude(context, scaling, &out->amplitude));
    for (int64_t t = 0; t < rotary / 2; t++) {
        double ramp = fmin(1, fmax(0, ((double)t - low) / (high - low)));
        out->theta[t] = plain_theta(base, rotary, t) * ((1 - ramp) + ramp / factor);
    }
    return szgi_text_append(context, &out->note, "yarn with factor %g, truncate false", factor);
}

/* Llama 3's bands where low and high are one: frequencies are kept or divided. */
static szg_status replace_llama3(szg_context *context, const szg_checkpoint *checkpoint,
                                 szgi_json_value scaling, double base, int64_t rotary,
                                 layer_rotation *out) {
    double factor, original, edge;
    (void)checkpoint;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &factor));
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "low_freq_factor"), &edge));
    SZG_TRY(szgi_config_positive(
        context, szgi_json_member(scaling, "original_max_position_embeddings"), &original));
    out->amplitude = 1;
    for (int64_t t = 0; t < rotary / 2; t++) {
        double theta = plain_theta(base, rotary, t);
        out->theta[t] = 2 * PI / theta > original / edge ? theta / factor : theta;
    }
    return szgi_text_append(context, &out->note,
                            "wavelengths beyond %g are divided by %g (llama3, one band)",
                            original / edge, factor);
}

/* HunYuan's "dynamic" with a fixed alpha: the base of NTK-aware scaling, at every length. */
static szg_status replace_alpha(szg_context *context, const szg_checkpoint *checkpoint,
                                szgi_json_value scaling, double base, int64_t rotary,
                                layer_rotation *out) {
    double alpha;
    (void)checkpoint;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "alpha"), &alpha));
    if (rotary <= 2)
        return szgi_json_fail(context, scaling, "needs more than 2 rotary dimensions");
    base *= pow(alpha, (double)rotary / (double)(rotary - 2));
    if (!isfinite(base))
        return szgi_json_fail(context, szgi_json_member(scaling, "alpha"),
                              "is %.17g, with which the base exceeds a double", alpha);
    out->amplitude = 1;
    for (int64_t t = 0; t < rotary / 2; t++)
        out->theta[t] = plain_theta(base, rotary, t);
    return szgi_text_append(context, &out->note, "the base is stretched to %g by alpha %g", base,
                            alpha);
}

/* The list that divides the frequencies. */
static szg_status read_divisors(szg_context *context, szgi_json_value scaling, const char *key,
                                int64_t pairs, double *theta) {
    szgi_json_value list = szgi_json_member(scaling, key);
    SZG_TRY(szgi_config_require(context, list));
    SZG_TRY(szgi_json_as_array(context, list));
    if (szgi_json_count(list) != pairs)
        return szgi_json_fail(context, list, "has %lld entries for %lld rotary pairs",
                              (long long)szgi_json_count(list), (long long)pairs);
    for (int64_t t = 0; t < pairs; t++) {
        double divisor;
        SZG_TRY(szgi_config_positive(context, szgi_json_element(list, t), &divisor));
        theta[t] /= divisor;
    }
    return SZG_OK;
}

/* LongRoPE (Ding et al. 2024): the frequencies of lengths up to the trained one, and the amplitude
 * sqrt(1 + ln s / ln L0), s the stretch of the length L0. */
static szg_status replace_longrope(szg_context *context, const szg_checkpoint *checkpoint,
                                   szgi_json_value scaling, double base, int64_t rotary,
                                   layer_rotation *out) {
    static const char *const original_keys[] = {"original_max_position_embeddings", NULL};
    double original, longest, stretch;
    szgi_json_value settings = checkpoint->settings, value;
    for (int64_t t = 0; t < rotary / 2; t++)
        out->theta[t] = plain_theta(base, rotary, t);
    SZG_TRY(read_divisors(context, scaling, "short_factor", rotary / 2, out->theta));
    SZG_TRY(szgi_config_find(context, scaling, original_keys, &value));
    if (szgi_json_kind_of(value) <= SZGI_JSON_NULL)
        SZG_TRY(szgi_config_find(context, settings, original_keys, &value));
    SZG_TRY(szgi_config_positive(context, value, &original));
    SZG_TRY(szgi_text_append(context, &out->note,
                             "longrope's short_factor, for lengths up to %g; long_factor beyond",
                             original));
    out->length = (int64_t)fmin(fmax(original, 1), 0x1p40);
    if (szgi_json_has(scaling, "short_mscale")) /* Phi-3.5-MoE */
        return szgi_config_positive(context, szgi_json_member(scaling, "short_mscale"),
                                    &out->amplitude);
    if (szgi_json_has(scaling, "attention_factor"))
        return szgi_config_positive(context, szgi_json_member(scaling, "attention_factor"),
                                    &out->amplitude);
    if (szgi_json_has(scaling, "factor")) {
        SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &stretch));
    } else {
        SZG_TRY(szgi_config_positive(context, szgi_json_member(settings, "max_position_embeddings"),
                                     &longest));
        stretch = longest / original;
    }
    if (!(original > 1))
        return szgi_json_fail(context, value, "is %.17g, and must exceed 1", original);
    out->amplitude = stretch > 1 ? sqrt(1 + log(stretch) / log(original)) : 1;
    return SZG_OK;
}

/* Factors of YaRN's own code, which vLLM and llama.cpp read and transformers does not: the first
 * multiplies 0.1 ln(factor) + 1, the second the share of frequencies that are kept. */
static szg_status refuse_ambiguous(szg_context *context, szgi_json_value scaling) {
    static const char *const keys[] = {"attn_factor", "extrapolation_factor"};
    double value, factor;
    char path[256];
    for (int i = 0; i < 2; i++) {
        szgi_json_value member = szgi_json_member(scaling, keys[i]);
        if (!szgi_json_has(scaling, keys[i]) ||
            (i == 0 && szgi_json_has(scaling, "attention_factor")))
            continue;
        SZG_TRY(szgi_json_as_real(context, member, &value));
        if (value == 1)
            continue;
        szgi_json_path(member, path, sizeof path);
        if (i == 1)
            return szgi_json_fail(context, member,
                                  "is %.17g: vLLM reads it, transformers does not, and szego "
                                  "knows 1 alone: --set %s=1 reads as transformers does",
                                  value, path);
        SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &factor));
        szgi_json_path(szgi_json_member(scaling, "attention_factor"), path, sizeof path);
        return szgi_json_fail(context, member,
                              "is %.17g: vLLM and llama.cpp multiply YaRN's factor by it, "
                              "transformers ignores it: --set %s=%.17g reads as those do, "
                              "--set %s=%.17g as transformers does",
                              value, path, value * yarn_factor(factor, 1), path,
                              yarn_factor(factor, 1));
    }
    return SZG_OK;
}

szg_status szgi_rotary_check(szg_context *context, szgi_json_value scaling, const char *name) {
    static const struct {
        const char *name, *keys[4];
    } needed[] = {
        {"llama3",
         {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}},
        {"yarn", {"factor", "original_max_position_embeddings"}},
    };
    char *missing = NULL, path[256];
    int count = 0;
    if (!name || szgi_json_has(scaling, "short_factor")) /* longrope under another name */
        return SZG_OK;
    szg_status status = strcmp(name, "yarn") == 0 ? refuse_ambiguous(context, scaling) : SZG_OK;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        for (int k = 0; strcmp(needed[i].name, name) == 0 && k < 4 && needed[i].keys[k]; k++)
            if (status == SZG_OK && !szgi_json_has(scaling, needed[i].keys[k])) {
                status = szgi_text_append(context, &missing, "%s", needed[i].keys[k]);
                count++;
            }
    if (status == SZG_OK && count > 1) /* one is named where it is read */
        status = szgi_json_fail(context, scaling,
                                "these keys are missing: %s: --set %s.KEY=VALUE gives each",
                                missing, szgi_json_path(scaling, path, sizeof path));
    szgi_memory_free(missing);
    return status;
}

typedef szg_status replace_function(szg_context *, const szg_checkpoint *, szgi_json_value, double,
                                    int64_t, layer_rotation *);

/* The function that gives the frequencies of this object; NULL: a scaling of `rope` does. */
static szg_status choose_replacement(szg_context *context, szgi_json_value scaling,
                                     const char *name, replace_function **out) {
    bool truncate = true;
    double low, high;
    *out = NULL;
    if (strcmp(name, "dynamic") == 0 && szgi_json_has(scaling, "alpha"))
        *out = replace_alpha;
    if (strcmp(name, "longrope") == 0 || strcmp(name, "su") == 0)
        *out = replace_longrope;
    if (strcmp(name, "yarn") == 0 && szgi_json_has(scaling, "short_factor"))
        *out = replace_longrope; /* Phi-3 as first published */
    else if (strcmp(name, "yarn") == 0)
        SZG_TRY(szgi_config_flag(context, scaling, "truncate", true, &truncate));
    if (!truncate)
        *out = replace_yarn;
    if (strcmp(name, "llama3") != 0)
        return SZG_OK;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "low_freq_factor"), &low));
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "high_freq_factor"), &high));
    if (low == high)
        *out = replace_llama3;
    return SZG_OK;
}

szg_status szgi_rotary_note_unknown(szg_context *context, const szg_checkpoint *checkpoint,
                                    szgi_json_value scaling, layer_rotation *out) {
    static const char *const known[] = {
        /* what is read */
        "rope_type", "type", "rope_theta", "rotary_emb_base", "factor", "low_freq_factor",
        "high_freq_factor", "original_max_position_embeddings", "attention_factor", "beta_fast",
        "beta_slow", "mscale", "mscale_all_dim", "truncate", "short_factor", "long_factor",
        "short_mscale", "long_mscale", "alpha", "partial_rotary_factor", "rotary_pct",
        "llama_4_scaling_beta",
        /* what changes nothing for text */
        "mrope_section", "mrope_interleaved", "max_position_embeddings", "finetuned"};
    szgi_json_value member = {0};
    while (szgi_json_next(scaling, &member)) {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strcmp(known[i], member.key) != 0)
            i++;
        if (i < sizeof known / sizeof *known)
            continue;
        szgi_say(context, SZG_WARNING, "%s: the rotary key '%s' is not known to szego",
                 checkpoint->source, SHOWN(member.key));
        return szgi_text_append(context, &out->note, "the rotary key '%s' is not known to szego",
                                SHOWN(member.key));
    }
    return SZG_OK;
}

szg_status szgi_rotary_replace(szg_context *context, const szg_checkpoint *checkpoint,
                               szgi_json_value scaling, const char *name, double base,
                               int64_t rotary, layer_rotation *out) {
    replace_function *replace = NULL;
    if (!name)
        return SZG_OK;
    SZG_TRY(choose_replacement(context, scaling, name, &replace));
    if (!replace)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, rotary / 2 + 1, &out->theta));
    return replace(context, checkpoint, scaling, base, rotary, out);
}

szg_status szgi_rotary_scaling_name(szg_context *context, szgi_json_value scaling, bool flat,
                                    const char **out) {
    *out = NULL;
    const char *key = szgi_json_has(scaling, "rope_type") ? "rope_type" : "type";
    if (szgi_json_has(scaling, key))
        return szgi_json_as_text(context, szgi_json_member(scaling, key), out);
    if (!flat || szgi_json_has(scaling, "factor") || szgi_json_has(scaling, "short_factor")) {
        char path[256];
        szgi_json_value type = szgi_json_member(scaling, "rope_type");
        szgi_json_path(type, path, sizeof path);
        return szgi_json_fail(
            context, type,
            "is missing: --set %s=TYPE says how the frequencies are scaled (" TYPES ")", path);
    }
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
                          "rope_type '%s' is not known to szego; known are " TYPES, name);
}
