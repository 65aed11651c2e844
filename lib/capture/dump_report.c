/* The contraction report of a dump: the matrices that are in memory go to the batch. */

#include "base/memory.h"
#include "dump_private.h"

typedef struct report_job {
    const szg_report_options *report;
    szg_contraction_tables *tables;
} report_job;

static szg_status take(szg_context *context, void *user, int64_t count,
                       const dump_matrix *matrices) {
    const report_job *job = user;
    szgi_contraction_pair *pairs;
    SZG_TRY(szgi_memory_alloc(context, count, &pairs));
    for (int64_t i = 0; i < count; i++)
        pairs[i] = matrices[i].pair;
    szg_status status = szgi_contraction_add_all(context, count, pairs, job->report, job->tables);
    szgi_memory_free(pairs);
    return status;
}

szg_status szgi_dump_report(szg_context *context, const szgi_dump *dump,
                            const szgi_dump_options *options, const szg_report_options *report,
                            szg_contraction_tables *tables) {
    return szgi_dump_each(context, dump, options, DUMP_PAIRS, take, &(report_job){report, tables});
}
