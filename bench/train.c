/* `szego bench train`: training steps and evaluation at the paper's size against PyTorch, and what
 * part of the machine's matrix product they reach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <szego/decoder.h>
#include <szego/memory.h>
#include <szego/random.h>
#include "ops_timer.h"
#include "train.h"

enum { PRODUCT_ORDER = 1024, BREAKDOWN_STEPS = 3 };

static const bench_size paper = {.batch = 64,
                                 .length = 128,
                                 .layers = 6,
                                 .width = 256,
                                 .hidden = 512,
                                 .heads = 16,
                                 .latent = 128,
                                 .vocabulary = 574,
                                 .classes = 72,
                                 .dropout = 0.1};
static const bench_size small = {.batch = 8,
                                 .length = 32,
                                 .layers = 2,
                                 .width = 64,
                                 .hidden = 128,
                                 .heads = 4,
                                 .latent = 32,
                                 .vocabulary = 574,
                                 .classes = 72,
                                 .dropout = 0.1};

/* A model with all that a step needs, and its rival. */
typedef struct train_job {
    const char *encoding;
    bench_size size;
    bench_peer *peer;
    szg_model *model;
    szg_decoder *decoder;
    int32_t *tokens, *lengths, *labels; /* the host's */
    szg_batch batch;
    void *gradient, *moment1, *moment2, *block, *tally; /* the backend's */
    uint32_t step;
    double product_rate; /* operations a second of the product of order 1024 */
} train_job;

/* ---- The jobs that are timed ---- */

static szg_status run_step(szg_context *context, void *argument) {
    train_job *job = argument;
    szg_step_block block = {.seed = 1,
                            .step = job->step++,
                            .finite = 1,
                            .learning_rate = 1e-4,
                            .correction1 = 0.5,
                            .correction2 = 0.5};
    szg_adamw adamw = {.count = szg_model_count(job->model),
                       .beta1 = 0.98,
                       .beta2 = 0.9,
                       .eps = 1e-8,
                       .decay = 1e-5,
                       .block = job->block,
                       .gradient = job->gradient,
                       .weight = szg_model_arena(job->model),
                       .moment1 = job->moment1,
                       .moment2 = job->moment2};
    SZG_TRY(szg_device_upload(context, job->block, &block, sizeof block));
    SZG_TRY(szg_decoder_forward(context, job->decoder, &job->batch));
    SZG_TRY(szg_decoder_backward(context, job->decoder, job->gradient, job->tally));
    SZG_TRY(szg_network_finite(context, adamw.count, job->gradient, job->block));
    SZG_TRY(szg_network_adamw(context, &adamw));
    SZG_TRY(szg_device_download(context, &block, job->block, sizeof block));
    if (!block.finite)
        return szg_fail(context, SZG_EINTERNAL, "benchmark: the gradient is not finite");
    return SZG_OK;
}

static szg_status run_evaluation(szg_context *context, void *argument) {
    train_job *job = argument;
    SZG_TRY(szg_decoder_forward(context, job->decoder, &job->batch));
    SZG_TRY(szg_decoder_score(context, job->decoder, job->tally));
    return szg_device_sync(context);
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
    szg_stream stream = {.seed = seed, .purpose = 0xBE};
    int64_t rows = size->batch * size->length;
    SZG_TRY(szg_memory_alloc(context, rows, sizeof *job->tokens, &job->tokens));
    SZG_TRY(szg_memory_alloc(context, size->batch, sizeof *job->lengths, &job->lengths));
    SZG_TRY(szg_memory_alloc(context, size->batch, sizeof *job->labels, &job->labels));
    for (int64_t i = 0; i < rows; i++)
        job->tokens[i] =
            (int32_t)(1 + szg_random_below(&stream, (uint64_t)i, size->vocabulary - 1));
    for (int64_t b = 0; b < size->batch; b++) {
        job->lengths[b] = (int32_t)size->length;
        job->labels[b] = (int32_t)(b % size->classes);
    }
    job->batch = (szg_batch){size->batch, size->length, job->tokens, job->lengths, job->labels};
    return SZG_OK;
}

static szg_status open_job(szg_context *context, train_job *job, uint64_t seed) {
    szg_train_config config;
    SZG_TRY(bench_train_configure(context, &job->size, job->encoding, &config));
    SZG_TRY(szg_model_open(context, &config, job->size.classes, &job->model));
    SZG_TRY(szg_model_initialise(context, job->model, seed));
    SZG_TRY(fill_batch(context, job, seed));
    int64_t bytes = szg_model_count(job->model) * szg_network_real_size(context);
    SZG_TRY(szg_device_alloc(context, bytes, &job->gradient));
    SZG_TRY(szg_device_alloc(context, bytes, &job->moment1));
    SZG_TRY(szg_device_alloc(context, bytes, &job->moment2));
    SZG_TRY(szg_device_alloc(context, sizeof(szg_step_block), &job->block));
    return szg_device_alloc(context, sizeof(szg_tally), &job->tally);
}

static void close_job(szg_context *context, train_job *job) {
    szg_decoder_close(context, &job->decoder);
    szg_model_close(context, &job->model);
    void *device[] = {job->gradient, job->moment1, job->moment2, job->block, job->tally};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++)
        szg_device_free(context, device[i]);
    szg_memory_free(job->tokens);
    szg_memory_free(job->lengths);
    szg_memory_free(job->labels);
}

/* ---- Rows ---- */

static szg_status add_fraction(szg_context *context, szg_table *table, const train_job *job,
                               double seconds) {
    double tokens = (double)(job->size.batch * job->size.length) / seconds;
    double rate = tokens * szg_model_operations_per_token(job->model).training;
    SZG_TRY(bench_train_row(context, table, job->encoding, "step, part of the product's rate"));
    SZG_TRY(szg_table_set_text(context, table, "rival", "sgemm, order 1024"));
    SZG_TRY(bench_train_ratio(context, table, rate / job->product_rate, 0.7));
    return szg_table_note(context, table, "%.4g of %.4g GF/s", rate * 1e-9,
                          job->product_rate * 1e-9);
}

static szg_status add_memory(szg_context *context, szg_table *table, const train_job *job,
                             double ours) {
    char answer[64];
    if (job->peer->process == 0)
        return SZG_OK;
    SZG_TRY(bench_peer_ask(context, job->peer, "peak", answer, sizeof answer));
    double theirs = strtod(answer, NULL);
    SZG_TRY(bench_train_row(context, table, job->encoding, "step, peak memory"));
    SZG_TRY(szg_table_set_text(context, table, "rival", bench_peer_name(job->peer)));
    SZG_TRY(szg_table_set_real(context, table, "peak_mib", ours));
    SZG_TRY(bench_train_ratio(context, table, theirs / ours, 3));
    return szg_table_note(context, table, "the rival's process: %.0f MiB", theirs);
}

static szg_status note_throughput(szg_context *context, szg_table *table, const train_job *job) {
    double tokens = (double)(job->size.batch * job->size.length),
           rival = bench_last(table, "rival_s");
    if (job->peer->process == 0)
        return szg_table_note(context, table, "%.0f tokens/s; no PyTorch here",
                              tokens / bench_last(table, "ours_s"));
    return szg_table_note(context, table, "%.0f tokens/s, the rival %.0f",
                          tokens / bench_last(table, "ours_s"), tokens / rival);
}

static szg_status add_part(szg_context *context, szg_table *table, const train_job *job,
                           const char *what, double seconds, double whole) {
    SZG_TRY(bench_train_row(context, table, job->encoding, what));
    SZG_TRY(szg_table_set_text(context, table, "ours", "part of a step"));
    SZG_TRY(szg_table_set_real(context, table, "ours_s", seconds));
    return szg_table_note(context, table, "%.1f %% of the step", 100 * seconds / whole);
}

/* Where a step's time goes: a clock around every operation of the table. */
static szg_status add_breakdown(szg_context *context, szg_table *table, train_job *job) {
    double seconds[BENCH_OP_KINDS];
    bench_ops_timed(context);
    double start = bench_now();
    szg_status status = SZG_OK;
    for (int step = 0; step < BREAKDOWN_STEPS && status == SZG_OK; step++)
        status = run_step(context, job);
    double whole = (bench_now() - start) / BREAKDOWN_STEPS, rest = whole;
    bench_ops_untimed(context, seconds);
    for (int kind = 0; kind < BENCH_OP_KINDS && status == SZG_OK; kind++) {
        double part = seconds[kind] / BREAKDOWN_STEPS;
        rest -= part;
        if (part > 0)
            status = add_part(context, table, job, bench_op_names[kind], part, whole);
    }
    return status == SZG_OK ? add_part(context, table, job, "the rest", rest, whole) : status;
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

static szg_status measure_pass(szg_context *context, const bench_options *o, train_job *job,
                               const pass *what, szg_table *table) {
    char input[64];
    snprintf(input, sizeof input, "%s: %s", job->encoding, what->name);
    bool peer = job->peer->process != 0;
    bench_case runs = {.item = "train",
                       .input = input,
                       .n = job->size.batch * job->size.length,
                       .ours_name = what->ours_name,
                       .rival_name = bench_peer_name(job->peer),
                       .ours = what->ours,
                       .rival = peer ? what->rival : NULL,
                       .job = job,
                       .pairs = o->quick ? 3 : what->pairs,
                       .target_ratio = peer ? what->target : 0};
    SZG_TRY(szg_decoder_open(context, job->model, job->size.batch, job->size.length, what->training,
                             &job->decoder));
    if (what->training)
        szg_decoder_set_block(job->decoder, job->block);
    SZG_TRY(bench_measure(context, &runs, table));
    return note_throughput(context, table, job);
}

static szg_status measure_step(szg_context *context, const bench_options *o, train_job *job,
                               szg_table *table) {
    SZG_TRY(measure_pass(context, o, job, &step_pass, table));
    double seconds = bench_last(table, "ours_s"), peak = bench_last(table, "peak_mib");
    SZG_TRY(add_fraction(context, table, job, seconds));
    SZG_TRY(add_memory(context, table, job, peak));
    return add_breakdown(context, table, job);
}

static szg_status measure_encoding(szg_context *context, const bench_options *o, train_job job,
                                   szg_table *table) {
    szg_status status = bench_peer_model(context, job.peer, job.encoding, &job.size);
    if (status == SZG_OK)
        status = open_job(context, &job, o->seed);
    if (status == SZG_OK)
        status = measure_step(context, o, &job, table);
    szg_decoder_close(context, &job.decoder);
    if (status == SZG_OK)
        status = measure_pass(context, o, &job, &evaluation_pass, table);
    close_job(context, &job);
    return status;
}

static szg_status measure_product(szg_context *context, const bench_options *o, double *rate,
                                  szg_table *table) {
    int64_t count = (int64_t)PRODUCT_ORDER * PRODUCT_ORDER;
    product_job job;
    float *memory;
    SZG_TRY(szg_memory_alloc(context, 3 * count, sizeof *memory, &memory));
    for (int64_t i = 0; i < 3 * count; i++)
        memory[i] = 1 / (float)(1 + i % 1000);
    job = (product_job){memory, memory + count, memory + 2 * count};
    bench_case product = {.item = "train",
                          .input = "sgemm",
                          .n = PRODUCT_ORDER,
                          .ours_name = "OpenBLAS, all threads",
                          .ours = run_product,
                          .job = &job,
                          .pairs = o->quick ? 5 : 31};
    szg_status status = bench_measure(context, &product, table);
    szg_memory_free(memory);
    SZG_TRY(status);
    *rate = 2.0 * PRODUCT_ORDER * (double)count / bench_last(table, "ours_s");
    return szg_table_note(context, table, "%.4g GF/s in f32", *rate * 1e-9);
}

/* Each encoding has a peer of its own, so that peaks of memory are its own. */
static szg_status measure_with_peer(szg_context *context, const bench_options *o, train_job job,
                                    szg_table *table) {
    bench_peer peer;
    szg_status status = bench_peer_open(context, szg_context_threads(context), &peer);
    if (status != SZG_OK && status != SZG_EBACKEND)
        return status;
    job.peer = &peer;
    status = measure_encoding(context, o, job, table);
    if (status == SZG_OK && strcmp(job.encoding, "rope") == 0)
        status = bench_attention(context, o, &job.size, &peer, table);
    bench_peer_close(&peer);
    return status;
}

szg_status bench_train(szg_context *context, const bench_options *o, szg_table *table) {
    static const char *const encodings[] = {"rope", "mla"};
    if (bench_on_device(context))
        return bench_train_device(context, o, table);
    train_job job = {.size = o->quick ? small : paper};
    SZG_TRY(measure_product(context, o, &job.product_rate, table));
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        job.encoding = encodings[i];
        SZG_TRY(measure_with_peer(context, o, job, table));
    }
    return SZG_OK;
}
