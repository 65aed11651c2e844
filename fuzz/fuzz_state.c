/* The state file of a run: what is accepted is saved again to a file that gives the same. Input
 * whose checksum is wrong is tried with the right one too: it keeps out accidents, not intent. */
#include "linalg/linalg.h"
#include "base/file.h"
#include "formats/safetensors.h"

#include "../train/run/run_private.h"
#include "fuzz.h"

enum { CLASSES = 3 };

/* A run as small as one can be. */
typedef struct small_run {
    szg_train_config config;
    szg_model *model;
    void *moment1, *moment2;
    run_identity identity;
} small_run;

static small_run *open_run(void) {
    static const char *const keys[] = {
        "model.vocabulary=8", "model.width=2",      "model.hidden=2",      "model.layers=1",
        "model.heads=1",      "model.max_length=8", "model.encoding=nope", "data.task=distance",
        "data.between_max=2", "data.side_max=1",    "data.longest=6"};
    static small_run run;
    szg_context *context = fuzz_context();
    if (run.model)
        return &run;
    FUZZ_PROMISE(szg_train_config_read(context, NULL, keys, sizeof keys / sizeof *keys,
                                       &run.config) == SZG_OK);
    FUZZ_PROMISE(szgi_model_open(context, &run.config, CLASSES, &run.model) == SZG_OK);
    int64_t bytes = szgi_model_count(run.model) * szgi_network_real_size(context);
    FUZZ_PROMISE(szgi_device_alloc(context, bytes, &run.moment1) == SZG_OK);
    FUZZ_PROMISE(szgi_device_alloc(context, bytes, &run.moment2) == SZG_OK);
    run.identity = (run_identity){
        .config = &run.config, .backend = "cpu", .seed = 1, .data = 2, .classes = CLASSES};
    return &run;
}

static szg_status load(const small_run *run, const char *path, run_progress *out) {
    return szgi_state_load(fuzz_context(), path, run->model, run->moment1, run->moment2,
                           &run->identity, out);
}

static szgi_contents save(const small_run *run, const char *path, const run_progress *progress) {
    szgi_contents contents;
    FUZZ_PROMISE(szgi_state_save(fuzz_context(), path, run->model, run->moment1, run->moment2,
                                 &run->identity, progress) == SZG_OK);
    FUZZ_PROMISE(szgi_contents_open(fuzz_context(), path, &contents) == SZG_OK);
    return contents;
}

/* The numbers are those of the file. */
static void check_numbers(const char *path, const run_progress *progress) {
    szg_context *context = fuzz_context();
    szgi_safetensors *file;
    szgi_json *json;
    int64_t step, check;
    FUZZ_PROMISE(szgi_safetensors_open(context, path, &file) == SZG_OK);
    const char *text = szgi_safetensors_metadata(file, "progress");
    FUZZ_PROMISE(szgi_json_parse(context, "progress", text, (int64_t)strlen(text), &json) ==
                 SZG_OK);
    szgi_json_value root = szgi_json_root(json);
    FUZZ_PROMISE(szgi_json_as_integer(context, szgi_json_member(root, "step"), &step) == SZG_OK);
    FUZZ_PROMISE(szgi_json_as_integer(context, szgi_json_member(root, "timing_crc32"), &check) ==
                 SZG_OK);
    FUZZ_PROMISE(step == progress->step && check == progress->log[LOG_TIMING].check);
    szgi_json_close(&json);
    szgi_safetensors_close(&file);
}

static void check_again(const small_run *run, const run_progress *progress) {
    run_progress again;
    FUZZ_PROMISE(progress->step >= 0 && progress->epochs >= 0 && progress->tally.counted >= 0);
    for (int i = 0; i < LOGS; i++)
        FUZZ_PROMISE(progress->log[i].bytes >= 0);
    const char *path = fuzz_file("again.safetensors", "", 0);
    szgi_contents first = save(run, path, progress);
    FUZZ_PROMISE(load(run, path, &again) == SZG_OK);
    szgi_contents second = save(run, fuzz_file("third.safetensors", "", 0), &again);
    FUZZ_PROMISE(first.size == second.size &&
                 memcmp(first.data, second.data, (size_t)first.size) == 0);
    szgi_contents_close(&first);
    szgi_contents_close(&second);
}

static bool try_load(const small_run *run, const uint8_t *data, size_t size) {
    run_progress progress;
    const char *path = fuzz_file("state.safetensors", data, size);
    szg_status status = load(run, path, &progress);
    if (status == SZG_OK) {
        check_numbers(path, &progress);
        check_again(run, &progress);
    } else {
        FUZZ_REFUSED(status, path);
    }
    return status == SZG_OK;
}

/* Puts the checksum that the latest refusal computed in the place of the one that it found. */
static bool seal(uint8_t *data, size_t size) {
    char right[9], found[9];
    const char *at =
        strstr(szg_context_message(fuzz_context()), "the checksum of its contents is ");
    if (!at ||
        sscanf(at, "the checksum of its contents is %8s, it names %8[^:]", right, found) != 2)
        return false;
    uint8_t *place = strlen(found) == 8 ? memmem(data, size, found, 8) : NULL;
    if (place)
        memcpy(place, right, 8);
    return place != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    small_run *run = open_run();
    uint8_t *copy = malloc(size + 1);
    FUZZ_PROMISE(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    if (!try_load(run, copy, size) && seal(copy, size))
        try_load(run, copy, size);
    free(copy);
    fuzz_clean();
    return 0;
}
