/* A run of the benchmark: its table, the limits of its items, and what becomes of those that fail.
 */
#include <stdio.h>

#include "linalg/linalg.h"
#include "network/ops.h"
#include "private.h"

#define BENCH_SCREEN                                                                               \
    SZGI_SHOW(1, item)                                                                             \
    SZGI_SHOW(1, input)                                                                            \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW(1, ours_s)                                                                           \
    SZGI_SHOW(1, rival_s)                                                                          \
    SZGI_SHOW(1, ratio)                                                                            \
    SZGI_SHOW(2, met)                                                                              \
    SZGI_SHOW(2, target_ratio)                                                                     \
    SZGI_SHOW_WORD(2, verdict)                                                                     \
    SZGI_SHOW(3, ratio_low)                                                                        \
    SZGI_SHOW(3, ratio_high)                                                                       \
    SZGI_SHOW(4, backend)                                                                          \
    SZGI_SHOW(4, rival)
SZGI_SCHEMA_AT(columns, "bench", BENCH_COLUMNS, BENCH_SCREEN);

szg_status bench_run_open(szg_context *context, bench_run *run) {
    return szgi_schema_open(context, &columns_schema, &run->table);
}

void bench_run_close(bench_run *run) {
    szg_table_close(&run->table);
}

/* ---- Rows ---- */

szg_status bench_complete(szg_context *context, bench_run *run) {
    int64_t at = run->complete;
    if (at == szg_table_rows(run->table))
        return SZG_OK;
    szgi_row row = bench_latest(context, run);
    if (szg_table_is_empty(run->table, at, BENCH_VERDICT))
        szgi_row_text(&row, BENCH_VERDICT, "measured");
    SZG_TRY(row.status);
    run->complete++;
    return run->row ? run->row(context, run->user, run->table, at) : SZG_OK;
}

szg_status bench_row(szg_context *context, bench_run *run, const char *input) {
    SZG_TRY(bench_complete(context, run));
    szgi_row row = szgi_row_add(context, run->table);
    szgi_row_text(&row, BENCH_ITEM, run->item->name);
    szgi_row_text(&row, BENCH_BACKEND, szgi_backend_name(context));
    szgi_row_text(&row, BENCH_INPUT, input);
    return row.status;
}

szgi_row bench_latest(szg_context *context, const bench_run *run) {
    return szgi_row_latest(context, run->table);
}

double bench_last(const bench_run *run, int64_t column) {
    return szg_table_get_real(run->table, szg_table_rows(run->table) - 1, column);
}

void bench_put_ratio(szgi_row *row, double ratio, double target) {
    szgi_row_real(row, BENCH_RATIO, ratio);
    szgi_row_real(row, BENCH_TARGET_RATIO, target);
    szgi_row_text(row, BENCH_MET, ratio >= target ? "yes" : "no");
}

void bench_put_seconds(szgi_row *row, double seconds, double target) {
    szgi_row_real(row, BENCH_OURS_S, seconds);
    szgi_row_real(row, BENCH_TARGET_S, target);
    szgi_row_text(row, BENCH_MET, seconds <= target ? "yes" : "no");
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
    szgi_row row = bench_latest(context, run);
    szgi_row_text(&row, BENCH_VERDICT, failure == SZG_ECANCEL ? "cut" : "failed");
    szgi_row_note(&row, "%s", why);
    return row.status;
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
