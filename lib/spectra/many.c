/* One question of many matrices: small symmetric arrays together, then a matrix a thread. */
#include <inttypes.h>

#include <szego/spectrum.h>

#include "base/pool.h"
#include "linalg/distributed.h"

#include "many_small.h"

/* From this order on a dense solver has work for several threads. */
enum { LARGE = 512 };

/* Arrays of one order that fill a vector: fewer are faster one a thread. */
enum { VECTOR = 8 };

typedef struct question_job {
    const szg_matrix *matrices;
    szg_question question;
    const szg_spectra_options *options;
    szg_spectrum *out;
} question_job;

static szg_status question_block(szg_context *context, void *argument, int64_t i, int worker) {
    const question_job *job = argument;
    (void)worker;
    if (job->out[i].kind != SZG_SPECTRUM_NONE)
        return SZG_OK;
    szg_status status =
        szg_spectrum_compute(context, &job->matrices[i], job->question, job->options, &job->out[i]);
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_fail_prefix(context, status, "matrix %" PRId64, i);
}

/* Fewer matrices than threads: large ones then get all threads, one matrix after the other. So do
 * matrices that several processes share, which meet in one order. */
static bool in_turn(szg_context *context, int64_t count, const szg_matrix *matrices) {
    if (szgi_distributed_of(context))
        return true;
    if (count >= szg_context_threads(context))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (matrices[i].rows >= LARGE && matrices[i].columns >= LARGE)
            return true;
    return false;
}

static szg_status run_in_turn(szg_context *context, int64_t count, question_job *job) {
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        status = question_block(context, job, i, 0);
    return status;
}

szg_status szg_spectrum_batch(szg_context *context, int64_t count, const szg_matrix *matrices,
                              szg_question question, const szg_spectra_options *options,
                              szg_spectrum *out) {
    SZGI_ENTER(context);
    if (count < 0 || (count > 0 && (!matrices || !out)))
        return szgi_fail(context, SZG_EINVAL,
                         "spectra of %" PRId64 " matrices: the number is >= 0, and the arrays of "
                         "matrices and spectra have that many elements",
                         count);
    for (int64_t i = 0; i < count; i++)
        out[i] = (szg_spectrum){0};
    question_job job = {matrices, question, options, out};
    szg_status status = szgi_many_small(context, count, matrices, question, options, VECTOR, out);
    if (status == SZG_OK)
        status = in_turn(context, count, matrices)
                     ? run_in_turn(context, count, &job)
                     : szgi_pool_run(context, count, question_block, &job);
    for (int64_t i = 0; i < count && status != SZG_OK; i++)
        szg_spectrum_close(&out[i]);
    return status;
}
