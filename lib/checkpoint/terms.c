/* What acts on the logits beside W_Q^T W_K: where it stands, and a sentence on what is left out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lag_table.h"

/* The first tensor of the attention stack that ends with one of the names (NULL at the end). */
static const szgi_tensor *stack_tensor(const szg_checkpoint *checkpoint,
                                       const char *const *endings) {
    const model_family *family = checkpoint->family;
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    size_t prefix = strlen(checkpoint->prefix);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        if (strncmp(tensor->name, checkpoint->prefix, prefix) != 0 ||
            strstr(tensor->name, ".indexer.") || /* which chooses keys, and has its own queries */
            (strstr(tensor->name, ".cross_attn.") && !family->object))
            continue;
        /* Stacks with numbers of their own differ in what they have. */
        if (family->object &&
            strncmp(tensor->name + prefix, family->stem, strlen(family->stem)) != 0)
            continue;
        for (const char *const *ending = endings; *ending; ending++)
            if (szgi_text_ends(tensor->name, *ending))
                return tensor;
    }
    return NULL;
}

static szg_status leave_out(szg_context *context, szg_checkpoint *checkpoint,
                            const char *sentence) {
    return szgi_text_append(context, &checkpoint->left_out, "%s", sentence);
}

/* The name of the bias that belongs to a weight's name. */
static const char *bias_name(const char *weight, char name[static 128]) {
    snprintf(name, 128, "%s", weight);
    strcpy(name + strlen(name) - strlen("weight"), "bias"); /* shorter: it fits */
    return name;
}

/* A vector of `count` numbers that can be read; NULL: there is none. */
static const szgi_tensor *vector_of(const szg_checkpoint *checkpoint, int64_t layer,
                                    const char *suffix, int64_t count) {
    const szgi_tensor *tensor = szgi_layer_tensor(checkpoint, layer, suffix);
    if (!tensor || tensor->count != count || tensor->dtype == SZGI_DTYPE_INTEGER ||
        tensor->dtype == SZGI_DTYPE_OTHER)
        return NULL;
    return tensor;
}

/* The bias of queries or keys: `count` numbers. One of another size or type is no vector here, and
 * acts on the logits all the same. */
static void place_bias(const szg_checkpoint *checkpoint, int64_t owner, const char *suffix,
                       int64_t count, layer_weights *layer, side_weights *side) {
    side->bias = vector_of(checkpoint, owner, suffix, count);
    if (!side->bias && szgi_layer_tensor(checkpoint, owner, suffix))
        layer->bias_unread = true;
}

static szg_status note_biases(szg_context *context, szg_checkpoint *checkpoint) {
    checkpoint->biased = true;
    return leave_out(context, checkpoint,
                     "query or key biases add terms that depend on one token alone: left out");
}

static szg_status resolve_query_bias(szg_context *context, szg_checkpoint *checkpoint) {
    const char *const endings[] = {checkpoint->family->query_bias, NULL};
    if (!stack_tensor(checkpoint, endings))
        return SZG_OK;
    for (int64_t i = 0; i < checkpoint->layers; i++)
        place_bias(checkpoint, i, endings[0], checkpoint->heads * checkpoint->head_size,
                   &checkpoint->layer[i], &checkpoint->layer[i].q);
    return note_biases(context, checkpoint);
}

static szg_status resolve_biases(szg_context *context, szg_checkpoint *checkpoint) {
    char query[128], key[128], query_down[128], key_down[128];
    const latent_names *latent = checkpoint->family->latent;
    if (checkpoint->family->query_bias)
        return resolve_query_bias(context, checkpoint);
    bias_name(checkpoint->query, query);
    bias_name(checkpoint->key ? checkpoint->key : checkpoint->query, key);
    const char *const endings[] = {query, key,
                                   latent ? bias_name(latent->query_down, query_down) : NULL,
                                   latent ? bias_name(latent->key_down, key_down) : NULL, NULL};
    if (!stack_tensor(checkpoint, endings))
        return SZG_OK;
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        layer_weights *layer = &checkpoint->layer[i];
        int64_t own = layer->owner;
        int64_t keys = checkpoint->family->shares_keys ? layer->key_layer : own;
        place_bias(checkpoint, own, query, checkpoint->query_rows, layer, &layer->q);
        if (checkpoint->key)
            place_bias(checkpoint, keys, key, checkpoint->key_rows, layer, &layer->k);
        else
            layer->k.bias = layer->q.bias;
    }
    return note_biases(context, checkpoint);
}

/* How many gains a norm of queries, or of keys, has. */
static int64_t gains_of(const szg_checkpoint *checkpoint, int64_t heads, const char *suffix) {
    const szgi_tensor *tensor = szgi_layer_tensor(checkpoint, 0, suffix);
    int64_t whole = heads * checkpoint->head_size;
    bool may =
        checkpoint->family->norm == NORM_LAYER ||
        (checkpoint->family->norm == NORM_HEAD && checkpoint->gguf.families > 0); /* PLaMo 2 */
    bool by_head = may && tensor && tensor->count == whole;
    return checkpoint->family->norm == NORM_FULL || by_head ? whole : checkpoint->head_size;
}

static void place_norms(szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    const char *query = family->query_norm ? family->query_norm : "self_attn.q_norm.weight";
    const char *key = family->key_norm ? family->key_norm : "self_attn.k_norm.weight";
    int64_t queries = gains_of(checkpoint, checkpoint->heads, query);
    int64_t keys = gains_of(checkpoint, checkpoint->key_heads, key);
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        layer_weights *layer = &checkpoint->layer[i];
        layer->q.norm = vector_of(checkpoint, i, query, queries);
        layer->k.norm =
            vector_of(checkpoint, family->shares_keys ? layer->key_layer : i, key, keys);
    }
}

static szg_status resolve_norms(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const endings[] = {"q_norm.weight",
                                          "k_norm.weight",
                                          "q_layernorm.weight",
                                          "k_layernorm.weight",
                                          "query_layernorm.weight",
                                          "key_layernorm.weight",
                                          "q_layernorm.norms.0.weight", /* one a head (StableLM) */
                                          "k_layernorm.norms.0.weight",
                                          NULL};
    const model_family *family = checkpoint->family;
    bool bare = false;
    if (family->norm == NORM_BARE && !family->norm_flag) {
        bare = true;
    } else if (family->norm == NORM_BARE) {
        SZG_TRY(szgi_config_require(context,
                                    szgi_json_member(checkpoint->settings, family->norm_flag)));
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, family->norm_flag, false, &bare));
    } else {
        checkpoint->norm_tensor = stack_tensor(checkpoint, endings);
    }
    checkpoint->normed = bare || checkpoint->norm_tensor;
    if (!checkpoint->normed)
        return SZG_OK;
    if (family->norm != NORM_NONE && !bare)
        place_norms(checkpoint);
    if (family->norm == NORM_HEAD_AFTER || bare)
        return leave_out(
            context, checkpoint,
            "queries and keys are normalised after the rotation, so that logits depend on "
            "more than the lag: their norms and gains are left out");
    return leave_out(
        context, checkpoint,
        "queries and keys are normalised before the product: the division by each token's "
        "own norm is left out");
}

static szg_status optional_positive(szg_context *context, szgi_json_value object, const char *key,
                                    double *out) {
    *out = 0;
    return szgi_json_has(object, key)
               ? szgi_config_positive(context, szgi_json_member(object, key), out)
               : SZG_OK;
}

static szg_status resolve_cap(szg_context *context, szg_checkpoint *checkpoint) {
    if (!checkpoint->family->caps)
        return SZG_OK;
    SZG_TRY(optional_positive(context, checkpoint->settings, "attn_logit_softcapping",
                              &checkpoint->soft_cap));
    return checkpoint->soft_cap > 0
               ? leave_out(context, checkpoint, "logits are capped by tanh afterwards")
               : SZG_OK;
}

static szg_status resolve_clip(szg_context *context, szg_checkpoint *checkpoint) {
    szgi_json_value inner = szgi_json_member(checkpoint->settings, "attn_config");
    if (!checkpoint->family->clips)
        return SZG_OK;
    checkpoint->clip_key = "clip_qkv";
    SZG_TRY(optional_positive(context, checkpoint->settings, "clip_qkv", &checkpoint->clip));
    if (szgi_json_kind_of(inner) == SZGI_JSON_OBJECT && !(checkpoint->clip > 0)) {
        checkpoint->clip_key = "attn_config.clip_qkv";
        SZG_TRY(optional_positive(context, inner, "clip_qkv", &checkpoint->clip));
    }
    return checkpoint->clip > 0
               ? leave_out(context, checkpoint, "queries and keys are clipped before the product")
               : SZG_OK;
}

static szg_status resolve_alibi(szg_context *context, szg_checkpoint *checkpoint) {
    szgi_json_value object = checkpoint->settings;
    switch (checkpoint->family->alibi) {
    case ALIBI_NONE:
        return SZG_OK;
    case ALIBI_ALWAYS:
        checkpoint->alibi = true;
        break;
    case ALIBI_MPT:
        object = szgi_json_member(object, "attn_config");
        SZG_TRY(szgi_config_require(context, object));
        /* fall through */
    case ALIBI_FLAG:
        SZG_TRY(szgi_config_require(context, szgi_json_member(object, "alibi")));
        SZG_TRY(szgi_config_flag(context, object, "alibi", false, &checkpoint->alibi));
    }
    if (checkpoint->family->alibi == ALIBI_MPT && !checkpoint->alibi)
        return szgi_json_fail(
            context, szgi_json_member(object, "alibi"),
            "is false, and of MPT szego knows ALiBi alone: --config none gives the "
            "singular values of every 2-D weight");
    checkpoint->alibi_most = 8;
    if (checkpoint->alibi && szgi_json_has(object, "alibi_bias_max"))
        SZG_TRY(szgi_config_positive(context, szgi_json_member(object, "alibi_bias_max"),
                                     &checkpoint->alibi_most));
    if (checkpoint->family->alibi == ALIBI_MPT && checkpoint->alibi_most != 8)
        checkpoint->alibi_most = 0; /* MPT's own code reads it, that of transformers does not */
    return checkpoint->alibi ? leave_out(context, checkpoint,
                                         "ALiBi adds a slope times the lag to the logits: left out")
                             : SZG_OK;
}

static szg_status resolve_temperature(szg_context *context, szg_checkpoint *checkpoint) {
    szgi_json_value object = checkpoint->settings;
    const char *factor = "attn_scale", *length = "floor_scale";
    bool tuned = true;
    if (checkpoint->family->temperature == TEMPERATURE_NONE)
        return SZG_OK;
    if (checkpoint->family->temperature == TEMPERATURE_INKLING) {
        factor = "log_scaling_alpha";
        length = "log_scaling_n_floor";
        tuned = szgi_json_has(object, length);
    } else if (checkpoint->family->temperature == TEMPERATURE_LLAMA4) {
        szgi_json_value flag = szgi_json_member(object, "attn_temperature_tuning");
        SZG_TRY(szgi_config_require(context, flag));
        int64_t number; /* in files as published */
        if (szgi_json_kind_of(flag) == SZGI_JSON_INTEGER) {
            SZG_TRY(szgi_json_as_integer(context, flag, &number));
            tuned = number != 0;
        } else {
            SZG_TRY(szgi_json_as_boolean(context, flag, &tuned));
        }
    } else if (checkpoint->family->temperature == TEMPERATURE_KEYS) {
        tuned = szgi_json_has(object, factor);
    } else {
        object = szgi_json_member(
            object, szgi_json_has(object, "rope_parameters") ? "rope_parameters" : "rope_scaling");
        factor = "llama_4_scaling_beta";
        length = "original_max_position_embeddings";
        tuned = szgi_json_has(object, factor);
    }
    if (!tuned)
        return SZG_OK;
    SZG_TRY(
        szgi_config_positive(context, szgi_json_member(object, factor), &checkpoint->temperature));
    SZG_TRY(szgi_config_positive(context, szgi_json_member(object, length),
                                 &checkpoint->temperature_length));
    return szgi_text_append(context, &checkpoint->left_out,
                            "queries grow with the logarithm of their position from position %g "
                            "on: left out",
                            checkpoint->temperature_length);
}

/* The tensor of the first layer of a stack whose layers lie among those of others; NULL: it has
 * none. */
static const szgi_tensor *own_tensor(const szg_checkpoint *checkpoint, const char *suffix) {
    const szgi_tensor *tensor = NULL;
    for (int64_t i = 0; i < checkpoint->layers && !tensor; i++)
        if (!checkpoint->layer[i].absent)
            tensor = szgi_layer_tensor(checkpoint, i, suffix);
    return tensor;
}

static void place_added(szg_checkpoint *checkpoint, int64_t index) {
    const lag_bank_names *bank = checkpoint->family->bank;
    const char *suffix = bank ? bank->profiles : checkpoint->family->added_in_layer;
    layer_weights *layer = &checkpoint->layer[index];
    layer->added = suffix ? szgi_layer_tensor(checkpoint, index, suffix) : checkpoint->added;
    layer->mixing = bank ? szgi_layer_tensor(checkpoint, index, bank->weights) : NULL;
}

static szg_status resolve_tensors(szg_context *context, szg_checkpoint *checkpoint) {
    const char *const sinks[] = {"self_attn.sinks", "self_attn.softmax_offset",
                                 "self_attn.attention_sink_bias", "attn_sinks.weight", NULL};
    const char *const added[] = {checkpoint->family->added, NULL};
    static const char *const distance[] = {"relative_attention_max_distance", NULL};
    checkpoint->sinks = stack_tensor(checkpoint, sinks);
    if (checkpoint->family->only) /* those of its own layers */
        checkpoint->sinks = NULL;
    for (size_t i = 0; checkpoint->family->only && sinks[i] && !checkpoint->sinks; i++)
        checkpoint->sinks = own_tensor(checkpoint, sinks[i]);
    checkpoint->lag_distance = 128;
    if (checkpoint->family->added_by_head && szgi_json_has(checkpoint->settings, distance[0]))
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, distance, 1,
                                    &checkpoint->lag_distance));
    if (checkpoint->family->added)
        checkpoint->added = stack_tensor(checkpoint, added);
    for (int64_t i = 0; i < checkpoint->layers && checkpoint->added; i++)
        place_added(checkpoint, i);
    if (checkpoint->sinks)
        SZG_TRY(
            leave_out(context, checkpoint,
                      "a trained sink of each head is one more column of the softmax: left out"));
    return checkpoint->added ? leave_out(context, checkpoint, checkpoint->family->added_sentence)
                             : SZG_OK;
}

/* Is there a tensor of the stack with one of these parts in its name? */
static bool has_part(const szg_checkpoint *checkpoint, const char *first, const char *second) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    size_t prefix = strlen(checkpoint->prefix);
    for (int64_t i = 0; i < count; i++) {
        const char *name = szgi_safetensors_tensor(checkpoint->tensors, i)->name;
        if (strncmp(name, checkpoint->prefix, prefix) == 0 &&
            (strstr(name, first) || strstr(name, second)))
            return true;
    }
    return false;
}

/* A decoder of one stack may have heads that read another model (BERT, GPT-2). */
static bool has_cross_attention(const szg_checkpoint *checkpoint) {
    return has_part(checkpoint, ".crossattention.", ".cross_attn.");
}

/* M-RoPE: each section of the pairs rotates by a position of its own. */
static szg_status resolve_sections(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const paths[][2] = {{"rope_parameters", "rope_parameters.mrope_section"},
                                           {"rope_scaling", "rope_scaling.mrope_section"}};
    if (checkpoint->rotations == 0)
        return SZG_OK;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !checkpoint->sections_key; i++) {
        szgi_json_value object = szgi_json_member(checkpoint->settings, paths[i][0]);
        if (szgi_json_kind_of(object) != SZGI_JSON_OBJECT ||
            !szgi_json_has(object, "mrope_section"))
            continue;
        checkpoint->sections_key = paths[i][1];
        checkpoint->sections = szgi_json_member(object, "mrope_section");
    }
    return checkpoint->sections_key
               ? leave_out(
                     context, checkpoint,
                     "rotary pairs have sections (M-RoPE): text has one position in all of them; "
                     "the several of images and video are left out")
               : SZG_OK;
}

/* Longformer's tokens of global attention. */
static szg_status resolve_global(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const endings[] = {".query_global.weight", NULL};
    return stack_tensor(checkpoint, endings)
               ? leave_out(context, checkpoint,
                           "tokens of global attention have projections of their own "
                           "(query_global, key_global): left out")
               : SZG_OK;
}

static szg_status resolve_rest(szg_context *context, szg_checkpoint *checkpoint) {
    SZG_TRY(resolve_global(context, checkpoint));
    if (checkpoint->family->key_mixing)
        SZG_TRY(leave_out(context, checkpoint, checkpoint->family->key_mixing));
    if (!checkpoint->family->stack && has_cross_attention(checkpoint))
        SZG_TRY(
            leave_out(context, checkpoint, "there is cross-attention too: its heads are not read"));
    if (checkpoint->family->layout == LAYOUT_LATENT)
        SZG_TRY(
            leave_out(context, checkpoint,
                      "latents are normalised: their gains are in, and left out is the division by "
                      "each token's own norm, which the rotary part of keys does not have"));
    checkpoint->indexed = has_part(checkpoint, ".self_attn.indexer.", ".indexer.attn_");
    if (checkpoint->indexed)
        SZG_TRY(leave_out(context, checkpoint,
                          "an indexer chooses which keys each query sees: left out"));
    if (checkpoint->family->two_streams)
        SZG_TRY(szgi_text_append(context, &checkpoint->note,
                                 "queries and keys read two streams side by side, %" PRId64
                                 " wide each: first the residual one, then the embeddings",
                                 checkpoint->model_size / 2));
    if (checkpoint->family->left_out)
        SZG_TRY(leave_out(context, checkpoint, checkpoint->family->left_out));
    if (checkpoint->family->two_coordinates)
        SZG_TRY(leave_out(
            context, checkpoint,
            "queries and keys of patches rotate by the patch's row and column: left out"));
    for (int i = 0; i < checkpoint->rotations; i++)
        if (checkpoint->rotation[i].note)
            SZG_TRY(leave_out(context, checkpoint, checkpoint->rotation[i].note));
    if (checkpoint->position_note)
        return leave_out(context, checkpoint, checkpoint->position_note);
    bool bert = checkpoint->family->positions == POSITION_BERT ||
                checkpoint->family->positions == POSITION_ROBERTA;
    if (!bert || checkpoint->position_kind != SZG_POSITIONS_NONE)
        return SZG_OK;
    return leave_out(context, checkpoint,
                     "relative positions (Shaw et al. 2018) act through distance tables: left "
                     "out, and there is no position-position term");
}

szg_status szgi_terms_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    SZG_TRY(resolve_biases(context, checkpoint));
    SZG_TRY(resolve_norms(context, checkpoint));
    SZG_TRY(resolve_cap(context, checkpoint));
    SZG_TRY(resolve_clip(context, checkpoint));
    SZG_TRY(resolve_alibi(context, checkpoint));
    SZG_TRY(resolve_temperature(context, checkpoint));
    SZG_TRY(resolve_tensors(context, checkpoint));
    SZG_TRY(resolve_sections(context, checkpoint));
    szgi_lag_table_watch(checkpoint);
    szgi_sees_later(checkpoint); /* likewise */
    return resolve_rest(context, checkpoint);
}
