/* Finished runs on longer sequences: what a preset asks for, a run's own table, and the mean over
 * the seeds of each arm. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/inference.h"
#include "base/memory.h"
#include "formats/csv.h"

#include "reproduce_preset.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- The member `length` of an experiment ---- */

static szg_status read_words(szg_context *context, szgi_json_value list, szgi_length_options *out) {
    SZG_TRY(szgi_json_as_array(context, list));
    int64_t count = szgi_json_count(list);
    if (count < 1 || count > SZGI_LENGTHS)
        return szgi_json_fail(context, list, "has %" PRId64 " lengths: name 1 to %d", count,
                              SZGI_LENGTHS);
    for (int64_t i = 0; i < count; i++) {
        szgi_json_value value = szgi_json_element(list, i);
        SZG_TRY(szgi_json_as_integer(context, value, &out->words[i]));
        if (out->words[i] <= (i ? out->words[i - 1] : 0))
            return szgi_json_fail(context, value, "is not above the one before: lengths ascend");
    }
    out->count = count;
    return SZG_OK;
}

static szg_status read_scalings(szg_context *context, szgi_json_value list,
                                szgi_length_options *out) {
    if (szgi_json_kind_of(list) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, list));
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        szgi_json_value value = szgi_json_element(list, i);
        const char *name;
        szgi_scaling scaling;
        SZG_TRY(szgi_json_as_text(context, value, &name));
        if (szgi_scaling_parse(context, name, &scaling) != SZG_OK)
            return szgi_json_fail(context, value, "%s", szg_context_message(context));
        out->scalings |= 1u << scaling;
    }
    return SZG_OK;
}

szg_status szgi_length_read(szg_context *context, szgi_json_value value, szgi_length_options *out) {
    *out = (szgi_length_options){.examples = SZGI_LENGTH_EXAMPLES};
    if (szgi_json_kind_of(value) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_preset_members(context, value, "words|scaling|examples"));
    SZG_TRY(read_words(context, szgi_json_member(value, "words"), out));
    SZG_TRY(read_scalings(context, szgi_json_member(value, "scaling"), out));
    szgi_json_value examples = szgi_json_member(value, "examples");
    if (szgi_json_kind_of(examples) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_integer(context, examples, &out->examples));
    if (out->examples < 1 || out->examples > 1000000)
        return szgi_json_fail(context, examples, "is outside 1 .. 1000000");
    return SZG_OK;
}

/* ---- A run's file ---- */

static szg_status write_rows(szg_context *context, const reproduction_run *run, const char *path) {
    const szg_run_key key = reproduction_key(run);
    szg_table *table;
    SZG_TRY(szgi_length_table_open(context, &table));
    szg_status status =
        szgi_length_rows(context, table, &key, run->folder, run->config, &run->length);
    if (status == SZG_OK)
        status = szgi_csv_write(context, table, path);
    szg_table_close(&table);
    return status;
}

szg_status szgi_reproduction_length_write(szg_context *context, const reproduction_run *run) {
    char *path;
    if (run->length.count == 0)
        return SZG_OK;
    SZG_TRY(szgi_path_join(context, run->folder, SZGI_LENGTH_FILE, &path));
    szg_status status = write_rows(context, run, path);
    szgi_memory_free(path);
    return status;
}

static double real_of(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

static szg_status judge_row(szg_context *context, const reproduction_run *run, const char *name,
                            const szg_table *table, int64_t row, int64_t words,
                            szgi_scaling scaling) {
    const char *text = szg_table_get_text(table, row, szg_table_find(table, "scaling"));
    double accuracy = real_of(table, row, "accuracy");
    if (row >= szg_table_rows(table) || real_of(table, row, "words") != (double)words ||
        real_of(table, row, "examples") != (double)run->length.examples || !text ||
        strcmp(text, szgi_scaling_name(scaling)) != 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: row %" PRId64 " is not that of %" PRId64 " sequences of %" PRId64
                         " words with scaling %s, which the preset asks for: remove finished.json "
                         "beside it, and the same command tests the run again",
                         name, row + 1, run->length.examples, words, szgi_scaling_name(scaling));
    if (accuracy >= 0 && accuracy <= 1)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA, "%s: row %" PRId64 ": accuracy is not in 0 .. 1", name,
                     row + 1);
}

/* Every length and scaling once, in the order in which they are written. */
static szg_status judge_rows(szg_context *context, const reproduction_run *run, const char *name,
                             const szg_table *table) {
    int64_t row = 0;
    for (int64_t i = 0; i < run->length.count; i++) {
        int64_t words = run->length.words[i];
        unsigned scalings = szgi_length_scalings(run->config, &run->length, words);
        for (int scaling = 0; scaling < SZGI_SCALINGS; scaling++)
            if (scalings >> scaling & 1)
                SZG_TRY(judge_row(context, run, name, table, row++, words, (szgi_scaling)scaling));
    }
    if (szg_table_rows(table) == row)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: has %" PRId64 " rows; lengths and scalings of the preset are %" PRId64,
                     name, szg_table_rows(table), row);
}

static szg_status parse_rows(szg_context *context, const reproduction_run *run, const char *name,
                             const void *data, int64_t size, szg_table **out) {
    szg_table *like;
    SZG_TRY(szgi_length_table_open(context, &like));
    szg_status status = szgi_csv_parse(context, name, data, size, szg_table_column(like, 0),
                                       szg_table_columns(like), NULL, out);
    szg_table_close(&like);
    if (status != SZG_OK)
        return status;
    status = judge_rows(context, run, name, *out);
    if (status != SZG_OK)
        szg_table_close(out);
    return status;
}

szg_status szgi_reproduction_length_judge(szg_context *context, const reproduction_run *run,
                                          const char *name, const void *data, int64_t size) {
    szg_table *table;
    SZG_TRY(parse_rows(context, run, name, data, size, &table));
    szg_table_close(&table);
    return SZG_OK;
}

static szg_status read_file(szg_context *context, const reproduction_run *run, const char *path,
                            szg_table **out) {
    szgi_contents file;
    SZG_TRY(szgi_contents_open(context, path, &file));
    szg_status status = parse_rows(context, run, path, file.data, file.size, out);
    szgi_contents_close(&file);
    return status;
}

/* ---- All runs ---- */

enum { AFTER_EXPERIMENT = 1 }; /* the note */

static bool is_tested(const reproduction_run *run) {
    return run->shown.finished && run->length.count > 0;
}

static szg_status append_run(szg_context *context, const reproduction_run *run, szg_table *to) {
    szg_table *from;
    char *path;
    SZG_TRY(szgi_path_join(context, run->folder, SZGI_LENGTH_FILE, &path));
    szg_status status = read_file(context, run, path, &from);
    szgi_memory_free(path);
    SZG_TRY(status);
    for (int64_t at = 0; at < szg_table_rows(from) && status == SZG_OK; at++) {
        szgi_row row = szgi_row_add(context, to);
        szgi_experiment_row(&row, from, at, AFTER_EXPERIMENT, run->experiment);
        status = row.status;
    }
    szg_table_close(&from);
    return status;
}

/* first[i]: the row at which those of run i begin; -1: it has none. */
static szg_status append_runs(szg_context *context, const szg_reproduction *self, szg_table *to,
                              int64_t *first) {
    for (int64_t i = 0; i < self->count; i++) {
        first[i] = is_tested(&self->run[i]) ? szg_table_rows(to) : -1;
        if (first[i] >= 0)
            SZG_TRY(append_run(context, &self->run[i], to));
    }
    return SZG_OK;
}

/* ---- Arms ---- */

#define ARMS(X)                                                                                    \
    X(ARMS_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment", "part of the preset")             \
    X(ARMS_ENCODING, "encoding", SZG_TEXT, "", "encoding", "SPEC of the encoding")                 \
    X(ARMS_SCALING, "scaling", SZG_TEXT, "", "rescaling of the rotation",                          \
      "how the rotation is rescaled for the test")                                                 \
    X(ARMS_WORDS, "words", SZG_INTEGER, "words", "length", "words of every test sequence")         \
    X(ARMS_FACTOR, "factor", SZG_REAL, "1", "times the training length",                           \
      "words by those of the longest training sequence")                                           \
    X(ARMS_SEEDS, "seeds", SZG_INTEGER, "1", "seeds", "finished runs")                             \
    X(ARMS_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy", "mean over the seeds")                 \
    X(ARMS_LOW, "t_low", SZG_REAL, "1", "lower end of the mean",                                   \
      "lower end of its 95% interval by Student's t")                                              \
    X(ARMS_HIGH, "t_high", SZG_REAL, "1", "upper end of the mean",                                 \
      "upper end of its 95% interval by Student's t")                                              \
    X(ARMS_TEST, "test_accuracy", SZG_REAL, "1", "test accuracy",                                  \
      "of the ordinary test split, mean over the same seeds")                                      \
    X(ARMS_CEILING, "label_ceiling", SZG_REAL, "1", "label ceiling",                               \
      "best accuracy that any classifier can expect on these sequences")                           \
    X(ARMS_NOTE, "note", SZG_TEXT, "", "note", "")
#define ARMS_SCREEN                                                                                \
    SZGI_SHOW(2, experiment)                                                                       \
    SZGI_SHOW(1, encoding)                                                                         \
    SZGI_SHOW(1, scaling)                                                                          \
    SZGI_SHOW(1, words)                                                                            \
    SZGI_SHOW(2, factor)                                                                           \
    SZGI_SHOW(1, accuracy)                                                                         \
    SZGI_SHOW_RANGE(1, interval, t_low, t_high)                                                    \
    SZGI_SHOW(2, test_accuracy)                                                                    \
    SZGI_SHOW(3, label_ceiling)                                                                    \
    SZGI_SHOW(3, seeds)
SZGI_SCHEMA(arms_columns, "length_arms", ARMS, ARMS_SCREEN);

/* The tested runs of one experiment and encoding, which differ in their seeds alone. */
typedef struct length_arm {
    const szg_reproduction *self;
    const szg_table *rows; /* of all runs */
    const int64_t *first;
    int64_t begins; /* the first of the runs */
    double *value;  /* [runs of the reproduction] */
} length_arm;

static bool belongs(const length_arm *arm, int64_t index) {
    return arm->first[index] >= 0 &&
           strcmp(arm->self->run[index].encoding, arm->self->run[arm->begins].encoding) == 0;
}

/* Whether no tested run of the same experiment and encoding stands before it. */
static bool begins_arm(const length_arm *arm) {
    for (int64_t i = arm->self->run[arm->begins].first; i < arm->begins; i = arm->self->run[i].next)
        if (belongs(arm, i))
            return false;
    return arm->first[arm->begins] >= 0;
}

/* Values of row `at` of each run, or of the ordinary test split (at < 0); how many. */
static int64_t take_values(const length_arm *arm, int64_t at) {
    int64_t count = 0;
    for (int64_t i = arm->begins; i >= 0; i = arm->self->run[i].next)
        if (belongs(arm, i))
            arm->value[count++] = at < 0 ? arm->self->run[i].facts.test_accuracy
                                         : real_of(arm->rows, arm->first[i] + at, "accuracy");
    return count;
}

static szg_status add_row(szg_context *context, const length_arm *arm, int64_t at, szg_table *out) {
    const reproduction_run *run = &arm->self->run[arm->begins];
    int64_t from = arm->first[arm->begins] + at;
    szgi_row row = szgi_row_add(context, out);
    szgi_mean_interval test = szgi_mean_interval_of(take_values(arm, -1), arm->value);
    int64_t seeds = take_values(arm, at);
    szgi_mean_interval accuracy = szgi_mean_interval_of(seeds, arm->value);
    szgi_row_text(&row, ARMS_EXPERIMENT, run->experiment);
    szgi_row_text(&row, ARMS_ENCODING, run->encoding);
    szgi_row_text(&row, ARMS_SCALING,
                  szg_table_get_text(arm->rows, from, szg_table_find(arm->rows, "scaling")));
    szgi_row_integer(&row, ARMS_WORDS,
                     szg_table_get_integer(arm->rows, from, szg_table_find(arm->rows, "words")));
    szgi_row_real(&row, ARMS_FACTOR, real_of(arm->rows, from, "factor"));
    szgi_row_integer(&row, ARMS_SEEDS, seeds);
    szgi_row_number(&row, ARMS_ACCURACY, accuracy.mean);
    szgi_row_number(&row, ARMS_LOW, accuracy.low);
    szgi_row_number(&row, ARMS_HIGH, accuracy.high);
    szgi_row_number(&row, ARMS_TEST, test.mean);
    szgi_row_number(&row, ARMS_CEILING, real_of(arm->rows, from, "label_ceiling"));
    return row.status;
}

/* Rows that a tested run has. */
static int64_t rows_of(const reproduction_run *run) {
    int64_t count = 0;
    for (int64_t i = 0; i < run->length.count; i++)
        for (unsigned bits = szgi_length_scalings(run->config, &run->length, run->length.words[i]);
             bits; bits &= bits - 1)
            count++;
    return count;
}

static szg_status add_arms(szg_context *context, length_arm *arm, szg_table *out) {
    for (arm->begins = 0; arm->begins < arm->self->count; arm->begins++) {
        int64_t rows = begins_arm(arm) ? rows_of(&arm->self->run[arm->begins]) : 0;
        for (int64_t at = 0; at < rows; at++)
            SZG_TRY(add_row(context, arm, at, out));
    }
    return SZG_OK;
}

/* ---- Both tables ---- */

static szg_status open_tables(szg_context *context, szg_table **length, szg_table **arms) {
    szg_table *like;
    SZG_TRY(szgi_length_table_open(context, &like));
    szg_status status = szgi_experiment_table(context, like, AFTER_EXPERIMENT, length);
    szg_table_close(&like);
    SZG_TRY(status);
    return szgi_schema_open(context, &arms_columns_schema, arms);
}

szg_status szgi_reproduction_length(szg_context *context, const szg_reproduction *self,
                                    szg_table **length, szg_table **arms) {
    int64_t tested = 0, *first = NULL;
    double *value = NULL;
    for (int64_t i = 0; i < self->count; i++)
        tested += self->run[i].length.count > 0;
    if (tested == 0)
        return SZG_OK;
    szg_status status;
    SZG_TRY_GOTO(status, open_tables(context, length, arms), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, self->count, &first), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, self->count, &value), done);
    SZG_TRY_GOTO(status, append_runs(context, self, *length, first), done);
    length_arm arm = {.self = self, .rows = *length, .first = first, .value = value};
    status = add_arms(context, &arm, *arms);
done:
    szgi_memory_free(value);
    szgi_memory_free(first);
    return status;
}
