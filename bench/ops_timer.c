#include "plugin/backend.h"
#include "ops_timer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "private.h"

/* Calls that wait for the device's clock: call i lies between the marks 2i and 2i + 1. */
enum { WAITING = SZGI_DEVICE_MARKS / 2 };

static const szgi_ops *inner;
static bench_ops *found;
static int waiting[WAITING]; /* the operation's place in `found` */
static int waits;
static bool overrun;

/* ---- Clocks ---- */

static int place_of(const char *name) {
    int at = 0;
    while (at < found->count && strcmp(found->op[at].name, name) != 0)
        at++;
    if (at == found->count && at < BENCH_OPS) {
        found->op[at] = (bench_op){0};
        snprintf(found->op[at].name, sizeof found->op[at].name, "%s", name);
        found->count++;
    }
    return at;
}

/* Begins a call of the operation that the words describe; its place, or -1. */
SZG_PRINTF(2, 3)
static int begin(double bytes, const char *format, ...) {
    char name[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    int at = place_of(name);
    if (at == BENCH_OPS || waits == WAITING) {
        overrun = true;
        return -1;
    }
    found->op[at].calls++;
    found->op[at].bytes += bytes;
    return at;
}

static szg_status mark(szg_context *context, int64_t which) {
    return szgi_device_records(context) ? szgi_device_mark(context, which) : SZG_OK;
}

static szg_status start(szg_context *context, int at, double *started) {
    if (at >= 0)
        SZG_TRY(mark(context, 2 * waits));
    *started = bench_now();
    return SZG_OK;
}

/* The host's clock where work is done when a call returns. */
static szg_status end(szg_context *context, int at, double started, szg_status status) {
    if (status != SZG_OK || at < 0)
        return status;
    if (!szgi_device_records(context)) {
        found->op[at].seconds += bench_now() - started;
        return SZG_OK;
    }
    SZG_TRY(mark(context, 2 * waits + 1));
    waiting[waits++] = at;
    return SZG_OK;
}

szg_status bench_ops_collect(szg_context *context) {
    double seconds;
    if (overrun)
        return szgi_fail(context, SZG_ENOCONV,
                         "benchmark: a step has more than %d calls, or operations of more than %d "
                         "shapes",
                         (int)WAITING, (int)BENCH_OPS);
    for (int i = 0; i < waits; i++) {
        SZG_TRY(szgi_device_elapsed(context, 2 * i, 2 * i + 1, &seconds));
        found->op[waiting[i]].seconds += seconds;
    }
    waits = 0;
    return SZG_OK;
}

/* ---- What a call is named, and what it moves ----
 * Bytes: each array once, numbers of single precision; what is added to is read and written. */

/* The arguments of a call, by name. */
#define FIELDS(...) SZGI_EACH(FIELD_, __VA_ARGS__)
#define FIELD_VALUE(type, name) type name;
#define FIELD_STRUCT(type, name) const type *name;
#define MOVE(name, arguments)                                                                      \
    typedef struct name##_call {                                                                   \
        FIELDS arguments                                                                           \
    } name##_call;
#define LAYER(name, words, arguments) MOVE(name, arguments)
#include "network/network_ops.def"

/* Begins a call of the operation: with the bytes that it moves, and its name with the sizes that
 * tell its shapes apart. */
#define DESCRIBED(name, bytes, ...)                                                                \
    static int begin_##name(const name##_call *c) {                                                \
        return begin(bytes, __VA_ARGS__);                                                          \
    }
#define LL(x) ((long long)(x))

static double real(double numbers) {
    return sizeof(float) * numbers;
}

static double weights(const szgi_linear *l) {
    return (double)l->in * (double)l->out;
}

static double rows_of(const szgi_linear *l) {
    return (double)l->rows * (double)(l->in + l->out);
}

DESCRIBED(linear, real(rows_of(c->linear) + weights(c->linear)), "linear %lld to %lld",
          LL(c->linear->in), LL(c->linear->out))

/* dy and x are read, dx is written, and dweight added to. */
static double linear_backward_bytes(const szgi_linear *l, const szgi_linear_gradient *g) {
    double dx = g->dx ? (double)l->rows * (double)l->in : 0;
    double y = l->activation == SZG_ACTIVATION_NONE ? 0 : (double)l->rows * (double)l->out;
    return real(rows_of(l) + dx * (g->add_dx ? 2 : 1) + y + 3 * weights(l));
}

DESCRIBED(linear_backward, linear_backward_bytes(c->linear, c->gradient),
          "linear %lld to %lld, backward", LL(c->linear->in), LL(c->linear->out))

static double attention_bytes(const szgi_attention *a, double arrays_qk, double arrays_v) {
    double rows = (double)a->batch * (double)a->heads * (double)a->length, mask = 0;
    if (a->kept && inner->network->attention_kept)
        mask = (double)inner->network->attention_kept(a);
    return mask + real(rows * (arrays_qk * (double)a->d_qk + arrays_v * (double)a->d_v + 1));
}

/* q, k, v are read, out, the sums and the mask written; backward also out, dout, and three
 * gradients. */
DESCRIBED(attention, attention_bytes(c->attention, 2, 2), "attention, heads of %lld",
          LL(c->attention->d_qk))
DESCRIBED(attention_backward, attention_bytes(c->attention, 4, 4),
          "attention, heads of %lld, backward", LL(c->attention->d_qk))

static double join_bytes(const szgi_join *j) {
    double a = (double)j->width_a * (double)(j->shared_a ? 1 : j->heads);
    double b = (double)j->width_b * (double)(j->shared_b ? 1 : j->heads);
    return real((double)j->rows * (a + b + (double)(j->heads * (j->width_a + j->width_b))));
}

DESCRIBED(join, join_bytes(c->join), "join of heads %lld + %lld", LL(c->join->width_a),
          LL(c->join->width_b))
DESCRIBED(join_backward, join_bytes(c->join), "join of heads %lld + %lld, backward",
          LL(c->join->width_a), LL(c->join->width_b))

/* The biases are as many as lags; `table` numbers a head are moved besides. */
static double bias_bytes(const szgi_bias_rows *rows, int64_t table) {
    return real((double)rows->heads * (double)(rows->lags + table));
}

DESCRIBED(bias, bias_bytes(c->rows, c->rows->rows), "lag biases")
DESCRIBED(bias_backward, bias_bytes(c->rows, 2 * c->rows->rows), "lag biases, backward")

static double norm_bytes(const szgi_layer_norm *n, int64_t arrays) {
    return real((double)n->rows * (double)(arrays * n->width + 2));
}

DESCRIBED(layer_norm, norm_bytes(c->norm, 2), "layer norm %lld", LL(c->norm->width))
DESCRIBED(layer_norm_backward, norm_bytes(c->norm, c->gradient->add_dx ? 4 : 3),
          "layer norm %lld, backward", LL(c->norm->width))
DESCRIBED(dropout_residual, real((c->residual ? 3.0 : 2.0) * (double)c->rows * (double)c->columns),
          "dropout%s %lld", c->residual ? " and residual" : "", LL(c->columns))
DESCRIBED(dropout_backward, real(2.0 * (double)c->rows * (double)c->columns),
          "dropout %lld, backward", LL(c->columns))

/* The rows, and the table as often as it passes. */
static double embedding_bytes(const szgi_embedding *e, double tables) {
    return real(((double)e->batch * (double)e->length + tables * (double)e->vocabulary) *
                (double)e->width);
}

DESCRIBED(embedding, embedding_bytes(c->embedding, 1), "embedding")
DESCRIBED(embedding_backward, embedding_bytes(c->embedding, 2), "embedding, backward")

static double pooled(const szgi_pooling *p) {
    return real((double)p->batch * (double)(p->length + 1) * (double)p->width);
}

DESCRIBED(pooling, pooled(c->pooling), "pooling")
DESCRIBED(pooling_backward, pooled(c->pooling), "pooling, backward")
DESCRIBED(cross_entropy, real(2.0 * (double)c->entropy->batch * (double)c->entropy->classes),
          "cross-entropy")
DESCRIBED(finite, real((double)c->count), "search for numbers that are not finite")
DESCRIBED(adamw, real(7.0 * (double)c->adamw->count), "AdamW")
DESCRIBED(gather, 2.0 * sizeof(int32_t) * (double)c->gather->count * (double)c->gather->length,
          "batch")
DESCRIBED(advance, 2.0 * sizeof *c->block, "next step")
DESCRIBED(copy, 2.0 * (double)c->bytes, "copy")
DESCRIBED(clear, (double)c->bytes, "clear")

/* An operation that is not here goes by its words, and what it moves is not counted. */
static const struct {
#define LAYER(name, words, arguments) int (*name)(const name##_call *call);
#define MOVE(name, arguments) int (*name)(const name##_call *call);
#include "network/network_ops.def"
} begin_of = {
#define IS(name) .name = begin_##name
    IS(linear),
    IS(linear_backward),
    IS(attention),
    IS(attention_backward),
    IS(join),
    IS(join_backward),
    IS(bias),
    IS(bias_backward),
    IS(layer_norm),
    IS(layer_norm_backward),
    IS(dropout_residual),
    IS(dropout_backward),
    IS(embedding),
    IS(embedding_backward),
    IS(pooling),
    IS(pooling_backward),
    IS(cross_entropy),
    IS(finite),
    IS(adamw),
    IS(gather),
    IS(advance),
    IS(copy),
    IS(clear),
};

/* ---- The table ---- */

#define GIVEN(...) SZGI_EACH(GIVEN_, __VA_ARGS__)
#define GIVEN_VALUE(type, name) .name = name,
#define GIVEN_STRUCT(type, name) .name = name,
#define LAYER(name, words, arguments)                                                              \
    static szg_status timed_##name(szg_context *context SZGI_PARAMETERS arguments) {               \
        const name##_call call = {GIVEN arguments};                                                \
        int place = begin_of.name ? begin_of.name(&call) : begin(0, "%s", words);                  \
        double started;                                                                            \
        SZG_TRY(start(context, place, &started));                                                  \
        return end(context, place, started,                                                        \
                   inner->network->name(context SZGI_ARGUMENTS arguments));                        \
    }
#define MOVE(name, arguments) LAYER(name, #name, arguments)
#include "network/network_ops.def"

static szg_status timed_upload(szg_context *context, void *to, const void *from, int64_t bytes) {
    int place = begin((double)bytes, "upload");
    double started;
    SZG_TRY(start(context, place, &started));
    return end(context, place, started, inner->network->upload(context, to, from, bytes));
}

static void put_clocks(szgi_network_ops *network) {
    network->upload = timed_upload;
#define LAYER(name, words, arguments) network->name = timed_##name;
#define MOVE(name, arguments) network->name = timed_##name;
#include "network/network_ops.def"
}

void bench_ops_timed(szg_context *context, bench_ops *ops) {
    static szgi_ops timed;
    static szgi_network_ops network;
    inner = szgi_ops_of(context);
    found = ops;
    found->count = waits = 0;
    overrun = false;
    timed = *inner;
    network = *inner->network;
    put_clocks(&network);
    timed.network = &network;
    szgi_context_set_ops(context, &timed);
}

void bench_ops_untimed(szg_context *context) {
    szgi_context_set_ops(context, inner);
}
