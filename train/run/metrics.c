/* The tables of a run: what their rows are, the columns that all of them begin with, and reading
 * them back. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "run_private.h"

#define COUNT(array) ((int64_t)(sizeof array / sizeof *array))

static const szg_column label_columns[] = {RUN_COLUMNS};

static const szg_column metrics_columns[] = {
    {"epoch", SZG_INTEGER, "epochs begun, counted from 1"},
    {"step", SZG_INTEGER, "steps done"},
    {"split", SZG_TEXT, "train (the means over the epoch's examples, with dropout) or test"},
    {"loss", SZG_REAL, "mean cross-entropy, nats"},
    {"accuracy", SZG_REAL, "share of right predictions"},
    {"learning_rate", SZG_REAL, "of the latest step"},
    {"note", SZG_TEXT, "what a reader must know"},
};

static const szg_column timing_columns[] = {
    {"epoch", SZG_INTEGER, "epochs begun, counted from 1"},
    {"step", SZG_INTEGER, "steps done"},
    {"steps", SZG_INTEGER, "steps that this row times"},
    {"tokens", SZG_INTEGER, "tokens of these steps, padding not counted"},
    {"train_seconds", SZG_REAL, "training steps, s"},
    {"capture_seconds", SZG_REAL, "capture of logits, s"},
    {"evaluate_seconds", SZG_REAL, "evaluation, s"},
    {"tokens_per_second", SZG_REAL, "tokens by train_seconds, 1/s"},
    {"note", SZG_TEXT, "what a reader must know"},
};

szg_status szgi_metrics_table(szg_context *context, szg_table **out) {
    return szg_table_open(context, "metrics", metrics_columns, COUNT(metrics_columns), out);
}

szg_status szgi_timing_table(szg_context *context, szg_table **out) {
    return szg_table_open(context, "timing", timing_columns, COUNT(timing_columns), out);
}

szg_status szgi_metrics_add(szg_context *context, szg_table *table, const metrics_row *row) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_integer(context, table, "epoch", row->epoch));
    SZG_TRY(szg_table_set_integer(context, table, "step", row->step));
    SZG_TRY(szg_table_set_text(context, table, "split", row->split));
    SZG_TRY(szg_table_set_real(context, table, "learning_rate", row->learning_rate));
    if (row->tally.counted == 0)
        return szg_table_note(context, table, "every label is ignored (model.ignored_label)");
    double counted = (double)row->tally.counted;
    SZG_TRY(szg_table_set_real(context, table, "loss", row->tally.loss / counted));
    return szg_table_set_real(context, table, "accuracy", (double)row->tally.correct / counted);
}

szg_status szgi_timing_add(szg_context *context, szg_table *table, const timing_row *row) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_integer(context, table, "epoch", row->epoch));
    SZG_TRY(szg_table_set_integer(context, table, "step", row->step));
    SZG_TRY(szg_table_set_integer(context, table, "steps", row->steps));
    SZG_TRY(szg_table_set_integer(context, table, "tokens", row->tokens));
    SZG_TRY(szg_table_set_real(context, table, "train_seconds", row->train));
    SZG_TRY(szg_table_set_real(context, table, "capture_seconds", row->capture));
    SZG_TRY(szg_table_set_real(context, table, "evaluate_seconds", row->evaluate));
    if (row->train > 0)
        return szg_table_set_real(context, table, "tokens_per_second",
                                  (double)row->tokens / row->train);
    return SZG_OK;
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
    int64_t own = COUNT(label_columns);
    *count = own + szg_table_columns(like);
    SZG_TRY(szgi_memory_alloc(context, *count, sizeof **out, out));
    memcpy(*out, label_columns, sizeof label_columns);
    for (int64_t i = own; i < *count; i++)
        (*out)[i] = *szg_table_column(like, i - own);
    return SZG_OK;
}

szg_status szgi_cell_copy(szg_context *context, const szg_table *from, int64_t row, int64_t column,
                          szg_table *to) {
    const szg_column *kind = szg_table_column(from, column);
    if (szg_table_is_empty(from, row, column))
        return SZG_OK;
    if (kind->type == SZG_TEXT)
        return szg_table_set_text(context, to, kind->name, szg_table_get_text(from, row, column));
    if (kind->type == SZG_INTEGER)
        return szg_table_set_integer(context, to, kind->name,
                                     szg_table_get_integer(from, row, column));
    return szg_table_set_real(context, to, kind->name, szg_table_get_real(from, row, column));
}

szg_status szgi_run_key_set(szg_context *context, szg_table *table, const szg_run_key *key) {
    SZG_TRY(szg_table_set_text(context, table, "run", key->run));
    SZG_TRY(szg_table_set_text(context, table, "encoding", key->encoding));
    SZG_TRY(szg_table_set_text(context, table, "task", key->task));
    return key->seed < 0 ? SZG_OK : szg_table_set_integer(context, table, "seed", key->seed);
}

szg_status szgi_labels_set(szg_context *context, szg_table *table, const run_labels *labels) {
    SZG_TRY(szgi_run_key_set(context, table,
                             &(szg_run_key){labels->run, labels->encoding, labels->task, -1}));
    return szg_table_set_integer(context, table, "seed", (int64_t)labels->seed);
}

static szg_status copy_rows(szg_context *context, const szg_table *from, const run_labels *labels,
                            szg_table *to) {
    for (int64_t row = 0; row < szg_table_rows(from); row++) {
        SZG_TRY(szg_table_add_row(context, to));
        SZG_TRY(szgi_labels_set(context, to, labels));
        for (int64_t column = 0; column < szg_table_columns(from); column++)
            SZG_TRY(szgi_cell_copy(context, from, row, column, to));
    }
    return SZG_OK;
}

szg_status szgi_table_labelled(szg_context *context, const szg_table *table,
                               const run_labels *labels, szg_table **out) {
    szg_column *columns;
    int64_t count;
    SZG_TRY(labelled_columns(context, table, &columns, &count));
    szg_status status = szg_table_open(context, szg_table_name(table), columns, count, out);
    szgi_memory_free(columns);
    if (status == SZG_OK) {
        szgi_table_take_ends(*out, table);
        status = copy_rows(context, table, labels, *out);
    }
    if (status != SZG_OK)
        szg_table_close(out);
    return status;
}

/* ---- Reading back ---- */

static bool has_bytes(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

/* Columns of logs that earlier versions did not write. */
static const char *const later_columns[] = {"toeplitzness_sampled_content",
                                            "toeplitzness_sampled_coupled", NULL};

static szg_status read_columns(szg_context *context, const char *path, const szg_column *columns,
                               int64_t count, szg_table **out) {
    szgi_contents file;
    SZG_TRY(szgi_contents_open(context, path, &file));
    szg_status status = szgi_csv_parse_older(context, path, (const char *)file.data, file.size,
                                             columns, count, later_columns, out);
    szgi_contents_close(&file);
    return status;
}

/* FOLDER/TABLE.csv with the labels and the columns of `like`; *out NULL where there is none. */
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

static open_table *const opens[LOGS] = {szgi_metrics_table, szgi_timing_table,
                                        szg_contraction_table, szgi_contraction_values_table,
                                        szgi_contraction_symbols_table};

szg_status szgi_log_parse(szg_context *context, int which, const char *name, const void *data,
                          int64_t size, szg_table **out) {
    szg_table *like;
    szg_column *columns = NULL;
    int64_t count;
    *out = NULL;
    SZG_TRY(opens[which](context, &like));
    szg_status status = labelled_columns(context, like, &columns, &count);
    if (status == SZG_OK)
        status =
            szgi_csv_parse_older(context, name, data, size, columns, count, later_columns, out);
    if (status == SZG_OK)
        szgi_table_take_ends(*out, like);
    szgi_memory_free(columns);
    szg_table_close(&like);
    return status;
}

szg_status szgi_log_check_header(szg_context *context, const run_log *log, int which) {
    szg_table *like, *labelled;
    const run_labels none = {0};
    SZG_TRY(opens[which](context, &like));
    szg_status status = szgi_table_labelled(context, like, &none, &labelled);
    szg_table_close(&like);
    if (status != SZG_OK)
        return status;
    szgi_text text;
    status = szgi_text_open(context, &text);
    if (status == SZG_OK) {
        status = szgi_text_end(&text, szgi_csv_print(context, labelled, text.stream));
        if (status == SZG_OK)
            status = szgi_log_check_start(context, log, text.text, text.length);
        szgi_text_close(&text);
    }
    szg_table_close(&labelled);
    return status;
}

szg_status szg_train_tables_read(szg_context *context, const char *folder, szg_train_tables *out) {
    szg_table **const tables[] = {&out->metrics, &out->timing, &out->contraction, &out->values,
                                  &out->symbols};
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
}

szg_status szgi_metrics_summarise(szg_context *context, const char *folder, szg_train_result *out) {
    szg_table *table = NULL;
    SZG_TRY(read_table(context, folder, szgi_metrics_table, &table));
    out->train_loss = out->train_accuracy = NAN;
    out->test_loss = out->test_accuracy = out->best_accuracy = NAN;
    for (int64_t row = 0; table && row < szg_table_rows(table); row++) {
        const char *split = szg_table_get_text(table, row, szg_table_find(table, "split"));
        double loss = szg_table_get_real(table, row, szg_table_find(table, "loss"));
        double accuracy = szg_table_get_real(table, row, szg_table_find(table, "accuracy"));
        bool test = split && strcmp(split, "test") == 0;
        *(test ? &out->test_loss : &out->train_loss) = loss;
        *(test ? &out->test_accuracy : &out->train_accuracy) = accuracy;
        if (test && !(accuracy <= out->best_accuracy))
            out->best_accuracy = accuracy;
    }
    szg_table_close(&table);
    return SZG_OK;
}
