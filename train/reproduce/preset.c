/* From a place in a preset to the configuration of a run. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/csv.h"
#include "formats/json.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "encoding/encoding.h"

#include "reproduce_preset.h"

enum { OVERRIDE_TEXT = SZG_CONFIG_TEXT + 128 };

/* ---- Overrides ---- */

typedef struct override_list {
    char **text;
    int64_t count, room;
} override_list;

szg_status szgi_preset_members(szg_context *context, szgi_json_value object, const char *known) {
    SZG_TRY(szgi_json_as_object(context, object));
    for (szgi_json_value member = {0}; szgi_json_next(object, &member);) {
        size_t length = strlen(member.key);
        const char *at = known;
        while (at && (strcspn(at, "|") != length || strncmp(at, member.key, length) != 0)) {
            at = strchr(at, '|');
            at = at ? at + 1 : NULL;
        }
        if (!at)
            return szgi_json_fail(context, member, "is unknown: %s %s",
                                  SZGI_DID_YOU_CHOOSE(member.key, known, "one of"), known);
    }
    return SZG_OK;
}

static void close_overrides(override_list *list) {
    for (int64_t i = 0; i < list->count; i++)
        szgi_memory_free(list->text[i]);
    szgi_memory_free(list->text);
}

static szg_status add_override(szg_context *context, override_list *list, const char *key,
                               const char *value) {
    char text[OVERRIDE_TEXT];
    if (snprintf(text, sizeof text, "%s=%s", key, value) >= (int)sizeof text)
        return szgi_fail(context, SZG_EDATA, "%.60s: the value has more than %d bytes", key,
                         SZG_CONFIG_TEXT - 1);
    SZG_TRY(szgi_memory_reserve(context, &list->text, &list->room, list->count, 1));
    SZG_TRY(szgi_memory_copy_text(context, text, &list->text[list->count]));
    list->count++;
    return SZG_OK;
}

static szg_status add_value(szg_context *context, override_list *list, const char *key,
                            szgi_json_value value) {
    char number[SZGI_REAL_TEXT];
    const char *text = number;
    int64_t integer;
    double real;
    bool yes;
    switch (szgi_json_kind_of(value)) {
    case SZGI_JSON_INTEGER:
        SZG_TRY(szgi_json_as_integer(context, value, &integer));
        snprintf(number, sizeof number, "%" PRId64, integer);
        break;
    case SZGI_JSON_REAL:
        SZG_TRY(szgi_json_as_real(context, value, &real));
        szgi_real_text(real, number);
        break;
    case SZGI_JSON_BOOLEAN:
        SZG_TRY(szgi_json_as_boolean(context, value, &yes));
        text = yes ? "true" : "false";
        break;
    default:
        SZG_TRY(szgi_json_as_text(context, value, &text));
    }
    return add_override(context, list, key, text);
}

/* {"model": {"width": 64}} as model.width=64; an absent object adds nothing. */
static szg_status add_sections(szg_context *context, override_list *list, szgi_json_value object) {
    char key[256];
    if (szgi_json_kind_of(object) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_preset_members(context, object, "model|data|loop|capture|curvature|intervention"));
    for (szgi_json_value section = {0}; szgi_json_next(object, &section);) {
        SZG_TRY(szgi_json_as_object(context, section));
        for (szgi_json_value member = {0}; szgi_json_next(section, &member);) {
            snprintf(key, sizeof key, "%s.%.200s", section.key, member.key);
            SZG_TRY(add_value(context, list, key, member));
        }
    }
    return SZG_OK;
}

/* ---- One run ---- */

/* A run that waits for its head has the first one until then. */
static szg_status add_head(szg_context *context, override_list *list, const head_rule *head) {
    char layer[24];
    if (!head->of)
        return SZG_OK;
    snprintf(layer, sizeof layer, "%" PRId64, head->layer);
    SZG_TRY(add_override(context, list, "intervention.layer", layer));
    return add_override(context, list, "intervention.head", "0");
}

/* The rule's are the only ones: the head would be that of another layer, or not the one that is
 * asked for. */
static szg_status check_head(szg_context *context, const override_list *list,
                             const head_rule *head) {
    static const char *const keys[] = {"intervention.layer=", "intervention.head="};
    for (size_t k = 0; head->of && k < sizeof keys / sizeof *keys; k++) {
        int64_t found = 0;
        for (int64_t i = 0; i < list->count; i++)
            found += strncmp(list->text[i], keys[k], strlen(keys[k])) == 0;
        if (found > 1)
            return szgi_fail(context, SZG_EINVAL,
                             "%.*s follows from the member `head` of the experiment: leave it out",
                             (int)strlen(keys[k]) - 1, keys[k]);
    }
    return SZG_OK;
}

static szg_status read_config(szg_context *context, const run_place *place, szg_train_config *out) {
    override_list list = {0};
    szg_status status;
    szgi_json_value tasks = szgi_json_member(place->root, "tasks");
    SZG_TRY_GOTO(status, add_override(context, &list, "profile", place->profile), done);
    SZG_TRY_GOTO(status, add_override(context, &list, "model.encoding", place->encoding), done);
    SZG_TRY_GOTO(status, add_sections(context, &list, szgi_json_member(place->root, "config")),
                 done);
    SZG_TRY_GOTO(status, add_override(context, &list, "data.task", place->task), done);
    SZG_TRY_GOTO(status, add_sections(context, &list, szgi_json_member(tasks, place->task)), done);
    SZG_TRY_GOTO(status, add_sections(context, &list, szgi_json_member(place->base, "config")),
                 done);
    SZG_TRY_GOTO(status, add_sections(context, &list, szgi_json_member(place->origin, "config")),
                 done);
    SZG_TRY_GOTO(status, add_head(context, &list, &place->head), done);
    status = check_head(context, &list, &place->head);
    if (status == SZG_OK)
        status =
            szg_train_config_read(context, NULL, (const char *const *)list.text, list.count, out);
    if (status == SZG_EINVAL)
        status = SZG_EDATA; /* of the file, not of the command line */
    for (int64_t i = 0; i < place->options->override_count && status == SZG_OK; i++) {
        char text[OVERRIDE_TEXT];
        snprintf(text, sizeof text, "%s", place->options->overrides[i]);
        char *value = strchr(text, '=');
        if (value)
            *value++ = 0;
        status = value ? add_override(context, &list, text, value)
                       : szgi_fail(context, SZG_EINVAL,
                                   "\"%.80s\" is not key=value, such as loop.epochs=2", text);
    }
    if (status == SZG_OK)
        status = check_head(context, &list, &place->head);
    if (status == SZG_OK && place->options->override_count > 0)
        status =
            szg_train_config_read(context, NULL, (const char *const *)list.text, list.count, out);
done:
    close_overrides(&list);
    return status == SZG_OK ? SZG_OK
                            : szgi_fail_prefix(context, status, "%s: experiment %s, %s, %s",
                                               place->options->preset, place->name, place->task,
                                               place->encoding);
}

/* EXPERIMENT/TASK/ENCODING/run-SEED, the SPEC's punctuation as dashes. */
static szg_status name_run(szg_context *context, const run_place *place, char **out) {
    char text[SZG_CONFIG_TEXT + 256], *at = text;
    at += sprintf(at, "%.64s/%s/", place->name, place->task);
    for (const char *c = place->encoding; *c; c++)
        *at++ = isalnum((unsigned char)*c) || *c == '+' || *c == '.' ? *c : '-';
    sprintf(at, "/run-%" PRId64, place->seed);
    return szgi_memory_copy_text(context, text, out);
}

/* The name begins with that of the experiment: those of others differ. */
static szg_status check_name(szg_context *context, const szg_reproduction *all,
                             const run_place *place, int64_t first, const char *name) {
    for (int64_t i = first; i + 1 < all->count; i = all->run[i].next)
        if (strcmp(all->run[i].name, name) == 0)
            return szgi_fail(context, SZG_EDATA,
                             "%s: two runs would have the folder %s: give experiments different "
                             "names, encodings and seeds once",
                             place->options->preset, name);
    return SZG_OK;
}

/* The latent dimensions that latent_columns cuts are those of decoupled rotary parts (mla), and
 * rotation is of encodings that rotate. */
static unsigned methods_of(const run_place *place, const szg_train_config *config) {
    const szgi_encoding_traits *traits = szgi_encoding_traits_of(config->model.encoding);
    int attaches = traits ? traits->attaches : 0;
    unsigned without = 0;
    if (!(attaches & SZGI_ATTACH_DECOUPLED))
        without |= 1u << SZG_ABLATE_LATENT_COLUMNS;
    if (!(attaches & SZGI_ATTACH_ROTARY))
        without |= 1u << SZG_ABLATE_ROTATION;
    return place->methods & ~without;
}

/* A run more, the latest of its experiment. */
static szg_status open_run(szg_context *context, const run_place *place, szg_reproduction *out) {
    int64_t own = out->count, *latest = &place->latest[place->origin.index];
    SZG_TRY(szgi_memory_reserve(context, &out->run, &out->room, out->count, 1));
    out->run[own].first = *latest < 0 ? own : out->run[*latest].first;
    out->run[own].next = -1;
    out->run[own].needs = -1;
    if (*latest >= 0)
        out->run[*latest].next = own;
    *latest = own;
    out->count++;
    return SZG_OK;
}

static szg_status check_length(szg_context *context, const run_place *place,
                               const reproduction_run *run) {
    szg_status status = szgi_length_check(context, run->config, &run->length);
    if (status == SZG_EINVAL)
        status = SZG_EDATA; /* of the file, not of the command line */
    return status == SZG_OK ? SZG_OK
                            : szgi_fail_prefix(context, status, "%s: experiment %s, %s, %s: length",
                                               place->options->preset, place->name, place->task,
                                               place->encoding);
}

szg_status szgi_preset_add_run(szg_context *context, const run_place *place,
                               szg_reproduction *out) {
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(open_run(context, place, out));
    reproduction_run *run = &out->run[out->count - 1];
    SZG_TRY(szgi_memory_alloc(context, 1, &run->config));
    SZG_TRY(read_config(context, place, run->config));
    SZG_TRY(name_run(context, place, &run->name));
    SZG_TRY(check_name(context, out, place, run->first, run->name));
    SZG_TRY(szgi_memory_copy_text(context, place->name, &run->experiment));
    SZG_TRY(szgi_memory_copy_text(context, run->config->model.encoding, &run->encoding));
    if (place->like)
        SZG_TRY(szgi_memory_copy_text(context, place->like, &run->like));
    run->length = place->length;
    SZG_TRY(check_length(context, place, run));
    run->head = place->head;
    run->head_state = run->head.of ? HEAD_OPEN : HEAD_KNOWN;
    run->shown = (szg_reproduction_run){.name = run->name,
                                        .experiment = run->experiment,
                                        .like = run->like,
                                        .encoding = run->encoding,
                                        .task = szgi_task_name(run->config->data.task),
                                        .seed = (uint64_t)place->seed,
                                        .rotated_heads = place->rotated,
                                        .failed_step = -1,
                                        .methods = methods_of(place, run->config),
                                        .settled = !run->head.of,
                                        .config = run->config};
    return SZG_OK;
}
