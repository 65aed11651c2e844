/* What the items on a GPU share: whether there is one, and its ceiling. */
#include <stdio.h>
#include <string.h>

#include <szego/memory.h>
#include <szego/network.h>
#include <szego/ops.h>
#include <szego/random.h>
#include "device.h"

bool bench_on_device(szg_context *context) {
    return strncmp(szg_ops_name(szg_ops_of(context)), "cuda", 4) == 0;
}

const char *bench_precision(szg_context *context) {
    const char *colon = strchr(szg_ops_name(szg_ops_of(context)), ':');
    return colon ? colon + 1 : "tf32";
}

szg_status bench_device_name(szg_context *context, size_t size, char *name) {
    szg_device device;
    const char *libraries;
    int count = 0;
    SZG_TRY(szg_backend_devices(context, 1, &device, &count, &libraries));
    snprintf(name, size, "%s", count > 0 ? device.name : "no device");
    return SZG_OK;
}

/* ---- A large product ---- */

typedef struct product_job {
    szg_linear linear;
    bench_peer *peer;
    int64_t times;
    double seconds; /* of one product */
} product_job;

static szg_status run_product(szg_context *context, void *argument) {
    product_job *job = argument;
    double start = bench_now();
    for (int64_t i = 0; i < job->times; i++)
        SZG_TRY(szg_network_linear(context, &job->linear));
    SZG_TRY(szg_device_sync(context));
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

/* Normal numbers, a block of them again and again: on zeros a product runs faster. */
static szg_status fill(szg_context *context, int64_t count, char *device) {
    int64_t block = count < 1 << 20 ? count : 1 << 20;
    float *values;
    SZG_TRY(szg_memory_alloc(context, block, sizeof *values, &values));
    szg_stream stream = {.seed = 1, .purpose = 0xB0};
    for (int64_t i = 0; i < block; i++)
        values[i] = (float)szg_random_normal(&stream, (uint64_t)i);
    szg_status status = SZG_OK;
    for (int64_t at = 0; at < count && status == SZG_OK; at += block) {
        int64_t some = count - at < block ? count - at : block;
        status = szg_device_upload(context, device + 4 * at, values, 4 * some);
    }
    szg_memory_free(values);
    return status;
}

static szg_status measure(szg_context *context, const bench_options *o, product_job *job,
                          double *rate, szg_table *table) {
    int64_t order = job->linear.rows;
    char name[300], input[64];
    SZG_TRY(bench_device_name(context, sizeof name, name));
    snprintf(input, sizeof input, "product, %s", bench_precision(context));
    bench_case product = {.item = "train",
                          .input = input,
                          .n = order,
                          .ours_name = "a linear layer",
                          .rival_name = bench_peer_name(job->peer),
                          .ours = run_product,
                          .rival = job->peer->process ? peer_product : NULL,
                          .job = job,
                          .measured = &job->seconds,
                          .pairs = o->quick ? 3 : 9};
    SZG_TRY(bench_measure(context, &product, table));
    double work = 2 * (double)order * (double)order * (double)order;
    double ours = work / bench_last(table, "ours_s");
    double theirs = job->peer->process ? work / bench_last(table, "rival_s") : 0;
    *rate = theirs > ours ? theirs : ours;
    return szg_table_note(context, table, "%s: the peak is %.4g TF/s, %s", name, *rate * 1e-12,
                          theirs > ours ? "the rival's" : "ours");
}

szg_status bench_device_product(szg_context *context, const bench_options *o, bench_peer *peer,
                                double *rate, szg_table *table) {
    int64_t order = o->quick ? 64 : 8192, bytes = 4 * order * order;
    void *x = NULL, *weight = NULL, *y = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szg_device_alloc(context, bytes, &x), end);
    SZG_TRY_GOTO(status, szg_device_alloc(context, bytes, &weight), end);
    SZG_TRY_GOTO(status, szg_device_alloc(context, bytes, &y), end);
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
                       .times = o->quick ? 2 : 10};
    status = measure(context, o, &job, rate, table);
end:
    szg_device_free(context, x);
    szg_device_free(context, weight);
    szg_device_free(context, y);
    return status;
}
