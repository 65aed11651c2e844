#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "private.h"

enum { MOST_PAIRS = 64 };
static const double WARM_UP_LIMIT = 2, CASE_LIMIT = 60;

static double now_by(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_now(void) {
    return now_by(CLOCK_MONOTONIC);
}

double bench_processor_now(void) {
    return now_by(CLOCK_PROCESS_CPUTIME_ID);
}

/* Linux resets the peak of a process on request; elsewhere it is the peak since the start. */
void bench_peak_reset(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

double bench_peak(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    double kib = NAN;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = atof(line + 6);
    if (file)
        fclose(file);
    struct rusage usage;
    if (isnan(kib) && getrusage(RUSAGE_SELF, &usage) == 0)
        kib = (double)usage.ru_maxrss;
    return kib / 1024;
}

double bench_difference(int64_t count, const double *x, const double *y) {
    double largest = 0, norm = 0;
    for (int64_t i = 0; i < count; i++) {
        double difference = fabs(x[i] - y[i]);
        if (!(difference <= largest))
            largest = difference;
        norm = fmax(norm, fabs(y[i]));
    }
    return norm > 0 ? largest / norm : largest;
}

/* ---- Statistics ---- */

typedef struct sample {
    int64_t count;
    double value[MOST_PAIRS];
} sample;

static int compare(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

typedef struct summary {
    double median, low, high;
} summary;

static summary summarise(const sample *from) {
    sample sorted = *from;
    int64_t n = sorted.count;
    qsort(sorted.value, (size_t)n, sizeof *sorted.value, compare);
    double median =
        n % 2 ? sorted.value[n / 2] : (sorted.value[n / 2 - 1] + sorted.value[n / 2]) / 2;
    return (summary){median, sorted.value[0], sorted.value[n - 1]};
}

static void add(sample *to, double value) {
    to->value[to->count++] = value;
}

/* ---- One case ---- */

typedef struct timing {
    sample ours, rival, ratio, single_ratio;
    double peak;
} timing;

static szg_status timed(szg_context *context, const bench_case *what, bench_fn *run,
                        double *seconds) {
    if (what->prepare)
        SZG_TRY(what->prepare(context, what->job));
    double start = bench_now();
    SZG_TRY(run(context, what->job));
    *seconds = what->measured ? *what->measured : bench_now() - start;
    return SZG_OK;
}

static szg_status run_pair(szg_context *context, const bench_case *what, timing *times) {
    double ours, rival;
    bench_peak_reset();
    SZG_TRY(timed(context, what, what->ours, &ours));
    times->peak = fmax(times->peak, bench_peak());
    add(&times->ours, ours);
    if (what->rival) {
        SZG_TRY(timed(context, what, what->rival, &rival));
        add(&times->rival, rival);
        add(&times->ratio, rival / ours);
    }
    if (what->single) {
        SZG_TRY(timed(context, what, what->single, &rival));
        add(&times->single_ratio, rival / ours);
    }
    return SZG_OK;
}

static szg_status run_pairs(szg_context *context, const bench_run *run, const bench_case *what,
                            timing *times) {
    double start = bench_now();
    int64_t pairs = run->options.pairs > 0 ? run->options.pairs : what->pairs;
    pairs = pairs < MOST_PAIRS ? pairs : MOST_PAIRS;
    for (int64_t pair = 0; pair < pairs; pair++) {
        szgi_progress(context, run->item->name, pair, pairs);
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(run_pair(context, what, times));
        double elapsed = bench_now() - start;
        if (pair == 0 && pairs > 1 && times->ours.count == 1 && elapsed < WARM_UP_LIMIT) {
            *times = (timing){0}; /* caches, plans and page tables are warm now */
            start = bench_now();
            SZG_TRY(run_pair(context, what, times));
        }
        if (elapsed > CASE_LIMIT)
            break;
    }
    szgi_progress(context, run->item->name, pairs, pairs);
    return SZG_OK;
}

/* Of these columns the first holds the median, the next the least, the one after it the largest. */
static void put_times(szgi_row *row, int64_t first, const sample *from) {
    if (from->count == 0)
        return;
    summary s = summarise(from);
    szgi_row_real(row, first, s.median);
    szgi_row_real(row, first + 1, s.low);
    szgi_row_real(row, first + 2, s.high);
}

static void put_goal(szgi_row *row, const bench_case *what, const timing *times) {
    bool met = true;
    if (what->target_ratio > 0) {
        szgi_row_real(row, BENCH_TARGET_RATIO, what->target_ratio);
        met = summarise(&times->ratio).median >= what->target_ratio;
    }
    if (what->target_seconds > 0) {
        szgi_row_real(row, BENCH_TARGET_S, what->target_seconds);
        met = met && summarise(&times->ours).median <= what->target_seconds;
    }
    if (what->target_ratio > 0 || what->target_seconds > 0)
        szgi_row_text(row, BENCH_MET, met ? "yes" : "no");
}

static szg_status add_row(szg_context *context, bench_run *run, const bench_case *what,
                          const timing *times) {
    SZG_TRY(bench_row(context, run, what->input));
    szgi_row row = bench_latest(context, run);
    szgi_row_integer(&row, BENCH_N, what->n);
    szgi_row_text(&row, BENCH_OURS, what->ours_name);
    szgi_row_text(&row, BENCH_RIVAL, what->rival_name);
    szgi_row_integer(&row, BENCH_PAIRS, times->ours.count);
    put_times(&row, BENCH_OURS_S, &times->ours);
    put_times(&row, BENCH_RIVAL_S, &times->rival);
    put_times(&row, BENCH_RATIO, &times->ratio);
    if (times->single_ratio.count > 0)
        szgi_row_real(&row, BENCH_RATIO_ONE_THREAD, summarise(&times->single_ratio).median);
    szgi_row_real(&row, BENCH_PEAK_MIB, times->peak);
    return row.status;
}

/* What failed keeps its message while the row is made. */
static szg_status keep_pairs(szg_context *context, bench_run *run, const bench_case *what,
                             const timing *times, szg_status failure) {
    char why[512];
    snprintf(why, sizeof why, "%s", szg_context_message(context));
    SZG_TRY(add_row(context, run, what, times));
    SZG_TRY(bench_stop(context, run, failure, why));
    return szgi_fail(context, failure, "%s", why);
}

szg_status bench_measure(szg_context *context, bench_run *run, const bench_case *what) {
    timing times = {0};
    SZG_TRY(bench_complete(context, run));
    szg_status status = run_pairs(context, run, what, &times);
    if (status != SZG_OK)
        return times.ours.count > 0 ? keep_pairs(context, run, what, &times, status) : status;
    SZG_TRY(add_row(context, run, what, &times));
    szgi_row row = bench_latest(context, run);
    put_goal(&row, what, &times);
    return row.status;
}
