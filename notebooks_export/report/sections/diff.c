/* What changed between checkpoints: of a series by step, of two by layer and head. */
#include <math.h>

#include "match.h"
#include "plot.h"

static bool has_head(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "layer")) &&
           isfinite(szgi_rows_real(of, index, "head"));
}

static bool is_same(rows of, const char *column) {
    for (int64_t i = 1; i < of.count; i++)
        if (!szgi_match_cells(of, i, of, 0, column))
            return false;
    return true;
}

/* One checkpoint against another: no line has two points. */
static bool is_pair(rows of) {
    return is_same(of, "step");
}

static bool is_series(rows of) {
    return !is_pair(of);
}

static void say_base(words *words, rows of) {
    const char *base = szgi_rows_text(of, 0, "base");
    if (!is_same(of, "base")) {
        fputs("Each against the one before", words->stream);
        return;
    }
    fputs("Against ", words->stream);
    szgi_words_clipped(words, base ? base : "a base that is not given", 48);
}

/* A stack of a series has one figure for all steps, whatever each is compared with. */
#define LINES(name, of, says, ...)                                                                 \
    static const plot name = {.tables = {"diff_diff"},                                             \
                              .needs = {"step", of},                                               \
                              .keeps = has_head,                                                   \
                              .figure_by = {"result", "stack"},                                    \
                              .group_by = {"result", "stack"},                                     \
                              .skips = is_pair,                                                    \
                              .series_by = {"layer", "head"},                                      \
                              .outliers = true,                                                    \
                              .x = {.column = "step"},                                             \
                              .y = {.column = of},                                                 \
                              .hover = {"step", "layer", "head", of},                              \
                              .subject = say_base,                                                 \
                              .title = says " by head and step",                                   \
                              __VA_ARGS__}

LINES(change, "change", "relative change of the QK matrix", .heading = "By step");
LINES(d3, "d3", "part of second order", .most = 2);
LINES(stable, "qk_stable_rank", "stable rank");
LINES(entropy, "qk_entropy", "spectral entropy");
LINES(left, "left_angle_1", "angle of the first left singular vector");
LINES(right, "right_angle_1", "angle of the first right singular vector");

#define MAP(name, of, says, ...)                                                                   \
    static const plot name = {.tables = {"diff_diff"},                                             \
                              .needs = {"layer", "head", of},                                      \
                              .keeps = has_head,                                                   \
                              .figure_by = {"result", "stack"},                                    \
                              .group_by = {"result", "stack"},                                     \
                              .skips = is_series,                                                  \
                              .marks = PLOT_CELLS,                                                 \
                              .x = {.column = "head"},                                             \
                              .y = {.column = "layer"},                                            \
                              .value = of,                                                         \
                              .subject = szgi_words_model,                                         \
                              .title = says,                                                       \
                              __VA_ARGS__}

MAP(change_map, "change", "relative change of the QK matrix", .colours = PLOT_CHOSEN,
    .undone = "changes are not drawn", .heading = "Two checkpoints");
MAP(left_map, "left_angle_1", "angle of the first left singular vector", .colours = PLOT_CHOSEN);
MAP(right_map, "right_angle_1", "angle of the first right singular vector", .colours = PLOT_CHOSEN);

static const plot *const plots[] = {&change, &d3,         &stable,   &entropy,   &left,
                                    &right,  &change_map, &left_map, &right_map, NULL};

const section szgi_section_diff = {
    .id = "diff",
    .title = "What changed between checkpoints",
    .tables = {"diff_diff"},
    .intro =
        "A head's QK matrix M = scale W_Q^T W_K goes from M_A to M_B. Its relative change is "
        "the Frobenius norm of M_B - M_A over that of M_A; the part of second order is that of "
        "dW_Q^T dW_K alone. Turns are the angles between the first left (queries) and the "
        "first right (keys) singular vectors of both.",
    .plots = plots,
    .figures = 12,
    .run = szgi_plot_section};
