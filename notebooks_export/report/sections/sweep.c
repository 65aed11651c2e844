/* Accuracy against the number of heads that RoPE turns (Figure 5 of the paper). */
#include <math.h>
#include <string.h>

#include "plot.h"

enum { NAME = 48 };

static void say_experiment(words *words, rows of) {
    fputs("Experiment ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "experiment"), NAME);
}

static void say_task(words *words, rows of) {
    const char *task = szgi_rows_text(of, 0, "task");
    if (task && strcmp(task, "distance") == 0)
        fputs("Task 1, trigger distance", words->stream);
    else if (task && strcmp(task, "count") == 0)
        fputs("Task 2, trigger count", words->stream);
    else
        szgi_words_clipped(words, task ? task : "task not given", NAME);
}

static bool is_single(const plot_series *series) {
    for (int64_t i = 0; series->lo && i < series->count; i++)
        if (isfinite(series->lo[i]))
            return false;
    return true;
}

/* "Task 1: highest 94% with 8 heads" and what one seed decides. */
static void say_highest(words *words, const plot_figure *figure) {
    bool single = false;
    for (int64_t s = 0; s < figure->panel->count; s++) {
        const plot_series *line = &figure->panel->series[s];
        double peak = szgi_plot_peak(line);
        fprintf(words->stream, "%s%s: ", s ? "; " : "", line->name);
        for (int64_t i = 0; i < line->count; i++)
            if (line->y[i] == peak) {
                fputs("highest ", words->stream);
                szgi_plot_number(words, peak);
                fputs("% with ", words->stream);
                szgi_plot_number(words, line->x[i]);
                fputs(" heads", words->stream);
                break;
            }
        if (isnan(peak))
            fputs("nothing has run", words->stream);
        single |= is_single(line);
    }
    fputs(single ? "; one seed decides nothing." : "; whiskers: one standard deviation.",
          words->stream);
}

static const plot sweep = {.tables = {"reproduce_sweep"},
                           .needs = {"rotated_heads", "accuracy"},
                           .undone = "accuracies are not drawn",
                           .figure_by = {"result", "experiment"},
                           .group_by = {"result", "experiment"},
                           .series_by = {"task"},
                           .x = {.column = "rotated_heads"},
                           .y = {.column = "accuracy", .label = "test accuracy (%)", .times = 100},
                           .spread = "spread",
                           .hover = {"rotated_heads", "accuracy", "spread", "seeds"},
                           .subject = say_experiment,
                           .series_name = say_task,
                           .title = "accuracy against rotated heads",
                           .caption = say_highest};

static const plot *const plots[] = {&sweep, NULL};

const section szgi_section_sweep = {
    .id = "sweep",
    .title = "Accuracy against the number of rotated heads",
    .tables = {"reproduce_sweep"},
    .intro = "Of the model's heads RoPE turns as many as the axis says; the others have no "
             "position.",
    .plots = plots,
    .run = szgi_plot_section};
