/* How much of a rotary head stands at each frequency. */
#include "plot.h"

static const plot map = {.tables = {"checkpoint_frequencies"},
                         .needs = {"theta", "energy"},
                         .undone = "rotary energies are not drawn",
                         .figure_by = {"result", "source"},
                         .group_by = {"result", "source"},
                         .marks = PLOT_CELLS,
                         .x = {.column = "pair"},
                         .y = {.column = "layer"},
                         .value = "energy",
                         .colours = PLOT_LOG,
                         .subject = szgi_words_model,
                         .title = "rotary energy, mean over heads"};

static const plot layers = {.tables = {"checkpoint_frequencies"},
                            .figure_by = {"result", "source"},
                            .group_by = {"result", "source"},
                            .panel_by = {"layer"},
                            .series_by = {"head"},
                            .outliers = true,
                            .x = {.column = "theta", .scale = PLOT_LOG},
                            .y = {.column = "energy", .scale = PLOT_LOG},
                            .subject = szgi_words_model,
                            .title = "rotary energy by frequency, a panel a layer"};

static const plot *const plots[] = {&map, &layers, NULL};

const section szgi_section_rotary = {
    .id = "rotary",
    .title = "Rotary energy by frequency",
    .tables = {"checkpoint_frequencies"},
    .intro = "The energy of a rotary pair is the squared norm of its block of the coupling, "
             "rotation and reflection together.",
    .plots = plots,
    .run = szgi_plot_section};
