/* Accuracy without each head, a violin a layer (Figures 4, 6 to 8 and 9 to 14 of the paper), and
 * the deposit index beside the accuracy that it is a share of. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

#include "match.h"
#include "numbered.h"
#include "plot.h"

enum { NAME = 48 };

/* ---- What of ---- */

static bool has_several(rows of, const char *column) {
    for (int64_t i = 1; i < of.count; i++)
        if (!szgi_match_cells(of, i, of, 0, column))
            return true;
    return false;
}

/* "rope, distance (text), by output": the encoding where there is one only. */
static void say_experiment(words *words, rows of) {
    const char *method = szgi_rows_text(of, 0, "method"), *task = szgi_rows_text(of, 0, "task"),
               *experiment = szgi_rows_text(of, 0, "experiment");
    if (!has_several(of, "encoding")) {
        szgi_words_run(words, of);
    } else {
        fputs("Task ", words->stream);
        szgi_words_clipped(words, task ? task : "not given", NAME);
        if (experiment) {
            fputs(", experiment ", words->stream);
            szgi_words_clipped(words, experiment, NAME);
        }
    }
    if (method) {
        fputs(", by ", words->stream);
        szgi_words_clipped(words, method, NAME);
    }
}

/* "rope, " of a figure of several encodings. */
static void say_encoding(words *words, const plot_figure *figure, int64_t row) {
    if (!has_several(figure->of, "encoding"))
        return;
    fputs(", ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(figure->of, row, "encoding"), NAME);
}

/* ---- Accuracy without a head ---- */

static bool is_head(rows of, int64_t index) {
    return isfinite(szgi_rows_real(of, index, "head"));
}

/* A row without a head: all of the layer at once. */
static bool is_layer(rows of, int64_t index) {
    int64_t head = szg_table_find(of.table, "head");
    return head >= 0 && szg_table_is_empty(of.table, szgi_rows_at(of, index), head);
}

static bool one_kind(FILE *stream, rows of, int64_t index, const void *user) {
    (void)user;
    fputs(is_head(of, index) ? "head" : "layer", stream);
    return is_head(of, index) || is_layer(of, index);
}

static void say_kind(words *words, rows of) {
    fputs(is_head(of, 0) ? "one head" : "the whole layer", words->stream);
}

static void mark_kinds(plot_figure *figure) {
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t s = 0; s < figure->panel[p].count; s++) {
            plot_series *one = &figure->panel[p].series[s];
            one->colour = is_head(one->of, 0) ? 0 : 1;
            one->marks = is_head(one->of, 0) ? PLOT_VIOLINS : PLOT_POINTS;
        }
}

/* The row of a head whose loss costs most; -1: none. */
static int64_t worst_of(rows of) {
    int64_t worst = -1;
    for (int64_t i = 0; i < of.count; i++) {
        double drop = szgi_rows_real(of, i, "drop");
        if (is_head(of, i) && isfinite(drop) && isfinite(szgi_rows_real(of, i, "accuracy")) &&
            (worst < 0 || drop > szgi_rows_real(of, worst, "drop")))
            worst = i;
    }
    return worst;
}

static int64_t count_seeds(const plot_figure *figure) {
    int64_t count = 0;
    double *seed = NULL;
    szgi_plot_keep(figure->run,
                   szgi_distinct_numbers(figure->run->context, figure->of, "seed", &count, &seed));
    szgi_memory_free(seed);
    return count;
}

static void say_head(words *words, rows of, int64_t row, const char *head) {
    fputs("head ", words->stream);
    szgi_plot_number(words, szgi_rows_real(of, row, head));
    fputs(" of layer ", words->stream);
    szgi_plot_number(words, szgi_rows_real(of, row, "layer"));
}

/* "Worst loss: without head 1 of layer 0 accuracy falls from 0.9 to 0.5; 2 seeds." */
static void say_worst(words *words, const plot_figure *figure) {
    rows of = figure->of;
    int64_t worst = worst_of(of), noted = 0;
    for (int64_t i = 0; i < of.count; i++)
        noted += szgi_rows_text(of, i, "note") != NULL;
    if (worst >= 0 && szgi_rows_real(of, worst, "drop") <= 0) {
        fputs("No head's loss costs accuracy; ", words->stream);
    } else if (worst >= 0) {
        double accuracy = szgi_rows_real(of, worst, "accuracy");
        fputs("Worst loss: without ", words->stream);
        say_head(words, of, worst, "head");
        say_encoding(words, figure, worst);
        fputs(", accuracy falls from ", words->stream);
        szgi_plot_number(words, accuracy + szgi_rows_real(of, worst, "drop"));
        fputs(" to ", words->stream);
        szgi_plot_number(words, accuracy);
        fputs("; ", words->stream);
    }
    szgi_plot_count(words, count_seeds(figure), "seed", "seeds");
    if (noted > 0) {
        fputs("; ", words->stream);
        szgi_plot_count(words, noted, "point has a note", "points have a note");
    }
    fputs(".", words->stream);
}

/* ---- The deposit index ---- */

/* Of one run; the other rows are means over the seeds. */
static bool is_run(rows of, int64_t index) {
    return isfinite(szgi_rows_real(of, index, "seed")) &&
           isfinite(szgi_rows_real(of, index, "largest_drop"));
}

static bool has_index(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "index"));
}

static bool is_over_seeds(const plot_run *run, rows of, int64_t index) {
    return has_index(run, of, index) && isnan(szgi_rows_real(of, index, "seed"));
}

static bool one_layer(FILE *stream, rows of, int64_t index, const void *user) {
    (void)user;
    fprintf(stream, "%.17g", szgi_rows_real(of, index, "layer"));
    return is_run(of, index);
}

static void say_layer(words *words, rows of) {
    fputs("layer ", words->stream);
    szgi_plot_number(words, szgi_rows_real(of, 0, "layer"));
}

/* What uniform shares have in all runs and layers; NaN: some have none, or another number. */
static double common_uniform(rows of) {
    double uniform = NAN;
    for (int64_t i = 0; i < of.count; i++) {
        double own = szgi_rows_real(of, i, "uniform_index");
        if (!isfinite(own) || (i > 0 && own != uniform))
            return NAN;
        uniform = own;
    }
    return uniform;
}

static void add_uniform(plot_figure *figure) {
    szgi_plot_add_rule(
        figure, (plot_rule){.name = "uniform shares, mean", .at = common_uniform(figure->of)});
}

/* Of means over seeds the greatest index, of runs where there are none. */
static int64_t largest_of(rows of) {
    int64_t largest = -1;
    for (int64_t i = 0; i < of.count; i++)
        if (largest < 0 || (is_run(of, largest) && !is_run(of, i)) ||
            (is_run(of, largest) == is_run(of, i) &&
             szgi_rows_real(of, i, "index") > szgi_rows_real(of, largest, "index")))
            largest = i;
    return largest;
}

/* " [0.5, 0.75]": the least and the greatest of the seeds. */
static void say_span(words *words, rows of, int64_t row) {
    double least = szgi_rows_real(of, row, "index_least"),
           greatest = szgi_rows_real(of, row, "index_greatest");
    if (!isfinite(least) || !isfinite(greatest))
        return;
    fputs(" [", words->stream);
    szgi_plot_number(words, least);
    fputs(", ", words->stream);
    szgi_plot_number(words, greatest);
    fputs("]", words->stream);
}

static void say_uniform(words *words, rows of, int64_t row) {
    double uniform = szgi_rows_real(of, row, "uniform_index");
    if (!isfinite(uniform))
        return;
    fputs("; uniform shares have a mean of ", words->stream);
    szgi_plot_number(words, uniform);
}

/* Of means over seeds each seed may have another one. */
static void say_worst_head(words *words, rows of, int64_t row) {
    if (isfinite(szgi_rows_real(of, row, "worst_head"))) {
        say_head(words, of, row, "worst_head");
        return;
    }
    fputs("the worst head of layer ", words->stream);
    szgi_plot_number(words, szgi_rows_real(of, row, "layer"));
}

static void say_deposit(words *words, const plot_figure *figure) {
    rows of = figure->of;
    int64_t row = largest_of(of);
    double total = szgi_rows_real(of, row, "total_drop");
    fputs("Largest share: ", words->stream);
    szgi_plot_number(words, szgi_rows_real(of, row, "index"));
    say_span(words, of, row);
    say_encoding(words, figure, row);
    fputs(", ", words->stream);
    say_worst_head(words, of, row);
    if (isfinite(total)) {
        fputs(", of drops that sum to ", words->stream);
        szgi_plot_number(words, total);
    }
    say_uniform(words, of, row);
    fputs(".", words->stream);
}

/* "Heads taken away, rope, distance: head 2 of layer 0 carries 0.58 of its layer's drops; ..." */
static void say_finding(words *words, const plot_figure *figure) {
    rows of = figure->of;
    int64_t row = largest_of(of);
    fputs("Heads taken away, ", words->stream);
    szgi_words_run(words, (rows){of.table, (const int64_t[]){szgi_rows_at(of, row)}, 1});
    fputs(": ", words->stream);
    say_worst_head(words, of, row);
    fputs(" carries ", words->stream);
    szgi_plot_number(words, szgi_rows_real(of, row, "index"));
    say_span(words, of, row);
    fputs(" of its layer's drops", words->stream);
    say_uniform(words, of, row);
    fputs(".", words->stream);
}

static void find(const plot_figure *figure) {
    szgi_plot_find(figure, say_finding);
}

/* ---- Records ---- */

#define BY_EXPERIMENT                                                                              \
    .figure_by = {"result", "experiment", "task", "method"},                                       \
    .group_by = {"result", "experiment", "task", "method"}, .panel_by = {"encoding"},              \
    .subject = say_experiment

static const plot accuracy = {.tables = {"reproduce_ablation", "ablate_ablation"},
                              .needs = {"layer", "accuracy"},
                              .undone = "accuracies are not drawn",
                              BY_EXPERIMENT,
                              .series_key = one_kind,
                              .series_name = say_kind,
                              .marks = PLOT_VIOLINS,
                              .x = {.column = "layer", .places = true},
                              .y = {.column = "accuracy", .lo = 0, .hi = 1},
                              .rules = {{"every head there", .column = "accuracy", .plus = "drop"}},
                              .hover = {"layer", "head", "seed", "accuracy", "drop", "note"},
                              .prepare = mark_kinds,
                              .title = "accuracy without each head",
                              .caption = say_worst};

static const plot deposit = {
    .tables = {"reproduce_deposit", "ablate_deposit"},
    .needs = {"index", "largest_drop"},
    .undone = "the shares of the worst heads are not drawn",
    BY_EXPERIMENT,
    .keeps = has_index,
    .series_key = one_layer,
    .series_name = say_layer,
    .marks = PLOT_POINTS,
    .x = {.column = "largest_drop", .label = "loss of accuracy"},
    .y = {.column = "index", .label = "share of the drops", .lo = 0, .hi = 1},
    .hover = {"worst_head", "seed", "index", "largest_drop", "note"},
    .prepare = add_uniform,
    .title = "the worst head's share of the drops",
    .caption = say_deposit,
    .finding = find};

static const plot over_seeds = {.tables = {"reproduce_deposit", "ablate_deposit"},
                                .keeps = is_over_seeds,
                                .marks = PLOT_ROWS,
                                .heading = "Deposit index over seeds",
                                .shown = {"encoding", "task", "method", "layer", "index",
                                          "index_least", "index_greatest", "index_t_low",
                                          "index_t_high", "uniform_index", "total_drop"}};

static const plot *const plots[] = {&accuracy, &deposit, &over_seeds, NULL};

const section szgi_section_ablation = {
    .id = "ablation",
    .title = "Heads taken away one by one",
    .tables = {"reproduce_ablation", "ablate_ablation"},
    .intro =
        "A point is the accuracy after one head is taken away. The deposit index of a layer "
        "is the share of the drops, gains counted as 0, that the worst head carries. The "
        "rule is a reference, not what equal heads give: the mean of the largest share if shares "
        "are uniform on the simplex, as those of independent, exponential drops are. Heads that "
        "all cost the same stay near 1 / heads (column equal_95 of the table arms). A large share "
        "of a small drop says little, and drops within the sampling error of the test split are "
        "noise. "
        "Brackets hold the least and the greatest of the seeds: of three seeds they hold the "
        "median of further ones with a chance of 75%, of two with 50%. The columns index_t "
        "hold the 95% interval of the mean by Student's t. One seed is a hint, not a finding.",
    .plots = plots,
    .figures = 12,
    .run = szgi_plot_section};
