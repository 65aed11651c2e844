/* From a checkpoint's path to the model, its name in tables, and the examples to judge it by. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"

#include "ablation_private.h"

/* The ceiling is that of texts of the test split: known of them, and of the whole set where both
 * splits are drawn alike. */
static szg_status find_ceiling(szg_context *context, const szg_ablation_source *source,
                               const szg_train_config *config, double *out) {
    szg_label_ceiling ceiling;
    *out = NAN;
    if (source->data || *config->data.train_file ||
        (source->whole && config->data.test_between_max > 0))
        return SZG_OK;
    SZG_TRY(szg_task_label_ceiling(context, config, &ceiling));
    *out = ceiling.accuracy;
    return SZG_OK;
}

static szg_status open_examples(szg_context *context, const szg_ablation_source *source,
                                szg_ablation_subject *out) {
    const szg_train_config *config = szgi_model_settings(out->model);
    bool file = source->data || *config->data.train_file;
    out->task = file ? "file" : szgi_task_name(config->data.task);
    SZG_TRY(find_ceiling(context, source, config, &out->ceiling));
    if (source->data)
        return szg_examples_read(context, source->data, &out->examples);
    szg_dataset data;
    SZG_TRY(szg_dataset_open(context, config, &data));
    out->examples = data.test;
    data.test = (szg_examples){0};
    szg_status status = SZG_OK;
    if (source->whole)
        status = szg_examples_append(context, &out->examples, &data.train);
    szg_dataset_close(&data);
    return status;
}

/* The name of the run's folder, also where its checkpoint was named; else the file's. */
static void name_run(const char *checkpoint, const szg_train_config *config, char out[256]) {
    static const char usual[] = "/checkpoint.safetensors";
    char path[4096];
    int length = snprintf(path, sizeof path, "%s", checkpoint);
    size_t ending = sizeof usual - 1;
    if (length < (int)sizeof path && length > (int)ending &&
        strcmp(path + length - ending, usual) == 0)
        path[(size_t)length - ending] = 0;
    szg_train_options named = {SZG_INIT(szg_train_options), .config = config, .folder = path};
    strcpy(out, szgi_run_labels(&named).run);
}

static szg_status open_subject(szg_context *context, const szg_ablation_source *source,
                               const char *path, szg_ablation_subject *out) {
    SZG_TRY(szg_model_load(context, path, source->config, &out->model));
    SZG_TRY(szgi_checkpoint_number(context, path, "seed", &out->seed));
    strcpy(out->encoding, szgi_model_settings(out->model)->model.encoding);
    name_run(source->checkpoint, szgi_model_settings(out->model), out->run);
    return open_examples(context, source, out);
}

szg_status szg_ablation_subject_open(szg_context *context, const szg_ablation_source *source,
                                     szg_ablation_subject *out) {
    char *path;
    *out = (szg_ablation_subject){.seed = -1};
    SZGI_ENTER(context);
    szg_ablation_source own;
    SZG_TRY(SZGI_OPTIONS(context, szg_ablation_source, source, &own));
    SZG_TRY(szgi_checkpoint_path(context, own.checkpoint, &path));
    szg_status status = open_subject(context, &own, path, out);
    szgi_memory_free(path);
    if (status != SZG_OK)
        szg_ablation_subject_close(context, out);
    return status;
}

void szg_ablation_subject_close(szg_context *context, szg_ablation_subject *subject) {
    szg_model_close(context, &subject->model);
    szg_examples_close(&subject->examples);
}
