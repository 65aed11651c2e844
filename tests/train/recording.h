/* The cpu table with recording: calls between begin and end are kept with copies of their
 * arguments, and replayed. For one context at a time. */
#ifndef SZG_TESTS_RECORDING_H
#define SZG_TESTS_RECORDING_H

#include <stdlib.h>
#include <string.h>

#include "plugin/backend.h"
#include "network/ops.h"
#include "base/context.h"

/* The arguments of each operation that may be recorded, by name: arrays as pointers, structs of the
 * host by value. */
#define KEPT(...) SZGI_EACH(KEPT_, __VA_ARGS__)
#define KEPT_VALUE(type, name) type name;
#define KEPT_STRUCT(type, name) type name;
#define MOVE(name, arguments)                                                                      \
    struct kept_##name {                                                                           \
        KEPT arguments                                                                             \
    };
#define LAYER(name, words, arguments) MOVE(name, arguments)
#include "network/network_ops.def"

/* One call: its arguments, and what calls the cpu's entry with them. */
typedef struct recorded_call recorded_call;
typedef szg_status recorded_fn(szg_context *context, const recorded_call *call);
struct recorded_call {
    recorded_fn *run;
    union {
#define LAYER(name, words, arguments) struct kept_##name name;
#define MOVE(name, arguments) struct kept_##name name;
#include "network/network_ops.def"
    } of;
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

/* Entries of the table: take_NAME keeps a call, run_NAME makes it. */
#define TAKEN(...) SZGI_EACH(TAKEN_, __VA_ARGS__)
#define TAKEN_VALUE(type, name) .name = name,
#define TAKEN_STRUCT(type, name) .name = *name,
#define GIVEN(...) SZGI_EACH(GIVEN_, __VA_ARGS__)
#define GIVEN_VALUE(type, name) , kept->name
#define GIVEN_STRUCT(type, name) , &kept->name
#define MOVE(name, arguments)                                                                      \
    static szg_status run_##name(szg_context *context, const recorded_call *call) {                \
        const struct kept_##name *kept = &call->of.name;                                           \
        return CPU->name(context GIVEN arguments);                                                 \
    }                                                                                              \
    static szg_status take_##name(szg_context *context SZGI_PARAMETERS arguments) {                \
        const recorded_call call = {.run = run_##name, .of.name = {TAKEN arguments}};              \
        return take_call(context, &call);                                                          \
    }
#define LAYER(name, words, arguments) MOVE(name, arguments)
#include "network/network_ops.def"

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
#define LAYER(name, words, arguments) network.name = take_##name;
#define MOVE(name, arguments) network.name = take_##name;
#include "network/network_ops.def"
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

#endif
