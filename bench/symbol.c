/* Certified ranges of symbols. */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "toeplitz/symbol.h"
#include "private.h"

enum { DEGREE = 4095 };

typedef struct symbol_job {
    szg_toeplitz *t;
    szg_range range;
} symbol_job;

static szg_status run_range(szg_context *context, void *argument) {
    symbol_job *job = argument;
    return szg_symbol_range(context, job->t, &job->range);
}

static const char *const inputs[] = {"0.9^|k|", "-|k|", "rotary mean, d = 128", "Gaussian"};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static double lag(bench_run *run, int input, int64_t k) {
    szgi_stream stream = {.seed = run->options.seed, .purpose = 5};
    double sum = 0;
    switch (input) {
    case 0:
        return pow(0.9, (double)k);
    case 1:
        return -(double)k;
    case 2:
        for (int t = 0; t < 64; t++)
            sum += cos((double)k * pow(10000, -t / 64.0)) / 64;
        return sum;
    default:
        return szgi_random_normal(&stream, (uint64_t)k);
    }
}

static szg_status measure(szg_context *context, bench_run *run, int input, const double *lags) {
    symbol_job job = {0};
    bench_case what = {.input = inputs[input],
                       .n = DEGREE,
                       .ours_name = "grid, refinement, balls",
                       .ours = run_range,
                       .job = &job,
                       .pairs = run->options.quick ? 3 : 5,
                       .target_seconds = 1};
    SZG_TRY(szg_toeplitz_open_symmetric(context, DEGREE + 1, DEGREE + 1, lags, &job.t));
    szg_status status = bench_measure(context, run, &what);
    szg_range *r = &job.range;
    double width = fmax(r->min.hi - r->min.lo, r->max.hi - r->max.lo);
    double size = fmax(fabs(r->min.lo), fabs(r->max.hi));
    szg_toeplitz_close(&job.t);
    SZG_TRY(status);
    szgi_row row = bench_latest(context, run);
    szgi_row_real(&row, BENCH_DIFFERENCE, width / size);
    szgi_row_note(&row, "difference: width of the wider enclosure");
    return row.status;
}

szg_status bench_symbol_range(szg_context *context, bench_run *run) {
    double *lags;
    SZG_TRY(szgi_memory_alloc(context, DEGREE + 1, &lags));
    szg_status status = SZG_OK;
    for (int input = 0; input < INPUTS && status == SZG_OK; input++) {
        for (int64_t k = 0; k <= DEGREE; k++)
            lags[k] = lag(run, input, k);
        status = measure(context, run, input, lags);
    }
    szgi_memory_free(lags);
    return status;
}
