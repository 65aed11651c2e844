/* Accuracy without each head, and deposit, by the way in which heads were ablated. */
#include <inttypes.h>
#include <string.h>

#include <szego/csv.h>
#include <szego/memory.h>

#include "reproduce_private.h"

enum { MOST_COLUMNS = 24 };

/* The columns of `own`, with experiment and method before its note. */
static szg_status open_with_method(szg_context *context, const szg_table *own, szg_table **out) {
    szg_column columns[MOST_COLUMNS];
    int64_t count = 0;
    for (int64_t i = 0; i < szg_table_columns(own) - 1; i++)
        columns[count++] = *szg_table_column(own, i);
    columns[count++] = (szg_column){"experiment", SZG_TEXT, "part of the preset"};
    columns[count++] =
        (szg_column){"method", SZG_TEXT, "how a head goes: output, values or latent_columns"};
    columns[count++] = (szg_column){"note", SZG_TEXT, ""};
    return szg_table_open(context, szg_table_name(own), columns, count, out);
}

static szg_status copy_cell(szg_context *context, szg_table *to, const szg_table *from, int64_t row,
                            int64_t column) {
    const szg_column *cell = szg_table_column(from, column);
    if (szg_table_is_empty(from, row, column))
        return SZG_OK;
    if (cell->type == SZG_TEXT)
        return szg_table_set_text(context, to, cell->name, szg_table_get_text(from, row, column));
    if (cell->type == SZG_INTEGER)
        return szg_table_set_integer(context, to, cell->name,
                                     szg_table_get_integer(from, row, column));
    return szg_table_set_real(context, to, cell->name, szg_table_get_real(from, row, column));
}

static szg_status append_rows(szg_context *context, szg_table *to, const szg_table *from,
                              const char *experiment, szg_ablation_method method) {
    for (int64_t row = 0; row < szg_table_rows(from); row++) {
        SZG_TRY(szg_table_add_row(context, to));
        for (int64_t column = 0; column < szg_table_columns(from); column++)
            SZG_TRY(copy_cell(context, to, from, row, column));
        SZG_TRY(szg_table_set_text(context, to, "experiment", experiment));
        SZG_TRY(szg_table_set_text(context, to, "method", reproduction_methods[method]));
    }
    return SZG_OK;
}

/* ---- Files ---- */

static double real_of(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

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
static szg_status read_ablation(szg_context *context, const reproduction_run *run,
                                szg_ablation_method method, szg_table *table, szg_ablation *out) {
    szg_column columns[MOST_COLUMNS];
    szg_table *own = NULL;
    char *path;
    for (int64_t i = 0; i < szg_table_columns(table); i++)
        columns[i] = *szg_table_column(table, i);
    SZG_TRY(reproduction_ablation_path(context, run, method, &path));
    szg_status status = szg_csv_read(context, path, columns, szg_table_columns(table), &own);
    if (status == SZG_OK)
        status = take_accuracies(context, run, own, out);
    if (status == SZG_OK)
        status = szg_table_append(context, table, own);
    szg_table_close(&own);
    szg_memory_free(path);
    return status;
}

/* ---- The runs of one experiment that were ablated by one method ---- */

typedef struct ablated {
    szg_table *ablation, *deposit;
    szg_ablation *own;
    const szg_ablation **runs;
    szg_run_key *keys;
    int64_t count;
} ablated;

static szg_status read_experiment(szg_context *context, const szg_reproduction *self,
                                  const char *experiment, szg_ablation_method method,
                                  ablated *out) {
    SZG_TRY(szg_ablation_table_open(context, &out->ablation));
    SZG_TRY(szg_deposit_table_open(context, &out->deposit));
    SZG_TRY(szg_memory_alloc(context, self->count, sizeof *out->own, &out->own));
    SZG_TRY(szg_memory_alloc(context, self->count, sizeof *out->runs, &out->runs));
    SZG_TRY(szg_memory_alloc(context, self->count, sizeof *out->keys, &out->keys));
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        if (!run->shown.finished || !(run->shown.methods >> method & 1) ||
            strcmp(run->experiment, experiment) != 0)
            continue;
        int64_t at = out->count++;
        SZG_TRY(read_ablation(context, run, method, out->ablation, &out->own[at]));
        out->runs[at] = &out->own[at];
        out->keys[at] = reproduction_key(run);
    }
    return szg_deposit_rows(context, out->deposit, out->keys, out->runs, out->count, experiment, 0);
}

static void close_ablated(ablated *runs) {
    for (int64_t i = 0; runs->own && i < runs->count; i++)
        szg_ablation_close(&runs->own[i]);
    szg_memory_free(runs->own);
    szg_memory_free(runs->runs);
    szg_memory_free(runs->keys);
    szg_table_close(&runs->deposit);
    szg_table_close(&runs->ablation);
}

static szg_status add_experiment(szg_context *context, const szg_reproduction *self,
                                 const char *experiment, szg_ablation_method method,
                                 szg_table **ablation, szg_table **deposit) {
    ablated runs = {0};
    szg_status status = read_experiment(context, self, experiment, method, &runs);
    if (status == SZG_OK && !*ablation)
        status = open_with_method(context, runs.ablation, ablation);
    if (status == SZG_OK && !*deposit)
        status = open_with_method(context, runs.deposit, deposit);
    if (status == SZG_OK)
        status = append_rows(context, *ablation, runs.ablation, experiment, method);
    if (status == SZG_OK)
        status = append_rows(context, *deposit, runs.deposit, experiment, method);
    close_ablated(&runs);
    return status;
}

szg_status reproduction_ablation(szg_context *context, const szg_reproduction *self,
                                 szg_table **ablation, szg_table **deposit) {
    for (int64_t i = 0; i < self->count; i++)
        for (int method = 0; reproduction_begins_experiment(self, i) && method < 3; method++)
            SZG_TRY(add_experiment(context, self, self->run[i].experiment,
                                   (szg_ablation_method)method, ablation, deposit));
    return SZG_OK;
}
