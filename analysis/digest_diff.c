/* What `szego diff` shows to a person: the heads that changed most. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "digest.h"

/* Most rows of a step and stack. */
enum { ROWS = 10 };

/* The row with the largest number of a column, or -1: no number is above 0. */
static int64_t largest(const szg_table *table, int64_t column) {
    int64_t best = -1;
    double most = 0;
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        if (!szg_table_is_empty(table, row, column) &&
            szg_table_get_real(table, row, column) > most) {
            most = szg_table_get_real(table, row, column);
            best = row;
        }
    return best;
}

static int64_t whole(const szg_table *table, int64_t row, const char *name) {
    return szg_table_get_integer(table, row, szg_table_find(table, name));
}

/* "layer 0 head 3", with the stack before it, and the step behind it. */
static void say_head(const szg_table *table, int64_t row, FILE *out) {
    int64_t stack = szg_table_find(table, "stack");
    if (!szg_table_is_empty(table, row, stack))
        fprintf(out, "%s ", szg_table_get_text(table, row, stack));
    fprintf(out, "layer %" PRId64 " head %" PRId64, whole(table, row, "layer"),
            whole(table, row, "head"));
    if (!szg_table_is_empty(table, row, szg_table_find(table, "step")))
        fprintf(out, " at step %" PRId64, whole(table, row, "step"));
}

static void say_change(const szg_table *diff, FILE *out) {
    int64_t column = szg_table_find(diff, "change"), best = largest(diff, column);
    bool known = false;
    for (int64_t row = 0; row < szg_table_rows(diff); row++)
        known = known || !szg_table_is_empty(diff, row, column);
    if (best < 0) {
        fputs(known ? "No head changed: W_Q^T W_K is the same in each.\n" : "", out);
        return;
    }
    fputs("W_Q^T W_K changed most in ", out);
    say_head(diff, best, out);
    fprintf(out, ": by %.3g of its Frobenius norm.\n", szg_table_get_real(diff, best, column));
}

static void say_kernel(const szg_table *heads, const char *kernel, FILE *out) {
    char name[48];
    snprintf(name, sizeof name, "%s_change", kernel);
    int64_t column = szg_table_find(heads, name), best = largest(heads, column);
    if (best < 0)
        return;
    snprintf(name, sizeof name, "%s_change_lag", kernel);
    fprintf(out, "The %s kernel changed most in ", kernel);
    say_head(heads, best, out);
    fprintf(out, ": by %.3g at lag %" PRId64, szg_table_get_real(heads, best, column),
            whole(heads, best, name));
    snprintf(name, sizeof name, "base_%s_share", kernel);
    int64_t before = szg_table_find(heads, name);
    snprintf(name, sizeof name, "%s_share", kernel);
    int64_t after = szg_table_find(heads, name);
    if (!szg_table_is_empty(heads, best, before) && !szg_table_is_empty(heads, best, after))
        fprintf(out, ", and its share went from %.3g to %.3g",
                szg_table_get_real(heads, best, before), szg_table_get_real(heads, best, after));
    fputs(".\n", out);
}

/* A head without a kernel on both sides has a row in files, which says why. */
static bool has_kernel(const szg_table *heads, int64_t row) {
    return !szg_table_is_empty(heads, row, szg_table_find(heads, "mean_change")) ||
           !szg_table_is_empty(heads, row, szg_table_find(heads, "self_change"));
}

static void say_missing(const szg_table *heads, FILE *out) {
    int64_t missing = 0, rows = szg_table_rows(heads);
    for (int64_t row = 0; row < rows; row++)
        missing += !has_kernel(heads, row);
    if (missing > 0)
        fprintf(out,
                "%" PRId64 " of %" PRId64
                " rows of diff_heads have no kernel: -o DIR/ writes the reasons.\n",
                missing, rows);
}

szg_status digest_changes(szg_context *context, const szg_table *diff, const szg_table *heads,
                          szgi_text *out) {
    SZG_TRY(szgi_text_open(context, out));
    say_change(diff, out->stream);
    if (heads) {
        say_kernel(heads, "mean", out->stream);
        say_kernel(heads, "self", out->stream);
        say_missing(heads, out->stream);
    }
    return szgi_text_end(out, SZG_OK);
}

/* The lag of no change says nothing. */
static bool has_change(const szg_table *heads, int64_t row) {
    static const char *const names[] = {"mean_change", "self_change"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t column = szg_table_find(heads, names[i]);
        if (!szg_table_is_empty(heads, row, column) && szg_table_get_real(heads, row, column) != 0)
            return true;
    }
    return false;
}

/* Whether a row belongs to the same two checkpoints and the same stack as the one before. */
static bool goes_on(const szg_table *table, int64_t row) {
    static const char *const names[] = {"source", "base", "stack"};
    for (size_t i = 0; row > 0 && i < sizeof names / sizeof *names; i++) {
        int64_t column = szg_table_find(table, names[i]);
        bool empty = szg_table_is_empty(table, row, column);
        if (empty != szg_table_is_empty(table, row - 1, column) ||
            (!empty && strcmp(szg_table_get_text(table, row, column),
                              szg_table_get_text(table, row - 1, column)) != 0))
            return false;
    }
    return row > 0;
}

/* Rows that a screen can show: of kernels those that changed, or if none did, those that are known.
 */
static bool is_shown(const szg_table *table, int64_t row, bool kernels, bool changed) {
    return !kernels || (changed ? has_change(table, row) : has_kernel(table, row));
}

szg_status digest_most_changed(szg_context *context, const szg_table *table, szg_table **out) {
    bool kernels = szg_table_find(table, "mean_change") >= 0, changed = false;
    int64_t shown = 0;
    for (int64_t row = 0; kernels && row < szg_table_rows(table); row++)
        changed = changed || has_change(table, row);
    SZG_TRY(digest_open_like(context, table, szg_table_name(table), out));
    szg_status status = SZG_OK;
    for (int64_t row = 0; row < szg_table_rows(table) && status == SZG_OK; row++) {
        shown = goes_on(table, row) ? shown : 0;
        if (shown < ROWS && is_shown(table, row, kernels, changed)) {
            shown++;
            status = digest_copy_row(context, table, row, *out);
        }
    }
    if (status != SZG_OK)
        szg_table_close(out);
    return status;
}
