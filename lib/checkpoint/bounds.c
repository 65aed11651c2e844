/* Bounds of all heads, and nothing else: for a model that is at work. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "analyse.h"
#include "bound.h"
#include "fold.h"
#include "rows.h"
#include "scale.h"

/* A worker's sides: keys are read once for the query heads that share them. */
typedef struct bounds_side {
    double *rows;
    latent_side kept;
    bound_side bound;
} bounds_side;

typedef struct bounds_work {
    bounds_side q, k;
} bounds_work;

typedef struct bounds_job {
    const szg_checkpoint *checkpoint;
    double unit;
    bounds_work *work; /* [threads] */
    head_bound *bound; /* [layers x heads] */
    char **problem;    /* [layers], or NULL each */
} bounds_job;

static szg_status make_side(szg_context *context, const bounds_job *job, const bound_place *place,
                            bounds_side *side) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    int64_t size = checkpoint->head_size * checkpoint->model_size;
    bound_rows rows = {.unit = job->unit};
    if (!side->rows)
        SZG_TRY(szgi_memory_alloc(context, size, &side->rows));
    SZG_TRY(place->query ? szgi_fold_queries_kept(context, checkpoint, place->layer, place->head,
                                                  FOLD_ALL, &side->kept, side->rows, &rows.error)
                         : szgi_fold_keys_kept(context, checkpoint, place->layer, place->head,
                                               FOLD_ALL, &side->kept, side->rows, &rows.error));
    rows.exponent = szgi_scale_take(size, side->rows);
    rows.value = side->rows;
    return szgi_bound_side_make(context, checkpoint, place, &rows, &side->kept, &side->bound);
}

static szg_status bound_layer(szg_context *context, const bounds_job *job, int64_t layer,
                              bounds_work *work) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    int64_t heads = checkpoint->heads, group = heads / checkpoint->key_heads;
    SZG_TRY(szgi_layer_check(context, &checkpoint->layer[layer]));
    for (int64_t head = 0; head < heads; head++) {
        const bound_place q = {.layer = layer, .head = head, .query = true};
        const bound_place k = {.layer = layer, .head = head / group};
        SZG_TRY(szgi_context_check_cancel(context));
        if (head % group == 0)
            SZG_TRY(make_side(context, job, &k, &work->k));
        SZG_TRY(make_side(context, job, &q, &work->q));
        SZG_TRY(szgi_bound_head(context, checkpoint, layer, head, 0, &work->q.bound, &work->k.bound,
                                &job->bound[layer * heads + head]));
    }
    return SZG_OK;
}

static szg_status run_layer(szg_context *context, void *data, int64_t layer, int worker) {
    bounds_job *job = data;
    const layer_weights *weights = &job->checkpoint->layer[layer];
    const char *problem = weights->problem;
    if (weights->absent)
        return SZG_OK;
    if (!problem) {
        szg_status status = bound_layer(context, job, layer, &job->work[worker]);
        if (status != SZG_EDATA)
            return status;
        problem = szg_context_message(context);
    }
    return szgi_memory_copy_text(context, problem, &job->problem[layer]);
}

static szg_status report(szg_context *context, const bounds_job *job, szg_table **out) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    szg_checkpoint_tables tables = {0};
    SZG_TRY(szgi_rows_open_bounds(context, &tables));
    *out = tables.bounds;
    for (int64_t i = 0; i < checkpoint->layers * checkpoint->heads; i++) {
        int64_t layer = i / checkpoint->heads;
        const row_key key = {checkpoint->source, layer, i % checkpoint->heads, NULL};
        head_bound bound = job->bound[i];
        if (checkpoint->layer[layer].absent)
            continue;
        if (job->problem[layer])
            bound = (head_bound){.value = NAN, .all = NAN, .why = job->problem[layer]};
        SZG_TRY(szgi_rows_bound(context, &tables, &key, &bound));
    }
    return SZG_OK;
}

static void release_side(bounds_side *side) {
    szgi_memory_free(side->rows);
    szgi_latent_release(&side->kept);
    szgi_bound_side_release(&side->bound);
}

static void close_job(szg_context *context, bounds_job *job) {
    for (int i = 0; job->work && i < szg_context_threads(context); i++) {
        release_side(&job->work[i].q);
        release_side(&job->work[i].k);
    }
    for (int64_t i = 0; job->problem && i < job->checkpoint->layers; i++)
        szgi_memory_free(job->problem[i]);
    szgi_memory_free(job->work);
    szgi_memory_free(job->bound);
    szgi_memory_free(job->problem);
}

static szg_status run_job(szg_context *context, bounds_job *job, szg_table **out) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    int64_t heads;
    SZG_TRY(szgi_memory_product(context, checkpoint->layers, checkpoint->heads, &heads));
    SZG_TRY(szgi_memory_alloc(context, szg_context_threads(context), &job->work));
    SZG_TRY(szgi_memory_alloc(context, heads, &job->bound));
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &job->problem));
    SZG_TRY(szgi_pool_run(context, checkpoint->layers, run_layer, job));
    return report(context, job, out);
}

szg_status szg_checkpoint_bounds(szg_context *context, const szg_checkpoint *checkpoint,
                                 double unit, szg_table **out) {
    *out = NULL;
    SZGI_ENTER(context);
    if (!(unit >= 0 && unit <= 0x1p-3))
        return szgi_fail(context, SZG_EINVAL, "a unit roundoff of %g: 0 to 2^-3 are possible",
                         unit);
    if (!checkpoint->family)
        return szgi_fail(context, SZG_EDOMAIN, "%s: no head is known, so that none has a bound: %s",
                         checkpoint->source, szg_checkpoint_describe(checkpoint).unknown);
    bounds_job job = {.checkpoint = checkpoint, .unit = unit};
    szg_status status = run_job(context, &job, out);
    close_job(context, &job);
    if (status != SZG_OK)
        szg_table_close(out);
    return status;
}
