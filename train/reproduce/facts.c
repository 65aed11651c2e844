/* What is in the folder of a run that finished or failed, and what is known of its data. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "formats/json.h"
#include "base/memory.h"

#include "reproduce_private.h"

/* ---- Data ---- */

/* Examples by length and label, [lengths][classes]; the last row counts all lengths. */
typedef struct label_counts {
    int64_t lengths, classes;
    int64_t *count;
} label_counts;

static szg_status count_labels(szg_context *context, const szg_dataset *data, label_counts *out) {
    const szg_examples *train = &data->train;
    int64_t numbers;
    out->lengths = 1 + (train->longest > data->test.longest ? train->longest : data->test.longest);
    out->classes = data->classes;
    SZG_TRY(szgi_memory_product(context, out->lengths + 1, out->classes, &numbers));
    SZG_TRY(szgi_memory_alloc(context, numbers, &out->count));
    for (int64_t e = 0; e < train->count; e++) {
        int64_t length = train->start[e + 1] - train->start[e];
        out->count[length * out->classes + train->label[e]]++;
        out->count[out->lengths * out->classes + train->label[e]]++;
    }
    return SZG_OK;
}

/* The commonest label of a row, the first of equals; -1: the row is empty. */
static int32_t commonest(const label_counts *counts, int64_t row) {
    int32_t best = -1;
    int64_t most = 0;
    for (int64_t label = 0; label < counts->classes; label++)
        if (counts->count[row * counts->classes + label] > most) {
            most = counts->count[row * counts->classes + label];
            best = (int32_t)label;
        }
    return best;
}

static szg_status guess(szg_context *context, const szg_dataset *data, data_facts *out) {
    label_counts counts;
    SZG_TRY(count_labels(context, data, &counts));
    const szg_examples *test = &data->test;
    int64_t right = 0, right_by_length = 0;
    int32_t always = commonest(&counts, counts.lengths);
    for (int64_t e = 0; e < test->count; e++) {
        int32_t own = commonest(&counts, test->start[e + 1] - test->start[e]);
        right += test->label[e] == always;
        right_by_length += test->label[e] == (own < 0 ? always : own);
    }
    out->majority = (double)right / (double)test->count;
    out->by_length = (double)right_by_length / (double)test->count;
    szgi_memory_free(counts.count);
    return SZG_OK;
}

szg_status szgi_facts_of_data(szg_context *context, const szg_train_config *config,
                              const szg_dataset *data, data_facts *out) {
    szg_label_ceiling ceiling;
    out->train_examples = data->train.count;
    out->test_examples = data->test.count;
    out->train_tokens = data->train.count ? data->train.start[data->train.count] : 0;
    out->test_tokens = data->test.count ? data->test.start[data->test.count] : 0;
    out->ceiling = out->ceiling_error = NAN;
    szg_status status = szg_task_label_ceiling(context, config, &ceiling);
    if (status != SZG_OK && status != SZG_EDOMAIN)
        return status;
    if (status == SZG_OK) {
        out->ceiling = ceiling.accuracy;
        out->ceiling_error = ceiling.error;
    }
    return guess(context, data, out);
}

/* ---- finished.json ---- */

/* Least and largest value; a real may be unknown (null) where `unknown` says so. */
typedef struct fact {
    const char *name;
    size_t offset;
    bool real, unknown;
    double least, most;
    const char *range;
} fact;

#define COUNT_FACT(name, field, least)                                                             \
    { name, offsetof(run_facts, field), false, false, least, 0x1p63, "an integer from " #least }
#define OPERATIONS_FACT(name, field)                                                               \
    { name, offsetof(run_facts, field), true, false, DBL_MIN, DBL_MAX, "positive and finite" }
#define SHARE_FACT(name, field)                                                                    \
    { name, offsetof(run_facts, field), true, true, 0, 1, "in 0 .. 1, or null" }
#define LOSS_FACT(name, field)                                                                     \
    { name, offsetof(run_facts, field), true, true, 0, DBL_MAX, "0 or more and finite, or null" }

static const fact facts[] = {
    COUNT_FACT("parameters", parameters, 1),
    COUNT_FACT("steps", steps, 0),
    COUNT_FACT("epochs", epochs, 0),
    COUNT_FACT("train_examples", data.train_examples, 0),
    COUNT_FACT("test_examples", data.test_examples, 0),
    COUNT_FACT("train_tokens", data.train_tokens, 0),
    COUNT_FACT("test_tokens", data.test_tokens, 0),
    OPERATIONS_FACT("forward", forward),
    OPERATIONS_FACT("training", training),
    LOSS_FACT("train_loss", train_loss),
    SHARE_FACT("train_accuracy", train_accuracy),
    LOSS_FACT("test_loss", test_loss),
    SHARE_FACT("test_accuracy", test_accuracy),
    SHARE_FACT("best_accuracy", best_accuracy),
    SHARE_FACT("whole", whole),
    SHARE_FACT("ceiling", data.ceiling),
    SHARE_FACT("ceiling_error", data.ceiling_error),
    SHARE_FACT("majority", data.majority),
    SHARE_FACT("by_length", data.by_length),
};
enum { FACTS = sizeof facts / sizeof *facts };

/* What finished the run. */
static const struct {
    const char *name;
    size_t offset, size;
} origins[] = {
    {"version", offsetof(run_facts, version), sizeof(((run_facts *)0)->version)},
    {"commit", offsetof(run_facts, commit), sizeof(((run_facts *)0)->commit)},
    {"backend", offsetof(run_facts, backend), sizeof(((run_facts *)0)->backend)},
    {"device", offsetof(run_facts, device), sizeof(((run_facts *)0)->device)},
};
enum { ORIGINS = sizeof origins / sizeof *origins };

/* What its file says of a run. */
typedef szg_status add_facts_fn(szg_context *context, const reproduction_run *run, szgi_json *json);

static szg_status add_finished(szg_context *context, const reproduction_run *run, szgi_json *json) {
    for (int i = 0; i < FACTS; i++) {
        const void *field = (const char *)&run->facts + facts[i].offset;
        SZG_TRY(facts[i].real
                    ? szgi_json_add_real(context, json, facts[i].name, *(const double *)field)
                    : szgi_json_add_integer(context, json, facts[i].name, *(const int64_t *)field));
    }
    return SZG_OK;
}

/* Which run it is, what its file says, and which program with which configuration says so. */
static szg_status add_facts(szg_context *context, const reproduction_run *run, add_facts_fn *add,
                            szgi_json *json) {
    szgi_json *config;
    SZG_TRY(szgi_json_add_integer(context, json, "seed", (int64_t)run->shown.seed));
    SZG_TRY(add(context, run, json));
    for (int i = 0; i < ORIGINS; i++)
        SZG_TRY(szgi_json_add_text(context, json, origins[i].name,
                                   (const char *)&run->facts + origins[i].offset));
    SZG_TRY(szgi_train_config_json(context, run->config, &config));
    return szgi_json_add(context, json, "config", &config);
}

static szg_status write_facts(szg_context *context, const reproduction_run *run, const char *name,
                              add_facts_fn *add) {
    szgi_json *json = NULL;
    char *path;
    SZG_TRY(szgi_path_join(context, run->folder, name, &path));
    szg_status status = szgi_json_open_object(context, &json);
    if (status == SZG_OK)
        status = add_facts(context, run, add, json);
    if (status == SZG_OK)
        status = szgi_json_write(context, json, path);
    szgi_json_close(&json);
    szgi_memory_free(path);
    return status;
}

szg_status szgi_facts_write(szg_context *context, const reproduction_run *run) {
    return write_facts(context, run, "finished.json", add_finished);
}

/* A recorded configuration as this program writes it: keys that are younger have their defaults. */
static szg_status complete_config(szg_context *context, szgi_json_value config, char **out) {
    szg_train_config complete;
    char *text;
    SZG_TRY(szgi_json_text(context, config, 0, &text));
    szg_status status = szgi_train_config_parse(context, "config", text, &complete);
    szgi_memory_free(text);
    return status == SZG_OK ? szgi_train_config_text(context, &complete, 0, out) : status;
}

szg_status szgi_facts_compare_config(szg_context *context, const reproduction_run *run,
                                     szgi_json_value config) {
    char *wanted = NULL, *found = NULL;
    SZG_TRY(szgi_json_as_object(context, config));
    szg_status status = szgi_train_config_text(context, run->config, 0, &wanted);
    if (status == SZG_OK)
        status = complete_config(context, config, &found);
    if (status == SZG_OK && strcmp(wanted, found) != 0)
        status = szgi_json_fail(context, config,
                                "the run was finished with another configuration: choose another "
                                "folder, or remove this run's");
    szgi_memory_free(wanted);
    szgi_memory_free(found);
    return status;
}

static szg_status take_origin(szg_context *context, szgi_json_value root, reproduction_run *run) {
    for (int i = 0; i < ORIGINS; i++) {
        const char *text;
        szgi_json_value value = szgi_json_member(root, origins[i].name);
        SZG_TRY(szgi_json_as_text(context, value, &text));
        if (strlen(text) >= origins[i].size) /* a cut could fall into a character */
            return szgi_json_fail(context, value, "has more than %zu bytes", origins[i].size - 1);
        snprintf((char *)&run->facts + origins[i].offset, origins[i].size, "%s", text);
    }
    return SZG_OK;
}

static szg_status take_fact(szg_context *context, szgi_json_value root, const fact *known,
                            run_facts *out) {
    void *field = (char *)out + known->offset;
    szgi_json_value value = szgi_json_member(root, known->name);
    double number = NAN;
    if (!known->real) {
        SZG_TRY(szgi_json_as_integer(context, value, field));
        number = (double)*(int64_t *)field;
    } else {
        if (szgi_json_kind_of(value) != SZGI_JSON_NULL)
            SZG_TRY(szgi_json_as_real(context, value, &number));
        *(double *)field = number;
    }
    if ((number >= known->least && number <= known->most) || (known->unknown && isnan(number)))
        return SZG_OK;
    return szgi_json_fail(context, value, "is %.17g, not %s", number, known->range);
}

static szg_status check_run(szg_context *context, szgi_json_value root,
                            const reproduction_run *run) {
    int64_t seed;
    SZG_TRY(szgi_facts_compare_config(context, run, szgi_json_member(root, "config")));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(root, "seed"), &seed));
    if (seed != (int64_t)run->shown.seed)
        return szgi_json_fail(context, szgi_json_member(root, "seed"),
                              "is not %" PRIu64 ", the seed of %s", run->shown.seed, run->name);
    return SZG_OK;
}

szg_status szgi_facts_take(szg_context *context, szgi_json_value root, reproduction_run *run) {
    SZG_TRY(check_run(context, root, run));
    for (int i = 0; i < FACTS; i++)
        SZG_TRY(take_fact(context, root, &facts[i], &run->facts));
    if (run->facts.epochs > run->config->loop.epochs)
        return szgi_json_fail(context, szgi_json_member(root, "epochs"),
                              "is more than the %" PRId64 " of the configuration (loop.epochs)",
                              run->config->loop.epochs);
    SZG_TRY(take_origin(context, root, run));
    run->shown.finished = true;
    return SZG_OK;
}

typedef szg_status take_facts_fn(szg_context *context, szgi_json_value root, reproduction_run *run);

/* Nothing where the file is not there. */
static szg_status read_facts(szg_context *context, reproduction_run *run, const char *name,
                             take_facts_fn *take) {
    szgi_json *json;
    char *path;
    SZG_TRY(szgi_path_join(context, run->folder, name, &path));
    szg_status status = SZG_OK;
    if (access(path, F_OK) == 0) {
        status = szgi_json_read(context, path, &json);
        if (status == SZG_OK) {
            status = take(context, szgi_json_root(json), run);
            szgi_json_close(&json);
        }
    }
    szgi_memory_free(path);
    return status;
}

szg_status szgi_facts_read(szg_context *context, reproduction_run *run) {
    run->shown.finished = false;
    return read_facts(context, run, "finished.json", szgi_facts_take);
}

/* ---- failed.json ---- */

static szg_status add_failure(szg_context *context, const reproduction_run *run, szgi_json *json) {
    SZG_TRY(szgi_json_add_integer(context, json, "failed_step", run->shown.failed_step));
    return szgi_json_add_text(context, json, "reason", run->reason);
}

static void set_failure(reproduction_run *run, int64_t step, char *reason) {
    szgi_memory_free(run->reason);
    run->reason = reason;
    run->shown.failed = true;
    run->shown.failed_step = step;
}

szg_status szgi_failure_write(szg_context *context, reproduction_run *run, int64_t step) {
    char *reason;
    SZG_TRY(szgi_memory_copy_text(context, szg_context_message(context), &reason));
    set_failure(run, step, reason);
    return write_facts(context, run, "failed.json", add_failure);
}

static szg_status take_failure(szg_context *context, szgi_json_value root, reproduction_run *run) {
    szgi_json_value step = szgi_json_member(root, "failed_step");
    const char *reason;
    char *copy;
    int64_t steps;
    SZG_TRY(check_run(context, root, run));
    if (run->shown.finished)
        return szgi_json_fail(context, root,
                              "says that the run failed, and finished.json that it is finished: "
                              "remove the one that is not of this run");
    SZG_TRY(szgi_json_as_integer(context, step, &steps));
    if (steps < 0)
        return szgi_json_fail(context, step, "is %" PRId64 ", not an integer from 0", steps);
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(root, "reason"), &reason));
    SZG_TRY(szgi_memory_copy_text(context, reason, &copy));
    set_failure(run, steps, copy);
    return take_origin(context, root, run);
}

szg_status szgi_failure_read(szg_context *context, reproduction_run *run) {
    return read_facts(context, run, "failed.json", take_failure);
}
