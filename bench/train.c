/* `szego bench train`: training steps and evaluation at the paper's size against PyTorch, and what
 * part of the machine's matrix product they reach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/decoder/decoder.h"
#include "base/memory.h"
#include "base/random.h"
#include "train/run/train.h"
#include "device.h"
#include "ops_timer.h"

enum { PRODUCT_ORDER = 1024, COUNTED_STEPS = 3 };

/* A model with all that a step needs, and its rival. */
typedef struct train_job {
    const char *encoding;
    bench_size size;
    bench_peer *peer;
    szg_model *model;
    szgi_decoder *decoder;
    int32_t *tokens, *lengths, *labels; /* the host's */
    szgi_batch batch;
    void *gradient, *moment1, *moment2, *block, *tally; /* the backend's */
    uint32_t step;
} train_job;

/* ---- The jobs that are timed ---- */

static szg_status run_step(szg_context *context, void *argument) {
    train_job *job = argument;
    szgi_step_block block = {.seed = 1,
                             .step = job->step++,
                             .finite = 1,
                             .learning_rate = 1e-4,
                             .correction1 = 0.5,
                             .correction2 = 0.5};
    szgi_adamw adamw = {.count = szgi_model_count(job->model),
                        .beta1 = 0.98,
                        .beta2 = 0.9,
                        .eps = 1e-8,
                        .decay = 1e-5,
                        .block = job->block,
                        .gradient = job->gradient,
                        .weight = szgi_model_arena(job->model),
                        .moment1 = job->moment1,
                        .moment2 = job->moment2};
    SZG_TRY(szgi_device_upload(context, job->block, &block, sizeof block));
    SZG_TRY(szgi_decoder_forward(context, job->decoder, &job->batch));
    SZG_TRY(szgi_decoder_backward(context, job->decoder, job->gradient, job->tally));
    SZG_TRY(szgi_network_finite(context, adamw.count, job->gradient, job->block));
    SZG_TRY(szgi_network_adamw(context, &adamw));
    SZG_TRY(szgi_device_download(context, &block, job->block, sizeof block));
    if (!block.finite)
        return szgi_fail(context, SZG_EINTERNAL, "benchmark: the gradient is not finite");
    return SZG_OK;
}

static szg_status run_evaluation(szg_context *context, void *argument) {
    train_job *job = argument;
    SZG_TRY(szgi_decoder_forward(context, job->decoder, &job->batch));
    SZG_TRY(szgi_decoder_score(context, job->decoder, job->tally));
    return szgi_device_sync(context);
}

static szg_status peer_step(szg_context *context, void *argument) {
    return bench_peer_run(context, ((train_job *)argument)->peer, "step");
}

static szg_status peer_evaluation(szg_context *context, void *argument) {
    return bench_peer_run(context, ((train_job *)argument)->peer, "evaluate");
}

typedef struct product_job {
    float *a, *b, *c;
} product_job;

static szg_status run_product(szg_context *context, void *argument) {
    product_job *job = argument;
    bench_gemm_single(szg_context_threads(context), PRODUCT_ORDER, job->a, job->b, job->c);
    return SZG_OK;
}

/* ---- Setting up ---- */

static szg_status fill_batch(szg_context *context, train_job *job, uint64_t seed) {
    const bench_size *size = &job->size;
    szgi_stream stream = {.seed = seed, .purpose = 0xBE};
    int64_t rows = size->batch * size->length;
    SZG_TRY(szgi_memory_alloc(context, rows, &job->tokens));
    SZG_TRY(szgi_memory_alloc(context, size->batch, &job->lengths));
    SZG_TRY(szgi_memory_alloc(context, size->batch, &job->labels));
    for (int64_t i = 0; i < rows; i++)
        job->tokens[i] =
            (int32_t)(1 + szgi_random_below(&stream, (uint64_t)i, size->vocabulary - 1));
    for (int64_t b = 0; b < size->batch; b++) {
        job->lengths[b] = (int32_t)size->length;
        job->labels[b] = (int32_t)(b % size->classes);
    }
    job->batch = (szgi_batch){size->batch, size->length, job->tokens, job->lengths, job->labels};
    return SZG_OK;
}

static szg_status open_job(szg_context *context, train_job *job, uint64_t seed) {
    szg_train_config config;
    SZG_TRY(bench_train_configure(context, &job->size, job->encoding, &config));
    SZG_TRY(szgi_model_open(context, &config, job->size.classes, &job->model));
    SZG_TRY(szgi_model_initialise(context, job->model, seed));
    SZG_TRY(fill_batch(context, job, seed));
    int64_t bytes = szgi_model_count(job->model) * szgi_network_real_size(context);
    SZG_TRY(szgi_device_alloc(context, bytes, &job->gradient));
    SZG_TRY(szgi_device_alloc(context, bytes, &job->moment1));
    SZG_TRY(szgi_device_alloc(context, bytes, &job->moment2));
    SZG_TRY(szgi_device_alloc(context, sizeof(szgi_step_block), &job->block));
    return szgi_device_alloc(context, sizeof(szgi_tally), &job->tally);
}

static void close_job(szg_context *context, train_job *job) {
    szgi_decoder_close(context, &job->decoder);
    szg_model_close(context, &job->model);
    void *device[] = {job->gradient, job->moment1, job->moment2, job->block, job->tally};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++)
        szgi_device_free(context, device[i]);
    szgi_memory_free(job->tokens);
    szgi_memory_free(job->lengths);
    szgi_memory_free(job->labels);
}

/* ---- Rows ---- */

static szg_status add_fraction(szg_context *context, bench_run *run, const train_job *job,
                               double seconds) {
    double tokens = (double)(job->size.batch * job->size.length) / seconds;
    double rate = tokens * szgi_model_operations_per_token(job->model).training;
    SZG_TRY(bench_train_row(context, run, job->encoding, "step, part of the product's rate"));
    szgi_row row = bench_latest(context, run);
    szgi_row_text(&row, BENCH_RIVAL, "sgemm, order 1024");
    bench_put_ratio(&row, rate / run->product_rate, 0.7);
    szgi_row_note(&row, "%.4g of %.4g GF/s", rate * 1e-9, run->product_rate * 1e-9);
    return row.status;
}

static szg_status add_memory(szg_context *context, bench_run *run, const train_job *job,
                             double ours) {
    char answer[64];
    if (job->peer->process == 0)
        return SZG_OK;
    SZG_TRY(bench_peer_ask(context, job->peer, "peak", answer, sizeof answer));
    double theirs = strtod(answer, NULL);
    SZG_TRY(bench_train_row(context, run, job->encoding, "step, peak memory"));
    szgi_row row = bench_latest(context, run);
    szgi_row_text(&row, BENCH_RIVAL, bench_peer_name(job->peer));
    szgi_row_real(&row, BENCH_PEAK_MIB, ours);
    bench_put_ratio(&row, theirs / ours, 3);
    szgi_row_note(&row, "the rival's process: %.0f MiB", theirs);
    return row.status;
}

static szg_status note_throughput(szg_context *context, bench_run *run, const train_job *job) {
    double tokens = (double)(job->size.batch * job->size.length),
           ours = tokens / bench_last(run, BENCH_OURS_S);
    szgi_row row = bench_latest(context, run);
    if (job->peer->process == 0)
        szgi_row_note(&row, "%.0f tokens/s; %s", ours, bench_no_rival(run));
    else
        szgi_row_note(&row, "%.0f tokens/s, the rival %.0f", ours,
                      tokens / bench_last(run, BENCH_RIVAL_S));
    return row.status;
}

/* What is done over and over with one batch. */
typedef struct pass {
    const char *name, *ours_name;
    bool training;
    bench_fn *ours, *rival;
    int64_t pairs;
    double target;
} pass;

static const pass step_pass = {"step", "forward, backward, AdamW", true, run_step, peer_step, 9,
                               1.8};
static const pass evaluation_pass = {
    "evaluation", "forward, loss, accuracy", false, run_evaluation, peer_evaluation, 15, 1.4};
static const pass single_pass = {
    "step by itself, not recorded", "forward, backward, AdamW", true, run_step, NULL, 9, 0};

static szg_status open_decoder(szg_context *context, train_job *job, bool training) {
    SZG_TRY(szgi_decoder_open(context, job->model, job->size.batch, job->size.length, training,
                              &job->decoder));
    if (training)
        szgi_decoder_set_block(job->decoder, job->block);
    return SZG_OK;
}

static szg_status measure_pass(szg_context *context, bench_run *run, train_job *job,
                               const pass *what) {
    char input[64];
    snprintf(input, sizeof input, "%s: %s", job->encoding, what->name);
    bool peer = job->peer->process != 0 && what->rival;
    bench_case runs = {.input = input,
                       .n = job->size.batch * job->size.length,
                       .ours_name = what->ours_name,
                       .rival_name = bench_peer_name(job->peer),
                       .ours = what->ours,
                       .rival = peer ? what->rival : NULL,
                       .job = job,
                       .pairs = run->options.quick ? 3 : what->pairs,
                       .target_ratio = peer ? what->target : 0};
    SZG_TRY(bench_measure(context, run, &runs));
    return note_throughput(context, run, job);
}

/* ---- Items ---- */

typedef szg_status job_fn(szg_context *context, bench_run *run, train_job *job);

static szg_status measure_step(szg_context *context, bench_run *run, train_job *job) {
    SZG_TRY(open_decoder(context, job, true));
    SZG_TRY(measure_pass(context, run, job, &step_pass));
    double seconds = bench_last(run, BENCH_OURS_S), peak = bench_last(run, BENCH_PEAK_MIB);
    SZG_TRY(add_memory(context, run, job, peak));
    return add_fraction(context, run, job, seconds);
}

static szg_status measure_evaluation(szg_context *context, bench_run *run, train_job *job) {
    SZG_TRY(open_decoder(context, job, false));
    return measure_pass(context, run, job, &evaluation_pass);
}

/* The first step chooses algorithms and allocates; the next ones do not. */
static szg_status measure_first(szg_context *context, bench_run *run, train_job *job) {
    SZG_TRY(open_decoder(context, job, true));
    double start = bench_now();
    SZG_TRY(run_step(context, job));
    double seconds = bench_now() - start;
    SZG_TRY(bench_train_row(context, run, job->encoding, "first step"));
    szgi_row row = bench_latest(context, run);
    szgi_row_text(&row, BENCH_OURS, step_pass.ours_name);
    szgi_row_real(&row, BENCH_OURS_S, seconds);
    SZG_TRY(row.status);
    return measure_pass(context, run, job, &single_pass);
}

static szg_status add_operation(szg_context *context, bench_run *run, const train_job *job,
                                const bench_op *op, double whole) {
    double seconds = op->seconds / COUNTED_STEPS, bytes = op->bytes / COUNTED_STEPS;
    SZG_TRY(bench_train_row(context, run, job->encoding, op->name));
    szgi_row row = bench_latest(context, run);
    szgi_row_text(&row, BENCH_OURS, "part of a step");
    szgi_row_real(&row, BENCH_OURS_S, seconds);
    if (op->calls > 0)
        szgi_row_integer(&row, BENCH_CALLS, op->calls / COUNTED_STEPS);
    if (bytes > 0) {
        szgi_row_real(&row, BENCH_BYTES, bytes);
        szgi_row_real(&row, BENCH_BYTES_PER_S, bytes / seconds);
        szgi_row_real(&row, BENCH_COPY_SHARE, bytes / seconds / run->copy_rate);
    }
    szgi_row_note(&row, "%.1f %% of the step", 100 * seconds / whole);
    return row.status;
}

static szg_status add_operations(szg_context *context, bench_run *run, const train_job *job,
                                 const bench_ops *ops, double seconds) {
    double whole = seconds / COUNTED_STEPS;
    bench_op rest = {.name = "the rest", .seconds = seconds};
    for (int i = 0; i < ops->count; i++) {
        rest.seconds -= ops->op[i].seconds;
        SZG_TRY(add_operation(context, run, job, &ops->op[i], whole));
    }
    return add_operation(context, run, job, &rest, whole);
}

/* Where a step's time goes: a clock around every operation of the table, of a device its own. */
static szg_status measure_operations(szg_context *context, bench_run *run, train_job *job) {
    bench_ops ops;
    SZG_TRY(open_decoder(context, job, true));
    SZG_TRY(run_step(context, job)); /* plans, pages and scratch memory are there now */
    bench_ops_timed(context, &ops);
    double start = bench_now();
    szg_status status = SZG_OK;
    for (int step = 0; step < COUNTED_STEPS && status == SZG_OK; step++) {
        status = run_step(context, job);
        if (status == SZG_OK)
            status = bench_ops_collect(context);
    }
    double seconds = bench_now() - start;
    bench_ops_untimed(context);
    return status == SZG_OK ? add_operations(context, run, job, &ops, seconds) : status;
}

static szg_status with_model(szg_context *context, bench_run *run, bench_peer *peer,
                             job_fn *measure) {
    train_job job = {
        .encoding = run->item->of, .size = *bench_train_size(context, run), .peer = peer};
    szg_status status = bench_peer_model(context, peer, job.encoding, &job.size);
    if (status == SZG_OK)
        status = open_job(context, &job, run->options.seed);
    if (status == SZG_OK)
        status = measure(context, run, &job);
    close_job(context, &job);
    return status;
}

/* Each item has a peer of its own, so that peaks of memory are its own. */
static szg_status with_rival(szg_context *context, bench_run *run, job_fn *measure) {
    bench_peer peer;
    SZG_TRY(bench_rival_open(context, run, &peer));
    szg_status status = with_model(context, run, &peer, measure);
    bench_peer_close(&peer);
    return status;
}

szg_status bench_train_step(szg_context *context, bench_run *run) {
    if (run->product_rate == 0)
        SZG_TRY(bench_as(context, run, "train:product"));
    if (bench_on_device(context))
        return bench_train_device_step(context, run);
    return with_rival(context, run, measure_step);
}

szg_status bench_train_evaluation(szg_context *context, bench_run *run) {
    return with_rival(context, run, measure_evaluation);
}

szg_status bench_train_first(szg_context *context, bench_run *run) {
    return with_model(context, run, &(bench_peer){0}, measure_first);
}

szg_status bench_train_operations(szg_context *context, bench_run *run) {
    if (run->copy_rate == 0)
        SZG_TRY(bench_as(context, run, "machine:copy"));
    return with_model(context, run, &(bench_peer){0}, measure_operations);
}

/* ---- The ceiling ---- */

static szg_status measure_product(szg_context *context, bench_run *run, float *memory) {
    int64_t count = (int64_t)PRODUCT_ORDER * PRODUCT_ORDER;
    for (int64_t i = 0; i < 3 * count; i++)
        memory[i] = 1 / (float)(1 + i % 1000);
    product_job job = {memory, memory + count, memory + 2 * count};
    bench_case product = {.input = "sgemm",
                          .n = PRODUCT_ORDER,
                          .ours_name = "OpenBLAS, all threads",
                          .ours = run_product,
                          .job = &job,
                          .pairs = run->options.quick ? 5 : 31};
    SZG_TRY(bench_measure(context, run, &product));
    run->product_rate = 2.0 * PRODUCT_ORDER * (double)count / bench_last(run, BENCH_OURS_S);
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "%.4g GF/s in f32", run->product_rate * 1e-9);
    return row.status;
}

szg_status bench_train_product(szg_context *context, bench_run *run) {
    float *memory;
    if (bench_on_device(context))
        return bench_device_product(context, run);
    SZG_TRY(szgi_memory_alloc(context, 3 * (int64_t)PRODUCT_ORDER * PRODUCT_ORDER, &memory));
    szg_status status = measure_product(context, run, memory);
    szgi_memory_free(memory);
    return status;
}
