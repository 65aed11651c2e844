/* Tables with rows of single runs, from what their folders hold. */
#include "base/memory.h"
#include "base/table.h"

#include "reproduce_private.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- The experiment among the columns of another table ---- */

#define EXPERIMENT(X, TABLE)                                                                       \
    X(TABLE##_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment", "part of the preset")
#define OWN(X) EXPERIMENT(X, OWN)
SZGI_SCHEMA(experiment_column, "length", OWN, SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(experiment_of_ablation, experiment_column, "ablation", SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(experiment_of_deposit, experiment_column, "deposit", SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(experiment_of_contraction, experiment_column, "contraction", SZGI_NOT_SHOWN);

szg_status szgi_experiment_table(szg_context *context, const szg_table *like, int64_t after,
                                 szg_table **out) {
    int64_t own = szg_table_columns(like), from = 0;
    szg_column *columns;
    SZG_TRY(szgi_memory_alloc(context, own + 1, &columns));
    for (int64_t i = 0; i <= own; i++)
        columns[i] = i == own - after ? szgi_column_core(&experiment_column[OWN_EXPERIMENT])
                                      : *szg_table_column(like, from++);
    szg_status status = szg_table_open(context, szg_table_name(like), columns, own + 1, out);
    szgi_memory_free(columns);
    if (status == SZG_OK)
        szgi_table_take_ends(*out, like);
    return status;
}

void szgi_experiment_row(szgi_row *row, const szg_table *from, int64_t at, int64_t after,
                         const char *experiment) {
    int64_t place = szg_table_columns(from) - after;
    for (int64_t column = 0; column < szg_table_columns(from); column++)
        szgi_row_copy(row, column < place ? column : column + 1, from, at, column);
    szgi_row_text(row, place, experiment);
}

/* ---- Runs ---- */

#define RUNS(X)                                                                                    \
    RUN_COLUMNS(X, RUNS)                                                                           \
    EXPERIMENT(X, RUNS)                                                                            \
    X(RUNS_PROFILE, "profile", SZG_TEXT, "", "profile", "text or released")                        \
    X(RUNS_PARAMETERS, "parameters", SZG_INTEGER, "1", "parameters", "numbers that are trained")   \
    X(RUNS_STEPS, "steps", SZG_INTEGER, "1", "steps", "steps done")                                \
    X(RUNS_EPOCHS, "epochs", SZG_INTEGER, "1", "epochs", "epochs done")                            \
    X(RUNS_TRAIN_EXAMPLES, "train_examples", SZG_INTEGER, "1", "training examples",                \
      "examples of the training split")                                                            \
    X(RUNS_TEST_EXAMPLES, "test_examples", SZG_INTEGER, "1", "test examples",                      \
      "examples of the test split")                                                                \
    X(RUNS_TRAIN_LOSS, "train_loss", SZG_REAL, "nats", "training loss",                            \
      "mean loss of the last epoch, dropout on")                                                   \
    X(RUNS_TRAIN_ACCURACY, "train_accuracy", SZG_REAL, "1", "training accuracy",                   \
      "accuracy of the last epoch, dropout on")                                                    \
    X(RUNS_TEST_LOSS, "test_loss", SZG_REAL, "nats", "test loss",                                  \
      "mean loss after the last epoch")                                                            \
    X(RUNS_TEST_ACCURACY, "test_accuracy", SZG_REAL, "1", "test accuracy",                         \
      "accuracy after the last epoch")                                                             \
    X(RUNS_BEST_ACCURACY, "best_accuracy", SZG_REAL, "1", "best test accuracy",                    \
      "largest test accuracy of any epoch")                                                        \
    X(RUNS_MAJORITY, "majority", SZG_REAL, "1", "accuracy of the commonest label",                 \
      "test accuracy of always saying the commonest label")                                        \
    X(RUNS_BY_LENGTH, "by_length", SZG_REAL, "1", "accuracy by length alone",                      \
      "test accuracy of the commonest label of a sequence's length")                               \
    X(RUNS_CEILING, "ceiling", SZG_REAL, "1", "label ceiling",                                     \
      "best accuracy that any classifier can have")                                                \
    X(RUNS_CEILING_ERROR, "ceiling_error", SZG_REAL, "1", "standard error of the ceiling",         \
      "its standard error; 0: exact")                                                              \
    X(RUNS_BACKEND, "backend", SZG_TEXT, "", "backend", "where the run was finished")              \
    X(RUNS_DEVICE, "device", SZG_TEXT, "", "device", "the GPU; empty: none")                       \
    X(RUNS_VERSION, "version", SZG_TEXT, "", "version", "of the program that finished it")         \
    X(RUNS_COMMIT, "commit", SZG_TEXT, "", "commit", "of the program that finished it")            \
    X(RUNS_NOTE, "note", SZG_TEXT, "", "note", "")
#define RUNS_SCREEN                                                                                \
    SZGI_SHOW(1, run)                                                                              \
    SZGI_SHOW(1, encoding)                                                                         \
    SZGI_SHOW(1, task)                                                                             \
    SZGI_SHOW(1, seed)                                                                             \
    SZGI_SHOW(1, test_accuracy)                                                                    \
    SZGI_SHOW(1, test_loss)                                                                        \
    SZGI_SHOW(2, steps)                                                                            \
    SZGI_SHOW(2, ceiling)                                                                          \
    SZGI_SHOW(3, train_accuracy)                                                                   \
    SZGI_SHOW(3, train_loss)                                                                       \
    SZGI_SHOW(4, experiment)                                                                       \
    SZGI_SHOW(5, backend)                                                                          \
    SZGI_SHOW(5, device)
SZGI_SCHEMA(runs_columns, "runs", RUNS, RUNS_SCREEN);

static void put_key(szgi_row *row, const reproduction_run *run) {
    const szg_run_key key = reproduction_key(run);
    szgi_run_key_put(row, &key);
}

static void put_accuracies(szgi_row *row, const run_facts *facts) {
    szgi_row_number(row, RUNS_TRAIN_LOSS, facts->train_loss);
    szgi_row_number(row, RUNS_TRAIN_ACCURACY, facts->train_accuracy);
    szgi_row_number(row, RUNS_TEST_LOSS, facts->test_loss);
    szgi_row_number(row, RUNS_TEST_ACCURACY, facts->test_accuracy);
    szgi_row_number(row, RUNS_BEST_ACCURACY, facts->best_accuracy);
    szgi_row_number(row, RUNS_MAJORITY, facts->data.majority);
    szgi_row_number(row, RUNS_BY_LENGTH, facts->data.by_length);
    szgi_row_number(row, RUNS_CEILING, facts->data.ceiling);
    szgi_row_number(row, RUNS_CEILING_ERROR, facts->data.ceiling_error);
}

static szg_status runs_row(szg_context *context, szg_table *table, const reproduction_run *run) {
    const run_facts *facts = &run->facts;
    szgi_row row = szgi_row_add(context, table);
    put_key(&row, run);
    szgi_row_text(&row, RUNS_EXPERIMENT, run->experiment);
    szgi_row_text(&row, RUNS_PROFILE,
                  run->config->profile == SZG_PROFILE_TEXT ? "text" : "released");
    szgi_row_integer(&row, RUNS_PARAMETERS, facts->parameters);
    szgi_row_integer(&row, RUNS_STEPS, facts->steps);
    szgi_row_integer(&row, RUNS_EPOCHS, facts->epochs);
    szgi_row_integer(&row, RUNS_TRAIN_EXAMPLES, facts->data.train_examples);
    szgi_row_integer(&row, RUNS_TEST_EXAMPLES, facts->data.test_examples);
    put_accuracies(&row, facts);
    szgi_row_text(&row, RUNS_BACKEND, facts->backend);
    szgi_row_text(&row, RUNS_DEVICE, *facts->device ? facts->device : NULL);
    szgi_row_text(&row, RUNS_VERSION, facts->version);
    szgi_row_text(&row, RUNS_COMMIT, facts->commit);
    return row.status;
}

szg_status szgi_reproduction_runs(szg_context *context, const szg_reproduction *self,
                                  szg_table **out) {
    SZG_TRY(szgi_schema_open(context, &runs_columns_schema, out));
    for (int64_t i = 0; i < self->count; i++)
        if (self->run[i].shown.finished)
            SZG_TRY(runs_row(context, *out, &self->run[i]));
    return SZG_OK;
}

/* ---- Curves ---- */

#define CURVES(X)                                                                                  \
    RUN_COLUMNS(X, CURVES)                                                                         \
    X(CURVES_EPOCH, "epoch", SZG_INTEGER, "1", "epoch", "epochs done")                             \
    X(CURVES_STEP, "step", SZG_INTEGER, "1", "training step", "steps done")                        \
    X(CURVES_SPLIT, "split", SZG_TEXT, "", "split",                                                \
      "train (with dropout, while it trains) or test")                                             \
    X(CURVES_LOSS, "loss", SZG_REAL, "nats", "cross-entropy", "mean cross-entropy")                \
    X(CURVES_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy", "share of right predictions")        \
    EXPERIMENT(X, CURVES)                                                                          \
    X(CURVES_NOTE, "note", SZG_TEXT, "", "note", "")
SZGI_SCHEMA(curves_columns, "curves", CURVES, SZGI_NOT_SHOWN);

/* Both tables begin with the run's labels and the same five columns. */
static szg_status curve_rows(szg_context *context, szg_table *table, const reproduction_run *run,
                             const szg_table *metrics) {
    for (int64_t at = 0; metrics && at < szg_table_rows(metrics); at++) {
        szgi_row row = szgi_row_add(context, table);
        put_key(&row, run);
        for (int64_t column = CURVES_EPOCH; column <= CURVES_ACCURACY; column++)
            szgi_row_copy(&row, column, metrics, at, column);
        szgi_row_text(&row, CURVES_EXPERIMENT, run->experiment);
        SZG_TRY(row.status);
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
    SZG_TRY(szgi_schema_open(context, &curves_columns_schema, out));
    return take_logs(context, self, take_curve, out);
}

/* ---- Contraction ---- */

enum { AFTER_EXPERIMENT = 1 }; /* the note */

/* The rows as they are in the run's folder, under the run's name in the preset. */
static szg_status take_contraction(szg_context *context, const reproduction_run *run,
                                   const szg_train_tables *logs, szg_table **table) {
    const szg_table *from = logs->contraction;
    if (!from)
        return SZG_OK;
    if (!*table)
        SZG_TRY(szgi_experiment_table(context, from, AFTER_EXPERIMENT, table));
    for (int64_t at = 0; at < szg_table_rows(from); at++) {
        szgi_row row = szgi_row_add(context, *table);
        szgi_experiment_row(&row, from, at, AFTER_EXPERIMENT, run->experiment);
        put_key(&row, run);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

szg_status szgi_reproduction_contraction(szg_context *context, const szg_reproduction *self,
                                         szg_table **out) {
    return take_logs(context, self, take_contraction, out);
}
