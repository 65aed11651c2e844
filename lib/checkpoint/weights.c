/* The rows of one head, and what the product of queries and keys leaves out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"

/* Columns first .. first + e - 1 of a [d, columns] tensor, as e rows of d. */
static szg_status read_columns(szg_context *context, const szgi_tensor *tensor, int64_t first,
                               int64_t e, int64_t d, double *out) {
    double *line;
    SZG_TRY(szgi_memory_alloc(context, e, &line));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < d && status == SZG_OK; i++) {
        status = szgi_tensor_read(context, tensor, i * tensor->shape[1] + first, e, line);
        for (int64_t j = 0; j < e && status == SZG_OK; j++)
            out[j * d + i] = line[j];
    }
    szgi_memory_free(line);
    return status;
}

/* First row of query head `head` and of the key head that goes with it. */
static void head_rows(const szg_checkpoint *checkpoint, int64_t head, int64_t *query,
                      int64_t *key) {
    int64_t e = checkpoint->head_size;
    int64_t key_head = head / (checkpoint->heads / checkpoint->key_heads);
    *query = head * e;
    *key = key_head * e;
    if (checkpoint->family->layout == LAYOUT_FUSED_HEADS) {
        *query = 3 * head * e;
        *key = *query + e;
    }
    if (checkpoint->family->layout == LAYOUT_FUSED_BLOCKS)
        *key += checkpoint->heads * e;
    if (checkpoint->family->layout == LAYOUT_CONV1D)
        *key += checkpoint->model_size;
}

static void scale_rows(double *rows, int64_t count, double factor) {
    for (int64_t i = 0; i < count; i++)
        rows[i] *= factor;
}

/* YaRN's attention factor stands on the dimensions that rotate: the first ones. */
static szg_status scale_rotated(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, double *q, double *k) {
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    if (rotary.amplitude == 1)
        return SZG_OK;
    int64_t first = rotary.offset * checkpoint->model_size;
    int64_t count = 2 * rotary.pairs * checkpoint->model_size;
    scale_rows(q + first, count, rotary.amplitude);
    scale_rows(k + first, count, rotary.amplitude);
    return SZG_OK;
}

szg_status szgi_checkpoint_head(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, int64_t head, double *q, double *k) {
    if (layer < 0 || layer >= checkpoint->layers || head < 0 || head >= checkpoint->heads)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: layer %" PRId64 ", head %" PRId64 " of %" PRId64
                         " layers with %" PRId64 " heads",
                         checkpoint->source, layer, head, checkpoint->layers, checkpoint->heads);
    const layer_weights *weights = &checkpoint->layer[layer];
    if (weights->problem)
        return szgi_fail(context, SZG_EDATA, "%s: %s", checkpoint->source, weights->problem);
    int64_t query, key, e = checkpoint->head_size, d = checkpoint->model_size;
    head_rows(checkpoint, head, &query, &key);
    if (checkpoint->family->layout == LAYOUT_CONV1D) {
        SZG_TRY(read_columns(context, weights->q, query, e, d, q));
        SZG_TRY(read_columns(context, weights->k, key, e, d, k));
    } else {
        SZG_TRY(szgi_tensor_read(context, weights->q, query * d, e * d, q));
        SZG_TRY(szgi_tensor_read(context, weights->k, key * d, e * d, k));
    }
    scale_rows(q, e * d, weights->scale);
    return scale_rotated(context, checkpoint, layer, q, k);
}

/* Does a tensor of the attention stack end with one of the names (NULL at the end)? */
static bool has_tensor(const szg_checkpoint *checkpoint, const char *const *endings) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    size_t prefix = strlen(checkpoint->prefix);
    for (int64_t i = 0; i < count; i++) {
        const char *name = szgi_safetensors_tensor(checkpoint->tensors, i)->name;
        if (strncmp(name, checkpoint->prefix, prefix) != 0)
            continue;
        for (const char *const *ending = endings; *ending; ending++)
            if (szgi_text_ends(name, *ending))
                return true;
    }
    return false;
}

/* The name of the bias that belongs to a weight's name. */
static void bias_name(const char *weight, char name[static 128]) {
    snprintf(name, 128, "%s", weight);
    strcpy(name + strlen(name) - strlen("weight"), "bias"); /* shorter: it fits */
}

static szg_status note_biases(szg_context *context, szg_checkpoint *checkpoint) {
    char query[128], key[128];
    const model_family *family = checkpoint->family;
    bias_name(family->query, query);
    bias_name(family->key ? family->key : family->query, key);
    const char *const endings[] = {query, key, NULL};
    if (!has_tensor(checkpoint, endings))
        return SZG_OK;
    return szgi_text_append(
        context, &checkpoint->note,
        "query or key biases add terms that depend on one token alone: left out");
}

static szg_status note_norms(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const endings[] = {"q_norm.weight",
                                          "k_norm.weight",
                                          "q_layernorm.weight",
                                          "k_layernorm.weight",
                                          "q_layernorm.norms.0.weight", /* one a head (StableLM) */
                                          "k_layernorm.norms.0.weight",
                                          NULL};
    if (!has_tensor(checkpoint, endings))
        return SZG_OK;
    return szgi_text_append(
        context, &checkpoint->note,
        "queries and keys are normalised before the product: their norms and gains "
        "are left out");
}

static szg_status note_setting(szg_context *context, szg_checkpoint *checkpoint, const char *key,
                               const char *sentence) {
    if (!szgi_json_has(checkpoint->settings, key))
        return SZG_OK;
    return szgi_text_append(context, &checkpoint->note, "%s", sentence);
}

static szg_status note_positions(szg_context *context, szg_checkpoint *checkpoint) {
    if (checkpoint->family->positions == POSITION_ROTARY ||
        checkpoint->position_kind != SZG_POSITIONS_NONE)
        return SZG_OK;
    return szgi_text_append(
        context, &checkpoint->note,
        "relative positions (Shaw et al. 2018) act through distance tables: left "
        "out, and there is no position-position term");
}

szg_status szgi_note_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    SZG_TRY(note_biases(context, checkpoint));
    SZG_TRY(note_norms(context, checkpoint));
    SZG_TRY(note_setting(context, checkpoint, "attn_logit_softcapping",
                         "logits are capped by tanh afterwards"));
    SZG_TRY(note_setting(context, checkpoint, "clip_qkv",
                         "queries and keys are clipped before the product"));
    return note_positions(context, checkpoint);
}
