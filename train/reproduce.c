/* A reproduction: opening, and training what is not finished. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <szego/csv.h>
#include <szego/file.h>
#include <szego/memory.h>

#include "reproduce_private.h"

static szg_status find_folders(szg_context *context, szg_reproduction *self, const char *folder) {
    char *runs;
    SZG_TRY(szg_memory_copy_text(context, folder, &self->folder));
    SZG_TRY(szg_path_join(context, folder, "runs", &runs));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < self->count && status == SZG_OK; i++) {
        status = szg_path_join(context, runs, self->run[i].name, &self->run[i].folder);
        if (status == SZG_OK)
            status = facts_read(context, &self->run[i]);
    }
    szg_memory_free(runs);
    return status;
}

szg_status szg_reproduction_open(szg_context *context, const szg_reproduction_options *options,
                                 szg_reproduction **out) {
    SZG_TRY(szg_memory_alloc(context, 1, sizeof **out, out));
    szg_status status = preset_read(context, options, *out);
    if (status == SZG_OK && options->folder)
        status = find_folders(context, *out, options->folder);
    if (status != SZG_OK)
        szg_reproduction_close(out);
    return status;
}

void szg_reproduction_close(szg_reproduction **reproduction) {
    szg_reproduction *self = *reproduction;
    if (!self)
        return;
    for (int64_t i = 0; i < self->count; i++) {
        szg_memory_free(self->run[i].name);
        szg_memory_free(self->run[i].experiment);
        szg_memory_free(self->run[i].encoding);
        szg_memory_free(self->run[i].folder);
        szg_memory_free(self->run[i].config);
    }
    szg_memory_free(self->run);
    szg_memory_free(self->folder);
    szg_memory_free(self->preset);
    szg_memory_free(self->about);
    szg_memory_free(self->name);
    szg_memory_free(self);
    *reproduction = NULL;
}

const char *szg_reproduction_name(const szg_reproduction *reproduction) {
    return reproduction->name;
}

const char *szg_reproduction_about(const szg_reproduction *reproduction) {
    return reproduction->about;
}

const char *szg_reproduction_preset(const szg_reproduction *reproduction) {
    return reproduction->preset;
}

int64_t szg_reproduction_count(const szg_reproduction *reproduction) {
    return reproduction->count;
}

szg_reproduction_run szg_reproduction_run_at(const szg_reproduction *reproduction, int64_t index) {
    return reproduction->run[index].shown;
}

/* ---- One run ---- */

static szg_status write_ablation(szg_context *context, const reproduction_run *run,
                                 const szg_ablation *ablation) {
    szg_table *table = NULL;
    char *path;
    szg_run_key key = reproduction_key(run);
    SZG_TRY(szg_path_join(context, run->folder, "ablation.csv", &path));
    szg_status status = szg_ablation_table_open(context, &table);
    if (status == SZG_OK)
        status = szg_ablation_rows(context, table, &key, ablation);
    if (status == SZG_OK)
        status = szg_csv_write(context, table, path);
    szg_table_close(&table);
    szg_memory_free(path);
    return status;
}

/* What the trained model says: operations, and accuracy without each head. */
static szg_status examine(szg_context *context, reproduction_run *run, const szg_dataset *data) {
    szg_model *model;
    char *path;
    SZG_TRY(szg_path_join(context, run->folder, "checkpoint.safetensors", &path));
    szg_status status = szg_model_load(context, path, NULL, &model);
    szg_memory_free(path);
    if (status != SZG_OK)
        return status;
    szg_model_operations operations = szg_model_operations_per_token(model);
    run->facts.parameters = szg_model_count(model);
    run->facts.forward = operations.forward;
    run->facts.training = operations.training;
    run->facts.whole = run->facts.test_accuracy;
    if (run->shown.ablation) {
        szg_ablation ablation;
        szg_ablation_options options = {.method = SZG_ABLATE_OUTPUT};
        status = szg_ablation_run(context, model, &data->test, &options, &ablation);
        ablation.ceiling = run->facts.data.ceiling;
        run->facts.whole = ablation.accuracy;
        if (status == SZG_OK)
            status = write_ablation(context, run, &ablation);
        szg_ablation_close(&ablation);
    }
    szg_model_close(context, &model);
    return status;
}

static szg_status train(szg_context *context, reproduction_run *run, const szg_dataset *data) {
    szg_train_options options = {.config = run->config,
                                 .data = data,
                                 .seed = run->shown.seed,
                                 .folder = run->folder,
                                 .resume = true};
    szg_train_result result;
    SZG_TRY(szg_train_run(context, &options, &result));
    run->facts.steps = result.steps;
    run->facts.epochs = result.epochs;
    run->facts.train_loss = result.train_loss;
    run->facts.train_accuracy = result.train_accuracy;
    run->facts.test_loss = result.test_loss;
    run->facts.test_accuracy = result.test_accuracy;
    run->facts.best_accuracy = result.best_accuracy;
    return SZG_OK;
}

/* Whether two runs have the same examples. */
static bool same_data(const szg_train_config *a, const szg_train_config *b) {
    return a->model.vocabulary == b->model.vocabulary &&
           memcmp(&a->data, &b->data, sizeof a->data) == 0;
}

/* Those of a finished run with the same examples, or computed. */
static szg_status take_data_facts(szg_context *context, const szg_reproduction *self,
                                  const szg_dataset *data, reproduction_run *run) {
    for (int64_t i = 0; i < self->count; i++)
        if (self->run[i].shown.finished && same_data(self->run[i].config, run->config)) {
            run->facts.data = self->run[i].facts.data;
            return SZG_OK;
        }
    return facts_of_data(context, run->config, data, &run->facts.data);
}

static szg_status finish_run(szg_context *context, const szg_reproduction *self,
                             reproduction_run *run) {
    szg_dataset data;
    SZG_TRY(szg_folder_create(context, run->folder));
    SZG_TRY(szg_dataset_open(context, run->config, &data));
    szg_status status = train(context, run, &data);
    if (status == SZG_OK)
        status = take_data_facts(context, self, &data, run);
    if (status == SZG_OK)
        status = examine(context, run, &data);
    if (status == SZG_OK)
        status = facts_write(context, run);
    szg_dataset_close(&data);
    run->shown.finished = status == SZG_OK;
    return status;
}

/* ---- All of them ---- */

static szg_status explain(szg_context *context, szg_status status, const szg_reproduction *self,
                          int64_t done, const reproduction_run *run) {
    if (status != SZG_ECANCEL)
        return szg_fail_prefix(context, status, "%s", run->name);
    return szg_fail(context, SZG_ECANCEL,
                    "interrupted in %s, %" PRId64 " of %" PRId64
                    " runs are finished: the same command goes on where it stopped",
                    run->name, done, self->count);
}

szg_status szg_reproduction_train(szg_context *context, szg_reproduction *reproduction) {
    if (!reproduction->folder)
        return szg_fail(context, SZG_EINVAL, "reproduction: no folder to train in");
    int64_t done = 0;
    for (int64_t i = 0; i < reproduction->count; i++)
        done += reproduction->run[i].shown.finished;
    for (int64_t i = 0; i < reproduction->count; i++) {
        reproduction_run *run = &reproduction->run[i];
        if (run->shown.finished)
            continue;
        szg_say(context, SZG_NOTE, "run %" PRId64 " of %" PRId64 ": %s", done + 1,
                reproduction->count, run->name);
        szg_status status = finish_run(context, reproduction, run);
        if (status != SZG_OK)
            return explain(context, status, reproduction, done, run);
        done++;
        szg_say(context, SZG_NOTE, "%s: test accuracy %.4f", run->name, run->facts.test_accuracy);
    }
    return SZG_OK;
}

/* ---- Tables ---- */

static szg_status report(szg_context *context, const szg_reproduction *self,
                         const szg_reproduction *other, double rate, szg_reproduction_tables *out) {
    SZG_TRY(reproduction_table1(context, self, &out->table1));
    SZG_TRY(reproduction_sweep(context, self, &out->sweep));
    SZG_TRY(reproduction_needs(context, self, other, rate, &out->needs));
    SZG_TRY(reproduction_missing(context, self, &out->missing));
    SZG_TRY(reproduction_runs(context, self, &out->runs));
    SZG_TRY(reproduction_curves(context, self, &out->curves));
    return reproduction_ablation(context, self, &out->ablation, &out->deposit);
}

szg_status szg_reproduction_report(szg_context *context, const szg_reproduction *reproduction,
                                   const szg_reproduction *other, double rate,
                                   szg_reproduction_tables *out) {
    *out = (szg_reproduction_tables){0};
    szg_status status = report(context, reproduction, other, rate, out);
    if (status != SZG_OK)
        szg_reproduction_tables_close(out);
    return status;
}

void szg_reproduction_tables_close(szg_reproduction_tables *tables) {
    szg_table **const all[] = {&tables->table1,   &tables->sweep,  &tables->needs,
                               &tables->missing,  &tables->runs,   &tables->curves,
                               &tables->ablation, &tables->deposit};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        szg_table_close(all[i]);
}
