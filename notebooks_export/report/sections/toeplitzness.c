/* Heads of a checkpoint: heat maps, and their singular values layer by layer. Tensors without a
 * layer, of architectures that are not known, are points. */
#include <math.h>

#include "plot.h"

static bool has_layer(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "layer"));
}

static bool has_no_layer(const plot_run *run, rows of, int64_t index) {
    return !has_layer(run, of, index);
}

#define BY_MATRIX                                                                                  \
    { "result", "source", "matrix" }

#define MAP(name, of, says, ...)                                                                   \
    static const plot name = {.tables = {"checkpoint_summary"},                                    \
                              .only = "layer",                                                     \
                              .needs = {"layer", "head"},                                          \
                              .keeps = has_layer,                                                  \
                              .figure_by = BY_MATRIX,                                              \
                              .group_by = BY_MATRIX,                                               \
                              .marks = PLOT_CELLS,                                                 \
                              .x = {.column = "head"},                                             \
                              .y = {.column = "layer"},                                            \
                              .value = of,                                                         \
                              .subject = szgi_words_model,                                         \
                              .title = says,                                                       \
                              __VA_ARGS__}

MAP(toeplitzness, "toeplitzness", "toeplitzness", .undone = "no heat maps are drawn", .value_lo = 0,
    .value_hi = 1);
MAP(largest, "sigma_max", "largest singular value", .colours = PLOT_LOG);
MAP(effective, "effective_rank", "effective rank", .colours = PLOT_CHOSEN);
MAP(stable, "stable_rank", "stable rank", .colours = PLOT_CHOSEN);

static const plot spectra = {.tables = {"checkpoint_spectra"},
                             .needs = {"re"},
                             .undone = "the singular values are not drawn",
                             .where = {"kind", "singular"},
                             .figure_by = BY_MATRIX,
                             .group_by = BY_MATRIX,
                             .panel_by = {"layer"},
                             .series_by = {"head"},
                             .outliers = true,
                             .values = PLOT_RANKED,
                             .x = {.label = "place, from the largest on"},
                             .y = {.column = "re", .label = "singular value", .scale = PLOT_LOG},
                             .heading = "Singular values",
                             .subject = szgi_words_model,
                             .title = "singular values by head, a panel a layer"};

/* ---- Tensors ---- */

/* The tensor with the greatest value. */
static void say_greatest(words *words, const plot_figure *figure) {
    const plot_series *series = szgi_plot_extreme(figure, false);
    fputs("Greatest: ", words->stream);
    for (int64_t i = 0; series && i < series->count; i++)
        if (series->y[i] == szgi_plot_peak(series)) {
            szgi_words_clipped(words, szgi_rows_text(series->of, i, "matrix"), 48);
            fputs(" with ", words->stream);
            szgi_plot_number(words, series->y[i]);
            break;
        }
    fputs(".", words->stream);
}

#define TENSORS(name, of, says)                                                                    \
    static const plot name = {.tables = {"checkpoint_summary"},                                    \
                              .needs = {of},                                                       \
                              .keeps = has_no_layer,                                               \
                              .figure_by = {"result", "source"},                                   \
                              .group_by = {"result", "source"},                                    \
                              .marks = PLOT_POINTS,                                                \
                              .x = {.label = "tensor, in the order of the rows"},                  \
                              .y = {.column = of, .scale = PLOT_LOG},                              \
                              .hover = {"matrix", of},                                             \
                              .subject = szgi_words_model,                                         \
                              .title = says " of each tensor",                                     \
                              .caption = say_greatest}

TENSORS(tensor_values, "sigma_max", "largest singular value");
TENSORS(tensor_ranks, "effective_rank", "effective rank");

static const plot tensors = {.tables = {"checkpoint_summary"},
                             .keeps = has_no_layer,
                             .figure_by = {"result", "source"},
                             .marks = PLOT_ROWS,
                             .shown = {"matrix", "rows", "columns", "n", "rank", "sigma_max",
                                       "condition", "stable_rank", "effective_rank", "note"}};

static const plot notes = {.tables = {"checkpoint_notes"},
                           .figure_by = {"result", "source"},
                           .marks = PLOT_ROWS,
                           .heading = "Notes",
                           .shown = {"layer", "head", "matrix", "note"}};

static const plot *const plots[] = {&toeplitzness,  &largest,      &effective, &stable, &spectra,
                                    &tensor_values, &tensor_ranks, &tensors,   &notes,  NULL};

const section szgi_section_toeplitzness = {
    .id = "toeplitzness",
    .title = "Heads of a checkpoint",
    .tables = {"checkpoint_summary", "checkpoint_spectra", "checkpoint_notes"},
    .intro = "Toeplitzness is the share of the squared norm that means along diagonals hold: 1 is "
             "a matrix of distances alone. Stable rank is the squared Frobenius norm over the "
             "squared spectral norm; effective rank the exponential of the singular values' "
             "entropy.",
    .plots = plots,
    .figures = 10,
    .run = szgi_plot_section};
