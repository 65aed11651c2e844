/* The numbers of an ablation, and the tables `ablation` and `deposit`. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ablation.h"
#include "base/memory.h"

#include "train/run/run_private.h"

szg_status szgi_ablation_open(szg_context *context, int64_t layers, int64_t heads,
                              szg_ablation *out) {
    int64_t count;
    *out = (szg_ablation){.layers = layers, .heads = heads, .reach = heads, .ceiling = NAN};
    SZG_TRY(szgi_memory_product(context, layers, heads + 1, &count));
    SZG_TRY(szgi_memory_alloc(context, count, sizeof *out->head, &out->head));
    out->layer = out->head + layers * heads;
    return SZG_OK;
}

void szg_ablation_close(szg_ablation *ablation) {
    szgi_memory_free(ablation->head);
    *ablation = (szg_ablation){0};
}

/* Leaves the cell empty where there is no number. */
static szg_status set_known(szg_context *context, szg_table *table, const char *column,
                            double value) {
    return isnan(value) ? SZG_OK : szg_table_set_real(context, table, column, value);
}

/* The last columns of both tables. */
#define METHOD_COLUMNS                                                                             \
    {"method", SZG_TEXT, "how a head goes: output, values, latent_columns or cumulative"}, {       \
        "note", SZG_TEXT, ""                                                                       \
    }

static szg_status set_method(szg_context *context, szg_table *table, const szg_ablation *ablation) {
    return szg_table_set_text(context, table, "method",
                              szgi_ablation_method_name(ablation->method));
}

/* ---- Ablation ---- */

szg_status szg_ablation_table_open(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {
        RUN_COLUMNS,
        {"layer", SZG_INTEGER, "from 0"},
        {"head", SZG_INTEGER, "from 0; empty: all heads of the layer at once"},
        {"accuracy", SZG_REAL, "share of right predictions without the head"},
        {"drop", SZG_REAL, "accuracy of the whole model less that without the head"},
        {"label_ceiling", SZG_REAL, "best accuracy that any classifier can have; empty: not known"},
        METHOD_COLUMNS,
    };
    return szg_table_open(context, "ablation", columns, sizeof columns / sizeof *columns, out);
}

/* head < 0: all heads. */
static szg_status ablation_row(szg_context *context, szg_table *table, const szg_run_key *key,
                               const szg_ablation *ablation, int64_t layer, int64_t head) {
    double accuracy =
        head < 0 ? ablation->layer[layer] : ablation->head[layer * ablation->heads + head];
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szgi_run_key_set(context, table, key));
    SZG_TRY(szg_table_set_integer(context, table, "layer", layer));
    if (head >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "head", head));
    SZG_TRY(szg_table_set_real(context, table, "accuracy", accuracy));
    SZG_TRY(szg_table_set_real(context, table, "drop", ablation->accuracy - accuracy));
    SZG_TRY(set_known(context, table, "label_ceiling", ablation->ceiling));
    SZG_TRY(set_method(context, table, ablation));
    if (head >= ablation->reach)
        SZG_TRY(szg_table_note(context, table,
                               "nothing is ablated: the columns of this head lie beyond the "
                               "latent dimensions"));
    if (ablation->method == SZG_ABLATE_CUMULATIVE && layer > 0)
        SZG_TRY(szg_table_note(context, table, "the last head of every layer below is off too"));
    return SZG_OK;
}

szg_status szg_ablation_rows(szg_context *context, szg_table *table, const szg_run_key *key,
                             const szg_ablation *ablation) {
    for (int64_t layer = 0; layer < ablation->layers; layer++)
        for (int64_t place = 0; place <= ablation->heads; place++)
            SZG_TRY(ablation_row(context, table, key, ablation, layer,
                                 place < ablation->heads ? place : -1));
    return SZG_OK;
}

/* ---- Deposit ---- */

szg_status szg_deposit_table_open(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {
        RUN_COLUMNS,
        {"layer", SZG_INTEGER, "from 0"},
        {"runs", SZG_INTEGER, "runs in which some head's loss costs accuracy in this layer"},
        {"worst_head", SZG_INTEGER, "the head with the largest drop"},
        {"total_drop", SZG_REAL, "sum of the positive drops of the layer's heads"},
        {"largest_drop", SZG_REAL, "accuracy that the loss of the worst head costs"},
        {"index", SZG_REAL, "share of the total drop that the worst head carries"},
        {"null_index", SZG_REAL, "expected index of independent, exponential drops"},
        {"index_least", SZG_REAL, "least of the seeds"},
        {"index_greatest", SZG_REAL, "greatest of the seeds"},
        {"index_t_low", SZG_REAL, "95% interval of the mean by Student's t, over seeds"},
        {"index_t_high", SZG_REAL, "95% interval of the mean by Student's t, over seeds"},
        {"gini", SZG_REAL, "Gini coefficient of the drops"},
        {"gini_least", SZG_REAL, "least of the seeds"},
        {"gini_greatest", SZG_REAL, "greatest of the seeds"},
        {"gini_t_low", SZG_REAL, "95% interval of the mean by Student's t, over seeds"},
        {"gini_t_high", SZG_REAL, "95% interval of the mean by Student's t, over seeds"},
        {"range_coverage", SZG_REAL,
         "chance that [least, greatest] holds the median over seeds: 1 - 2^(1 - runs)"},
        METHOD_COLUMNS,
    };
    return szg_table_open(context, "deposit", columns, sizeof columns / sizeof *columns, out);
}

static szg_status set_reals(szg_context *context, szg_table *table, const szg_deposit *deposit) {
    const struct {
        const char *name;
        double value;
    } cells[] = {{"total_drop", deposit->total},
                 {"largest_drop", deposit->largest},
                 {"index", deposit->index},
                 {"null_index", deposit->null_index},
                 {"index_least", deposit->index_spread.least},
                 {"index_greatest", deposit->index_spread.greatest},
                 {"index_t_low", deposit->index_spread.low},
                 {"index_t_high", deposit->index_spread.high},
                 {"gini", deposit->gini},
                 {"gini_least", deposit->gini_spread.least},
                 {"gini_greatest", deposit->gini_spread.greatest},
                 {"gini_t_low", deposit->gini_spread.low},
                 {"gini_t_high", deposit->gini_spread.high},
                 {"range_coverage", deposit->coverage}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        SZG_TRY(set_known(context, table, cells[i].name, cells[i].value));
    return SZG_OK;
}

static szg_status note_deposit(szg_context *context, szg_table *table, const szg_deposit *deposit,
                               int64_t count) {
    if (deposit->runs == 0)
        return szg_table_note(context, table, "no head's loss costs accuracy in this layer");
    if (deposit->runs < 2)
        return szg_table_note(context, table, "%s: no interval",
                              count > 1 ? "one of the seeds has a drop" : "one seed");
    return szg_table_note(context, table,
                          "mean over %" PRId64
                          " seeds; [least, greatest] holds their median with a "
                          "chance of %.4g%%",
                          deposit->runs, 100 * deposit->coverage);
}

static szg_status note_null(szg_context *context, szg_table *table, const szg_deposit *deposit,
                            szg_ablation_method method) {
    if (!isnan(deposit->null_index))
        return SZG_OK;
    return szg_table_note(context, table, "no null_index: %s",
                          method == SZG_ABLATE_CUMULATIVE
                              ? "the last heads of the layers below are off in every drop"
                              : "the seeds differ in how many heads can be ablated");
}

static szg_status deposit_row(szg_context *context, szg_table *table, const szg_run_key *key,
                              const szg_ablation *const *runs, int64_t count, int64_t layer) {
    szg_deposit deposit;
    SZG_TRY(szgi_ablation_deposit(context, runs, count, layer, &deposit));
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szgi_run_key_set(context, table, key));
    SZG_TRY(szg_table_set_integer(context, table, "layer", layer));
    SZG_TRY(szg_table_set_integer(context, table, "runs", deposit.runs));
    if (deposit.worst_head >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "worst_head", deposit.worst_head));
    SZG_TRY(set_reals(context, table, &deposit));
    SZG_TRY(set_method(context, table, runs[0]));
    SZG_TRY(note_null(context, table, &deposit, runs[0]->method));
    return note_deposit(context, table, &deposit, count);
}

static bool same_kind(const szg_run_key *keys, const szg_ablation *const *runs, int64_t a,
                      int64_t b) {
    return strcmp(keys[a].encoding, keys[b].encoding) == 0 &&
           strcmp(keys[a].task, keys[b].task) == 0 && runs[a]->layers == runs[b]->layers &&
           runs[a]->heads == runs[b]->heads && runs[a]->method == runs[b]->method;
}

/* Rows of the mean over the runs like run `first`, if that is the first of them. */
static szg_status mean_rows(szg_context *context, szg_table *table, const szg_run_key *keys,
                            const szg_ablation *const *runs, int64_t count, int64_t first,
                            const char *together, const szg_ablation **members) {
    int64_t found = 0;
    for (int64_t r = 0; r < count; r++) {
        if (!same_kind(keys, runs, first, r))
            continue;
        if (r < first)
            return SZG_OK;
        members[found++] = runs[r];
    }
    szg_run_key all = {together, keys[first].encoding, keys[first].task, -1};
    for (int64_t layer = 0; found > 1 && layer < runs[first]->layers; layer++)
        SZG_TRY(deposit_row(context, table, &all, members, found, layer));
    return SZG_OK;
}

szg_status szg_deposit_rows(szg_context *context, szg_table *table, const szg_run_key *keys,
                            const szg_ablation *const *runs, int64_t count, const char *together) {
    const szg_ablation **members;
    for (int64_t r = 0; r < count; r++)
        for (int64_t layer = 0; layer < runs[r]->layers; layer++)
            SZG_TRY(deposit_row(context, table, &keys[r], &runs[r], 1, layer));
    SZG_TRY(szgi_memory_alloc(context, count, sizeof *members, &members));
    szg_status status = SZG_OK;
    for (int64_t r = 0; r < count && status == SZG_OK; r++)
        status = mean_rows(context, table, keys, runs, count, r, together, members);
    szgi_memory_free(members);
    return status;
}
