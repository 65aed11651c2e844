/* Values and outputs of every family: names by the name of its queries, places by its layout. */
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

enum { OUTPUTS = 3 };

/* What a model that calls its queries `query` calls its values (NULL: they are in the same tensor
 * as the keys) and its output; of several outputs one is in the file. */
typedef struct value_names {
    const char *query, *value, *output[OUTPUTS];
} value_names;

static const value_names names[] = {
    {"self_attn.q_proj.weight",
     "self_attn.v_proj.weight",
     {"self_attn.o_proj.weight", "self_attn.out_proj.weight", "self_attn.dense.weight"}},
    {"shared_transf.self_attn.q_proj.weight",
     "shared_transf.self_attn.v_proj.weight",
     {"shared_transf.self_attn.o_proj.weight"}},
    {"shared_transformer.self_attn.q_proj.weight",
     "shared_transformer.self_attn.v_proj.weight",
     {"shared_transformer.self_attn.o_proj.weight"}},
    {"cross_attn.q_proj.weight", "cross_attn.v_proj.weight", {"cross_attn.o_proj.weight"}},
    {"encoder_attn.q_proj.weight", "encoder_attn.v_proj.weight", {"encoder_attn.out_proj.weight"}},
    {"self_attn.q_b_proj.weight", NULL, {"self_attn.o_proj.weight"}},
    {"self_attn.0.q_proj.weight", NULL, {"self_attn.0.o_proj.weight"}},
    {"self_attn.0.q_b_proj.weight", NULL, {"self_attn.0.o_proj.weight"}},
    {"self_attn.1.q_proj.weight", NULL, {"self_attn.1.o_proj.weight"}},
    {"self_attn.1.q_b_proj.weight", NULL, {"self_attn.1.o_proj.weight"}},
    {"self_attn.qkv_proj.weight", NULL, {"self_attn.o_proj.weight"}},
    {"attention.self.query.weight",
     "attention.self.value.weight",
     {"attention.output.dense.weight"}},
    {"attention.self.query_proj.weight",
     "attention.self.value_proj.weight",
     {"attention.output.dense.weight"}},
    {"attention.attention.query.weight",
     "attention.attention.value.weight",
     {"attention.output.dense.weight"}},
    {"albert_layers.0.attention.query.weight",
     "albert_layers.0.attention.value.weight",
     {"albert_layers.0.attention.dense.weight"}},
    {"rel_attn.q", "rel_attn.v", {"rel_attn.o"}},
    {"attention.self.in_proj.weight", NULL, {"attention.output.dense.weight"}},
    {"self_attn.self.query.weight", "self_attn.self.value.weight", {"self_attn.output.weight"}},
    {"temporal_block.q_proj.weight",
     "temporal_block.v_proj.weight",
     {"temporal_block.o_proj.weight"}},
    {"attention.attn.q.weight", "attention.attn.v.weight", {"attention.attn.o.weight"}},
    {"attention.q_proj.weight", "attention.v_proj.weight", {"attention.o_proj.weight"}},
    {"attention.q_lin.weight", "attention.v_lin.weight", {"attention.out_lin.weight"}},
    {"attention.query_key_value.weight", NULL, {"attention.dense.weight"}},
    {"self_attention.query_key_value.weight", NULL, {"self_attention.dense.weight"}},
    {"attn.attention.q_proj.weight",
     "attn.attention.v_proj.weight",
     {"attn.attention.out_proj.weight"}},
    {"attn.q_proj.weight", "attn.v_proj.weight", {"attn.out_proj.weight", "attn.Wo.weight"}},
    {"attention.qkv_proj.weight", NULL, {"attention.o_proj.weight"}},
    {"attention.wq.weight", "attention.wv.weight", {"attention.wo.weight"}},
    {"attention.wqkv.weight", NULL, {"attention.wo.weight"}},
    {"mixer.Wqkv.weight", NULL, {"mixer.out_proj.weight"}},
    {"norm_attn_norm.attn.Wqkv.weight", NULL, {"norm_attn_norm.attn.out_proj.weight"}},
    {"self_attn.longformer_self_attn.query.weight",
     "self_attn.longformer_self_attn.value.weight",
     {"self_attn.output.weight"}},
    {"layer.0.LocalSelfAttention.q.weight",
     "layer.0.LocalSelfAttention.v.weight",
     {"layer.0.LocalSelfAttention.o.weight"}},
    {"layer.0.TransientGlobalSelfAttention.q.weight",
     "layer.0.TransientGlobalSelfAttention.v.weight",
     {"layer.0.TransientGlobalSelfAttention.o.weight"}},
    {"cross_attention.q_proj.weight",
     "cross_attention.v_proj.weight",
     {"cross_attention.out_proj.weight"}},
    {"multi_head_attention.Wq.weight",
     "multi_head_attention.Wv.weight",
     {"multi_head_attention.dense.weight"}},
    {"mixer.q_proj.weight", "mixer.v_proj.weight", {"mixer.o_proj.weight"}},
    {"self_attn.qkv.weight", NULL, {"self_attn.projection.weight"}},
    {"self_attn.query_key_value.weight", NULL, {"self_attn.dense.weight"}},
    {"attn.qkv_proj.weight", NULL, {"attn.out_proj.weight"}},
    {"attn.c_attn.weight", NULL, {"attn.c_proj.weight"}},
    {"attn.Wqkv.weight", NULL, {"attn.Wo.weight", "attn.out_proj.weight"}},
    {"layer.0.SelfAttention.q.weight",
     "layer.0.SelfAttention.v.weight",
     {"layer.0.SelfAttention.o.weight"}},
    {"layer.1.EncDecAttention.q.weight",
     "layer.1.EncDecAttention.v.weight",
     {"layer.1.EncDecAttention.o.weight"}},
    {"attn_q.weight", "attn_v.weight", {"attn_output.weight", "attn_o.weight"}},
    {"cross_attn_q.weight", "cross_attn_v.weight", {"cross_attn_o.weight"}},
    {"attn_q_b.weight", NULL, {"attn_output.weight"}},
    {"attn_qkv.weight", NULL, {"attn_output.weight"}},
};

static const value_names *names_of(const szg_checkpoint *checkpoint) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].query, checkpoint->query) == 0)
            return &names[i];
    return NULL;
}

static bool is_latent(const szg_checkpoint *checkpoint) {
    return checkpoint->family->layout == LAYOUT_LATENT;
}

/* Latent values of a GGUF file have a tensor of their own: [heads, size, rank]. */
static bool is_split(const szg_checkpoint *checkpoint) {
    return is_latent(checkpoint) && checkpoint->family->latent->split;
}

/* The values' tensor, if keys have no part in it. */
static const szgi_tensor *own_values(const szg_checkpoint *checkpoint, int64_t layer,
                                     const layer_values *values) {
    return values->value == checkpoint->layer[layer].k.weight ? NULL : values->value;
}

/* ---- What acts between values and output ---- */

/* Tensors beside the values' that act on them: a norm of all heads together before the output
 * (BitNet), a gate of each number (AFMoE), or two halves of the values that are subtracted
 * (DiffLlama). */
static const char *const unknown[] = {"self_attn.lambda_q1",
                                      "self_attn.v_norm.weight",
                                      "self_attn.attn_sub_norm.weight",
                                      "self_attn.v_sconv.conv1d.weight",
                                      "self_attn.sub_norm.weight",
                                      "self_attn.g_proj.weight",
                                      "self_attn.gate_proj.weight",
                                      "attn_v_norm.weight",
                                      "attn_sub_norm.weight",
                                      "attn_gate.weight"};

/* Values are divided by their root mean square, without gains. */
static bool is_normed(const szg_checkpoint *checkpoint) {
    static const char *const normed[] = {"gemma3n_text", "gemma4_text", "gemma4_unified_text"};
    for (size_t i = 0; i < sizeof normed / sizeof *normed; i++)
        if (strcmp(checkpoint->family->model_type, normed[i]) == 0)
            return true;
    return false;
}

bool szgi_values_are_scale_free(const szg_checkpoint *checkpoint) {
    return is_latent(checkpoint) || is_normed(checkpoint);
}

const char *szgi_values_note(const szg_checkpoint *checkpoint) {
    if (checkpoint->family->layout == LAYOUT_GATED)
        return "each token's gate multiplies the values that its head has collected: left out";
    if (is_normed(checkpoint))
        return "values are normalised by head, without gains: left out";
    return NULL;
}

const char *szgi_values_folded(const szg_checkpoint *checkpoint, int64_t layer, fold_kind fold) {
    static const char *const folded[] = {"none", "input", "latent", "input+latent"};
    return folded[(fold == FOLD_ALL && checkpoint->layer[layer].k.folds ? 1 : 0) +
                  (fold != FOLD_NONE && is_latent(checkpoint) ? 2 : 0)];
}

/* ---- Which tensors ---- */

/* The name of `of`, which ends with `suffix`, with `other` in its place. */
static const szgi_tensor *beside(const szg_checkpoint *checkpoint, const szgi_tensor *of,
                                 const char *suffix, const char *other) {
    char name[512];
    size_t length = strlen(of->name), cut = strlen(suffix);
    if (length < cut || strcmp(of->name + length - cut, suffix) != 0)
        return NULL;
    int written = snprintf(name, sizeof name, "%.*s%s", (int)(length - cut), of->name, other);
    return written < 0 || (size_t)written >= sizeof name
               ? NULL
               : szgi_safetensors_find(checkpoint->tensors, name);
}

/* The first place of `unknown` that is a tensor of the layer; NULL: none. */
static const szgi_tensor *find_unknown(const szg_checkpoint *checkpoint, int64_t layer) {
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const szgi_tensor *tensor = szgi_layer_tensor(checkpoint, layer, unknown[i]);
        if (tensor)
            return tensor;
    }
    return NULL;
}

/* The output by any of its names; `suffix` is the one that it has, or the first. */
static szg_status find_output(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                              const value_names *own, const char **suffix, layer_values *out) {
    const szgi_tensor *query = checkpoint->layer[layer].q.weight;
    *suffix = own->output[0];
    for (int i = 0; i < OUTPUTS && own->output[i]; i++) {
        const szgi_tensor *found = beside(checkpoint, query, checkpoint->query, own->output[i]);
        if (found && out->output)
            return szgi_text_append(context, &out->problem,
                                    "%s and %s are both there, and one of them is the output",
                                    out->output->name, found->name);
        if (!found)
            continue;
        out->output = found;
        *suffix = own->output[i];
    }
    return SZG_OK;
}

/* Gemma 4's global layers may have keys, before their norm, as values. */
static szg_status are_keys(szg_context *context, const szg_checkpoint *checkpoint, bool *out) {
    *out = false;
    return checkpoint->family->own_sizes
               ? szgi_config_flag(context, checkpoint->settings, "attention_k_eq_v", false, out)
               : SZG_OK;
}

/* Values of a tensor of their own: the output's columns tell their size. */
static szg_status place_separate(szg_context *context, const szg_checkpoint *checkpoint,
                                 int64_t layer, const value_names *own, layer_values *out) {
    int64_t d = checkpoint->model_size, heads = checkpoint->heads;
    const szgi_tensor *output = out->output;
    int64_t columns = output && output->dims == 2 ? output->shape[1] : 0;
    const szgi_tensor *keys = checkpoint->layer[layer].k.weight;
    bool shared;
    SZG_TRY(are_keys(context, checkpoint, &shared));
    out->value = shared ? keys : beside(checkpoint, keys, checkpoint->key, own->value);
    out->size = columns > 0 && columns % heads == 0 ? columns / heads : checkpoint->head_size;
    out->at = (head_places){.group = 1, .group_step = out->size};
    return szgi_weight_check(context, checkpoint, layer, own->value, out->value,
                             checkpoint->key_heads * out->size, d, &out->problem);
}

static szg_status place_split(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                              layer_values *out) {
    static const char name[] = "attn_v_b.weight";
    const latent_sizes *latent = &checkpoint->latent;
    out->value = szgi_layer_tensor(checkpoint, layer, name);
    out->size = latent->value;
    out->at = (head_places){.group = 1, .group_step = out->size};
    return szgi_weight_check_heads(context, checkpoint, layer, name, out->value, latent->value,
                                   latent->key_rank, &out->problem);
}

/* Values in one tensor with the keys, behind which they stand. */
static void place_fused(const szg_checkpoint *checkpoint, int64_t layer, layer_values *out) {
    int64_t e = checkpoint->head_size;
    out->value = checkpoint->layer[layer].k.weight;
    out->at = checkpoint->key_at;
    out->size = e;
    switch (checkpoint->family->layout) {
    case LAYOUT_LATENT: /* [nope, v] of each head */
        out->at.first += checkpoint->latent.nope;
        out->size = checkpoint->latent.value;
        return;
    case LAYOUT_CODEGEN: /* queries, values, keys of a quarter of the heads */
        out->at.first -= checkpoint->heads / 4 * e;
        return;
    case LAYOUT_CONV1D:
    case LAYOUT_FUSED_BLOCKS: /* all queries, all keys, all values */
        out->at.first += checkpoint->key_heads * e;
        return;
    default: /* a key head, then its values */
        out->at.first += e;
    }
}

/* Why circuits have no values of a family; NULL: they have. */
static const char *refusal_of(const szg_checkpoint *checkpoint) {
    if (checkpoint->family->layout == LAYOUT_COLUMNS)
        return "values and outputs have an axis of heads (rel_attn.v, rel_attn.o): not covered";
    if (checkpoint->family->two_streams)
        return "what acts on the values reads two streams, and o_proj writes one: not covered";
    return strcmp(checkpoint->family->model_type, "mimo_v2_flash") == 0
               ? "attention_value_scale acts on the values: not covered"
               : NULL;
}

static szg_status place(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                        const value_names *own, layer_values *out) {
    const szgi_tensor *odd = find_unknown(checkpoint, layer);
    const char *suffix;
    bool turned = checkpoint->family->layout == LAYOUT_CONV1D;
    int64_t rows = checkpoint->model_size;
    SZG_TRY(find_output(context, checkpoint, layer, own, &suffix, out));
    if (odd)
        return szgi_text_append(context, &out->problem,
                                "tensor %s acts on the values in a way that szego does not know",
                                odd->name);
    if (refusal_of(checkpoint))
        return szgi_text_append(context, &out->problem, "%s", refusal_of(checkpoint));
    if (!out->output) /* before values, whose size it tells */
        SZG_TRY(szgi_weight_check(context, checkpoint, layer, suffix, NULL, 0, 0, &out->problem));
    if (out->problem)
        return SZG_OK;
    if (is_split(checkpoint))
        SZG_TRY(place_split(context, checkpoint, layer, out));
    else if (is_latent(checkpoint) || !own->value)
        place_fused(checkpoint, layer, out);
    else
        SZG_TRY(place_separate(context, checkpoint, layer, own, out));
    if (out->problem)
        return SZG_OK;
    int64_t columns = checkpoint->heads * out->size;
    return szgi_weight_check(context, checkpoint, layer, suffix, out->output,
                             turned ? columns : rows, turned ? rows : columns, &out->problem);
}

/* ---- All layers ---- */

typedef struct value_job {
    const szg_checkpoint *checkpoint;
    const head_part *part;
    const value_names *names;
    value_set *set;
} value_job;

static bool is_read(const szg_checkpoint *checkpoint, int64_t layer) {
    return !checkpoint->layer[layer].absent && !checkpoint->layer[layer].problem;
}

/* Numbers of tensors that queries and keys have no part in. */
static szg_status check_numbers(szg_context *context, const value_job *job, int64_t index) {
    layer_values *layer = &job->set->layer[index];
    const szgi_tensor *const tensor[] = {own_values(job->checkpoint, index, layer), layer->output};
    for (size_t i = 0; i < sizeof tensor / sizeof *tensor && !layer->problem; i++) {
        szg_status status = tensor[i] ? szgi_tensor_check(context, tensor[i]) : SZG_OK;
        if (status == SZG_EDATA)
            status = szgi_memory_copy_text(context, szg_context_message(context), &layer->problem);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status check_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    value_job *job = data;
    return job->part->layer[block] && is_read(job->checkpoint, block)
               ? check_numbers(context, job, block)
               : SZG_OK;
}

/* A file without values and outputs is no news in each layer: that is said once. Every part of the
 * work says the same. */
static szg_status note_all(szg_context *context, const value_job *job) {
    const value_set *set = job->set;
    const char *first = NULL;
    for (int64_t i = 0; i < job->checkpoint->layers; i++) {
        const layer_values *layer = &set->layer[i];
        if (!is_read(job->checkpoint, i))
            continue;
        if (layer->output || own_values(job->checkpoint, i, layer))
            return SZG_OK;
        first = first ? first : layer->problem;
    }
    return first
               ? szgi_text_append(context, &job->set->problem, "no layer has an output: %s", first)
               : SZG_OK;
}

static szg_status find_all(szg_context *context, value_job *job) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    job->set->size = 1;
    if (!job->names)
        return szgi_text_append(context, &job->set->problem,
                                "szego does not know what model_type '%s' calls its values",
                                checkpoint->model_type);
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        layer_values *layer = &job->set->layer[i];
        if (!is_read(checkpoint, i))
            continue;
        SZG_TRY(place(context, checkpoint, i, job->names, layer));
        if (!layer->problem && layer->size > job->set->size)
            job->set->size = layer->size;
    }
    return note_all(context, job);
}

szg_status szgi_values_open(szg_context *context, const szg_checkpoint *checkpoint,
                            const head_part *part, value_set *out) {
    value_job job = {.checkpoint = checkpoint, .part = part, .set = out};
    SZG_TRY(szgi_values_find(context, checkpoint, out));
    szg_status status = SZG_OK;
    if (names_of(checkpoint))
        status = szgi_pool_run(context, checkpoint->layers, check_block, &job);
    if (status != SZG_OK)
        szgi_values_close(checkpoint, out);
    return status;
}

szg_status szgi_values_find(szg_context *context, const szg_checkpoint *checkpoint,
                            value_set *out) {
    value_job job = {.checkpoint = checkpoint, .names = names_of(checkpoint), .set = out};
    *out = (value_set){0};
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &out->layer));
    szg_status status = find_all(context, &job);
    if (status != SZG_OK)
        szgi_values_close(checkpoint, out);
    return status;
}

void szgi_values_close(const szg_checkpoint *checkpoint, value_set *set) {
    for (int64_t i = 0; set->layer && i < checkpoint->layers; i++)
        szgi_memory_free(set->layer[i].problem);
    szgi_memory_free(set->layer);
    szgi_memory_free(set->problem);
    *set = (value_set){0};
}

/* ---- Rows ---- */

long double szgi_values_norm(int64_t count, const double *x) {
    long double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (long double)x[i] * x[i];
    return sqrtl(sum);
}

/* From the latent. */
static szg_status read_latent(szg_context *context, const szg_checkpoint *checkpoint,
                              const layer_values *values, int64_t layer, int64_t first,
                              fold_kind fold, double *rows) {
    const int64_t shape[] = {checkpoint->heads * values->size, checkpoint->latent.key_rank};
    latent_side kept = {0};
    side_weights side = checkpoint->layer[layer].k;
    szgi_tensor flat = *values->value;
    if (is_split(checkpoint)) { /* heads as they stand, where keys are transposed */
        flat.dims = 2;
        flat.shape = shape;
    }
    side.weight = &flat;
    szg_status status =
        szgi_read_product(context, &side, first, values->size, checkpoint->latent.key_rank,
                          checkpoint->model_size, fold, &kept, rows);
    szgi_latent_release(&kept);
    return status;
}

szg_status szgi_values_rows(szg_context *context, const szg_checkpoint *checkpoint,
                            const layer_values *values, int64_t layer, int64_t key_head,
                            fold_kind fold, double *rows, long double *norm) {
    int64_t first = szgi_layout_row(&values->at, key_head), d = checkpoint->model_size;
    double error;
    if (is_latent(checkpoint))
        SZG_TRY(read_latent(context, checkpoint, values, layer, first, fold, rows));
    else if (checkpoint->family->layout == LAYOUT_CONV1D)
        SZG_TRY(szgi_read_columns(context, values->value, first, values->size, d, rows));
    else
        SZG_TRY(szgi_tensor_read(context, values->value, first * d, values->size * d, rows));
    *norm = szgi_values_norm(values->size * d, rows);
    return fold == FOLD_ALL && checkpoint->layer[layer].k.folds
               ? szgi_fold_input(context, checkpoint, layer, false, values->size, rows, &error)
               : SZG_OK;
}

szg_status szgi_values_output(szg_context *context, const szg_checkpoint *checkpoint,
                              const layer_values *values, int64_t head, double *rows) {
    int64_t first = head * values->size, d = checkpoint->model_size;
    return checkpoint->family->layout == LAYOUT_CONV1D
               ? szgi_tensor_read(context, values->output, first * d, values->size * d, rows)
               : szgi_read_columns(context, values->output, first, values->size, d, rows);
}
