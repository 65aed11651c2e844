/* The first half of a layer: norm, queries, keys and values, attention; and its mirror image. */
#include "decoder_private.h"

/* ---- Queries, keys, values ---- */

/* The columns of projected in one product, or in two where keys and values come from the
 * embeddings: queries (mla: compressed ones) first. */
typedef struct projection {
    int64_t own, rest; /* columns of the two */
    model_linear first, second;
    decoder_columns from_own, from_rest; /* inputs [rows][width] */
} projection;

static projection projection_of(const szgi_decoder *d, int64_t l) {
    const szg_model *model = d->model;
    const model_layer *layer = &model->layer[l];
    int64_t total = szgi_decoder_projected(model), width = decoder_config(d)->width;
    bool one = decoder_config(d)->keys_values == SZG_KEYS_SELF;
    int64_t own = one ? total : szgi_decoder_own(model);
    return (projection){.own = own,
                        .rest = total - own,
                        .first = model->decoupled ? layer->query_down : layer->query,
                        .second = model->decoupled ? layer->kv_down : layer->key,
                        .from_own = {d->normed, width},
                        .from_rest = {d->layer[0].stream, width}};
}

static szg_status project(szg_context *context, szgi_decoder *d, int64_t l) {
    projection p = projection_of(d, l);
    void *out = d->layer[l].projected;
    int64_t width = decoder_config(d)->width, total = p.own + p.rest;
    SZG_TRY(szgi_decoder_linear(context, d, p.first, width, p.own, p.from_own,
                                (decoder_columns){out, total}));
    if (p.rest == 0)
        return SZG_OK;
    return szgi_decoder_linear(context, d, p.second, width, p.rest, p.from_rest,
                               (decoder_columns){decoder_at(d, out, p.own), total});
}

/* The gradient of the layer's input goes to branch, the embeddings' is gathered in dembedded. */
static szg_status project_backward(szg_context *context, szgi_decoder *d, int64_t l) {
    projection p = projection_of(d, l);
    int64_t width = decoder_config(d)->width, total = p.own + p.rest;
    SZG_TRY(szgi_decoder_linear_backward(context, d, p.first, width, p.own, p.from_own,
                                         (decoder_columns){d->dprojected, total},
                                         (decoder_columns){d->branch, width}, false));
    if (p.rest == 0)
        return SZG_OK;
    return szgi_decoder_linear_backward(
        context, d, p.second, width, p.rest, p.from_rest,
        (decoder_columns){decoder_at(d, d->dprojected, p.own), total},
        (decoder_columns){d->dembedded, width}, true);
}

/* ---- Arguments of the attention ---- */

static bool rotates(const szgi_decoder *d, int64_t l) {
    return szgi_index_list_has(&decoder_config(d)->rotated_layers, l);
}

static szgi_bias_rows bias_rows(const szgi_decoder *d) {
    const model_positions *p = &d->model->positions;
    return (szgi_bias_rows){.heads = decoder_config(d)->heads,
                            .lags = 2 * d->n - 1,
                            .rows = p->rows,
                            .row_of_lag = p->row_of_lag + (decoder_config(d)->max_length - d->n)};
}

/* bias [heads][2 n - 1] of a layer from its table, or from the encoding's. */
static szg_status fill_bias(szg_context *context, szgi_decoder *d, int64_t l) {
    int64_t trained = d->model->layer[l].lags;
    const void *table = trained < 0 ? d->model->positions.lags : decoder_weight(d, trained);
    szgi_bias_rows rows = bias_rows(d);
    d->attention.bias = d->bias;
    return szgi_network_bias(context, &rows, table, d->bias);
}

static void set_vectors(szgi_decoder *d, int64_t l) {
    const szg_model *model = d->model;
    const szg_model_config *c = decoder_config(d);
    const decoder_layer *layer = &d->layer[l];
    szgi_attention *a = &d->attention;
    if (model->decoupled) {
        a->q = d->joined_q;
        a->k = d->joined_k;
        a->v = decoder_at(d, layer->up_kv, c->heads * model->d_content);
        a->ldq = a->ldk = c->heads * model->d_qk;
        a->ldv = c->heads * (model->d_content + model->d_v);
    } else {
        a->q = layer->projected;
        a->k = decoder_at(d, layer->projected, c->width);
        a->v = decoder_at(d, layer->projected, 2 * c->width);
        a->ldq = a->ldk = a->ldv = 3 * c->width;
    }
}

szg_status szgi_decoder_arguments(szg_context *context, szgi_decoder *d, int64_t l) {
    const szg_model *model = d->model;
    const szg_model_config *c = decoder_config(d);
    const model_positions *p = &model->positions;
    const model_factors rotation = szgi_model_factors_of(model, l);
    d->attention = (szgi_attention){.batch = d->count,
                                    .heads = c->heads,
                                    .length = d->n,
                                    .d_qk = model->d_qk,
                                    .d_v = model->d_v,
                                    .scale = 1 / __builtin_sqrt((double)model->d_qk),
                                    .pairs = rotates(d, l) ? p->pairs : 0,
                                    .rotary_offset = p->offset,
                                    .factor_stride = rotation.stride,
                                    .half = p->half,
                                    .q_factors = rotation.factors,
                                    .k_factors = rotation.factors,
                                    .causal = c->mask == SZG_MASK_CAUSAL,
                                    .lengths = c->mask_padding ? d->lengths : NULL,
                                    .dropout = szgi_decoder_dropout(d, SZGI_PLACE_ATTENTION, l),
                                    .out = d->layer[l].heads,
                                    .ldout = c->heads * model->d_v,
                                    .log_sum = d->layer[l].log_sum,
                                    .kept = d->layer[l].kept};
    if (model->decoupled)
        SZG_TRY(szgi_decoder_join(context, d, l));
    set_vectors(d, l);
    return p->rows ? fill_bias(context, d, l) : SZG_OK;
}

/* ---- The half of a layer ---- */

szg_status szgi_decoder_attend(szg_context *context, szgi_decoder *decoder, int64_t l) {
    SZG_TRY(szgi_decoder_check_layer(context, decoder, l));
    const decoder_layer *layer = &decoder->layer[l];
    SZG_TRY(szgi_decoder_norm(context, decoder, decoder->model->layer[l].norm1, layer->stream,
                              layer->mean1, layer->inverse1));
    SZG_TRY(project(context, decoder, l));
    if (decoder->model->decoupled)
        SZG_TRY(szgi_decoder_expand(context, decoder, l));
    SZG_TRY(szgi_decoder_arguments(context, decoder, l));
    return szgi_network_attention(context, &decoder->attention);
}

static szgi_attention_gradient gradient_of(const szgi_decoder *d, int64_t l) {
    const szg_model *model = d->model;
    const szg_model_config *c = decoder_config(d);
    const szgi_attention *a = &d->attention;
    szgi_attention_gradient g = {.dout = d->dheads,
                                 .lddout = a->ldout,
                                 .dq = d->dprojected,
                                 .dk = decoder_at(d, d->dprojected, c->width),
                                 .dv = decoder_at(d, d->dprojected, 2 * c->width),
                                 .lddq = a->ldq,
                                 .lddk = a->ldk,
                                 .lddv = a->ldv,
                                 .dbias = model->layer[l].lags < 0 ? NULL : d->dbias};
    if (model->decoupled) {
        g.dq = d->djoined_q;
        g.dk = d->djoined_k;
        g.dv = decoder_at(d, d->dup_kv, c->heads * model->d_content);
    }
    return g;
}

/* Attention, and the trained bias. */
static szg_status weigh_backward(szg_context *context, szgi_decoder *d, int64_t l) {
    szgi_attention_gradient gradient = gradient_of(d, l);
    szgi_bias_rows rows = bias_rows(d);
    if (gradient.dbias)
        SZG_TRY(szgi_device_clear(context, d->dbias, rows.heads * rows.lags * d->real));
    SZG_TRY(szgi_network_attention_backward(context, &d->attention, &gradient));
    if (!gradient.dbias)
        return SZG_OK;
    return szgi_network_bias_backward(context, &rows, d->dbias,
                                      decoder_gradient(d, d->model->layer[l].lags));
}

szg_status szgi_decoder_attend_backward(szg_context *context, szgi_decoder *d, int64_t l) {
    const decoder_layer *layer = &d->layer[l];
    model_linear norm1 = d->model->layer[l].norm1;
    SZG_TRY(szgi_decoder_arguments(context, d, l));
    SZG_TRY(weigh_backward(context, d, l));
    if (d->model->decoupled)
        SZG_TRY(szgi_decoder_expand_backward(context, d, l));
    /* The norm's output was not kept: one pass over the stream makes it again. */
    SZG_TRY(szgi_decoder_norm(context, d, norm1, layer->stream, layer->mean1, layer->inverse1));
    SZG_TRY(project_backward(context, d, l));
    return szgi_decoder_norm_backward(context, d, norm1, layer->stream, layer->mean1,
                                      layer->inverse1, d->branch);
}
