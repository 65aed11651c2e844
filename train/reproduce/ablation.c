/* Accuracy without each head, and deposit, by the way in which heads were ablated. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"

#include "train/ablation/ablation_private.h"
#include "reproduce_private.h"

enum { LAST_COLUMNS = 2 }; /* method and note: the experiment precedes them */

typedef szg_status open_table(szg_context *context, szg_table **out);

static szg_status open_like(szg_context *context, open_table *open, szg_table **out) {
    szg_table *like;
    SZG_TRY(open(context, &like));
    szg_status status = szgi_experiment_table(context, like, LAST_COLUMNS, out);
    szg_table_close(&like);
    return status;
}

static szg_status append_rows(szg_context *context, szg_table *to, const szg_table *from,
                              const char *experiment, szg_ablation_method method) {
    for (int64_t row = 0; row < szg_table_rows(from); row++) {
        szgi_row copy = szgi_row_add(context, to);
        szgi_experiment_row(&copy, from, row, LAST_COLUMNS, experiment);
        szgi_row_text(&copy, szg_table_columns(to) - LAST_COLUMNS,
                      szgi_ablation_method_name(method));
        SZG_TRY(copy.status);
    }
    return SZG_OK;
}

/* ---- Files ---- */

const char *szgi_reproduction_ablation_name(szg_ablation_method method) {
    static const char *const names[] = {[SZG_ABLATE_OUTPUT] = "ablation.csv",
                                        [SZG_ABLATE_VALUES] = "ablation_values.csv",
                                        [SZG_ABLATE_LATENT_COLUMNS] = "ablation_latent_columns.csv",
                                        [SZG_ABLATE_CUMULATIVE] = "ablation_cumulative.csv",
                                        [SZG_ABLATE_ROTATION] = "ablation_rotation.csv"};
    return names[method];
}

szg_status szgi_reproduction_ablation_path(szg_context *context, const reproduction_run *run,
                                           szg_ablation_method method, char **out) {
    return szgi_path_join(context, run->folder, szgi_reproduction_ablation_name(method), out);
}

static double real_of(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

/* Where the accuracy of a row belongs; NULL: to no head and no layer of the model. */
static double *place_of(const szg_ablation *of, const szg_table *table, int64_t row) {
    int64_t layer_column = szg_table_find(table, "layer"),
            head_column = szg_table_find(table, "head");
    int64_t layer = szg_table_get_integer(table, row, layer_column);
    int64_t head = szg_table_get_integer(table, row, head_column);
    if (szg_table_is_empty(table, row, layer_column) ||
        !(layer >= 0 && layer < of->layers && head >= 0 && head < of->heads))
        return NULL;
    return szg_table_is_empty(table, row, head_column) ? &of->layer[layer]
                                                       : &of->head[layer * of->heads + head];
}

/* Of one run, every head and every layer once. `name`: of the file. */
static szg_status take_accuracies(szg_context *context, const reproduction_run *run,
                                  const char *name, const szg_table *table, szg_ablation *out) {
    const szg_model_config *model = &run->config->model;
    int64_t rows = szg_table_rows(table), places = model->layers * (model->heads + 1);
    bool untested = run->facts.data.test_examples == 0; /* then no accuracy is known */
    SZG_TRY(szgi_ablation_open(context, model->layers, model->heads, out));
    out->accuracy = run->facts.whole;
    for (int64_t i = 0; i < places; i++)
        out->head[i] = -1; /* not there yet */
    for (int64_t row = 0; row < rows; row++) {
        double accuracy = real_of(table, row, "accuracy"), *place = place_of(out, table, row);
        if (!place || *place != -1)
            return szgi_fail(context, SZG_EDATA, "%s: row %" PRId64 ": layer and head are %s", name,
                             row + 1, place ? "there twice" : "none of the model");
        if (szg_table_get_integer(table, row, szg_table_find(table, "seed")) !=
            (int64_t)run->shown.seed)
            return szgi_fail(context, SZG_EDATA, "%s: row %" PRId64 ": seed is not %" PRIu64, name,
                             row + 1, run->shown.seed);
        if (!(accuracy >= 0 && accuracy <= 1) && !(isnan(accuracy) && untested))
            return szgi_fail(context, SZG_EDATA,
                             "%s: row %" PRId64 ": accuracy %g is not in 0 .. 1", name, row + 1,
                             accuracy);
        *place = accuracy;
    }
    if (rows == places)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA, "%s: has %" PRId64 " rows; heads and layers are %" PRId64,
                     name, rows, places);
}

/* Every row is of the method that the file's name says. */
static szg_status check_method(szg_context *context, szg_ablation_method method, const char *name,
                               const szg_table *table) {
    const char *wanted = szgi_ablation_method_name(method);
    int64_t column = szg_table_find(table, "method");
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        const char *said = szg_table_get_text(table, row, column);
        if (!said || strcmp(said, wanted) != 0)
            return szgi_fail(context, SZG_EDATA, "%s: row %" PRId64 ": method is not %s", name,
                             row + 1, wanted);
    }
    return SZG_OK;
}

/* The rows of a run's file. */
static szg_status parse_rows(szg_context *context, szg_ablation_method method, const char *name,
                             const void *data, int64_t size, szg_table **out) {
    szg_table *like;
    SZG_TRY(szg_ablation_table_open(context, &like));
    szg_status status = szgi_csv_parse(context, name, data, size, szg_table_column(like, 0),
                                       szg_table_columns(like), NULL, out);
    szg_table_close(&like);
    return status == SZG_OK ? check_method(context, method, name, *out) : status;
}

szg_status szgi_reproduction_ablation_judge(szg_context *context, const reproduction_run *run,
                                            szg_ablation_method method, const char *name,
                                            const void *data, int64_t size) {
    szg_table *own = NULL;
    szg_ablation ablation = {0};
    szg_status status = parse_rows(context, method, name, data, size, &own);
    if (status == SZG_OK)
        status = take_accuracies(context, run, name, own, &ablation);
    szg_ablation_close(&ablation);
    szg_table_close(&own);
    return status;
}

static szg_status read_rows(szg_context *context, szg_ablation_method method, const char *path,
                            szg_table **out) {
    szgi_contents file;
    SZG_TRY(szgi_contents_open(context, path, &file));
    szg_status status = parse_rows(context, method, path, file.data, file.size, out);
    szgi_contents_close(&file);
    return status;
}

/* Appends the run's file to `table` and takes its accuracies. */
static szg_status read_ablation(szg_context *context, const reproduction_run *run,
                                szg_ablation_method method, szg_table *table, szg_ablation *out) {
    szg_table *own = NULL;
    char *path;
    SZG_TRY(szgi_reproduction_ablation_path(context, run, method, &path));
    szg_status status = read_rows(context, method, path, &own);
    if (status == SZG_OK)
        status = take_accuracies(context, run, path, own, out);
    out->reach = szgi_ablation_reach(&run->config->model, method);
    out->method = method;
    if (status == SZG_OK) /* an intervention has begun when its run is finished */
        status = szgi_ablation_spare(context, run->config, true, out);
    if (status == SZG_OK)
        status = append_rows(context, table, own, run->experiment, method);
    szg_table_close(&own);
    szgi_memory_free(path);
    return status;
}

szg_status szgi_reproduction_ablation_read(szg_context *context, const reproduction_run *run,
                                           szg_ablation_method method, szg_ablation *out) {
    szg_table *table;
    SZG_TRY(open_like(context, szg_ablation_table_open, &table));
    szg_status status = read_ablation(context, run, method, table, out);
    szg_table_close(&table);
    return status;
}

/* ---- The runs of one experiment that were ablated by one method ---- */

typedef struct ablated {
    szg_table *deposit;
    szg_ablation *own;
    const szg_ablation **runs;
    szg_run_key *keys;
    int64_t count;
} ablated;

static bool is_ablated(const reproduction_run *run, szg_ablation_method method) {
    return run->shown.finished && run->shown.methods >> method & 1;
}

static szg_status open_ablated(szg_context *context, int64_t count, ablated *out) {
    SZG_TRY(szg_deposit_table_open(context, &out->deposit));
    SZG_TRY(szgi_memory_alloc(context, count, &out->own));
    SZG_TRY(szgi_memory_alloc(context, count, &out->runs));
    return szgi_memory_alloc(context, count, &out->keys);
}

static szg_status read_experiment(szg_context *context, const szg_reproduction *self, int64_t first,
                                  szg_ablation_method method, szg_table *ablation, ablated *out) {
    for (int64_t i = first; i >= 0; i = self->run[i].next) {
        const reproduction_run *run = &self->run[i];
        if (!is_ablated(run, method))
            continue;
        int64_t at = out->count++;
        SZG_TRY(read_ablation(context, run, method, ablation, &out->own[at]));
        out->runs[at] = &out->own[at];
        out->keys[at] = reproduction_key(run);
    }
    return szg_deposit_rows(context, out->deposit, out->keys, out->runs, out->count,
                            self->run[first].experiment);
}

static void close_ablated(ablated *runs) {
    for (int64_t i = 0; runs->own && i < runs->count; i++)
        szg_ablation_close(&runs->own[i]);
    szgi_memory_free(runs->own);
    szgi_memory_free(runs->runs);
    szgi_memory_free(runs->keys);
    szg_table_close(&runs->deposit);
}

static szg_status add_experiment(szg_context *context, const szg_reproduction *self, int64_t first,
                                 szg_ablation_method method, szg_table *ablation,
                                 szg_table *deposit) {
    ablated runs = {0};
    int64_t count = 0;
    for (int64_t i = first; i >= 0; i = self->run[i].next)
        count += is_ablated(&self->run[i], method);
    if (count == 0)
        return SZG_OK;
    szg_status status = open_ablated(context, count, &runs);
    if (status == SZG_OK)
        status = read_experiment(context, self, first, method, ablation, &runs);
    if (status == SZG_OK)
        status = append_rows(context, deposit, runs.deposit, self->run[first].experiment, method);
    close_ablated(&runs);
    return status;
}

szg_status szgi_reproduction_ablation(szg_context *context, const szg_reproduction *self,
                                      szg_table **ablation, szg_table **deposit) {
    SZG_TRY(open_like(context, szg_ablation_table_open, ablation));
    SZG_TRY(open_like(context, szg_deposit_table_open, deposit));
    for (int64_t i = 0; i < self->count; i++)
        for (int method = 0;
             reproduction_begins_experiment(self, i) && method < SZG_ABLATION_METHODS; method++)
            SZG_TRY(
                add_experiment(context, self, i, (szg_ablation_method)method, *ablation, *deposit));
    return SZG_OK;
}
