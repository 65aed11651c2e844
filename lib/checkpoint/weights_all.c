/* An unknown architecture: singular values of every matrix. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/text.h"
#include "analyse.h"
#include "cost.h"
#include "rows_top.h"
#include "scale.h"

typedef struct weight_result {
    const szgi_tensor *tensor;
    szg_status status;
    char *problem;
    szg_spectrum singular;
    szgi_top top;
} weight_result;

typedef struct weight_job {
    int64_t count;
    weight_result *result; /* [count], the matrices in the order of their names */
    int64_t *small;        /* indices of those that run side by side */
    int64_t smalls;
    szgi_top_options top; /* count 0: all values */
    _Atomic int64_t done;
} weight_job;

static bool is_float(const szgi_tensor *tensor) {
    return tensor->dtype != SZGI_DTYPE_INTEGER && tensor->dtype != SZGI_DTYPE_OTHER;
}

/* A quantised or 8-bit tensor where a weight belongs; other integers are masks and indices. */
static bool is_unreadable_weight(const szgi_tensor *tensor) {
    if (tensor->dims != 2 || tensor->count == 0 || is_float(tensor))
        return false;
    return tensor->dtype == SZGI_DTYPE_OTHER || szgi_text_ends(tensor->name, "weight");
}

static bool is_matrix(const szgi_tensor *tensor) {
    return tensor->dims == 2 && tensor->count > 0 && is_float(tensor) && !tensor->scales;
}

static szg_status compute_weight(szg_context *context, const weight_job *job,
                                 weight_result *result) {
    szg_status status = szgi_tensor_check(context, result->tensor);
    if (status == SZG_OK && job->top.count > 0)
        status = szgi_top_compute(context, result->tensor, &job->top, &result->top);
    else if (status == SZG_OK)
        status = szgi_weight_singular(context, result->tensor, &result->singular);
    result->status = status;
    if (!szgi_is_local_failure(status))
        return status;
    return szgi_memory_copy_text(context, szg_context_message(context), &result->problem);
}

static szg_status run_one(szg_context *context, weight_job *job, int64_t index) {
    SZG_TRY(compute_weight(context, job, &job->result[index]));
    szgi_progress(context, "weights", atomic_fetch_add(&job->done, 1) + 1, job->count);
    return SZG_OK;
}

static szg_status small_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    weight_job *job = data;
    return run_one(context, job, job->small[block]);
}

/* ---- How they share the threads ---- */

static szgi_cost cost_of(const weight_job *job, int64_t index, const szgi_top_options *top) {
    const int64_t *shape = job->result[index].tensor->shape;
    return top->count == 0 ? szgi_cost_all(shape[0], shape[1]) : szgi_top_cost(shape, top);
}

/* Bytes that may be in use at once: the largest tensor's as doubles, or with `top` 256 MiB. */
static int64_t most_bytes(const weight_job *job) {
    int64_t most = 0;
    for (int64_t i = 0; i < job->count; i++)
        if (job->result[i].tensor->count > most)
            most = job->result[i].tensor->count;
    return job->top.count > 0 ? (int64_t)1 << 28 : most * 8;
}

static int64_t bytes_of(const weight_job *job, int64_t index) {
    const szgi_tensor *tensor = job->result[index].tensor;
    return job->top.count > 0 ? szgi_top_bytes(tensor->shape, &job->top, 1)
                              : szgi_weight_bytes(tensor);
}

/* Operations, about: what counts among matrices. */
static double work_of(const weight_job *job, int64_t index) {
    const szgi_rates one = {.square = 2, .thin = 1, .bytes = 1};
    return szgi_cost_seconds(cost_of(job, index, &job->top), &one);
}

/* With `top`: for a matrix with more work than that, other threads would wait at the end. */
static double most_work(szg_context *context, const weight_job *job) {
    double sum = 0;
    for (int64_t i = 0; i < job->count && job->top.count > 0; i++)
        sum += work_of(job, i);
    return job->top.count > 0 ? sum / (4 * szg_context_threads(context)) : INFINITY;
}

/* Matrices that fit side by side, a thread each, into that memory run in the pool; the others run
 * alone, with all threads for one. */
static szg_status run_all(szg_context *context, weight_job *job) {
    int64_t share = most_bytes(job) / szg_context_threads(context);
    double work = most_work(context, job);
    for (int64_t i = 0; i < job->count; i++)
        if (bytes_of(job, i) <= share && work_of(job, i) <= work)
            job->small[job->smalls++] = i;
    SZG_TRY(szgi_pool_run(context, job->smalls, small_block, job));
    for (int64_t i = 0, next = 0; i < job->count; i++) {
        if (next < job->smalls && job->small[next] == i) {
            next++;
            continue;
        }
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(run_one(context, job, i));
    }
    return SZG_OK;
}

/* ---- About how long ---- */

/* Seconds of all matrices on all threads. */
static double seconds_of(szg_context *context, const weight_job *job, int64_t count,
                         const szgi_rates *rates) {
    const szgi_top_options top = {.count = count};
    szgi_cost sum = {0};
    for (int64_t i = 0; i < job->count; i++)
        szgi_cost_add(&sum, cost_of(job, i, &top));
    return szgi_cost_seconds(sum, rates) / szg_context_threads(context);
}

static void say_seconds(szg_context *context, const weight_job *job, int64_t top, double all,
                        double some) {
    int threads = szg_context_threads(context);
    char whole[32], part[32], weights[48], workers[32];
    szgi_duration_text(all, whole, sizeof whole);
    szgi_duration_text(some, part, sizeof part);
    snprintf(weights, sizeof weights, "%" PRId64 " matri%s", job->count,
             job->count == 1 ? "x" : "ces");
    snprintf(workers, sizeof workers, "%d thread%s", threads, threads == 1 ? "" : "s");
    if (job->top.count > 0)
        szgi_say(context, SZG_NOTE,
                 "%s: --top %" PRId64 " takes about %s on %s, all values about %s", weights, top,
                 part, workers, whole);
    else
        szgi_say(context, SZG_NOTE,
                 "%s: all values take about %s on %s, --top %" PRId64 " about %s", weights, whole,
                 workers, top, part);
}

/* Rates are measured where a slow machine could take long: at a hundredth of the usual ones. */
static szg_status say_how_long(szg_context *context, const weight_job *job) {
    enum { EXAMPLE = 16, LONG = 10 };
    const szgi_rates slow = {.square = 3e8, .thin = 1.5e8, .bytes = 8e7};
    int64_t top = job->top.count > 0 ? job->top.count : EXAMPLE;
    szgi_rates rates;
    if (!(seconds_of(context, job, job->top.count, &slow) > LONG))
        return SZG_OK;
    szg_status status = szgi_rates_measure(context, &rates);
    if (status != SZG_OK) /* without memory for it nothing is said */
        return status == SZG_ENOMEM ? SZG_OK : status;
    double all = seconds_of(context, job, 0, &rates), some = seconds_of(context, job, top, &rates);
    if ((job->top.count > 0 ? some : all) > LONG)
        say_seconds(context, job, top, all, some);
    return SZG_OK;
}

/* ---- Rows ---- */

static szg_status report_weight(szg_context *context, const szg_checkpoint *checkpoint,
                                const weight_result *result, szg_checkpoint_tables *tables) {
    const szgi_tensor *tensor = result->tensor;
    row_key key = {checkpoint->source, -1, -1, tensor->name};
    if (result->status != SZG_OK) {
        *(result->status == SZG_ENOCONV ? &tables->unconverged : &tables->bad) += 1;
        return szgi_rows_problem(context, checkpoint, tables, &key, true, result->problem);
    }
    if (result->top.count > 0)
        return szgi_rows_top(context, tables, &key, tensor, &result->top);
    int64_t side = tensor->shape[0] > tensor->shape[1] ? tensor->shape[0] : tensor->shape[1];
    int64_t lost = szgi_scale_lost(side, 0, NULL, &result->singular);
    SZG_TRY(szgi_rows_weight(context, tables, key.source, tensor, &result->singular, lost));
    return szgi_rows_spectra(context, tables, &key, NULL, &result->singular);
}

static szg_status report_unreadable(szg_context *context, const szg_checkpoint *checkpoint,
                                    const szgi_tensor *tensor, szg_checkpoint_tables *tables) {
    row_key key = {checkpoint->source, -1, -1, tensor->name};
    char *problem = NULL;
    tables->bad++;
    SZG_TRY(szgi_text_append(context, &problem, "tensor %s has type %s where a weight belongs: %s",
                             tensor->name, tensor->dtype_name, szgi_tensor_remedy(tensor)));
    szg_status status = szgi_rows_problem(context, checkpoint, tables, &key, true, problem);
    szgi_memory_free(problem);
    return status;
}

static const char *describe(const szgi_tensor *tensor) {
    if (tensor->count == 0)
        return "empty: skipped";
    if (tensor->dims == 0)
        return "one number: skipped";
    if (tensor->scales)
        return "scales of another tensor: listed only";
    if (!is_float(tensor) && szgi_text_ends(tensor->name, "_blocks"))
        return "perhaps MXFP4 without its scales: listed only";
    if (!is_float(tensor))
        return "not floating-point: listed only";
    return tensor->dims == 2 ? NULL : "not a matrix: listed only";
}

static szg_status report_all(szg_context *context, const szg_checkpoint *checkpoint,
                             const weight_job *job, szg_checkpoint_tables *tables) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors), next = 0;
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        bool matrix = is_matrix(tensor);
        SZG_TRY(szgi_rows_tensor(context, tables, checkpoint->source, tensor,
                                 matrix ? "weight" : "none", describe(tensor)));
        if (matrix)
            SZG_TRY(report_weight(context, checkpoint, &job->result[next++], tables));
        else if (is_unreadable_weight(tensor))
            SZG_TRY(report_unreadable(context, checkpoint, tensor, tables));
    }
    return SZG_OK;
}

static szg_status open_job(szg_context *context, const szg_checkpoint *checkpoint,
                           weight_job *job) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    SZG_TRY(szgi_memory_alloc(context, count, &job->result));
    SZG_TRY(szgi_memory_alloc(context, count, &job->small));
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        if (is_matrix(tensor))
            job->result[job->count++].tensor = tensor;
    }
    return SZG_OK;
}

szg_status szgi_analyse_weights(szg_context *context, const szg_checkpoint *checkpoint,
                                const szg_checkpoint_options *options,
                                szg_checkpoint_tables *tables) {
    weight_job job = {.top = {.count = options->top, .seed = options->seed}};
    szg_status status = open_job(context, checkpoint, &job);
    if (status == SZG_OK)
        status = say_how_long(context, &job);
    if (status == SZG_OK)
        status = run_all(context, &job);
    if (status == SZG_OK)
        status = report_all(context, checkpoint, &job, tables);
    for (int64_t i = 0; i < job.count; i++) {
        szgi_memory_free(job.result[i].problem);
        szg_spectrum_close(&job.result[i].singular);
        szgi_top_close(&job.result[i].top);
    }
    szgi_memory_free(job.result);
    szgi_memory_free(job.small);
    return status;
}
