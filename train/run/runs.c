/* The result of a training: one row a run, and mean and spread over the seeds. */
#include <math.h>
#include <string.h>

#include "base/options.h"
#include "run_private.h"

#define RUNS(X)                                                                                    \
    RUN_COLUMNS(X, RUNS)                                                                           \
    X(RUNS_PARAMETERS, "parameters", SZG_INTEGER, "1", "parameters", "numbers that are trained")   \
    X(RUNS_CLASSES, "classes", SZG_INTEGER, "1", "classes", "labels that the data have")           \
    X(RUNS_TRAIN_EXAMPLES, "train_examples", SZG_INTEGER, "1", "training examples",                \
      "examples to train on")                                                                      \
    X(RUNS_TEST_EXAMPLES, "test_examples", SZG_INTEGER, "1", "test examples",                      \
      "examples to test on")                                                                       \
    X(RUNS_EPOCHS, "epochs", SZG_INTEGER, "1", "epochs", "whole epochs done")                      \
    X(RUNS_STEPS, "steps", SZG_INTEGER, "1", "steps", "steps done")                                \
    X(RUNS_TRAIN_LOSS, "train_loss", SZG_REAL, "nats", "training loss",                            \
      "mean over the latest epoch's examples, with dropout, nats")                                 \
    X(RUNS_TRAIN_ACCURACY, "train_accuracy", SZG_REAL, "1", "training accuracy",                   \
      "mean over the latest epoch's examples, with dropout")                                       \
    X(RUNS_TEST_LOSS, "test_loss", SZG_REAL, "nats", "test loss",                                  \
      "loss in the latest evaluation, nats")                                                       \
    X(RUNS_TEST_ACCURACY, "test_accuracy", SZG_REAL, "1", "test accuracy",                         \
      "of the latest evaluation")                                                                  \
    X(RUNS_BEST_ACCURACY, "best_accuracy", SZG_REAL, "1", "best test accuracy",                    \
      "best accuracy of all evaluations on the test split")                                        \
    X(RUNS_LABEL_CEILING, "label_ceiling", SZG_REAL, "1", "label ceiling",                         \
      "best accuracy that any classifier can have on the test split")                              \
    X(RUNS_LABEL_CEILING_ERROR, "label_ceiling_error", SZG_REAL, "1",                              \
      "standard error of the ceiling", "its standard error; 0: exact")                             \
    X(RUNS_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
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
SZGI_SCHEMA(columns, "runs", RUNS, RUNS_SCREEN);

static const int measured[] = {RUNS_TRAIN_LOSS, RUNS_TRAIN_ACCURACY, RUNS_TEST_LOSS,
                               RUNS_TEST_ACCURACY, RUNS_BEST_ACCURACY};
enum { MEASURED = sizeof measured / sizeof *measured };

szg_status szg_train_runs_open(szg_context *context, szg_table **out) {
    SZGI_ENTER(context);
    return szgi_schema_open(context, &columns_schema, out);
}

static void put_measured(szgi_row *row, const double *values) {
    for (int i = 0; i < MEASURED; i++)
        szgi_row_number(row, measured[i], values[i]);
}

static void put_ceiling(szgi_row *row, const szg_label_ceiling *ceiling) {
    if (!ceiling)
        return;
    szgi_row_real(row, RUNS_LABEL_CEILING, ceiling->accuracy);
    szgi_row_real(row, RUNS_LABEL_CEILING_ERROR, ceiling->error);
    szgi_row_note(row, "label ceiling: %s", ceiling->method);
}

szg_status szg_train_runs_add(szg_context *context, szg_table *table,
                              const szg_train_options *options, const szg_train_result *result,
                              const szg_label_ceiling *ceiling) {
    SZGI_ENTER(context);
    szg_train_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_train_options, options, &own));
    const double values[MEASURED] = {result->train_loss, result->train_accuracy, result->test_loss,
                                     result->test_accuracy, result->best_accuracy};
    run_labels labels = szgi_run_labels(&own);
    szgi_row row = szgi_row_add(context, table);
    szgi_labels_put(&row, &labels);
    szgi_row_integer(&row, RUNS_PARAMETERS, result->parameters);
    szgi_row_integer(&row, RUNS_CLASSES, own.data->classes);
    szgi_row_integer(&row, RUNS_TRAIN_EXAMPLES, own.data->train.count);
    szgi_row_integer(&row, RUNS_TEST_EXAMPLES, own.data->test.count);
    szgi_row_integer(&row, RUNS_EPOCHS, result->epochs);
    szgi_row_integer(&row, RUNS_STEPS, result->steps);
    put_measured(&row, values);
    put_ceiling(&row, ceiling);
    return row.status;
}

/* ---- Over the seeds ---- */

typedef struct spread {
    double mean, deviation, least, most;
} spread;

/* Sample standard deviation, in two passes; NaN where a cell is empty. */
static spread spread_of(const szg_table *table, int64_t rows, int64_t column) {
    double first = szg_table_get_real(table, 0, column), sum = 0, squares = 0;
    spread out = {.least = first, .most = first};
    for (int64_t row = 0; row < rows; row++) {
        double value = szg_table_get_real(table, row, column);
        sum += value;
        out.least = value < out.least ? value : out.least;
        out.most = value > out.most ? value : out.most;
    }
    out.mean = sum / (double)rows;
    for (int64_t row = 0; row < rows; row++) {
        double off = szg_table_get_real(table, row, column) - out.mean;
        squares += off * off;
    }
    out.deviation = sqrt(squares / (double)(rows - 1));
    return isnan(sum) ? (spread){NAN, NAN, NAN, NAN} : out;
}

static szg_status add_summary(szg_context *context, szg_table *table, const char *name,
                              const double *values) {
    const szg_run_key key = {name, szg_table_get_text(table, 0, RUNS_ENCODING),
                             szg_table_get_text(table, 0, RUNS_TASK), -1};
    szgi_row row = szgi_row_add(context, table);
    szgi_run_key_put(&row, &key);
    put_measured(&row, values);
    return row.status;
}

szg_status szg_train_runs_spread(szg_context *context, szg_table *table) {
    SZGI_ENTER(context);
    int64_t rows = szg_table_rows(table);
    double mean[MEASURED], deviation[MEASURED], least[MEASURED], most[MEASURED];
    if (rows < 2)
        return SZG_OK;
    for (int i = 0; i < MEASURED; i++) {
        spread one = spread_of(table, rows, measured[i]);
        mean[i] = one.mean, deviation[i] = one.deviation;
        least[i] = one.least, most[i] = one.most;
    }
    SZG_TRY(add_summary(context, table, "mean", mean));
    SZG_TRY(add_summary(context, table, "standard_deviation", deviation));
    SZG_TRY(add_summary(context, table, "minimum", least));
    return add_summary(context, table, "maximum", most);
}
