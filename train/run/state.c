/* The state file of a run: everything that going on needs, in one file that appears by one
 * renaming. It holds the parameters beside the moments, so that no kill can part the two: a
 * checkpoint.safetensors that is older than its state is written again from it. */
#include <inttypes.h>
#include <string.h>

#include "linalg/ops.h"
#include "plugin/backend.h"
#include "base/memory.h"
#include "arena_file.h"
#include "train/config/config_private.h"
#include "run_private.h"

enum { KERNELS_TEXT = 512 };

static const struct {
    const char *bytes, *check;
} log_keys[LOGS] = {{"metrics_bytes", "metrics_crc32"},
                    {"timing_bytes", "timing_crc32"},
                    {"contraction_bytes", "contraction_crc32"},
                    {"contraction_values_bytes", "contraction_values_crc32"},
                    {"contraction_symbols_bytes", "contraction_symbols_crc32"},
                    {"curvature_bytes", "curvature_crc32"}};

/* FNV-1a (Fowler, Noll, Vo), 64 bits, over the bytes of integers. */
static uint64_t add_bytes(uint64_t digest, const void *data, int64_t bytes) {
    const unsigned char *at = data;
    for (int64_t i = 0; i < bytes; i++)
        digest = (digest ^ at[i]) * 0x100000001b3U;
    return digest;
}

static uint64_t add_examples(uint64_t digest, const szg_examples *examples) {
    digest = add_bytes(digest, &examples->count, sizeof examples->count);
    if (examples->count == 0)
        return digest;
    digest = add_bytes(digest, examples->start,
                       (examples->count + 1) * (int64_t)sizeof *examples->start);
    digest = add_bytes(digest, examples->tokens,
                       examples->start[examples->count] * (int64_t)sizeof *examples->tokens);
    return add_bytes(digest, examples->label, examples->count * (int64_t)sizeof *examples->label);
}

uint64_t szgi_dataset_digest(const szg_dataset *data) {
    return add_examples(add_examples(0xcbf29ce484222325U, &data->train), &data->test);
}

/* What the last bits hang on besides backend and build: other instructions, other orders of
 * summation. */
static const char *kernels_of(const run_identity *identity, char text[KERNELS_TEXT]) {
    bool cpu = strcmp(identity->backend, szgi_ops_cpu()->name) == 0;
    snprintf(text, KERNELS_TEXT, cpu ? "%s, %s" : "", szg_backend_simd(), szg_backend_blas());
    return text;
}

/* ---- Writing ---- */

static szg_status add_progress(szg_context *context, szgi_json *json, const run_identity *identity,
                               const run_progress *progress) {
    char kernels[KERNELS_TEXT];
    SZG_TRY(szgi_json_add_text(context, json, "backend", identity->backend));
    SZG_TRY(szgi_json_add_text(context, json, "kernels", kernels_of(identity, kernels)));
    /* As signed numbers: JSON has no others. */
    SZG_TRY(szgi_json_add_integer(context, json, "seed", (int64_t)identity->seed));
    SZG_TRY(szgi_json_add_integer(context, json, "data", (int64_t)identity->data));
    SZG_TRY(szgi_json_add_integer(context, json, "classes", identity->classes));
    SZG_TRY(szgi_json_add_integer(context, json, "step", progress->step));
    SZG_TRY(szgi_json_add_integer(context, json, "epochs", progress->epochs));
    SZG_TRY(szgi_json_add_hex(context, json, "loss", progress->tally.loss));
    SZG_TRY(szgi_json_add_integer(context, json, "counted", progress->tally.counted));
    SZG_TRY(szgi_json_add_integer(context, json, "correct", progress->tally.correct));
    for (int i = 0; i < LOGS; i++) {
        const log_mark *mark = &progress->log[i];
        SZG_TRY(szgi_json_add_integer(context, json, log_keys[i].bytes, mark->bytes));
        SZG_TRY(szgi_json_add_integer(context, json, log_keys[i].check, mark->check));
    }
    return SZG_OK;
}

static szg_status progress_text(szg_context *context, const run_identity *identity,
                                const run_progress *progress, char **out) {
    szgi_json *json;
    SZG_TRY(szgi_json_open_object(context, &json));
    szg_status status = add_progress(context, json, identity, progress);
    if (status == SZG_OK)
        status = szgi_json_text(context, szgi_json_root(json), 0, out);
    szgi_json_close(&json);
    return status;
}

/* The arenas of a state file. */
#define STATE_PARTS(model, moment1, moment2)                                                       \
    {                                                                                              \
        {"weight/", szgi_model_arena(model)}, {"moment1/", (moment1)}, {                           \
            "moment2/", (moment2)                                                                  \
        }                                                                                          \
    }

szg_status szgi_state_save(szg_context *context, const char *path, const szg_model *model,
                           void *moment1, void *moment2, const run_identity *identity,
                           const run_progress *progress) {
    char *config = NULL, *text = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_train_config_text(context, identity->config, 0, &config), done);
    SZG_TRY_GOTO(status, progress_text(context, identity, progress, &text), done);
    const char *metadata[] = {"config", config, "progress", text};
    const arena_part parts[] = STATE_PARTS(model, moment1, moment2);
    status = szgi_arena_write(context, model, path, parts, 3, metadata, 2, true);
done:
    szgi_memory_free(text);
    szgi_memory_free(config);
    return status;
}

/* ---- Reading ---- */

/* Keys that say when to stop and when to save: a resumed run may have others. */
static bool may_differ(const char *key) {
    return strcmp(key, "loop.limit_steps") == 0 || strcmp(key, "loop.checkpoint_every") == 0;
}

/* Adds "key (VALUE, now VALUE)" to the list of what differs. */
static void add_difference(char *list, size_t size, const char *key, const char *was,
                           const char *now) {
    size_t at = strlen(list);
    snprintf(list + at, size - at, "%s%s (%.40s, now %.40s)", at > 0 ? ", " : "", key,
             *was ? was : "none", *now ? now : "none");
}

static void compare_settings(const szg_train_config *was, const szg_train_config *now, char *list,
                             size_t size) {
    char was_text[SZG_CONFIG_TEXT], now_text[SZG_CONFIG_TEXT];
    const config_row *row;
    for (int64_t i = 0; (row = szgi_config_row_at(i)); i++) {
        const char *a = szgi_config_text(row, was, was_text),
                   *b = szgi_config_text(row, now, now_text);
        if (strcmp(a, b) != 0 && !may_differ(row->key.name))
            add_difference(list, size, row->key.name, a, b);
    }
}

static void compare_numbers(const char *key, uint64_t was, uint64_t now, char *list, size_t size) {
    char was_text[24], now_text[24];
    snprintf(was_text, sizeof was_text, "%" PRIu64, was);
    snprintf(now_text, sizeof now_text, "%" PRIu64, now);
    if (was != now)
        add_difference(list, size, key, was_text, now_text);
}

static szg_status compare(szg_context *context, const szgi_safetensors *file,
                          szgi_json_value stored, const run_identity *identity) {
    char list[1024] = "";
    int64_t seed, data, classes;
    const char *backend, *text = szgi_safetensors_metadata(file, "config");
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(stored, "seed"), &seed));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(stored, "data"), &data));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(stored, "classes"), &classes));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(stored, "backend"), &backend));
    szg_train_config *config;
    SZG_TRY(szgi_memory_alloc(context, 1, &config));
    szg_status status = szgi_train_config_parse(context, "configuration", text, config);
    if (status == SZG_OK)
        compare_settings(config, identity->config, list, sizeof list);
    szgi_memory_free(config);
    SZG_TRY(status);
    compare_numbers("seed", (uint64_t)seed, identity->seed, list, sizeof list);
    if (!*list) /* other settings make other data: the cause says more than its effect */
        compare_numbers("the examples' digest", (uint64_t)data, identity->data, list, sizeof list);
    if (strcmp(backend, identity->backend) != 0)
        add_difference(list, sizeof list, "backend", backend, identity->backend);
    if (!*list)
        compare_numbers("classes", (uint64_t)classes, (uint64_t)identity->classes, list,
                        sizeof list);
    if (*list)
        return szgi_fail(context, SZG_EDATA,
                         "the run to be continued differs in %s: resume it as it began, or train "
                         "in another folder",
                         list);
    return SZG_OK;
}

/* Resuming on another machine is no mistake, but it ends the promise of equal bits. */
static szg_status compare_kernels(szg_context *context, szgi_json_value stored,
                                  const run_identity *identity) {
    char now[KERNELS_TEXT];
    const char *was;
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(stored, "kernels"), &was));
    if (strcmp(was, kernels_of(identity, now)) != 0)
        szgi_say(context, SZG_WARNING,
                 "the run continues with other instructions (%s, now %s): its last bits may differ "
                 "from those of a run that was never stopped",
                 was, now);
    return SZG_OK;
}

static szg_status as_count(szg_context *context, szgi_json_value object, const char *key,
                           int64_t *out) {
    szgi_json_value value = szgi_json_member(object, key);
    SZG_TRY(szgi_json_as_integer(context, value, out));
    return *out >= 0 ? SZG_OK : szgi_json_fail(context, value, "is negative");
}

static szg_status read_progress(szg_context *context, szgi_json_value stored, run_progress *out) {
    SZG_TRY(as_count(context, stored, "step", &out->step));
    SZG_TRY(as_count(context, stored, "epochs", &out->epochs));
    SZG_TRY(szgi_json_as_hex(context, szgi_json_member(stored, "loss"), &out->tally.loss));
    SZG_TRY(as_count(context, stored, "counted", &out->tally.counted));
    SZG_TRY(as_count(context, stored, "correct", &out->tally.correct));
    for (int i = 0; i < LOGS; i++) {
        int64_t check;
        SZG_TRY(as_count(context, stored, log_keys[i].bytes, &out->log[i].bytes));
        SZG_TRY(as_count(context, stored, log_keys[i].check, &check));
        if (check > UINT32_MAX)
            return szgi_json_fail(context, szgi_json_member(stored, log_keys[i].check),
                                  "is more than the 32 bits of a checksum");
        out->log[i].check = (uint32_t)check;
    }
    return SZG_OK;
}

static szg_status load(szg_context *context, const szgi_safetensors *file, szg_model *model,
                       void *moment1, void *moment2, const run_identity *identity,
                       run_progress *out) {
    const char *text = szgi_safetensors_metadata(file, "progress");
    if (!text || !szgi_safetensors_metadata(file, "config"))
        return szgi_fail(context, SZG_EDATA, "is not a state that szego train wrote");
    static const char *const checked[] = {"config", "progress"};
    szgi_json *json;
    SZG_TRY(szgi_arena_check(context, file, checked, 2));
    SZG_TRY(szgi_json_parse(context, "progress", text, (int64_t)strlen(text), &json));
    szg_status status = compare(context, file, szgi_json_root(json), identity);
    if (status == SZG_OK)
        status = compare_kernels(context, szgi_json_root(json), identity);
    if (status == SZG_OK)
        status = read_progress(context, szgi_json_root(json), out);
    szgi_json_close(&json);
    SZG_TRY(status);
    const arena_part parts[] = STATE_PARTS(model, moment1, moment2);
    return szgi_arena_read(context, model, file, parts, 3);
}

szg_status szgi_state_load(szg_context *context, const char *path, szg_model *model, void *moment1,
                           void *moment2, const run_identity *identity, run_progress *out) {
    szgi_safetensors *file;
    szg_status status = szgi_safetensors_open(context, path, &file);
    if (status == SZG_EDATA)
        return szgi_fail(
            context, status,
            "%s: is truncated or damaged, so the run cannot continue: train anew in another folder",
            path);
    SZG_TRY(status);
    status = load(context, file, model, moment1, moment2, identity, out);
    if (status == SZG_OK)
        status = szgi_safetensors_check(context, file);
    szgi_safetensors_close(&file);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "%s", path);
}
