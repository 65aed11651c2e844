/* A reproduction: opening, and its tables. */
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"

#include "reproduce_private.h"

/* A run whose head is not known cannot be judged. */
static szg_status refuse_finished(szg_context *context, const szg_reproduction *self,
                                  const reproduction_run *run) {
    const char *of = self->run[run->needs].name;
    char *path, words[HEAD_WORDS];
    SZG_TRY(szgi_path_join(context, run->folder, "finished.json", &path));
    szg_status status = SZG_OK;
    if (access(path, F_OK) == 0)
        status = run->head_state == HEAD_OPEN
                     ? szgi_fail(context, SZG_EDATA,
                                 "%s: the run is finished, and %s, whose ablation says on which "
                                 "head it intervenes, is not: copy that run too, or remove "
                                 "finished.json to train this one again",
                                 path, of)
                     : szgi_fail(context, SZG_EDATA,
                                 "%s: the run is finished, and %s: there is no head to intervene "
                                 "on: remove this run's folder",
                                 path, szgi_head_absence(self, run, words));
    szgi_memory_free(path);
    return status;
}

/* A folder of an earlier run, or a copy of one: weights are not needed, as nothing reads those of a
 * finished run. */
static szg_status find_run(szg_context *context, const szg_reproduction *self,
                           reproduction_run *run) {
    SZG_TRY(szgi_head_settle(context, self, run));
    if (run->head_state != HEAD_KNOWN)
        return refuse_finished(context, self, run);
    SZG_TRY(szgi_facts_read(context, run));
    SZG_TRY(szgi_failure_read(context, run));
    return run->shown.finished ? szgi_reproduction_judge(context, run) : SZG_OK;
}

/* Those that wait for another run come after the others. */
static szg_status find_runs(szg_context *context, szg_reproduction *self, bool waiting) {
    for (int64_t i = 0; i < self->count; i++)
        if (waiting == (self->run[i].needs >= 0))
            SZG_TRY(find_run(context, self, &self->run[i]));
    return SZG_OK;
}

static szg_status find_folders(szg_context *context, szg_reproduction *self, const char *folder) {
    char *runs;
    SZG_TRY(szgi_memory_copy_text(context, folder, &self->folder));
    SZG_TRY(szgi_path_join(context, folder, "runs", &runs));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < self->count && status == SZG_OK; i++)
        status = szgi_path_join(context, runs, self->run[i].name, &self->run[i].folder);
    szgi_memory_free(runs);
    if (status == SZG_OK)
        status = find_runs(context, self, false);
    return status == SZG_OK ? find_runs(context, self, true) : status;
}

szg_status szg_reproduction_open(szg_context *context, const szg_reproduction_options *options,
                                 szg_reproduction **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_reproduction_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_reproduction_options, options, &own));
    SZG_TRY(szgi_memory_alloc(context, 1, out));
    szg_status status = szgi_preset_read(context, &own, *out);
    if (status == SZG_OK && own.folder)
        status = find_folders(context, *out, own.folder);
    if (status != SZG_OK)
        szg_reproduction_close(out);
    return status;
}

void szg_reproduction_close(szg_reproduction **reproduction) {
    szg_reproduction *self = *reproduction;
    if (!self)
        return;
    for (int64_t i = 0; i < self->count; i++) {
        szgi_memory_free(self->run[i].name);
        szgi_memory_free(self->run[i].experiment);
        szgi_memory_free(self->run[i].like);
        szgi_memory_free(self->run[i].encoding);
        szgi_memory_free(self->run[i].folder);
        szgi_memory_free(self->run[i].reason);
        szgi_memory_free(self->run[i].config);
    }
    szgi_memory_free(self->run);
    szgi_json_close(&self->document);
    szgi_memory_free(self->folder);
    szgi_memory_free(self->preset);
    szgi_memory_free(self->about);
    szgi_memory_free(self->name);
    szgi_memory_free(self);
    *reproduction = NULL;
}

const char *szg_reproduction_name(const szg_reproduction *reproduction) {
    return reproduction->name;
}

const char *szg_reproduction_about(const szg_reproduction *reproduction) {
    return reproduction->about;
}

const char *szg_reproduction_preset(const szg_reproduction *reproduction) {
    return reproduction->preset;
}

int64_t szg_reproduction_count(const szg_reproduction *reproduction) {
    return reproduction->count;
}

szg_reproduction_run szg_reproduction_run_at(const szg_reproduction *reproduction, int64_t index) {
    return reproduction->run[index].shown;
}

/* ---- Tables ---- */

static szg_status report(szg_context *context, const szg_reproduction *self,
                         const szg_reproduction *other, double rate, szg_reproduction_tables *out) {
    SZG_TRY(szgi_reproduction_items(context, self, &out->items));
    SZG_TRY(szgi_reproduction_settings(context, self, &out->settings));
    SZG_TRY(szgi_reproduction_needs(context, self, other, rate, &out->needs));
    SZG_TRY(szgi_reproduction_missing(context, self, &out->missing));
    SZG_TRY(szgi_reproduction_runs(context, self, &out->runs));
    SZG_TRY(szgi_reproduction_curves(context, self, &out->curves));
    SZG_TRY(szgi_reproduction_contraction(context, self, &out->contraction));
    SZG_TRY(szgi_reproduction_length(context, self, &out->length));
    return szgi_reproduction_ablation(context, self, &out->ablation, &out->deposit);
}

szg_status szg_reproduction_report(szg_context *context, const szg_reproduction *reproduction,
                                   const szg_reproduction *other, double rate,
                                   szg_reproduction_tables *out) {
    *out = (szg_reproduction_tables){0};
    SZGI_ENTER(context);
    szg_status status = report(context, reproduction, other, rate, out);
    if (status != SZG_OK)
        szg_reproduction_tables_close(out);
    return status;
}

void szg_reproduction_tables_close(szg_reproduction_tables *tables) {
    szg_table **const all[] = {&tables->items,    &tables->settings, &tables->needs,
                               &tables->missing,  &tables->runs,     &tables->curves,
                               &tables->ablation, &tables->deposit,  &tables->contraction,
                               &tables->length};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        szg_table_close(all[i]);
}
