/* Eigenvalues at the ends of long kernels' spectra, and which of them their errors tell apart. */
#include <inttypes.h>
#include <math.h>

#include "plot.h"

static void say_resolved(words *words, const plot_figure *figure) {
    int64_t resolved = 0;
    for (int64_t i = 0; i < figure->of.count; i++)
        resolved += szgi_rows_real(figure->of, i, "resolved") == 1;
    fprintf(words->stream, "Resolved: %" PRId64 " of %" PRId64 ".", resolved, figure->of.count);
}

#define AT_END(which)                                                                              \
    .tables = {"spectrum_extremes"}, .where = {"end", which}, .marks = PLOT_POINTS,                \
    .figure_by = {"result", "source", "matrix"}, .group_by = {"result", "source"},                 \
    .subject = szgi_words_source, .x = {.column = "index", .label = "place from the end"},         \
    .caption = say_resolved

#define VALUES(record, which, says)                                                                \
    static const plot record = {                                                                   \
        AT_END(which),                                                                             \
        .needs = {"index", "value"},                                                               \
        .undone = says " are not drawn, as none is known to 1e-10 of the norm",                    \
        .series_by = {"head", "n"},                                                                \
        .outliers = true,                                                                          \
        .y = {.column = "value", .label = "eigenvalue"},                                           \
        .rules = {{"the end is not less", "lo"}, {"the end is not larger", "hi"}},                 \
        .hover = {"error", "gap", "resolved"},                                                     \
        .title = says}

#define ERRORS(record, which, says)                                                                \
    static const plot record = {AT_END(which),                                                     \
                                .needs = {"index", "error"},                                       \
                                .columns = {{"error", "error"}, {"gap", "gap"}},                   \
                                .y = {.label = "distance", .scale = PLOT_LOG},                     \
                                .hover = {"head", "n", "resolved"},                                \
                                .title = "error and gap of " says}

VALUES(least, "least", "the least eigenvalues");
VALUES(largest, "largest", "the largest eigenvalues");
ERRORS(least_errors, "least", "the least eigenvalues");
ERRORS(largest_errors, "largest", "the largest eigenvalues");

static const plot *const plots[] = {&least, &largest, &least_errors, &largest_errors, NULL};

const section szgi_section_extremes = {
    .id = "extremes",
    .title = "Ends of the spectrum",
    .tables = {"spectrum_extremes"},
    .intro = "An eigenvalue lies within its error of each point. A value is resolved if its error "
             "is at most a tenth of the gap to its neighbour and 1e-10 of the norm; of those that "
             "are not, two may be the same eigenvalue. Values are drawn where the error is at most "
             "1e-10 of the norm; errors and gaps are drawn of all.",
    .plots = plots,
    .figures = 16,
    .run = szgi_plot_section};
