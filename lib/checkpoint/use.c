#include "use.h"

#include <inttypes.h>

#include "base/memory.h"
#include "base/text.h"
#include "decay.h"
#include "fold.h"
#include "formats/coded.h"
#include "lag_table.h"
#include "rows.h"
#include "vocabulary.h"

/* What a tensor is used for, by the first layer that uses it. */
typedef struct tensor_use {
    const char *use;
    int64_t layer;
} tensor_use;

/* Of all tensors, in their order. */
typedef struct use_list {
    const szg_checkpoint *checkpoint;
    const szg_checkpoint_options *options;
    const layer_values *values; /* [layers]; NULL without circuits */
    tensor_use *use;
} use_list;

/* What a packed weight is made from besides its codes. */
static void mark_parts(use_list *list, const szgi_coded *coded, int64_t layer) {
    const szgi_safetensors *tensors = list->checkpoint->tensors;
    const char *const names[] = {coded->scales.tensor.name, coded->scales.table.name,
                                 coded->scales.outer.name,  coded->biases.tensor.name,
                                 coded->zeros.tensor.name,  coded->index.name};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const szgi_tensor *part = names[i] ? szgi_safetensors_find(tensors, names[i]) : NULL;
        if (part)
            list->use[part - szgi_safetensors_tensor(tensors, 0)] = (tensor_use){"scale", layer};
    }
}

/* NULL: nothing. The scales of 8-bit and of packed weights come with them. */
static void mark(use_list *list, const szgi_tensor *tensor, const char *found, int64_t layer) {
    const szgi_tensor *first = szgi_safetensors_tensor(list->checkpoint->tensors, 0);
    if (!tensor || !found)
        return;
    list->use[tensor - first] = (tensor_use){found, layer};
    if (tensor->scale)
        list->use[tensor->scale - first] = (tensor_use){"scale", layer};
    if (tensor->dtype == SZGI_DTYPE_CODED)
        mark_parts(list, tensor->coded, layer);
}

/* Is it of a norm that is folded? */
static bool is_norm(const szgi_tensor *tensor, const side_weights *side) {
    return tensor == side->norm ||
           (side->folds && (tensor == side->input_gain || tensor == side->input_shift));
}

static const char *use_of(const layer_weights *layer, const szgi_tensor *tensor) {
    const side_weights *q = &layer->q, *k = &layer->k;
    bool query = tensor == q->weight || tensor == q->down || tensor == q->gain;
    bool key = tensor == k->weight || tensor == k->down || tensor == k->gain;
    if (is_norm(tensor, q) || is_norm(tensor, k))
        return "norm";
    return query && key ? "query and key" : query ? "query" : key ? "key" : NULL;
}

/* Norms of queries or keys by head, and their shifts. */
static void mark_head_norms(use_list *list, bool query, int64_t index) {
    const szg_checkpoint *checkpoint = list->checkpoint;
    int64_t heads = query ? checkpoint->heads : checkpoint->key_heads;
    for (int64_t i = 0; i < heads && checkpoint->family->norm == NORM_EACH; i++)
        mark(list, szgi_fold_head_norm(checkpoint, index, query, i), "norm", index);
    if (!list->options->raw)
        mark(list, szgi_fold_norm_bias(checkpoint, index, query), "norm", index);
}

static void mark_lag_tables(use_list *list, int64_t index) {
    const szgi_tensor *tensors[LAG_TABLE_TENSORS];
    if (list->options->raw)
        return;
    mark(list, list->checkpoint->layer[index].added, "lag table", index);
    mark(list, list->checkpoint->layer[index].mixing, "lag table", index);
    szgi_lag_table_tensors(list->checkpoint, index, tensors);
    for (int i = 0; i < LAG_TABLE_TENSORS; i++)
        mark(list, tensors[i], "lag table", index);
}

/* What the gates of a recurrent layer read, and their norm. */
static void mark_decays(use_list *list, int64_t index) {
    const decay_family *family = szgi_decay_family_of(list->checkpoint);
    const szgi_tensor *tensors[DECAY_TENSORS];
    if (!family || list->options->raw || list->options->kernel_only)
        return;
    szgi_decay_tensors(list->checkpoint, family, list->checkpoint->prefix, index, tensors);
    bool is_recurrent = tensors[DECAY_RATE] || tensors[DECAY_SHIFT] || tensors[DECAY_WEIGHT];
    for (int i = 0; i < DECAY_TENSORS && is_recurrent; i++)
        mark(list, tensors[i], i == DECAY_GAIN ? "norm" : "decay", index);
}

/* Marks the tensors of a layer. A fused tensor is its queries'. */
static void mark_layer(use_list *list, int64_t index) {
    const layer_weights *layer = &list->checkpoint->layer[index];
    mark_decays(list, index);
    if (layer->absent)
        return;
    if (list->values) {
        mark(list, list->values[index].output, "output", index);
        mark(list, list->values[index].value, "value", index);
    }
    mark_lag_tables(list, index); /* before queries and keys, which may project them */
    const side_weights *const sides[] = {&layer->q, &layer->k};
    for (int side = 0; side < 2; side++) {
        const szgi_tensor *const tensor[] = {sides[side]->weight,     sides[side]->down,
                                             sides[side]->gain,       sides[side]->norm,
                                             sides[side]->input_gain, sides[side]->input_shift};
        for (size_t i = 0; i < sizeof tensor / sizeof *tensor; i++)
            mark(list, tensor[i], tensor[i] ? use_of(layer, tensor[i]) : NULL, index);
        if (!list->options->raw)
            mark(list, sides[side]->bias, "bias", index);
        mark_head_norms(list, side == 0, index);
    }
}

/* Tensors that no layer has: layer 0's. */
static void mark_others(use_list *list) {
    const szg_checkpoint *checkpoint = list->checkpoint;
    mark(list, checkpoint->position_table, "positions", 0);
    if (list->options->raw)
        return;
    const szgi_tensor *tables[2];
    szgi_vocabulary_find(checkpoint, tables);
    bool reads =
        szgi_vocabulary_is_read(checkpoint) || checkpoint->position_kind != SZG_POSITIONS_NONE;
    for (int i = 0; i < 2 && reads; i++)
        mark(list, tables[i], "embedding", 0);
}

/* part NULL: all layers. */
static szg_status open_list(szg_context *context, const head_part *part, use_list *list) {
    const szg_checkpoint *checkpoint = list->checkpoint;
    SZG_TRY(szgi_memory_alloc(context, szgi_safetensors_count(checkpoint->tensors), &list->use));
    mark_others(list);
    for (int64_t i = checkpoint->layers; i-- > 0;)
        if (!part || part->layer[i])
            mark_layer(list, i);
    return SZG_OK;
}

/* part NULL: rows of all tensors. */
static szg_status report(szg_context *context, const use_list *list, const head_part *part,
                         szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = list->checkpoint;
    for (int64_t i = 0; i < szgi_safetensors_count(checkpoint->tensors); i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        const tensor_use *use = &list->use[i];
        if (part && !szgi_part_owns(part, use->layer))
            continue;
        SZG_TRY(szgi_rows_tensor(context, tables, checkpoint->source, tensor,
                                 use->use ? use->use : "none",
                                 tensor->count == 0  ? "empty"
                                 : tensor->dims == 0 ? "one number"
                                                     : NULL));
    }
    return SZG_OK;
}

szg_status szgi_use_report(szg_context *context, const szg_checkpoint *checkpoint,
                           const szg_checkpoint_options *options, const head_part *part,
                           const layer_values *values, szg_checkpoint_tables *tables) {
    use_list list = {checkpoint, options, values, NULL};
    szg_status status = open_list(context, NULL, &list);
    if (status == SZG_OK)
        status = report(context, &list, part, tables);
    szgi_memory_free(list.use);
    return status;
}

/* ---- Before anything is read ---- */

/* Opens a list of what the part will read; `values` is to be closed. */
static szg_status open_plan(szg_context *context, const head_part *part, value_set *values,
                            use_list *list) {
    if (list->options->circuits) {
        SZG_TRY(szgi_values_find(context, list->checkpoint, values));
        list->values = values->layer;
    }
    return open_list(context, part, list);
}

szg_status szgi_use_plan(szg_context *context, const szg_checkpoint *checkpoint,
                         const szg_checkpoint_options *options, szg_checkpoint_tables *tables) {
    use_list list = {checkpoint, options, NULL, NULL};
    value_set values = {0};
    head_part part;
    SZG_TRY(szgi_part_open(context, checkpoint, options, &part));
    szg_status status = szgi_rows_open_tensors(context, tables);
    if (status == SZG_OK)
        status = open_plan(context, &part, &values, &list);
    if (status == SZG_OK)
        status = report(context, &list, NULL, tables);
    szgi_memory_free(list.use);
    szgi_values_close(checkpoint, &values);
    szgi_part_close(&part);
    return status;
}

static szg_status refuse(szg_context *context, const use_list *list) {
    const szg_checkpoint *checkpoint = list->checkpoint;
    const char *first = NULL;
    int64_t count = 0;
    for (int64_t i = 0; i < szgi_safetensors_count(checkpoint->tensors); i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        if (!list->use[i].use || !tensor->left_out)
            continue;
        count++;
        first = first ? first : tensor->name;
    }
    if (count == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: of the tensors that are needed %" PRId64
                     " were not fetched, %s the first: szego.checkpoint in Python fetches them, or "
                     "python3 -m szego.hub ORG/NAME%s",
                     checkpoint->source, count, SHOWN(first), list->values ? " --circuits" : "");
}

szg_status szgi_use_check(szg_context *context, const szg_checkpoint *checkpoint,
                          const szg_checkpoint_options *options, const head_part *part) {
    use_list list = {checkpoint, options, NULL, NULL};
    value_set values = {0};
    if (szgi_safetensors_left_out(checkpoint->tensors) == 0)
        return SZG_OK;
    if (!checkpoint->family)
        return szgi_fail(context, SZG_EDATA,
                         "%s: %s, so that every weight is needed, and some were not fetched: hf "
                         "download ORG/NAME",
                         checkpoint->source, checkpoint->unknown);
    szg_status status = open_plan(context, part, &values, &list);
    if (status == SZG_OK)
        status = refuse(context, &list);
    szgi_memory_free(list.use);
    szgi_values_close(checkpoint, &values);
    return status;
}
