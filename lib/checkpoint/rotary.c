/* Rotary frequencies of every layer, from both schemas of the configuration: rope_theta,
 * rope_scaling and partial_rotary_factor at the top level, or inside rope_parameters, flat or by
 * layer type. Nothing is assumed: what matters and is not there is an error. */
#include <inttypes.h>
#include <string.h>

#include "rotary_scaling.h"

/* The objects of one rotation. */
typedef struct rotation_source {
    szgi_json_value base;    /* the number */
    szgi_json_value scaling; /* an object, or absent */
    bool flat;               /* the object is rope_parameters */
    szgi_json_value partial; /* the share that rotates, or absent */
} rotation_source;

/* The member of one of two objects, both where they agree. */
static szg_status find_in_both(szg_context *context, szgi_json_value top, szgi_json_value inner,
                               const char *const *aliases, szgi_json_value *out) {
    szgi_json_value first, second;
    SZG_TRY(szgi_config_find(context, top, aliases, &first));
    SZG_TRY(szgi_config_find(context, inner, aliases, &second));
    bool has_second = szgi_json_kind_of(second) > SZGI_JSON_NULL;
    *out = has_second ? second : first;
    if (!has_second || szgi_json_kind_of(first) <= SZGI_JSON_NULL)
        return SZG_OK;
    double a, b;
    SZG_TRY(szgi_json_as_real(context, first, &a));
    SZG_TRY(szgi_json_as_real(context, second, &b));
    if (a != b)
        return szgi_json_fail(context, second, "is %.17g, but '%s' at the top level is %.17g", b,
                              first.key, a);
    return SZG_OK;
}

/* Dimensions rotate in pairs; `value` has their number, or the share of the head. */
static szg_status check_even(szg_context *context, szgi_json_value value, int64_t rotary) {
    if (rotary % 2 == 0)
        return SZG_OK;
    return szgi_json_fail(context, value,
                          "lets %" PRId64 " dimensions of a head rotate, an odd number: they "
                          "rotate in pairs",
                          rotary);
}

/* How many leading dimensions of a head rotate. */
static szg_status rotary_size(szg_context *context, const szg_checkpoint *checkpoint,
                              szgi_json_value partial, bool proportional, int64_t *out) {
    static const char *const dim_keys[] = {"rotary_dim", NULL};
    const model_family *family = checkpoint->family;
    *out = checkpoint->head_size;
    szgi_json_value settings = checkpoint->settings;
    if (family->partial == PARTIAL_LATENT) {
        *out = checkpoint->latent.rope;
        return check_even(context, szgi_json_member(settings, "qk_rope_head_dim"), *out);
    }
    if (family->partial == PARTIAL_DIM) {
        SZG_TRY(szgi_config_integer(context, settings, dim_keys, 2, out));
        return check_even(context, szgi_json_member(settings, dim_keys[0]), *out);
    }
    bool given = szgi_json_kind_of(partial) > SZGI_JSON_NULL;
    if (!given && family->partial != PARTIAL_REQUIRED)
        return check_even(context, szgi_json_member(settings, "head_dim"), *out);
    double share; /* a missing one is reported here */
    SZG_TRY(szgi_config_positive(context, partial, &share));
    if (!(share <= 1))
        return szgi_json_fail(context, partial, "is %.17g, and may not exceed 1", share);
    /* The proportional scaling is a rule of its own, which every architecture can have. */
    if (share != 1 && family->partial == PARTIAL_WHOLE && !proportional)
        return szgi_json_fail(
            context, partial,
            "is %.17g, but model_type '%s' rotates the whole head and has no such "
            "key: remove it, or name the model_type that has it",
            share, family->model_type);
    double size = (double)checkpoint->head_size;
    *out = proportional ? 2 * (int64_t)(share * size / 2) : (int64_t)(size * share);
    if (*out < 2)
        return szgi_json_fail(context, partial,
                              "%.17g of a head of %" PRId64 " dimensions is less than one pair",
                              share, checkpoint->head_size);
    return check_even(context, partial, *out);
}

/* Keys of Nomic's own configuration that turn other dimensions, or other pairs: the class in
 * transformers has no such keys. */
static szg_status refuse_nomic(szg_context *context, const szg_checkpoint *checkpoint) {
    static const char fraction_key[] = "rotary_emb_fraction",
                      pairs_key[] = "rotary_emb_interleaved", sizes_key[] = "rotary_emb_scale_base";
    szgi_json_value settings = checkpoint->settings;
    double fraction = 1;
    bool interleaved = false;
    if (strcmp(checkpoint->family->model_type, "nomic_bert") != 0)
        return SZG_OK;
    if (szgi_json_has(settings, fraction_key))
        SZG_TRY(szgi_json_as_real(context, szgi_json_member(settings, fraction_key), &fraction));
    SZG_TRY(szgi_config_flag(context, settings, pairs_key, false, &interleaved));
    const char *key = fraction != 1                        ? fraction_key
                      : interleaved                        ? pairs_key
                      : szgi_json_has(settings, sizes_key) ? sizes_key
                                                           : NULL;
    if (!key)
        return SZG_OK;
    return szgi_json_fail(context, szgi_json_member(settings, key),
                          "has another value than the published models: szego knows whole heads "
                          "whose halves rotate alone; --config none gives the singular values of "
                          "every 2-D weight");
}

/* Nomic's rotary_scaling_factor is NTK's: the base grows with lengths beyond max_trained_positions,
 * and frequencies up to that length are as they were. */
static szg_status stretch_nomic(szg_context *context, const szg_checkpoint *checkpoint,
                                rotary_values *values, char **note) {
    static const char factor_key[] = "rotary_scaling_factor";
    double factor, length;
    szgi_json_value settings = checkpoint->settings;
    if (strcmp(checkpoint->family->model_type, "nomic_bert") != 0 ||
        !szgi_json_has(settings, factor_key))
        return SZG_OK;
    SZG_TRY(szgi_config_positive(context, szgi_json_member(settings, factor_key), &factor));
    SZG_TRY(szgi_config_positive(context, szgi_json_member(settings, "max_trained_positions"),
                                 &length));
    szgi_rotary_values_word(values, "scaling", "dynamic");
    szgi_rotary_values_real(values, "factor", factor);
    szgi_rotary_values_real(values, "original", length);
    szgi_rotary_values_real(values, "length", length);
    return szgi_text_append(context, note,
                            "rotary_scaling_factor %g stretches the base at lengths beyond %g: "
                            "the frequencies are those of lengths up to it",
                            factor, length);
}

/* Halves or neighbours: by the architecture, or by its key. */
static szg_status pairs_are_halves(szg_context *context, const szg_checkpoint *checkpoint,
                                   bool *half) {
    bool neighbours;
    *half = checkpoint->family->pairing == SZGI_PAIRING_HALF;
    if (!checkpoint->family->interleave)
        return SZG_OK;
    SZG_TRY(szgi_config_flag(context, checkpoint->settings, checkpoint->family->interleave, true,
                             &neighbours));
    *half = !neighbours;
    return SZG_OK;
}

static szg_status open_rotation(szg_context *context, szg_checkpoint *checkpoint,
                                const rotation_source *source) {
    double base = checkpoint->family->fixed_base;
    int64_t rotary;
    const char *type = NULL;
    bool scaled = szgi_json_kind_of(source->scaling) > SZGI_JSON_NULL;
    if (!base)
        SZG_TRY(szgi_config_positive(context, source->base, &base));
    if (scaled) {
        SZG_TRY(szgi_json_as_object(context, source->scaling));
        SZG_TRY(szgi_rotary_scaling_name(context, source->scaling, source->flat, &type));
        SZG_TRY(szgi_rotary_check(context, source->scaling, type));
        SZG_TRY(szgi_rotary_note_unknown(context, checkpoint, source->scaling,
                                         &checkpoint->rotation[checkpoint->rotations]));
    }
    bool proportional = type && strcmp(type, "proportional") == 0;
    SZG_TRY(rotary_size(context, checkpoint, source->partial, proportional, &rotary));
    rotary_values values = {.count = 0};
    szgi_rotary_values_integer(&values, "dim", checkpoint->head_size);
    szgi_rotary_values_integer(&values, "rotary", rotary);
    szgi_rotary_values_real(&values, "base", base);
    bool half;
    SZG_TRY(pairs_are_halves(context, checkpoint, &half));
    szgi_rotary_values_word(&values, "pairing", half ? "half" : "interleaved");
    layer_rotation *rotation = &checkpoint->rotation[checkpoint->rotations];
    if (scaled) {
        SZG_TRY(szgi_rotary_replace(context, checkpoint, source->scaling, type, base, rotary,
                                    rotation));
        if (!rotation->theta)
            SZG_TRY(szgi_rotary_scaling_add(context, checkpoint, source->scaling, source->flat,
                                            &values));
    }
    SZG_TRY(stretch_nomic(context, checkpoint, &values, &rotation->note));
    if (!rotation->theta)
        rotation->length = szgi_rotary_values_length(&values);
    szg_status status =
        szgi_encoding_open(context, "rope", values.value, values.count, &rotation->encoding);
    if (status == SZG_EINVAL) /* the numbers are the configuration's */
        return szgi_fail_prefix(context, SZG_EDATA, "%s: rotary positions", checkpoint->source);
    SZG_TRY(status);
    checkpoint->rotations++;
    return SZG_OK;
}

/* Does rope_parameters hold one object for each layer type? */
static bool is_nested(szgi_json_value parameters) {
    szgi_json_value member = {0};
    while (szgi_json_next(parameters, &member))
        if (szgi_json_kind_of(member) == SZGI_JSON_OBJECT)
            return true;
    return false;
}

static const char *const base_keys[] = {"rope_theta", "rotary_emb_base", NULL};
static const char *const partial_keys[] = {"partial_rotary_factor", "rotary_pct", NULL};

/* Numbers that both objects have must agree: neither place is silently preferred. */
static szg_status same_numbers(szg_context *context, szgi_json_value scaling,
                               szgi_json_value parameters) {
    szgi_json_value first = {0};
    while (szgi_json_next(scaling, &first)) {
        szgi_json_value second = szgi_json_member(parameters, first.key);
        szgi_json_kind a_kind = szgi_json_kind_of(first), b_kind = szgi_json_kind_of(second);
        bool numbers = (a_kind == SZGI_JSON_INTEGER || a_kind == SZGI_JSON_REAL) &&
                       (b_kind == SZGI_JSON_INTEGER || b_kind == SZGI_JSON_REAL);
        if (!numbers)
            continue;
        double a, b;
        SZG_TRY(szgi_json_as_real(context, first, &a));
        SZG_TRY(szgi_json_as_real(context, second, &b));
        if (a != b)
            return szgi_json_fail(context, second, "is %.17g, but in rope_scaling it is %.17g", b,
                                  a);
    }
    return SZG_OK;
}

/* rope_scaling and rope_parameters in one file must be of one type, with the same numbers. */
static szg_status same_type(szg_context *context, szgi_json_value scaling,
                            szgi_json_value parameters) {
    const char *a, *b;
    SZG_TRY(szgi_json_as_object(context, scaling));
    SZG_TRY(szgi_rotary_scaling_name(context, scaling, false, &a));
    SZG_TRY(szgi_rotary_scaling_name(context, parameters, true, &b));
    if (!b || strcmp(a, b) != 0)
        return szgi_json_fail(context, parameters, "is of type '%s', but rope_scaling of type '%s'",
                              b ? b : "default", a);
    return same_numbers(context, scaling, parameters);
}

/* Under rope_parameters by layer type, rope_scaling may name the scaling that some layer type has;
 * of no type known, it would be ignored. */
static szg_status same_as_some(szg_context *context, const szg_checkpoint *checkpoint,
                               szgi_json_value parameters) {
    szgi_json_value scaling = szgi_json_member(checkpoint->settings, "rope_scaling"), inner = {0};
    const char *name, *own;
    if (szgi_json_kind_of(scaling) <= SZGI_JSON_NULL)
        return SZG_OK;
    SZG_TRY(szgi_json_as_object(context, scaling));
    SZG_TRY(szgi_rotary_scaling_name(context, scaling, false, &name));
    while (szgi_json_next(parameters, &inner)) {
        SZG_TRY(szgi_json_as_object(context, inner));
        SZG_TRY(szgi_rotary_scaling_name(context, inner, true, &own));
        if (strcmp(name, own ? own : "default") == 0)
            return same_type(context, scaling, inner);
    }
    return szgi_json_fail(context, scaling,
                          "is of type '%s', but rope_parameters has no layer type with it", name);
}

/* rope_parameters by layer type (Gemma 3): {"full_attention": {...}, "sliding_attention": {...}} */
static szg_status resolve_nested(szg_context *context, szg_checkpoint *checkpoint,
                                 szgi_json_value parameters) {
    const char *name[ROTATIONS_MAX];
    SZG_TRY(same_as_some(context, checkpoint, parameters));
    checkpoint->decided.base = "rope_parameters, layer_types";
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        const char *type;
        SZG_TRY(szgi_config_layer_type(context, checkpoint, i, &type));
        int slot = 0;
        if (checkpoint->layer[i].absent) /* another stack's, perhaps with heads of another size */
            continue;
        while (slot < checkpoint->rotations && strcmp(name[slot], type) != 0)
            slot++;
        checkpoint->layer[i].rotation = slot;
        if (slot < checkpoint->rotations)
            continue;
        if (slot == ROTATIONS_MAX)
            return szgi_json_fail(context, parameters, "more than %d layer types", ROTATIONS_MAX);
        name[slot] = type;
        szgi_json_value inner = szgi_json_member(parameters, type);
        rotation_source source = {.scaling = inner, .flat = true};
        SZG_TRY(szgi_config_require(context, inner));
        SZG_TRY(szgi_json_as_object(context, inner));
        SZG_TRY(szgi_config_find(context, inner, base_keys, &source.base));
        SZG_TRY(find_in_both(context, checkpoint->settings, inner, partial_keys, &source.partial));
        SZG_TRY(open_rotation(context, checkpoint, &source));
    }
    return SZG_OK;
}

/* Is the layer one of sliding attention? layer_types says so, or the pattern whose last layer is
 * not. */
static szg_status layer_slides(szg_context *context, szg_checkpoint *checkpoint, int64_t layer,
                               bool *out) {
    static const char *const pattern_keys[] = {"sliding_window_pattern", NULL};
    szgi_json_value settings = checkpoint->settings;
    if (szgi_json_has(settings, "layer_types") || !szgi_json_has(settings, pattern_keys[0])) {
        const char *type;
        checkpoint->decided.kinds = "layer_types";
        if (!szgi_json_has(settings, "layer_types") && checkpoint->family->bases == BASE_GEMMA)
            return szgi_config_require(context, szgi_json_member(settings, pattern_keys[0]));
        SZG_TRY(szgi_config_layer_type(context, checkpoint, layer, &type));
        *out = strcmp(type, "sliding_attention") == 0;
        return SZG_OK;
    }
    int64_t pattern;
    checkpoint->decided.kinds = pattern_keys[0];
    SZG_TRY(szgi_config_integer(context, settings, pattern_keys, 1, &pattern));
    *out = (layer + 1) % pattern != 0;
    return SZG_OK;
}

/* Gemma 3's first schema: sliding layers rotate with rope_local_base_freq, unscaled. */
static szg_status resolve_local(szg_context *context, szg_checkpoint *checkpoint) {
    szgi_json_value settings = checkpoint->settings;
    rotation_source local = {.base = szgi_json_member(settings, "rope_local_base_freq"),
                             .scaling = {0}};
    checkpoint->decided.base = "rope_theta, rope_local_base_freq";
    SZG_TRY(szgi_config_find(context, settings, partial_keys, &local.partial));
    SZG_TRY(open_rotation(context, checkpoint, &local));
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        bool sliding;
        SZG_TRY(layer_slides(context, checkpoint, i, &sliding));
        checkpoint->layer[i].rotation = sliding ? 1 : 0;
    }
    return SZG_OK;
}

/* ModernBERT's first schema: every global_attn_every_n_layers-th layer from the first on is global.
 */
static szg_status resolve_global(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const keys[] = {"global_rope_theta", "local_rope_theta"};
    static const char *const interval_keys[] = {"global_attn_every_n_layers", NULL};
    int64_t interval;
    SZG_TRY(szgi_config_integer(context, checkpoint->settings, interval_keys, 1, &interval));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        rotation_source source = {.base = szgi_json_member(checkpoint->settings, keys[i])};
        SZG_TRY(open_rotation(context, checkpoint, &source));
    }
    checkpoint->decided.base = "global_rope_theta, local_rope_theta";
    checkpoint->decided.kinds = interval_keys[0];
    for (int64_t i = 0; i < checkpoint->layers; i++)
        checkpoint->layer[i].rotation = i % interval == 0 ? 0 : 1;
    return SZG_OK;
}

/* OLMo 3's first schema: rope_scaling acts on layers of full attention alone. */
static szg_status resolve_unscaled(szg_context *context, szg_checkpoint *checkpoint,
                                   const rotation_source *source) {
    rotation_source plain = *source;
    plain.scaling = (szgi_json_value){0};
    SZG_TRY(open_rotation(context, checkpoint, &plain));
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        bool sliding;
        SZG_TRY(layer_slides(context, checkpoint, i, &sliding));
        checkpoint->layer[i].rotation = sliding ? 1 : 0;
    }
    return SZG_OK;
}

/* layer_rope_theta: a base for each layer; of 0 it does not rotate. */
static szg_status resolve_listed(szg_context *context, szg_checkpoint *checkpoint,
                                 const rotation_source *source) {
    szgi_json_value list = szgi_json_member(checkpoint->settings, "layer_rope_theta");
    double base[ROTATIONS_MAX];
    SZG_TRY(szgi_json_as_array(context, list));
    checkpoint->decided.base = checkpoint->decided.skips = list.key;
    if (szgi_json_count(list) != checkpoint->layers)
        return szgi_json_fail(context, list, "has %" PRId64 " entries for %" PRId64 " layers",
                              szgi_json_count(list), checkpoint->layers);
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        rotation_source own = *source;
        double theta;
        int slot = 0;
        own.base = szgi_json_element(list, i);
        SZG_TRY(szgi_json_as_real(context, own.base, &theta));
        checkpoint->layer[i].rotation = -1;
        if (theta == 0)
            continue;
        while (slot < checkpoint->rotations && base[slot] != theta)
            slot++;
        if (slot == ROTATIONS_MAX)
            return szgi_json_fail(context, list, "more than %d bases", ROTATIONS_MAX);
        base[slot] = theta;
        checkpoint->layer[i].rotation = slot;
        if (slot == checkpoint->rotations)
            SZG_TRY(open_rotation(context, checkpoint, &own));
    }
    return SZG_OK;
}

/* DBRX has its base among the numbers of attention. */
static szgi_json_value base_of_attention(szgi_json_value settings, szgi_json_value base) {
    szgi_json_value attention = szgi_json_member(settings, "attn_config");
    return szgi_json_kind_of(base) <= SZGI_JSON_NULL &&
                   szgi_json_kind_of(attention) == SZGI_JSON_OBJECT &&
                   szgi_json_has(attention, base_keys[0])
               ? szgi_json_member(attention, base_keys[0])
               : base;
}

/* Meta's params.json says that frequencies are scaled, and not by which numbers. */
static szg_status refuse_scaled(szg_context *context, const szg_checkpoint *checkpoint) {
    static const char key[] = "use_scaled_rope";
    bool scaled;
    SZG_TRY(szgi_config_flag(context, checkpoint->settings, key, false, &scaled));
    if (!scaled || szgi_json_has(checkpoint->settings, "rope_scaling"))
        return SZG_OK;
    return szgi_json_fail(context, szgi_json_member(checkpoint->settings, key),
                          "is true, and nothing says by which numbers: --set "
                          "'rope_scaling={\"rope_type\": \"llama3\", \"factor\": F, "
                          "\"low_freq_factor\": L, \"high_freq_factor\": H, "
                          "\"original_max_position_embeddings\": N}' gives them");
}

/* One rotation for every layer; `parameters` may be absent. */
static szg_status resolve_flat(szg_context *context, szg_checkpoint *checkpoint,
                               szgi_json_value parameters) {
    szgi_json_value settings = checkpoint->settings;
    bool inner = szgi_json_kind_of(parameters) > SZGI_JSON_NULL;
    szgi_json_value scaling = szgi_json_member(settings, "rope_scaling");
    bool outer = szgi_json_kind_of(scaling) > SZGI_JSON_NULL;
    SZG_TRY(refuse_scaled(context, checkpoint));
    if (inner && outer)
        SZG_TRY(same_type(context, scaling, parameters));
    rotation_source source = {.scaling = inner ? parameters : scaling, .flat = inner};
    SZG_TRY(
        find_in_both(context, settings, inner ? parameters : settings, base_keys, &source.base));
    SZG_TRY(find_in_both(context, settings, inner ? parameters : settings, partial_keys,
                         &source.partial));
    source.base = base_of_attention(settings, source.base);
    checkpoint->decided.base = source.base.key;
    if (szgi_json_kind_of(source.partial) > SZGI_JSON_NULL)
        checkpoint->decided.partial = source.partial.key;
    if (checkpoint->family->bases == BASE_LISTED && szgi_json_has(settings, "layer_rope_theta"))
        return resolve_listed(context, checkpoint, &source);
    SZG_TRY(open_rotation(context, checkpoint, &source));
    for (int64_t i = 0; i < checkpoint->layers; i++)
        checkpoint->layer[i].rotation = 0;
    if (checkpoint->family->bases == BASE_GEMMA || szgi_json_has(settings, "rope_local_base_freq"))
        return resolve_local(context, checkpoint);
    if (checkpoint->family->scaled_if_full && outer)
        return resolve_unscaled(context, checkpoint, &source);
    return SZG_OK;
}

/* A layer without rotation; `key` says that it is one. */
static szg_status skip_layer(szg_context *context, szg_checkpoint *checkpoint, int64_t layer,
                             szgi_json_value key) {
    if (checkpoint->family->skips != SKIP_LISTED)
        return szgi_json_fail(context, key,
                              "takes the rotation from layer %" PRId64 ", but model_type '%s' "
                              "rotates in every layer and has no such key: remove it, or name the "
                              "model_type that has it",
                              layer, checkpoint->family->model_type);
    checkpoint->layer[layer].rotation = -1;
    return SZG_OK;
}

/* no_rope_layers (1: rotates) or no_rope_layer_interval (every interval-th layer does not). */
static szg_status resolve_skipped(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const interval_keys[] = {"no_rope_layer_interval", NULL};
    szgi_json_value settings = checkpoint->settings;
    szgi_json_value list = szgi_json_member(settings, "no_rope_layers");
    int64_t interval = checkpoint->family->skip_interval;
    bool empty = interval && szgi_json_kind_of(list) == SZGI_JSON_ARRAY && !szgi_json_count(list);
    if (szgi_json_has(settings, "no_rope_layers") && !empty) {
        SZG_TRY(szgi_json_as_array(context, list));
        checkpoint->decided.skips = "no_rope_layers";
        if (szgi_json_count(list) != checkpoint->layers)
            return szgi_json_fail(context, list, "has %" PRId64 " entries for %" PRId64 " layers",
                                  szgi_json_count(list), checkpoint->layers);
        for (int64_t i = 0; i < checkpoint->layers; i++) {
            int64_t rotates;
            SZG_TRY(szgi_json_as_integer(context, szgi_json_element(list, i), &rotates));
            if (!rotates)
                SZG_TRY(skip_layer(context, checkpoint, i, list));
        }
        return SZG_OK;
    }
    if (checkpoint->family->skips != SKIP_LISTED && !szgi_json_has(settings, interval_keys[0]))
        return SZG_OK;
    if (szgi_json_has(settings, interval_keys[0]) || !interval) {
        checkpoint->decided.skips = interval_keys[0];
        SZG_TRY(szgi_config_integer(context, settings, interval_keys, 1, &interval));
    }
    for (int64_t i = interval - 1; i < checkpoint->layers; i += interval)
        SZG_TRY(skip_layer(context, checkpoint, i, szgi_json_member(settings, interval_keys[0])));
    return SZG_OK;
}

/* Is a layer one without experts in a model that has some? By mlp_layer_types, or the number of
 * leading ones. */
static szg_status is_dense(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                           bool *out) {
    static const char *const first_keys[] = {"first_k_dense_replace", NULL};
    szgi_json_value kinds = szgi_json_member(checkpoint->settings, "mlp_layer_types");
    const char *kind;
    int64_t first = 0;
    if (szgi_json_has(checkpoint->settings, "mlp_layer_types")) {
        SZG_TRY(szgi_json_as_array(context, kinds));
        SZG_TRY(szgi_json_as_text(context, szgi_json_element(kinds, layer), &kind));
        *out = strcmp(kind, "dense") == 0;
        return SZG_OK;
    }
    if (szgi_json_has(checkpoint->settings, first_keys[0]))
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, first_keys, 0, &first));
    *out = layer < first;
    return first == 0 ? SZG_OK /* else they have a pattern of their own */
                      : szgi_config_require(context,
                                            szgi_json_member(checkpoint->settings, "layer_types"));
}

/* Do dense layers of full attention rotate? */
static szg_status dense_rotate(szg_context *context, const szg_checkpoint *checkpoint, bool *out) {
    static const char *const keys[] = {"prefix_dense_sliding_window_pattern", NULL};
    int64_t pattern = 0;
    if (checkpoint->family->skips == SKIP_FULL_SPARSE)
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, keys, 1, &pattern));
    *out = pattern == 1;
    return SZG_OK;
}

/* Layers of full attention do not rotate where there are sliding ones. */
static szg_status skip_full(szg_context *context, szg_checkpoint *checkpoint) {
    if (szgi_json_kind_of(szgi_json_member(checkpoint->settings, "sliding_window")) ==
        SZGI_JSON_NULL)
        return SZG_OK; /* EXAONE 4 in its small sizes */
    bool forced;
    SZG_TRY(dense_rotate(context, checkpoint, &forced));
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        bool sliding, dense = false;
        SZG_TRY(layer_slides(context, checkpoint, i, &sliding));
        if (forced)
            SZG_TRY(is_dense(context, checkpoint, i, &dense));
        if (!sliding && !dense)
            checkpoint->layer[i].rotation = -1;
    }
    checkpoint->decided.skips = checkpoint->decided.kinds;
    return SZG_OK;
}

/* Does nothing rotate, by a key that the architecture has? */
static szg_status rotates_at_all(szg_context *context, szg_checkpoint *checkpoint, bool *out) {
    static const char kind_key[] = "position_embedding_type", alibi_key[] = "alibi";
    szgi_json_value value = szgi_json_member(checkpoint->settings, kind_key);
    static const char memory_key[] = "use_mem_rope";
    *out = true;
    if (checkpoint->family->skips == SKIP_ALIBI) {
        bool alibi;
        checkpoint->decided.skips = alibi_key;
        SZG_TRY(szgi_config_require(context, szgi_json_member(checkpoint->settings, alibi_key)));
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, alibi_key, false, &alibi));
        *out = !alibi;
    } else if (checkpoint->family->skips == SKIP_TABLE) {
        *out = checkpoint->position_kind == SZG_POSITIONS_NONE && !checkpoint->position_note &&
               !checkpoint->position_problem;
        checkpoint->decided.skips = kind_key;
    } else if (checkpoint->family->skips == SKIP_ALL) {
        const char *kind = "none";
        checkpoint->decided.skips = kind_key;
        if (szgi_json_has(checkpoint->settings, kind_key))
            SZG_TRY(szgi_json_as_text(context, value, &kind));
        *out = strcmp(kind, "rope") == 0;
    } else if (checkpoint->family->skips == SKIP_MEMORY) {
        checkpoint->decided.skips = memory_key;
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, memory_key, false, out));
    } else if (checkpoint->family->skips == SKIP_BARE) {
        szgi_json_value parameters = szgi_json_member(checkpoint->settings, "rope_parameters");
        checkpoint->decided.skips = base_keys[0];
        *out = szgi_json_has(checkpoint->settings, base_keys[0]) ||
               (szgi_json_kind_of(parameters) == SZGI_JSON_OBJECT &&
                szgi_json_has(parameters, base_keys[0]));
    }
    return SZG_OK;
}

szg_status szgi_rotary_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    bool rotates;
    if (checkpoint->family->positions != POSITION_ROTARY)
        return SZG_OK;
    SZG_TRY(refuse_nomic(context, checkpoint));
    SZG_TRY(rotates_at_all(context, checkpoint, &rotates));
    if (!rotates)
        return SZG_OK;
    szgi_json_value settings = checkpoint->settings;
    szgi_json_value parameters = szgi_json_member(settings, "rope_parameters");
    if (szgi_json_has(settings, "rope_parameters"))
        SZG_TRY(szgi_json_as_object(context, parameters));
    if (is_nested(parameters))
        SZG_TRY(resolve_nested(context, checkpoint, parameters));
    else if (checkpoint->family->bases == BASE_NESTED)
        return szgi_json_fail(context, parameters,
                              "must have the numbers of each type of layer: --set "
                              "'rope_parameters={\"full_attention\": {\"rope_theta\": B}, "
                              "\"sliding_attention\": {\"rope_theta\": B}}' gives them, with "
                              "partial_rotary_factor where it is not 1");
    else if (checkpoint->family->bases == BASE_MODERNBERT)
        SZG_TRY(resolve_global(context, checkpoint));
    else
        SZG_TRY(resolve_flat(context, checkpoint, parameters));
    if (checkpoint->family->skips == SKIP_FULL || checkpoint->family->skips == SKIP_FULL_SPARSE)
        SZG_TRY(skip_full(context, checkpoint));
    return resolve_skipped(context, checkpoint);
}

szg_status szgi_checkpoint_rotary(szg_context *context, const szg_checkpoint *checkpoint,
                                  int64_t layer, szgi_rotary *out) {
    if (layer < 0 || layer >= checkpoint->layers)
        return szgi_fail(context, SZG_EINVAL, "layer %" PRId64 " of %" PRId64, layer,
                         checkpoint->layers);
    int index = checkpoint->layer[layer].rotation;
    *out = (szgi_rotary){
        .dim = checkpoint->head_size, .unrotated = checkpoint->head_size, .amplitude = 1};
    if (index < 0)
        return SZG_OK;
    const layer_rotation *rotation = &checkpoint->rotation[index];
    SZG_TRY(szgi_encoding_rotary(context, rotation->encoding, 0, out));
    out->offset = checkpoint->latent.nope;
    if (rotation->theta) {
        out->theta = rotation->theta;
        out->amplitude = rotation->amplitude;
    }
    return SZG_OK;
}
