/* The paper's tables and figures, one by one: which runs they rest on, and the settings of its
 * Tables 3 and 4 beside those of the runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "published.h"

#include "train/config/config_private.h"
#include "reproduce_private.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Whether `name` is one of "a|b|c". */
static bool is_listed(const char *list, const char *name, size_t length) {
    for (const char *at = list; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (strcspn(at, "|") == length && strncmp(at, name, length) == 0)
            return true;
    }
    return false;
}

static bool has_encoding(const reproduction_run *run, const char *list) {
    return is_listed(list, run->encoding, strcspn(run->encoding, ":"));
}

/* ---- Tables and figures ---- */

typedef struct item {
    const char *name, *about, *encodings, *task; /* task NULL: both */
    int64_t rotated;   /* heads that rotate; 0: any number; -1: runs that are not of the sweep */
    const char *table; /* where it stands */
} item;

#define FIGURE_2 "rope|nope|absolute|alibi|relative|t5|random"
#define OTHERS "absolute|alibi|relative|t5|random"
static const item items[] = {
    {"Table 1", "test accuracy", "mla|rope|nope", NULL, -1, "table1"},
    {"Figure 2", "trigger distance by epoch", FIGURE_2, "distance", -1, "curves"},
    {"Figure 3", "trigger count by epoch", FIGURE_2, "count", -1, "curves"},
    {"Figure 4", "accuracy without a head: RoPE, NoPE", "rope|nope", NULL, -1, "ablation"},
    {"Figure 5", "accuracy by rotated heads", "rope", NULL, 0, "sweep"},
    {"Figure 6", "without a head: RoPE and absolute", "rope+absolute", NULL, -1, "ablation"},
    {"Figure 7", "without a head: MLA", "mla", NULL, -1, "ablation"},
    {"Figure 8", "without a head: the other encodings", OTHERS, NULL, -1, "ablation"},
    {"Figure 9", "without a head: RoPE in 2 heads", "rope", NULL, 2, "ablation"},
    {"Figure 10", "without a head: RoPE in 3 heads", "rope", NULL, 3, "ablation"},
    {"Figure 11", "without a head: RoPE in 5 heads", "rope", NULL, 5, "ablation"},
    {"Figure 12", "without a head: RoPE in 6 heads", "rope", NULL, 6, "ablation"},
    {"Figure 13", "without a head: RoPE in 13 heads", "rope", NULL, 13, "ablation"},
    {"Figure 14", "without a head: RoPE in 15 heads", "rope", NULL, 15, "ablation"},
};

static bool belongs(const reproduction_run *run, const item *which) {
    int64_t rotated = run->shown.rotated_heads;
    bool ablation = strcmp(which->table, "ablation") == 0;
    return !run->like && has_encoding(run, which->encodings) &&
           (!which->task || strcmp(which->task, run->shown.task) == 0) &&
           (!ablation || run->shown.methods != 0) &&
           (which->rotated == 0 ? rotated > 0 : rotated == which->rotated);
}

#define ITEMS(X)                                                                                   \
    X(ITEMS_ITEM, "item", SZG_TEXT, "", "item", "table or figure of the paper")                    \
    X(ITEMS_ABOUT, "about", SZG_TEXT, "", "about", "what it shows")                                \
    X(ITEMS_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment", "part of the preset")            \
    X(ITEMS_TABLE, "table", SZG_TEXT, "", "table", "the table here that holds it")                 \
    X(ITEMS_RUNS, "runs", SZG_INTEGER, "1", "runs", "runs of the preset that it needs")            \
    X(ITEMS_FINISHED, "finished", SZG_INTEGER, "1", "runs finished", "those that are finished")    \
    X(ITEMS_NOTE, "note", SZG_TEXT, "", "note", "")
#define ITEMS_SCREEN                                                                               \
    SZGI_SHOW(1, item)                                                                             \
    SZGI_SHOW_PROSE(1, about)                                                                      \
    SZGI_SHOW(1, runs)                                                                             \
    SZGI_SHOW(1, finished)                                                                         \
    SZGI_SHOW(2, table)
SZGI_SCHEMA(items_columns, "items", ITEMS, ITEMS_SCREEN);

/* Of the experiment that the run `first` begins; -1: the item is of none. */
static szg_status item_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                           const item *which, int64_t first) {
    int64_t runs = 0, finished = 0;
    for (int64_t i = first; i >= 0; i = self->run[i].next) {
        bool counts = belongs(&self->run[i], which);
        runs += counts;
        finished += counts && self->run[i].shown.finished;
    }
    if (first >= 0 && runs == 0)
        return SZG_OK;
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, ITEMS_ITEM, which->name);
    szgi_row_text(&row, ITEMS_ABOUT, which->about);
    szgi_row_text(&row, ITEMS_EXPERIMENT, first >= 0 ? self->run[first].experiment : NULL);
    szgi_row_text(&row, ITEMS_TABLE, which->table);
    szgi_row_integer(&row, ITEMS_RUNS, runs);
    szgi_row_integer(&row, ITEMS_FINISHED, finished);
    if (runs == 0)
        szgi_row_note(&row, "this preset has no such run");
    else if (finished < runs)
        szgi_row_note(&row, "%" PRId64 " runs are missing", runs - finished);
    return row.status;
}

szg_status szgi_reproduction_items(szg_context *context, const szg_reproduction *self,
                                   szg_table **out) {
    SZG_TRY(szgi_schema_open(context, &items_columns_schema, out));
    for (int64_t at = 0; at < COUNT(items); at++) {
        int64_t rows = szg_table_rows(*out);
        for (int64_t i = 0; i < self->count; i++)
            if (reproduction_begins_experiment(self, i))
                SZG_TRY(item_row(context, *out, self, &items[at], i));
        if (szg_table_rows(*out) == rows)
            SZG_TRY(item_row(context, *out, self, &items[at], -1));
    }
    return SZG_OK;
}

/* ---- Settings ---- */

typedef struct setting {
    const char *key, *about, *task; /* key "seed": the run's own; task NULL: both */
} setting;

static const setting settings[] = {
    {"model.vocabulary", "vocabulary", NULL},
    {"model.layers", "layers", NULL},
    {"model.width", "d_model", NULL},
    {"model.hidden", "d_ff", NULL},
    {"model.heads", "heads", NULL},
    {"model.latent_kv", "compression dimension", NULL},
    {"model.dropout", "dropout", NULL},
    {"model.max_length", "maximum length", NULL},
    {"data.examples", "examples", "distance"},
    {"data.examples", "examples", "count"},
    {"data.train_part", "training part", NULL},
    {"loop.epochs", "epochs", "distance"},
    {"loop.epochs", "epochs", "count"},
    {"loop.batch", "batch", NULL},
    {"loop.learning_rate", "AdamW's learning rate", NULL},
    {"loop.beta1", "AdamW's first beta", NULL},
    {"loop.beta2", "AdamW's second beta", NULL},
    {"loop.decay", "weight decay", NULL},
    {"loop.warmup", "warm-up, then a cosine", NULL},
    {"seed", "seed", NULL},
};

#define SETTINGS(X)                                                                                \
    X(SETTINGS_ITEM, "item", SZG_TEXT, "", "item", "Table 3, or 4 for mla")                        \
    X(SETTINGS_SETTING, "setting", SZG_TEXT, "", "setting", "as the paper calls it")               \
    X(SETTINGS_TASK, "task", SZG_TEXT, "", "task", "distance or count; empty: both")               \
    X(SETTINGS_KEY, "key", SZG_TEXT, "", "key", "of the configuration")                            \
    X(SETTINGS_PAPER, "paper", SZG_TEXT, "", "paper's value",                                      \
      "the paper's value; two values have | between them")                                         \
    X(SETTINGS_HERE, "here", SZG_TEXT, "", "value here",                                           \
      "values of the preset's runs without switches; values that differ have | between them")      \
    X(SETTINGS_SAME, "same", SZG_TEXT, "", "same as the paper",                                    \
      "yes if every run has a value of the paper's")                                               \
    X(SETTINGS_NOTE, "note", SZG_TEXT, "", "note", "")
SZGI_SCHEMA(settings_columns, "settings", SETTINGS, SZGI_NOT_SHOWN);

static void value_of(const reproduction_run *run, const setting *which,
                     char text[SZG_CONFIG_TEXT]) {
    const config_row *row = szgi_config_row_find(which->key);
    if (row)
        szgi_config_text(row, run->config, text);
    else
        snprintf(text, SZG_CONFIG_TEXT, "%" PRIu64, run->shown.seed);
}

/* The paper has a table of its own for the runs with latent attention. */
static bool is_latent(const reproduction_run *run) {
    const szgi_encoding_traits *traits = szgi_encoding_traits_of(run->encoding);
    return traits && traits->attaches & SZGI_ATTACH_DECOUPLED;
}

/* The different values of the runs that a paper's table is about, in `list` ("a|b"). */
static void collect(const szg_reproduction *self, const setting *which, bool latent,
                    char list[SZG_CONFIG_TEXT]) {
    *list = 0;
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        char value[SZG_CONFIG_TEXT];
        if (run->like || is_latent(run) != latent ||
            (which->task && strcmp(which->task, run->shown.task) != 0))
            continue;
        value_of(run, which, value);
        size_t used = strlen(list);
        if (!*list || !is_listed(list, value, strlen(value)))
            snprintf(list + used, SZG_CONFIG_TEXT - used, "%s%.64s", used ? "|" : "", value);
    }
}

/* Whether each of "a|b" is one of `allowed`. */
static bool all_listed(const char *list, const char *allowed) {
    for (const char *at = list; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (!is_listed(allowed, at, strcspn(at, "|")))
            return false;
    }
    return true;
}

static szg_status setting_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                              const setting *which, const szgi_published *published, bool latent) {
    char here[SZG_CONFIG_TEXT];
    const char *place = latent ? "Table 4" : "Table 3";
    const char *paper = szgi_published_setting(published, place, which->key, which->task);
    collect(self, which, latent, here);
    if (!paper || !*here)
        return SZG_OK;
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, SETTINGS_ITEM, place);
    szgi_row_text(&row, SETTINGS_SETTING, which->about);
    szgi_row_text(&row, SETTINGS_TASK, which->task);
    szgi_row_text(&row, SETTINGS_KEY, which->key);
    szgi_row_text(&row, SETTINGS_PAPER, paper);
    szgi_row_text(&row, SETTINGS_HERE, here);
    szgi_row_text(&row, SETTINGS_SAME, all_listed(here, paper) ? "yes" : "no");
    return row.status;
}

szg_status szgi_reproduction_settings(szg_context *context, const szg_reproduction *self,
                                      szg_table **out) {
    szgi_published *published;
    SZG_TRY(szgi_schema_open(context, &settings_columns_schema, out));
    SZG_TRY(szgi_published_open(context, &published));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < 2 * COUNT(settings) && status == SZG_OK; i++)
        status = setting_row(context, *out, self, &settings[i % COUNT(settings)], published,
                             i >= COUNT(settings));
    szgi_published_close(&published);
    return status;
}
