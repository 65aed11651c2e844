/* When? Numbers of an arm by step: means over seeds with their intervals, a panel a layer. */
#include <inttypes.h>
#include <math.h>

#include "label.h"
#include "plot.h"

enum { NAME = 48, LAYERS_SAID = 4 };

/* "rope/rope, task distance, deposit index" */
static void say_what(words *words, rows of) {
    const char *measure = szgi_rows_text(of, 0, "measure");
    szgi_words_clipped(words, szgi_rows_text(of, 0, "arm"), NAME);
    fputs(", task ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "task"), NAME);
    fputs(", ", words->stream);
    szgi_words_clipped(words, measure ? szgi_label_words(measure) : NULL, NAME);
}

static void say_seeds(words *words, rows of) {
    (void)of;
    fputs("mean, 95%", words->stream);
}

static bool is_known(const plot_run *run, rows of, int64_t index) {
    (void)run;
    return isfinite(szgi_rows_real(of, index, "mean"));
}

static double last_step(rows of) {
    double last = NAN;
    for (int64_t i = 0; i < of.count; i++)
        last = fmax(last, szgi_rows_real(of, i, "step"));
    return last;
}

/* One step is no course. */
static bool is_single(rows of) {
    double last = last_step(of);
    for (int64_t i = 0; i < of.count; i++)
        if (szgi_rows_real(of, i, "step") < last)
            return false;
    return true;
}

static void say_number(words *words, const char *before, double value) {
    fputs(before, words->stream);
    szgi_plot_number(words, value);
}

/* ", 2 not run"; nothing for 0 */
static void say_lacking(words *words, rows of, int64_t row, const char *column, const char *what) {
    double count = szgi_rows_real(of, row, column);
    if (count > 0)
        fprintf(words->stream, ", %.0f %s", count, what);
}

/* "0.72 [0.6, 0.84] in layer 0 (9 seeds, 1 without it)" */
static void say_layer(words *words, rows of, int64_t row) {
    double low = szgi_rows_real(of, row, "t_low"), seeds = szgi_rows_real(of, row, "seeds");
    szgi_plot_number(words, szgi_rows_real(of, row, "mean"));
    if (isfinite(low)) {
        say_number(words, " [", low);
        say_number(words, ", ", szgi_rows_real(of, row, "t_high"));
        fputs("]", words->stream);
    }
    say_number(words, " in layer ", szgi_rows_real(of, row, "layer"));
    fputs(" (", words->stream);
    szgi_plot_count(words, seeds > 0 ? (int64_t)seeds : 0, "seed", "seeds");
    say_lacking(words, of, row, "failed", "without it");
    say_lacking(words, of, row, "missing", "not finished");
    fputs(")", words->stream);
}

static void say_layers(words *words, rows of) {
    double last = last_step(of);
    int64_t said = 0;
    for (int64_t i = 0; i < of.count; i++)
        if (szgi_rows_real(of, i, "step") == last && said++ < LAYERS_SAID) {
            fputs(said > 1 ? ", " : " ", words->stream);
            say_layer(words, of, i);
        }
    if (said > LAYERS_SAID)
        fprintf(words->stream, ", and %" PRId64 " layers more", said - LAYERS_SAID);
}

/* "At step 990 the worst head's share of the drops is 0.72 [0.6, 0.84] in layer 0 (9 seeds); chance
 * alone: 0.52." */
static void say_last(words *words, const plot_figure *figure) {
    say_number(words, "At step ", last_step(figure->of));
    fprintf(words->stream, " the %s is", figure->plot->y.label);
    say_layers(words, figure->of);
    fprintf(words->stream, "; %s: ", figure->plot->rules[0].name);
    szgi_plot_number(words, szgi_rows_real(figure->of, 0, "reference"));
    fputs(".", words->stream);
}

static void find_last(const plot_figure *figure) {
    szgi_plot_find(figure, say_last);
}

/* ---- Records ---- */

#define COURSE                                                                                     \
    .tables = {"reproduce_by_step"}, .needs = {"step", "mean"}, .keeps = is_known,                 \
    .skips = is_single, .skipped = "there is one step", .figure_by = {"result", "arm", "task"},    \
    .group_by = {"result", "arm", "task", "measure"}, .panel_by = {"layer"},                       \
    .x = {.column = "step"}, .lo = "t_low", .hi = "t_high",                                        \
    .hover = {"step", "mean", "t_low", "t_high", "seeds"}, .subject = say_what,                    \
    .series_name = say_seeds, .title = "by step, a panel a layer", .caption = say_last

static const plot indices = {COURSE,
                             .undone = "numbers by step are not drawn",
                             .where = {"measure", "index"},
                             .y = {.column = "mean", .label = "worst head's share of the drops"},
                             .rules = {{"uniform shares, mean", .column = "reference"}},
                             .finding = find_last};

static const plot shares = {COURSE, .where = {"measure", "gradient_share"},
                            .y = {.column = "mean", .label = "winner's share of the gradient norm"},
                            .rules = {{"equal heads", .column = "reference"}}};

static const plot ratios = {COURSE, .where = {"measure", "contraction"},
                            .y = {.column = "mean", .label = "ratio of widths"},
                            .rules = {{"content alone", .column = "reference"}}};

static const plot *const plots[] = {&indices, &shares, &ratios, NULL};

const section szgi_section_by_step = {
    .id = "by-step",
    .title = "By step",
    .tables = {"reproduce_by_step"},
    .intro = "When does it happen? Means over seeds by training step, with the 95% interval by "
             "Student's t. The index is that of runs that end at the step. The winner is the head "
             "of the layer with the largest drop at the end of the seed's whole run. Its share is "
             "that of the gradient norm of W_Q and W_K over the layer's heads. The ratio of "
             "widths is the geometric mean over heads and probes: below 1 the encoding narrows "
             "the logits. All of it is exploratory.",
    .plots = plots,
    .run = szgi_plot_section};
