/* Tables with rows of single runs, from what their folders hold. */
#include <math.h>
#include "base/table.h"

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
    {"backend", SZG_TEXT, "where the run was finished"},
    {"device", SZG_TEXT, "the GPU; empty: none"},
    {"version", SZG_TEXT, "of the program that finished it"},
    {"commit", SZG_TEXT, "of the program that finished it"},
    {"note", SZG_TEXT, ""},
};

static szg_status set_texts(szg_context *context, szg_table *table, const reproduction_run *run) {
    const szg_run_key key = reproduction_key(run);
    return szgi_run_key_set(context, table, &key);
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
    SZG_TRY(szg_table_set_text(context, table, "backend", facts->backend));
    if (*facts->device)
        SZG_TRY(szg_table_set_text(context, table, "device", facts->device));
    SZG_TRY(szg_table_set_text(context, table, "version", facts->version));
    return szg_table_set_text(context, table, "commit", facts->commit);
}

szg_status szgi_reproduction_runs(szg_context *context, const szg_reproduction *self,
                                  szg_table **out) {
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

/* Adds what is wanted of one run's logs to `*table`. */
typedef szg_status take_logs_fn(szg_context *context, const reproduction_run *run,
                                const szg_train_tables *logs, szg_table **table);

static szg_status take_logs(szg_context *context, const szg_reproduction *self, take_logs_fn *take,
                            szg_table **table) {
    for (int64_t i = 0; i < self->count; i++) {
        szg_train_tables logs;
        if (!self->run[i].shown.finished)
            continue;
        SZG_TRY(szg_train_tables_read(context, self->run[i].folder, &logs));
        szg_status status = take(context, &self->run[i], &logs, table);
        szg_train_tables_close(&logs);
        SZG_TRY(status);
    }
    return SZG_OK;
}

static szg_status take_curve(szg_context *context, const reproduction_run *run,
                             const szg_train_tables *logs, szg_table **table) {
    return curve_rows(context, *table, run, logs->metrics);
}

szg_status szgi_reproduction_curves(szg_context *context, const szg_reproduction *self,
                                    szg_table **out) {
    SZG_TRY(szg_table_open(context, "curves", curves_columns, COUNT(curves_columns), out));
    return take_logs(context, self, take_curve, out);
}

/* ---- Contraction ---- */

/* The rows as they stand in the run's folder, under the run's name in the preset. */
static szg_status take_contraction(szg_context *context, const reproduction_run *run,
                                   const szg_train_tables *logs, szg_table **table) {
    const szg_table *from = logs->contraction;
    if (!from)
        return SZG_OK;
    if (!*table) {
        SZG_TRY(szg_table_open(context, "contraction", szg_table_column(from, 0),
                               szg_table_columns(from), table));
        szgi_table_take_ends(*table, from);
    }
    for (int64_t row = 0; row < szg_table_rows(from); row++) {
        SZG_TRY(szgi_table_append_row(context, *table, from, row));
        SZG_TRY(set_texts(context, *table, run));
    }
    return SZG_OK;
}

szg_status szgi_reproduction_contraction(szg_context *context, const szg_reproduction *self,
                                         szg_table **out) {
    return take_logs(context, self, take_contraction, out);
}
