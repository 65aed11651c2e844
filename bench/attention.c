/* Attention alone, forward: one layer at the paper's size, without and with dropout. */
#include <stdio.h>

#include "base/memory.h"
#include "network/network.h"
#include "base/random.h"
#include "train.h"

typedef struct attention_job {
    szgi_attention attention;
    bench_peer *peer;
} attention_job;

static szg_status run_attention(szg_context *context, void *argument) {
    const attention_job *job = argument;
    SZG_TRY(szgi_network_attention(context, &job->attention));
    return szgi_device_sync(context);
}

static szg_status peer_attention(szg_context *context, void *argument) {
    const attention_job *job = argument;
    char request[64];
    snprintf(request, sizeof request, "attention %g", job->attention.dropout.probability);
    return bench_peer_run(context, job->peer, request);
}

static szg_status measure(szg_context *context, bench_run *run, attention_job *job, double dropout,
                          double target) {
    job->attention.dropout.probability = dropout;
    bool peer = job->peer->process != 0;
    bench_case what = {.input = dropout > 0 ? "attention, dropout" : "attention",
                       .n = job->attention.length,
                       .ours_name = "fused, forward, one layer",
                       .rival_name = bench_peer_name(job->peer),
                       .ours = run_attention,
                       .rival = peer ? peer_attention : NULL,
                       .job = job,
                       .pairs = run->options.quick ? 3 : 31,
                       .target_ratio = peer ? target : 0};
    return bench_measure(context, run, &what);
}

/* Queries, keys and values of a row side by side, as a decoder has them. */
static szg_status fill(szg_context *context, int64_t count, uint64_t seed, void *device) {
    float *values;
    SZG_TRY(szgi_memory_alloc(context, count, &values));
    szgi_stream stream = {.seed = seed, .purpose = 0xA7};
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)szgi_random_normal(&stream, (uint64_t)i);
    szg_status status =
        szgi_device_upload(context, device, values, count * (int64_t)sizeof *values);
    szgi_memory_free(values);
    return status;
}

static szg_status measure_both(szg_context *context, bench_run *run, attention_job *job) {
    SZG_TRY(measure(context, run, job, 0, 3.5));
    return measure(context, run, job, 0.1, 12);
}

static szg_status measure_at(szg_context *context, bench_run *run, const bench_size *size,
                             bench_peer *peer) {
    int64_t rows = size->batch * size->length, head = size->width / size->heads;
    szgi_step_block block = {.seed = run->options.seed, .finite = 1};
    float *qkv = NULL, *out = NULL;
    void *device_block = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_device_alloc(context, 12 * rows * size->width, &qkv), end);
    SZG_TRY_GOTO(status, szgi_device_alloc(context, 4 * rows * size->width, &out), end);
    SZG_TRY_GOTO(status, szgi_device_alloc(context, sizeof block, &device_block), end);
    SZG_TRY_GOTO(status, szgi_device_upload(context, device_block, &block, sizeof block), end);
    SZG_TRY_GOTO(status, fill(context, 3 * rows * size->width, run->options.seed, qkv), end);
    szgi_attention attention = {
        .batch = size->batch,
        .heads = size->heads,
        .length = size->length,
        .d_qk = head,
        .d_v = head,
        .q = qkv,
        .k = qkv + size->width,
        .v = qkv + 2 * size->width,
        .ldq = 3 * size->width,
        .ldk = 3 * size->width,
        .ldv = 3 * size->width,
        .scale = 0.25,
        .causal = true,
        .dropout = {.purpose = szgi_network_purpose(SZGI_PLACE_ATTENTION, 0),
                    .block = device_block},
        .out = out,
        .ldout = size->width};
    status = measure_both(context, run, &(attention_job){attention, peer});
end:
    szgi_device_free(context, qkv);
    szgi_device_free(context, out);
    szgi_device_free(context, device_block);
    return status;
}

/* The peer makes its arrays when it opens a model. */
szg_status bench_train_attention(szg_context *context, bench_run *run) {
    bench_peer peer;
    const bench_size *size = bench_train_size(context, run);
    SZG_TRY(bench_rival_open(context, run, &peer));
    szg_status status = bench_peer_model(context, &peer, "rope", size);
    if (status == SZG_OK)
        status = measure_at(context, run, size, &peer);
    bench_peer_close(&peer);
    return status;
}
