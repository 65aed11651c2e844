/* What one run says about its heads: the deposit beside two references, how fast it learned, and
 * whether early gradients foretell the drops. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/inference.h"
#include "base/memory.h"

#include "hypotheses.h"
#include "shares.h"
#include "train/ablation/ablation.h"

/* ---- What is compared ---- */

const char *szgi_arm_name(const char *experiment, const char *encoding,
                          char out[SZG_CONFIG_TEXT + 80]) {
    snprintf(out, SZG_CONFIG_TEXT + 80, "%.64s/%s", experiment, encoding);
    return out;
}

bool szgi_arm_has_layer(arm_measure measure) {
    return measure != ARM_ACCURACY && measure != ARM_STEPS_TO_HALF && !szgi_is_captured(measure);
}

/* ---- Curves ---- */

static double real_of(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

/* The next row of the test split behind `row`; the number of rows: there is none. */
static int64_t next_test(const szg_table *metrics, int64_t row) {
    int64_t split = szg_table_find(metrics, "split");
    for (row++; row < szg_table_rows(metrics); row++) {
        const char *text = szg_table_get_text(metrics, row, split);
        if (text && strcmp(text, "test") == 0 && isfinite(real_of(metrics, row, "accuracy")))
            break;
    }
    return row;
}

static double last_accuracy(const szg_table *metrics) {
    double last = NAN;
    for (int64_t row = next_test(metrics, -1); row < szg_table_rows(metrics);
         row = next_test(metrics, row))
        last = real_of(metrics, row, "accuracy");
    return last;
}

double szgi_steps_to_half(const szg_table *metrics, double majority) {
    double half = last_accuracy(metrics) / 2, step = 0, accuracy = majority;
    if (!(half > majority))
        return NAN;
    for (int64_t row = next_test(metrics, -1); row < szg_table_rows(metrics);
         row = next_test(metrics, row)) {
        double to = real_of(metrics, row, "step"), next = real_of(metrics, row, "accuracy");
        if (next >= half)
            return step + (to - step) * (half - accuracy) / (next - accuracy);
        step = to;
        accuracy = next;
    }
    return NAN;
}

int64_t szgi_steps_at_chance(const szg_table *metrics, double majority, int64_t examples) {
    double bound = majority + 3 * sqrt(majority * (1 - majority) / (double)examples);
    int64_t end = 0;
    for (int64_t row = next_test(metrics, -1); row < szg_table_rows(metrics);
         row = next_test(metrics, row)) {
        if (!(real_of(metrics, row, "accuracy") <= bound))
            break;
        end = szg_table_get_integer(metrics, row, szg_table_find(metrics, "step"));
    }
    return end;
}

/* ---- Gradients ---- */

/* The norms of one captured step, and the sums of shares so far. */
typedef struct share_sums {
    int64_t heads, found, steps;
    double *norm, *share;
} share_sums;

/* A step of which some head is missing says nothing of shares. */
static void end_step(share_sums *sums) {
    double total = 0;
    for (int64_t h = 0; h < sums->heads; h++)
        total += sums->norm[h];
    if (sums->found == sums->heads && total > 0) {
        for (int64_t h = 0; h < sums->heads; h++)
            sums->share[h] += sums->norm[h] / total;
        sums->steps++;
    }
    sums->found = 0;
}

/* Rows of a step stand together; the first probe of each has the step's norms, as others do. */
static void add_steps(const szg_table *from, int64_t layer, step_range range, share_sums *sums) {
    int64_t step = -1, probe = szg_table_find(from, "probe"), steps = szg_table_find(from, "step"),
            heads = szg_table_find(from, "head"), layers = szg_table_find(from, "layer");
    for (int64_t row = 0; row < szg_table_rows(from); row++) {
        int64_t own = szg_table_get_integer(from, row, steps);
        int64_t head = szg_table_get_integer(from, row, heads);
        const char *text = szg_table_get_text(from, row, probe),
                   *first = szg_table_get_text(from, 0, probe);
        if (own < range.first || own > range.last || head < 0 || head >= sums->heads || !text ||
            strcmp(text, first) != 0 || szg_table_get_integer(from, row, layers) != layer)
            continue;
        if (own != step)
            end_step(sums);
        step = own;
        sums->norm[head] = real_of(from, row, "grad_norm_qk");
        sums->found++;
    }
    end_step(sums);
}

szg_status szgi_gradient_shares(szg_context *context, const szg_table *contraction, int64_t layer,
                                int64_t heads, step_range range, double *share, int64_t *steps) {
    share_sums sums = {.heads = heads, .share = share};
    *steps = 0;
    if (!contraction || szg_table_find(contraction, "grad_norm_qk") < 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, heads, &sums.norm));
    memset(share, 0, (size_t)heads * sizeof *share);
    add_steps(contraction, layer, range, &sums);
    szgi_memory_free(sums.norm);
    for (int64_t h = 0; h < heads; h++)
        share[h] /= (double)sums.steps;
    *steps = sums.steps;
    return SZG_OK;
}

/* ---- A layer ---- */

static void take_drops(const szg_ablation *ablation, int64_t layer, double *drop) {
    for (int64_t h = 0; h < ablation->heads; h++)
        drop[h] = ablation->accuracy - ablation->head[layer * ablation->heads + h];
}

int64_t szgi_early_end(const szg_reproduction *self, const reproduction_run *run,
                       const szg_table *metrics) {
    const data_facts *data = &run->facts.data;
    return self->early_steps > 0
               ? self->early_steps
               : szgi_steps_at_chance(metrics, data->majority, data->test_examples);
}

/* With the drops as they are: gains are ranks too. */
static szg_status correlate_early(szg_context *context, const szg_reproduction *self,
                                  const reproduction_run *run, const szg_train_tables *logs,
                                  int64_t layer, arm_numbers *out) {
    int64_t heads = run->config->model.heads;
    step_range early = {0, szgi_early_end(self, run, logs->metrics) - 1};
    double *share;
    SZG_TRY(szgi_memory_alloc(context, heads, &share));
    szg_status status = szgi_gradient_shares(context, logs->contraction, layer, heads, early, share,
                                             &out->early_steps);
    if (status == SZG_OK && out->early_steps > 0)
        status = szgi_spearman(context, heads, share, out->drop, &out->rank_correlation);
    szgi_memory_free(share);
    return status;
}

/* Whether the drops exceed the least one, by more than their rounding: each is a difference of two
 * shares below 1, and their sum has a rounding a head. */
static bool drops_enough(double total, int64_t heads) {
    return total > SZGI_LEAST_DROP + (double)heads * 0x1p-52;
}

/* `out->drop`: room for the drops. */
static szg_status measure_layer(szg_context *context, const szg_reproduction *self,
                                const reproduction_run *run, const szg_train_tables *logs,
                                const szg_ablation *ablation, int64_t layer, arm_numbers *out) {
    szgi_deposit deposit;
    SZG_TRY(szgi_ablation_deposit(context, &ablation, 1, layer, &deposit));
    *out =
        (arm_numbers){.accuracy = run->facts.test_accuracy,
                      .total = deposit.total,
                      .largest = deposit.largest,
                      .index = drops_enough(deposit.total, ablation->heads) ? deposit.index : NAN,
                      .worst = deposit.worst_head,
                      .drop = out->drop,
                      .steps_to_half = szgi_steps_to_half(logs->metrics, run->facts.data.majority),
                      .rank_correlation = NAN};
    take_drops(ablation, layer, out->drop);
    SZG_TRY(correlate_early(context, self, run, logs, layer, out));
    for (int64_t h = 0; h < ablation->heads; h++)
        out->drop[h] = fmax(0, out->drop[h]);
    return SZG_OK;
}

static double number_of(const arm_numbers *of, arm_measure measure) {
    const double numbers[ARM_MEASURES] = {[ARM_INDEX] = of->index,
                                          [ARM_ACCURACY] = of->accuracy,
                                          [ARM_STEPS_TO_HALF] = of->steps_to_half,
                                          [ARM_RANK_CORRELATION] = of->rank_correlation,
                                          [ARM_TOTAL_DROP] = of->total};
    return numbers[measure];
}

/* What a run's folder holds, read. */
typedef struct run_files {
    szg_train_tables logs;
    szg_ablation ablation;
    double *drop;
} run_files;

static void close_files(run_files *files) {
    szgi_memory_free(files->drop);
    szg_ablation_close(&files->ablation);
    szg_train_tables_close(&files->logs);
}

static szg_status read_method(szg_context *context, const reproduction_run *run,
                              szg_ablation_method method, run_files *files) {
    szg_ablation_close(&files->ablation);
    return szgi_reproduction_ablation_read(context, run, method, &files->ablation);
}

static szg_status open_files(szg_context *context, const reproduction_run *run, run_files *out) {
    *out = (run_files){0};
    szg_status status = szg_train_tables_read(context, run->folder, &out->logs);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, run->config->model.heads, &out->drop);
    return status;
}

static szg_status number_of_layer(szg_context *context, const szg_reproduction *self,
                                  const reproduction_run *run, const arm_quantity *of,
                                  run_files *files, double *out) {
    arm_numbers numbers = {.drop = files->drop};
    if (!(run->shown.methods >> SZG_ABLATE_OUTPUT & 1))
        return SZG_OK;
    SZG_TRY(read_method(context, run, SZG_ABLATE_OUTPUT, files));
    SZG_TRY(measure_layer(context, self, run, &files->logs, &files->ablation, of->layer, &numbers));
    *out = number_of(&numbers, of->measure);
    return SZG_OK;
}

szg_status szgi_arm_number(szg_context *context, const szg_reproduction *self,
                           const reproduction_run *run, const arm_quantity *of, double *out) {
    run_files files;
    szg_status status = open_files(context, run, &files);
    const szg_train_tables *logs = &files.logs;
    *out = NAN;
    if (status == SZG_OK && of->measure == ARM_ACCURACY)
        *out = run->facts.test_accuracy;
    else if (status == SZG_OK && of->measure == ARM_STEPS_TO_HALF)
        *out = szgi_steps_to_half(logs->metrics, run->facts.data.majority);
    else if (status == SZG_OK && szgi_is_captured(of->measure))
        *out = szgi_captured_number(logs, of, szgi_early_end(self, run, logs->metrics));
    else if (status == SZG_OK)
        status = number_of_layer(context, self, run, of, &files, out);
    close_files(&files);
    return status;
}

/* ---- The table ---- */

#define ARMS(X)                                                                                    \
    RUN_COLUMNS(X, ARMS)                                                                           \
    X(ARMS_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment", "part of the preset")             \
    X(ARMS_ARM, "arm", SZG_TEXT, "", "arm",                                                        \
      "experiment and encoding: runs that differ in their seeds alone")                            \
    X(ARMS_LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                    \
    X(ARMS_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy", "test accuracy after the last epoch")  \
    X(ARMS_STEPS_TO_HALF, "steps_to_half", SZG_REAL, "1", "steps to half of the accuracy",         \
      "steps to half of that accuracy, between epochs on a line; empty: the run learned nothing")  \
    X(ARMS_TOTAL_DROP, "total_drop", SZG_REAL, "1", "sum of the drops",                            \
      "sum of the positive drops of the layer's heads")                                            \
    X(ARMS_LARGEST_DROP, "largest_drop", SZG_REAL, "1", "largest drop",                            \
      "accuracy that the loss of the worst head costs")                                            \
    X(ARMS_INDEX, "index", SZG_REAL, "1", "deposit index",                                         \
      "share of the total drop that the worst head carries; empty: the total is 0.05 or less")     \
    X(ARMS_WORST_HEAD, "worst_head", SZG_INTEGER, "1", "worst head",                               \
      "the head with the largest drop")                                                            \
    X(ARMS_OTHER_HEAD, "other_head", SZG_INTEGER, "1", "other head",                               \
      "one of the others, drawn from the seed")                                                    \
    X(ARMS_OTHER_INDEX, "other_index", SZG_REAL, "1", "share of the other head",                   \
      "share of the total drop that this one carries")                                             \
    X(ARMS_INTERVENED_HEAD, "intervened_head", SZG_INTEGER, "1", "intervened head",                \
      "the head of this layer that the run intervenes on")                                         \
    X(ARMS_INTERVENED_INDEX, "intervened_index", SZG_REAL, "1", "share of the intervened head",    \
      "share of the total drop that this one carries")                                             \
    X(ARMS_DIRICHLET_MEAN, "dirichlet_mean", SZG_REAL, "1", "mean of uniform shares",              \
      "expected index of shares uniform on the simplex")                                           \
    X(ARMS_DIRICHLET_95, "dirichlet_95", SZG_REAL, "1", "what 5% of uniform shares exceed",        \
      "their index exceeds it with a chance of 5%")                                                \
    X(ARMS_DIRICHLET_P, "dirichlet_p", SZG_REAL, "1", "chance under uniform shares",               \
      "the chance that their index exceeds this one")                                              \
    X(ARMS_EQUAL_95, "equal_95", SZG_REAL, "1", "what 5% of equal heads exceed",                   \
      "the same of equal heads, judged on a test split of this size")                              \
    X(ARMS_EQUAL_P, "equal_p", SZG_REAL, "1", "chance under equal heads",                          \
      "the chance that the index of equal heads is this large")                                    \
    X(ARMS_EARLY_STEPS, "early_steps", SZG_INTEGER, "1", "early steps",                            \
      "captured steps that count as early")                                                        \
    X(ARMS_RANK_CORRELATION, "rank_correlation", SZG_REAL, "1", "rank correlation",                \
      "Spearman's, over heads: share of the early gradient norm of W_Q and W_K, and final drop")   \
    X(ARMS_METHOD, "method", SZG_TEXT, "", "method", "how a head is taken away")                   \
    X(ARMS_NOTE, "note", SZG_TEXT, "", "note", "")
#define ARMS_SCREEN                                                                                \
    SZGI_SHOW(1, arm)                                                                              \
    SZGI_SHOW(2, task)                                                                             \
    SZGI_SHOW(1, seed)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, accuracy)                                                                         \
    SZGI_SHOW(1, index)                                                                            \
    SZGI_SHOW(2, total_drop)                                                                       \
    SZGI_SHOW(2, steps_to_half)                                                                    \
    SZGI_SHOW(2, rank_correlation)                                                                 \
    SZGI_SHOW(3, dirichlet_95)                                                                     \
    SZGI_SHOW(3, equal_95)                                                                         \
    SZGI_SHOW(3, worst_head)                                                                       \
    SZGI_SHOW(4, intervened_head)                                                                  \
    SZGI_SHOW(4, method)
SZGI_SCHEMA(arms_columns, "arms", ARMS, ARMS_SCREEN);

static void put_share(szgi_row *row, int64_t head_column, int64_t share_column, int64_t head,
                      const arm_numbers *of) {
    szgi_row_place(row, head_column, head);
    if (head >= 0 && isfinite(of->index))
        szgi_row_real(row, share_column, of->drop[head] / of->total);
}

static void put_heads(szgi_row *row, const reproduction_run *run, int64_t layer,
                      const arm_numbers *of) {
    int64_t heads = run->config->model.heads;
    szgi_row_place(row, ARMS_WORST_HEAD, of->worst);
    if (of->worst >= 0 && heads > 1)
        put_share(row, ARMS_OTHER_HEAD, ARMS_OTHER_INDEX,
                  szgi_head_other(run->shown.seed, layer, heads, of->worst), of);
    if (run->head.of && run->head.layer == layer)
        put_share(row, ARMS_INTERVENED_HEAD, ARMS_INTERVENED_INDEX, run->intervened, of);
}

enum { MOST_EXAMPLES = 10000000 }; /* of which a distribution fits in memory */

/* What the largest of the shares is in two references: of those that can be ablated. A
 * copied folder may say any number of test examples. */
static szg_status put_references(szgi_row *row, const reproduction_run *run,
                                 const szg_ablation *ablation, int64_t layer, const arm_numbers *of,
                                 double *trials) {
    int64_t heads = szgi_ablation_able(ablation, layer), at = 0;
    const szgi_equal_heads equal = {heads, run->facts.data.test_examples, ablation->accuracy,
                                    of->total};
    /* Above the first layer drops with the last heads of lower layers off have a part in common. */
    if (heads < 1 || (ablation->method == SZG_ABLATE_CUMULATIVE && layer > 0))
        return SZG_OK;
    szgi_row_number(row, ARMS_DIRICHLET_MEAN, szgi_deposit_uniform(heads));
    szgi_row_number(row, ARMS_DIRICHLET_95, szgi_largest_share_quantile(heads, .05));
    if (!isfinite(of->index))
        return SZG_OK;
    szgi_row_number(row, ARMS_DIRICHLET_P, szgi_largest_share_tail(heads, of->index));
    if (equal.examples < 1 || equal.examples > MOST_EXAMPLES)
        return SZG_OK;
    SZG_TRY(szgi_equal_heads_shares(row->context, &equal, run->shown.seed, layer, trials));
    szgi_row_real(row, ARMS_EQUAL_95, trials[SZGI_EQUAL_TRIALS * 95 / 100]);
    while (at < SZGI_EQUAL_TRIALS && trials[at] < of->index)
        at++;
    szgi_row_real(row, ARMS_EQUAL_P,
                  (double)(1 + SZGI_EQUAL_TRIALS - at) / (SZGI_EQUAL_TRIALS + 1));
    return SZG_OK;
}

static szg_status arm_row(szg_context *context, szg_table *table, const reproduction_run *run,
                          const szg_ablation *ablation, int64_t layer, const arm_numbers *of,
                          double *trials) {
    const szg_run_key key = reproduction_key(run);
    char arm[SZG_CONFIG_TEXT + 80];
    szgi_row row = szgi_row_add(context, table);
    szgi_run_key_put(&row, &key);
    szgi_row_text(&row, ARMS_EXPERIMENT, run->experiment);
    szgi_row_text(&row, ARMS_ARM, szgi_arm_name(run->experiment, run->encoding, arm));
    szgi_row_integer(&row, ARMS_LAYER, layer);
    szgi_row_number(&row, ARMS_ACCURACY, of->accuracy);
    szgi_row_number(&row, ARMS_STEPS_TO_HALF, of->steps_to_half);
    szgi_row_number(&row, ARMS_TOTAL_DROP, of->total);
    szgi_row_number(&row, ARMS_LARGEST_DROP, of->largest);
    szgi_row_number(&row, ARMS_INDEX, of->index);
    put_heads(&row, run, layer, of);
    if (row.status == SZG_OK)
        row.status = put_references(&row, run, ablation, layer, of, trials);
    if (of->early_steps > 0)
        szgi_row_integer(&row, ARMS_EARLY_STEPS, of->early_steps);
    szgi_row_number(&row, ARMS_RANK_CORRELATION, of->rank_correlation);
    szgi_row_text(&row, ARMS_METHOD, szgi_ablation_method_name(ablation->method));
    return row.status;
}

static szg_status arm_rows(szg_context *context, szg_table *table, const szg_reproduction *self,
                           const reproduction_run *run, double *trials) {
    run_files files;
    szg_status status = open_files(context, run, &files);
    for (int method = 0; method < SZG_ABLATION_METHODS && status == SZG_OK; method++) {
        if (!(run->shown.methods >> method & 1))
            continue;
        status = read_method(context, run, (szg_ablation_method)method, &files);
        for (int64_t layer = 0; layer < files.ablation.layers && status == SZG_OK; layer++) {
            arm_numbers numbers = {.drop = files.drop};
            status =
                measure_layer(context, self, run, &files.logs, &files.ablation, layer, &numbers);
            if (status == SZG_OK)
                status = arm_row(context, table, run, &files.ablation, layer, &numbers, trials);
        }
    }
    close_files(&files);
    return status;
}

szg_status szgi_reproduction_arms(szg_context *context, const szg_reproduction *self,
                                  szg_table **out) {
    double *trials;
    if (self->hypotheses == 0)
        return SZG_OK;
    SZG_TRY(szgi_schema_open(context, &arms_columns_schema, out));
    SZG_TRY(szgi_memory_alloc(context, SZGI_EQUAL_TRIALS, &trials));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < self->count && status == SZG_OK; i++)
        if (self->run[i].shown.finished && self->run[i].shown.methods)
            status = arm_rows(context, *out, self, &self->run[i], trials);
    szgi_memory_free(trials);
    return status;
}
