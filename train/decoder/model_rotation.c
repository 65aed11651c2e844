/* Heads that are left unrotated, whatever the encoding says: the head of an intervention, and the
 * one that an ablation switches off. Their layer has factors of its own, in which theirs are 1. */
#include "base/memory.h"
#include "model_private.h"

/* Numbers of one head's factors. */
static int64_t numbers_of(const szg_model *model) {
    return 2 * model->config.model.max_length * model->positions.pairs;
}

static szg_status open_ones(szg_context *context, szg_model *model) {
    int64_t numbers = numbers_of(model);
    double *ones;
    void *array = NULL;
    if (model->ones)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, numbers, &ones));
    for (int64_t at = 0; at < numbers; at += 2)
        ones[at] = 1;
    szg_status status =
        szgi_device_alloc(context, numbers * szgi_network_real_size(context), &array);
    if (status == SZG_OK)
        status = szgi_model_upload(context, array, ones, numbers);
    if (status == SZG_OK)
        model->ones = array;
    else
        szgi_device_free(context, array);
    szgi_memory_free(ones);
    return status;
}

/* A head's factors in the layer's own array: ones, or the model's. */
static szg_status fill_head(szg_context *context, const szg_model *model, model_unrotated *layer,
                            int64_t head, bool off) {
    const model_positions *p = &model->positions;
    int64_t numbers = numbers_of(model), bytes = numbers * szgi_network_real_size(context);
    const void *from = off ? model->ones : model_at(context, p->factors, head * p->factor_stride);
    return szgi_device_copy(context, model_at(context, layer->factors, head * numbers), from,
                            bytes);
}

/* The layer's own array, all heads as in the model's. */
static szg_status open_layer(szg_context *context, szg_model *model, model_unrotated *layer) {
    int64_t heads = model->config.model.heads, bytes;
    if (layer->head)
        return SZG_OK;
    SZG_TRY(open_ones(context, model));
    SZG_TRY(szgi_memory_product(context, heads, numbers_of(model), &bytes));
    SZG_TRY(szgi_memory_product(context, bytes, szgi_network_real_size(context), &bytes));
    if (!layer->factors)
        SZG_TRY(szgi_device_alloc(context, bytes, &layer->factors));
    for (int64_t h = 0; h < heads; h++)
        SZG_TRY(fill_head(context, model, layer, h, false));
    return szgi_memory_alloc(context, heads, &layer->head);
}

static bool takes_rotation(const szg_model *model, int64_t layer, int64_t head) {
    const szg_intervention_config *own = &model->config.intervention;
    return model->intervened && own->kind == SZG_INTERVENTION_ROTATION && own->layer == layer &&
           own->head == head;
}

szg_status szgi_model_unrotate(szg_context *context, szg_model *model, int64_t layer,
                               int64_t head) {
    int64_t heads = model->config.model.heads;
    if (model->positions.pairs == 0)
        return SZG_OK;
    if (!model->unrotated)
        SZG_TRY(szgi_memory_alloc(context, model->config.model.layers, &model->unrotated));
    model_unrotated *own = &model->unrotated[layer];
    SZG_TRY(open_layer(context, model, own));
    for (int64_t h = 0; h < heads; h++) {
        bool off = h == head || head == heads || takes_rotation(model, layer, h);
        if (off == own->head[h])
            continue;
        SZG_TRY(fill_head(context, model, own, h, off));
        own->head[h] = off;
        own->count += off ? 1 : -1;
    }
    return SZG_OK;
}

szg_status szgi_model_intervene(szg_context *context, szg_model *model, bool begun) {
    const szg_intervention_config *own = &model->config.intervention;
    if (model->intervened == begun)
        return SZG_OK;
    model->intervened = begun;
    szg_status status = SZG_OK;
    if (own->kind == SZG_INTERVENTION_ROTATION)
        status = szgi_model_unrotate(context, model, own->layer, -1);
    if (status != SZG_OK)
        model->intervened = !begun;
    return status;
}

bool szgi_model_intervened(const szg_model *model) {
    return model->intervened;
}

model_factors szgi_model_factors_of(const szg_model *model, int64_t layer) {
    const model_positions *p = &model->positions;
    if (!model->unrotated || model->unrotated[layer].count == 0)
        return (model_factors){p->factors, p->factor_stride};
    return (model_factors){model->unrotated[layer].factors, numbers_of(model)};
}

void szgi_model_close_rotation(szg_context *context, szg_model *model) {
    for (int64_t l = 0; model->unrotated && l < model->config.model.layers; l++) {
        szgi_device_free(context, model->unrotated[l].factors);
        szgi_memory_free(model->unrotated[l].head);
    }
    szgi_memory_free(model->unrotated);
    szgi_device_free(context, model->ones);
}
