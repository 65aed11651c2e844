#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "private.h"

enum { MOST_PAIRS = 64 };
static const double WARM_UP_LIMIT = 2, CASE_LIMIT = 60;

double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
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
    return SZG_OK;
}

static szg_status set_times(szg_context *context, szg_table *table, const char *side,
                            const sample *from) {
    if (from->count == 0)
        return SZG_OK;
    summary s = summarise(from);
    bool seconds = strcmp(side, "ratio") != 0;
    char name[32];
    snprintf(name, sizeof name, seconds ? "%s_s" : "%s", side);
    SZG_TRY(szg_table_set_real(context, table, name, s.median));
    snprintf(name, sizeof name, seconds ? "%s_low_s" : "%s_low", side);
    SZG_TRY(szg_table_set_real(context, table, name, s.low));
    snprintf(name, sizeof name, seconds ? "%s_high_s" : "%s_high", side);
    return szg_table_set_real(context, table, name, s.high);
}

static szg_status set_goal(szg_context *context, szg_table *table, const bench_case *what,
                           const timing *times) {
    bool met = true;
    if (what->target_ratio > 0) {
        SZG_TRY(szg_table_set_real(context, table, "target_ratio", what->target_ratio));
        met = summarise(&times->ratio).median >= what->target_ratio;
    }
    if (what->target_seconds > 0) {
        SZG_TRY(szg_table_set_real(context, table, "target_s", what->target_seconds));
        met = met && summarise(&times->ours).median <= what->target_seconds;
    }
    if (what->target_ratio > 0 || what->target_seconds > 0)
        return szg_table_set_text(context, table, "met", met ? "yes" : "no");
    return SZG_OK;
}

static szg_status set_row(szg_context *context, bench_run *run, const bench_case *what,
                          const timing *times) {
    szg_table *table = run->table;
    SZG_TRY(bench_row(context, run, what->input));
    SZG_TRY(szg_table_set_integer(context, table, "n", what->n));
    SZG_TRY(szg_table_set_text(context, table, "ours", what->ours_name));
    SZG_TRY(szg_table_set_text(context, table, "rival", what->rival_name));
    SZG_TRY(szg_table_set_integer(context, table, "pairs", times->ours.count));
    SZG_TRY(set_times(context, table, "ours", &times->ours));
    SZG_TRY(set_times(context, table, "rival", &times->rival));
    SZG_TRY(set_times(context, table, "ratio", &times->ratio));
    if (times->single_ratio.count > 0)
        SZG_TRY(szg_table_set_real(context, table, "ratio_one_thread",
                                   summarise(&times->single_ratio).median));
    return szg_table_set_real(context, table, "peak_mib", times->peak);
}

/* What failed keeps its message while the row is made. */
static szg_status keep_pairs(szg_context *context, bench_run *run, const bench_case *what,
                             const timing *times, szg_status failure) {
    char why[512];
    snprintf(why, sizeof why, "%s", szg_context_message(context));
    SZG_TRY(set_row(context, run, what, times));
    SZG_TRY(bench_stop(context, run, failure, why));
    return szgi_fail(context, failure, "%s", why);
}

szg_status bench_measure(szg_context *context, bench_run *run, const bench_case *what) {
    timing times = {0};
    SZG_TRY(bench_complete(context, run));
    szg_status status = run_pairs(context, run, what, &times);
    if (status != SZG_OK)
        return times.ours.count > 0 ? keep_pairs(context, run, what, &times, status) : status;
    SZG_TRY(set_row(context, run, what, &times));
    return set_goal(context, run->table, what, &times);
}
