/* Runs that intervene on a head of another run: which run, and which head. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"

#include "reproduce_preset.h"
#include "train/ablation/ablation.h"
#include "train/config/config_private.h"

/* ---- The rule ---- */

szg_status szgi_head_read(szg_context *context, szgi_json_value value, head_rule *out) {
    const char *which;
    *out = (head_rule){0};
    if (szgi_json_kind_of(value) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_preset_members(context, value, "of|encoding|layer|which"));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(value, "of"), &out->of));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(value, "encoding"), &out->encoding));
    SZG_TRY(szgi_json_as_integer(context, szgi_json_member(value, "layer"), &out->layer));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(value, "which"), &which));
    out->other = strcmp(which, "other") == 0;
    if (!out->other && strcmp(which, "winner") != 0)
        return szgi_json_fail(context, szgi_json_member(value, "which"),
                              "is \"%.40s\": one of winner|other", which);
    return SZG_OK;
}

/* ---- The other run ---- */

int64_t szgi_run_find(const szg_reproduction *self, const char *experiment, const char *encoding,
                      const char *task, int64_t seed) {
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        if ((seed < 0 || run->shown.seed == (uint64_t)seed) &&
            strcmp(run->experiment, experiment) == 0 && strcmp(run->encoding, encoding) == 0 &&
            strcmp(run->shown.task, task) == 0)
            return i;
    }
    return -1;
}

static bool intervenes(const szg_train_config *config) {
    char kind[SZG_CONFIG_TEXT];
    const config_row *row = szgi_config_row_find("intervention.kind");
    return row && strcmp(szgi_config_text(row, config, kind), "none") != 0;
}

/* What keeps `other` from saying on which head `run` intervenes; NULL: nothing. */
static const char *objection(const reproduction_run *run, const reproduction_run *other) {
    const szg_model_config *own = &run->config->model, *its = &other->config->model;
    if (other->head.of)
        return "it waits for another run itself";
    if (!(other->shown.methods >> SZG_ABLATE_OUTPUT & 1))
        return "its heads are not ablated by output: give its experiment \"ablation\"";
    if (own->heads != its->heads || own->layers != its->layers)
        return "it has other heads or layers";
    if (run->head.layer < 0 || run->head.layer >= its->layers)
        return "it has no such layer: layers count from 0";
    if (run->head.other && its->heads < 2)
        return "it has one head, and no other one";
    if (!intervenes(run->config))
        return "intervention.kind is none: say in \"config\" what is done to the head";
    return NULL;
}

szg_status szgi_heads_link(szg_context *context, const char *path, szg_reproduction *self) {
    for (int64_t i = 0; i < self->count; i++) {
        reproduction_run *run = &self->run[i];
        if (!run->head.of)
            continue;
        SZG_TRY(szgi_context_check_cancel(context));
        run->needs = szgi_run_find(self, run->head.of, run->head.encoding, run->shown.task,
                                   (int64_t)run->shown.seed);
        const char *why = run->needs < 0 ? "the preset has no such run of this task and seed"
                                         : objection(run, &self->run[run->needs]);
        if (why)
            return szgi_fail(context, SZG_EDATA,
                             "%s: experiment %s: head of %.64s, %.80s, layer %" PRId64
                             ", task %s, seed %" PRIu64 ": %s",
                             path, run->experiment, run->head.of, run->head.encoding,
                             run->head.layer, run->shown.task, run->shown.seed, why);
        run->shown.needs = self->run[run->needs].name;
    }
    return SZG_OK;
}

/* ---- The head ---- */

int64_t szgi_head_other(uint64_t seed, int64_t layer, int64_t heads, int64_t worst) {
    enum { PURPOSE = 0x48454144 };
    szgi_stream stream = {.seed = seed, .step = (uint32_t)layer, .purpose = PURPOSE};
    int64_t drawn = szgi_random_below(&stream, 0, heads - 1);
    return drawn < worst ? drawn : drawn + 1;
}

const char *szgi_head_absence(const szg_reproduction *self, const reproduction_run *run,
                              char out[HEAD_WORDS]) {
    const char *other = self->run[run->needs].name;
    if (run->head_state == HEAD_FAILED)
        snprintf(out, HEAD_WORDS, "%s failed, which says on which head it intervenes", other);
    else
        snprintf(out, HEAD_WORDS, "no head of layer %" PRId64 " of %s costs accuracy",
                 run->head.layer, other);
    return out;
}

/* The head of a layer with the largest drop in a finished run that is ablated by output; -1: none
 * of the layer has a drop. */
static szg_status find_winner(szg_context *context, const reproduction_run *of, int64_t layer,
                              int64_t *out) {
    szg_ablation ablation = {0};
    szgi_deposit deposit;
    szg_status status = szgi_reproduction_ablation_read(context, of, SZG_ABLATE_OUTPUT, &ablation);
    if (status == SZG_OK)
        status =
            szgi_ablation_deposit(context, &(const szg_ablation *){&ablation}, 1, layer, &deposit);
    if (status == SZG_OK)
        *out = deposit.worst_head;
    szg_ablation_close(&ablation);
    return status;
}

szg_status szgi_head_settle(szg_context *context, const szg_reproduction *self,
                            reproduction_run *run) {
    char text[24];
    int64_t head;
    const szg_reproduction_run *other = run->needs < 0 ? NULL : &self->run[run->needs].shown;
    if (run->head_state != HEAD_OPEN || !(other->finished || other->failed))
        return SZG_OK;
    if (other->failed) {
        run->head_state = HEAD_FAILED;
        run->shown.failed = true;
        return SZG_OK;
    }
    SZG_TRY(find_winner(context, &self->run[run->needs], run->head.layer, &head));
    if (head < 0) {
        run->head_state = HEAD_ABSENT;
        return SZG_OK;
    }
    if (run->head.other)
        head = szgi_head_other(run->shown.seed, run->head.layer, run->config->model.heads, head);
    snprintf(text, sizeof text, "%" PRId64, head);
    szg_status status = szg_train_config_set(context, run->config, "intervention.head", text);
    if (status == SZG_OK)
        status = szg_train_config_check(context, run->config);
    if (status != SZG_OK) /* of the file, not of the command line */
        return szgi_fail_prefix(context, status == SZG_EINVAL ? SZG_EDATA : status, "%s",
                                run->name);
    run->intervened = head;
    run->head_state = HEAD_KNOWN;
    run->shown.settled = true;
    return SZG_OK;
}
