/* Single operations of the decoder with parameters, gradients and switches filled in. */
#include <inttypes.h>

#include "base/context.h"
#include "decoder_private.h"

int64_t szgi_decoder_projected(const szg_model *model) {
    const szg_model_config *c = &model->config.model;
    return model->decoupled ? c->latent_query + c->latent_kv + model->d_rotary : 3 * c->width;
}

int64_t szgi_decoder_own(const szg_model *model) {
    return model->decoupled ? model->config.model.latent_query : model->config.model.width;
}

szg_status szgi_decoder_check_layer(szg_context *context, szgi_decoder *decoder, int64_t layer) {
    if (layer < 0 || layer >= decoder_config(decoder)->layers || decoder->count == 0)
        return szgi_fail(context, SZG_EINVAL,
                         "decoder: layer %" PRId64 " of %" PRId64 " with %" PRId64
                         " sequences embedded",
                         layer, decoder_config(decoder)->layers, decoder->count);
    decoder->latest = layer;
    return szgi_context_check_cancel(context);
}

static szgi_linear arguments(const szgi_decoder *decoder, model_linear at, int64_t in, int64_t out,
                             decoder_columns x, decoder_columns y) {
    return (szgi_linear){.rows = decoder->rows,
                         .in = in,
                         .out = out,
                         .x = x.at,
                         .ldx = x.ld,
                         .weight = decoder_weight(decoder, at.weight),
                         .bias = decoder_weight(decoder, at.bias),
                         .y = y.at,
                         .ldy = y.ld};
}

szg_status szgi_decoder_linear(szg_context *context, const szgi_decoder *decoder, model_linear at,
                               int64_t in, int64_t out, decoder_columns x, decoder_columns y) {
    szgi_linear linear = arguments(decoder, at, in, out, x, y);
    return szgi_network_linear(context, &linear);
}

szg_status szgi_decoder_linear_backward(szg_context *context, const szgi_decoder *decoder,
                                        model_linear at, int64_t in, int64_t out, decoder_columns x,
                                        decoder_columns dy, decoder_columns dx, bool add_dx) {
    szgi_linear linear = arguments(decoder, at, in, out, x, dy);
    szgi_linear_gradient gradient = {.dy = dy.at,
                                     .lddy = dy.ld,
                                     .dx = dx.at,
                                     .lddx = dx.ld,
                                     .add_dx = add_dx,
                                     .dweight = decoder_gradient(decoder, at.weight),
                                     .dbias = decoder_gradient(decoder, at.bias)};
    return szgi_network_linear_backward(context, &linear, &gradient);
}

static szgi_layer_norm norm_of(const szgi_decoder *decoder, model_linear at, const void *x,
                               void *mean, void *inverse) {
    return (szgi_layer_norm){.rows = decoder->rows,
                             .width = decoder_config(decoder)->width,
                             .x = x,
                             .gamma = decoder_weight(decoder, at.weight),
                             .beta = decoder_weight(decoder, at.bias),
                             .eps = DECODER_NORM_EPS,
                             .y = decoder->normed,
                             .mean = mean,
                             .inverse = inverse};
}

szg_status szgi_decoder_norm(szg_context *context, const szgi_decoder *decoder, model_linear at,
                             const void *x, void *mean, void *inverse) {
    szgi_layer_norm norm = norm_of(decoder, at, x, mean, inverse);
    return szgi_network_layer_norm(context, &norm);
}

szg_status szgi_decoder_norm_backward(szg_context *context, const szgi_decoder *decoder,
                                      model_linear at, const void *x, void *mean, void *inverse,
                                      const void *dy) {
    szgi_layer_norm norm = norm_of(decoder, at, x, mean, inverse);
    szgi_layer_norm_gradient gradient = {.dy = dy,
                                         .dx = decoder->dstream,
                                         .add_dx = dy != decoder->dstream,
                                         .dgamma = decoder_gradient(decoder, at.weight),
                                         .dbeta = decoder_gradient(decoder, at.bias)};
    return szgi_network_layer_norm_backward(context, &norm, &gradient);
}

static bool is_switched_on(const szg_model_config *c, szgi_network_place place) {
    switch (place) {
    case SZGI_PLACE_ATTENTION:
        return c->dropout_attention;
    case SZGI_PLACE_ATTENTION_OUTPUT:
        return c->dropout_attention_output;
    case SZGI_PLACE_HIDDEN:
        return c->dropout_hidden;
    case SZGI_PLACE_FEED_FORWARD:
        return c->dropout_feed_forward;
    }
    return false;
}

szgi_dropout szgi_decoder_dropout(const szgi_decoder *decoder, szgi_network_place place,
                                  int64_t layer) {
    const szg_model_config *c = decoder_config(decoder);
    bool on = decoder->training && is_switched_on(c, place);
    return (szgi_dropout){.probability = on ? c->dropout : 0,
                          .purpose = szgi_network_purpose(place, layer),
                          .block = decoder->block};
}
