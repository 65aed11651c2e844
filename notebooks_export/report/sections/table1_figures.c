/* Accuracies as bars, the paper's as markers, what length alone tells and the ceiling as lines. */
#include "table1.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

enum { BARS = 24 };

#define WIDTH 0.6 /* of a bar */

/* What a figure draws: one task of an experiment's rows. */
typedef struct bars {
    rows of;
    int task;
    int64_t count;
    const char *name[BARS];
    double x[BARS], mean[BARS], lo[BARS], hi[BARS], paper[BARS], length[BARS], ceiling[BARS];
    int64_t best, known, single; /* best: index, -1 where nothing has run */
} bars;

static void take(bars *b, int64_t i) {
    outcome o = szgi_table1_outcome(b->of, i, b->task);
    bool several = o.seeds > 1;
    const char *name = szgi_rows_text(b->of, i, "encoding");
    b->name[i] = name ? name : "";
    b->x[i] = (double)i;
    b->mean[i] = o.mean;
    b->lo[i] = several ? o.mean - o.spread : NAN;
    b->hi[i] = several ? o.mean + o.spread : NAN;
    b->paper[i] = o.paper;
    b->length[i] = o.length;
    b->ceiling[i] = o.ceiling;
    if (!isfinite(o.mean))
        return;
    b->known++;
    b->single += !several;
    if (b->best < 0 || o.mean > b->mean[b->best])
        b->best = i;
}

static bars take_all(rows of, int task) {
    bars b = {.of = of, .task = task, .count = of.count < BARS ? of.count : BARS, .best = -1};
    for (int64_t i = 0; i < b.count; i++)
        take(&b, i);
    return b;
}

/* The number that all finite values are, NaN where they differ or there is none. */
static double common(int64_t count, const double *value) {
    double found = NAN;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(value[i]))
            continue;
        if (isfinite(found) && !(fabs(found - value[i]) <= 1e-9))
            return NAN;
        found = value[i];
    }
    return found;
}

/* Markers where the value is known. */
static szg_status add_markers(szg_context *context, figure *figure, const figure_style *style,
                              const bars *b, const double *value) {
    double x[BARS], y[BARS];
    int64_t count = 0;
    for (int64_t i = 0; i < b->count; i++)
        if (isfinite(value[i])) {
            x[count] = b->x[i];
            y[count++] = value[i];
        }
    return szgi_figure_points(context, figure, style, count, x, y, NULL);
}

/* The paper's accuracies: a marker, and a line as wide as the bar. */
static szg_status add_paper(szg_context *context, figure *figure, const bars *b) {
    for (int64_t i = 0; i < b->count; i++) {
        const double x[] = {b->x[i] - WIDTH / 2, b->x[i] + WIDTH / 2};
        const double y[] = {b->paper[i], b->paper[i]};
        if (isfinite(b->paper[i]))
            SZG_TRY(szgi_figure_line(context, figure, &(figure_style){.name = NULL, .colour = 1}, 2,
                                     x, y));
    }
    return add_markers(context, figure, &(figure_style){.name = "paper", .colour = 1}, b, b->paper);
}

/* A line across where every encoding has the same value, otherwise a marker each. */
static szg_status add_level(szg_context *context, figure *figure, const figure_style *style,
                            const bars *b, const double *value) {
    double level = common(b->count, value);
    return isfinite(level) ? szgi_figure_rule(context, figure, style, false, level)
                           : add_markers(context, figure, style, b, value);
}

static szg_status add_marks(szg_context *context, figure *figure, const bars *b) {
    SZG_TRY(szgi_figure_bars(context, figure, &(figure_style){.name = "here", .colour = 0},
                             b->count, WIDTH, b->x, b->mean, b->lo, b->hi));
    SZG_TRY(add_paper(context, figure, b));
    SZG_TRY(add_level(context, figure, &(figure_style){.name = "label ceiling", .colour = 2}, b,
                      b->ceiling));
    return add_level(context, figure, &(figure_style){.name = "by length alone", .colour = 3}, b,
                     b->length);
}

static void say_levels(words *say, const bars *b) {
    double length = common(b->count, b->length), ceiling = common(b->count, b->ceiling);
    if (isfinite(length))
        fprintf(say->stream, "; a sequence's length alone gives %.1f%%", length);
    if (ceiling < 100) /* as the label does not follow from the sequence alone */
        fprintf(say->stream, "; no classifier can expect more than %.1f%%", ceiling);
}

static void say_title(words *say, const void *of) {
    const bars *b = of;
    fprintf(say->stream, "Test accuracy, %s, experiment ", szgi_table1_task(b->task));
    szgi_words_clipped(say, szgi_rows_text(b->of, 0, "experiment"), TABLE1_NAME);
}

/* Means that stand no farther from the highest than its deviation and theirs together. */
static void say_rivals(words *say, const bars *b) {
    int64_t rivals = 0;
    for (int64_t i = 0; i < b->count; i++)
        rivals += i != b->best && b->hi[i] >= b->lo[b->best];
    if (rivals > 0)
        fprintf(say->stream, ", with %" PRId64 " other%s in reach of the whiskers", rivals,
                rivals == 1 ? "" : "s");
}

static void say_caption(words *say, const void *of) {
    const bars *b = of;
    fprintf(say->stream, "%s: ", szgi_table1_task(b->task));
    szgi_words_clipped(say, b->name[b->best], TABLE1_NAME);
    fprintf(say->stream, " is highest here with %.1f%%", b->mean[b->best]);
    if (isfinite(b->paper[b->best]))
        fprintf(say->stream, " (paper %.1f%%)", b->paper[b->best]);
    say_rivals(say, b);
    say_levels(say, b);
    fputs(b->single == b->known ? "; one seed each, so no intervals"
                                : "; whiskers are one standard "
                                  "deviation over seeds",
          say->stream);
    if (b->of.count > b->count)
        fprintf(say->stream, "; %" PRId64 " more encodings are in the table only",
                b->of.count - b->count);
    fputc('.', say->stream);
}

static szg_status draw_task(page *page, const bars *b) {
    szg_context *context = szgi_page_context(page);
    const figure_options options = {.x = {.names = b->name, .count = b->count},
                                    .y = {.label = "test accuracy in percent", .lo = 0, .hi = 100}};
    figure *figure;
    SZG_TRY(szgi_figure_open_titled(context, options, say_title, b, &figure));
    szg_status status = add_marks(context, figure, b);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &b->of, 1, say_caption, b);
    szgi_figure_close(&figure);
    return status;
}

szg_status szgi_table1_figures(page *page, rows experiment, budget *budget) {
    for (int task = 0; task < TABLE1_TASKS; task++) {
        bars b = take_all(experiment, task);
        if (b.known > 0 && szgi_budget_take(budget))
            SZG_TRY(draw_task(page, &b));
    }
    return SZG_OK;
}
