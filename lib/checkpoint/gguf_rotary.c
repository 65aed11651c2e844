/* Rotary positions of a GGUF file, from its metadata. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "gguf_translate.h"

/* The base of the format's reader where a file has none. */
static const double default_base = 10000;

/* Which layers slide, in architectures where that matters. */
static szg_status translate_sliding(gguf_translation *own, const gguf_sizes *sizes, double base) {
    const gguf_architecture *architecture = own->architecture;
    sliding_rule rule = architecture->sliding;
    int64_t window = architecture->sliding_layers == sizes->layers;
    double local;
    own->family->bases = BASE_ONE;
    if (architecture->rotation == ROTATION_PLAIN)
        return SZG_OK;
    if (szgi_gguf_has(own, "attention.sliding_window"))
        SZG_TRY(szgi_json_as_integer(own->context, szgi_gguf_value(own, "attention.sliding_window"),
                                     &window));
    if (architecture->always_slides && window == 0)
        return szgi_gguf_require(own, "attention.sliding_window");
    if (window > 1)
        SZG_TRY(szgi_gguf_put_integer(own, "sliding_window", window));
    if (own->family->only) /* whose base is its own, and whose layers are known */
        return SZG_OK;
    if (rule != SLIDING_BASES) {
        SZG_TRY(szgi_gguf_positive_or(own, "rope.freq_base_swa", base, &local));
        if (local != base)
            return szgi_gguf_refuse(own, "rope.freq_base_swa");
    }
    if (rule == SLIDING_NONE)
        return SZG_OK;
    if (window == 0) { /* none slides, and all rotate alike */
        own->family->skips = SKIP_NONE;
        return SZG_OK;
    }
    own->family->scaled_if_full = rule == SLIDING_UNSCALED;
    SZG_TRY(szgi_gguf_sliding_kinds(own, sizes->layers));
    if (architecture->counted)
        SZG_TRY(szgi_gguf_check_counted(own, sizes->layers));
    if (architecture->dense_rotates) {
        own->family->skips = SKIP_LISTED;
        SZG_TRY(szgi_gguf_skips(own, sizes->layers));
    }
    if (rule != SLIDING_BASES)
        return SZG_OK;
    own->family->bases = BASE_GEMMA;
    SZG_TRY(szgi_gguf_positive_or(own, "rope.freq_base_swa", default_base, &local));
    return szgi_gguf_put_real(own, "rope_local_base_freq", local);
}

/* HunYuan's key, which its converter puts into the base: NTK-aware scaling at every length. */
static szg_status stretch_base(gguf_translation *own, int64_t rotary, double *base) {
    static const char key[] = "rope.scaling.alpha";
    double alpha;
    SZG_TRY(szgi_gguf_switch(own, key, &alpha));
    if (alpha == 0)
        return SZG_OK;
    if (own->family->norm != NORM_HEAD_AFTER || rotary <= 2)
        return szgi_gguf_refuse(own, key);
    SZG_TRY(szgi_config_positive(own->context, szgi_gguf_value(own, key), &alpha));
    *base *= pow(alpha, (double)rotary / (double)(rotary - 2));
    return SZG_OK;
}

static szg_status translate_base(gguf_translation *own, const gguf_sizes *sizes, int64_t rotary) {
    double base;
    char key[GGUF_KEY];
    szgi_gguf_of_stack(own->family, "rope.freq_base", key);
    if (own->architecture->stacks == STACKS_SCALED && !szgi_gguf_has(own, key))
        snprintf(key, sizeof key, "rope.freq_base");
    SZG_TRY(szgi_gguf_positive_or(own, key, default_base, &base));
    if (!szgi_gguf_has(own, key))
        SZG_TRY(szgi_text_append(own->context, &own->checkpoint->note,
                                 "the file has no %s.%s: llama.cpp's 10000 is taken",
                                 own->architecture->name, key));
    if (own->architecture->rotation == ROTATION_PLAIN && base != default_base)
        return szgi_gguf_refuse(own, key);
    own->family->fixed_base = 0;
    SZG_TRY(stretch_base(own, rotary, &base));
    SZG_TRY(szgi_gguf_put_real(own, "rope_theta", base));
    return translate_sliding(own, sizes, base);
}

/* mscale_all_dim, of which the file has a tenth in single precision: the decimal that it was. */
static double undo_tenth(double tenth) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", 10 * tenth);
    double decimal = strtod(text, NULL);
    return (float)(0.1 * decimal) == (float)tenth ? decimal : 10 * tenth;
}

/* YaRN's factor 0.1 m ln s + 1. */
static double yarn_factor(double multiplier, double factor) {
    return factor > 1 ? 0.1 * multiplier * log(factor) + 1 : 1;
}

/* YaRN's amplitude of rotated queries and keys, and mscale_all_dim, which scales logits of latent
 * attention. */
static szg_status put_amplitude(gguf_translation *own, szgi_json *scaling, double factor,
                                double amplitude) {
    static const char key[] = "rope.scaling.yarn_log_multiplier";
    multiplier_rule rule = own->architecture->multiplier;
    bool latent = own->family->layout == LAYOUT_LATENT;
    double multiplier, own_amplitude = yarn_factor(1, factor);
    SZG_TRY(szgi_gguf_switch(own, key, &multiplier));
    if (multiplier != 0 && rule == MULTIPLIER_NONE)
        return szgi_gguf_refuse(own, key);
    if (multiplier != 0)
        SZG_TRY(szgi_config_positive(own->context, szgi_gguf_value(own, key), &multiplier));
    if (latent && amplitude != 1)
        return szgi_gguf_refuse(own, "rope.scaling.attn_factor");
    if (rule == MULTIPLIER_TENTH || rule == MULTIPLIER_CANCEL)
        multiplier = undo_tenth(multiplier);
    if (multiplier != 0)
        own_amplitude =
            rule == MULTIPLIER_CANCEL ? 1 : own_amplitude / yarn_factor(multiplier, factor);
    if (multiplier != 0 && latent)
        SZG_TRY(szgi_json_add_real(own->context, scaling, "mscale_all_dim", multiplier));
    return szgi_json_add_real(own->context, scaling, "attention_factor", amplitude * own_amplitude);
}

static szg_status put_yarn(gguf_translation *own, szgi_json *scaling, double factor,
                           double amplitude) {
    const struct {
        const char *key, *name;
        double otherwise; /* 0: as everywhere */
    } optional[] = {{"rope.scaling.yarn_beta_fast", "beta_fast", own->architecture->beta_fast},
                    {"rope.scaling.yarn_beta_slow", "beta_slow", 0}};
    static const char *const unknown[] = {"rope.scaling.yarn_ext_factor",
                                          "rope.scaling.yarn_attn_factor"};
    int64_t original;
    double value;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        SZG_TRY(szgi_gguf_positive_or(own, unknown[i], 1, &value));
        if (value != 1)
            return szgi_gguf_refuse(own, unknown[i]);
    }
    SZG_TRY(szgi_gguf_integer(own, szgi_gguf_original_key(own), &original));
    SZG_TRY(
        szgi_json_add_integer(own->context, scaling, "original_max_position_embeddings", original));
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        SZG_TRY(szgi_gguf_positive_or(own, optional[i].key, optional[i].otherwise, &value));
        if (value != 0)
            SZG_TRY(szgi_json_add_real(own->context, scaling, optional[i].name, value));
    }
    if (own->architecture->whole_ramp) {
        SZG_TRY(szgi_json_add_boolean(own->context, scaling, "truncate", false));
        SZG_TRY(szgi_text_append(own->context, &own->checkpoint->note,
                                 "YaRN's ramp ends between pairs, as the model was trained; "
                                 "llama.cpp rounds its ends to pairs"));
    }
    return put_amplitude(own, scaling, factor, amplitude);
}

static szg_status put_scaling(gguf_translation *own, const char *type, double factor,
                              double amplitude) {
    szgi_json *scaling;
    bool yarn = strcmp(type, "yarn") == 0;
    SZG_TRY(szgi_json_open_object(own->context, &scaling));
    szg_status status = szgi_json_add_text(own->context, scaling, "rope_type", type);
    if (status == SZG_OK)
        status = szgi_json_add_real(own->context, scaling, "factor", factor);
    if (status == SZG_OK && yarn)
        status = put_yarn(own, scaling, factor, amplitude);
    if (status == SZG_OK)
        return szgi_json_add(own->context, own->out, "rope_scaling", &scaling);
    szgi_json_close(&scaling);
    return status;
}

/* A factor without a type scales linearly; longrope's divisors are tensors. */
static szg_status translate_scaling(gguf_translation *own) {
    const char *type = "linear";
    const char *old = "rope.scale_linear", *current = "rope.scaling.factor";
    double factor, amplitude;
    if (szgi_gguf_has(own, "rope.scaling.type"))
        SZG_TRY(szgi_json_as_text(own->context, szgi_gguf_value(own, "rope.scaling.type"), &type));
    SZG_TRY(szgi_gguf_switch(own, szgi_gguf_has(own, current) ? current : old, &factor));
    SZG_TRY(szgi_gguf_positive_or(own, "rope.scaling.attn_factor", 1, &amplitude));
    if (own->architecture->stacks == STACKS_SCALED && szgi_gguf_is_sliding(own->family)) {
        own->checkpoint->gguf.amplitude = 1;
        return SZG_OK;
    }
    bool linear = strcmp(type, "linear") == 0, yarn = strcmp(type, "yarn") == 0;
    bool none = strcmp(type, "none") == 0, by_tensor = strcmp(type, "longrope") == 0;
    if (!linear && !yarn && !none && !by_tensor)
        return szgi_json_fail(own->context, szgi_gguf_value(own, "rope.scaling.type"),
                              "'%s' is not known to szego; known are none, linear, yarn, longrope",
                              SHOWN(type));
    own->checkpoint->gguf.amplitude = yarn ? 0 : amplitude;
    if (yarn || (linear && factor != 0 && factor != 1)) {
        if (own->architecture->stacks == STACKS_BOTH || own->architecture->stacks == STACKS_HALVED)
            return szgi_gguf_refuse(own, "rope.scaling.type"); /* of which layers? */
        SZG_TRY(szgi_config_positive(
            own->context, szgi_gguf_value(own, szgi_gguf_has(own, current) ? current : old),
            &factor));
        return put_scaling(own, type, factor, amplitude);
    }
    return SZG_OK;
}

/* M-RoPE, where two of the sections are not empty. */
static szg_status translate_sections(gguf_translation *own) {
    static const char key[] = "rope.dimension_sections";
    szgi_json_value sections = szgi_gguf_value(own, key);
    int64_t pairs;
    if (!szgi_gguf_has(own, key))
        return SZG_OK;
    if (own->family->pairing == SZGI_PAIRING_INTERLEAVED)
        return szgi_gguf_refuse(own, key); /* GLM's models of images pair otherwise */
    SZG_TRY(szgi_json_as_array(own->context, sections));
    for (int64_t i = 0; i < 2; i++) {
        if (i >= szgi_json_count(sections))
            return SZG_OK;
        SZG_TRY(szgi_json_as_integer(own->context, szgi_json_element(sections, i), &pairs));
        if (pairs <= 0)
            return SZG_OK;
    }
    own->checkpoint->sections = sections;
    own->checkpoint->sections_key = key;
    pairs = 0;
    if (szgi_json_count(sections) > 3)
        SZG_TRY(szgi_json_as_integer(own->context, szgi_json_element(sections, 3), &pairs));
    return pairs > 0 ? szgi_text_append(own->context, &own->checkpoint->note,
                                        "llama.cpp gives text the position 0 in the fourth "
                                        "section of rotary pairs; here it has one position in all")
                     : SZG_OK;
}

/* Divisors of 1, and then of 10^30, which leave a pair as it is: "proportional" in transformers. */
static szg_status translate_proportional(gguf_translation *own, const gguf_sizes *sizes) {
    static const char name[] = "rope_freqs.weight";
    const szgi_tensor *tensor = szgi_safetensors_find(own->checkpoint->tensors, name);
    int64_t pairs = sizes->head / 2, turned = 0;
    szgi_json *scaling;
    double *divisor, factor;
    if (!tensor)
        return szgi_fail(own->context, SZG_EDATA,
                         "%s: tensor %s: is missing, and tells which pairs of a head rotate: "
                         "convert the model again",
                         own->checkpoint->source, name);
    SZG_TRY(szgi_gguf_switch(own, "rope.scaling.factor", &factor));
    if (factor != 0 && factor != 1)
        return szgi_gguf_refuse(own, "rope.scaling.factor");
    SZG_TRY(szgi_memory_alloc(own->context, pairs, &divisor));
    szg_status status = szgi_gguf_read_divisors(own->context, tensor, pairs, false, divisor);
    while (status == SZG_OK && turned < pairs && divisor[turned] == 1)
        turned++;
    for (int64_t t = turned; t < pairs && status == SZG_OK; t++)
        if (!(divisor[t] >= 1e29 && divisor[t] <= 1e31))
            status = szgi_fail(own->context, SZG_EDATA,
                               "%s: tensor %s: divisor %" PRId64 " is %.9g, and szego knows 1, for "
                               "pairs that rotate, and then 1e30, for those that do not, alone",
                               tensor->file, name, t, divisor[t]);
    szgi_memory_free(divisor);
    SZG_TRY(status);
    double share = (double)turned / (double)pairs;
    while ((int64_t)(share * (double)pairs) < turned) /* the quotient was rounded down */
        share = nextafter(share, 2);
    own->family->partial = PARTIAL_WHOLE;
    SZG_TRY(szgi_gguf_put_real(own, "partial_rotary_factor", share));
    SZG_TRY(szgi_json_open_object(own->context, &scaling));
    status = szgi_json_add_text(own->context, scaling, "rope_type", "proportional");
    if (status == SZG_OK)
        return szgi_json_add(own->context, own->out, "rope_scaling", &scaling);
    szgi_json_close(&scaling);
    return status;
}

/* rope.scaling.finetuned switches the rotation (Granite). */
static szg_status translate_switch(gguf_translation *own, bool *rotates) {
    static const char key[] = "rope.scaling.finetuned";
    *rotates = true;
    if (!own->architecture->finetuned)
        return SZG_OK;
    if (szgi_gguf_has(own, key))
        SZG_TRY(szgi_json_as_boolean(own->context, szgi_gguf_value(own, key), rotates));
    own->family->skips = SKIP_ALL;
    return szgi_json_add_text(own->context, own->out, "position_embedding_type",
                              *rotates ? "rope" : "none");
}

/* How many dimensions of a head rotate. */
static szg_status rotated_part(gguf_translation *own, const gguf_sizes *sizes, int64_t *out) {
    static const char key[] = "rope.dimension_count";
    char by_stack[GGUF_KEY];
    *out = sizes->head;
    if (own->architecture->rotation != ROTATION_KEYS)
        return SZG_OK;
    SZG_TRY(szgi_gguf_integer_or(own, key, sizes->head, out));
    szgi_gguf_of_stack(own->family, key, by_stack);
    SZG_TRY(szgi_gguf_integer_or(own, by_stack, *out, out));
    if (own->architecture->stacks == STACKS_HALVED && !szgi_gguf_is_sliding(own->family))
        *out /= 2;
    return SZG_OK;
}

szg_status szgi_gguf_rotary(gguf_translation *own, const gguf_sizes *sizes) {
    int64_t rotary;
    bool rotates;
    own->family->pairing = own->architecture->pairing;
    own->family->interleave = NULL;
    SZG_TRY(translate_switch(own, &rotates));
    if (!rotates)
        return SZG_OK;
    SZG_TRY(translate_sections(own));
    if (own->architecture->proportional && own->family->own_sizes) {
        SZG_TRY(translate_proportional(own, sizes));
        return translate_base(own, sizes, sizes->head);
    }
    SZG_TRY(rotated_part(own, sizes, &rotary));
    if (own->family->layout != LAYOUT_LATENT) {
        own->family->partial = PARTIAL_DIM;
        SZG_TRY(szgi_gguf_put_integer(own, "rotary_dim", rotary));
    }
    if (own->architecture->unrotated > 0)
        SZG_TRY(szgi_gguf_put_integer(own, "no_rope_layer_interval", own->architecture->unrotated));
    SZG_TRY(translate_base(own, sizes, rotary));
    return own->architecture->rotation == ROTATION_PLAIN ? SZG_OK : translate_scaling(own);
}
