/* What the items on a GPU share: whether there is one, and its ceiling. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "network/network.h"
#include "network/ops.h"
#include "base/random.h"
#include "device.h"

bool bench_on_device(szg_context *context) {
    return strncmp(szgi_backend_name(context), "cuda", 4) == 0;
}

const char *bench_precision(szg_context *context) {
    const char *colon = strchr(szgi_backend_name(context), ':');
    return colon ? colon + 1 : "tf32";
}

szg_status bench_note_device(szg_context *context, bench_run *run) {
    szg_device device;
    const char *libraries;
    int count = 0;
    SZG_TRY(szg_backend_devices(context, 1, &device, &count, &libraries));
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "%s", count > 0 ? device.name : "no device");
    return row.status;
}

/* Normal numbers, a block of them again and again: on zeros a product runs faster. */
static szg_status fill(szg_context *context, int64_t count, char *device) {
    int64_t block = count < 1 << 20 ? count : 1 << 20;
    float *values;
    SZG_TRY(szgi_memory_alloc(context, block, &values));
    szgi_stream stream = {.seed = 1, .purpose = 0xB0};
    for (int64_t i = 0; i < block; i++)
        values[i] = (float)szgi_random_normal(&stream, (uint64_t)i);
    szg_status status = SZG_OK;
    for (int64_t at = 0; at < count && status == SZG_OK; at += block) {
        int64_t some = count - at < block ? count - at : block;
        status = szgi_device_upload(context, device + 4 * at, values, 4 * some);
    }
    szgi_memory_free(values);
    return status;
}

/* ---- Copies ---- */

typedef struct copy_job {
    char *from, *to;
    int64_t bytes, times;
    double seconds; /* of one copy */
} copy_job;

typedef szg_status move_fn(szg_context *context, void *to, const void *from, int64_t bytes);

static szg_status move(szg_context *context, copy_job *job, move_fn *once) {
    double start = bench_now();
    for (int64_t i = 0; i < job->times; i++)
        SZG_TRY(once(context, job->to, job->from, job->bytes));
    SZG_TRY(szgi_device_sync(context));
    job->seconds = (bench_now() - start) / (double)job->times;
    return SZG_OK;
}

static szg_status run_copy(szg_context *context, void *job) {
    return move(context, job, szgi_device_copy);
}

static szg_status run_upload(szg_context *context, void *job) {
    return move(context, job, szgi_device_upload);
}

static szg_status run_download(szg_context *context, void *job) {
    return move(context, job, szgi_device_download);
}

static bench_case case_of_copy(const bench_run *run, copy_job *job, const char *input,
                               bench_fn *ours) {
    return (bench_case){.input = input,
                        .n = job->bytes,
                        .ours_name = "an operation of the table",
                        .ours = ours,
                        .job = job,
                        .measured = &job->seconds,
                        .pairs = run->options.quick ? 3 : 9};
}

static szg_status measure_copy(szg_context *context, bench_run *run, copy_job *job) {
    bench_case copy = case_of_copy(run, job, "copy on the device", run_copy);
    SZG_TRY(fill(context, job->bytes / 4, job->from));
    SZG_TRY(bench_measure(context, run, &copy));
    SZG_TRY(bench_set_copy(context, run, 2 * (double)job->bytes));
    return bench_note_device(context, run);
}

szg_status bench_device_copy(szg_context *context, bench_run *run) {
    bool quick = run->options.quick;
    copy_job job = {.bytes = (int64_t)1 << (quick ? 16 : 30), .times = quick ? 2 : 10};
    szg_status status = szgi_device_alloc(context, job.bytes, (void **)&job.from);
    if (status == SZG_OK)
        status = szgi_device_alloc(context, job.bytes, (void **)&job.to);
    if (status == SZG_OK)
        status = measure_copy(context, run, &job);
    szgi_device_free(context, job.from);
    szgi_device_free(context, job.to);
    return status;
}

static szg_status measure_transfer(szg_context *context, bench_run *run, copy_job job,
                                   const char *input, bench_fn *ours) {
    bench_case transfer = case_of_copy(run, &job, input, ours);
    SZG_TRY(bench_measure(context, run, &transfer));
    szgi_row row = bench_latest(context, run);
    szgi_row_real(&row, BENCH_BYTES, (double)job.bytes);
    szgi_row_real(&row, BENCH_BYTES_PER_S, (double)job.bytes / bench_last(run, BENCH_OURS_S));
    return row.status;
}

/* From memory as a caller has it, pageable, and back to it. */
szg_status bench_machine_transfer(szg_context *context, bench_run *run) {
    int64_t bytes = (int64_t)1 << (run->options.quick ? 16 : 28);
    char *host = NULL, *device = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, bytes, &host), end);
    memset(host, 1, (size_t)bytes);
    SZG_TRY_GOTO(status, szgi_device_alloc(context, bytes, (void **)&device), end);
    copy_job up = {.from = host, .to = device, .bytes = bytes, .times = 1};
    copy_job down = {.from = device, .to = host, .bytes = bytes, .times = 1};
    SZG_TRY_GOTO(status, measure_transfer(context, run, up, "host to device", run_upload), end);
    status = measure_transfer(context, run, down, "device to host", run_download);
end:
    szgi_device_free(context, device);
    szgi_memory_free(host);
    return status;
}

/* ---- A large product ---- */

typedef struct product_job {
    szgi_linear linear;
    bench_peer *peer;
    int64_t times;
    double seconds; /* of one product */
} product_job;

static szg_status run_product(szg_context *context, void *argument) {
    product_job *job = argument;
    double start = bench_now();
    for (int64_t i = 0; i < job->times; i++)
        SZG_TRY(szgi_network_linear(context, &job->linear));
    SZG_TRY(szgi_device_sync(context));
    job->seconds = (bench_now() - start) / (double)job->times;
    return SZG_OK;
}

static szg_status peer_product(szg_context *context, void *argument) {
    product_job *job = argument;
    char request[64];
    snprintf(request, sizeof request, "product %lld %lld", (long long)job->linear.rows,
             (long long)job->times);
    double start = bench_now();
    SZG_TRY(bench_peer_run(context, job->peer, request));
    job->seconds = (bench_now() - start) / (double)job->times;
    return SZG_OK;
}

static szg_status measure(szg_context *context, bench_run *run, product_job *job) {
    int64_t order = job->linear.rows;
    char input[64];
    snprintf(input, sizeof input, "product, %s", bench_precision(context));
    bench_case product = {.input = input,
                          .n = order,
                          .ours_name = "a linear layer",
                          .rival_name = bench_peer_name(job->peer),
                          .ours = run_product,
                          .rival = job->peer->process ? peer_product : NULL,
                          .job = job,
                          .measured = &job->seconds,
                          .pairs = run->options.quick ? 3 : 9};
    SZG_TRY(bench_measure(context, run, &product));
    double work = 2 * (double)order * (double)order * (double)order;
    double ours = work / bench_last(run, BENCH_OURS_S);
    double theirs = job->peer->process ? work / bench_last(run, BENCH_RIVAL_S) : 0;
    run->product_rate = theirs > ours ? theirs : ours;
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "the peak is %.4g TF/s, %s", run->product_rate * 1e-12,
                  theirs > ours ? "the rival's" : "ours");
    SZG_TRY(row.status);
    return bench_note_device(context, run);
}

static szg_status measure_with(szg_context *context, bench_run *run, bench_peer *peer) {
    int64_t order = run->options.quick ? 64 : 8192, bytes = 4 * order * order;
    void *x = NULL, *weight = NULL, *y = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_device_alloc(context, bytes, &x), end);
    SZG_TRY_GOTO(status, szgi_device_alloc(context, bytes, &weight), end);
    SZG_TRY_GOTO(status, szgi_device_alloc(context, bytes, &y), end);
    SZG_TRY_GOTO(status, fill(context, order * order, x), end);
    SZG_TRY_GOTO(status, fill(context, order * order, weight), end);
    product_job job = {.linear = {.rows = order,
                                  .in = order,
                                  .out = order,
                                  .x = x,
                                  .ldx = order,
                                  .weight = weight,
                                  .y = y,
                                  .ldy = order},
                       .peer = peer,
                       .times = run->options.quick ? 2 : 10};
    status = measure(context, run, &job);
end:
    szgi_device_free(context, x);
    szgi_device_free(context, weight);
    szgi_device_free(context, y);
    return status;
}

szg_status bench_device_product(szg_context *context, bench_run *run) {
    bench_peer peer;
    SZG_TRY(bench_rival_open(context, run, &peer));
    szg_status status = measure_with(context, run, &peer);
    bench_peer_close(&peer);
    return status;
}
