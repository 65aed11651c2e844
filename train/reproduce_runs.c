/* Tables with rows of single runs, from what their folders hold. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <szego/csv.h>
#include <szego/memory.h>

#include "reproduce_private.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- Runs ---- */

static const szg_column runs_columns[] = {
    RUN_COLUMNS,
    {"experiment", SZG_TEXT, "part of the preset"},
    {"profile", SZG_TEXT, "text or released"},
    {"parameters", SZG_INTEGER, "numbers that are trained"},
    {"steps", SZG_INTEGER, "steps done"},
    {"epochs", SZG_INTEGER, "epochs done"},
    {"train_examples", SZG_INTEGER, "examples of the training split"},
    {"test_examples", SZG_INTEGER, "examples of the test split"},
    {"train_loss", SZG_REAL, "mean loss of the last epoch, dropout on"},
    {"train_accuracy", SZG_REAL, "accuracy of the last epoch, dropout on"},
    {"test_loss", SZG_REAL, "mean loss after the last epoch"},
    {"test_accuracy", SZG_REAL, "accuracy after the last epoch"},
    {"best_accuracy", SZG_REAL, "largest test accuracy of any epoch"},
    {"majority", SZG_REAL, "test accuracy of always saying the commonest label"},
    {"by_length", SZG_REAL, "test accuracy of the commonest label of a sequence's length"},
    {"ceiling", SZG_REAL, "best accuracy that any classifier can have"},
    {"ceiling_error", SZG_REAL, "its standard error; 0: exact"},
    {"note", SZG_TEXT, ""},
};

static szg_status set_texts(szg_context *context, szg_table *table, const reproduction_run *run) {
    const szg_run_key key = reproduction_key(run);
    return szg_run_key_set(context, table, &key);
}

static szg_status runs_row(szg_context *context, szg_table *table, const reproduction_run *run) {
    const run_facts *facts = &run->facts;
    const struct {
        const char *name;
        int64_t value;
    } integers[] = {{"parameters", facts->parameters},
                    {"steps", facts->steps},
                    {"epochs", facts->epochs},
                    {"train_examples", facts->data.train_examples},
                    {"test_examples", facts->data.test_examples}};
    const struct {
        const char *name;
        double value;
    } reals[] = {{"train_loss", facts->train_loss},
                 {"train_accuracy", facts->train_accuracy},
                 {"test_loss", facts->test_loss},
                 {"test_accuracy", facts->test_accuracy},
                 {"best_accuracy", facts->best_accuracy},
                 {"majority", facts->data.majority},
                 {"by_length", facts->data.by_length},
                 {"ceiling", facts->data.ceiling},
                 {"ceiling_error", facts->data.ceiling_error}};
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(set_texts(context, table, run));
    SZG_TRY(szg_table_set_text(context, table, "experiment", run->experiment));
    SZG_TRY(szg_table_set_text(context, table, "profile",
                               run->config->profile == SZG_PROFILE_TEXT ? "text" : "released"));
    for (int64_t i = 0; i < COUNT(integers); i++)
        SZG_TRY(szg_table_set_integer(context, table, integers[i].name, integers[i].value));
    for (int64_t i = 0; i < COUNT(reals); i++)
        if (!isnan(reals[i].value))
            SZG_TRY(szg_table_set_real(context, table, reals[i].name, reals[i].value));
    return SZG_OK;
}

szg_status reproduction_runs(szg_context *context, const szg_reproduction *self, szg_table **out) {
    SZG_TRY(szg_table_open(context, "runs", runs_columns, COUNT(runs_columns), out));
    for (int64_t i = 0; i < self->count; i++)
        if (self->run[i].shown.finished)
            SZG_TRY(runs_row(context, *out, &self->run[i]));
    return SZG_OK;
}

/* ---- Curves ---- */

static const szg_column curves_columns[] = {
    RUN_COLUMNS,
    {"epoch", SZG_INTEGER, "epochs done"},
    {"step", SZG_INTEGER, "steps done"},
    {"split", SZG_TEXT, "train (with dropout, while it trains) or test"},
    {"loss", SZG_REAL, "mean cross-entropy"},
    {"accuracy", SZG_REAL, "share of right predictions"},
    {"note", SZG_TEXT, ""},
};

static double real_of(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

static szg_status curve_rows(szg_context *context, szg_table *table, const reproduction_run *run,
                             const szg_table *metrics) {
    for (int64_t row = 0; metrics && row < szg_table_rows(metrics); row++) {
        static const char *const integers[] = {"epoch", "step"}, *const reals[] = {"loss",
                                                                                   "accuracy"};
        SZG_TRY(szg_table_add_row(context, table));
        SZG_TRY(set_texts(context, table, run));
        SZG_TRY(
            szg_table_set_text(context, table, "split",
                               szg_table_get_text(metrics, row, szg_table_find(metrics, "split"))));
        for (int i = 0; i < 2; i++) {
            SZG_TRY(szg_table_set_integer(
                context, table, integers[i],
                szg_table_get_integer(metrics, row, szg_table_find(metrics, integers[i]))));
            if (!szg_table_is_empty(metrics, row, szg_table_find(metrics, reals[i])))
                SZG_TRY(
                    szg_table_set_real(context, table, reals[i], real_of(metrics, row, reals[i])));
        }
    }
    return SZG_OK;
}

szg_status reproduction_curves(szg_context *context, const szg_reproduction *self,
                               szg_table **out) {
    SZG_TRY(szg_table_open(context, "curves", curves_columns, COUNT(curves_columns), out));
    for (int64_t i = 0; i < self->count; i++) {
        szg_train_tables logs;
        if (!self->run[i].shown.finished)
            continue;
        SZG_TRY(szg_train_tables_read(context, self->run[i].folder, &logs));
        szg_status status = curve_rows(context, *out, &self->run[i], logs.metrics);
        szg_train_tables_close(&logs);
        SZG_TRY(status);
    }
    return SZG_OK;
}

/* ---- Ablation and deposit ---- */

/* The accuracies of a table `ablation` of one run. */
static szg_status take_accuracies(szg_context *context, const reproduction_run *run,
                                  const szg_table *table, szg_ablation *out) {
    const szg_model_config *model = &run->config->model;
    int64_t head_column = szg_table_find(table, "head");
    SZG_TRY(szg_ablation_open(context, model->layers, model->heads, out));
    out->accuracy = run->facts.whole;
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        int64_t layer = (int64_t)real_of(table, row, "layer");
        bool all = szg_table_is_empty(table, row, head_column);
        int64_t head = all ? 0 : szg_table_get_integer(table, row, head_column);
        if (!(layer >= 0 && layer < model->layers && head >= 0 && head < model->heads))
            return szg_fail(context, SZG_EDATA,
                            "%s/ablation.csv: layer %" PRId64 ", head %" PRId64
                            " is none of the model: remove the run's folder",
                            run->folder, layer, head);
        *(all ? &out->layer[layer] : &out->head[layer * model->heads + head]) =
            real_of(table, row, "accuracy");
    }
    return SZG_OK;
}

/* Appends the run's file to `table` and takes its accuracies. */
static szg_status read_ablation(szg_context *context, const reproduction_run *run, szg_table *table,
                                szg_ablation *out) {
    szg_column columns[16];
    szg_table *own = NULL;
    char *path;
    for (int64_t i = 0; i < szg_table_columns(table); i++)
        columns[i] = *szg_table_column(table, i);
    SZG_TRY(szg_path_join(context, run->folder, "ablation.csv", &path));
    szg_status status = szg_csv_read(context, path, columns, szg_table_columns(table), &own);
    if (status == SZG_OK)
        status = take_accuracies(context, run, own, out);
    if (status == SZG_OK)
        status = szg_table_append(context, table, own);
    szg_table_close(&own);
    szg_memory_free(path);
    return status;
}

/* The ablated runs of one experiment, or all there are. */
typedef struct ablated {
    szg_ablation *own;
    const szg_ablation **runs;
    szg_run_key *keys;
    int64_t count;
} ablated;

static szg_status read_experiment(szg_context *context, const szg_reproduction *self,
                                  const char *experiment, szg_table *table, ablated *out) {
    SZG_TRY(szg_memory_alloc(context, self->count, sizeof *out->own, &out->own));
    SZG_TRY(szg_memory_alloc(context, self->count, sizeof *out->runs, &out->runs));
    SZG_TRY(szg_memory_alloc(context, self->count, sizeof *out->keys, &out->keys));
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        if (!run->shown.finished || !run->shown.ablation ||
            strcmp(run->experiment, experiment) != 0)
            continue;
        int64_t at = out->count++;
        SZG_TRY(read_ablation(context, run, table, &out->own[at]));
        out->runs[at] = &out->own[at];
        out->keys[at] = reproduction_key(run);
    }
    return SZG_OK;
}

static void close_ablated(ablated *runs) {
    for (int64_t i = 0; runs->own && i < runs->count; i++)
        szg_ablation_close(&runs->own[i]);
    szg_memory_free(runs->own);
    szg_memory_free(runs->runs);
    szg_memory_free(runs->keys);
}

static bool is_new_experiment(const szg_reproduction *self, int64_t index) {
    for (int64_t i = 0; i < index; i++)
        if (strcmp(self->run[i].experiment, self->run[index].experiment) == 0)
            return false;
    return true;
}

szg_status reproduction_ablation(szg_context *context, const szg_reproduction *self,
                                 szg_table **ablation, szg_table **deposit) {
    SZG_TRY(szg_ablation_table_open(context, ablation));
    SZG_TRY(szg_deposit_table_open(context, deposit));
    for (int64_t i = 0; i < self->count; i++) {
        const char *experiment = self->run[i].experiment;
        ablated runs = {0};
        if (!is_new_experiment(self, i))
            continue;
        szg_status status = read_experiment(context, self, experiment, *ablation, &runs);
        if (status == SZG_OK)
            status = szg_deposit_rows(context, *deposit, runs.keys, runs.runs, runs.count,
                                      experiment, 0);
        close_ablated(&runs);
        SZG_TRY(status);
    }
    return SZG_OK;
}
