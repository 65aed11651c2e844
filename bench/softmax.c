/* Statistics of a causal softmax from queries and keys: products in single precision against those
 * in double precision, by processor time. */
#include <szego/statistics.h>

#include "base/memory.h"
#include "base/random.h"
#include "private.h"

enum { DIMENSION = 128 };

typedef struct softmax_job {
    szg_factored logits;
    szg_statistics ours, exact;
    double seconds; /* of the processor */
} softmax_job;

static szg_status compute(szg_context *context, softmax_job *job, bool exact, szg_statistics *out) {
    const szg_matrix matrix = szg_matrix_factored(&job->logits);
    const szg_statistics_options options = {SZG_INIT(szg_statistics_options), .exact = exact};
    double start = bench_processor_now();
    szg_status status = szg_statistics_compute(context, &matrix, &options, out);
    job->seconds = bench_processor_now() - start;
    return status;
}

static szg_status run_ours(szg_context *context, void *argument) {
    softmax_job *job = argument;
    return compute(context, job, false, &job->ours);
}

static szg_status run_exact(szg_context *context, void *argument) {
    softmax_job *job = argument;
    return compute(context, job, true, &job->exact);
}

static szg_status put_answers(szg_context *context, bench_run *run, const softmax_job *job) {
    const szg_statistics *x = &job->ours, *y = &job->exact;
    const double ours[] = {x->largest,     x->smallest,    x->entropy_mean,
                           x->entropy_min, x->entropy_max, x->first_share};
    const double exact[] = {y->largest,     y->smallest,    y->entropy_mean,
                            y->entropy_min, y->entropy_max, y->first_share};
    szgi_row row = bench_latest(context, run);
    szgi_row_real(&row, BENCH_DIFFERENCE, bench_difference(6, ours, exact));
    szgi_row_note(&row, "processor time; %s precision, a logit proved to %.2g",
                  x->single ? "single" : "double", x->error);
    return row.status;
}

static szg_status measure(szg_context *context, bench_run *run, int64_t n, double *x) {
    const int64_t d = DIMENSION;
    const szgi_stream stream = {.seed = run->options.seed, .purpose = 11};
    szgi_random_fill_normal(&stream, 0, 2 * n * d, x);
    for (int64_t i = 0; i < n * d; i++)
        x[i] /= 8; /* logits of a standard deviation of 1.4 */
    softmax_job job = {
        .logits = {.n = n, .d = d, .a = x, .lda = d, .b = x + n * d, .ldb = d, .causal = true}};
    bench_case what = {.input = "Gaussian, d = 128, causal",
                       .n = n,
                       .ours_name = "single precision, proved",
                       .rival_name = "double precision (exact)",
                       .ours = run_ours,
                       .rival = run_exact,
                       .job = &job,
                       .measured = &job.seconds,
                       .pairs = n > 32768 ? 1 : 5,
                       .target_ratio = n > 32768 ? 4 : 0};
    SZG_TRY(bench_measure(context, run, &what));
    return put_answers(context, run, &job);
}

szg_status bench_softmax(szg_context *context, bench_run *run) {
    static const int64_t sizes[] = {2048, 8192, 32768, 131072};
    for (int i = 0; i < (run->options.quick ? 1 : 4); i++) {
        double *x;
        SZG_TRY(szgi_memory_alloc(context, 2 * sizes[i] * DIMENSION, &x));
        szg_status status = measure(context, run, sizes[i], x);
        szgi_memory_free(x);
        SZG_TRY(status);
    }
    return SZG_OK;
}
