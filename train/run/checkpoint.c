/* A model in a safetensors file: parameters under PyTorch's names, configuration and step as
 * metadata. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "arena_file.h"
#include "train/capture/capture.h"
#include "train/run/train.h"
#include "run_private.h"

enum { NUMBER_TEXT = 24 };

/* Metadata of a model whose configuration has an intervention: whether it has begun. */
static const char INTERVENED[] = "intervened";

szg_status szgi_train_config_text(szg_context *context, const szg_train_config *config, int indent,
                                  char **out) {
    szgi_json *json;
    SZG_TRY(szgi_train_config_json(context, config, &json));
    szg_status status = szgi_json_text(context, szgi_json_root(json), indent, out);
    szgi_json_close(&json);
    return status;
}

szg_status szgi_model_save(szg_context *context, const szg_model *model, const char *path,
                           uint64_t seed, int64_t step) {
    char classes[NUMBER_TEXT], seeds[NUMBER_TEXT], steps[NUMBER_TEXT], *config;
    SZG_TRY(szgi_train_config_text(context, szgi_model_settings(model), 0, &config));
    snprintf(classes, sizeof classes, "%" PRId64, szgi_model_classes(model));
    snprintf(seeds, sizeof seeds, "%" PRIu64, seed);
    snprintf(steps, sizeof steps, "%" PRId64, step);
    const char *metadata[] = {
        "format",  "pt",    "config",   config,
        "classes", classes, "seed",     seeds,
        "step",    steps,   INTERVENED, szgi_model_intervened(model) ? "true" : "false"};
    int64_t count = (int64_t)(sizeof metadata / sizeof *metadata / 2);
    bool none = szgi_model_settings(model)->intervention.kind == SZG_INTERVENTION_NONE;
    arena_part part = {.prefix = "", .arena = szgi_model_arena(model)};
    szg_status status =
        szgi_arena_write(context, model, path, &part, 1, metadata, none ? count - 1 : count, false);
    szgi_memory_free(config);
    return status;
}

static szg_status settings_of(szg_context *context, const szgi_safetensors *file,
                              szg_train_config *out) {
    const char *text = szgi_safetensors_metadata(file, "config");
    if (!text)
        return szgi_fail(context, SZG_EDATA,
                         "holds no configuration (it was not written by szego train): name the "
                         "model's with --config FILE.json");
    return szgi_train_config_parse(context, "configuration", text, out);
}

/* The width of the last layer, whatever the labels of any data are. */
static szg_status classes_of(szg_context *context, const szgi_safetensors *file, int64_t *out) {
    const szgi_tensor *tensor = szgi_safetensors_find(file, "fc_out.weight");
    if (!tensor)
        return szgi_fail(context, SZG_EDATA,
                         "tensor fc_out.weight is missing: this is not a checkpoint of a decoder "
                         "that szego trains");
    char text[64];
    if (tensor->dims != 2 || tensor->shape[0] < 1)
        return szgi_fail(context, SZG_EDATA,
                         "tensor fc_out.weight has shape %s, not [classes, width]",
                         szgi_tensor_shape_text(tensor, text, sizeof text));
    *out = tensor->shape[0];
    return SZG_OK;
}

/* A file that does not say is taken for one at the end of its run. */
static bool has_begun(const szgi_safetensors *file, const szg_train_config *config) {
    const char *text = szgi_safetensors_metadata(file, INTERVENED);
    return config->intervention.kind != SZG_INTERVENTION_NONE &&
           !(text && strcmp(text, "false") == 0);
}

static szg_status load(szg_context *context, const szgi_safetensors *file,
                       const szg_train_config *config, szg_model **out) {
    int64_t classes = 0;
    SZG_TRY(classes_of(context, file, &classes));
    SZG_TRY(szgi_model_open(context, config, classes, out));
    arena_part part = {.prefix = "", .arena = szgi_model_arena(*out)};
    szg_status status = szgi_arena_read(context, *out, file, &part, 1);
    if (status == SZG_OK)
        status = szgi_model_intervene(context, *out, has_begun(file, config));
    if (status != SZG_OK)
        szg_model_close(context, out);
    return status;
}

static int is_run(const struct dirent *entry) {
    return strncmp(entry->d_name, "run-", 4) == 0;
}

static bool has_weights(const char *folder) {
    char path[4096];
    return snprintf(path, sizeof path, "%s/checkpoint.safetensors", folder) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

szg_status szgi_checkpoint_runs(szg_context *context, const char *folder,
                                szg_status visit(szg_context *context, const char *run, void *user),
                                void *user) {
    struct dirent **entry = NULL;
    szg_status status = SZG_OK;
    int count = has_weights(folder) ? 0 : scandir(folder, &entry, is_run, versionsort);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (status == SZG_OK)
            status = szgi_path_join(context, folder, entry[i]->d_name, &path);
        if (status == SZG_OK && has_weights(path))
            status = visit(context, path, user);
        szgi_memory_free(path);
        free(entry[i]);
    }
    free(entry);
    return status;
}

static szg_status list_run(szg_context *context, const char *run, void *user) {
    (void)context;
    szgi_text *list = user;
    fprintf(list->stream, " %s", run);
    return SZG_OK;
}

/* SZG_EINVAL where the folder holds runs and is none: they are listed. */
static szg_status refuse_runs(szg_context *context, const char *folder) {
    szgi_text list;
    SZG_TRY(szgi_text_open(context, &list));
    szg_status status =
        szgi_text_end(&list, szgi_checkpoint_runs(context, folder, list_run, &list));
    if (status == SZG_OK && *list.text)
        status = szgi_fail(context, SZG_EINVAL, "%s is a folder of runs: name one of them:%.900s",
                           folder, list.text);
    szgi_text_close(&list);
    return status;
}

szg_status szgi_checkpoint_path(szg_context *context, const char *path, char **out) {
    struct stat info;
    *out = NULL;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return szgi_memory_copy_text(context, path, out);
    SZG_TRY(refuse_runs(context, path));
    return szgi_path_join(context, path, "checkpoint.safetensors", out);
}

static int64_t number_of(const szgi_safetensors *file, const char *key) {
    const char *text = szgi_safetensors_metadata(file, key);
    int64_t value;
    return text && szgi_integer_parse(text, &value) == SZGI_PARSED && value >= 0 ? value : -1;
}

szg_status szgi_checkpoint_number(szg_context *context, const char *path, const char *key,
                                  int64_t *out) {
    char *name;
    szgi_safetensors *file;
    *out = -1;
    SZG_TRY(szgi_checkpoint_path(context, path, &name));
    szg_status status = szgi_safetensors_open(context, name, &file);
    szgi_memory_free(name);
    SZG_TRY(status);
    *out = number_of(file, key);
    szgi_safetensors_close(&file);
    return SZG_OK;
}

szg_status szgi_capture_step_of(szg_context *context, const char *checkpoint, int64_t *step) {
    return szgi_checkpoint_number(context, checkpoint, "step", step);
}

static szg_status load_file(szg_context *context, const char *path, const szg_train_config *config,
                            szg_model **out) {
    szgi_safetensors *file;
    SZG_TRY(szgi_safetensors_open(context, path, &file));
    szg_train_config *own = NULL;
    szg_status status = szgi_memory_alloc(context, 1, &own);
    if (status == SZG_OK && !config) {
        status = settings_of(context, file, own);
        config = own;
    }
    if (status == SZG_OK)
        status = load(context, file, config, out);
    if (status == SZG_OK) {
        status = szgi_safetensors_check(context, file);
        if (status != SZG_OK)
            szg_model_close(context, out);
    }
    szgi_memory_free(own);
    szgi_safetensors_close(&file);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "%s", path);
}

szg_status szg_model_load(szg_context *context, const char *path, const szg_train_config *config,
                          szg_model **out) {
    char *file;
    *out = NULL;
    SZGI_ENTER(context);
    SZG_TRY(szgi_checkpoint_path(context, path, &file));
    szg_status status = load_file(context, file, config, out);
    szgi_memory_free(file);
    return status;
}
