/* What the files of the model, and the decoder's, share. */
#ifndef SZG_MODEL_PRIVATE_H
#define SZG_MODEL_PRIVATE_H

#include "decoder.h"

/* How a parameter starts. */
typedef enum model_start {
    START_NORMAL,  /* normal(0, 1) */
    START_UNIFORM, /* uniform(+-1/sqrt(fan_in)) */
    START_ONES,
    START_ZEROS,
    START_ENCODING /* the encoding's table or seed */
} model_start;

typedef struct model_start_of {
    model_start start;
    int64_t fan_in;
} model_start_of;

/* Offsets in the arena of the parts of one linear layer; -1: none. */
typedef struct model_linear {
    int64_t weight, bias;
} model_linear;

/* Layers of the same input stand next to each other: one product serves query, key and value;
 * query_down, kv_down and rotary_key; query_up and rotary_query; key_up and value_up. */
typedef struct model_layer {
    model_linear norm1, norm2;        /* [width] each */
    model_linear query, key, value;   /* [width, width] */
    model_linear query_down, kv_down; /* mla: [latent_query, width], [latent_kv, width] */
    model_linear rotary_key;          /* mla: [d_r, width] */
    model_linear query_up;            /* mla: [heads d_c, latent_query] */
    model_linear rotary_query;        /* mla: [heads d_r or d_r, latent_query] */
    model_linear key_up, value_up;    /* mla: [heads d_c, latent_kv], [heads d_v, latent_kv] */
    int64_t lags;                     /* [table rows, heads] of the encoding; -1: none */
    model_linear out;                 /* [width, heads d_v] */
    model_linear inner, outer;        /* [hidden, width], [width, hidden] */
} model_layer;

/* The encoding's arrays that are not trained, in the backend's memory. */
typedef struct model_positions {
    void *fixed;         /* [max_length][width] added to the tokens; NULL: none */
    int64_t rows;        /* of the array of lags; 0: no bias */
    int32_t *row_of_lag; /* [2 max_length - 1] */
    void *lags;          /* [rows][heads], unless they are trained */
    int64_t pairs, offset;
    bool half;
    int64_t factor_stride; /* numbers; 0: all heads share */
    void *factors;         /* [1 or heads][max_length][pairs] of (re, im) */
} model_positions;

/* Factors of a layer some of whose heads are left unrotated; see model_rotation.c. */
typedef struct model_unrotated {
    int64_t count; /* heads that are; 0: the layer takes the model's factors */
    bool *head;    /* [heads]; NULL: none yet */
    void *factors; /* [heads][max_length][pairs] of (re, im) */
} model_unrotated;

/* A layer's factors for its attention. */
typedef struct model_factors {
    const void *factors;
    int64_t stride; /* numbers between heads; 0: all heads share */
} model_factors;

struct szg_model {
    szg_train_config config;
    szg_encoding *encoding;
    int64_t classes;
    bool decoupled;                    /* mla */
    int64_t d_content, d_rotary;       /* mla; else d_content = d_qk */
    int64_t d_qk, d_v, rotary_queries; /* columns of the rotary queries */

    int64_t parameters, count; /* tensors and numbers that are trained */
    int64_t tensors, numbers;  /* and those that are frozen, behind them */
    szgi_parameter *parameter;
    model_start_of *start;

    int64_t embedding, position_rows, extra_rows; /* offsets; -1: none */
    model_layer *layer;
    model_linear final_norm, classifier;

    szgi_encoding_table table;
    bool table_trained;
    model_positions positions;
    bool intervened;
    model_unrotated *unrotated; /* [layers] */
    void *ones;                 /* factors [max_length][pairs] of a head that does not rotate; NULL:
                                   none yet */
    void *arena;
};

/* Fills parameter, start, layer and the offsets. */
SZG_CHECK_RESULT szg_status szgi_model_list_parameters(szg_context *context, szg_model *model);

/* Draws tensor `index` anew, as szgi_model_initialise does. */
SZG_CHECK_RESULT szg_status szgi_model_initialise_tensor(szg_context *context, szg_model *model,
                                                         uint64_t seed, int64_t index);
/* Whether the encoding's SPEC alone decides its array: it has table= or seed=. */
bool szgi_model_table_given(const szg_model *model);

SZG_CHECK_RESULT szg_status szgi_model_open_positions(szg_context *context, szg_model *model);
void szgi_model_close_positions(szg_context *context, szg_model *model);

/* The factors that a layer's attention takes now, if it rotates. */
model_factors szgi_model_factors_of(const szg_model *model, int64_t layer);
void szgi_model_close_rotation(szg_context *context, szg_model *model);

/* `count` doubles of the host as the backend's real numbers, and back. */
SZG_CHECK_RESULT szg_status szgi_model_upload(szg_context *context, void *to, const double *from,
                                              int64_t count);

/* szgi_device_alloc; SZG_ENOMEM says which of the model's and the loop's sizes make `what` large.
 */
SZG_CHECK_RESULT szg_status szgi_model_alloc(szg_context *context, int64_t bytes, const char *what,
                                             void *out);

/* Number `at` of an array of the backend's real numbers: an address, never read here. */
static inline void *model_at(szg_context *context, const void *array, int64_t at) {
    return (char *)array + at * szgi_network_real_size(context);
}

/* Operations a token of a model that is not opened: a preset's list asks it of hundreds. */
SZG_CHECK_RESULT szg_status szgi_model_count_operations(szg_context *context,
                                                        const szg_train_config *config,
                                                        int64_t classes,
                                                        szgi_model_operations *out);

#endif
