/* `szego bench --backend cuda train`: the trainer at the paper's size against PyTorch on the same
 * device, and how long the paper's runs would take at the measured rates.
 *
 * What is timed are whole runs of the trainer, as a user starts them. A run of few steps and one of
 * many differ by steps alone: their difference leaves out opening, saving and evaluating. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/ablation/ablation.h"
#include "train/decoder/decoder.h"
#include "base/memory.h"
#include "base/random.h"
#include <szego/tasks.h>
#include "train/run/train.h"
#include "device.h"
#include "scratch.h"

/* What is run, and the paper's runs that follow from it. */
typedef struct run_plan {
    int64_t few, many;    /* steps of the two runs; their difference is a multiple of `every` */
    int64_t every;        /* steps between captures */
    int64_t train, test;  /* examples of an epoch */
    int64_t ablated;      /* examples of an ablation */
    int64_t paper_epochs; /* of Task 1; Task 2: half the examples, half as many epochs more */
    int64_t pairs;
} run_plan;

static const run_plan paper = {.few = 50,
                               .many = 250,
                               .every = 50,
                               .train = 70000,
                               .test = 30000,
                               .ablated = 6000,
                               .paper_epochs = 100,
                               .pairs = 5};
static const run_plan small = {.few = 2,
                               .many = 6,
                               .every = 2,
                               .train = 12,
                               .test = 4,
                               .ablated = 4,
                               .paper_epochs = 100,
                               .pairs = 3};
/* Goals: docs/explanation/gpu.md. */
static const double STEP_RATIO = 2, PEAK_PART = 0.3, CAPTURE_PART = 0.03, TASK_SECONDS = 180,
                    TABLE_SECONDS = 1800;

static run_plan plan_of(const bench_run *run) {
    run_plan plan = run->options.quick ? small : paper;
    int64_t steps = run->options.steps;
    if (steps > 0) {
        plan.few = (steps + 3) / 4;
        plan.many = plan.few + steps;
        plan.every = steps % plan.every ? steps : plan.every;
    }
    return plan;
}

typedef struct device_job {
    run_plan plan;
    const bench_size *size;
    const char *encoding;
    bench_peer *peer;
    szg_train_config config;
    szg_examples examples; /* sequences of the whole length */
    szg_model *model;
    double seconds; /* of a step, or an epoch */
} device_job;

/* ---- Runs ---- */

static szg_status train_in(szg_context *context, const device_job *job,
                           const szg_train_config *config, int64_t train, int64_t test,
                           const char *folder) {
    szg_dataset data = {.train = job->examples, .test = job->examples};
    data.train.count = train;
    data.test.count = test;
    data.classes = job->size->classes;
    szg_train_options options = {SZG_INIT(szg_train_options), .config = config, .data = &data,
                                 .seed = 1, .folder = folder};
    szg_train_result result;
    return szg_train_run(context, &options, &result);
}

/* Seconds of one run in a folder that goes with it. */
static szg_status time_run(szg_context *context, const device_job *job,
                           const szg_train_config *config, int64_t train, int64_t test,
                           double *seconds) {
    char folder[BENCH_SCRATCH];
    SZG_TRY(bench_scratch_open(context, folder));
    double start = bench_now();
    szg_status status = train_in(context, job, config, train, test, folder);
    *seconds = bench_now() - start;
    bench_scratch_remove(folder);
    return status;
}

/* Seconds by which the second run is longer; both again where a busy machine hides it. */
static szg_status time_between(szg_context *context, device_job *job, const szg_train_config *few,
                               const szg_train_config *many, int64_t train, int64_t test) {
    enum { ATTEMPTS = 5 };
    double first, second;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        SZG_TRY(time_run(context, job, few, train, test, &first));
        SZG_TRY(time_run(context, job, many, train, test, &second));
        job->seconds = second - first;
        if (job->seconds > 0)
            return SZG_OK;
    }
    return szgi_fail(
        context, SZG_ENOCONV,
        "benchmark: a longer run took %.3g s, a shorter one %.3g s: the machine is too "
        "busy to tell",
        second, first);
}

/* A step, from two runs that end within an epoch. */
static szg_status time_step(szg_context *context, device_job *job, int64_t every) {
    const run_plan *plan = &job->plan;
    szg_train_config few = job->config, many;
    few.capture.every = every;
    few.loop.limit_steps = plan->few;
    many = few;
    many.loop.limit_steps = plan->many;
    SZG_TRY(
        time_between(context, job, &few, &many, plan->many * job->size->batch, job->size->batch));
    job->seconds /= (double)(plan->many - plan->few);
    return SZG_OK;
}

static szg_status run_steps(szg_context *context, void *argument) {
    return time_step(context, argument, 0);
}

static szg_status run_captured_steps(szg_context *context, void *argument) {
    device_job *job = argument;
    return time_step(context, job, job->plan.every);
}

/* An epoch with its evaluation and its checkpoint. */
static szg_status run_epoch(szg_context *context, void *argument) {
    device_job *job = argument;
    szg_train_config one = job->config, two;
    one.capture.every = job->plan.every;
    one.loop.epochs = 1;
    two = one;
    two.loop.epochs = 2;
    return time_between(context, job, &one, &two, job->plan.train, job->plan.test);
}

static szg_status run_ablation(szg_context *context, void *argument) {
    device_job *job = argument;
    szg_examples examples = job->examples;
    examples.count = job->plan.ablated;
    szg_ablation ablation;
    double start = bench_now();
    szg_status status = szg_ablation_run(
        context, job->model, &examples,
        &(szg_ablation_options){SZG_INIT(szg_ablation_options), .method = SZG_ABLATE_OUTPUT},
        &ablation);
    job->seconds = bench_now() - start;
    szg_ablation_close(&ablation);
    return status;
}

static szg_status peer_steps(szg_context *context, void *argument) {
    device_job *job = argument;
    int64_t steps = job->plan.many - job->plan.few;
    char request[64];
    snprintf(request, sizeof request, "steps %lld", (long long)steps);
    double start = bench_now();
    SZG_TRY(bench_peer_run(context, job->peer, request));
    job->seconds = (bench_now() - start) / (double)steps;
    return SZG_OK;
}

/* ---- Setting up ---- */

static szg_status fill_examples(szg_context *context, device_job *job, int64_t count,
                                uint64_t seed) {
    const bench_size *size = job->size;
    szg_examples *out = &job->examples;
    szgi_stream stream = {.seed = seed, .purpose = 0xBE};
    *out = (szg_examples){.count = count,
                          .longest = size->length,
                          .largest_token = (int32_t)size->vocabulary - 1,
                          .largest_label = (int32_t)size->classes - 1};
    int64_t tokens = count * size->length;
    SZG_TRY(szgi_memory_alloc(context, count + 1, &out->start));
    SZG_TRY(szgi_memory_alloc(context, tokens, &out->tokens));
    SZG_TRY(szgi_memory_alloc(context, count, &out->label));
    for (int64_t i = 0; i < tokens; i++)
        out->tokens[i] =
            (int32_t)(1 + szgi_random_below(&stream, (uint64_t)i, size->vocabulary - 1));
    for (int64_t e = 0; e <= count; e++)
        out->start[e] = e * size->length;
    for (int64_t e = 0; e < count; e++)
        out->label[e] = (int32_t)(e % size->classes);
    return SZG_OK;
}

static szg_status open_encoding(szg_context *context, device_job *job) {
    SZG_TRY(bench_train_configure(context, job->size, job->encoding, &job->config));
    job->config.loop.batch = job->size->batch;
    job->config.loop.epochs = job->plan.paper_epochs;
    SZG_TRY(szgi_model_open(context, &job->config, job->size->classes, &job->model));
    return szgi_model_initialise(context, job->model, 1);
}

/* A rival that cannot build this model costs its own columns alone. */
static szg_status open_rival(szg_context *context, const bench_run *run, device_job *job) {
    SZG_TRY(bench_rival_open(context, run, job->peer));
    szg_status status = bench_peer_model(context, job->peer, job->encoding, job->size);
    if (status != SZG_EBACKEND)
        return status;
    szgi_say(context, SZG_WARNING, "%s; its columns stay empty", szg_context_message(context));
    bench_peer_close(job->peer);
    return SZG_OK;
}

/* ---- Rows ---- */

/* A case that takes its seconds from the job. */
static bench_case case_of(device_job *job, char input[96], const char *what) {
    snprintf(input, 96, "%s: %s", job->encoding, what);
    return (bench_case){
        .input = input, .job = job, .measured = &job->seconds, .pairs = job->plan.pairs};
}

static szg_status add_fraction(szg_context *context, bench_run *run, const device_job *job,
                               double seconds) {
    double tokens = (double)(job->size->batch * job->size->length) / seconds;
    double rate = tokens * szgi_model_operations_per_token(job->model).training;
    SZG_TRY(bench_train_row(context, run, job->encoding, "step, part of the matrix peak"));
    szgi_row row = bench_latest(context, run);
    bench_put_ratio(&row, rate / run->product_rate, PEAK_PART);
    szgi_row_note(&row, "%.4g of %.4g TF/s, %s", rate * 1e-12, run->product_rate * 1e-12,
                  bench_precision(context));
    return row.status;
}

static szg_status measure_step(szg_context *context, bench_run *run, device_job *job) {
    char input[96];
    SZG_TRY(open_rival(context, run, job));
    bool peer = job->peer->process != 0;
    bench_case step = case_of(job, input, "step");
    step.n = job->size->batch * job->size->length;
    step.ours_name = "the trainer";
    step.rival_name = bench_peer_name(job->peer);
    step.ours = run_steps;
    step.rival = peer ? peer_steps : NULL;
    step.target_ratio = peer ? STEP_RATIO : 0;
    SZG_TRY(bench_measure(context, run, &step));
    double seconds = bench_last(run, BENCH_OURS_S);
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "%.4g tokens/s, %s; runs of %lld and %lld steps%s%s",
                  (double)step.n / seconds, bench_precision(context), (long long)job->plan.few,
                  (long long)job->plan.many, peer ? "" : "; ", peer ? "" : bench_no_rival(run));
    SZG_TRY(row.status);
    return add_fraction(context, run, job, seconds);
}

static szg_status measure_capture(szg_context *context, bench_run *run, device_job *job) {
    char input[96], what[64];
    snprintf(what, sizeof what, "step, capture every %lld", (long long)job->plan.every);
    bench_case step = case_of(job, input, what);
    step.n = job->size->batch * job->size->length;
    step.ours_name = "with capture";
    step.rival_name = "without";
    step.ours = run_captured_steps;
    step.rival = run_steps;
    step.target_ratio = 1 / (1 + CAPTURE_PART);
    SZG_TRY(bench_measure(context, run, &step));
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "capture takes %.3g %% of the step",
                  100 / bench_last(run, BENCH_RATIO) - 100);
    return row.status;
}

/* The encodings of Table 1, by their place in run->epoch and run->ablation. */
static const char *const encodings[] = {"rope", "mla", "nope"};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

static int place_of(const char *encoding) {
    int place = 0;
    while (strcmp(encodings[place], encoding) != 0)
        place++;
    return place;
}

/* An epoch, and the paper's Task 1 from it. */
static szg_status measure_epoch(szg_context *context, bench_run *run, device_job *job) {
    char input[96];
    bench_case epoch = case_of(job, input, "epoch, test and checkpoint");
    epoch.n = job->plan.train;
    epoch.ours_name = "the trainer, capturing";
    epoch.ours = run_epoch;
    SZG_TRY(bench_measure(context, run, &epoch));
    double seconds = bench_last(run, BENCH_OURS_S) * (double)job->plan.paper_epochs;
    run->epoch[place_of(job->encoding)] = seconds;
    SZG_TRY(bench_train_row(context, run, job->encoding, "Task 1, one run"));
    szgi_row row = bench_latest(context, run);
    bench_put_seconds(&row, seconds, TASK_SECONDS);
    szgi_row_note(&row, "extrapolated: %lld epochs of the row above",
                  (long long)job->plan.paper_epochs);
    return row.status;
}

static szg_status measure_ablation(szg_context *context, bench_run *run, device_job *job) {
    char input[96];
    bench_case ablation = case_of(job, input, "ablation of every head");
    ablation.n = job->plan.ablated;
    ablation.ours_name = "all layers, each head and all";
    ablation.ours = run_ablation;
    SZG_TRY(bench_measure(context, run, &ablation));
    double seconds =
        bench_last(run, BENCH_OURS_S) * (double)job->plan.test / (double)job->plan.ablated;
    run->ablation[place_of(job->encoding)] = seconds;
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "%.4g s for %lld examples", seconds, (long long)job->plan.test);
    return row.status;
}

/* ---- Items ---- */

typedef szg_status job_fn(szg_context *context, bench_run *run, device_job *job);

/* Measures with the examples that runs of `steps` steps take, or `least`. */
static szg_status with_examples(szg_context *context, bench_run *run, bool runs, int64_t least,
                                job_fn *measure) {
    bench_peer peer = {0};
    device_job job = {.plan = plan_of(run),
                      .size = bench_train_size(context, run),
                      .encoding = run->item->of,
                      .peer = &peer};
    int64_t count = runs ? job.plan.many * job.size->batch : 0;
    szg_status status =
        fill_examples(context, &job, count > least ? count : least, run->options.seed);
    if (status == SZG_OK)
        status = open_encoding(context, &job);
    if (status == SZG_OK)
        status = measure(context, run, &job);
    szg_model_close(context, &job.model);
    szg_examples_close(&job.examples);
    bench_peer_close(&peer);
    return status;
}

szg_status bench_train_device_step(szg_context *context, bench_run *run) {
    return with_examples(context, run, true, 0, measure_step);
}

szg_status bench_train_capture(szg_context *context, bench_run *run) {
    return with_examples(context, run, true, 0, measure_capture);
}

szg_status bench_train_epoch(szg_context *context, bench_run *run) {
    return with_examples(context, run, false, plan_of(run).train, measure_epoch);
}

szg_status bench_train_ablation(szg_context *context, bench_run *run) {
    return with_examples(context, run, false, plan_of(run).ablated, measure_ablation);
}

/* Two runs of each encoding with their ablations: Task 2 has half the examples and half as many
 * epochs more. */
szg_status bench_train_table1(szg_context *context, bench_run *run) {
    double total = 0;
    for (int i = 0; i < ENCODINGS; i++) {
        if (!(run->epoch[i] > 0 && run->ablation[i] > 0))
            return szgi_fail(context, SZG_EINVAL,
                             "train:table1 follows from epochs and ablations of its run: name "
                             "train:%s:epoch and train:%s:ablation before it, or `train`",
                             encodings[i], encodings[i]);
        total += run->epoch[i] * (1 + 1.5 / 2) + run->ablation[i] * 1.5;
    }
    SZG_TRY(bench_row(context, run, "Table 1: three encodings, both tasks, ablations"));
    szgi_row row = bench_latest(context, run);
    bench_put_seconds(&row, total, TABLE_SECONDS);
    szgi_row_note(&row, "extrapolated: 1.75 times Task 1 and 1.5 ablations each");
    return row.status;
}
