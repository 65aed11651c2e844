/* Small symmetric arrays: checked one a thread, solved as a batch, checked again one a thread. */
#include <inttypes.h>

#include "base/options.h"
#include "base/pool.h"
#include "linalg/linalg.h"

#include "dense.h"
#include "many_small.h"
#include "symmetry.h"

typedef struct small {
    int64_t index; /* among the matrices */
    bool taken;    /* nothing was found against it */
    szgi_prepared prepared;
} small;

typedef struct small_job {
    const szg_matrix *matrices;
    szg_question question;
    szg_spectra_options options;
    szg_spectrum *out;
    int64_t n, count; /* of the matrices at work */
    small *list;
    double *a, *w;
} small_job;

/* Failures are left to the solver of single matrices. */
static szg_status leave(szg_status status, small *one) {
    one->taken = status == SZG_OK;
    return status == SZG_ECANCEL ? status : SZG_OK;
}

static szg_status prepare_block(szg_context *context, void *argument, int64_t i, int worker) {
    const small_job *job = argument;
    small *one = &job->list[i];
    const szg_matrix *matrix = &job->matrices[one->index];
    szgi_hermitian_form form = SZGI_HERMITIAN_PART;
    bool symmetric = true;
    (void)worker;
    if (matrix->kind == SZG_MATRIX_SYMMETRIC || job->question == SZG_QUESTION_EIGENVALUES)
        form = SZGI_SYMMETRIC;
    if (matrix->kind == SZG_MATRIX_DENSE && form == SZGI_SYMMETRIC)
        SZG_TRY(szgi_dense_is_symmetric(context, job->n, matrix->of.dense.a, matrix->of.dense.lda,
                                        &symmetric));
    one->taken = symmetric;
    if (!symmetric)
        return SZG_OK;
    return leave(
        szgi_dense_prepare(context, form, matrix, job->a + i * job->n * job->n, &one->prepared),
        one);
}

static szg_status accept_block(szg_context *context, void *argument, int64_t i, int worker) {
    const small_job *job = argument;
    const small *one = &job->list[i];
    const szg_matrix *matrix = &job->matrices[one->index];
    szg_spectrum *out = &job->out[one->index];
    szgi_selection selection;
    (void)worker;
    if (!one->taken)
        return SZG_OK;
    szg_status status = szgi_selection_of(context, job->n, &job->options, &selection);
    if (status == SZG_OK)
        status = szgi_dense_accept(context, &one->prepared, job->w + i * job->n, &selection, out);
    if (status == SZG_OK)
        status = szgi_spectrum_complete(context, matrix, job->question, &job->options, out);
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_fail_prefix(context, status, "matrix %" PRId64, one->index);
}

/* Arrays that were left out are solved as zero matrices: one lane more costs nothing. */
static szg_status solve(szg_context *context, small_job *job) {
    int64_t n = job->n, size;
    SZG_TRY(szgi_memory_product(context, job->count, n * (n + 1), &size));
    SZG_TRY(szgi_memory_alloc(context, size, &job->a));
    job->w = job->a + job->count * n * n;
    szg_status status = szgi_pool_run(context, job->count, prepare_block, job);
    if (status == SZG_OK)
        status = szgi_eigen_symmetric_batch(context, job->count, n, job->a, n * n, job->w);
    if (status == SZG_ENOCONV)
        status = szgi_fail_prefix(context, status, "matrices of order %" PRId64, n);
    if (status == SZG_OK)
        status = szgi_pool_run(context, job->count, accept_block, job);
    szgi_memory_free(job->a);
    return status;
}

static bool is_small(const szg_matrix *matrix) {
    return (matrix->kind == SZG_MATRIX_DENSE || matrix->kind == SZG_MATRIX_SYMMETRIC) &&
           matrix->rows == matrix->columns && matrix->rows >= 1 &&
           matrix->rows <= SZGI_SMALL_ORDER && matrix->of.dense.a &&
           matrix->of.dense.lda >= matrix->rows;
}

/* Those of one order: at most 32 MiB of copies at a time. */
static szg_status solve_order(szg_context *context, int64_t count, int64_t n, small_job *job) {
    enum { NUMBERS = 1 << 22 };
    int64_t most = NUMBERS / (n * n);
    job->n = n, job->count = 0;
    for (int64_t i = 0; i < count; i++) {
        if (is_small(&job->matrices[i]) && job->matrices[i].rows == n)
            job->list[job->count++] = (small){.index = i};
        if (job->count < most && i < count - 1)
            continue;
        if (job->count > 0)
            SZG_TRY(solve(context, job));
        job->count = 0;
    }
    return SZG_OK;
}

/* Whole spectra without a proof: other options, and wrong ones, are for the single solver. */
static bool asks(szg_question question, const szg_spectra_options *options) {
    bool whole =
        !options || (options->want == SZG_WANT_ALL && options->certify <= SZG_CERTIFY_CHEAP);
    return whole &&
           (question == SZG_QUESTION_EIGENVALUES || question == SZG_QUESTION_HERMITIAN_PART);
}

szg_status szgi_many_small(szg_context *context, int64_t count, const szg_matrix *matrices,
                           szg_question question, const szg_spectra_options *options,
                           szg_spectrum *out) {
    int64_t of_order[SZGI_SMALL_ORDER + 1] = {0};
    small_job job = {.matrices = matrices, .question = question, .out = out};
    if (!asks(question, options) || count < SZGI_SMALL_COUNT)
        return SZG_OK;
    SZG_TRY(SZGI_OPTIONS(context, szg_spectra_options, options, &job.options));
    for (int64_t i = 0; i < count; i++)
        if (is_small(&matrices[i]))
            of_order[matrices[i].rows]++;
    SZG_TRY(szgi_memory_alloc(context, count, &job.list));
    szg_status status = SZG_OK;
    for (int64_t n = 1; n <= SZGI_SMALL_ORDER && status == SZG_OK; n++)
        if (of_order[n] >= SZGI_SMALL_COUNT)
            status = solve_order(context, count, n, &job);
    szgi_memory_free(job.list);
    return status;
}
