/* What the files of the decoder share. Shapes: rows = sequences x positions of the batch, width =
 * numbers of the residual stream; all arrays are the backend's. */
#ifndef SZG_DECODER_PRIVATE_H
#define SZG_DECODER_PRIVATE_H

#include "model_private.h"

#define DECODER_NORM_EPS 1e-5

/* What a layer keeps for its backward pass. An evaluation decoder has these arrays once for all
 * layers, and its three stages of the stream are one array. */
typedef struct decoder_layer {
    void *stream;           /* [rows][width]: what the layer is entered with */
    void *mean1, *inverse1; /* [rows], of norm1; NULL in evaluation, as below */
    void *projected; /* [rows][3 width]: q, k, v; mla: [rows][latent_query + latent_kv + d_r] */
    void *up_query;  /* mla: [rows][heads d_c + rotary queries] */
    void *up_kv;     /* mla: [rows][heads d_c + heads d_v] */
    void *log_sum;   /* [batch][heads][length] */
    void *kept;      /* attention's dropout mask: decoder.kept bytes; NULL: none */
    void *heads;     /* [rows][heads d_v]: attention's output */
    void *middle;    /* [rows][width]: the stream after attention */
    void *mean2, *inverse2; /* [rows] */
    void *hidden, *before;  /* [rows][hidden], after and (GELU) before the activation */
} decoder_layer;

struct szgi_decoder {
    szg_model *model;
    int64_t batch, length; /* capacity */
    bool training;
    szgi_step_block *block;
    int64_t real; /* bytes of a real number */
    int64_t kept; /* of a layer's szgi_attention.kept */

    /* The batch at hand. */
    int64_t count, n, rows; /* sequences, with all copies; positions; count n */
    int64_t copies;         /* of the sequences */
    int64_t latest;         /* layer */
    bool labelled, zeroed, classified;
    int32_t *tokens, *lengths, *labels; /* [batch length], [batch], [batch] */

    decoder_layer *layer;      /* [layers + 1]; the last has a stream only */
    void *normed, *branch;     /* [rows][width] */
    void *joined_q, *joined_k; /* mla: [rows][heads d_qk] */
    void *bias;                /* [heads][2 length - 1] */
    void *position_sum;        /* [length][width], where two tables are trained */
    void *final_mean, *final_inverse, *pooled, *logits; /* [rows], [rows], [batch][width],
                                                           [batch][classes] */
    szgi_attention attention;                           /* of the latest layer */

    /* The backward pass. */
    void *gradient;              /* like the model's arena; the caller's */
    void *dstream, *dembedded;   /* [rows][width] */
    void *dheads;                /* [rows][heads d_v] */
    void *dprojected, *dhidden;  /* as projected and hidden; one memory */
    void *djoined_q, *djoined_k; /* mla */
    void *dup_query, *dup_kv;    /* mla; the first is joined_q's memory, which is read before */
    void *dbias, *dpooled, *dlogits;
    void *memory;
};

/* One allocation for all arrays. */
SZG_CHECK_RESULT szg_status szgi_decoder_open_memory(szg_context *context, szgi_decoder *decoder);

static inline const szg_model_config *decoder_config(const szgi_decoder *decoder) {
    return &decoder->model->config.model;
}

/* Number `at` of an array: an address. */
static inline void *decoder_at(const szgi_decoder *decoder, const void *array, int64_t at) {
    return (char *)array + at * decoder->real;
}

/* The parameter at an offset; NULL: there is none. */
static inline void *decoder_weight(const szgi_decoder *decoder, int64_t offset) {
    return offset < 0 ? NULL : decoder_at(decoder, decoder->model->arena, offset);
}

static inline void *decoder_gradient(const szgi_decoder *decoder, int64_t offset) {
    return offset < 0 ? NULL : decoder_at(decoder, decoder->gradient, offset);
}

/* Columns of projected, and of them those that are made from the layer's own input in any case. */
int64_t szgi_decoder_projected(const szg_model *model);
int64_t szgi_decoder_own(const szg_model *model);

/* ---- decoder_parts.c: calls of one operation, with a parameter's address filled in ---- */

/* Columns of a matrix [rows][ld]. */
typedef struct decoder_columns {
    void *at;
    int64_t ld;
} decoder_columns;

/* y = x W^T + bias for parameters that stand one after the other from `at` on, `out` columns. */
SZG_CHECK_RESULT szg_status szgi_decoder_linear(szg_context *context, const szgi_decoder *decoder,
                                                model_linear at, int64_t in, int64_t out,
                                                decoder_columns x, decoder_columns y);
/* Adds the gradients of the parameters; dx: written, added to, or NULL. */
SZG_CHECK_RESULT szg_status szgi_decoder_linear_backward(szg_context *context,
                                                         const szgi_decoder *decoder,
                                                         model_linear at, int64_t in, int64_t out,
                                                         decoder_columns x, decoder_columns dy,
                                                         decoder_columns dx, bool add_dx);

/* normed = layer norm of x. */
SZG_CHECK_RESULT szg_status szgi_decoder_norm(szg_context *context, const szgi_decoder *decoder,
                                              model_linear at, const void *x, void *mean,
                                              void *inverse);
/* dstream += the gradient through the norm of `dy`. */
SZG_CHECK_RESULT szg_status szgi_decoder_norm_backward(szg_context *context,
                                                       const szgi_decoder *decoder, model_linear at,
                                                       const void *x, void *mean, void *inverse,
                                                       const void *dy);

/* Off in evaluation and at places that are switched off. */
szgi_dropout szgi_decoder_dropout(const szgi_decoder *decoder, szgi_network_place place,
                                  int64_t layer);

/* ---- decoder.c: what both passes call with ---- */

/* SZG_EINVAL for no layer of the model, or before the embedding; SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_decoder_check_layer(szg_context *context, szgi_decoder *decoder,
                                                     int64_t layer);
szgi_embedding szgi_decoder_embedding(const szgi_decoder *decoder); /* without trained rows */
szgi_pooling szgi_decoder_pooling(const szgi_decoder *decoder);
szgi_linear szgi_decoder_classifier(const szgi_decoder *decoder);
/* Of copy `copy`; dlogits and block may be NULL. */
SZG_CHECK_RESULT szg_status szgi_decoder_cross_entropy(szg_context *context, szgi_decoder *decoder,
                                                       int64_t copy, void *dlogits,
                                                       szgi_tally *tally, szgi_step_block *block);

/* ---- decoder_attention.c, decoder_latent.c, decoder_feed.c: the halves of a layer ---- */

/* Arguments of the layer's attention from its kept arrays. mla joins its queries and keys anew. */
SZG_CHECK_RESULT szg_status szgi_decoder_arguments(szg_context *context, szgi_decoder *decoder,
                                                   int64_t layer);
/* From dheads to dstream, by way of the attention. */
SZG_CHECK_RESULT szg_status szgi_decoder_attend_backward(szg_context *context,
                                                         szgi_decoder *decoder, int64_t layer);

/* mla: up_query and up_kv from projected. */
SZG_CHECK_RESULT szg_status szgi_decoder_expand(szg_context *context, szgi_decoder *decoder,
                                                int64_t layer);
/* mla: joined_q and joined_k from projected, up_query and up_kv. */
SZG_CHECK_RESULT szg_status szgi_decoder_join(szg_context *context, szgi_decoder *decoder,
                                              int64_t layer);
/* mla: from djoined_q, djoined_k and dup_kv's values to dprojected. */
SZG_CHECK_RESULT szg_status szgi_decoder_expand_backward(szg_context *context,
                                                         szgi_decoder *decoder, int64_t layer);

/* From dstream after the layer to dheads and to dstream before the layer, without the attention. */
SZG_CHECK_RESULT szg_status szgi_decoder_finish_backward(szg_context *context,
                                                         szgi_decoder *decoder, int64_t layer);

#endif
