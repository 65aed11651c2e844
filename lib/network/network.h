/* The layers of a Transformer decoder as operations of the backend: each forward with its mirror
 * image backward. A decoder written with them runs on every backend that has them.
 *
 * Arrays live in the backend's memory (szgi_device_*): the host neither reads nor writes them, but
 * uploads and downloads. Their real numbers have szgi_network_real_size() bytes each: 4, or 8 in
 * the double-precision oracle. Matrices are row-major without gaps unless a leading dimension is
 * given, in elements. A "row" is one position of one sequence: row b * length + i.
 *
 * Each LAYER of "network/network_ops.def" is a function szgi_network_NAME(context, arguments),
 * declared at the end; what it does stands here, with its arguments.
 *
 * Gradients of parameters are added to what the array holds; gradients of inputs are written, or
 * added where the argument says so. The results do not depend on the number of threads.
 *
 * Errors of all functions: SZG_EINVAL (sizes or pointers that do not go together; the message names
 * the operation and the size), SZG_ENOMEM (scratch memory), SZG_EBACKEND (the backend has no such
 * operation, or it failed), SZG_ECANCEL. NaN and infinities propagate: szgi_network_finite finds
 * them. */
#ifndef SZEGO_NETWORK_NETWORK_H
#define SZEGO_NETWORK_NETWORK_H

#include "linalg/linalg.h"
#include "arguments.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- Memory ---- */

/* Zeroed memory of the context's backend. Free with szgi_device_free, of the same backend. */
SZG_CHECK_RESULT szg_status szgi_device_alloc(szg_context *context, int64_t bytes, void *out);
void szgi_device_free(szg_context *context, void *memory); /* NULL is allowed */
/* `from` may be changed once it returns. */
SZG_CHECK_RESULT szg_status szgi_device_upload(szg_context *context, void *to, const void *from,
                                               int64_t bytes);
/* Waits for the work that writes `from`. */
SZG_CHECK_RESULT szg_status szgi_device_download(szg_context *context, void *to, const void *from,
                                                 int64_t bytes);
SZG_CHECK_RESULT szg_status szgi_device_copy(szg_context *context, void *to, const void *from,
                                             int64_t bytes);
SZG_CHECK_RESULT szg_status szgi_device_clear(szg_context *context, void *memory, int64_t bytes);
/* Zeroes the first `bytes` bytes of each of `rows` rows that are `stride` bytes apart. */
SZG_CHECK_RESULT szg_status szgi_device_clear_columns(szg_context *context, void *memory,
                                                      int64_t rows, int64_t stride, int64_t bytes);
/* Waits until all work given to the backend is done. */
SZG_CHECK_RESULT szg_status szgi_device_sync(szg_context *context);

/* ---- Recording ----
 * A sequence of operations that comes again and again with the same arguments, given to the backend
 * once and then replayed as a whole (a CUDA graph). What changes from one replay to the next is
 * kept in arrays: szgi_network_advance.
 *
 * Between begin and end operations are recorded and not executed: their arrays keep what they hold.
 * Allowed there: copy, clear, clear_columns and the operations of the network; not alloc, free,
 * upload, download, sync (SZG_EBACKEND; a free drops the recording). The same sequence has run once
 * before without recording, so that scratch memory and plans are there: an operation that would
 * have to allocate fails. */

/* Whether the backend can; the functions below fail with SZG_EBACKEND where it cannot. */
bool szgi_device_records(szg_context *context);
SZG_CHECK_RESULT szg_status szgi_device_record_begin(szg_context *context);
/* Ends it in any case, also on failure; recording NULL: drops what was recorded, which an operation
 * that failed may have spoilt. The recorded arrays and the operations' scratch memory stay where
 * they are until the recording is closed. */
SZG_CHECK_RESULT szg_status szgi_device_record_end(szg_context *context, void **recording);
/* Executes it after all work given before, without waiting. Not while recording. */
SZG_CHECK_RESULT szg_status szgi_device_replay(szg_context *context, void *recording);
/* NULL is allowed. Waits for replays that are under way. */
void szgi_device_recording_close(szg_context *context, void *recording);

/* ---- The device's clock ----
 * A call returns before its work is done on a backend that can record; there it can be timed so. */

enum { SZGI_DEVICE_MARKS = 4096 };
/* Mark `which`, 0 <= which < SZGI_DEVICE_MARKS, is the time at which the work given before is done.
 * Not while recording. */
SZG_CHECK_RESULT szg_status szgi_device_mark(szg_context *context, int64_t which);
/* Waits for the mark `to`: seconds from `from` to it. SZG_EBACKEND: one was not set. */
SZG_CHECK_RESULT szg_status szgi_device_elapsed(szg_context *context, int64_t from, int64_t to,
                                                double *seconds);

/* Bytes of a real number in the arrays of this backend (4 where its table has no network: every
 * call of this file fails then). */
int64_t szgi_network_real_size(szg_context *context);

/* ---- What changes with each step ---- */

/* Lives in the backend's memory, so that a recorded step can be replayed with other values. The
 * host uploads it before a step, or many for szgi_network_advance, and downloads it where it wants
 * to know `finite`. 48 bytes without gaps, in C and in C++. */
typedef struct szgi_step_block {
    uint64_t seed;   /* of the dropout masks */
    uint32_t step;   /* counts from 0 over the whole run */
    uint32_t finite; /* 1; szgi_network_finite and szgi_network_cross_entropy set 0 */
    double learning_rate;
    double correction1, correction2; /* 1 - beta1^(step+1), 1 - beta2^(step+1) */
    int64_t first; /* szgi_network_gather: place of the batch's first example in the order */
} szgi_step_block;

/* advance(blocks, count, block, at), the next step: where block->finite is not 0 and *at < count,
 * *block = blocks[*at] and *at grows by 1; else nothing happens. All three are arrays of the
 * backend.
 *
 * A step is advance, gather, forward pass, backward pass, finite, adamw. One whose loss or
 * gradients are not finite freezes the run: advance, adamw and the tally do nothing from there on,
 * and every further step computes that same step again, to the same bits. Parameters and moments
 * are those before it, the block is its own, with finite = 0, and the gradients are its. */

/* What random numbers are for, in the top byte of a purpose: places of one layer never share. */
typedef enum szgi_network_place {
    SZGI_PLACE_ATTENTION =
        1, /* attention weights: index ((b * heads + h) * length + i) * length + j */
    SZGI_PLACE_ATTENTION_OUTPUT, /* index row * columns + column, here and below */
    SZGI_PLACE_HIDDEN,
    SZGI_PLACE_FEED_FORWARD
} szgi_network_place;

/* The `purpose` of "base/random.h"'s stream for a place of a layer (0 <= layer < 2^16). */
static inline uint32_t szgi_network_purpose(szgi_network_place place, int64_t layer) {
    return (uint32_t)place << 24 | (uint32_t)layer << 8 | 1U;
}

/* An element is dropped where its random word is below this: p in units of 2^-32, rounded down. */
static inline uint32_t szgi_network_threshold(double probability) {
    return (uint32_t)(probability * 4294967296.0);
}

/* Dropout (Srivastava et al. 2014): element `index` is zeroed where word `index` of the stream
 * {block->seed, block->step, purpose} is below the threshold, and divided by 1 - p elsewhere. */
typedef struct szgi_dropout {
    double probability; /* 0 <= p < 1; 0: none, and the other fields are not read */
    uint32_t purpose;
    const szgi_step_block *block;
} szgi_dropout;

/* ---- Linear layers ---- */

/* linear: y = act(x W^T + bias): x [rows, in], W [out, in], bias [out] or NULL, y [rows, out]. */
typedef struct szgi_linear {
    int64_t rows, in, out;
    const void *x;
    int64_t ldx;
    const void *weight, *bias;
    szg_activation activation;
    void *y;
    int64_t ldy;
    void *before; /* GELU: [rows, out] without gaps, receives x W^T + bias for the backward pass;
                     NULL otherwise, or without a backward pass */
} szgi_linear;

/* linear_backward reads x, weight, and of the results y (RELU) or before (GELU). */
typedef struct szgi_linear_gradient {
    void *dy; /* [rows, out], leading dimension lddy; destroyed where there is an activation */
    int64_t lddy;
    void *dx; /* [rows, in], leading dimension lddx; NULL: not wanted */
    int64_t lddx;
    bool add_dx;           /* add to dx instead of writing it */
    void *dweight, *dbias; /* added to; NULL: not wanted */
} szgi_linear_gradient;

/* ---- Attention ---- */

/* attention: out_i = sum_j w_ij v_j with w = dropout(softmax_j(L)), per sequence and head, without
 * an array of order length^2: L_ij = scale Re sum_t (q_i^(t) f_i^(t)) conj(k_j^(t) g_j^(t)) + scale
 * (unrotated dimensions)
 *          + bias[i - j], masked.
 * q and k have d_qk, v and out d_v numbers a row and head (Dao et al. 2022 for the method). */
typedef struct szgi_attention {
    int64_t batch, heads, length, d_qk, d_v;
    const void *q, *k, *v; /* number c of head h, row r: q[r * ldq + h * d_qk + c]; v with d_v */
    int64_t ldq, ldk, ldv;
    double scale;
    /* Complex factors f (queries) and g (keys), [length][pairs] of (re, im), those of head h at
     * h * factor_stride numbers (0: shared by all heads). pairs = 0: nothing rotates. Pair t is the
     * dimensions rotary_offset + 2t and + 2t + 1; half: + t and + pairs + t. */
    int64_t pairs, rotary_offset, factor_stride;
    bool half;
    const void *q_factors, *k_factors;
    const void *bias;       /* [heads][2 length - 1], lag i - j at i - j + length - 1; NULL: none */
    bool causal;            /* keys j > i are masked */
    const int32_t *lengths; /* [batch]: keys j >= lengths[b] are masked; NULL: none are */
    szgi_dropout dropout;   /* of the weights */
    void *out;              /* number c of head h, row r: out[r * ldout + h * d_v + c] */
    int64_t ldout;
    void *log_sum; /* [batch][heads][length]: log sum_j exp(L_ij), for the backward pass; NULL: not
                      wanted. A row without any key has out = 0 and log_sum = -infinity. */
    void *kept; /* szgi_network_attention_kept bytes: dropout's mask, for the backward pass; NULL:
                   not wanted, or no bytes */
} szgi_attention;

/* attention_backward reads out, log_sum and kept of the forward pass; weights are computed again,
 * and so is dropout's mask where the backend keeps none. */
typedef struct szgi_attention_gradient {
    const void *dout; /* as out, leading dimension lddout */
    int64_t lddout;
    void *dq, *dk, *dv; /* as q, k, v with leading dimensions of their own; written */
    int64_t lddq, lddk, lddv;
    void *dbias; /* as bias, added to; NULL: not wanted */
} szgi_attention_gradient;

/* Bytes at `kept` that the forward pass fills with dropout's mask, in a form of the backend's own;
 * 0 where nothing drops out, or the backend draws the mask again. More sequences or positions never
 * need less. Reads sizes and the dropout's probability. */
SZG_CHECK_RESULT szg_status szgi_network_attention_kept(szg_context *context,
                                                        const szgi_attention *attention,
                                                        int64_t *bytes);

/* attention_logits(attention, coupled, logits): the matrices L [batch][heads][length][length]
 * before mask and softmax. coupled: as above; else without rotation and bias. out, log_sum, v, mask
 * and dropout are not read. */

/* join(join, a, b, out): two vectors a head to one, out[r][h][0..da) = a[r][h][..],
 * out[r][h][da..da+db) = b[r][h][..]; a_shared, b_shared: a [rows][da], b [rows][db] serves every
 * head. join_backward(join, dout, da, db): da, db are written, summed over the heads where shared.
 * MLA's content and rotary parts. */
typedef struct szgi_join {
    int64_t rows, heads, width_a, width_b;
    bool shared_a, shared_b;
    int64_t lda, ldb, ldout; /* leading dimensions of rows */
} szgi_join;

/* bias(rows, table, bias): bias[h][lag] = table[row_of_lag[lag]][h], with table [rows][heads],
 * row_of_lag [lags] in 0 .. rows - 1, bias [heads][lags]. bias_backward(rows, dbias, dtable) adds
 * to dtable. */
typedef struct szgi_bias_rows {
    int64_t heads, lags, rows;
    const int32_t *row_of_lag;
} szgi_bias_rows;

/* ---- Spectra of logits ----
 * Where a backend can, the spectra of many small matrices of logits are computed beside the work
 * that follows, and only numbers come to the host. A job is opened once; then, again and again, it
 * is filled by take and squares, begun, and collected. Not while recording. */

/* What a backend's own job begins with; kept by the functions below. */
typedef struct szgi_spectra_job {
    int64_t count, n, sums; /* room: matrices, their order, sums of squares */
    int64_t begun;          /* matrices that are under way; -1: none */
} szgi_spectra_job;

/* Of an n x n matrix L. The arrays are the job's, and last until it is begun again or closed. */
typedef struct szgi_logit_numbers {
    const double *eigenvalues; /* [n] of (L + L^T)/2, ascending */
    const double *squares;     /* [n] eigenvalues of L^T L, ascending; rounding may make them < 0 */
    const double *means;       /* [2n-1] of the diagonals, lag i - j at i - j + n - 1 */
    double trace, frobenius;   /* of L, from its entries, as those below */
    double part_frobenius;     /* norm of (L + L^T)/2 */
    double rest_frobenius;     /* norm of L less its diagonals' means */
    double gram_frobenius;     /* norm of L^T L */
    double largest, skew;      /* max |L_ij|, max |L_ij - L_ji| */
    int64_t infinite;          /* place i n + j of the first entry that is not finite; -1: none. The
                                  other numbers, infinities left out, say nothing then. */
    bool converged;
} szgi_logit_numbers;

/* Whether the backend can; the functions below fail with SZG_EBACKEND where it cannot. */
bool szgi_network_has_spectra(szg_context *context);
/* Room for `count` matrices of order n and `sums` sums of squares. */
SZG_CHECK_RESULT szg_status szgi_network_spectra_open(szg_context *context, int64_t count,
                                                      int64_t n, int64_t sums,
                                                      szgi_spectra_job **out);
/* NULL is allowed. Waits for what is under way. */
void szgi_network_spectra_close(szg_context *context, szgi_spectra_job **job);

/* Matrices first .. first + count - 1 of the job become copies of the leading n x n corners of
 * `count` matrices [length][length] that stand one after the other. The array may then change. */
SZG_CHECK_RESULT szg_status szgi_network_spectra_take(szg_context *context, szgi_spectra_job *job,
                                                      int64_t first, int64_t count, int64_t length,
                                                      const void *logits);

/* Matrices [rows][columns] whose rows, or columns, are shared out evenly to heads. */
typedef struct szgi_head_part {
    const void *array;
    int64_t rows, columns;
    bool by_columns;
} szgi_head_part;
enum { SZGI_HEAD_PARTS = 8 };
/* sums[first + h] = sum of the squares of head h's entries in all `count` <= SZGI_HEAD_PARTS parts.
 */
SZG_CHECK_RESULT szg_status szgi_network_spectra_squares(szg_context *context,
                                                         szgi_spectra_job *job, int64_t first,
                                                         int64_t heads, int64_t count,
                                                         const szgi_head_part *parts);

/* Starts with the first `count` matrices and all sums, after the work given before; returns at
 * once. */
SZG_CHECK_RESULT szg_status szgi_network_spectra_begin(szg_context *context, szgi_spectra_job *job,
                                                       int64_t count);
/* Waits for what was begun, and for nothing that was given later: numbers [count of begin], sums
 * [sums of open] or NULL. The job may be filled again, also where it failed. */
SZG_CHECK_RESULT szg_status szgi_network_spectra_collect(szg_context *context,
                                                         szgi_spectra_job *job,
                                                         szgi_logit_numbers *numbers, double *sums);

/* ---- Products of the linear layers ---- */

/* What belongs to a product besides itself: its epilogue does it, or a pass of its own. */
enum {
    SZGI_EPILOGUE_BIAS = 1,
    SZGI_EPILOGUE_RELU = 2,
    SZGI_EPILOGUE_GELU = 4,
    SZGI_EPILOGUE_DERIVATIVE = 8, /* of the activation */
    SZGI_EPILOGUE_BIAS_GRADIENT = 16
};

/* How a device computes a product c (+)= op(a) op(b), by columns as in BLAS: op(a) m x k, op(b) k x
 * n. One shape with other passes around it is another product. */
typedef struct szgi_product_fact {
    /* Names, the library's with its version; whoever fills this keeps them. */
    const char *backend, *device, *library;
    int64_t m, n, k, lda, ldb, ldc;
    bool transpose_a, transpose_b, add;
    /* Powers of two, 256 at most, that addresses are multiples of; 0: there is no bias. */
    int64_t alignment_a, alignment_b, alignment_c, alignment_bias;
    uint32_t fused, separate;    /* SZGI_EPILOGUE_BIAS, ... */
    unsigned char algorithm[64]; /* the library's choice, opaque */
    int64_t candidates;          /* algorithms of which it was the fastest; 0: none was timed */
    double microseconds;         /* that it took; 0: it was not timed */
} szgi_product_fact;

/* The products that linear layers had since szgi_network_products_begin, or since the backend was
 * selected, in the order of their first calls: *count of them, of which the first `room` are in
 * out. None where the backend has nothing to say (cpu). */
SZG_CHECK_RESULT szg_status szgi_network_products(szg_context *context, int64_t room,
                                                  szgi_product_fact *out, int64_t *count);

/* A run begins: what was chosen and told of products before is forgotten, so that its bits are
 * those of a run in a context of its own. `timed`: the algorithms of a product are timed and the
 * fastest is taken, which is another from day to day, and so are the last bits. The products `kept`
 * have the algorithms that are recorded with them. Of those that belong to another backend, device
 * or library a warning says that they are chosen anew. Nothing where the backend has nothing to say
 * of products. SZG_EINVAL: algorithms are kept and not timed; SZG_EDATA, of a product: the library
 * refuses its kept algorithm. */
SZG_CHECK_RESULT szg_status szgi_network_products_begin(szg_context *context, bool timed,
                                                        int64_t count,
                                                        const szgi_product_fact *kept);

/* ---- Normalisation, residual paths ---- */

/* layer_norm: y = gamma (x - mean) / sqrt(variance + eps) + beta, a row (Ba, Kiros, Hinton 2016);
 * x, y [rows, width]; mean and inverse deviation [rows] are kept for the backward pass. */
typedef struct szgi_layer_norm {
    int64_t rows, width;
    const void *x, *gamma, *beta;
    double eps;
    void *y, *mean, *inverse; /* mean and inverse may be NULL */
} szgi_layer_norm;
typedef struct szgi_layer_norm_gradient {
    const void *dy;
    void *dx;    /* may be dy */
    bool add_dx; /* add to dx instead of writing it */
    void *dgamma, *dbeta;
} szgi_layer_norm_gradient;

/* dropout_residual(rows, columns, dropout, x, residual, y): y = residual + dropout(x), [rows,
 * columns]; residual may be NULL (0), y may be x or residual. dropout_backward(rows, columns,
 * dropout, dy, dx): dx = dropout(dy) with the same mask; dx may be dy. The residual's gradient is
 * dy. */

/* ---- Both ends ---- */

/* gather: a batch from a set of examples, all in the backend's memory. Sequence b is example
 * e = order[first + b] of the set: the tokens words[start[e] .. start[e + 1] - 1], of them at most
 * `length`, and zeros behind. first + count <= examples, and the order has examples of the set: the
 * host checks. */
typedef struct szgi_gather {
    int64_t count, length;        /* sequences and positions of the batch */
    int64_t examples;             /* of the set */
    const int64_t *start;         /* [examples + 1], not falling */
    const int32_t *words;         /* [start[examples]] */
    const int32_t *classes;       /* [examples] labels; NULL: not wanted */
    const int64_t *order;         /* [examples]; NULL: order[i] = i */
    const szgi_step_block *block; /* its `first`; NULL: the number below */
    int64_t first;
    int32_t *tokens;  /* [count][length] */
    int32_t *lengths; /* [count] */
    int32_t *labels;  /* [count]; not written where classes is NULL */
} szgi_gather;

/* embedding: out[b, i] = table[token] + fixed[i] + trained[i]: tokens [batch, length], table
 * [vocabulary, width], fixed and trained [length, width] or NULL, out [batch * length, width]. A
 * token outside the vocabulary is undefined: the host checks. embedding_backward(embedding, dout,
 * dtable, dtrained) adds to dtable and dtrained (NULL: not wanted). */
typedef struct szgi_embedding {
    int64_t batch, length, vocabulary, width;
    const int32_t *tokens;
    const void *table, *fixed, *trained;
    void *out;
} szgi_embedding;

/* pooling(pooling, x, y): y[b] = mean of x[b, i] over i < lengths[b] (NULL: over all), with x
 * [batch, length, width], y [batch, width]. pooling_backward(pooling, dy, dx) writes dx, zeros
 * beyond the lengths. */
typedef struct szgi_pooling {
    int64_t batch, length, width;
    const int32_t *lengths;
} szgi_pooling;

/* Sums over examples; in the backend's memory. */
typedef struct szgi_tally {
    double loss;              /* sum of -log softmax(logits)[label] */
    int64_t counted, correct; /* the first largest logit is the prediction */
} szgi_tally;

/* cross_entropy, of a softmax: logits [batch, classes], labels [batch]; examples whose label is
 * `ignored`
 * (-1: none) count nowhere. dlogits (NULL: not wanted) = gradient of the mean over the counted
 * examples of this call, 0 where none counts; written in any case. Adds to *tally. With a block:
 * where the sum of this call's losses is not finite, block->finite becomes 0, and where it is 0
 * then or was before, *tally stays as it is. A label outside the classes is undefined: the host
 * checks. */
typedef struct szgi_cross_entropy {
    int64_t batch, classes;
    int32_t ignored;
    const void *logits;
    const int32_t *labels;
    void *dlogits;
    szgi_tally *tally;
    szgi_step_block *block; /* NULL: none */
} szgi_cross_entropy;

/* ---- The optimiser ---- */

/* finite(count, x, block): sets block->finite to 0 where one of `count` numbers is NaN or infinite.
 */

/* adamw (Loshchilov, Hutter 2019): with the block's learning rate and corrections, decay before the
 * update: w *= 1 - rate decay; w -= rate (m / correction1) / (sqrt(v / correction2) + eps). Does
 * nothing where block->finite is 0. All arrays [count]. */
typedef struct szgi_adamw {
    int64_t count;
    double beta1, beta2, eps, decay;
    const szgi_step_block *block;
    const void *gradient;
    void *weight, *moment1, *moment2;
} szgi_adamw;

/* ---- The functions ---- */

#define LAYER(name, words, arguments)                                                              \
    SZG_CHECK_RESULT szg_status szgi_network_##name(szg_context *context SZGI_PARAMETERS arguments);
#include "network_ops.def"

SZGI_END_DECLS

#endif
