#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "run_folder.h"

static const char *const log_names[LOGS] = {"metrics.csv",
                                            "timing.csv",
                                            "contraction.csv",
                                            "contraction_values.csv",
                                            "contraction_symbols.csv",
                                            "curvature.csv"};

static bool is_wanted(const szg_train_config *config, int which) {
    switch (which) {
    case LOG_CONTRACTION:
        return config->capture.every > 0;
    case LOG_VALUES:
    case LOG_SYMBOLS:
        return config->capture.every > 0 && config->capture.spectra;
    case LOG_CURVATURE:
        return config->curvature.every > 0;
    default:
        return true;
    }
}

static szg_status name_files(szg_context *context, const char *folder, run_folder *out) {
    SZG_TRY(szgi_path_join(context, folder, "config.json", &out->config));
    SZG_TRY(szgi_path_join(context, folder, "checkpoint.safetensors", &out->weights));
    SZG_TRY(szgi_path_join(context, folder, "checkpoint.state.safetensors", &out->state));
    SZG_TRY(szgi_path_join(context, folder, "manifest.json", &out->manifest));
    return szgi_path_join(context, folder, "logits", &out->dump);
}

static szg_status look(szg_context *context, const szg_train_options *options, run_folder *out) {
    bool state = stat(out->state, &out->seen) == 0, weights = access(out->weights, F_OK) == 0;
    bool done = access(out->manifest, F_OK) == 0;
    out->resumes = state && options->resume;
    if (out->resumes || (!state && !weights && !done))
        return SZG_OK;
    if (!state && !weights)
        return szgi_fail(context, SZG_EDATA,
                         "%s holds the logs of a finished run whose checkpoint is gone: train in "
                         "another folder, or move them away",
                         options->folder);
    if (!state)
        return szgi_fail(
            context, SZG_EDATA,
            "%s has no state beside it: a run cannot continue from it; train in another folder",
            out->weights);
    return szgi_fail(
        context, SZG_EINVAL,
        "%s holds a run already: add --resume to continue it, or train in another folder",
        options->folder);
}

szg_status szgi_run_folder_open(szg_context *context, const szg_train_options *options,
                                run_folder *out) {
    *out = (run_folder){0};
    SZG_TRY(szgi_folder_create(context, options->folder));
    szg_status status = name_files(context, options->folder, out);
    if (status == SZG_OK)
        status = look(context, options, out);
    if (status != SZG_OK)
        szgi_run_folder_close(out);
    return status;
}

void szgi_run_folder_close(run_folder *folder) {
    char *const paths[] = {folder->config, folder->weights, folder->state, folder->manifest,
                           folder->dump};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        szgi_memory_free(paths[i]);
    for (int i = 0; i < LOGS; i++)
        szgi_log_close(&folder->log[i]);
    *folder = (run_folder){0};
}

static szg_status write_config(szg_context *context, const char *path,
                               const szg_train_config *config) {
    szgi_json *json;
    SZG_TRY(szgi_train_config_json(context, config, &json));
    szg_status status = szgi_json_write(context, json, path);
    szgi_json_close(&json);
    return status;
}

/* What was found and loaded came before the lock: a state that another process saved since then
 * must not lose its logs. */
static szg_status check_unchanged(szg_context *context, const run_folder *folder,
                                  const char *path) {
    struct stat now;
    if (stat(folder->state, &now) != 0)
        now = (struct stat){0};
    const struct stat *seen = &folder->seen;
    if (now.st_ino == seen->st_ino && now.st_mtim.tv_sec == seen->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec)
        return SZG_OK;
    return szgi_fail(
        context, SZG_EIO,
        "%s: another process trained in this folder meanwhile: give the command again, "
        "with --resume",
        path);
}

/* Times say nothing of the run's numbers: a file of them that was changed or removed stops no run.
 * Where no step is left there are none to write: it stays as it is. */
static szg_status cut_log(szg_context *context, run_folder *folder, int which, log_mark *mark) {
    szg_status status = szgi_log_cut(context, &folder->log[which], *mark);
    if (status != SZG_EDATA || which != LOG_TIMING)
        return status;
    if (folder->ended) {
        szgi_log_close(&folder->log[which]);
        return SZG_OK;
    }
    szgi_say(context, SZG_WARNING,
             "%s differs from what the checkpoint recorded: the file begins anew",
             folder->log[which].path);
    *mark = (log_mark){0};
    return szgi_log_cut(context, &folder->log[which], *mark);
}

szg_status szgi_run_folder_start(szg_context *context, run_folder *folder, const char *path,
                                 const szg_train_config *config, log_mark *marks) {
    for (int i = 0; i < LOGS; i++)
        if (is_wanted(config, i))
            SZG_TRY(szgi_log_open(context, path, log_names[i], &folder->log[i]));
    SZG_TRY(check_unchanged(context, folder, path));
    for (int i = 0; i < LOGS; i++)
        if (is_wanted(config, i))
            SZG_TRY(cut_log(context, folder, i, &marks[i]));
    for (int i = 0; i < LOGS && !folder->ended; i++)
        if (is_wanted(config, i))
            SZG_TRY(szgi_log_check_header(context, &folder->log[i], i));
    szgi_folder_sweep(path);
    szgi_folder_sweep(folder->dump);
    if (unlink(folder->manifest) != 0 && access(folder->manifest, F_OK) == 0)
        return szgi_fail(context, SZG_EIO, "%s: cannot be removed", folder->manifest);
    return write_config(context, folder->config, config);
}

szg_status szgi_run_folder_sync(szg_context *context, run_folder *folder, log_mark *marks) {
    for (int i = 0; i < LOGS; i++) {
        if (!folder->log[i].stream)
            continue;
        SZG_TRY(szgi_log_sync(context, &folder->log[i]));
        marks[i] = folder->log[i].mark;
    }
    return SZG_OK;
}

/* Whether the file holds the weights of `step`. One that is missing, unreadable or malformed does
 * not; of one that was not looked at, for want of memory or as the run is cancelled, nothing is
 * said. */
static szg_status holds_step(szg_context *context, const char *path, int64_t step, bool *out) {
    int64_t held;
    szg_status status = szgi_checkpoint_number(context, path, "step", &held);
    *out = status == SZG_OK && held == step;
    return status == SZG_EIO || status == SZG_EDATA ? SZG_OK : status;
}

szg_status szgi_run_folder_repair(szg_context *context, const run_folder *folder,
                                  const szg_model *model, uint64_t seed, int64_t step) {
    bool current;
    SZG_TRY(holds_step(context, folder->weights, step, &current));
    return current ? SZG_OK : szgi_model_save(context, model, folder->weights, seed, step);
}
