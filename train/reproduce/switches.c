/* What one difference in the configuration does: runs of an experiment against those that it is
 * like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "train/config/config_private.h"
#include "reproduce_private.h"
#include "train/data/running_mean.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

#define SWITCHES(X)                                                                                \
    X(SWITCHES_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment", "part of the preset")         \
    X(SWITCHES_LIKE, "like", SZG_TEXT, "", "compared with",                                        \
      "the experiment that it is compared with")                                                   \
    X(SWITCHES_ENCODING, "encoding", SZG_TEXT, "", "encoding", "SPEC of the encoding")             \
    X(SWITCHES_TASK, "task", SZG_TEXT, "", "task", "distance or count")                            \
    X(SWITCHES_WITH, "with", SZG_TEXT, "", "with", "the keys that differ, as they are here")       \
    X(SWITCHES_WITHOUT, "without", SZG_TEXT, "", "without",                                        \
      "the same keys in the other experiment")                                                     \
    X(SWITCHES_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy",                                    \
      "test accuracy with the switch, mean over seeds")                                            \
    X(SWITCHES_SPREAD, "spread", SZG_REAL, "1", "standard deviation over seeds",                   \
      "its standard deviation over seeds")                                                         \
    X(SWITCHES_SEEDS, "seeds", SZG_INTEGER, "1", "seeds", "finished runs")                         \
    X(SWITCHES_ACCURACY_WITHOUT, "accuracy_without", SZG_REAL, "1", "accuracy without it",         \
      "test accuracy without the switch, mean over seeds")                                         \
    X(SWITCHES_SPREAD_WITHOUT, "spread_without", SZG_REAL, "1", "standard deviation without it",   \
      "its standard deviation over seeds")                                                         \
    X(SWITCHES_SEEDS_WITHOUT, "seeds_without", SZG_INTEGER, "1", "seeds without it",               \
      "finished runs")                                                                             \
    X(SWITCHES_DIFFERENCE, "difference", SZG_REAL, "1", "difference of accuracy",                  \
      "accuracy with less that without, mean over the seeds of both")                              \
    X(SWITCHES_DIFFERENCE_SPREAD, "difference_spread", SZG_REAL, "1",                              \
      "standard deviation of the difference", "its standard deviation over those seeds")           \
    X(SWITCHES_PAIRS, "pairs", SZG_INTEGER, "1", "seeds on both sides",                            \
      "seeds that have run with and without")                                                      \
    X(SWITCHES_NOTE, "note", SZG_TEXT, "", "note", "")
#define SWITCHES_SCREEN                                                                            \
    SZGI_SHOW(1, experiment)                                                                       \
    SZGI_SHOW(1, encoding)                                                                         \
    SZGI_SHOW(1, task)                                                                             \
    SZGI_SHOW(1, accuracy)                                                                         \
    SZGI_SHOW(2, accuracy_without)                                                                 \
    SZGI_SHOW(1, difference)                                                                       \
    SZGI_SHOW(2, difference_spread)                                                                \
    SZGI_SHOW(1, pairs)                                                                            \
    SZGI_SHOW(3, like)                                                                             \
    SZGI_SHOW(4, with)                                                                             \
    SZGI_SHOW(4, without)
SZGI_SCHEMA(columns, "switches", SWITCHES, SWITCHES_SCREEN);

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
    SZG_TRY(szgi_memory_alloc(context, out->count, &out->run));
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

static void put_mean(szgi_row *row, const running_mean *mean, int value, int spread, int count) {
    szgi_row_number(row, value, mean_of(mean));
    szgi_row_number(row, spread, spread_of(mean));
    szgi_row_integer(row, count, mean->count);
}

static void put_means(szgi_row *row, run_kind others, run_kind own) {
    running_mean with = {0}, without = {0}, difference = {0};
    take_runs(own, &with);
    take_runs(others, &without);
    take_differences(own, others, &difference);
    put_mean(row, &with, SWITCHES_ACCURACY, SWITCHES_SPREAD, SWITCHES_SEEDS);
    put_mean(row, &without, SWITCHES_ACCURACY_WITHOUT, SWITCHES_SPREAD_WITHOUT,
             SWITCHES_SEEDS_WITHOUT);
    put_mean(row, &difference, SWITCHES_DIFFERENCE, SWITCHES_DIFFERENCE_SPREAD, SWITCHES_PAIRS);
}

static szg_status switch_row(szg_context *context, szg_table *table, run_kind others,
                             run_kind own) {
    const reproduction_run *kind = own.run[0];
    char keys[2][SZG_CONFIG_TEXT];
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, SWITCHES_EXPERIMENT, kind->experiment);
    szgi_row_text(&row, SWITCHES_LIKE, kind->like);
    szgi_row_text(&row, SWITCHES_ENCODING, kind->encoding);
    szgi_row_text(&row, SWITCHES_TASK, kind->shown.task);
    put_means(&row, others, own);
    if (others.count == 0) {
        szgi_row_note(&row, "%s has no run of this encoding and task", kind->like);
        return row.status;
    }
    differences(kind->config, others.run[0]->config, keys[0], keys[1]);
    szgi_row_text(&row, SWITCHES_WITH, keys[0]);
    szgi_row_text(&row, SWITCHES_WITHOUT, keys[1]);
    if (!*keys[0])
        szgi_row_note(&row, "nothing differs");
    return row.status;
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
            SZG_TRY(szgi_schema_open(context, &columns_schema, out));
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
