/* An unknown architecture: singular values of every matrix. */
#include <inttypes.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/text.h"
#include "analyse.h"
#include "scale.h"

typedef struct weight_result {
    const szgi_tensor *tensor;
    szg_status status;
    char *problem;
    szg_spectrum singular;
} weight_result;

typedef struct weight_job {
    int64_t count;
    weight_result *result; /* [count], the matrices in the order of their names */
    int64_t *small;        /* indices of those that run side by side */
    int64_t smalls;
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

static szg_status compute_weight(szg_context *context, weight_result *result) {
    szg_status status = szgi_tensor_check(context, result->tensor);
    if (status == SZG_OK)
        status = szgi_weight_singular(context, result->tensor, &result->singular);
    result->status = status;
    if (!szgi_is_local_failure(status))
        return status;
    return szgi_memory_copy_text(context, szg_context_message(context), &result->problem);
}

static szg_status run_one(szg_context *context, weight_job *job, int64_t index) {
    SZG_TRY(compute_weight(context, &job->result[index]));
    szgi_progress(context, "weights", atomic_fetch_add(&job->done, 1) + 1, job->count);
    return SZG_OK;
}

static szg_status small_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    weight_job *job = data;
    return run_one(context, job, job->small[block]);
}

/* Matrices that fit side by side, a thread each, into the memory of the largest tensor as doubles
 * run in the pool; the others run alone, with the BLAS's own threads. */
static szg_status run_all(szg_context *context, weight_job *job) {
    int64_t most = 0;
    for (int64_t i = 0; i < job->count; i++)
        if (job->result[i].tensor->count > most)
            most = job->result[i].tensor->count;
    int64_t share = most * 8 / szg_context_threads(context);
    for (int64_t i = 0; i < job->count; i++)
        if (szgi_weight_bytes(job->result[i].tensor) <= share)
            job->small[job->smalls++] = i;
    SZG_TRY(szgi_pool_run(context, job->smalls, small_block, job));
    for (int64_t i = 0; i < job->count; i++) {
        if (szgi_weight_bytes(job->result[i].tensor) <= share)
            continue;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(run_one(context, job, i));
    }
    return SZG_OK;
}

static szg_status report_weight(szg_context *context, const szg_checkpoint *checkpoint,
                                const weight_result *result, szg_checkpoint_tables *tables) {
    const szgi_tensor *tensor = result->tensor;
    row_key key = {checkpoint->source, -1, -1, tensor->name};
    if (result->status != SZG_OK) {
        *(result->status == SZG_ENOCONV ? &tables->unconverged : &tables->bad) += 1;
        return szgi_rows_problem(context, checkpoint, tables, &key, result->problem);
    }
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
    szg_status status = szgi_rows_problem(context, checkpoint, tables, &key, problem);
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
        return "perhaps MXFP4, which is not read here: listed only";
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
                                szg_checkpoint_tables *tables) {
    weight_job job = {.count = 0};
    szg_status status = open_job(context, checkpoint, &job);
    if (status == SZG_OK)
        status = run_all(context, &job);
    if (status == SZG_OK)
        status = report_all(context, checkpoint, &job, tables);
    for (int64_t i = 0; i < job.count; i++) {
        szgi_memory_free(job.result[i].problem);
        szg_spectrum_close(&job.result[i].singular);
    }
    szgi_memory_free(job.result);
    szgi_memory_free(job.small);
    return status;
}
