/* Circuits of heads beside random ones. */
#include <math.h>
#include <string.h>

#include "plot.h"

static bool has_head(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "head"));
}

static void say_series(words *words, rows of) {
    double lag = szgi_rows_real(of, 0, "lag");
    if (isnan(lag))
        fputs("all lags", words->stream);
    else
        fprintf(words->stream, "lag %.0f", lag);
}

/* "model, QK" */
static void say_circuit(words *words, rows of) {
    const char *circuit = szgi_rows_text(of, 0, "circuit");
    szgi_words_model(words, of);
    if (circuit)
        fputs(strcmp(circuit, "ov") == 0 ? ", OV" : ", QK", words->stream);
}

#define BY_CIRCUIT                                                                                 \
    { "result", "source", "circuit" }

#define CIRCUIT(name, of, says, ...)                                                               \
    static const plot name = {.tables = {"checkpoint_circuits"},                                   \
                              .needs = {"head", of},                                               \
                              .keeps = has_head,                                                   \
                              .figure_by = BY_CIRCUIT,                                             \
                              .group_by = BY_CIRCUIT,                                              \
                              .panel_by = {"layer"},                                               \
                              .series_by = {"lag"},                                                \
                              .series_name = say_series,                                           \
                              .marks = PLOT_POINTS,                                                \
                              .x = {.column = "head"},                                             \
                              .y = {.column = of},                                                 \
                              .lo = of "_q025",                                                    \
                              .hi = of "_q975",                                                    \
                              .hover = {of "_q025", of "_median", of "_q975"},                     \
                              .subject = say_circuit,                                              \
                              .title = says " by head, a panel a layer",                           \
                              .remark = "Intervals hold 95% of the random circuits.",              \
                              __VA_ARGS__}

CIRCUIT(stable, "stable_rank", "stable rank", .undone = "circuits are not drawn");
CIRCUIT(largest, "sigma_max", "largest singular value", .undone = NULL);

static const plot *const plots[] = {&stable, &largest, NULL};

const section szgi_section_circuits = {
    .id = "circuits",
    .title = "Circuits beside random ones",
    .tables = {"checkpoint_circuits"},
    .intro = "QK says which tokens attend to which, OV what they then write. The intervals are "
             "those of random weights with the same shapes, norms and gains: a point inside tells "
             "nothing apart from them.",
    .plots = plots,
    .figures = 8,
    .run = szgi_plot_section};
