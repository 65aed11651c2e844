/* Multi-head latent attention: queries, keys and values from compressed vectors (DeepSeek-AI 2024).
 *   projected = c_q [latent_query], c_kv [latent_kv], k_r [d_r]
 *   up_query  = W_UQ c_q [heads d_c], W_QR c_q [heads d_r, or d_r for all heads]
 *   up_kv     = W_UK c_kv [heads d_c], W_UV c_kv [heads d_v]
 *   q_h = (content of up_query; rotary of up_query), k_h = (keys of up_kv; k_r) */
#include "decoder_private.h"

typedef struct latent_sizes {
    int64_t query, kv, content, up_query, up_kv, projected;
} latent_sizes;

static latent_sizes sizes_of(const szgi_decoder *d) {
    const szg_model *model = d->model;
    const szg_model_config *c = decoder_config(d);
    int64_t content = c->heads * model->d_content;
    return (latent_sizes){.query = c->latent_query,
                          .kv = c->latent_kv,
                          .content = content,
                          .up_query = content + model->rotary_queries,
                          .up_kv = content + c->heads * model->d_v,
                          .projected = szgi_decoder_projected(model)};
}

szg_status szgi_decoder_expand(szg_context *context, szgi_decoder *d, int64_t l) {
    const model_layer *weights = &d->model->layer[l];
    const decoder_layer *layer = &d->layer[l];
    latent_sizes s = sizes_of(d);
    decoder_columns compressed_q = {layer->projected, s.projected};
    decoder_columns compressed_kv = {decoder_at(d, layer->projected, s.query), s.projected};
    SZG_TRY(szgi_decoder_linear(context, d, weights->query_up, s.query, s.up_query, compressed_q,
                                (decoder_columns){layer->up_query, s.up_query}));
    return szgi_decoder_linear(context, d, weights->key_up, s.kv, s.up_kv, compressed_kv,
                               (decoder_columns){layer->up_kv, s.up_kv});
}

static szgi_join query_join(const szgi_decoder *d, latent_sizes s) {
    const szg_model *model = d->model;
    return (szgi_join){.rows = d->rows,
                       .heads = decoder_config(d)->heads,
                       .width_a = model->d_content,
                       .width_b = model->d_rotary,
                       .shared_b = decoder_config(d)->rotary_queries == SZG_QUERIES_SHARED,
                       .lda = s.up_query,
                       .ldb = s.up_query,
                       .ldout = decoder_config(d)->heads * model->d_qk};
}

static szgi_join key_join(const szgi_decoder *d, latent_sizes s) {
    szgi_join join = query_join(d, s);
    join.shared_b = true;
    join.lda = s.up_kv;
    join.ldb = s.projected;
    return join;
}

szg_status szgi_decoder_join(szg_context *context, szgi_decoder *d, int64_t l) {
    const decoder_layer *layer = &d->layer[l];
    latent_sizes s = sizes_of(d);
    szgi_join query = query_join(d, s), key = key_join(d, s);
    SZG_TRY(szgi_network_join(context, &query, layer->up_query,
                              decoder_at(d, layer->up_query, s.content), d->joined_q));
    return szgi_network_join(context, &key, layer->up_kv,
                             decoder_at(d, layer->projected, s.query + s.kv), d->joined_k);
}

/* Attention is done with joined_q: its memory takes dup_query. */
static szg_status split(szg_context *context, szgi_decoder *d, latent_sizes s) {
    szgi_join query = query_join(d, s), key = key_join(d, s);
    SZG_TRY(szgi_network_join_backward(context, &query, d->djoined_q, d->dup_query,
                                       decoder_at(d, d->dup_query, s.content)));
    return szgi_network_join_backward(context, &key, d->djoined_k, d->dup_kv,
                                      decoder_at(d, d->dprojected, s.query + s.kv));
}

szg_status szgi_decoder_expand_backward(szg_context *context, szgi_decoder *d, int64_t l) {
    const model_layer *weights = &d->model->layer[l];
    const decoder_layer *layer = &d->layer[l];
    latent_sizes s = sizes_of(d);
    decoder_columns compressed_q = {layer->projected, s.projected};
    decoder_columns compressed_kv = {decoder_at(d, layer->projected, s.query), s.projected};
    SZG_TRY(split(context, d, s));
    SZG_TRY(szgi_decoder_linear_backward(context, d, weights->query_up, s.query, s.up_query,
                                         compressed_q, (decoder_columns){d->dup_query, s.up_query},
                                         (decoder_columns){d->dprojected, s.projected}, false));
    return szgi_decoder_linear_backward(
        context, d, weights->key_up, s.kv, s.up_kv, compressed_kv,
        (decoder_columns){d->dup_kv, s.up_kv},
        (decoder_columns){decoder_at(d, d->dprojected, s.query), s.projected}, false);
}
