/* `szego train`: a decoder on one of the paper's tasks, one run per seed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/examples.h"
#include "formats/result.h"
#include "train/run/train.h"
#include <szego/tasks.h>

#include "command.h"

typedef struct train_options {
    const char *config, *export_path;
    text_list overrides; /* of szgi_memory_alloc */
    integer_list seeds;
    bool dump, resume;
    szg_train_config settings;
} train_options;

static void add_override(text_list *overrides, struct argp_state *state, const char *key,
                         const char *value, size_t length) {
    size_t size = strlen(key) + length + 2;
    char *text;
    if (szgi_memory_alloc(NULL, (int64_t)size, &text) != SZG_OK)
        argp_failure(state, EXIT_INTERNAL, 0, "out of memory");
    snprintf(text, size, "%s%s%.*s", key, *key ? "=" : "", (int)length, value);
    parse_text(state, text, overrides);
}

/* The row's key has the value; without one the text is KEY=VALUE. */
static void set_key(const command_option *row, void *field, const char *text,
                    struct argp_state *state) {
    if (!row->key && !strchr(text, '='))
        argp_error(state, "--set: '%s' is not KEY=VALUE", SHOWN(text));
    add_override(field, state, row->key ? row->key : "", text, strlen(text));
}

/* Digits and no key: one more member of the list before the comma. */
static bool is_member(const char *text) {
    size_t length = strcspn(text, ",");
    return length > 0 && strspn(text, "0123456789-+") >= length;
}

/* every=50,layers=0+1: one key of the section `capture` a comma. */
static void parse_capture(const command_option *row, void *field, const char *text,
                          struct argp_state *state) {
    (void)row;
    char key[64];
    bool every = false;
    for (const char *at = text; *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ","), name = strcspn(at, "=");
        while (at[length] && is_member(at + length + 1)) /* layers=0,1 */
            length += 1 + strcspn(at + length + 1, ",");
        if (name == 0 || name >= length || name > 32)
            argp_error(state, "--capture: '%s' is not KEY=VALUE,...", SHOWN(text));
        every = every || strncmp(at, "every=", 6) == 0;
        snprintf(key, sizeof key, "capture.%.*s", (int)name, at);
        add_override(field, state, key, at + name + 1, length - name - 1);
        at += length;
    }
    if (!every)
        argp_error(state, "--capture: every=K is missing: the steps between captures");
}

static const command_option options[] = {
    OPTION_BY(set_key, train_options, overrides, "profile", "P",
              "text (the paper as written, default) or released (its code)", .key = "profile",
              .words = "text|released"),
    OPTION_BY(set_key, train_options, overrides, "encoding", "SPEC",
              "positional encoding (model.encoding)", .key = "model.encoding",
              .list = &words_encodings),
    OPTION_BY(set_key, train_options, overrides, "task", "TASK",
              "distance (default) or count (data.task)", .key = "data.task",
              .words = "distance|count"),
    OPTION_BY(set_key, train_options, overrides, "set", "KEY=VALUE",
              "set one key of the configuration, such as model.width=64; may be given several "
              "times",
              .list = &words_keys),
    OPTION_BY(set_key, train_options, overrides, "epochs", "N", "loop.epochs",
              .key = "loop.epochs"),
    OPTION_BY(set_key, train_options, overrides, "batch", "N", "loop.batch", .key = "loop.batch"),
    OPTION_BY(set_key, train_options, overrides, "limit-steps", "N",
              "stop after N steps; the schedule is still that of all epochs (loop.limit_steps)",
              .key = "loop.limit_steps"),
    OPTION_BY(set_key, train_options, overrides, "learning-rate", "X", "loop.learning_rate",
              .key = "loop.learning_rate"),
    OPTION(train_options, seeds, "seeds", "S,...",
           "one run per seed (default: --seed), then mean and spread", .most = INT64_MAX),
    OPTION_BY(set_key, train_options, overrides, "data", "FILE",
              "JSONL file of examples instead of the task (data.train_file)",
              .key = "data.train_file"),
    OPTION_BY(set_key, train_options, overrides, "test-data", "FILE",
              "JSONL file of the test split (data.test_file; default: a part of --data)",
              .key = "data.test_file"),
    OPTION(train_options, export_path, "export-data", "PATH",
           "write the examples as JSONL: train.jsonl and test.jsonl in DIR/, or both in one file; "
           "without -o nothing is trained"),
    OPTION_BY(parse_capture, train_options, overrides, "capture", "KEY=VALUE,...",
              "report the attention logits while training: every=K (steps), layers=LIST, "
              "heads=LIST, probes=P (sequences), spectra=true (whole spectra and symbols too); "
              "lists as 0-3+5 or all"),
    OPTION(train_options, dump, "dump", NULL, "keep the captured logits too, in RUN/logits/"),
    OPTION(train_options, resume, "resume", NULL, "continue the runs in -o DIR/"),
    OPTION(train_options, config, NULL, "[CONFIG.json]", "only one CONFIG.json is accepted"),
    {0}};

static void check(command_call *call, struct argp_state *state) {
    train_options *own = call->own;
    if (own->dump)
        add_override(&own->overrides, state, "capture.dump", "true", 4);
    if (!call->shared.output && !own->export_path)
        argp_error(state, "-o DIR/ is missing: a training needs a folder for its runs");
    if (call->shared.output && !*call->shared.output)
        argp_error(state, "-o: the folder has no name");
}

static void release(command_call *call) {
    train_options *own = call->own;
    for (int64_t i = 0; i < own->overrides.count; i++)
        szgi_memory_free((void *)own->overrides.value[i]);
    szgi_memory_free(own->overrides.value);
}

/* ---- --export-data ---- */

static szg_status export_file(command_call *call, const szg_dataset *data, const char *path) {
    szg_examples both = {0};
    szg_status status = szg_examples_append(call->context, &both, &data->train);
    if (status == SZG_OK)
        status = szg_examples_append(call->context, &both, &data->test);
    if (status == SZG_OK)
        status = szg_examples_write(call->context, &both, NULL, both.count, path);
    szg_examples_close(&both);
    return status;
}

static szg_status export_folder(command_call *call, const szg_dataset *data, const char *folder) {
    char path[4096];
    SZG_TRY(szgi_folder_create(call->context, folder));
    if (snprintf(path, sizeof path, "%s/train.jsonl", folder) >= (int)sizeof path)
        return szgi_fail(call->context, SZG_EINVAL, "--export-data: the path is too long");
    SZG_TRY(szg_examples_write(call->context, &data->train, NULL, data->train.count, path));
    snprintf(path, sizeof path, "%s/test.jsonl", folder);
    return szg_examples_write(call->context, &data->test, NULL, data->test.count, path);
}

static szg_status export_data(command_call *call, const szg_dataset *data) {
    const char *path = ((const train_options *)call->own)->export_path;
    if (!path)
        return SZG_OK;
    SZG_TRY(szgi_path_is_folder(path) ? export_folder(call, data, path)
                                      : export_file(call, data, path));
    szgi_say(call->context, SZG_NOTE, "wrote %" PRId64 " and %" PRId64 " examples to %s",
             data->train.count, data->test.count, path);
    return SZG_OK;
}

/* ---- Runs ---- */

static void say_result(command_call *call, const szg_train_options *run,
                       const szg_train_result *result, const szg_label_ceiling *ceiling) {
    char limit[64] = "";
    if (ceiling)
        snprintf(limit, sizeof limit, " (label ceiling %.4f)", ceiling->accuracy);
    char rate[64] = "it was finished before";
    if (result->seconds > 0)
        snprintf(rate, sizeof rate, "%.0f tokens/s", result->tokens_per_second);
    szgi_say(call->context, SZG_NOTE, "%s: %" PRId64 " steps, test accuracy %.4f%s, loss %.4f; %s",
             run->folder, result->steps, result->test_accuracy, limit, result->test_loss, rate);
    if (result->capture_seconds > 0)
        szgi_say(call->context, SZG_NOTE, "%s: capture took %.2f s, %.1f%% of the training time",
                 run->folder, result->capture_seconds,
                 100 * result->capture_seconds / result->seconds);
}

/* The run's own folder gets a manifest: its logs as tables. */
static szg_status write_manifest(command_call *call, const char *folder) {
    szg_train_tables tables;
    SZG_TRY(szg_train_tables_read(call->context, folder, &tables));
    szg_table **const list[] = {&tables.metrics, &tables.timing,  &tables.contraction,
                                &tables.values,  &tables.symbols, &tables.curvature};
    szg_status status = output_tables_to(call, folder, sizeof list / sizeof *list, list);
    szg_train_tables_close(&tables);
    return status;
}

/* A folder with nothing to resume is a new run: right for a campaign, a surprise after a typing
 * error. */
static void say_new(command_call *call, const char *folder) {
    char state[4200];
    snprintf(state, sizeof state, "%scheckpoint.state.safetensors", folder);
    if (access(state, F_OK) != 0)
        szgi_say(call->context, SZG_NOTE, "%s holds no run to continue: a new one begins", folder);
}

static szg_status run_seed(command_call *call, const szg_dataset *data,
                           const szg_label_ceiling *ceiling, uint64_t seed, szg_table *table) {
    const train_options *own = call->own;
    char folder[4096];
    const char *output = call->shared.output;
    const char *slash = output[strlen(output) - 1] == '/' ? "" : "/";
    if (snprintf(folder, sizeof folder, "%s%srun-%" PRIu64 "/", output, slash, seed) >=
        (int)sizeof folder)
        return szgi_fail(call->context, SZG_EINVAL, "-o: the path is too long");
    szg_train_options run = {SZG_INIT(szg_train_options),
                             .config = call->config,
                             .data = data,
                             .seed = seed,
                             .folder = folder,
                             .resume = own->resume};
    szg_train_result result;
    if (own->resume)
        say_new(call, folder);
    SZG_TRY(szg_train_run(call->context, &run, &result));
    SZG_TRY(write_manifest(call, folder));
    say_result(call, &run, &result, ceiling);
    return szg_train_runs_add(call->context, table, &run, &result, ceiling);
}

static szg_status run_seeds(command_call *call, const szg_dataset *data,
                            const szg_label_ceiling *ceiling, szg_table *table) {
    const train_options *own = call->own;
    if (own->seeds.count == 0)
        return run_seed(call, data, ceiling, call->shared.seed, table);
    for (int64_t i = 0; i < own->seeds.count; i++)
        SZG_TRY(run_seed(call, data, ceiling, (uint64_t)own->seeds.value[i], table));
    return szg_train_runs_spread(call->context, table);
}

/* Files have no ceiling that is known. */
static szg_status find_ceiling(command_call *call, szg_label_ceiling *out, bool *known) {
    *known = !*call->config->data.train_file;
    return *known ? szg_task_label_ceiling(call->context, call->config, out) : SZG_OK;
}

static szg_status train(command_call *call, const szg_dataset *data) {
    szg_label_ceiling ceiling;
    bool known;
    szg_table *table;
    SZG_TRY(export_data(call, data));
    if (!call->shared.output)
        return SZG_OK;
    SZG_TRY(find_ceiling(call, &ceiling, &known));
    SZG_TRY(szg_train_runs_open(call->context, &table));
    szg_status status = run_seeds(call, data, known ? &ceiling : NULL, table);
    if (status == SZG_OK) {
        szg_table **const list[] = {&table};
        status = output_tables_to(call, call->shared.output, 1, list);
    }
    if (status == SZG_OK)
        szgi_say(call->context, SZG_NOTE, "wrote %s", call->shared.output);
    szg_table_close(&table);
    return status;
}

static bool is_one_file(const char *path) {
    szgi_result_form form = szgi_result_form_of(path);
    return form != SZGI_RESULT_FOLDER && form != SZGI_RESULT_UNKNOWN;
}

static szg_status check_options(command_call *call) {
    const train_options *own = call->own;
    const char *output = call->shared.output;
    if (output && is_one_file(output))
        return szgi_fail(call->context, SZG_EINVAL,
                         "-o %s: a training writes a folder: end it in /", output);
    if (own->dump && call->config->capture.every == 0)
        return szgi_fail(call->context, SZG_EINVAL, "--dump keeps captured logits: add --capture");
    for (int64_t i = 0; i < own->seeds.count; i++)
        for (int64_t j = 0; j < i; j++)
            if (own->seeds.value[i] == own->seeds.value[j])
                return szgi_fail(call->context, SZG_EINVAL, "--seeds: %" PRId64 " is there twice",
                                 own->seeds.value[i]);
    return output ? szgi_folder_create(call->context, output) : SZG_OK;
}

static szg_status run(command_call *call) {
    train_options *own = call->own;
    szg_dataset data;
    SZG_TRY(szg_train_config_read(call->context, own->config, own->overrides.value,
                                  own->overrides.count, &own->settings));
    call->config = &own->settings;
    SZG_TRY(check_options(call));
    SZG_TRY(szg_dataset_open(call->context, call->config, &data));
    szg_status status = train(call, &data);
    szg_dataset_close(&data);
    return status;
}

static const command_example examples[] = {
    {"szego train --encoding rope --task count -o runs/",
     "The paper's decoder on trigger count, one run."},
    {"szego train --encoding mla --seeds 1,2 --capture every=100 -o seeds/",
     "Two runs that report their attention logits."},
    {"szego train --task count --export-data data/", "Only the examples, as JSONL."},
    {0}};

const command command_train = {
    .name = "train",
    .summary = "a decoder on the paper's tasks, with checkpoints and logs",
    .doc = "Trains the paper's decoder with a positional encoding on trigger distance or trigger "
           "count (or on examples of a file). Each seed is a run in DIR/run-SEED/: metrics.csv, "
           "timing.csv, config.json, checkpoint.safetensors. Ctrl-C saves; --resume continues, "
           "also after a kill, with the same numbers. An intervention trains one head differently: "
           "--set intervention.kind=rotation leaves its queries and keys unrotated, =gradient "
           "does not train its own parameters; intervention.layer and .head name it, .from is the "
           "share of all steps after which it begins.",
    .options = options,
    .own_size = sizeof(train_options),
    .check = check,
    .run = run,
    .release = release,
    .examples = examples,
    .topics = "specs",
};
