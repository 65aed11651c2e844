#include "base/pool.h"

#include "spectra_private.h"

enum { BLOCK = 4096 };

typedef struct fill_job {
    const szgi_selection *selection;
    szgi_closed_form *eigenvalue;
    const void *data;
    double *values;
    double *worst; /* one a block */
} fill_job;

static szg_status fill_block(szg_context *context, void *argument, int64_t block, int worker) {
    fill_job *job = argument;
    (void)context, (void)worker;
    int64_t first = block * BLOCK, end = szgi_selection_count(job->selection);
    if (end > first + BLOCK)
        end = first + BLOCK;
    for (int64_t place = first; place < end; place++) {
        double relative;
        job->values[place] = job->eigenvalue(
            job->data, job->selection->n, szgi_selection_index(job->selection, place), &relative);
        job->worst[block] = szgi_larger(job->worst[block], relative);
    }
    return SZG_OK;
}

szg_status szgi_closed_form_fill(szg_context *context, const szgi_selection *selection,
                                 szgi_closed_form *eigenvalue, const void *data,
                                 szg_spectrum *out) {
    int64_t count = szgi_selection_count(selection), blocks = (count + BLOCK - 1) / BLOCK;
    fill_job job = {
        .selection = selection, .eigenvalue = eigenvalue, .data = data, .values = out->re};
    SZG_TRY(szgi_memory_alloc(context, blocks, sizeof *job.worst, &job.worst));
    szg_status status = szgi_pool_run(context, blocks, fill_block, &job);
    for (int64_t block = 0; status == SZG_OK && block < blocks; block++)
        out->residual = szgi_larger(out->residual, job.worst[block]);
    szgi_memory_free(job.worst);
    return status;
}
