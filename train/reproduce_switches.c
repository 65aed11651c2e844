/* What one difference in the configuration does: runs of an experiment against those that it is
 * like. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config_private.h"
#include "reproduce_mean.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const szg_column columns[] = {
    {"experiment", SZG_TEXT, "part of the preset"},
    {"like", SZG_TEXT, "the experiment that it is compared with"},
    {"encoding", SZG_TEXT, "SPEC of the encoding"},
    {"task", SZG_TEXT, "distance or count"},
    {"with", SZG_TEXT, "the keys that differ, as they are here"},
    {"without", SZG_TEXT, "the same keys in the other experiment"},
    {"accuracy", SZG_REAL, "test accuracy with the switch, mean over seeds"},
    {"spread", SZG_REAL, "its standard deviation over seeds"},
    {"seeds", SZG_INTEGER, "finished runs"},
    {"accuracy_without", SZG_REAL, "test accuracy without the switch, mean over seeds"},
    {"spread_without", SZG_REAL, "its standard deviation over seeds"},
    {"seeds_without", SZG_INTEGER, "finished runs"},
    {"difference", SZG_REAL, "accuracy with less that without, mean over the seeds of both"},
    {"difference_spread", SZG_REAL, "its standard deviation over those seeds"},
    {"pairs", SZG_INTEGER, "seeds that have run with and without"},
    {"note", SZG_TEXT, ""},
};

static bool same_kind(const reproduction_run *a, const reproduction_run *b) {
    return strcmp(a->encoding, b->encoding) == 0 && strcmp(a->shown.task, b->shown.task) == 0;
}

static bool is_with(const reproduction_run *run, const reproduction_run *kind) {
    return strcmp(run->experiment, kind->experiment) == 0 && same_kind(run, kind);
}

static bool is_without(const reproduction_run *run, const reproduction_run *kind) {
    return strcmp(run->experiment, kind->like) == 0 && same_kind(run, kind);
}

/* A run without the switch, finished or not; seed < 0: of any seed. NULL: the preset has none. */
static const reproduction_run *find_without(const szg_reproduction *self,
                                            const reproduction_run *kind, int64_t seed) {
    for (int64_t i = 0; i < self->count; i++)
        if (is_without(&self->run[i], kind) &&
            (seed < 0 || self->run[i].shown.seed == (uint64_t)seed))
            return &self->run[i];
    return NULL;
}

/* "key=value+key=value" of the keys in which the two differ, as they are in each. */
static void differences(const szg_train_config *config, const szg_train_config *other,
                        char with[SZG_CONFIG_TEXT], char without[SZG_CONFIG_TEXT]) {
    const config_row *row;
    size_t used[2] = {0};
    *with = *without = 0;
    for (int64_t i = 0; (row = config_row_at(i)); i++) {
        char value[2][SZG_CONFIG_TEXT];
        config_text(row, config, value[0]);
        config_text(row, other, value[1]);
        if (strcmp(value[0], value[1]) == 0)
            continue;
        for (int side = 0; side < 2; side++) {
            char *text = side ? without : with;
            int size = snprintf(text + used[side], SZG_CONFIG_TEXT - used[side], "%s%s=%.200s",
                                used[side] ? " " : "", row->key.name, value[side]);
            used[side] += (size_t)size;
            if (used[side] >= SZG_CONFIG_TEXT) /* cut: rows are for people */
                return;
        }
    }
}

static void take_runs(const szg_reproduction *self, const reproduction_run *kind,
                      running_mean *with, running_mean *without, running_mean *difference) {
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        if (!run->shown.finished)
            continue;
        if (is_without(run, kind))
            mean_take(without, run->facts.test_accuracy);
        if (!is_with(run, kind))
            continue;
        const reproduction_run *other = find_without(self, kind, (int64_t)run->shown.seed);
        mean_take(with, run->facts.test_accuracy);
        if (other && other->shown.finished)
            mean_take(difference, run->facts.test_accuracy - other->facts.test_accuracy);
    }
}

static szg_status set_mean(szg_context *context, szg_table *table, const running_mean *mean,
                           const char *value, const char *spread, const char *count) {
    SZG_TRY(set_known(context, table, value, mean_of(mean)));
    SZG_TRY(set_known(context, table, spread, spread_of(mean)));
    return szg_table_set_integer(context, table, count, mean->count);
}

static szg_status switch_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                             const reproduction_run *kind) {
    char keys[2][SZG_CONFIG_TEXT];
    running_mean with = {0}, without = {0}, difference = {0};
    const reproduction_run *other = find_without(self, kind, -1);
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "experiment", kind->experiment));
    SZG_TRY(szg_table_set_text(context, table, "like", kind->like));
    SZG_TRY(szg_table_set_text(context, table, "encoding", kind->encoding));
    SZG_TRY(szg_table_set_text(context, table, "task", kind->shown.task));
    take_runs(self, kind, &with, &without, &difference);
    SZG_TRY(set_mean(context, table, &with, "accuracy", "spread", "seeds"));
    SZG_TRY(
        set_mean(context, table, &without, "accuracy_without", "spread_without", "seeds_without"));
    SZG_TRY(set_mean(context, table, &difference, "difference", "difference_spread", "pairs"));
    if (!other)
        return szg_table_note(context, table, "%s has no run of this encoding and task",
                              kind->like);
    differences(kind->config, other->config, keys[0], keys[1]);
    SZG_TRY(szg_table_set_text(context, table, "with", keys[0]));
    SZG_TRY(szg_table_set_text(context, table, "without", keys[1]));
    return *keys[0] ? SZG_OK : szg_table_note(context, table, "nothing differs");
}

static bool is_first(const szg_reproduction *self, int64_t index) {
    for (int64_t i = 0; i < index; i++)
        if (is_with(&self->run[i], &self->run[index]))
            return false;
    return true;
}

szg_status reproduction_switches(szg_context *context, const szg_reproduction *self,
                                 szg_table **out) {
    for (int64_t i = 0; i < self->count; i++) {
        if (!self->run[i].like || !is_first(self, i))
            continue;
        if (!*out)
            SZG_TRY(szg_table_open(context, "switches", columns, COUNT(columns), out));
        SZG_TRY(switch_row(context, *out, self, &self->run[i]));
    }
    return SZG_OK;
}
