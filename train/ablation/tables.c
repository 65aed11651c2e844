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
    SZG_TRY(szgi_memory_alloc(context, count, &out->head));
    out->layer = out->head + layers * heads;
    szg_status status = szgi_memory_alloc(context, count, &out->spared);
    if (status != SZG_OK)
        szg_ablation_close(out);
    return status;
}

void szg_ablation_close(szg_ablation *ablation) {
    szgi_memory_free(ablation->spared);
    szgi_memory_free(ablation->head);
    *ablation = (szg_ablation){0};
}

/* The last columns of both tables. */
#define METHOD_COLUMNS(X, TABLE)                                                                   \
    X(TABLE##_METHOD, "method", SZG_TEXT, "", "method",                                            \
      "how a head is taken away: output, values, latent_columns, cumulative or rotation")          \
    X(TABLE##_NOTE, "note", SZG_TEXT, "", "note", "")

/* ---- Ablation ---- */

#define ABLATION(X)                                                                                \
    RUN_COLUMNS(X, ABLATION)                                                                       \
    X(ABLATION_LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                \
    X(ABLATION_HEAD, "head", SZG_INTEGER, "1", "head",                                             \
      "from 0; empty: all heads of the layer at once")                                             \
    X(ABLATION_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy",                                    \
      "share of right predictions without the head")                                               \
    X(ABLATION_DROP, "drop", SZG_REAL, "1", "loss of accuracy",                                    \
      "accuracy of the whole model less that without the head")                                    \
    X(ABLATION_LABEL_CEILING, "label_ceiling", SZG_REAL, "1", "label ceiling",                     \
      "best accuracy that any classifier can have; empty: not known")                              \
    METHOD_COLUMNS(X, ABLATION)
#define ABLATION_SCREEN                                                                            \
    SZGI_SHOW(1, run)                                                                              \
    SZGI_SHOW(2, encoding)                                                                         \
    SZGI_SHOW(2, task)                                                                             \
    SZGI_SHOW(2, seed)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW_EMPTY(1, head, "all")                                                                \
    SZGI_SHOW(1, accuracy)                                                                         \
    SZGI_SHOW(1, drop)                                                                             \
    SZGI_SHOW(3, label_ceiling)                                                                    \
    SZGI_SHOW(3, method)
SZGI_SCHEMA(ablation_columns, "ablation", ABLATION, ABLATION_SCREEN);

szg_status szg_ablation_table_open(szg_context *context, szg_table **out) {
    SZGI_ENTER(context);
    return szgi_schema_open(context, &ablation_columns_schema, out);
}

/* head < 0: all heads. */
static szg_status ablation_row(szg_context *context, szg_table *table, const szg_run_key *key,
                               const szg_ablation *ablation, int64_t layer, int64_t head) {
    double accuracy =
        head < 0 ? ablation->layer[layer] : ablation->head[layer * ablation->heads + head];
    szgi_row row = szgi_row_add(context, table);
    szgi_run_key_put(&row, key);
    szgi_row_integer(&row, ABLATION_LAYER, layer);
    szgi_row_place(&row, ABLATION_HEAD, head);
    szgi_row_real(&row, ABLATION_ACCURACY, accuracy);
    szgi_row_real(&row, ABLATION_DROP, ablation->accuracy - accuracy);
    szgi_row_number(&row, ABLATION_LABEL_CEILING, ablation->ceiling);
    szgi_row_text(&row, ABLATION_METHOD, szgi_ablation_method_name(ablation->method));
    if (head >= ablation->reach)
        szgi_row_note(&row, "nothing is ablated: the columns of this head lie beyond the latent "
                            "dimensions");
    else if (head >= 0 && szgi_ablation_spares(ablation, layer, head))
        szgi_row_note(&row, "nothing is ablated: this head does not rotate");
    if (ablation->method == SZG_ABLATE_CUMULATIVE && layer > 0)
        szgi_row_note(&row, "the last head of every layer below is off too");
    return row.status;
}

szg_status szg_ablation_rows(szg_context *context, szg_table *table, const szg_run_key *key,
                             const szg_ablation *ablation) {
    SZGI_ENTER(context);
    for (int64_t layer = 0; layer < ablation->layers; layer++)
        for (int64_t place = 0; place <= ablation->heads; place++)
            SZG_TRY(ablation_row(context, table, key, ablation, layer,
                                 place < ablation->heads ? place : -1));
    return SZG_OK;
}

/* ---- Deposit ---- */

#define DEPOSIT(X)                                                                                 \
    RUN_COLUMNS(X, DEPOSIT)                                                                        \
    X(DEPOSIT_LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                 \
    X(DEPOSIT_RUNS, "runs", SZG_INTEGER, "1", "runs",                                              \
      "runs in which some head's loss costs accuracy in this layer")                               \
    X(DEPOSIT_WORST_HEAD, "worst_head", SZG_INTEGER, "1", "worst head",                            \
      "the head with the largest drop")                                                            \
    X(DEPOSIT_TOTAL_DROP, "total_drop", SZG_REAL, "1", "sum of the drops",                         \
      "sum of the positive drops of the layer's heads")                                            \
    X(DEPOSIT_LARGEST_DROP, "largest_drop", SZG_REAL, "1", "largest drop",                         \
      "accuracy that the loss of the worst head costs")                                            \
    X(DEPOSIT_INDEX, "index", SZG_REAL, "1", "deposit index",                                      \
      "share of the total drop that the worst head carries")                                       \
    X(DEPOSIT_UNIFORM_INDEX, "uniform_index", SZG_REAL, "1",                                       \
      "mean of the largest of uniform shares",                                                     \
      "mean index of shares uniform on the simplex: not of equal heads")                           \
    X(DEPOSIT_INDEX_LEAST, "index_least", SZG_REAL, "1", "least deposit index",                    \
      "least of the seeds")                                                                        \
    X(DEPOSIT_INDEX_GREATEST, "index_greatest", SZG_REAL, "1", "greatest deposit index",           \
      "greatest of the seeds")                                                                     \
    X(DEPOSIT_INDEX_T_LOW, "index_t_low", SZG_REAL, "1", "lower end of the mean index",            \
      "95% interval of the mean by Student's t, over seeds")                                       \
    X(DEPOSIT_INDEX_T_HIGH, "index_t_high", SZG_REAL, "1", "upper end of the mean index",          \
      "95% interval of the mean by Student's t, over seeds")                                       \
    X(DEPOSIT_GINI, "gini", SZG_REAL, "1", "Gini coefficient of the drops",                        \
      "Gini coefficient of the drops")                                                             \
    X(DEPOSIT_GINI_LEAST, "gini_least", SZG_REAL, "1", "least Gini coefficient",                   \
      "least of the seeds")                                                                        \
    X(DEPOSIT_GINI_GREATEST, "gini_greatest", SZG_REAL, "1", "greatest Gini coefficient",          \
      "greatest of the seeds")                                                                     \
    X(DEPOSIT_GINI_T_LOW, "gini_t_low", SZG_REAL, "1", "lower end of the mean Gini coefficient",   \
      "95% interval of the mean by Student's t, over seeds")                                       \
    X(DEPOSIT_GINI_T_HIGH, "gini_t_high", SZG_REAL, "1", "upper end of the mean Gini coefficient", \
      "95% interval of the mean by Student's t, over seeds")                                       \
    X(DEPOSIT_RANGE_COVERAGE, "range_coverage", SZG_REAL, "1",                                     \
      "chance that the range holds the median",                                                    \
      "chance that [least, greatest] holds the median over seeds: 1 - 2^(1 - runs)")               \
    METHOD_COLUMNS(X, DEPOSIT)
#define DEPOSIT_SCREEN                                                                             \
    SZGI_SHOW_EMPTY(1, run, "mean")                                                                \
    SZGI_SHOW(2, encoding)                                                                         \
    SZGI_SHOW(2, task)                                                                             \
    SZGI_SHOW(2, seed)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, worst_head)                                                                       \
    SZGI_SHOW(1, largest_drop)                                                                     \
    SZGI_SHOW(1, total_drop)                                                                       \
    SZGI_SHOW(1, index)                                                                            \
    SZGI_SHOW(2, uniform_index)                                                                    \
    SZGI_SHOW(1, gini)
SZGI_SCHEMA(deposit_columns, "deposit", DEPOSIT, DEPOSIT_SCREEN);

szg_status szg_deposit_table_open(szg_context *context, szg_table **out) {
    SZGI_ENTER(context);
    return szgi_schema_open(context, &deposit_columns_schema, out);
}

static void put_reals(szgi_row *row, const szgi_deposit *deposit) {
    szgi_row_number(row, DEPOSIT_TOTAL_DROP, deposit->total);
    szgi_row_number(row, DEPOSIT_LARGEST_DROP, deposit->largest);
    szgi_row_number(row, DEPOSIT_INDEX, deposit->index);
    szgi_row_number(row, DEPOSIT_UNIFORM_INDEX, deposit->uniform_index);
    szgi_row_number(row, DEPOSIT_INDEX_LEAST, deposit->index_spread.least);
    szgi_row_number(row, DEPOSIT_INDEX_GREATEST, deposit->index_spread.greatest);
    szgi_row_number(row, DEPOSIT_INDEX_T_LOW, deposit->index_spread.low);
    szgi_row_number(row, DEPOSIT_INDEX_T_HIGH, deposit->index_spread.high);
    szgi_row_number(row, DEPOSIT_GINI, deposit->gini);
    szgi_row_number(row, DEPOSIT_GINI_LEAST, deposit->gini_spread.least);
    szgi_row_number(row, DEPOSIT_GINI_GREATEST, deposit->gini_spread.greatest);
    szgi_row_number(row, DEPOSIT_GINI_T_LOW, deposit->gini_spread.low);
    szgi_row_number(row, DEPOSIT_GINI_T_HIGH, deposit->gini_spread.high);
    szgi_row_number(row, DEPOSIT_RANGE_COVERAGE, deposit->coverage);
}

static void note_deposit(szgi_row *row, const szgi_deposit *deposit, int64_t count) {
    if (deposit->runs == 0)
        szgi_row_note(row, "no head's loss costs accuracy in this layer");
    else if (deposit->runs < 2)
        szgi_row_note(row, "%s: no interval",
                      count > 1 ? "one of the seeds has a drop" : "one seed");
    else
        szgi_row_note(row,
                      "mean over %" PRId64 " seeds; [least, greatest] holds their median with a "
                      "chance of %.4g%%",
                      deposit->runs, 100 * deposit->coverage);
}

static const char *why_no_uniform(const szg_ablation *const *runs, int64_t layer) {
    if (runs[0]->method == SZG_ABLATE_CUMULATIVE)
        return "the last heads of the layers below are off in every drop";
    return szgi_ablation_able(runs[0], layer) > 0
               ? "the seeds differ in how many heads can be ablated"
               : "no head of this layer can be ablated";
}

static szg_status deposit_row(szg_context *context, szg_table *table, const szg_run_key *key,
                              const szg_ablation *const *runs, int64_t count, int64_t layer) {
    szgi_deposit deposit;
    SZG_TRY(szgi_ablation_deposit(context, runs, count, layer, &deposit));
    szgi_row row = szgi_row_add(context, table);
    szgi_run_key_put(&row, key);
    szgi_row_integer(&row, DEPOSIT_LAYER, layer);
    szgi_row_integer(&row, DEPOSIT_RUNS, deposit.runs);
    szgi_row_place(&row, DEPOSIT_WORST_HEAD, deposit.worst_head);
    put_reals(&row, &deposit);
    szgi_row_text(&row, DEPOSIT_METHOD, szgi_ablation_method_name(runs[0]->method));
    if (isnan(deposit.uniform_index))
        szgi_row_note(&row, "no uniform_index: %s", why_no_uniform(runs, layer));
    note_deposit(&row, &deposit, count);
    return row.status;
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
    SZGI_ENTER(context);
    const szg_ablation **members;
    for (int64_t r = 0; r < count; r++)
        for (int64_t layer = 0; layer < runs[r]->layers; layer++)
            SZG_TRY(deposit_row(context, table, &keys[r], &runs[r], 1, layer));
    SZG_TRY(szgi_memory_alloc(context, count, &members));
    szg_status status = SZG_OK;
    for (int64_t r = 0; r < count && status == SZG_OK; r++)
        status = mean_rows(context, table, keys, runs, count, r, together, members);
    szgi_memory_free(members);
    return status;
}
