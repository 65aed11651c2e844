/* The backward pass: the forward pass's mirror image. dstream [rows][width] is the gradient of the
 * residual stream, carried from the last layer down to the embeddings. */
#include "decoder_private.h"

/* From the loss to dstream behind the last layer. */
static szg_status classify_backward(szg_context *context, szgi_decoder *d, szgi_tally *tally) {
    const szg_model_config *c = decoder_config(d);
    SZG_TRY(szgi_decoder_cross_entropy(context, d, 0, d->dlogits, tally, d->block));
    szgi_linear classifier = szgi_decoder_classifier(d);
    szgi_linear_gradient gradient = {.dy = d->dlogits,
                                     .lddy = d->model->classes,
                                     .dx = d->dpooled,
                                     .lddx = c->width,
                                     .dweight = decoder_gradient(d, d->model->classifier.weight),
                                     .dbias = decoder_gradient(d, d->model->classifier.bias)};
    SZG_TRY(szgi_network_linear_backward(context, &classifier, &gradient));
    szgi_pooling pooling = szgi_decoder_pooling(d);
    SZG_TRY(szgi_network_pooling_backward(context, &pooling, d->dpooled, d->dstream));
    if (!c->final_norm)
        return SZG_OK;
    return szgi_decoder_norm_backward(context, d, d->model->final_norm, d->layer[c->layers].stream,
                                      d->final_mean, d->final_inverse, d->dstream);
}

/* Two trained tables of positions have the same gradient; frozen rows have none. */
static szg_status embed_backward(szg_context *context, szgi_decoder *d) {
    const szg_model *model = d->model;
    const szgi_dropout none = {0};
    int64_t width = decoder_config(d)->width;
    if (d->dembedded)
        SZG_TRY(szgi_network_dropout_residual(context, d->rows, width, &none, d->dembedded,
                                              d->dstream, d->dstream));
    bool frozen = model->position_rows >= model->count;
    void *rows = d->zeroed || frozen ? NULL : decoder_gradient(d, model->position_rows);
    void *extra = d->zeroed ? NULL : decoder_gradient(d, model->extra_rows);
    szgi_embedding embedding = szgi_decoder_embedding(d);
    SZG_TRY(szgi_network_embedding_backward(context, &embedding, d->dstream,
                                            decoder_gradient(d, model->embedding),
                                            rows ? rows : extra));
    if (!rows || !extra)
        return SZG_OK;
    return szgi_device_copy(context, extra, rows, d->n * width * d->real);
}

static szg_status clear(szg_context *context, szgi_decoder *d) {
    SZG_TRY(szgi_device_clear(context, d->gradient, d->model->count * d->real));
    if (!d->dembedded)
        return SZG_OK;
    return szgi_device_clear(context, d->dembedded, d->rows * decoder_config(d)->width * d->real);
}

szg_status szgi_decoder_backward(szg_context *context, szgi_decoder *decoder, void *gradient,
                                 szgi_tally *tally) {
    if (!decoder->training)
        return szgi_fail(
            context, SZG_EINVAL,
            "decoder: it was opened for evaluation and keeps nothing for a backward pass");
    decoder->gradient = gradient;
    SZG_TRY(clear(context, decoder));
    SZG_TRY(classify_backward(context, decoder, tally));
    for (int64_t l = decoder_config(decoder)->layers - 1; l >= 0; l--) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_decoder_finish_backward(context, decoder, l));
        SZG_TRY(szgi_decoder_attend_backward(context, decoder, l));
    }
    return embed_backward(context, decoder);
}
