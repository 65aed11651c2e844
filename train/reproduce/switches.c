/* What one difference in the configuration does: runs of an experiment against those that it is
 * like. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "train/config/config_private.h"
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

/* Runs by experiment, encoding and task, their kind; those of one kind as they stand in the preset:
 * presets have thousands of kinds, and a run of each is looked for. */
typedef struct run_order {
    const reproduction_run **run;
    int64_t count;
} run_order;

/* The runs of one kind, finished or not. */
typedef struct run_kind {
    const reproduction_run *const *run;
    int64_t count;
} run_kind;

static int compare_kinds(const reproduction_run *run, const char *experiment,
                         const reproduction_run *like) {
    int order = strcmp(run->experiment, experiment);
    order = order ? order : strcmp(run->encoding, like->encoding);
    return order ? order : strcmp(run->shown.task, like->shown.task);
}

static int compare_runs(const void *left, const void *right) {
    const reproduction_run *a = *(const reproduction_run *const *)left,
                           *b = *(const reproduction_run *const *)right;
    int order = compare_kinds(a, b->experiment, b);
    return order ? order : (a > b) - (a < b);
}

static szg_status order_open(szg_context *context, const szg_reproduction *self, run_order *out) {
    out->count = self->count;
    SZG_TRY(szgi_memory_alloc(context, out->count, sizeof(reproduction_run *), &out->run));
    for (int64_t i = 0; i < out->count; i++)
        out->run[i] = &self->run[i];
    qsort(out->run, (size_t)out->count, sizeof(reproduction_run *), compare_runs);
    return SZG_OK;
}

/* Runs of an experiment with the encoding and the task of `like`. */
static run_kind find_kind(const run_order *order, const char *experiment,
                          const reproduction_run *like) {
    int64_t low = 0, high = order->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (compare_kinds(order->run[middle], experiment, like) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; high < order->count && compare_kinds(order->run[high], experiment, like) == 0; high++) {
    }
    return (run_kind){order->run + low, high - low};
}

/* NULL: none has the seed. */
static const reproduction_run *find_seed(run_kind kind, uint64_t seed) {
    for (int64_t i = 0; i < kind.count; i++)
        if (kind.run[i]->shown.seed == seed)
            return kind.run[i];
    return NULL;
}

/* "key=value+key=value" of the keys in which the two differ, as they are in each. */
static void differences(const szg_train_config *config, const szg_train_config *other,
                        char with[SZG_CONFIG_TEXT], char without[SZG_CONFIG_TEXT]) {
    const config_row *row;
    size_t used[2] = {0};
    *with = *without = 0;
    for (int64_t i = 0; (row = szgi_config_row_at(i)); i++) {
        char value[2][SZG_CONFIG_TEXT];
        szgi_config_text(row, config, value[0]);
        szgi_config_text(row, other, value[1]);
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

static void take_runs(run_kind kind, running_mean *out) {
    for (int64_t i = 0; i < kind.count; i++)
        if (kind.run[i]->shown.finished)
            mean_take(out, kind.run[i]->facts.test_accuracy);
}

static void take_differences(run_kind with, run_kind without, running_mean *out) {
    for (int64_t i = 0; i < with.count; i++) {
        const reproduction_run *run = with.run[i], *other = find_seed(without, run->shown.seed);
        if (run->shown.finished && other && other->shown.finished)
            mean_take(out, run->facts.test_accuracy - other->facts.test_accuracy);
    }
}

static szg_status set_mean(szg_context *context, szg_table *table, const running_mean *mean,
                           const char *value, const char *spread, const char *count) {
    SZG_TRY(set_known(context, table, value, mean_of(mean)));
    SZG_TRY(set_known(context, table, spread, spread_of(mean)));
    return szg_table_set_integer(context, table, count, mean->count);
}

static szg_status switch_row(szg_context *context, szg_table *table, run_kind others,
                             run_kind own) {
    const reproduction_run *kind = own.run[0];
    char keys[2][SZG_CONFIG_TEXT];
    running_mean with = {0}, without = {0}, difference = {0};
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "experiment", kind->experiment));
    SZG_TRY(szg_table_set_text(context, table, "like", kind->like));
    SZG_TRY(szg_table_set_text(context, table, "encoding", kind->encoding));
    SZG_TRY(szg_table_set_text(context, table, "task", kind->shown.task));
    take_runs(own, &with);
    take_runs(others, &without);
    take_differences(own, others, &difference);
    SZG_TRY(set_mean(context, table, &with, "accuracy", "spread", "seeds"));
    SZG_TRY(
        set_mean(context, table, &without, "accuracy_without", "spread_without", "seeds_without"));
    SZG_TRY(set_mean(context, table, &difference, "difference", "difference_spread", "pairs"));
    if (others.count == 0)
        return szg_table_note(context, table, "%s has no run of this encoding and task",
                              kind->like);
    differences(kind->config, others.run[0]->config, keys[0], keys[1]);
    SZG_TRY(szg_table_set_text(context, table, "with", keys[0]));
    SZG_TRY(szg_table_set_text(context, table, "without", keys[1]));
    return *keys[0] ? SZG_OK : szg_table_note(context, table, "nothing differs");
}

static szg_status add_rows(szg_context *context, const szg_reproduction *self,
                           const run_order *order, szg_table **out) {
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        if (!run->like)
            continue;
        run_kind own = find_kind(order, run->experiment, run);
        if (own.run[0] != run)
            continue;
        if (!*out)
            SZG_TRY(szg_table_open(context, "switches", columns, COUNT(columns), out));
        SZG_TRY(switch_row(context, *out, find_kind(order, run->like, run), own));
    }
    return SZG_OK;
}

szg_status szgi_reproduction_switches(szg_context *context, const szg_reproduction *self,
                                      szg_table **out) {
    run_order order;
    SZG_TRY(order_open(context, self, &order));
    szg_status status = add_rows(context, self, &order, out);
    szgi_memory_free(order.run);
    return status;
}
