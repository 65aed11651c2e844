/* The decoder: its parameters (szg_model), and passes over batches (szgi_decoder). Written once,
 * with the operations of "network/network.h": it runs on every backend. */
#ifndef SZEGO_TRAIN_DECODER_H
#define SZEGO_TRAIN_DECODER_H

#include "encoding/encoding.h"
#include "train/config/train_config.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- Parameters ---- */

/* A tensor of the arena. Names and shapes ([out, in]) are PyTorch's: layers.0.q_linear.weight. */
typedef struct szgi_parameter {
    char name[64];
    int dims; /* 1 or 2 */
    int64_t shape[2], count;
    int64_t offset; /* in numbers, from the arena's begin */
    int64_t layer;  /* -1: none */
    bool frozen;    /* not trained: behind the parameters, in no gradient and no moment */
} szgi_parameter;

typedef struct szg_model szg_model;

/* The parameters of a configuration in the memory of the context's backend, zeros. classes: output
 * width where the configuration says `labels`. Keeps a copy of the configuration. SZG_EINVAL,
 * SZG_ENOMEM, errors of szg_encoding_parse. */
SZG_CHECK_RESULT szg_status szgi_model_open(szg_context *context, const szg_train_config *config,
                                            int64_t classes, szg_model **out);

const szg_train_config *szgi_model_settings(const szg_model *model);
const szg_encoding *szgi_model_encoding(const szg_model *model);
int64_t szgi_model_classes(const szg_model *model);
int64_t szgi_model_parameters(const szg_model *model); /* number of tensors that are trained */
int64_t szgi_model_tensors(const szg_model *model);    /* and of all: frozen ones come last */
/* A tensor by index; NULL: none. */
const szgi_parameter *szgi_model_parameter(const szg_model *model, int64_t index);
const szgi_parameter *szgi_model_find(const szg_model *model, const char *name); /* NULL: none */
int64_t szgi_model_count(const szg_model *model);   /* numbers that are trained */
int64_t szgi_model_numbers(const szg_model *model); /* numbers in the arena: frozen ones behind */
void *szgi_model_arena(const szg_model *model);     /* [numbers], the backend's memory */

/* PyTorch's initial values, drawn on the host: embeddings normal(0, 1), linear weights and biases
 * uniform(+-1/sqrt(fan_in)), norms 1 and 0, tables as their encoding says. Stream: {seed, index of
 * the parameter, purpose}. */
SZG_CHECK_RESULT szg_status szgi_model_initialise(szg_context *context, szg_model *model,
                                                  uint64_t seed);

/* Numbers start .. start + count - 1 of the arena (or of another array of szgi_model_count
 * numbers), as doubles on the host. */
SZG_CHECK_RESULT szg_status szgi_model_read(szg_context *context, const szg_model *model,
                                            const void *arena, int64_t start, int64_t count,
                                            double *out);
SZG_CHECK_RESULT szg_status szgi_model_write(szg_context *context, szg_model *model, void *arena,
                                             int64_t start, int64_t count, const double *values);

/* Floating-point operations a token: forward, and forward with backward, counted from shapes
 * (multiplications and additions of linear layers and attention products). */
typedef struct szgi_model_operations {
    double forward, training;
} szgi_model_operations;
szgi_model_operations szgi_model_operations_per_token(const szg_model *model);

/* ---- What belongs to a head ---- */

/* A parameter of a layer whose rows, or columns, are shared out evenly to the heads. */
typedef struct szgi_head_share {
    const szgi_parameter *parameter;
    bool by_columns;
    bool projects;     /* one of W_Q, W_K, W_V and W_O, without biases */
    bool queries_keys; /* one of W_Q and W_K */
} szgi_head_share;

/* Those of a layer: the rows of W_Q, W_K and W_V, the columns of W_O, the rows' biases, and the
 * columns of a trained lag bias; mla: the rows of W_UQ, W_UK and W_UV, of W_QR where heads have
 * rotary queries of their own, the columns of W_O, the rows' biases. Returns how many. */
enum { SZGI_HEAD_SHARES = 9 };
int64_t szgi_model_head_shares(const szg_model *model, int64_t layer,
                               szgi_head_share shares[SZGI_HEAD_SHARES]);

/* ---- Heads that are left unrotated ---- */

/* Whether the intervention of the configuration has begun. A model is opened without it. Where it
 * has, intervention.kind=rotation leaves its head unrotated: the factors of its pairs are 1. */
SZG_CHECK_RESULT szg_status szgi_model_intervene(szg_context *context, szg_model *model,
                                                 bool begun);
bool szgi_model_intervened(const szg_model *model);

/* Leaves one more head of a layer unrotated (head = heads: all of them), in place of the one that
 * an earlier call has left in it; -1: none. */
SZG_CHECK_RESULT szg_status szgi_model_unrotate(szg_context *context, szg_model *model,
                                                int64_t layer, int64_t head);

/* ---- Passes ---- */

/* A batch on the host: tokens [count][length], 0 beyond lengths[b]; labels may be NULL where there
 * is no loss. */
typedef struct szgi_batch {
    int64_t count, length;
    const int32_t *tokens, *lengths, *labels;
} szgi_batch;

/* Activations for batches of up to `batch` sequences of up to `length` positions. training: keeps
 * what the backward pass needs; else layers share their arrays and nothing drops out. */
typedef struct szgi_decoder szgi_decoder;
SZG_CHECK_RESULT szg_status szgi_decoder_open(szg_context *context, szg_model *model, int64_t batch,
                                              int64_t length, bool training, szgi_decoder **out);
void szgi_decoder_close(szg_context *context, szgi_decoder **decoder);

/* Takes a batch of a set that is in the backend's memory already, where the host has checked it:
 * `gather` without its tokens, lengths and labels, which are the decoder's own arrays. Then embed
 * and forward are called without a batch. */
SZG_CHECK_RESULT szg_status szgi_decoder_gather(szg_context *context, szgi_decoder *decoder,
                                                const szgi_gather *gather);

/* The forward pass in pieces, in this order: embed (uploads the batch; NULL: the one at hand), then
 * for each layer attend and finish, then classify. zero_positions: input rows, sinusoids and extra
 * tables count as zeros (what `content_kind` zeroed means); the rotation and the bias stay. */
SZG_CHECK_RESULT szg_status szgi_decoder_embed(szg_context *context, szgi_decoder *decoder,
                                               const szgi_batch *batch, bool zero_positions);
SZG_CHECK_RESULT szg_status szgi_decoder_attend(szg_context *context, szgi_decoder *decoder,
                                                int64_t layer);
SZG_CHECK_RESULT szg_status szgi_decoder_finish(szg_context *context, szgi_decoder *decoder,
                                                int64_t layer);
SZG_CHECK_RESULT szg_status szgi_decoder_classify(szg_context *context, szgi_decoder *decoder);
/* All of it; batch NULL: the one at hand. */
SZG_CHECK_RESULT szg_status szgi_decoder_forward(szg_context *context, szgi_decoder *decoder,
                                                 const szgi_batch *batch);

/* Between attend and finish of a layer (not of a training decoder): the arguments of its attention
 * (for logits), the heads' outputs [rows][heads * d_v] and the residual stream [rows][width] that
 * it entered with; and after classify the logits [count][classes]. The backend's memory. */
const szgi_attention *szgi_decoder_attention(const szgi_decoder *decoder);
void *szgi_decoder_heads(const szgi_decoder *decoder);
void *szgi_decoder_stream(const szgi_decoder *decoder);
const void *szgi_decoder_logits(const szgi_decoder *decoder);

/* Lets the passes that follow work on the batch `copies` times, one after the other, where they
 * fit; not with a training decoder. After embed; the heads' outputs and the stream of the copies
 * are the caller's to fill, between attend and finish. 1: the batch alone again. */
SZG_CHECK_RESULT szg_status szgi_decoder_repeat(szg_context *context, szgi_decoder *decoder,
                                                int64_t copies);

/* Cross-entropy of the latest forward pass, added to tally[0 .. copies - 1] in the backend's
 * memory. */
SZG_CHECK_RESULT szg_status szgi_decoder_score(szg_context *context, szgi_decoder *decoder,
                                               szgi_tally *tally);

/* ---- Training ---- */

/* Sets the block that dropout reads, and that reports a loss of the backward pass that is not
 * finite (the backend's memory, kept by the caller); before forward. */
void szgi_decoder_set_block(szgi_decoder *decoder, szgi_step_block *block);

/* Gradients of the mean loss with respect to every parameter, written to `gradient` (an arena like
 * the model's, the backend's memory). After forward; adds to *tally as szgi_network_cross_entropy
 * does with the decoder's block. */
SZG_CHECK_RESULT szg_status szgi_decoder_backward(szg_context *context, szgi_decoder *decoder,
                                                  void *gradient, szgi_tally *tally);

SZGI_END_DECLS

#endif
