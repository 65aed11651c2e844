/* The mean kernel of each head of a checkpoint that rotates: a panel a layer, a line a head. */
#include "plot.h"

static const plot lines = {.tables = {"checkpoint_kernel"},
                           .needs = {"layer", "lag", "kernel"},
                           .undone = "mean kernels are not drawn",
                           .figure_by = {"result", "source"},
                           .group_by = {"result", "source"},
                           .panel_by = {"layer"},
                           .series_by = {"head"},
                           .outliers = true,
                           .x = {.column = "lag"},
                           .y = {.column = "kernel"},
                           .subject = szgi_words_model,
                           .title = "mean kernel by head, a panel a layer"};

static const plot *const plots[] = {&lines, NULL};

const section szgi_section_kernel = {
    .id = "kernel",
    .title = "Mean kernel over the lag",
    .tables = {"checkpoint_kernel"},
    .intro =
        "The mean logit of a token with its own copy at each lag, over tokens of all directions "
        "alike. It is the part of the logits that depends on the distance alone.",
    .plots = plots,
    .run = szgi_plot_section};
