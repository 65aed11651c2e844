/* The cpu table with recording: calls between begin and end are kept with copies of their
 * arguments, and replayed. For one context at a time. */
#ifndef SZG_TESTS_RECORDING_H
#define SZG_TESTS_RECORDING_H

#include <stdlib.h>
#include <string.h>

#include "plugin/backend.h"
#include "network/ops.h"
#include "base/context.h"

/* One call: a copy of its struct, of its gradients' struct, and its other arguments. */
typedef struct recorded_call recorded_call;
typedef szg_status recorded_fn(szg_context *context, const recorded_call *call);
struct recorded_call {
    recorded_fn *run;
    union {
        szgi_linear linear;
        szgi_attention attention;
        szgi_join join;
        szgi_bias_rows bias;
        szgi_layer_norm norm;
        szgi_dropout dropout;
        szgi_embedding embedding;
        szgi_pooling pooling;
        szgi_cross_entropy entropy;
        szgi_adamw adamw;
        szgi_gather gather;
    } a;
    union {
        szgi_linear_gradient linear;
        szgi_attention_gradient attention;
        szgi_layer_norm_gradient norm;
    } g;
    void *p[3];
    const void *c[2];
    int64_t n[3];
};

typedef struct recording {
    int64_t calls, room;
    recorded_call *call;
} recording;

static struct {
    recording *open;    /* NULL: nothing is being recorded */
    int64_t live, made; /* recordings */
    int64_t replays, longest,
        since;       /* replays in all; most between two downloads; since the last */
    int64_t refused; /* calls that may not be recorded */
} recorder;

static inline szg_status take_call(szg_context *context, const recorded_call *call) {
    recording *r = recorder.open;
    if (!r)
        return call->run(context, call);
    if (r->calls == r->room) {
        r->room = 2 * r->room + 64;
        r->call = realloc(r->call, (size_t)r->room * sizeof *r->call);
    }
    r->call[r->calls++] = *call;
    return SZG_OK;
}

#define CPU (szgi_ops_cpu()->network)

/* An entry of the table: `fields` of the call from the parameters, and the cpu table's entry with
 * arguments from the call `r`. */
#define RECORDED(name, parameters, fields, arguments)                                              \
    static szg_status run_##name(szg_context *c, const recorded_call *r) {                         \
        return CPU->name arguments;                                                                \
    }                                                                                              \
    static szg_status take_##name parameters {                                                     \
        const recorded_call call = {.run = run_##name, RECORDED_FIELDS fields};                    \
        return take_call(c, &call);                                                                \
    }
#define RECORDED_FIELDS(...) __VA_ARGS__

#define CONTEXT szg_context *c
RECORDED(copy, (CONTEXT, void *to, const void *from, int64_t n), (.p = {to}, .c = {from}, .n = {n}),
         (c, r->p[0], r->c[0], r->n[0]))
RECORDED(clear, (CONTEXT, void *to, int64_t n), (.p = {to}, .n = {n}), (c, r->p[0], r->n[0]))
RECORDED(clear_columns, (CONTEXT, void *to, int64_t rows, int64_t stride, int64_t n),
         (.p = {to}, .n = {rows, stride, n}), (c, r->p[0], r->n[0], r->n[1], r->n[2]))
RECORDED(linear, (CONTEXT, const szgi_linear *a), (.a.linear = *a), (c, &r->a.linear))
RECORDED(linear_backward, (CONTEXT, const szgi_linear *a, const szgi_linear_gradient *g),
         (.a.linear = *a, .g.linear = *g), (c, &r->a.linear, &r->g.linear))
RECORDED(attention, (CONTEXT, const szgi_attention *a), (.a.attention = *a), (c, &r->a.attention))
RECORDED(attention_backward, (CONTEXT, const szgi_attention *a, const szgi_attention_gradient *g),
         (.a.attention = *a, .g.attention = *g), (c, &r->a.attention, &r->g.attention))
RECORDED(join, (CONTEXT, const szgi_join *a, const void *x, const void *y, void *out),
         (.a.join = *a, .c = {x, y}, .p = {out}), (c, &r->a.join, r->c[0], r->c[1], r->p[0]))
RECORDED(join_backward, (CONTEXT, const szgi_join *a, const void *dout, void *x, void *y),
         (.a.join = *a, .c = {dout}, .p = {x, y}), (c, &r->a.join, r->c[0], r->p[0], r->p[1]))
RECORDED(bias, (CONTEXT, const szgi_bias_rows *a, const void *x, void *y),
         (.a.bias = *a, .c = {x}, .p = {y}), (c, &r->a.bias, r->c[0], r->p[0]))
RECORDED(bias_backward, (CONTEXT, const szgi_bias_rows *a, const void *x, void *y),
         (.a.bias = *a, .c = {x}, .p = {y}), (c, &r->a.bias, r->c[0], r->p[0]))
RECORDED(layer_norm, (CONTEXT, const szgi_layer_norm *a), (.a.norm = *a), (c, &r->a.norm))
RECORDED(layer_norm_backward,
         (CONTEXT, const szgi_layer_norm *a, const szgi_layer_norm_gradient *g),
         (.a.norm = *a, .g.norm = *g), (c, &r->a.norm, &r->g.norm))
RECORDED(dropout_residual,
         (CONTEXT, int64_t rows, int64_t columns, const szgi_dropout *a, const void *x,
          const void *residual, void *y),
         (.n = {rows, columns}, .a.dropout = *a, .c = {x, residual}, .p = {y}),
         (c, r->n[0], r->n[1], &r->a.dropout, r->c[0], r->c[1], r->p[0]))
RECORDED(dropout_backward,
         (CONTEXT, int64_t rows, int64_t columns, const szgi_dropout *a, const void *dy, void *dx),
         (.n = {rows, columns}, .a.dropout = *a, .c = {dy}, .p = {dx}),
         (c, r->n[0], r->n[1], &r->a.dropout, r->c[0], r->p[0]))
RECORDED(embedding, (CONTEXT, const szgi_embedding *a), (.a.embedding = *a), (c, &r->a.embedding))
RECORDED(embedding_backward,
         (CONTEXT, const szgi_embedding *a, const void *dout, void *dtable, void *dtrained),
         (.a.embedding = *a, .c = {dout}, .p = {dtable, dtrained}),
         (c, &r->a.embedding, r->c[0], r->p[0], r->p[1]))
RECORDED(pooling, (CONTEXT, const szgi_pooling *a, const void *x, void *y),
         (.a.pooling = *a, .c = {x}, .p = {y}), (c, &r->a.pooling, r->c[0], r->p[0]))
RECORDED(pooling_backward, (CONTEXT, const szgi_pooling *a, const void *x, void *y),
         (.a.pooling = *a, .c = {x}, .p = {y}), (c, &r->a.pooling, r->c[0], r->p[0]))
RECORDED(cross_entropy, (CONTEXT, const szgi_cross_entropy *a), (.a.entropy = *a),
         (c, &r->a.entropy))
RECORDED(finite, (CONTEXT, int64_t n, const void *x, szgi_step_block *block),
         (.n = {n}, .c = {x}, .p = {block}), (c, r->n[0], r->c[0], r->p[0]))
RECORDED(adamw, (CONTEXT, const szgi_adamw *a), (.a.adamw = *a), (c, &r->a.adamw))
RECORDED(gather, (CONTEXT, const szgi_gather *a), (.a.gather = *a), (c, &r->a.gather))
RECORDED(advance,
         (CONTEXT, const szgi_step_block *blocks, int64_t n, szgi_step_block *block, int64_t *at),
         (.c = {blocks}, .n = {n}, .p = {block, at}), (c, r->c[0], r->n[0], r->p[0], r->p[1]))

/* ---- What may not be recorded ---- */

static inline szg_status refuse(szg_context *context) {
    if (!recorder.open)
        return SZG_OK;
    recorder.refused++;
    return szgi_fail(context, SZG_EBACKEND, "not while recording");
}

static szg_status refusing_alloc(szg_context *c, int64_t bytes, void **out) {
    SZG_TRY(refuse(c));
    return CPU->alloc(c, bytes, out);
}
static szg_status refusing_upload(szg_context *c, void *to, const void *from, int64_t bytes) {
    SZG_TRY(refuse(c));
    return CPU->upload(c, to, from, bytes);
}
static szg_status refusing_download(szg_context *c, void *to, const void *from, int64_t bytes) {
    SZG_TRY(refuse(c));
    recorder.since = 0;
    return CPU->download(c, to, from, bytes);
}
static szg_status refusing_sync(szg_context *c) {
    return refuse(c);
}

/* ---- Recordings ---- */

static szg_status record_begin(szg_context *c) {
    SZG_TRY(refuse(c));
    recorder.open = calloc(1, sizeof *recorder.open);
    recorder.live++;
    return SZG_OK;
}

static void record_close(szg_context *c, void *memory) {
    recording *r = memory;
    (void)c;
    free(r->call);
    free(r);
    recorder.live--;
}

static szg_status record_end(szg_context *c, void **out) {
    recording *r = recorder.open;
    recorder.open = NULL;
    if (out)
        *out = r, recorder.made++;
    else
        record_close(c, r);
    return SZG_OK;
}

static szg_status record_replay(szg_context *c, void *memory) {
    const recording *r = memory;
    SZG_TRY(refuse(c));
    recorder.replays++;
    recorder.since++;
    if (recorder.since > recorder.longest)
        recorder.longest = recorder.since;
    for (int64_t i = 0; i < r->calls; i++)
        SZG_TRY(r->call[i].run(c, &r->call[i]));
    return SZG_OK;
}

/* The table, named as the cpu's; the counts begin anew. */
static inline const szgi_ops *recording_ops(void) {
    static szgi_network_ops network;
    static struct szgi_ops ops;
    network = *CPU;
#define TAKE(name) network.name = take_##name
    TAKE(copy), TAKE(clear), TAKE(clear_columns), TAKE(linear), TAKE(linear_backward);
    TAKE(attention), TAKE(attention_backward), TAKE(join), TAKE(join_backward), TAKE(bias);
    TAKE(bias_backward), TAKE(layer_norm), TAKE(layer_norm_backward), TAKE(dropout_residual);
    TAKE(dropout_backward), TAKE(embedding), TAKE(embedding_backward), TAKE(pooling);
    TAKE(pooling_backward), TAKE(cross_entropy), TAKE(finite), TAKE(adamw), TAKE(gather);
    TAKE(advance);
#undef TAKE
    network.alloc = refusing_alloc;
    network.upload = refusing_upload;
    network.download = refusing_download;
    network.sync = refusing_sync;
    network.record_begin = record_begin;
    network.record_end = record_end;
    network.replay = record_replay;
    network.recording_close = record_close;
    ops = *szgi_ops_cpu();
    ops.network = &network;
    memset(&recorder, 0, sizeof recorder);
    return &ops;
}

#undef CPU
#undef CONTEXT

#endif
