#include "ops_timer.h"
#include "private.h"

const char *const bench_op_names[BENCH_OP_KINDS] = {
    [BENCH_LINEAR] = "linear layers, forward",
    [BENCH_LINEAR_BACKWARD] = "linear layers, backward",
    [BENCH_ATTENTION] = "attention, forward",
    [BENCH_ATTENTION_BACKWARD] = "attention, backward",
    [BENCH_DROPOUT] = "dropout and residual paths",
    [BENCH_NORM] = "layer norms",
    [BENCH_JOIN] = "joins and biases",
    [BENCH_ENDS] = "embedding, pooling, cross-entropy",
    [BENCH_OPTIMISER] = "optimiser",
    [BENCH_MEMORY] = "copies and zeros",
};

static const szg_ops *inner;
static double spent[BENCH_OP_KINDS];

#define TIMED(kind, name, parameters, arguments)                                                   \
    static szg_status timed_##name parameters {                                                    \
        double start = bench_now();                                                                \
        szg_status status = inner->network->name arguments;                                        \
        spent[kind] += bench_now() - start;                                                        \
        return status;                                                                             \
    }

TIMED(BENCH_LINEAR, linear, (szg_context * c, const szg_linear *l), (c, l))
TIMED(BENCH_LINEAR_BACKWARD, linear_backward,
      (szg_context * c, const szg_linear *l, const szg_linear_gradient *g), (c, l, g))
TIMED(BENCH_ATTENTION, attention, (szg_context * c, const szg_attention *a), (c, a))
TIMED(BENCH_ATTENTION_BACKWARD, attention_backward,
      (szg_context * c, const szg_attention *a, const szg_attention_gradient *g), (c, a, g))
TIMED(BENCH_JOIN, join,
      (szg_context * c, const szg_join *j, const void *a, const void *b, void *out),
      (c, j, a, b, out))
TIMED(BENCH_JOIN, join_backward,
      (szg_context * c, const szg_join *j, const void *dout, void *da, void *db),
      (c, j, dout, da, db))
TIMED(BENCH_JOIN, bias, (szg_context * c, const szg_bias_rows *rows, const void *table, void *bias),
      (c, rows, table, bias))
TIMED(BENCH_JOIN, bias_backward,
      (szg_context * c, const szg_bias_rows *rows, const void *dbias, void *dtable),
      (c, rows, dbias, dtable))
TIMED(BENCH_NORM, layer_norm, (szg_context * c, const szg_layer_norm *n), (c, n))
TIMED(BENCH_NORM, layer_norm_backward,
      (szg_context * c, const szg_layer_norm *n, const szg_layer_norm_gradient *g), (c, n, g))
TIMED(BENCH_DROPOUT, dropout_residual,
      (szg_context * c, int64_t rows, int64_t columns, const szg_dropout *d, const void *x,
       const void *residual, void *y),
      (c, rows, columns, d, x, residual, y))
TIMED(BENCH_DROPOUT, dropout_backward,
      (szg_context * c, int64_t rows, int64_t columns, const szg_dropout *d, const void *dy,
       void *dx),
      (c, rows, columns, d, dy, dx))
TIMED(BENCH_ENDS, embedding, (szg_context * c, const szg_embedding *e), (c, e))
TIMED(BENCH_ENDS, embedding_backward,
      (szg_context * c, const szg_embedding *e, const void *dout, void *dtable, void *dtrained),
      (c, e, dout, dtable, dtrained))
TIMED(BENCH_ENDS, pooling, (szg_context * c, const szg_pooling *p, const void *x, void *y),
      (c, p, x, y))
TIMED(BENCH_ENDS, pooling_backward,
      (szg_context * c, const szg_pooling *p, const void *dy, void *dx), (c, p, dy, dx))
TIMED(BENCH_ENDS, cross_entropy, (szg_context * c, const szg_cross_entropy *e), (c, e))
TIMED(BENCH_OPTIMISER, finite,
      (szg_context * c, int64_t count, const void *x, szg_step_block *block), (c, count, x, block))
TIMED(BENCH_OPTIMISER, adamw, (szg_context * c, const szg_adamw *a), (c, a))
TIMED(BENCH_MEMORY, upload, (szg_context * c, void *to, const void *from, int64_t bytes),
      (c, to, from, bytes))
TIMED(BENCH_MEMORY, download, (szg_context * c, void *to, const void *from, int64_t bytes),
      (c, to, from, bytes))
TIMED(BENCH_MEMORY, copy, (szg_context * c, void *to, const void *from, int64_t bytes),
      (c, to, from, bytes))
TIMED(BENCH_MEMORY, clear, (szg_context * c, void *memory, int64_t bytes), (c, memory, bytes))

static void put_clocks(szg_network_ops *network) {
    network->upload = timed_upload;
    network->download = timed_download;
    network->copy = timed_copy;
    network->clear = timed_clear;
    network->linear = timed_linear;
    network->linear_backward = timed_linear_backward;
    network->attention = timed_attention;
    network->attention_backward = timed_attention_backward;
    network->join = timed_join;
    network->join_backward = timed_join_backward;
    network->bias = timed_bias;
    network->bias_backward = timed_bias_backward;
    network->layer_norm = timed_layer_norm;
    network->layer_norm_backward = timed_layer_norm_backward;
    network->dropout_residual = timed_dropout_residual;
    network->dropout_backward = timed_dropout_backward;
    network->embedding = timed_embedding;
    network->embedding_backward = timed_embedding_backward;
    network->pooling = timed_pooling;
    network->pooling_backward = timed_pooling_backward;
    network->cross_entropy = timed_cross_entropy;
    network->finite = timed_finite;
    network->adamw = timed_adamw;
}

void bench_ops_timed(szg_context *context) {
    static szg_ops timed;
    static szg_network_ops network;
    inner = szg_ops_of(context);
    timed = *inner;
    network = *inner->network;
    put_clocks(&network);
    timed.network = &network;
    for (int kind = 0; kind < BENCH_OP_KINDS; kind++)
        spent[kind] = 0;
    szg_context_set_ops(context, &timed);
}

void bench_ops_untimed(szg_context *context, double seconds[BENCH_OP_KINDS]) {
    szg_context_set_ops(context, inner);
    for (int kind = 0; kind < BENCH_OP_KINDS; kind++)
        seconds[kind] = spent[kind];
}
