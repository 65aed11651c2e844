/* The tables of a run: what their rows are, the columns that all of them begin with, and reading
 * them back. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "train/curvature/curvature.h"
#include "run_private.h"

#define COUNT(array) ((int64_t)(sizeof array / sizeof *array))

#define LABELS(X) RUN_COLUMNS(X, LABEL)
/* They precede the columns of each log. */
SZGI_SCHEMA(label_columns, "metrics", LABELS, SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(timing_labels, label_columns, "timing", SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(contraction_labels, label_columns, "contraction", SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(values_labels, label_columns, "contraction_values", SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(symbols_labels, label_columns, "contraction_symbols", SZGI_NOT_SHOWN);
SZGI_SCHEMA_OF(curvature_labels, label_columns, "curvature", SZGI_NOT_SHOWN);

#define METRICS(X)                                                                                 \
    X(METRICS_EPOCH, "epoch", SZG_INTEGER, "1", "epoch", "epochs begun, counted from 1")           \
    X(METRICS_STEP, "step", SZG_INTEGER, "1", "training step", "steps done")                       \
    X(METRICS_SPLIT, "split", SZG_TEXT, "", "split",                                               \
      "train (the means over the epoch's examples, with dropout) or test")                         \
    X(METRICS_LOSS, "loss", SZG_REAL, "nats", "cross-entropy", "mean cross-entropy, nats")         \
    X(METRICS_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy", "share of right predictions")       \
    X(METRICS_LEARNING_RATE, "learning_rate", SZG_REAL, "1", "learning rate",                      \
      "learning rate of the latest step")                                                          \
    X(METRICS_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
SZGI_SCHEMA(metrics_columns, "metrics", METRICS, SZGI_NOT_SHOWN);

#define TIMING(X)                                                                                  \
    X(TIMING_EPOCH, "epoch", SZG_INTEGER, "1", "epoch", "epochs begun, counted from 1")            \
    X(TIMING_STEP, "step", SZG_INTEGER, "1", "training step", "steps done")                        \
    X(TIMING_STEPS, "steps", SZG_INTEGER, "1", "steps", "steps that this row times")               \
    X(TIMING_TOKENS, "tokens", SZG_INTEGER, "1", "tokens",                                         \
      "tokens of these steps, padding not counted")                                                \
    X(TIMING_TRAIN_SECONDS, "train_seconds", SZG_REAL, "s", "time of training",                    \
      "training steps, s")                                                                         \
    X(TIMING_CAPTURE_SECONDS, "capture_seconds", SZG_REAL, "s", "time of captures",                \
      "capture of logits, s")                                                                      \
    X(TIMING_EVALUATE_SECONDS, "evaluate_seconds", SZG_REAL, "s", "time of evaluations",           \
      "evaluation, s")                                                                             \
    X(TIMING_TOKENS_PER_SECOND, "tokens_per_second", SZG_REAL, "tokens/s", "rate",                 \
      "tokens by train_seconds, 1/s")                                                              \
    X(TIMING_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
SZGI_SCHEMA(timing_columns, "timing", TIMING, SZGI_NOT_SHOWN);

szg_status szgi_metrics_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &metrics_columns_schema, out);
}

szg_status szgi_timing_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &timing_columns_schema, out);
}

szg_status szgi_metrics_add(szg_context *context, szg_table *table, const metrics_row *is) {
    szgi_row row = szgi_row_add(context, table);
    double counted = (double)is->tally.counted;
    szgi_row_integer(&row, METRICS_EPOCH, is->epoch);
    szgi_row_integer(&row, METRICS_STEP, is->step);
    szgi_row_text(&row, METRICS_SPLIT, is->split);
    szgi_row_real(&row, METRICS_LEARNING_RATE, is->learning_rate);
    if (is->tally.counted == 0) {
        szgi_row_note(&row, "every label is ignored (model.ignored_label)");
        return row.status;
    }
    szgi_row_real(&row, METRICS_LOSS, is->tally.loss / counted);
    szgi_row_real(&row, METRICS_ACCURACY, (double)is->tally.correct / counted);
    return row.status;
}

szg_status szgi_timing_add(szg_context *context, szg_table *table, const timing_row *is) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_integer(&row, TIMING_EPOCH, is->epoch);
    szgi_row_integer(&row, TIMING_STEP, is->step);
    szgi_row_integer(&row, TIMING_STEPS, is->steps);
    szgi_row_integer(&row, TIMING_TOKENS, is->tokens);
    szgi_row_real(&row, TIMING_TRAIN_SECONDS, is->train);
    szgi_row_real(&row, TIMING_CAPTURE_SECONDS, is->capture);
    szgi_row_real(&row, TIMING_EVALUATE_SECONDS, is->evaluate);
    if (is->train > 0)
        szgi_row_real(&row, TIMING_TOKENS_PER_SECOND, (double)is->tokens / is->train);
    return row.status;
}

/* ---- The columns of every table ---- */

const char *szgi_task_name(szg_task task) {
    static const char *const names[] = {"distance", "count"};
    return names[task];
}

run_labels szgi_run_labels(const szg_train_options *options) {
    const szg_train_config *config = options->config;
    run_labels labels = {.encoding = config->model.encoding,
                         .task =
                             *config->data.train_file ? "file" : szgi_task_name(config->data.task),
                         .seed = options->seed};
    size_t end = strlen(options->folder);
    while (end > 1 && options->folder[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && options->folder[begin - 1] != '/')
        begin--;
    size_t length = end - begin < sizeof labels.run ? end - begin : sizeof labels.run - 1;
    memcpy(labels.run, options->folder + begin, length);
    return labels;
}

/* The labels' columns and those of `like`; free with szgi_memory_free. */
static szg_status labelled_columns(szg_context *context, const szg_table *like, szg_column **out,
                                   int64_t *count) {
    int64_t own = label_columns_count;
    *count = own + szg_table_columns(like);
    SZG_TRY(szgi_memory_alloc(context, *count, out));
    for (int64_t i = 0; i < own; i++)
        (*out)[i] = szgi_column_core(&label_columns[i]);
    for (int64_t i = own; i < *count; i++)
        (*out)[i] = *szg_table_column(like, i - own);
    return SZG_OK;
}

void szgi_row_copy(szgi_row *row, int64_t to, const szg_table *from, int64_t at, int64_t column) {
    if (szg_table_is_empty(from, at, column))
        return;
    switch (szg_table_column(from, column)->type) {
    case SZG_TEXT:
        szgi_row_text(row, to, szg_table_get_text(from, at, column));
        break;
    case SZG_INTEGER:
        szgi_row_integer(row, to, szg_table_get_integer(from, at, column));
        break;
    case SZG_REAL:
        szgi_row_real(row, to, szg_table_get_real(from, at, column));
        break;
    }
}

void szgi_run_key_put(szgi_row *row, const szg_run_key *key) {
    szgi_row_text(row, LABEL_RUN, key->run);
    szgi_row_text(row, LABEL_ENCODING, key->encoding);
    szgi_row_text(row, LABEL_TASK, key->task);
    szgi_row_place(row, LABEL_SEED, key->seed);
}

void szgi_labels_put(szgi_row *row, const run_labels *labels) {
    szgi_run_key_put(row, &(szg_run_key){labels->run, labels->encoding, labels->task, -1});
    szgi_row_integer(row, LABEL_SEED, (int64_t)labels->seed);
}

szg_status szgi_labels_table(szg_context *context, const run_labels *labels, szg_table **out) {
    SZG_TRY(szgi_columns_open(context, "labels", label_columns, label_columns_count, out));
    szgi_row row = szgi_row_add(context, *out);
    szgi_labels_put(&row, labels);
    if (row.status != SZG_OK)
        szg_table_close(out);
    return row.status;
}

/* ---- Reading back ---- */

static bool has_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

/* Columns that logs of recorded runs lack (docs/reference/mechanism-results): empty there. A column
 * that is new in a log must be named here. */
static const char *const optional_columns[] = {"pairing", "margin_error", NULL};

static szg_status read_columns(szg_context *context, const char *path, const szg_column *columns,
                               int64_t count, szg_table **out) {
    szgi_contents file;
    SZG_TRY(szgi_contents_open(context, path, &file));
    szg_status status = szgi_csv_parse(context, path, (const char *)file.data, file.size, columns,
                                       count, optional_columns, out);
    szgi_contents_close(&file);
    return status;
}

/* FOLDER/TABLE.csv with the labels and the columns of `like`; *out is NULL without such a file. */
static szg_status read_log(szg_context *context, const char *folder, const szg_table *like,
                           szg_table **out) {
    char name[64], *path;
    snprintf(name, sizeof name, "%s.csv", szg_table_name(like));
    SZG_TRY(szgi_path_join(context, folder, name, &path));
    szg_column *columns = NULL;
    int64_t count;
    szg_status status = SZG_OK;
    if (has_bytes(path)) {
        status = labelled_columns(context, like, &columns, &count);
        if (status == SZG_OK)
            status = read_columns(context, path, columns, count, out);
        if (status == SZG_OK)
            szgi_table_take_ends(*out, like);
    }
    szgi_memory_free(columns);
    szgi_memory_free(path);
    return status;
}

typedef szg_status open_table(szg_context *context, szg_table **out);

/* The log that `open` makes an empty table of. */
static szg_status read_table(szg_context *context, const char *folder, open_table *open,
                             szg_table **out) {
    szg_table *like;
    SZG_TRY(open(context, &like));
    szg_status status = read_log(context, folder, like, out);
    szg_table_close(&like);
    return status;
}

static open_table *const opens[LOGS] = {szgi_metrics_table,
                                        szgi_timing_table,
                                        szg_contraction_table,
                                        szgi_contraction_values_table,
                                        szgi_contraction_symbols_table,
                                        szgi_curvature_table};

szg_status szgi_log_parse(szg_context *context, int which, const char *name, const void *data,
                          int64_t size, szg_table **out) {
    szg_table *like;
    szg_column *columns = NULL;
    int64_t count;
    *out = NULL;
    SZG_TRY(opens[which](context, &like));
    szg_status status = labelled_columns(context, like, &columns, &count);
    if (status == SZG_OK)
        status = szgi_csv_parse(context, name, data, size, columns, count, optional_columns, out);
    if (status == SZG_OK)
        szgi_table_take_ends(*out, like);
    szgi_memory_free(columns);
    szg_table_close(&like);
    return status;
}

static szg_status check_header(szg_context *context, const run_log *log, const szg_table *like) {
    szg_table *labels;
    szgi_text text;
    SZG_TRY(szgi_labels_table(context, &(run_labels){0}, &labels));
    szg_status status = szgi_text_open(context, &text);
    if (status == SZG_OK) {
        status = szgi_csv_print_behind(context, labels, like, true, text.stream);
        status = szgi_text_end(&text, status);
        if (status == SZG_OK)
            status = szgi_log_check_start(context, log, text.text, text.length);
        szgi_text_close(&text);
    }
    szg_table_close(&labels);
    return status;
}

szg_status szgi_log_check_header(szg_context *context, const run_log *log, int which) {
    szg_table *like;
    SZG_TRY(opens[which](context, &like));
    szg_status status = check_header(context, log, like);
    szg_table_close(&like);
    return status;
}

szg_status szg_train_tables_read(szg_context *context, const char *folder, szg_train_tables *out) {
    SZGI_ENTER(context);
    szg_table **const tables[] = {&out->metrics, &out->timing,  &out->contraction,
                                  &out->values,  &out->symbols, &out->curvature};
    *out = (szg_train_tables){0};
    szg_status status = SZG_OK;
    for (int i = 0; i < LOGS && status == SZG_OK; i++)
        status = read_table(context, folder, opens[i], tables[i]);
    if (status != SZG_OK)
        szg_train_tables_close(out);
    return status;
}

void szg_train_tables_close(szg_train_tables *tables) {
    szg_table_close(&tables->metrics);
    szg_table_close(&tables->timing);
    szg_table_close(&tables->contraction);
    szg_table_close(&tables->values);
    szg_table_close(&tables->symbols);
    szg_table_close(&tables->curvature);
}

szg_status szgi_metrics_summarise(szg_context *context, const char *folder, szg_train_result *out) {
    szg_table *table = NULL;
    SZG_TRY(read_table(context, folder, szgi_metrics_table, &table));
    out->train_loss = out->train_accuracy = NAN;
    out->test_loss = out->test_accuracy = out->best_accuracy = NAN;
    for (int64_t row = 0; table && row < szg_table_rows(table); row++) {
        const int64_t first = label_columns_count;
        const char *split = szg_table_get_text(table, row, first + METRICS_SPLIT);
        double loss = szg_table_get_real(table, row, first + METRICS_LOSS);
        double accuracy = szg_table_get_real(table, row, first + METRICS_ACCURACY);
        bool test = split && strcmp(split, "test") == 0;
        *(test ? &out->test_loss : &out->train_loss) = loss;
        *(test ? &out->test_accuracy : &out->train_accuracy) = accuracy;
        if (test && !(accuracy <= out->best_accuracy))
            out->best_accuracy = accuracy;
    }
    szg_table_close(&table);
    return SZG_OK;
}
