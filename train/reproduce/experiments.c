/* A preset file: experiments, and in which order their runs come. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#include "questions.h"

enum { MOST_RUNS = 10000 };

/* A text that becomes the name of a folder. */
static szg_status read_name(szg_context *context, szgi_json_value value, const char **out) {
    SZG_TRY(szgi_json_as_text(context, value, out));
    size_t length = strlen(*out);
    if (length < 1 || length > 64 ||
        strspn(*out, "abcdefghijklmnopqrstuvwxyz0123456789_-") != length)
        return szgi_json_fail(context, value,
                              "names a folder: 1 to 64 lower-case letters, digits, _ and -");
    return SZG_OK;
}

/* ---- The lists of an experiment ---- */

static szg_status add_encodings(szg_context *context, run_place *place, szg_reproduction *out) {
    szgi_json_value list = szgi_json_member(place->part, "encodings");
    SZG_TRY(szgi_json_as_array(context, list));
    place->rotated = -1;
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        SZG_TRY(szgi_json_as_text(context, szgi_json_element(list, i), &place->encoding));
        SZG_TRY(szgi_preset_add_run(context, place, out));
    }
    return SZG_OK;
}

/* RoPE in the first k heads, NoPE in the others. */
static szg_status add_rotated(szg_context *context, run_place *place, szg_reproduction *out) {
    szgi_json_value list = szgi_json_member(place->part, "rotated_heads");
    char spec[64];
    if (szgi_json_kind_of(list) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, list));
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        szgi_json_value value = szgi_json_element(list, i);
        SZG_TRY(szgi_json_as_integer(context, value, &place->rotated));
        if (place->rotated < 1 || place->rotated > 1023)
            return szgi_json_fail(context, value,
                                  "must be at least 1 and below model.heads: list nope for 0 and "
                                  "rope for all heads");
        snprintf(spec, sizeof spec, "rope:rotate=0-%" PRId64, place->rotated - 1);
        place->encoding = spec;
        SZG_TRY(szgi_preset_add_run(context, place, out));
        if (place->rotated >= out->run[out->count - 1].config->model.heads)
            return szgi_json_fail(context, value, "is not below model.heads=%" PRId64,
                                  out->run[out->count - 1].config->model.heads);
    }
    return SZG_OK;
}

/* The experiment's tasks, or all of the preset. */
static szg_status add_tasks(szg_context *context, run_place *place, szg_reproduction *out) {
    szgi_json_value tasks = szgi_json_member(place->part, "tasks");
    szgi_json_value known = szgi_json_member(place->root, "tasks");
    bool own = szgi_json_kind_of(tasks) != SZGI_JSON_ABSENT;
    if (own)
        SZG_TRY(szgi_json_as_array(context, tasks));
    szgi_json_value member = {0};
    for (int64_t i = 0; i < szgi_json_count(own ? tasks : known); i++) {
        if (own)
            SZG_TRY(szgi_json_as_text(context, szgi_json_element(tasks, i), &place->task));
        else if (szgi_json_next(known, &member))
            place->task = member.key;
        if (!szgi_json_has(known, place->task))
            return szgi_json_fail(context, szgi_json_element(tasks, i),
                                  "is not a task that `tasks` of the preset describes");
        SZG_TRY(add_encodings(context, place, out));
        SZG_TRY(add_rotated(context, place, out));
    }
    return SZG_OK;
}

static szg_status add_seed(szg_context *context, run_place *place, szgi_json_value seed,
                           szg_reproduction *out) {
    SZG_TRY(szgi_json_as_integer(context, seed, &place->seed));
    if (place->seed < 0)
        return szgi_json_fail(context, seed, "is negative: seeds count from 0");
    return add_tasks(context, place, out);
}

/* ---- What an experiment is ---- */

/* The first experiment of a name; absent: there is none. */
static szg_status find_experiment(szg_context *context, const run_place *place,
                                  szgi_json_value experiments, const char *name,
                                  szgi_json_value *out) {
    int64_t count = szgi_json_count(experiments), i = 0;
    for (; i < count; i++) {
        const char **own = &place->names[i];
        szgi_json_value experiment = szgi_json_element(experiments, i);
        if (!*own) {
            SZG_TRY(szgi_json_as_object(context, experiment));
            SZG_TRY(read_name(context, szgi_json_member(experiment, "name"), own));
        }
        if (strcmp(*own, name) == 0)
            break;
    }
    *out = szgi_json_element(experiments, i);
    return SZG_OK;
}

/* true, false, or a list of methods. */
static szg_status read_methods(szg_context *context, szgi_json_value value, unsigned *out) {
    *out = 0;
    if (szgi_json_kind_of(value) == SZGI_JSON_ABSENT)
        return SZG_OK;
    if (szgi_json_kind_of(value) != SZGI_JSON_ARRAY) {
        bool yes;
        SZG_TRY(szgi_json_as_boolean(context, value, &yes));
        *out = yes ? 1u << SZG_ABLATE_OUTPUT : 0;
        return SZG_OK;
    }
    for (int64_t i = 0; i < szgi_json_count(value); i++) {
        szgi_json_value element = szgi_json_element(value, i);
        const char *name;
        szg_ablation_method method;
        SZG_TRY(szgi_json_as_text(context, element, &name));
        if (szg_ablation_method_parse(context, name, &method) != SZG_OK)
            return szgi_json_fail(context, element, "%s", szg_context_message(context));
        *out |= 1u << method;
    }
    return SZG_OK;
}

/* The experiment of whose runs those of `place` differ by the keys of its own configuration. */
static szg_status find_base(szg_context *context, run_place *place, szgi_json_value experiments) {
    szgi_json_value like = szgi_json_member(place->origin, "like");
    place->like = NULL;
    place->base = like;
    if (szgi_json_kind_of(like) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_text(context, like, &place->like));
    SZG_TRY(find_experiment(context, place, experiments, place->like, &place->base));
    if (szgi_json_kind_of(place->base) == SZGI_JSON_ABSENT ||
        place->base.index >= place->origin.index)
        return szgi_json_fail(context, like, "%.64s is not an experiment above this one",
                              place->like);
    if (szgi_json_has(place->base, "like"))
        return szgi_json_fail(context, like, "%.64s is like another one itself", place->like);
    return SZG_OK;
}

/* The experiment's own member, or that of the experiment that it is like. */
static szgi_json_value inherited(const run_place *place, szgi_json_value first, const char *name) {
    szgi_json_value own = szgi_json_member(place->origin, name);
    return szgi_json_kind_of(own) != SZGI_JSON_ABSENT ? own : szgi_json_member(first, name);
}

/* Name, profile, configuration, ablation and length: of the experiment, or of the one that it
 * continues. */
static szg_status describe(szg_context *context, run_place *place, szgi_json_value experiments) {
    SZG_TRY(szgi_json_as_object(context, place->part));
    SZG_TRY(read_name(context, szgi_json_member(place->part, "name"), &place->name));
    SZG_TRY(find_experiment(context, place, experiments, place->name, &place->origin));
    bool again = place->origin.index != place->part.index;
    bool like = szgi_json_has(place->origin, "like");
    szgi_json_value profile = szgi_json_member(place->part, "profile");
    if (again && szgi_json_kind_of(profile) != SZGI_JSON_ABSENT)
        return szgi_json_fail(context, profile,
                              "is given by the first experiment of this name, which this one goes "
                              "on with: leave profile out, or take another name");
    SZG_TRY(szgi_preset_members(
        context, place->part,
        again  ? "name|seeds|tasks|encodings|rotated_heads"
        : like ? "name|like|seeds|tasks|encodings|rotated_heads|ablation|length|config|"
                 "head"
               : "name|profile|seeds|tasks|encodings|rotated_heads|ablation|length|"
                 "config|head"));
    SZG_TRY(find_base(context, place, experiments));
    szgi_json_value first = place->like ? place->base : place->origin;
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(first, "profile"), &place->profile));
    SZG_TRY(szgi_head_read(context, szgi_json_member(place->origin, "head"), &place->head));
    SZG_TRY(szgi_length_read(context, inherited(place, first, "length"), &place->length));
    return read_methods(context, inherited(place, first, "ablation"), &place->methods);
}

/* ---- The order ---- */

/* One of the preset's seeds: every experiment that has no seeds of its own, and, with the first
 * one, those that do, each with its own. */
static szg_status add_round(szg_context *context, run_place *place, szgi_json_value seed,
                            szg_reproduction *out) {
    szgi_json_value experiments = szgi_json_member(place->root, "experiments");
    for (int64_t e = 0; e < szgi_json_count(experiments); e++) {
        place->part = szgi_json_element(experiments, e);
        SZG_TRY(describe(context, place, experiments));
        szgi_json_value own = szgi_json_member(place->part, "seeds");
        if (szgi_json_kind_of(own) == SZGI_JSON_ABSENT) {
            SZG_TRY(add_seed(context, place, seed, out));
            continue;
        }
        SZG_TRY(szgi_json_as_array(context, own));
        for (int64_t i = 0; seed.index == 0 && i < szgi_json_count(own); i++)
            SZG_TRY(add_seed(context, place, szgi_json_element(own, i), out));
    }
    return SZG_OK;
}

/* Runs of an experiment as the lists are long; at least one, so that those without runs are not
 * without number. A double cannot overflow. */
static double runs_of(szgi_json_value root, szgi_json_value experiment) {
    szgi_json_value own_tasks = szgi_json_member(experiment, "tasks");
    szgi_json_value own_seeds = szgi_json_member(experiment, "seeds");
    bool tasks = szgi_json_kind_of(own_tasks) != SZGI_JSON_ABSENT;
    bool seeds = szgi_json_kind_of(own_seeds) != SZGI_JSON_ABSENT;
    double encodings = (double)szgi_json_count(szgi_json_member(experiment, "encodings")) +
                       (double)szgi_json_count(szgi_json_member(experiment, "rotated_heads"));
    return fmax(1, encodings * (double)szgi_json_count(tasks ? own_tasks
                                                             : szgi_json_member(root, "tasks"))) *
           (double)szgi_json_count(seeds ? own_seeds : szgi_json_member(root, "seeds"));
}

/* Before the first of them is read: each takes a while. */
static szg_status count_runs(szg_context *context, const char *preset, szgi_json_value root) {
    szgi_json_value experiments = szgi_json_member(root, "experiments");
    double runs = 0;
    for (int64_t e = 0; e < szgi_json_count(experiments) && runs <= MOST_RUNS; e++)
        runs += runs_of(root, szgi_json_element(experiments, e));
    if (runs <= MOST_RUNS)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: more than %d runs (encodings times tasks times seeds): divide it into "
                     "several presets",
                     preset, MOST_RUNS);
}

static szg_status add_rounds(szg_context *context, const szg_reproduction_options *options,
                             szgi_json_value root, szg_reproduction *out) {
    run_place place = {.options = options, .root = root};
    szgi_json_value seeds = szgi_json_member(root, "seeds");
    int64_t experiments = szgi_json_count(szgi_json_member(root, "experiments"));
    SZG_TRY(szgi_memory_alloc(context, experiments, &place.latest));
    for (int64_t e = 0; e < experiments; e++)
        place.latest[e] = -1;
    szg_status status = szgi_memory_alloc(context, experiments, &place.names);
    for (int64_t s = 0; s < szgi_json_count(seeds) && status == SZG_OK; s++)
        status = add_round(context, &place, szgi_json_element(seeds, s), out);
    szgi_memory_free(place.names);
    szgi_memory_free(place.latest);
    return status;
}

static szg_status read_root(szg_context *context, const szg_reproduction_options *options,
                            szgi_json_value root, szg_reproduction *out) {
    const char *text;
    SZG_TRY(szgi_preset_members(
        context, root,
        "name|about|seeds|config|tasks|experiments|hypotheses|relations|by_step|early_steps"));
    SZG_TRY(read_name(context, szgi_json_member(root, "name"), &text));
    SZG_TRY(szgi_memory_copy_text(context, text, &out->name));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(root, "about"), &text));
    SZG_TRY(szgi_memory_copy_text(context, text, &out->about));
    szgi_json_value seeds = szgi_json_member(root, "seeds");
    szgi_json_value experiments = szgi_json_member(root, "experiments");
    SZG_TRY(szgi_json_as_array(context, seeds));
    SZG_TRY(szgi_json_as_array(context, experiments));
    SZG_TRY(szgi_preset_members(context, szgi_json_member(root, "tasks"), "distance|count"));
    SZG_TRY(count_runs(context, options->preset, root));
    SZG_TRY(add_rounds(context, options, root, out));
    if (out->count == 0)
        return szgi_json_fail(context, experiments,
                              "names no run: seeds, tasks and encodings are needed");
    SZG_TRY(szgi_heads_link(context, options->preset, out));
    return szgi_questions_read(context, root, out);
}

szg_status szgi_preset_read(szg_context *context, const szg_reproduction_options *options,
                            szg_reproduction *out) {
    SZG_TRY(szgi_json_read(context, options->preset, &out->document));
    szgi_json_value root = szgi_json_root(out->document);
    SZG_TRY(read_root(context, options, root, out));
    return szgi_json_text(context, root, 0, &out->preset);
}
