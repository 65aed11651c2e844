/* Presets of `szego reproduce`: what is accepted gives runs whose folders stay where they belong,
 * and the preset that the reproduction prints gives the same runs again. */
#include "train/config/train_config.h"
#include <szego/reproduce.h>
#include "fuzz.h"

static szg_status open_preset(const char *path, szg_reproduction **out) {
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path};
    return szg_reproduction_open(fuzz_context(), &options, out);
}

/* EXPERIMENT/TASK/ENCODING/run-SEED: four parts, none of which leads elsewhere. */
static void check_name(const char *name) {
    int parts = 0;
    for (const char *at = name; *at; parts++) {
        size_t length = strcspn(at, "/");
        FUZZ_PROMISE(length > 0 && !(length == 1 && *at == '.') &&
                     !(length == 2 && at[0] == '.' && at[1] == '.'));
        at += length + (at[length] == '/');
    }
    FUZZ_PROMISE(parts == 4);
}

static void check_runs(const szg_reproduction *all) {
    FUZZ_PROMISE(szg_reproduction_count(all) > 0 && *szg_reproduction_name(all));
    for (int64_t i = 0; i < szg_reproduction_count(all); i++) {
        szg_reproduction_run run = szg_reproduction_run_at(all, i);
        check_name(run.name);
        FUZZ_PROMISE(szg_train_config_check(fuzz_context(), run.config) == SZG_OK);
        FUZZ_PROMISE(!run.finished && run.rotated_heads < run.config->model.heads);
        FUZZ_PROMISE(strcmp(run.encoding, run.config->model.encoding) == 0);
        for (int64_t j = 0; j < i; j++)
            FUZZ_PROMISE(strcmp(run.name, szg_reproduction_run_at(all, j).name) != 0);
    }
}

static void check_again(const szg_reproduction *all) {
    szg_reproduction *again;
    const char *text = szg_reproduction_preset(all);
    FUZZ_PROMISE(open_preset(fuzz_file("again.json", text, strlen(text)), &again) == SZG_OK);
    FUZZ_PROMISE(strcmp(szg_reproduction_preset(again), text) == 0);
    FUZZ_PROMISE(strcmp(szg_reproduction_about(again), szg_reproduction_about(all)) == 0);
    FUZZ_PROMISE(szg_reproduction_count(again) == szg_reproduction_count(all));
    for (int64_t i = 0; i < szg_reproduction_count(all); i++) {
        szg_reproduction_run a = szg_reproduction_run_at(all, i),
                             b = szg_reproduction_run_at(again, i);
        FUZZ_PROMISE(strcmp(a.name, b.name) == 0 && a.seed == b.seed && a.methods == b.methods);
        FUZZ_PROMISE(memcmp(a.config, b.config, sizeof *a.config) == 0);
    }
    szg_reproduction_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_reproduction *all;
    const char *path = fuzz_file("preset.json", data, size);
    szg_status status = open_preset(path, &all);
    if (status == SZG_OK) {
        check_runs(all);
        check_again(all);
        szg_reproduction_close(&all);
    } else {
        FUZZ_PROMISE(all == NULL);
        if (status != SZG_EIO && status != SZG_ENOMEM) /* a SPEC may name a file, and any size */
            FUZZ_REFUSED(status, path);
    }
    fuzz_clean();
    return 0;
}
