/* Many contraction reports at once: one a block of the pool, rows in the order of the pairs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "contraction/contraction.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/pool.h"

enum {
    GROUP = 64, /* reports held at a time */
    LARGE = 512 /* above this order a report takes every thread for itself */
};

typedef struct batch_job {
    const szgi_contraction_pair *pairs;
    const szg_report_options *options;
    szg_contraction *reports;
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
                              const szg_report_options *options, szg_contraction *out) {
    szg_report_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_report_options, options, &own));
    own.precision = fmax(own.precision, pair->precision);
    const szg_matrix *content = pair->content.kind == SZG_MATRIX_NONE ? NULL : &pair->content;
    szg_status status = szg_contraction_compute(context, content, &pair->coupled, &own, out);
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_logits_fail_at(context, status, &pair->labels);
}

static szg_status run_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    const batch_job *job = data;
    return report_pair(context, &job->pairs[block], job->options, &job->reports[block]);
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
    if (*count > 0)
        return szgi_pool_run(context, *count, run_block, job);
    *count = 1;
    return report_pair(context, job->pairs, job->options, job->reports);
}

static szg_status add_group(szg_context *context, const batch_job *job, int64_t count,
                            szg_contraction_tables *tables) {
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(szgi_contraction_add_to(context, tables, &job->pairs[i].labels, &job->reports[i]));
    return SZG_OK;
}

szg_status szgi_contraction_add_all(szg_context *context, int64_t count,
                                    const szgi_contraction_pair *pairs,
                                    const szg_report_options *options,
                                    szg_contraction_tables *tables) {
    batch_job job = {.pairs = pairs, .options = options};
    szg_status status = SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, GROUP, &job.reports));
    for (int64_t done = 0, group = 0; done < count && status == SZG_OK; done += group) {
        job.pairs = pairs + done;
        status = run_group(context, &job, count - done, &group);
        if (status == SZG_OK)
            status = add_group(context, &job, group, tables);
        for (int64_t i = 0; i < group; i++)
            szg_contraction_close(&job.reports[i]);
    }
    szgi_memory_free(job.reports);
    return status;
}
