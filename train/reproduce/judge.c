/* The tables of a finished run, judged as the reports will read them: its folder may be a copy that
 * lost a file, or that another program changed. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

#include "reproduce_private.h"

/* `which`: one of the kinds that a function judges. */
typedef szg_status judge(szg_context *context, const reproduction_run *run, int which,
                         const char *name, const szgi_contents *file);

/* ---- Logs ---- */

static szg_status fail_row(szg_context *context, const char *name, int64_t row, const char *what) {
    return szgi_fail(context, SZG_EDATA, "%s: row %" PRId64 ": %s", name, row + 1, what);
}

static bool is_empty(const szg_table *table, int64_t row, const char *column) {
    return szg_table_is_empty(table, row, szg_table_find(table, column));
}

/* NaN: the cell is empty. */
static double real_of(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

/* Every number is there (an accuracy of no examples is not), and a share is one. */
static szg_status judge_metrics_row(szg_context *context, const reproduction_run *run,
                                    const char *name, const szg_table *table, int64_t row) {
    double loss = real_of(table, row, "loss"), accuracy = real_of(table, row, "accuracy");
    if (szg_table_get_integer(table, row, szg_table_find(table, "seed")) !=
        (int64_t)run->shown.seed)
        return fail_row(context, name, row, "seed is not the run's");
    if (!(real_of(table, row, "step") >= 0))
        return fail_row(context, name, row, "step is not 0 or more");
    if (!is_empty(table, row, "loss") && !(loss >= 0 && isfinite(loss)))
        return fail_row(context, name, row, "loss is not 0 or more and finite");
    if (!is_empty(table, row, "accuracy") && !(accuracy >= 0 && accuracy <= 1))
        return fail_row(context, name, row, "accuracy is not in 0 .. 1");
    return SZG_OK;
}

/* Epochs 1, 2, 3, ... of either split, at least those of the run. */
static szg_status judge_metrics_rows(szg_context *context, const reproduction_run *run,
                                     const char *name, const szg_table *table) {
    static const char *const splits[] = {"train", "test"};
    int64_t epochs[2] = {0, 0}, wanted = run->facts.epochs;
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        const char *split = szg_table_get_text(table, row, szg_table_find(table, "split"));
        int which = split && strcmp(split, splits[1]) == 0;
        if (!split || strcmp(split, splits[which]) != 0)
            return fail_row(context, name, row, "split is neither train nor test");
        if (szg_table_get_integer(table, row, szg_table_find(table, "epoch")) != ++epochs[which])
            return fail_row(context, name, row, "epoch is not the next one of its split");
        SZG_TRY(judge_metrics_row(context, run, name, table, row));
    }
    for (int which = 0; which < 1 + (run->facts.data.test_examples > 0); which++)
        if (epochs[which] < wanted)
            return szgi_fail(context, SZG_EDATA,
                             "%s: has %" PRId64 " rows of split %s, the run %" PRId64 " epochs",
                             name, epochs[which], splits[which], wanted);
    return SZG_OK;
}

/* Times say nothing of the run's numbers: a file of them that was removed, whenever that was, is no
 * reason to refuse the run, as it stops none that goes on. Rates are sums over the rows that are
 * there. */
static void note_times(szg_context *context, const reproduction_run *run, const char *name,
                       int64_t rows) {
    if (rows < run->facts.epochs)
        szgi_say(context, SZG_NOTE,
                 "%s: has the times of %" PRId64 " of %" PRId64
                 " epochs: rates count the rows that are there",
                 name, rows, run->facts.epochs);
}

static szg_status judge_timing_rows(szg_context *context, const reproduction_run *run,
                                    const char *name, const szg_table *table) {
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        double seconds = real_of(table, row, "train_seconds");
        if (!(seconds >= 0 && isfinite(seconds)))
            return fail_row(context, name, row, "train_seconds is not 0 or more and finite");
        if (!(real_of(table, row, "tokens") >= 0))
            return fail_row(context, name, row, "tokens is not 0 or more");
    }
    note_times(context, run, name, szg_table_rows(table));
    return SZG_OK;
}

static szg_status judge_contraction_rows(szg_context *context, const char *name,
                                         const szg_table *table) {
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        if (real_of(table, row, "width_ratio") < 0) /* NaN: content without a width */
            return fail_row(context, name, row, "width_ratio is below 0");
    return SZG_OK;
}

/* Times that were removed when no step was left are a file without a byte. */
static szg_status judge_log(szg_context *context, const reproduction_run *run, int which,
                            const char *name, const szgi_contents *file) {
    szg_table *table;
    if (file->size == 0 && which == LOG_TIMING) {
        note_times(context, run, name, 0);
        return SZG_OK;
    }
    SZG_TRY(szgi_log_parse(context, which, name, file->data, file->size, &table));
    szg_status status = which == LOG_METRICS  ? judge_metrics_rows(context, run, name, table)
                        : which == LOG_TIMING ? judge_timing_rows(context, run, name, table)
                                              : judge_contraction_rows(context, name, table);
    szg_table_close(&table);
    return status;
}

/* ---- Ablations and lengths ---- */

static szg_status judge_ablation(szg_context *context, const reproduction_run *run, int which,
                                 const char *name, const szgi_contents *file) {
    return szgi_reproduction_ablation_judge(context, run, (szg_ablation_method)which, name,
                                            file->data, file->size);
}

static szg_status judge_length(szg_context *context, const reproduction_run *run, int which,
                               const char *name, const szgi_contents *file) {
    (void)which;
    return szgi_reproduction_length_judge(context, run, name, file->data, file->size);
}

/* ---- The folder ---- */

static szg_status judge_file(szg_context *context, const reproduction_run *run, judge *judged,
                             int which, const char *path) {
    szgi_contents file;
    SZG_TRY(szgi_contents_open(context, path, &file));
    szg_status status = judged(context, run, which, path, &file);
    szgi_contents_close(&file);
    return status;
}

/* Times may be missing, and what was captured if nothing was. */
static szg_status judge_member(szg_context *context, const reproduction_run *run, judge *judged,
                               int which, const char *name) {
    char *path;
    SZG_TRY(szgi_path_join(context, run->folder, name, &path));
    szg_status status = SZG_OK;
    if (access(path, F_OK) == 0 || errno != ENOENT)
        status = judge_file(context, run, judged, which, path);
    else if (judged == judge_log && which == LOG_TIMING)
        note_times(context, run, path, 0);
    else if (judged == judge_log && which == LOG_CONTRACTION)
        status = SZG_OK;
    else
        status = szgi_fail(context, SZG_EDATA,
                           "%s: is missing, and finished.json says that the run is finished: copy "
                           "the file too, or remove finished.json to train the run again",
                           path);
    szgi_memory_free(path);
    return status;
}

szg_status szgi_reproduction_judge(szg_context *context, const reproduction_run *run) {
    SZG_TRY(judge_member(context, run, judge_log, LOG_METRICS, "metrics.csv"));
    SZG_TRY(judge_member(context, run, judge_log, LOG_TIMING, "timing.csv"));
    SZG_TRY(judge_member(context, run, judge_log, LOG_CONTRACTION, "contraction.csv"));
    for (int method = 0; method < SZG_ABLATION_METHODS; method++)
        if (run->shown.methods >> method & 1)
            SZG_TRY(judge_member(context, run, judge_ablation, method,
                                 szgi_reproduction_ablation_name((szg_ablation_method)method)));
    return run->length.count > 0 ? judge_member(context, run, judge_length, 0, SZGI_LENGTH_FILE)
                                 : SZG_OK;
}
