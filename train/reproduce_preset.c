/* From a preset file to the configurations of its runs. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <szego/csv.h>
#include <szego/json.h>
#include <szego/memory.h>

#include "reproduce_private.h"

enum { MOST_RUNS = 10000, OVERRIDE_TEXT = SZG_CONFIG_TEXT + 128 };

/* ---- Members ---- */

/* Refuses members of an object that are none of `known` ("a|b|c"). */
static szg_status check_members(szg_context *context, szg_json_value object, const char *known) {
    SZG_TRY(szg_json_as_object(context, object));
    for (szg_json_value member = {0}; szg_json_next(object, &member);) {
        size_t length = strlen(member.key);
        const char *at = known;
        while (at && (strncmp(at, member.key, length) != 0 || (at[length] && at[length] != '|'))) {
            at = strchr(at, '|');
            at = at ? at + 1 : NULL;
        }
        if (!at)
            return szg_json_fail(context, member, "is none of %s", known);
    }
    return SZG_OK;
}

/* A text that becomes the name of a folder. */
static szg_status read_name(szg_context *context, szg_json_value value, const char **out) {
    SZG_TRY(szg_json_as_text(context, value, out));
    size_t length = strlen(*out);
    if (length < 1 || length > 64 ||
        strspn(*out, "abcdefghijklmnopqrstuvwxyz0123456789_-") != length)
        return szg_json_fail(context, value,
                             "names a folder: 1 to 64 lower-case letters, digits, _ and -");
    return SZG_OK;
}

/* ---- Overrides ---- */

typedef struct override_list {
    char **text;
    int64_t count;
} override_list;

static void close_overrides(override_list *list) {
    for (int64_t i = 0; i < list->count; i++)
        szg_memory_free(list->text[i]);
    szg_memory_free(list->text);
}

static szg_status add_override(szg_context *context, override_list *list, const char *key,
                               const char *value) {
    char text[OVERRIDE_TEXT];
    if (snprintf(text, sizeof text, "%s=%s", key, value) >= (int)sizeof text)
        return szg_fail(context, SZG_EDATA, "%.60s: the value has more than %d bytes", key,
                        SZG_CONFIG_TEXT - 1);
    SZG_TRY(list->text ? szg_memory_grow(context, &list->text, list->count, list->count + 1,
                                         sizeof *list->text)
                       : szg_memory_alloc(context, 1, sizeof *list->text, &list->text));
    SZG_TRY(szg_memory_copy_text(context, text, &list->text[list->count]));
    list->count++;
    return SZG_OK;
}

static szg_status add_value(szg_context *context, override_list *list, const char *key,
                            szg_json_value value) {
    char number[SZG_REAL_TEXT];
    const char *text = number;
    int64_t integer;
    double real;
    bool yes;
    switch (szg_json_kind_of(value)) {
    case SZG_JSON_INTEGER:
        SZG_TRY(szg_json_as_integer(context, value, &integer));
        snprintf(number, sizeof number, "%" PRId64, integer);
        break;
    case SZG_JSON_REAL:
        SZG_TRY(szg_json_as_real(context, value, &real));
        szg_real_text(real, number);
        break;
    case SZG_JSON_BOOLEAN:
        SZG_TRY(szg_json_as_boolean(context, value, &yes));
        text = yes ? "true" : "false";
        break;
    default:
        SZG_TRY(szg_json_as_text(context, value, &text));
    }
    return add_override(context, list, key, text);
}

/* {"model": {"width": 64}} as model.width=64; an absent object adds nothing. */
static szg_status add_sections(szg_context *context, override_list *list, szg_json_value object) {
    char key[256];
    if (szg_json_kind_of(object) == SZG_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(check_members(context, object, "model|data|loop|capture"));
    for (szg_json_value section = {0}; szg_json_next(object, &section);) {
        SZG_TRY(szg_json_as_object(context, section));
        for (szg_json_value member = {0}; szg_json_next(section, &member);) {
            snprintf(key, sizeof key, "%s.%.200s", section.key, member.key);
            SZG_TRY(add_value(context, list, key, member));
        }
    }
    return SZG_OK;
}

/* ---- One run ---- */

/* Where a run stands in the preset. */
typedef struct run_place {
    const szg_reproduction_options *options;
    szg_json_value root, experiment;
    const char *name, *profile, *task, *encoding;
    int64_t seed, rotated;
    bool ablation;
} run_place;

static szg_status read_config(szg_context *context, const run_place *place, szg_train_config *out) {
    override_list list = {0};
    szg_status status;
    szg_json_value tasks = szg_json_member(place->root, "tasks");
    SZG_TRY_GOTO(status, add_override(context, &list, "profile", place->profile), done);
    SZG_TRY_GOTO(status, add_override(context, &list, "model.encoding", place->encoding), done);
    SZG_TRY_GOTO(status, add_sections(context, &list, szg_json_member(place->root, "config")),
                 done);
    SZG_TRY_GOTO(status, add_override(context, &list, "data.task", place->task), done);
    SZG_TRY_GOTO(status, add_sections(context, &list, szg_json_member(tasks, place->task)), done);
    SZG_TRY_GOTO(status, add_sections(context, &list, szg_json_member(place->experiment, "config")),
                 done);
    status = szg_train_config_read(context, NULL, (const char *const *)list.text, list.count, out);
    if (status == SZG_EINVAL)
        status = SZG_EDATA; /* of the file, not of the command line */
    for (int64_t i = 0; i < place->options->override_count && status == SZG_OK; i++) {
        char text[OVERRIDE_TEXT];
        snprintf(text, sizeof text, "%s", place->options->overrides[i]);
        char *value = strchr(text, '=');
        if (value)
            *value++ = 0;
        status = value ? add_override(context, &list, text, value)
                       : szg_fail(context, SZG_EINVAL,
                                  "\"%.80s\" is not key=value, such as loop.epochs=2", text);
    }
    if (status == SZG_OK && place->options->override_count > 0)
        status =
            szg_train_config_read(context, NULL, (const char *const *)list.text, list.count, out);
done:
    close_overrides(&list);
    return status == SZG_OK
               ? SZG_OK
               : szg_fail_prefix(context, status, "%s: experiment %s, %s, %s",
                                 place->options->preset, place->name, place->task, place->encoding);
}

/* EXPERIMENT/TASK/ENCODING/run-SEED, the SPEC's punctuation as dashes. */
static szg_status name_run(szg_context *context, const run_place *place, char **out) {
    char text[SZG_CONFIG_TEXT + 256], *at = text;
    at += sprintf(at, "%.64s/%s/", place->name, place->task);
    for (const char *c = place->encoding; *c; c++)
        *at++ = isalnum((unsigned char)*c) || *c == '+' || *c == '.' ? *c : '-';
    sprintf(at, "/run-%" PRId64, place->seed);
    return szg_memory_copy_text(context, text, out);
}

static szg_status check_name(szg_context *context, const szg_reproduction *all,
                             const run_place *place, const char *name) {
    for (int64_t i = 0; i + 1 < all->count; i++)
        if (strcmp(all->run[i].name, name) == 0)
            return szg_fail(context, SZG_EDATA,
                            "%s: two runs would have the folder %s: give experiments different "
                            "names, encodings and seeds once",
                            place->options->preset, name);
    return SZG_OK;
}

static szg_status add_run(szg_context *context, const run_place *place, szg_reproduction *out) {
    SZG_TRY(szg_context_check_cancel(context));
    if (out->count >= MOST_RUNS)
        return szg_fail(context, SZG_EDATA, "%s: more than %d runs", place->options->preset,
                        MOST_RUNS);
    SZG_TRY(out->run
                ? szg_memory_grow(context, &out->run, out->count, out->count + 1, sizeof *out->run)
                : szg_memory_alloc(context, 1, sizeof *out->run, &out->run));
    reproduction_run *run = &out->run[out->count++];
    SZG_TRY(szg_memory_alloc(context, 1, sizeof *run->config, &run->config));
    SZG_TRY(read_config(context, place, run->config));
    SZG_TRY(name_run(context, place, &run->name));
    SZG_TRY(check_name(context, out, place, run->name));
    SZG_TRY(szg_memory_copy_text(context, place->name, &run->experiment));
    SZG_TRY(szg_memory_copy_text(context, run->config->model.encoding, &run->encoding));
    run->shown = (szg_reproduction_run){.name = run->name,
                                        .experiment = run->experiment,
                                        .encoding = run->encoding,
                                        .task = szg_task_name(run->config->data.task),
                                        .seed = (uint64_t)place->seed,
                                        .rotated_heads = place->rotated,
                                        .ablation = place->ablation,
                                        .config = run->config};
    return SZG_OK;
}

/* ---- The lists of an experiment ---- */

static szg_status add_encodings(szg_context *context, run_place *place, szg_reproduction *out) {
    szg_json_value list = szg_json_member(place->experiment, "encodings");
    SZG_TRY(szg_json_as_array(context, list));
    place->rotated = -1;
    for (int64_t i = 0; i < szg_json_count(list); i++) {
        SZG_TRY(szg_json_as_text(context, szg_json_element(list, i), &place->encoding));
        SZG_TRY(add_run(context, place, out));
    }
    return SZG_OK;
}

/* RoPE in the first k heads, NoPE in the others. */
static szg_status add_rotated(szg_context *context, run_place *place, szg_reproduction *out) {
    szg_json_value list = szg_json_member(place->experiment, "rotated_heads");
    char spec[64];
    if (szg_json_kind_of(list) == SZG_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szg_json_as_array(context, list));
    for (int64_t i = 0; i < szg_json_count(list); i++) {
        szg_json_value value = szg_json_element(list, i);
        SZG_TRY(szg_json_as_integer(context, value, &place->rotated));
        if (place->rotated < 1 || place->rotated > 1023)
            return szg_json_fail(context, value,
                                 "must be at least 1 and below model.heads: list nope for 0 and "
                                 "rope for all heads");
        snprintf(spec, sizeof spec, "rope:rotate=0-%" PRId64, place->rotated - 1);
        place->encoding = spec;
        SZG_TRY(add_run(context, place, out));
        if (place->rotated >= out->run[out->count - 1].config->model.heads)
            return szg_json_fail(context, value, "is not below model.heads=%" PRId64,
                                 out->run[out->count - 1].config->model.heads);
    }
    return SZG_OK;
}

static szg_status read_ablation(szg_context *context, run_place *place) {
    place->ablation = false;
    if (!szg_json_has(place->experiment, "ablation"))
        return SZG_OK;
    return szg_json_as_boolean(context, szg_json_member(place->experiment, "ablation"),
                               &place->ablation);
}

/* The experiment's tasks, or all of the preset. */
static szg_status add_experiment(szg_context *context, run_place *place, szg_reproduction *out) {
    szg_json_value tasks = szg_json_member(place->experiment, "tasks");
    szg_json_value known = szg_json_member(place->root, "tasks");
    SZG_TRY(check_members(context, place->experiment,
                          "name|profile|tasks|encodings|rotated_heads|ablation|config"));
    SZG_TRY(read_name(context, szg_json_member(place->experiment, "name"), &place->name));
    SZG_TRY(
        szg_json_as_text(context, szg_json_member(place->experiment, "profile"), &place->profile));
    SZG_TRY(read_ablation(context, place));
    bool own = szg_json_kind_of(tasks) != SZG_JSON_ABSENT;
    if (own)
        SZG_TRY(szg_json_as_array(context, tasks));
    szg_json_value member = {0};
    for (int64_t i = 0; i < szg_json_count(own ? tasks : known); i++) {
        if (own)
            SZG_TRY(szg_json_as_text(context, szg_json_element(tasks, i), &place->task));
        else if (szg_json_next(known, &member))
            place->task = member.key;
        if (!szg_json_has(known, place->task))
            return szg_json_fail(context, szg_json_element(tasks, i),
                                 "is no task that `tasks` of the preset describes");
        SZG_TRY(add_encodings(context, place, out));
        SZG_TRY(add_rotated(context, place, out));
    }
    return SZG_OK;
}

static szg_status read_root(szg_context *context, const szg_reproduction_options *options,
                            szg_json_value root, szg_reproduction *out) {
    const char *text;
    run_place place = {.options = options, .root = root};
    SZG_TRY(check_members(context, root, "name|about|seeds|config|tasks|experiments"));
    SZG_TRY(read_name(context, szg_json_member(root, "name"), &text));
    SZG_TRY(szg_memory_copy_text(context, text, &out->name));
    SZG_TRY(szg_json_as_text(context, szg_json_member(root, "about"), &text));
    SZG_TRY(szg_memory_copy_text(context, text, &out->about));
    szg_json_value seeds = szg_json_member(root, "seeds");
    szg_json_value experiments = szg_json_member(root, "experiments");
    SZG_TRY(szg_json_as_array(context, seeds));
    SZG_TRY(szg_json_as_array(context, experiments));
    SZG_TRY(check_members(context, szg_json_member(root, "tasks"), "distance|count"));
    for (int64_t s = 0; s < szg_json_count(seeds); s++) {
        szg_json_value seed = szg_json_element(seeds, s);
        SZG_TRY(szg_json_as_integer(context, seed, &place.seed));
        if (place.seed < 0)
            return szg_json_fail(context, seed, "is negative: seeds count from 0");
        for (int64_t e = 0; e < szg_json_count(experiments); e++) {
            place.experiment = szg_json_element(experiments, e);
            SZG_TRY(add_experiment(context, &place, out));
        }
    }
    if (out->count == 0)
        return szg_json_fail(context, experiments,
                             "names no run: seeds, tasks and encodings are "
                             "wanted");
    return SZG_OK;
}

szg_status preset_read(szg_context *context, const szg_reproduction_options *options,
                       szg_reproduction *out) {
    szg_json *json;
    SZG_TRY(szg_json_read(context, options->preset, &json));
    szg_status status = read_root(context, options, szg_json_root(json), out);
    if (status == SZG_OK)
        status = szg_json_text(context, szg_json_root(json), 0, &out->preset);
    szg_json_close(&json);
    return status;
}
