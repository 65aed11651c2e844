/* `szego ablate`: accuracy of trained decoders without each head, and where the loss deposits. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "train/ablation/ablation.h"
#include "train/run/train.h"
#include "base/memory.h"

#include "command.h"

typedef struct ablate_options {
    text_list checkpoints, runs; /* as named; each run of a folder of runs, owned */
    const char *config, *data, *split, *method;
    int64_t batch;
} ablate_options;

static const command_option options[] = {
    OPTION(ablate_options, checkpoints, "checkpoint", "PATH",
           "a checkpoint, a run's folder, or a folder of runs; several are ablated in turn, "
           "operands too; runs of one encoding and task count as seeds of one experiment"),
    OPTION(ablate_options, config, "config", "FILE",
           "the models' configuration (default: the one in each checkpoint)"),
    OPTION(ablate_options, data, "data", "FILE",
           "measure accuracy on the examples of a JSONL file (default: the data of the "
           "configuration, generated again from data.seed)"),
    OPTION(ablate_options, split, "split", "SPLIT",
           "test (default), or all: the training split too, as the released code does",
           .choices = "test|all"),
    OPTION(ablate_options, method, "method", "METHOD",
           "output (default): the head's output is zero; values: its rows of W_V and the bias, "
           "which gives the same; latent_columns (mla): columns h d_head .. (h+1) d_head - 1 of "
           "W_UQ, W_UK and W_UV, as released: latent dimensions, not heads; cumulative: as output, "
           "but the last head of every layer below stays off, as in the released code; rotation: "
           "its queries and keys are not rotated, the weights as they are",
           .words = "output|values|latent_columns|cumulative|rotation"),
    OPTION(ablate_options, batch, "batch", "B", "sequences per pass (default: loop.evaluate_batch)",
           .least = 1, .most = 1 << 20),
    OPTION(ablate_options, checkpoints, NULL, "[PATH...]", NULL,
           .missing = "--checkpoint is missing: a checkpoint or the folder of a run"),
    {0}};

static void check(command_call *call, struct argp_state *state) {
    const ablate_options *own = call->own;
    if (own->split && own->data)
        argp_error(state, "--split divides a configuration's data: --data takes the whole file");
}

static szg_status add_run(szg_context *context, const char *run, void *user) {
    text_list *list = user;
    char *path;
    SZG_TRY(szgi_memory_regrow(context, &list->value, list->count, list->count + 1,
                               sizeof *list->value));
    SZG_TRY(szgi_memory_copy_text(context, run, &path));
    list->value[list->count++] = path;
    return SZG_OK;
}

/* A folder of runs stands for each of them. `out` owns its texts. */
static szg_status expand(szg_context *context, const text_list *named, text_list *out) {
    for (int64_t i = 0; i < named->count; i++) {
        int64_t before = out->count;
        SZG_TRY(szgi_checkpoint_runs(context, named->value[i], add_run, out));
        if (out->count == before)
            SZG_TRY(add_run(context, named->value[i], out));
    }
    return SZG_OK;
}

static void close_list(text_list *list) {
    for (int64_t i = 0; i < list->count; i++)
        szgi_memory_free((void *)list->value[i]);
    szgi_memory_free(list->value);
}

static void release(command_call *call) {
    ablate_options *own = call->own;
    close_list(&own->runs);
}

/* What all checkpoints have in common, and what each gave. */
typedef struct ablate_job {
    szg_ablation_source source;
    szg_ablation_options options;
    szg_train_config config;
    szg_ablation_subject *subject; /* [count]; their names outlive their models */
    szg_ablation *result;          /* [count] */
    const szg_ablation **results;
    szg_run_key *key;
    szg_train_config *settings; /* [count], of the models */
    configured_run *run;        /* [count] */
    szg_table *ablation, *deposit;
} ablate_job;

static szg_status ablate_one(command_call *call, ablate_job *job, int64_t index) {
    const ablate_options *own = call->own;
    szg_ablation_subject *subject = &job->subject[index];
    job->source.checkpoint = own->runs.value[index];
    SZG_TRY(szg_ablation_subject_open(call->context, &job->source, subject));
    job->settings[index] = *szgi_model_settings(subject->model);
    job->run[index] = (configured_run){subject->run, &job->settings[index]};
    szg_status status = szg_ablation_run(call->context, subject->model, &subject->examples,
                                         &job->options, &job->result[index]);
    szg_ablation_subject_close(call->context, subject);
    if (status != SZG_OK) /* examples are checked against each model */
        return szgi_fail_prefix(call->context, status, "%s",
                                own->data && status == SZG_EDATA ? own->data
                                                                 : job->source.checkpoint);
    job->result[index].ceiling = subject->ceiling;
    job->key[index] = (szg_run_key){subject->run, subject->encoding, subject->task, subject->seed};
    job->results[index] = &job->result[index];
    return szg_ablation_rows(call->context, job->ablation, &job->key[index], &job->result[index]);
}

/* The file of the weights, that of a run's folder too. */
static bool find_file(const char *path, struct stat *out) {
    char file[4096];
    int length = snprintf(file, sizeof file, "%s/checkpoint.safetensors", path);
    return (length < (int)sizeof file && stat(file, out) == 0) || stat(path, out) == 0;
}

/* One run twice would count as two seeds that agree. */
static szg_status check_distinct(szg_context *context, const text_list *runs) {
    struct stat one, other;
    for (int64_t i = 0; i < runs->count; i++)
        for (int64_t j = 0; find_file(runs->value[i], &one) && j < i; j++)
            if (find_file(runs->value[j], &other) && one.st_dev == other.st_dev &&
                one.st_ino == other.st_ino)
                return szgi_fail(context, SZG_EINVAL,
                                 "%s and %s are one run, which would count as two seeds: name each "
                                 "run once",
                                 runs->value[j], runs->value[i]);
    return SZG_OK;
}

static szg_status run_job(command_call *call, ablate_job *job) {
    const ablate_options *own = call->own;
    szg_context *context = call->context;
    int64_t count = own->runs.count;
    SZG_TRY(check_distinct(context, &own->runs));
    SZG_TRY(szgi_memory_alloc(context, count, &job->subject));
    SZG_TRY(szgi_memory_alloc(context, count, &job->result));
    SZG_TRY(szgi_memory_alloc(context, count, &job->results));
    SZG_TRY(szgi_memory_alloc(context, count, &job->key));
    SZG_TRY(szgi_memory_alloc(context, count, &job->settings));
    SZG_TRY(szgi_memory_alloc(context, count, &job->run));
    SZG_TRY(szg_ablation_table_open(context, &job->ablation));
    SZG_TRY(szg_deposit_table_open(context, &job->deposit));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(ablate_one(call, job, i));
    SZG_TRY(szg_deposit_rows(context, job->deposit, job->key, job->results, count, NULL));
    szg_table **const tables[] = {&job->ablation, &job->deposit};
    call->runs = job->run;
    call->run_count = count;
    szg_status status = output_tables(call, 2, tables, NULL);
    call->run_count = 0; /* they end with the job */
    return status;
}

static void close_job(const ablate_options *own, ablate_job *job) {
    for (int64_t i = 0; job->result && i < own->runs.count; i++)
        szg_ablation_close(&job->result[i]);
    szgi_memory_free(job->subject);
    szgi_memory_free(job->result);
    szgi_memory_free(job->results);
    szgi_memory_free(job->key);
    szgi_memory_free(job->run);
    szgi_memory_free(job->settings);
    szg_table_close(&job->ablation);
    szg_table_close(&job->deposit);
}

static szg_status run(command_call *call) {
    ablate_options *own = call->own;
    ablate_job job = {.source = {SZG_INIT(szg_ablation_source)},
                      .options = {SZG_INIT(szg_ablation_options), .batch = own->batch}};
    if (own->method)
        SZG_TRY(szg_ablation_method_parse(call->context, own->method, &job.options.method));
    if (own->config) {
        SZG_TRY(szg_train_config_read(call->context, own->config, NULL, 0, &job.config));
        job.source.config = &job.config;
    }
    job.source.data = own->data;
    job.source.whole = own->split && strcmp(own->split, "all") == 0;
    szg_status status = expand(call->context, &own->checkpoints, &own->runs);
    if (status == SZG_OK)
        status = run_job(call, &job);
    close_job(own, &job);
    return status;
}

static const command_example examples[] = {
    {"szego ablate runs/run-0/", "Accuracy without each head of one run."},
    {"szego ablate seeds/run-1/ seeds/run-2/ -o ablation/",
     "Two seeds, with means and intervals, in files."},
    {"szego ablate runs/run-0/ --method cumulative --split all",
     "Ablation as in the released code."},
    {0}};

const command command_ablate = {
    .name = "ablate",
    .summary = "accuracy of a trained decoder without each head, and the deposit index",
    .doc =
        "Sets each head's output to zero in turn, then those of a whole layer, and writes the "
        "accuracies (table `ablation`) and, per layer, the share of the total drop that the worst "
        "head carries and the Gini coefficient of the drops (table `deposit`); with several seeds "
        "also their least and greatest values, and 95% intervals of the mean by Student's t.",
    .options = options,
    .own_size = sizeof(ablate_options),
    .check = check,
    .run = run,
    .release = release,
    .examples = examples,
};
