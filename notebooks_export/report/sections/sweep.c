/* Accuracy against the number of heads that RoPE turns (Figure 5 of the paper). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "budget.h"
#include "match.h"
#include "captioned.h"

enum { POINTS = 256, TASKS = 4, NAME = 48 };

static bool is_present(const szg_collection *results) {
    const szg_table *sweep = szgi_collection_find(results, "reproduce_sweep");
    return sweep && szg_table_rows(sweep) > 0;
}

/* The points of one task, at most POINTS; percent. */
typedef struct line {
    rows of;
    const char *task;
    int64_t count, single;
    double *k, *mean, *spread; /* spread NaN: one seed */
    words *hover;
    const char **text;
} line;

static const char *task_name(const char *task) {
    return !task                           ? "task not given"
           : strcmp(task, "distance") == 0 ? "Task 1, trigger distance"
           : strcmp(task, "count") == 0    ? "Task 2, trigger count"
                                           : task;
}

static void line_free(line *l) {
    for (int64_t i = 0; l->hover && i < l->count; i++)
        szgi_words_free(&l->hover[i]);
    szgi_memory_free(l->k);
    szgi_memory_free(l->mean);
    szgi_memory_free(l->spread);
    szgi_memory_free(l->hover);
    szgi_memory_free(l->text);
}

static szg_status take_point(szg_context *context, line *l, int64_t i) {
    double seeds = szgi_rows_real(l->of, i, "seeds");
    l->k[i] = szgi_rows_real(l->of, i, "rotated_heads");
    l->mean[i] = 100 * szgi_rows_real(l->of, i, "accuracy");
    l->spread[i] = seeds > 1 ? 100 * szgi_rows_real(l->of, i, "spread") : NAN;
    if (!isfinite(l->mean[i]) || !isfinite(l->k[i]))
        return SZG_OK;
    l->single += !(seeds > 1);
    SZG_TRY(szgi_words_open(context, &l->hover[i]));
    szgi_words_clipped(&l->hover[i], task_name(l->task), NAME);
    fprintf(l->hover[i].stream, ", %.0f rotated heads: %.2f%%", l->k[i], l->mean[i]);
    if (isfinite(l->spread[i]))
        fprintf(l->hover[i].stream, " ± %.2f over %.0f seeds", l->spread[i], seeds);
    else
        fputs(", one seed", l->hover[i].stream);
    SZG_TRY(szgi_words_end(context, &l->hover[i]));
    l->text[i] = l->hover[i].text;
    return SZG_OK;
}

static szg_status line_open(szg_context *context, rows of, line *l) {
    *l = (line){.of = of,
                .task = szgi_rows_text(of, 0, "task"),
                .count = of.count < POINTS ? of.count : POINTS};
    SZG_TRY(szgi_memory_alloc(context, l->count, &l->k));
    SZG_TRY(szgi_memory_alloc(context, l->count, &l->mean));
    SZG_TRY(szgi_memory_alloc(context, l->count, &l->spread));
    SZG_TRY(szgi_memory_alloc(context, l->count, &l->hover));
    SZG_TRY(szgi_memory_alloc(context, l->count, &l->text));
    for (int64_t i = 0; i < l->count; i++)
        SZG_TRY(take_point(context, l, i));
    return SZG_OK;
}

static szg_status add_line(szg_context *context, figure *figure, const line *l, int colour) {
    const figure_style style = {task_name(l->task), colour}, points = {NULL, colour};
    const figure_style whisker = {NULL, colour + FIGURE_THIN};
    SZG_TRY(szgi_figure_line(context, figure, &style, l->count, l->k, l->mean));
    for (int64_t i = 0; i < l->count; i++) {
        const double x[] = {l->k[i], l->k[i]};
        const double y[] = {l->mean[i] - l->spread[i], l->mean[i] + l->spread[i]};
        if (isfinite(y[0]) && isfinite(y[1]))
            SZG_TRY(szgi_figure_line(context, figure, &whisker, 2, x, y));
    }
    return szgi_figure_points(context, figure, &points, l->count, l->k, l->mean, l->text);
}

/* "Task 1: 12.0% with 0 rotated heads, 93.0% with 16, highest 94.0% with 8" */
static void say_line(words *say, const line *l) {
    int64_t first = -1, last = -1, best = -1;
    for (int64_t i = 0; i < l->count; i++) {
        if (!isfinite(l->mean[i]) || !isfinite(l->k[i]))
            continue;
        first = first < 0 || l->k[i] < l->k[first] ? i : first;
        last = last < 0 || l->k[i] > l->k[last] ? i : last;
        best = best < 0 || l->mean[i] > l->mean[best] ? i : best;
    }
    szgi_words_clipped(say, task_name(l->task), NAME);
    if (first < 0)
        fputs(": nothing has run; ", say->stream);
    else
        fprintf(say->stream,
                ": %.1f%% with %.0f rotated heads, %.1f%% with %.0f, highest %.1f%% with %.0f; ",
                l->mean[first], l->k[first], l->mean[last], l->k[last], l->mean[best], l->k[best]);
}

/* The lines of one figure. */
typedef struct lines {
    rows of;
    line line[TASKS];
    int64_t count;
} lines;

static void say_title(words *say, const void *of) {
    const lines *all = of;
    fputs("Accuracy against rotated heads, experiment ", say->stream);
    szgi_words_clipped(say, szgi_rows_text(all->of, 0, "experiment"), NAME);
}

static void say_caption(words *say, const void *of) {
    const lines *all = of;
    int64_t single = 0;
    for (int64_t i = 0; i < all->count; i++) {
        say_line(say, &all->line[i]);
        single += all->line[i].single;
    }
    fputs(single ? "points without whiskers are of one seed, which decides nothing."
                 : "whiskers: one standard deviation over seeds. A highest point within the "
                   "whiskers of others decides nothing.",
          say->stream);
}

static szg_status draw_lines(page *page, const lines *all) {
    szg_context *context = szgi_page_context(page);
    const figure_options options = {.x = {.label = "heads that RoPE turns (the others: NoPE)"},
                                    .y = {.label = "test accuracy in percent"}};
    figure *figure;
    SZG_TRY(szgi_figure_open_titled(context, options, say_title, all, &figure));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < all->count && status == SZG_OK; i++)
        status = add_line(context, figure, &all->line[i], (int)i);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &all->of, 1, say_caption, all);
    szgi_figure_close(&figure);
    return status;
}

static szg_status draw_experiment(page *page, rows of) {
    szg_context *context = szgi_page_context(page);
    lines all = {.of = of};
    groups tasks;
    SZG_TRY(szgi_groups_split(context, of, (const char *const[]){"task", NULL}, &tasks));
    all.count = tasks.count < TASKS ? tasks.count : TASKS;
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < all.count && status == SZG_OK; i++)
        status = line_open(context, tasks.group[i], &all.line[i]);
    if (status == SZG_OK)
        status = draw_lines(page, &all);
    for (int64_t i = 0; i < all.count; i++) {
        if (status == SZG_OK && tasks.group[i].count > POINTS)
            szgi_page_paragraph(page, "The first %d of %" PRId64 " points are drawn.", (int)POINTS,
                                tasks.group[i].count);
        line_free(&all.line[i]);
    }
    szgi_groups_free(&tasks);
    return status;
}

static szg_status draw(page *page) {
    static const char *const tables[] = {"reproduce_sweep", NULL};
    rows all = szgi_match_all(szgi_collection_find(szgi_page_results(page), tables[0]));
    budget budget = {.left = MOST_FIGURES};
    groups experiments;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), all,
                              (const char *const[]){"result", "experiment", NULL}, &experiments));
    szg_status status = SZG_OK;
    szgi_page_grid_begin(page);
    for (int64_t i = 0; i < experiments.count && status == SZG_OK; i++)
        if (szgi_budget_take(&budget))
            status = draw_experiment(page, experiments.group[i]);
    szgi_page_grid_end(page);
    szgi_groups_free(&experiments);
    SZG_TRY(status);
    return szgi_budget_end(page, &budget, "figures", tables);
}

const section szgi_section_sweep = {"sweep", "Accuracy against the number of rotated heads",
                                    is_present, draw};
