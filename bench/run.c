/* A run of the benchmark: its table, the limits of its items, and what becomes of those that fail.
 */
#include <stdio.h>

#include "linalg/linalg.h"
#include "network/ops.h"
#include "private.h"

static const szg_column columns[] = {
    {"item", SZG_TEXT, "name of the item"},
    {"backend", SZG_TEXT, "backend and precision of a decoder's products"},
    {"input", SZG_TEXT, "what is timed, or its matrix"},
    {"n", SZG_INTEGER, "order of the matrix, degree of the symbol, or tokens of a step"},
    {"ours", SZG_TEXT, "what szego does"},
    {"rival", SZG_TEXT, "what it is compared with"},
    {"pairs", SZG_INTEGER, "alternating pairs of runs"},
    {"ours_s", SZG_REAL, "median, seconds"},
    {"ours_low_s", SZG_REAL, "fastest, seconds"},
    {"ours_high_s", SZG_REAL, "slowest, seconds"},
    {"rival_s", SZG_REAL, "median, seconds"},
    {"rival_low_s", SZG_REAL, "fastest, seconds"},
    {"rival_high_s", SZG_REAL, "slowest, seconds"},
    {"ratio", SZG_REAL, "rival over ours: median over the pairs"},
    {"ratio_low", SZG_REAL, "least over the pairs"},
    {"ratio_high", SZG_REAL, "largest over the pairs"},
    {"ratio_one_thread", SZG_REAL, "the rival on one thread over ours: median over the pairs"},
    {"target_ratio", SZG_REAL, "the ratio that was set as the goal"},
    {"target_s", SZG_REAL, "the time that was set as the goal, seconds"},
    {"met", SZG_TEXT, "yes or no, where there is a goal"},
    {"difference", SZG_REAL, "largest difference of the answers over the norm"},
    {"peak_mib", SZG_REAL, "largest resident memory during ours, MiB"},
    {"calls", SZG_INTEGER, "calls of an operation in a step"},
    {"bytes", SZG_REAL, "least bytes that are read and written, by a copy or a step's calls"},
    {"bytes_per_s", SZG_REAL, "these over the seconds"},
    {"copy_share", SZG_REAL, "that rate over the rate of a copy"},
    {"verdict", SZG_TEXT, "measured; cut: at the item's limit, or interrupted; failed"},
    {"note", SZG_TEXT, "remarks"},
};

szg_status bench_run_open(szg_context *context, bench_run *run) {
    return szg_table_open(context, "bench", columns, sizeof columns / sizeof *columns, &run->table);
}

void bench_run_close(bench_run *run) {
    szg_table_close(&run->table);
}

/* ---- Rows ---- */

static szg_status set_text(szg_context *context, bench_run *run, const char *column,
                           const char *value) {
    return szg_table_set_text(context, run->table, column, value);
}

szg_status bench_complete(szg_context *context, bench_run *run) {
    int64_t row = run->complete;
    if (row == szg_table_rows(run->table))
        return SZG_OK;
    if (szg_table_is_empty(run->table, row, szg_table_find(run->table, "verdict")))
        SZG_TRY(set_text(context, run, "verdict", "measured"));
    run->complete++;
    return run->row ? run->row(context, run->user, run->table, row) : SZG_OK;
}

szg_status bench_row(szg_context *context, bench_run *run, const char *input) {
    SZG_TRY(bench_complete(context, run));
    SZG_TRY(szg_table_add_row(context, run->table));
    SZG_TRY(set_text(context, run, "item", run->item->name));
    SZG_TRY(set_text(context, run, "backend", szgi_backend_name(context)));
    return set_text(context, run, "input", input);
}

double bench_last(const bench_run *run, const char *column) {
    const szg_table *table = run->table;
    return szg_table_get_real(table, szg_table_rows(table) - 1, szg_table_find(table, column));
}

szg_status bench_set_ratio(szg_context *context, bench_run *run, double ratio, double target) {
    SZG_TRY(szg_table_set_real(context, run->table, "ratio", ratio));
    SZG_TRY(szg_table_set_real(context, run->table, "target_ratio", target));
    return set_text(context, run, "met", ratio >= target ? "yes" : "no");
}

szg_status bench_set_seconds(szg_context *context, bench_run *run, double seconds, double target) {
    SZG_TRY(szg_table_set_real(context, run->table, "ours_s", seconds));
    SZG_TRY(szg_table_set_real(context, run->table, "target_s", target));
    return set_text(context, run, "met", seconds <= target ? "yes" : "no");
}

/* ---- Items ---- */

/* The context knows no other deadline than the item's: without a cancellation it was that. */
static bool is_cut(szg_context *context, szg_status failure) {
    return failure == SZG_ECANCEL && !szg_context_is_cancelled(context);
}

static double limit_of(const bench_run *run) {
    return run->options.seconds > 0 ? run->options.seconds : run->item->seconds;
}

szg_status bench_stop(szg_context *context, bench_run *run, szg_status failure, const char *why) {
    char limit[64];
    bool cut = is_cut(context, failure);
    snprintf(limit, sizeof limit, "cut at its limit of %g s", limit_of(run));
    if (cut)
        why = limit;
    if (run->failures++ == 0) {
        snprintf(run->first, sizeof run->first, "%s: %s", run->item->name, why);
        run->failure = cut ? SZG_ENOCONV : failure;
    }
    run->stopped = true;
    SZG_TRY(set_text(context, run, "verdict", failure == SZG_ECANCEL ? "cut" : "failed"));
    return szg_table_note(context, run->table, "%s", why);
}

static szg_status add_failure(szg_context *context, bench_run *run, szg_status failure) {
    char why[512];
    snprintf(why, sizeof why, "%s", szg_context_message(context));
    SZG_TRY(bench_row(context, run, NULL));
    return bench_stop(context, run, failure, why);
}

szg_status bench_run_item(szg_context *context, bench_run *run, const bench_item *item) {
    run->item = item;
    run->stopped = false;
    szg_context_set_deadline(context, limit_of(run));
    szg_status status = item->measure(context, run);
    szg_context_set_deadline(context, 0);
    if (status == SZG_ECANCEL && szg_context_is_cancelled(context)) {
        SZG_TRY(bench_complete(context, run));
        return szgi_context_check_cancel(context);
    }
    if (status != SZG_OK && !run->stopped)
        SZG_TRY(add_failure(context, run, status));
    return bench_complete(context, run);
}

szg_status bench_as(szg_context *context, bench_run *run, const char *name) {
    bench_run before = *run;
    run->item = bench_find(name);
    run->options.alone = true;
    szg_status status = run->item->measure(context, run);
    run->item = before.item;
    run->options.alone = before.options.alone;
    return status == SZG_OK ? bench_complete(context, run) : status;
}

szg_status bench_run_verdict(szg_context *context, const bench_run *run) {
    if (run->failures == 0)
        return SZG_OK;
    return szgi_fail(context, run->failure, "%lld of the items could not be measured whole: %s%s",
                     (long long)run->failures, run->first,
                     run->failures > 1 ? "; the column `verdict` tells the others" : "");
}
