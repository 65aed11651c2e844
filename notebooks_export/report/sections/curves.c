/* Accuracy and loss by epoch, a line an encoding (Figures 2 and 3 of the paper). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "match.h"
#include "plot.h"
#include "same_result.h"

enum { NAME = 48 };

/* ---- Which rows are one line ---- */

/* Runs of a reproduction are drawn from its own table: not a second time. */
static bool is_new(const plot_run *run, rows of, int64_t index) {
    return strcmp(szg_table_name(of.table), "reproduce_curves") == 0 ||
           !szgi_is_within(szgi_rows_text(of, index, "result"), run->own);
}

static bool is_reproduced(rows of) {
    return strcmp(szg_table_name(of.table), "reproduce_curves") == 0;
}

/* The folder that a run's folder lies in: seeds of one command lie together. */
static int parent_length(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (int)(slash - path) : 0;
}

static void print_cell(FILE *stream, rows of, int64_t index, const char *column) {
    const char *text = szgi_rows_text(of, index, column);
    fprintf(stream, "%s\x1f", text ? text : "");
}

static bool one_figure(FILE *stream, rows of, int64_t index, const void *user) {
    (void)user;
    print_cell(stream, of, index, "task");
    if (is_reproduced(of)) {
        print_cell(stream, of, index, "result");
        print_cell(stream, of, index, "experiment");
    }
    return true;
}

static bool one_line(FILE *stream, rows of, int64_t index, const void *user) {
    const char *path = szgi_rows_text(of, index, "result");
    (void)user;
    print_cell(stream, of, index, "encoding");
    print_cell(stream, of, index, "split");
    if (!is_reproduced(of))
        fprintf(stream, "%.*s", parent_length(path), path ? path : "");
    return true;
}

/* ---- The label ceiling ---- */

/* One that neither says is not shared. */
static bool share_text(rows a, int64_t i, rows b, const char *column) {
    return szgi_rows_text(a, i, column) && szgi_match_cells(a, i, b, 0, column);
}

/* Of the figure's runs, in the table of runs beside them. */
static bool is_its_run(rows runs, int64_t i, rows figure) {
    const char *own = szgi_rows_text(runs, i, "result"),
               *result = szgi_rows_text(figure, 0, "result");
    if (!own || !result || !share_text(runs, i, figure, "task"))
        return false;
    if (is_reproduced(figure))
        return strcmp(own, result) == 0 && share_text(runs, i, figure, "experiment");
    return szgi_is_below(result, own);
}

/* The mean over the figure's runs; NaN: not known. */
static double ceiling_of(const plot_figure *figure) {
    bool reproduced = is_reproduced(figure->of);
    rows runs = szgi_match_all(szgi_collection_find(szgi_page_results(figure->run->page),
                                                    reproduced ? "reproduce_runs" : "train_runs"));
    double sum = 0, count = 0;
    for (int64_t i = 0; i < runs.count; i++) {
        double value = szgi_rows_real(runs, i, reproduced ? "ceiling" : "label_ceiling");
        if (value >= 0 && value <= 1 && is_its_run(runs, i, figure->of)) {
            sum += value;
            count++;
        }
    }
    return count > 0 ? sum / count : NAN;
}

/* ---- Lines ---- */

static bool is_training(const plot_series *line) {
    const char *split = szgi_rows_text(line->of, 0, "split");
    return split && strcmp(split, "train") == 0;
}

static void say_encoding(words *words, rows of) {
    szgi_words_clipped(words, szgi_rows_text(of, 0, "encoding"), NAME);
}

static void say_folder(words *words, const void *of) {
    const plot_series *line = of;
    say_encoding(words, line->of);
    fputs(" (", words->stream);
    szgi_words_clipped(words, szgi_rows_text(line->of, 0, "result"), NAME);
    fputs(")", words->stream);
}

static bool is_same(const char *one, const char *other) {
    return one && other && strcmp(one, other) == 0;
}

/* Another line of the same encoding and split is told apart by its folder. */
static bool is_repeated(const plot_panel *panel, const plot_series *line) {
    for (int64_t i = 0; i < panel->count; i++) {
        const plot_series *other = &panel->series[i];
        if (other != line && is_training(other) == is_training(line) &&
            share_text(other->of, 0, line->of, "encoding"))
            return true;
    }
    return false;
}

/* One colour a name; training is the thin line of it. */
static void pair_lines(plot_figure *figure) {
    plot_panel *panel = figure->panel;
    int colours = 0;
    for (int64_t i = 0; i < panel->count; i++) {
        plot_series *line = &panel->series[i];
        if (is_repeated(panel, line))
            line->name = szgi_plot_text(figure->run, say_folder, line);
        line->colour = -1;
        for (int64_t k = 0; k < i && line->colour < 0; k++)
            if (is_same(panel->series[k].name, line->name))
                line->colour = panel->series[k].colour % FIGURE_THIN;
        if (line->colour < 0)
            line->colour = colours++;
        if (is_training(line)) {
            line->colour += FIGURE_THIN;
            line->unlisted = true;
            line->lo = line->hi = NULL;
        }
    }
}

static void prepare_accuracy(plot_figure *figure) {
    pair_lines(figure);
    szgi_plot_add_rule(figure, (plot_rule){.name = "label ceiling", .at = ceiling_of(figure)});
}

/* ---- Words ---- */

static void say_task(words *words, rows of) {
    fputs("Task ", words->stream);
    szgi_words_clipped(words, szgi_rows_text(of, 0, "task"), NAME);
    if (is_reproduced(of) && szgi_rows_text(of, 0, "experiment")) {
        fputs(", experiment ", words->stream);
        szgi_words_clipped(words, szgi_rows_text(of, 0, "experiment"), NAME);
    }
}

/* The test line whose end is the best (the worst), by accuracy or by loss. */
static const plot_series *find_end(const plot_figure *figure, bool best) {
    bool greatest = best == is_same(figure->y.column, "accuracy");
    const plot_series *found = NULL;
    for (int64_t i = 0; i < figure->panel->count; i++) {
        const plot_series *line = &figure->panel->series[i];
        double end = szgi_plot_last(line);
        if (!is_training(line) && !isnan(end) &&
            (!found || (greatest ? end > szgi_plot_last(found) : end < szgi_plot_last(found))))
            found = line;
    }
    return found;
}

static void say_seeds(words *words, const plot_figure *figure) {
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < figure->panel->count; i++) {
        const plot_series *line = &figure->panel->series[i];
        if (is_training(line) || line->count == 0)
            continue;
        least = line->least < least ? line->least : least;
        most = line->most > most ? line->most : most;
    }
    if (least == most)
        fprintf(words->stream, " (%" PRId64 " seed%s each).", most, most == 1 ? "" : "s");
    else
        fprintf(words->stream, " (%" PRId64 " to %" PRId64 " seeds).", least, most);
}

/* "Best at the end: rope, 0.921 of a ceiling of 0.95; worst: nope, 0.8 (3 seeds each)." */
static void say_ends(words *words, const plot_figure *figure) {
    const plot_series *best = find_end(figure, true), *worst = find_end(figure, false);
    if (!best) {
        fputs("No finite value of the test split.", words->stream);
        return;
    }
    fprintf(words->stream, "Best at the end: %s, ", best->name ? best->name : "test");
    szgi_plot_number(words, szgi_plot_last(best));
    if (figure->rules > 0 && isfinite(figure->rule[0].at)) {
        fputs(" of a ceiling of ", words->stream);
        szgi_plot_number(words, figure->rule[0].at);
    }
    if (worst != best) {
        fprintf(words->stream, "; worst: %s, ", worst->name ? worst->name : "test");
        szgi_plot_number(words, szgi_plot_last(worst));
    }
    say_seeds(words, figure);
}

/* "rope reaches 91.8% where the label ceiling is 94.8% (task distance)." */
static void say_finding(words *words, const plot_figure *figure) {
    const plot_series *best = find_end(figure, true);
    if (!best)
        return;
    szgi_words_clipped(words, szgi_rows_text(best->of, 0, "encoding"), NAME);
    fprintf(words->stream, " reaches a test accuracy of %.1f%%", 100 * szgi_plot_last(best));
    if (figure->rules > 0 && isfinite(figure->rule[0].at))
        fprintf(words->stream, " where the label ceiling is %.1f%%", 100 * figure->rule[0].at);
    fputs(" (", words->stream);
    say_task(words, figure->of);
    fputs(").", words->stream);
}

static void find(const plot_figure *figure) {
    szgi_plot_find(figure, say_finding);
}

/* ---- Records ---- */

#define BY_EPOCH(name, ...)                                                                        \
    static const plot name = {.tables = {"reproduce_curves", "train_metrics"},                     \
                              .keeps = is_new,                                                     \
                              .figure_key = one_figure,                                            \
                              .group_by = {"result", "experiment", "task"},                        \
                              .series_key = one_line,                                              \
                              .values = PLOT_MEANS,                                                \
                              .x = {.column = "epoch"},                                            \
                              .subject = say_task,                                                 \
                              .series_name = say_encoding,                                         \
                              .caption = say_ends,                                                 \
                              __VA_ARGS__}

BY_EPOCH(accuracy, .needs = {"epoch", "accuracy"}, .undone = "accuracies are not drawn",
         .y = {.column = "accuracy", .lo = 0, .hi = 1}, .title = "accuracy by epoch",
         .prepare = prepare_accuracy, .finding = find);
BY_EPOCH(loss, .needs = {"epoch", "loss"}, .undone = "losses are not drawn",
         .y = {.column = "loss"}, .title = "loss by epoch", .prepare = pair_lines);

static const plot *const plots[] = {&accuracy, &loss, NULL};

static szg_status run(page *page, const section *section) {
    static const char *const result[] = {"result", NULL};
    rows curves = szgi_match_all(szgi_collection_find(szgi_page_results(page), "reproduce_curves"));
    groups reproductions;
    plot_run run;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), curves, result, &reproductions));
    szgi_plot_begin(&run, page, section);
    run.own = &reproductions;
    szgi_plot_all(&run, section->plots);
    szgi_groups_free(&reproductions);
    return szgi_plot_end(&run);
}

const section szgi_section_curves = {
    .id = "curves",
    .title = "Accuracy by epoch",
    .tables = {"reproduce_curves", "train_metrics"},
    .intro = "Thick lines are the test split. Thin lines are training, with dropout and while the "
             "weights still change. Of several seeds a line is the mean, and the area reaches from "
             "the least to the greatest. Runs of different folders may differ in more than the "
             "encoding.",
    .plots = plots,
    .figures = 8,
    .run = run};
