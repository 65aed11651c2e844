/* What the softmax makes of logits: entropy, sinks and the largest logit, by layer and head. */
#include <math.h>

#include "plot.h"

static bool has_layer(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "layer")) &&
           isfinite(szgi_rows_real(of, index, "head"));
}

static bool has_no_layer(const plot_run *run, rows of, int64_t index) {
    return !has_layer(run, of, index);
}

/* One step is no course. */
static bool is_short(rows of) {
    for (int64_t i = 1; i < of.count; i++)
        if (szgi_rows_real(of, i, "step") != szgi_rows_real(of, 0, "step"))
            return false;
    return true;
}

/* Dumps of several steps are several files, of one source where they name it. */
#define BY_MATRIX                                                                                  \
    .tables = {"logits_statistics"}, .figure_by = {"result", "source", "matrix"},                  \
    .group_by = {"result", "source", "matrix"}, .subject = szgi_words_model

#define MAP(name, of, says, ...)                                                                   \
    static const plot name = {BY_MATRIX,                                                           \
                              .keeps = has_layer,                                                  \
                              .last = "step",                                                      \
                              .needs = {of},                                                       \
                              .marks = PLOT_CELLS,                                                 \
                              .x = {.column = "head"},                                             \
                              .y = {.column = "layer"},                                            \
                              .value = of,                                                         \
                              .title = says ", mean over probes",                                  \
                              __VA_ARGS__}

MAP(entropy, "entropy_normalised", "entropy of the attention weights over its maximum",
    .undone = "entropies are not drawn", .value_lo = 0, .value_hi = 1);
MAP(first, "first_share", "attention weight of the first token", .value_lo = 0, .value_hi = 1);
MAP(sinks, "sink_share", "attention weight of the declared sinks", .value_lo = 0, .value_hi = 1);
MAP(learned, "learned_share", "attention weight of the learned sink", .value_lo = 0, .value_hi = 1);
MAP(largest, "largest_logit", "largest logit", .colours = PLOT_CHOSEN);

#define BY_STEP                                                                                    \
    BY_MATRIX, .keeps = has_layer, .skips = is_short, .panel_by = {"layer"},                       \
               .series_by = {"head"}, .outliers = true, .by_last = true, .values = PLOT_MEANS,     \
               .x = {.column = "step"}

static const plot entropy_course = {
    BY_STEP, .needs = {"entropy_normalised", "step"},
    .y = {.column = "entropy_normalised", .lo = 0, .hi = 1},
    .title = "entropy of the attention weights over its maximum, a panel a layer"};

static const plot largest_course = {BY_STEP, .needs = {"largest_logit", "step"},
                                    .y = {.column = "largest_logit", .scale = PLOT_CHOSEN},
                                    .title = "largest logit, a panel a layer"};

/* Files that name no layer. */
static const plot heads = {BY_MATRIX,
                           .keeps = has_no_layer,
                           .columns = {{"entropy_normalised", "entropy over its maximum"},
                                       {"first_share", "weight of the first token"},
                                       {"sink_share", "weight of the declared sinks"},
                                       {"learned_share", "weight of the learned sink"}},
                           .marks = PLOT_POINTS,
                           .x = {.column = "head", .otherwise = "n"},
                           .y = {.label = "share", .lo = 0, .hi = 1},
                           .title = "entropy and sinks of the attention weights"};

static const plot *const plots[] = {&entropy,        &first,          &sinks, &learned, &largest,
                                    &entropy_course, &largest_course, &heads, NULL};

const section szgi_section_softmax = {
    .id = "softmax",
    .title = "Softmax of the logits",
    .tables = {"logits_statistics"},
    .intro =
        "The entropy of a query's attention weights, divided by the logarithm of their number: "
        "1 is a flat softmax, 0 one key that takes all. The weight of the first token is the "
        "mean over the queries after it. An entropy that collapses while the largest logit "
        "grows goes with unstable training (Zhai et al. 2023).",
    .plots = plots,
    .figures = 16,
    .run = szgi_plot_section};
