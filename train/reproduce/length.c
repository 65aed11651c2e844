/* Finished runs on longer sequences: what a preset asks for, a run's own table, and all of them. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "formats/csv.h"

#include "reproduce_preset.h"

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

static szg_status append_runs(szg_context *context, const szg_reproduction *self, szg_table *to) {
    for (int64_t i = 0; i < self->count; i++)
        if (is_tested(&self->run[i]))
            SZG_TRY(append_run(context, &self->run[i], to));
    return SZG_OK;
}

szg_status szgi_reproduction_length(szg_context *context, const szg_reproduction *self,
                                    szg_table **out) {
    int64_t tested = 0;
    szg_table *like;
    for (int64_t i = 0; i < self->count; i++)
        tested += self->run[i].length.count > 0;
    if (tested == 0)
        return SZG_OK;
    SZG_TRY(szgi_length_table_open(context, &like));
    szg_status status = szgi_experiment_table(context, like, AFTER_EXPERIMENT, out);
    szg_table_close(&like);
    return status == SZG_OK ? append_runs(context, self, *out) : status;
}
