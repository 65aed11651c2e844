/* Small symmetric arrays, up to a unit of one order at a time on a thread. */
#include <inttypes.h>

#include "base/options.h"
#include "base/pool.h"

#include "dense.h"
#include "many_small.h"
#include "symmetry.h"

/* Matrices of a unit: two vectors of the widest kind, one if threads would rest otherwise. */
enum { UNIT = 16, ORDERS = SZGI_SMALL_ORDER + 1 };

typedef struct unit {
    int64_t n, first, count; /* of the list */
} unit;

typedef struct small_job {
    const szg_matrix *matrices;
    szg_question question;
    szg_spectra_options options;
    szg_spectrum *out;
    int64_t *list; /* indices of the small matrices, by order */
    unit *units;
} small_job;

/* One array of a unit. */
typedef struct small {
    int64_t index;
    bool taken; /* nothing was found against it */
    szgi_prepared prepared;
} small;

/* A matrix that is not symmetric, or that something is found against, is left to the solver of
 * single matrices. */
static szg_status prepare(szg_context *context, const small_job *job, int64_t n, double *copy,
                          small *one) {
    const szg_matrix *matrix = &job->matrices[one->index];
    szgi_hermitian_form form = SZGI_HERMITIAN_PART;
    bool symmetric = true;
    if (matrix->kind == SZG_MATRIX_SYMMETRIC || job->question == SZG_QUESTION_EIGENVALUES)
        form = SZGI_SYMMETRIC;
    if (matrix->kind == SZG_MATRIX_DENSE && form == SZGI_SYMMETRIC)
        SZG_TRY(szgi_dense_is_symmetric(context, n, matrix->of.dense.a, matrix->of.dense.lda,
                                        &symmetric));
    szg_status status =
        symmetric ? szgi_dense_prepare(context, form, matrix, copy, &one->prepared) : SZG_EDATA;
    one->taken = status == SZG_OK;
    return status == SZG_ECANCEL ? status : SZG_OK;
}

static szg_status accept(szg_context *context, const small_job *job, int64_t n, const double *w,
                         const small *one) {
    szg_spectrum *out = &job->out[one->index];
    szgi_selection selection;
    if (!one->taken)
        return SZG_OK;
    szg_status status = szgi_selection_of(context, n, &job->options, &selection);
    if (status == SZG_OK)
        status = szgi_dense_accept(context, &one->prepared, w, &selection, out);
    if (status == SZG_OK)
        status = szgi_spectrum_complete(context, &job->matrices[one->index], job->question,
                                        &job->options, out);
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_fail_prefix(context, status, "matrix %" PRId64, one->index);
}

/* Arrays that are left out are solved as zero matrices: one lane more costs nothing. */
static szg_status solve(szg_context *context, const small_job *job, const unit *of, double *a) {
    int64_t n = of->n;
    double *w = a + of->count * n * n;
    small list[UNIT];
    for (int64_t i = 0; i < of->count; i++) {
        list[i].index = job->list[of->first + i];
        SZG_TRY(prepare(context, job, n, a + i * n * n, &list[i]));
    }
    szg_status status = szgi_eigen_symmetric_batch(context, of->count, n, a, n * n, w);
    if (status == SZG_ENOCONV)
        status = szgi_fail_prefix(context, status, "matrices of order %" PRId64, n);
    for (int64_t i = 0; i < of->count && status == SZG_OK; i++)
        status = accept(context, job, n, w + i * n, &list[i]);
    return status;
}

static szg_status unit_block(szg_context *context, void *argument, int64_t i, int worker) {
    const small_job *job = argument;
    const unit *of = &job->units[i];
    double *a;
    (void)worker;
    SZG_TRY(szgi_memory_alloc(context, of->count * of->n * (of->n + 1), &a));
    szg_status status = solve(context, job, of, a);
    szgi_memory_free(a);
    return status;
}

bool szgi_is_small(const szg_matrix *matrix) {
    return (matrix->kind == SZG_MATRIX_DENSE || matrix->kind == SZG_MATRIX_SYMMETRIC) &&
           matrix->rows == matrix->columns && matrix->rows >= 1 &&
           matrix->rows <= SZGI_SMALL_ORDER && matrix->of.dense.a &&
           matrix->of.dense.lda >= matrix->rows;
}

/* Lists the small matrices by order, as they come within one; where those of each order end. */
static void list_by_order(int64_t count, const szg_matrix *matrices, int64_t *list,
                          int64_t end[ORDERS]) {
    memset(end, 0, ORDERS * sizeof *end);
    for (int64_t i = 0; i < count; i++)
        if (szgi_is_small(&matrices[i]))
            end[matrices[i].rows]++;
    int64_t at[ORDERS] = {0};
    for (int64_t n = 1; n < ORDERS; n++) {
        at[n] = end[n - 1];
        end[n] += end[n - 1];
    }
    for (int64_t i = 0; i < count; i++)
        if (szgi_is_small(&matrices[i]))
            list[at[matrices[i].rows]++] = i;
}

/* Units of the orders that have at least `least` matrices. */
static int64_t cut(int64_t least, int64_t most, const int64_t end[ORDERS], unit *units) {
    int64_t count = 0;
    for (int64_t n = 1; n < ORDERS; n++)
        for (int64_t i = end[n - 1]; i < end[n] && end[n] - end[n - 1] >= least; i += most)
            units[count++] = (unit){n, i, end[n] - i < most ? end[n] - i : most};
    return count;
}

/* Whole spectra without a proof: other options, and wrong ones, are for the single solver. */
static bool asks(szg_question question, const szg_spectra_options *options) {
    bool whole =
        !options || (options->want == SZG_WANT_ALL && options->certify <= SZG_CERTIFY_CHEAP);
    return whole &&
           (question == SZG_QUESTION_EIGENVALUES || question == SZG_QUESTION_HERMITIAN_PART);
}

szg_status szgi_many_small(szg_context *context, int64_t count, const szg_matrix *matrices,
                           szg_question question, const szg_spectra_options *options, int64_t least,
                           szg_spectrum *out) {
    small_job job = {.matrices = matrices, .question = question, .out = out};
    int64_t ends[ORDERS], most = count / UNIT < szg_context_threads(context) ? UNIT / 2 : UNIT;
    szg_status status = SZG_OK;
    if (!asks(question, options) || count < least)
        return SZG_OK;
    SZG_TRY(SZGI_OPTIONS(context, szg_spectra_options, options, &job.options));
    SZG_TRY(szgi_memory_alloc(context, count, &job.list));
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, count, &job.units), end);
    list_by_order(count, matrices, job.list, ends);
    status = szgi_pool_run(context, cut(least, most, ends, job.units), unit_block, &job);
end:
    szgi_memory_free(job.list);
    szgi_memory_free(job.units);
    return status;
}
