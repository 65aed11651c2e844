/* Many contraction reports at once: one a block of the pool, rows in the order of the pairs. The
 * eigenvalues of small dense matrices are computed together before. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "contraction/contraction.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/pool.h"
#include "spectra/many_small.h"

enum {
    GROUP = 64, /* reports held at a time */
    LARGE = 512 /* above this order a report takes every thread for itself */
};

typedef struct batch_job {
    const szgi_contraction_pair *pairs;
    const szg_report_options *options;
    szg_contraction *reports;
    bool keep;
    struct problem {
        szg_status status; /* SZG_OK: none */
        char text[512];
    } * problem;           /* [GROUP], with `keep` */
    szg_matrix *matrices;  /* content and coupled logits of each pair, NONE: not small */
    szg_spectrum *spectra; /* of these, moved into the reports */
} batch_job;

/* Layer, head and probe, those that there are. */
static void name_place(const szg_contraction_labels *labels, char text[static 160]) {
    int used = 0;
    *text = 0;
    if (labels->layer >= 0)
        used += snprintf(text, 160, "layer %" PRId64, labels->layer);
    if (labels->head >= 0)
        used += snprintf(text + used, 160 - (size_t)used, "%shead %" PRId64, used ? ", " : "",
                         labels->head);
    if (labels->probe)
        snprintf(text + used, 160 - (size_t)used, "%sprobe %s", used ? ", " : "", labels->probe);
}

szg_status szgi_logits_fail_at(szg_context *context, szg_status status,
                               const szg_contraction_labels *labels) {
    char place[160];
    name_place(labels, place);
    if (!labels->source && !*place)
        return status;
    return szgi_fail_prefix(context, status, "%s%s%s", labels->source ? labels->source : "",
                            labels->source && *place ? ": " : "", place);
}

static szg_status report_pair(szg_context *context, const szgi_contraction_pair *pair,
                              const szg_report_options *options, szg_spectrum eigenvalues[2],
                              szg_contraction *out) {
    szg_report_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_report_options, options, &own));
    own.precision = fmax(own.precision, pair->precision);
    const szg_matrix *content = pair->content.kind == SZG_MATRIX_NONE ? NULL : &pair->content;
    szg_status status =
        szgi_contraction_compute(context, content, &pair->coupled, &own, eigenvalues, out);
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_logits_fail_at(context, status, &pair->labels);
}

static bool is_numerical(szg_status status) {
    return status == SZG_EDATA || status == SZG_EDOMAIN || status == SZG_ENOCONV;
}

/* The report of a pair; one that fails may cost the others nothing. */
static szg_status report_or_keep(szg_context *context, const batch_job *job, int64_t i) {
    const szgi_contraction_pair *pair = &job->pairs[i];
    szg_status status = pair->problem ? szgi_fail(context, SZG_EDATA, "%s", pair->problem)
                                      : report_pair(context, pair, job->options,
                                                    &job->spectra[2 * i], &job->reports[i]);
    if (!job->keep)
        return status;
    job->problem[i].status = SZG_OK;
    if (!is_numerical(status))
        return status;
    job->problem[i].status = status;
    snprintf(job->problem[i].text, sizeof job->problem[i].text, "%s", szg_context_message(context));
    return SZG_OK;
}

static szg_status run_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    const batch_job *job = data;
    return report_or_keep(context, job, block);
}

/* A report asks for the eigenvalues of the matrix where it is symmetric, else of its Hermitian
 * part.
 */
static szg_status look_block(szg_context *context, void *data, int64_t block, int worker) {
    const batch_job *job = data;
    const szgi_contraction_pair *pair = &job->pairs[block / 2];
    const szg_matrix *matrix = block % 2 ? &pair->coupled : &pair->content;
    bool symmetric;
    (void)worker;
    job->matrices[block] = (szg_matrix){0};
    if (matrix->kind != SZG_MATRIX_DENSE || matrix->encoding || !szgi_is_small(matrix))
        return SZG_OK;
    SZG_TRY(szgi_matrix_is_hermitian(context, matrix, &symmetric));
    job->matrices[block] = *matrix;
    if (symmetric)
        job->matrices[block].kind = SZG_MATRIX_SYMMETRIC;
    return SZG_OK;
}

static szg_status solve_some(szg_context *context, const batch_job *job, int64_t first,
                             int64_t count) {
    const szg_spectra_options part = {SZG_INIT(szg_spectra_options),
                                      .certify = job->options ? job->options->certify : 0};
    return szgi_many_small(context, 2 * count, job->matrices + 2 * first,
                           SZG_QUESTION_HERMITIAN_PART, &part, 1, job->spectra + 2 * first);
}

/* Where one of them fails and must not cost the others, pair by pair: whose fault it is, its report
 * says. */
static szg_status solve_small(szg_context *context, const batch_job *job, int64_t count) {
    SZG_TRY(szgi_pool_run(context, 2 * count, look_block, (void *)job));
    szg_status status = solve_some(context, job, 0, count);
    if (!job->keep || !is_numerical(status))
        return status;
    for (int64_t i = 0; i < 2 * count; i++)
        szg_spectrum_close(&job->spectra[i]);
    for (int64_t i = 0; i < count; i++) {
        status = solve_some(context, job, i, 1);
        if (status != SZG_OK && !is_numerical(status))
            return status;
    }
    return SZG_OK;
}

/* The device's numbers are no work, whatever the order. */
static int64_t pair_order(const szgi_contraction_pair *pair) {
    return pair->coupled.kind == SZG_MATRIX_DEVICE ? 0 : pair->coupled.rows;
}

/* Reports of the leading pairs: up to GROUP small ones, or one large one. */
static szg_status run_group(szg_context *context, batch_job *job, int64_t left, int64_t *count) {
    *count = 0;
    while (*count < left && *count < GROUP && pair_order(&job->pairs[*count]) <= LARGE)
        ++*count;
    if (*count > 0) {
        SZG_TRY(solve_small(context, job, *count));
        return szgi_pool_run(context, *count, run_block, job);
    }
    *count = 1;
    return report_or_keep(context, job, 0);
}

static szg_status add_problem(szg_context *context, const batch_job *job, int64_t i,
                              szg_contraction_tables *tables) {
    const szgi_contraction_pair *pair = &job->pairs[i];
    const struct problem *problem = &job->problem[i];
    if (tables->bad++ == 0)
        tables->bad_status = problem->status;
    return szgi_contraction_add_problem(context, tables->contraction, &pair->labels,
                                        pair->coupled.rows, problem->text);
}

static szg_status add_group(szg_context *context, const batch_job *job, int64_t count,
                            szg_contraction_tables *tables) {
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(job->keep && job->problem[i].status != SZG_OK
                    ? add_problem(context, job, i, tables)
                    : szgi_contraction_add_to(context, tables, &job->pairs[i].labels,
                                              &job->reports[i]));
    return SZG_OK;
}

szg_status szgi_contraction_add_all(szg_context *context, int64_t count,
                                    const szgi_contraction_pair *pairs,
                                    const szg_report_options *options,
                                    szg_contraction_tables *tables) {
    batch_job job = {.pairs = pairs, .options = options, .keep = tables->keep};
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, GROUP, &job.reports), end);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, 2 * GROUP, &job.matrices), end);
    if (job.keep)
        SZG_TRY_GOTO(status, szgi_memory_alloc(context, GROUP, &job.problem), end);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, 2 * GROUP, &job.spectra), end);
    for (int64_t done = 0, group = 0; done < count && status == SZG_OK; done += group) {
        job.pairs = pairs + done;
        status = run_group(context, &job, count - done, &group);
        if (status == SZG_OK)
            status = add_group(context, &job, group, tables);
        for (int64_t i = 0; i < group; i++)
            szg_contraction_close(&job.reports[i]);
        for (int64_t i = 0; i < 2 * group; i++)
            szg_spectrum_close(&job.spectra[i]);
    }
end:
    szgi_memory_free(job.reports);
    szgi_memory_free(job.problem);
    szgi_memory_free(job.matrices);
    szgi_memory_free(job.spectra);
    return status;
}
