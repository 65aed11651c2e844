/* The result of a training: one row a run, and mean and spread over the seeds. */
#include <math.h>
#include <string.h>

#include "run_private.h"

static const szg_column columns[] = {
    RUN_COLUMNS,
    {"parameters", SZG_INTEGER, "numbers that are trained"},
    {"classes", SZG_INTEGER, "labels that the data have"},
    {"train_examples", SZG_INTEGER, "examples to train on"},
    {"test_examples", SZG_INTEGER, "examples to test on"},
    {"epochs", SZG_INTEGER, "whole epochs done"},
    {"steps", SZG_INTEGER, "steps done"},
    {"train_loss", SZG_REAL, "mean over the latest epoch's examples, with dropout, nats"},
    {"train_accuracy", SZG_REAL, "mean over the latest epoch's examples, with dropout"},
    {"test_loss", SZG_REAL, "of the latest evaluation, nats"},
    {"test_accuracy", SZG_REAL, "of the latest evaluation"},
    {"best_accuracy", SZG_REAL, "of all evaluations on the test split"},
    {"label_ceiling", SZG_REAL, "best accuracy that any classifier can have on the test split"},
    {"label_ceiling_error", SZG_REAL, "its standard error; 0: exact"},
    {"note", SZG_TEXT, "what a reader must know"},
};

static const char *const measured[] = {"train_loss", "train_accuracy", "test_loss", "test_accuracy",
                                       "best_accuracy"};
enum { MEASURED = sizeof measured / sizeof *measured };

szg_status szg_train_runs_open(szg_context *context, szg_table **out) {
    return szg_table_open(context, "runs", columns, (int64_t)(sizeof columns / sizeof *columns),
                          out);
}

static szg_status set_measured(szg_context *context, szg_table *table, const double *values) {
    for (int i = 0; i < MEASURED; i++)
        if (!isnan(values[i]))
            SZG_TRY(szg_table_set_real(context, table, measured[i], values[i]));
    return SZG_OK;
}

static szg_status set_ceiling(szg_context *context, szg_table *table,
                              const szg_label_ceiling *ceiling) {
    if (!ceiling)
        return SZG_OK;
    SZG_TRY(szg_table_set_real(context, table, "label_ceiling", ceiling->accuracy));
    SZG_TRY(szg_table_set_real(context, table, "label_ceiling_error", ceiling->error));
    return szg_table_note(context, table, "label ceiling: %s", ceiling->method);
}

szg_status szg_train_runs_add(szg_context *context, szg_table *table,
                              const szg_train_options *options, const szg_train_result *result,
                              const szg_label_ceiling *ceiling) {
    const struct {
        const char *column;
        int64_t value;
    } sizes[] = {{"parameters", result->parameters},
                 {"classes", options->data->classes},
                 {"train_examples", options->data->train.count},
                 {"test_examples", options->data->test.count},
                 {"epochs", result->epochs},
                 {"steps", result->steps}};
    const double values[MEASURED] = {result->train_loss, result->train_accuracy, result->test_loss,
                                     result->test_accuracy, result->best_accuracy};
    run_labels labels = szgi_run_labels(options);
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szgi_labels_set(context, table, &labels));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        SZG_TRY(szg_table_set_integer(context, table, sizes[i].column, sizes[i].value));
    SZG_TRY(set_measured(context, table, values));
    return set_ceiling(context, table, ceiling);
}

/* ---- Over the seeds ---- */

typedef struct spread {
    double mean, deviation, least, most;
} spread;

/* Sample standard deviation, in two passes; NaN where a cell is empty. */
static spread spread_of(const szg_table *table, int64_t rows, const char *name) {
    int64_t column = szg_table_find(table, name);
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
    const szg_run_key key = {name, szg_table_get_text(table, 0, szg_table_find(table, "encoding")),
                             szg_table_get_text(table, 0, szg_table_find(table, "task")), -1};
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szgi_run_key_set(context, table, &key));
    return set_measured(context, table, values);
}

szg_status szg_train_runs_spread(szg_context *context, szg_table *table) {
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
