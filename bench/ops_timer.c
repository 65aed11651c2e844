#include "plugin/backend.h"
#include "ops_timer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "private.h"

/* Calls that wait for the device's clock: call i lies between the marks 2i and 2i + 1. */
enum { WAITING = SZG_DEVICE_MARKS / 2 };

static const szgi_ops *inner;
static bench_ops *found;
static int waiting[WAITING]; /* the operation's place in `found` */
static int count;
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
    if (at == BENCH_OPS || count == WAITING) {
        overrun = true;
        return -1;
    }
    found->op[at].calls++;
    found->op[at].bytes += bytes;
    return at;
}

static szg_status mark(szg_context *context, int64_t which) {
    return inner->network->mark ? inner->network->mark(context, which) : SZG_OK;
}

/* The host's clock where work is done when a call returns. */
static szg_status end(szg_context *context, int at, double started, szg_status status) {
    if (status != SZG_OK || at < 0)
        return status;
    if (!inner->network->mark) {
        found->op[at].seconds += bench_now() - started;
        return SZG_OK;
    }
    SZG_TRY(mark(context, 2 * count + 1));
    waiting[count++] = at;
    return SZG_OK;
}

szg_status bench_ops_collect(szg_context *context) {
    double seconds;
    if (overrun)
        return szgi_fail(context, SZG_ENOCONV,
                         "benchmark: a step has more than %d calls, or operations of more than %d "
                         "shapes",
                         (int)WAITING, (int)BENCH_OPS);
    for (int i = 0; i < count; i++) {
        SZG_TRY(inner->network->elapsed(context, 2 * i, 2 * i + 1, &seconds));
        found->op[waiting[i]].seconds += seconds;
    }
    count = 0;
    return SZG_OK;
}

/* ---- The table ----
 * Bytes: each array once, numbers of single precision; what is added to is read and written. */

static double real(double numbers) {
    return sizeof(float) * numbers;
}

#define TIMED(name, parameters, arguments, bytes, ...)                                             \
    static szg_status timed_##name parameters {                                                    \
        int at = begin(bytes, __VA_ARGS__);                                                        \
        if (at >= 0)                                                                               \
            SZG_TRY(mark(c, 2 * count));                                                           \
        double started = bench_now();                                                              \
        return end(c, at, started, inner->network->name arguments);                                \
    }
#define LL(x) ((long long)(x))

static double weights(const szgi_linear *l) {
    return (double)l->in * (double)l->out;
}

static double rows_of(const szgi_linear *l) {
    return (double)l->rows * (double)(l->in + l->out);
}

TIMED(linear, (szg_context * c, const szgi_linear *l), (c, l), real(rows_of(l) + weights(l)),
      "linear %lld to %lld", LL(l->in), LL(l->out))

/* dy and x are read, dx is written, and dweight added to. */
static double linear_backward_bytes(const szgi_linear *l, const szgi_linear_gradient *g) {
    double dx = g->dx ? (double)l->rows * (double)l->in : 0;
    double y = l->activation == SZG_ACTIVATION_NONE ? 0 : (double)l->rows * (double)l->out;
    return real(rows_of(l) + dx * (g->add_dx ? 2 : 1) + y + 3 * weights(l));
}

TIMED(linear_backward, (szg_context * c, const szgi_linear *l, const szgi_linear_gradient *g),
      (c, l, g), linear_backward_bytes(l, g), "linear %lld to %lld, backward", LL(l->in),
      LL(l->out))

static double attention_bytes(const szgi_attention *a, double arrays_qk, double arrays_v) {
    double rows = (double)a->batch * (double)a->heads * (double)a->length, mask = 0;
    if (a->kept && inner->network->attention_kept)
        mask = (double)inner->network->attention_kept(a);
    return mask + real(rows * (arrays_qk * (double)a->d_qk + arrays_v * (double)a->d_v + 1));
}

/* q, k, v are read, out, the sums and the mask written; backward also out, dout, and three
 * gradients. */
TIMED(attention, (szg_context * c, const szgi_attention *a), (c, a), attention_bytes(a, 2, 2),
      "attention, heads of %lld", LL(a->d_qk))
TIMED(attention_backward,
      (szg_context * c, const szgi_attention *a, const szgi_attention_gradient *g), (c, a, g),
      attention_bytes(a, 4, 4), "attention, heads of %lld, backward", LL(a->d_qk))

static double join_bytes(const szgi_join *j) {
    double a = (double)j->width_a * (double)(j->shared_a ? 1 : j->heads);
    double b = (double)j->width_b * (double)(j->shared_b ? 1 : j->heads);
    return real((double)j->rows * (a + b + (double)(j->heads * (j->width_a + j->width_b))));
}

TIMED(join, (szg_context * c, const szgi_join *j, const void *a, const void *b, void *out),
      (c, j, a, b, out), join_bytes(j), "join of heads %lld + %lld", LL(j->width_a), LL(j->width_b))
TIMED(join_backward, (szg_context * c, const szgi_join *j, const void *dout, void *da, void *db),
      (c, j, dout, da, db), join_bytes(j), "join of heads %lld + %lld, backward", LL(j->width_a),
      LL(j->width_b))
TIMED(bias, (szg_context * c, const szgi_bias_rows *rows, const void *table, void *bias),
      (c, rows, table, bias), real((double)rows->heads *(double)(rows->lags + rows->rows)),
      "lag biases")
TIMED(bias_backward, (szg_context * c, const szgi_bias_rows *rows, const void *dbias, void *dtable),
      (c, rows, dbias, dtable), real((double)rows->heads *(double)(rows->lags + 2 * rows->rows)),
      "lag biases, backward")
TIMED(layer_norm, (szg_context * c, const szgi_layer_norm *n), (c, n),
      real((double)n->rows *(double)(2 * n->width + 2)), "layer norm %lld", LL(n->width))
TIMED(layer_norm_backward,
      (szg_context * c, const szgi_layer_norm *n, const szgi_layer_norm_gradient *g), (c, n, g),
      real((double)n->rows *(double)((g->add_dx ? 4 : 3) * n->width + 2)),
      "layer norm %lld, backward", LL(n->width))
TIMED(dropout_residual,
      (szg_context * c, int64_t rows, int64_t columns, const szgi_dropout *d, const void *x,
       const void *residual, void *y),
      (c, rows, columns, d, x, residual, y),
      real((residual ? 3.0 : 2.0) * (double)rows * (double)columns), "dropout%s %lld",
      residual ? " and residual" : "", LL(columns))
TIMED(dropout_backward,
      (szg_context * c, int64_t rows, int64_t columns, const szgi_dropout *d, const void *dy,
       void *dx),
      (c, rows, columns, d, dy, dx), real(2.0 * (double)rows * (double)columns),
      "dropout %lld, backward", LL(columns))

static double embedded(const szgi_embedding *e) {
    return (double)e->batch * (double)e->length * (double)e->width;
}

TIMED(embedding, (szg_context * c, const szgi_embedding *e), (c, e),
      real(embedded(e) + (double)e->vocabulary * (double)e->width), "embedding")
TIMED(embedding_backward,
      (szg_context * c, const szgi_embedding *e, const void *dout, void *dtable, void *dtrained),
      (c, e, dout, dtable, dtrained),
      real(embedded(e) + 2.0 * (double)e->vocabulary * (double)e->width), "embedding, backward")

static double pooled(const szgi_pooling *p) {
    return real((double)p->batch * (double)(p->length + 1) * (double)p->width);
}

TIMED(pooling, (szg_context * c, const szgi_pooling *p, const void *x, void *y), (c, p, x, y),
      pooled(p), "pooling")
TIMED(pooling_backward, (szg_context * c, const szgi_pooling *p, const void *dy, void *dx),
      (c, p, dy, dx), pooled(p), "pooling, backward")
TIMED(cross_entropy, (szg_context * c, const szgi_cross_entropy *e), (c, e),
      real(2.0 * (double)e->batch * (double)e->classes), "cross-entropy")
TIMED(finite, (szg_context * c, int64_t numbers, const void *x, szgi_step_block *block),
      (c, numbers, x, block), real((double)numbers), "search for numbers that are not finite")
TIMED(adamw, (szg_context * c, const szgi_adamw *a), (c, a), real(7.0 * (double)a->count), "AdamW")
TIMED(upload, (szg_context * c, void *to, const void *from, int64_t bytes), (c, to, from, bytes),
      (double)bytes, "upload")
TIMED(copy, (szg_context * c, void *to, const void *from, int64_t bytes), (c, to, from, bytes),
      2.0 * (double)bytes, "copy")
TIMED(clear, (szg_context * c, void *memory, int64_t bytes), (c, memory, bytes), (double)bytes,
      "clear")

static void put_clocks(szgi_network_ops *network) {
    network->upload = timed_upload;
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

void bench_ops_timed(szg_context *context, bench_ops *ops) {
    static szgi_ops timed;
    static szgi_network_ops network;
    inner = szgi_ops_of(context);
    found = ops;
    found->count = count = 0;
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
