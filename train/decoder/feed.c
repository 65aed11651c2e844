/* The second half of a layer: the attention's output joins the stream, then the feed-forward
 * network's; and its mirror image. */
#include "decoder_private.h"

/* hidden = act(normed W^T + bias), [rows][hidden]. */
static szgi_linear inner_of(const szgi_decoder *d, int64_t l) {
    const szg_model_config *c = decoder_config(d);
    model_linear at = d->model->layer[l].inner;
    return (szgi_linear){.rows = d->rows,
                         .in = c->width,
                         .out = c->hidden,
                         .x = d->normed,
                         .ldx = c->width,
                         .weight = decoder_weight(d, at.weight),
                         .bias = decoder_weight(d, at.bias),
                         .activation = c->activation,
                         .y = d->layer[l].hidden,
                         .ldy = c->hidden,
                         .before = d->layer[l].before};
}

/* Hidden numbers drop in place: the activation's derivative is 0 where they are 0. */
static szg_status drop_hidden(szg_context *context, szgi_decoder *d, int64_t l) {
    szgi_dropout dropout = szgi_decoder_dropout(d, SZGI_PLACE_HIDDEN, l);
    void *hidden = d->layer[l].hidden;
    if (dropout.probability == 0)
        return SZG_OK;
    return szgi_network_dropout_residual(context, d->rows, decoder_config(d)->hidden, &dropout,
                                         hidden, NULL, hidden);
}

szg_status szgi_decoder_finish(szg_context *context, szgi_decoder *decoder, int64_t l) {
    SZG_TRY(szgi_decoder_check_layer(context, decoder, l));
    const szg_model_config *c = decoder_config(decoder);
    const model_layer *weights = &decoder->model->layer[l];
    const decoder_layer *layer = &decoder->layer[l];
    int64_t values = c->heads * decoder->model->d_v;
    decoder_columns branch = {decoder->branch, c->width};
    szgi_dropout dropout = szgi_decoder_dropout(decoder, SZGI_PLACE_ATTENTION_OUTPUT, l);
    SZG_TRY(szgi_decoder_linear(context, decoder, weights->out, values, c->width,
                                (decoder_columns){layer->heads, values}, branch));
    SZG_TRY(szgi_network_dropout_residual(context, decoder->rows, c->width, &dropout,
                                          decoder->branch, layer->stream, layer->middle));
    SZG_TRY(szgi_decoder_norm(context, decoder, weights->norm2, layer->middle, layer->mean2,
                              layer->inverse2));
    szgi_linear inner = inner_of(decoder, l);
    SZG_TRY(szgi_network_linear(context, &inner));
    SZG_TRY(drop_hidden(context, decoder, l));
    SZG_TRY(szgi_decoder_linear(context, decoder, weights->outer, c->hidden, c->width,
                                (decoder_columns){layer->hidden, c->hidden}, branch));
    dropout = szgi_decoder_dropout(decoder, SZGI_PLACE_FEED_FORWARD, l);
    return szgi_network_dropout_residual(context, decoder->rows, c->width, &dropout,
                                         decoder->branch, layer->middle, layer[1].stream);
}

/* ---- Backward ---- */

/* The gradient of what dropped on its way into the stream: dstream itself where nothing does. */
static szg_status undrop(szg_context *context, szgi_decoder *d, szgi_network_place place, int64_t l,
                         decoder_columns *out) {
    const szg_model_config *c = decoder_config(d);
    szgi_dropout dropout = szgi_decoder_dropout(d, place, l);
    *out = (decoder_columns){dropout.probability == 0 ? d->dstream : d->branch, c->width};
    if (dropout.probability == 0)
        return SZG_OK;
    return szgi_network_dropout_backward(context, d->rows, c->width, &dropout, d->dstream,
                                         d->branch);
}

/* From dhidden to branch, the gradient of norm2's output. */
static szg_status inner_backward(szg_context *context, szgi_decoder *d, int64_t l) {
    const szg_model_config *c = decoder_config(d);
    model_linear at = d->model->layer[l].inner;
    szgi_dropout dropout = szgi_decoder_dropout(d, SZGI_PLACE_HIDDEN, l);
    if (dropout.probability != 0)
        SZG_TRY(szgi_network_dropout_backward(context, d->rows, c->hidden, &dropout, d->dhidden,
                                              d->dhidden));
    szgi_linear inner = inner_of(d, l);
    szgi_linear_gradient gradient = {.dy = d->dhidden,
                                     .lddy = c->hidden,
                                     .dx = d->branch,
                                     .lddx = c->width,
                                     .dweight = decoder_gradient(d, at.weight),
                                     .dbias = decoder_gradient(d, at.bias)};
    return szgi_network_linear_backward(context, &inner, &gradient);
}

szg_status szgi_decoder_finish_backward(szg_context *context, szgi_decoder *d, int64_t l) {
    const szg_model_config *c = decoder_config(d);
    const model_layer *weights = &d->model->layer[l];
    const decoder_layer *layer = &d->layer[l];
    int64_t values = c->heads * d->model->d_v;
    decoder_columns dy;
    SZG_TRY(undrop(context, d, SZGI_PLACE_FEED_FORWARD, l, &dy));
    SZG_TRY(szgi_decoder_linear_backward(context, d, weights->outer, c->hidden, c->width,
                                         (decoder_columns){layer->hidden, c->hidden}, dy,
                                         (decoder_columns){d->dhidden, c->hidden}, false));
    SZG_TRY(szgi_decoder_norm(context, d, weights->norm2, layer->middle, layer->mean2,
                              layer->inverse2)); /* not kept: made again */
    SZG_TRY(inner_backward(context, d, l));
    SZG_TRY(szgi_decoder_norm_backward(context, d, weights->norm2, layer->middle, layer->mean2,
                                       layer->inverse2, d->branch));
    SZG_TRY(undrop(context, d, SZGI_PLACE_ATTENTION_OUTPUT, l, &dy));
    return szgi_decoder_linear_backward(context, d, weights->out, values, c->width,
                                        (decoder_columns){layer->heads, values}, dy,
                                        (decoder_columns){d->dheads, values}, false);
}
