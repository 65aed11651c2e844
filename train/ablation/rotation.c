/* Ablation of a head's rotation: which heads have one. */
#include "train/config/config_private.h"

#include "ablation_private.h"

static szg_status spare(szg_context *context, const szg_train_config *config,
                        const szg_encoding *encoding, bool begun, szg_ablation *out) {
    const szg_intervention_config *taken = &config->intervention;
    bool off = begun && taken->kind == SZG_INTERVENTION_ROTATION;
    for (int64_t l = 0; l < out->layers; l++)
        for (int64_t h = 0; h < out->heads; h++) {
            bool rotates;
            SZG_TRY(szgi_config_head_rotates(context, &config->model, encoding, l, h, &rotates));
            out->spared[l * out->heads + h] =
                !rotates || (off && taken->layer == l && taken->head == h);
        }
    return SZG_OK;
}

szg_status szgi_ablation_spare(szg_context *context, const szg_train_config *config, bool begun,
                               szg_ablation *out) {
    szg_encoding *encoding;
    if (out->method != SZG_ABLATE_ROTATION)
        return SZG_OK;
    SZG_TRY(szgi_config_parse_encoding(context, &config->model, config->data.seed, &encoding));
    szg_status status = SZG_OK;
    if (!(szgi_encoding_attaches(encoding) & SZGI_ATTACH_ROTARY))
        status = szgi_fail(context, SZG_EINVAL,
                           "ablation: model.encoding=%.80s rotates nothing: rotation is for rope, "
                           "rope+absolute and mla, take output or values",
                           config->model.encoding);
    if (status == SZG_OK)
        status = spare(context, config, encoding, begun, out);
    szg_encoding_close(&encoding);
    return status;
}
