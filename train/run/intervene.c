/* The intervention of a run: when it begins, and what of the gradient it takes away. */
#include <math.h>

#include "run_private.h"

int64_t szgi_intervention_first(const szg_intervention_config *intervention, int64_t total) {
    return (int64_t)floor(intervention->from * (double)total);
}

/* A head's rows, or columns, of a parameter in the arena. */
static szg_status clear_share(szg_context *context, const szg_model *model,
                              const szgi_head_share *share, int64_t head, void *arena) {
    const szgi_parameter *p = share->parameter;
    int64_t heads = szgi_model_settings(model)->model.heads;
    int64_t real = szgi_network_real_size(context);
    char *at = (char *)arena + p->offset * real;
    if (!share->by_columns) {
        int64_t bytes = p->count / heads * real;
        return szgi_device_clear(context, at + head * bytes, bytes);
    }
    int64_t bytes = p->shape[1] / heads * real;
    return szgi_device_clear_columns(context, at + head * bytes, p->shape[0], p->shape[1] * real,
                                     bytes);
}

szg_status szgi_intervention_clear(szg_context *context, const szg_model *model, void *arena) {
    const szg_intervention_config *own = &szgi_model_settings(model)->intervention;
    if (own->kind != SZG_INTERVENTION_GRADIENT || !szgi_model_intervened(model))
        return SZG_OK;
    szgi_head_share shares[SZGI_HEAD_SHARES];
    int64_t count = szgi_model_head_shares(model, own->layer, shares);
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(clear_share(context, model, &shares[i], own->head, arena));
    return SZG_OK;
}
