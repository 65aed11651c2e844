/* What an archive holds of a run, judged as the reports will read it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "formats/safetensors.h"

#include "reproduce_private.h"

/* `which`: one of the kinds that a function judges. */
typedef szg_status judge(szg_context *context, const reproduction_run *run, int which,
                         const char *name, szgi_archive_file file);

/* ---- Documents ---- */

enum { CONFIG, MANIFEST };

static szg_status judge_document(szg_context *context, const reproduction_run *run, int which,
                                 const char *name, szgi_archive_file file) {
    szgi_json *json;
    SZG_TRY(szgi_json_parse(context, name, file.data, file.size, &json));
    szg_status status = which == CONFIG
                            ? szgi_facts_compare_config(context, run, szgi_json_root(json))
                            : szgi_json_as_object(context, szgi_json_root(json));
    szgi_json_close(&json);
    return status;
}

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
static szg_status judge_metrics_row(szg_context *context, const char *name, const szg_table *table,
                                    int64_t row) {
    double loss = real_of(table, row, "loss"), accuracy = real_of(table, row, "accuracy");
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
        SZG_TRY(judge_metrics_row(context, name, table, row));
    }
    for (int which = 0; which < 1 + (run->facts.data.test_examples > 0); which++)
        if (epochs[which] < wanted)
            return szgi_fail(context, SZG_EDATA,
                             "%s: has %" PRId64 " rows of split %s, the run %" PRId64 " epochs",
                             name, epochs[which], splits[which], wanted);
    return SZG_OK;
}

void szgi_reproduction_note_times(szg_context *context, const reproduction_run *run,
                                  const char *name, int64_t rows) {
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
    szgi_reproduction_note_times(context, run, name, szg_table_rows(table));
    return SZG_OK;
}

/* Where no step is captured, the logs of captured ones have no byte; nor have times that were
 * removed when no step was left. */
static szg_status judge_log(szg_context *context, const reproduction_run *run, int which,
                            const char *name, szgi_archive_file file) {
    szg_table *table;
    if (file.size == 0 && which == LOG_TIMING)
        szgi_reproduction_note_times(context, run, name, 0);
    if (file.size == 0 && which >= LOG_TIMING)
        return SZG_OK;
    SZG_TRY(szgi_log_parse(context, which, name, file.data, file.size, &table));
    szg_status status = SZG_OK;
    if (which == LOG_METRICS)
        status = judge_metrics_rows(context, run, name, table);
    else if (which == LOG_TIMING)
        status = judge_timing_rows(context, run, name, table);
    szg_table_close(&table);
    return status;
}

/* ---- Ablations, checkpoints ---- */

static szg_status judge_ablation(szg_context *context, const reproduction_run *run, int which,
                                 const char *name, szgi_archive_file file) {
    return szgi_reproduction_ablation_judge(context, run, (szg_ablation_method)which, name,
                                            file.data, file.size);
}

/* Whether the run can go on from it is for szgi_state_load to say, on the backend that goes on. */
static szg_status judge_state(szg_context *context, const reproduction_run *run, int which,
                              const char *name, szgi_archive_file file) {
    szgi_safetensors *state;
    (void)run, (void)which;
    SZG_TRY(szgi_safetensors_open_bytes(context, name, file.data, file.size, &state));
    szg_status status = SZG_OK;
    if (!szgi_safetensors_metadata(state, "progress") ||
        !szgi_safetensors_metadata(state, "config"))
        status = szgi_fail(context, SZG_EDATA, "%s: is no state that szego train wrote", name);
    szgi_safetensors_close(&state);
    return status;
}

szg_status szgi_reproduction_judge(szg_context *context, const reproduction_run *run,
                                   const char *member, const char *path, szgi_archive_file file) {
    static const struct {
        const char *member;
        judge *judge;
        int which;
    } judges[] = {{"config.json", judge_document, CONFIG},
                  {"manifest.json", judge_document, MANIFEST},
                  {"metrics.csv", judge_log, LOG_METRICS},
                  {"timing.csv", judge_log, LOG_TIMING},
                  {"contraction.csv", judge_log, LOG_CONTRACTION},
                  {"contraction_values.csv", judge_log, LOG_VALUES},
                  {"contraction_symbols.csv", judge_log, LOG_SYMBOLS},
                  {"ablation.csv", judge_ablation, SZG_ABLATE_OUTPUT},
                  {"ablation_values.csv", judge_ablation, SZG_ABLATE_VALUES},
                  {"ablation_latent_columns.csv", judge_ablation, SZG_ABLATE_LATENT_COLUMNS},
                  {"ablation_cumulative.csv", judge_ablation, SZG_ABLATE_CUMULATIVE},
                  {"checkpoint.state.safetensors", judge_state, 0}};
    char name[SZG_CONFIG_TEXT + 4096];
    snprintf(name, sizeof name, "%.2000s: %.1500s", path, file.name);
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
        if (strcmp(judges[i].member, member) == 0)
            return judges[i].judge(context, run, judges[i].which, name, file);
    return szgi_fail(context, SZG_EDATA, "%s: is no file of a run", name);
}
