/* Accuracy and loss by epoch, a line an encoding (Figures 2 and 3 of the paper). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "budget.h"
#include "captioned.h"
#include "curves.h"
#include "keyed.h"
#include "match.h"
#include "same_result.h"

/* ---- Which rows go on one figure, and which are one line ---- */

static void print_cell(FILE *stream, rows of, int64_t index, const char *column) {
    const char *text = szgi_rows_text(of, index, column);
    fprintf(stream, "%s\x1f", text ? text : "");
}

static bool reproduced_figure(FILE *stream, rows of, int64_t index, const void *user) {
    (void)user;
    print_cell(stream, of, index, "result");
    print_cell(stream, of, index, "task");
    print_cell(stream, of, index, "experiment");
    return true;
}

/* Runs of a reproduction are drawn from its own table: not a second time. */
static bool trained_figure(FILE *stream, rows of, int64_t index, const void *user) {
    if (szgi_is_within(szgi_rows_text(of, index, "result"), user))
        return false;
    print_cell(stream, of, index, "task");
    return true;
}

/* The folder that a run's folder lies in: seeds of one command lie together. */
static int parent_length(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (int)(slash - path) : 0;
}

static bool one_line(FILE *stream, rows of, int64_t index, const void *user) {
    const char *path = szgi_rows_text(of, index, "result");
    bool reproduced = *(const bool *)user;
    print_cell(stream, of, index, "encoding");
    if (!reproduced)
        fprintf(stream, "%.*s", parent_length(path), path ? path : "");
    return true;
}

/* ---- Series ---- */

static szg_status split_band(szg_context *context, rows of, const char *split, const char *quantity,
                             band *out) {
    groups part;
    SZG_TRY(szgi_groups_where(context, of, "split", split, &part));
    rows none = {.table = of.table, .row = of.row};
    szg_status status =
        szgi_band_open(context, part.count > 0 ? part.group[0] : none, "epoch", quantity, out);
    szgi_groups_free(&part);
    return status;
}

/* The encoding, and the folder where two lines have the same encoding. */
static void name_series(const groups *lines, int64_t index, char out[SHORT_TEXT]) {
    char own[SHORT_TEXT];
    const char *encoding = szgi_rows_text(lines->group[index], 0, "encoding"),
               *path = szgi_rows_text(lines->group[index], 0, "result");
    bool repeated = false;
    for (int64_t i = 0; i < lines->count; i++) {
        const char *other = szgi_rows_text(lines->group[i], 0, "encoding");
        repeated |= i != index && encoding && other && strcmp(encoding, other) == 0;
    }
    const char *name = szgi_short_text(encoding, own);
    if (!repeated || !path) {
        snprintf(out, SHORT_TEXT, "%s", name);
        return;
    }
    char joined[2 * SHORT_TEXT + 8], folder[SHORT_TEXT];
    snprintf(joined, sizeof joined, "%s (%s)", name, szgi_short_text(path, folder));
    const char *cut = szgi_short_text(joined, own);
    memmove(out, cut, strlen(cut) + 1);
}

static void close_series(curves *self) {
    for (int64_t i = 0; self->one && i < self->count; i++) {
        szgi_band_close(&self->one[i].test);
        szgi_band_close(&self->one[i].train);
    }
    szgi_memory_free(self->one);
    self->one = NULL;
}

/* At most FIGURE_COLOURS of them, from `first` on. */
static szg_status open_series(szg_context *context, const groups *lines, int64_t first,
                              curves *self) {
    int64_t count = lines->count - first;
    self->count = 0;
    count = count > FIGURE_COLOURS ? FIGURE_COLOURS : count;
    SZG_TRY(szgi_memory_alloc(context, count, &self->one));
    for (int64_t i = 0; i < count; i++) {
        series *one = &self->one[self->count++];
        one->of = lines->group[first + i];
        name_series(lines, first + i, one->name);
        SZG_TRY(split_band(context, one->of, "test", self->quantity, &one->test));
        SZG_TRY(split_band(context, one->of, "train", self->quantity, &one->train));
    }
    return SZG_OK;
}

/* ---- The figure ---- */

static bool within_unit(const band *band) {
    bool within = true;
    for (int64_t i = 0; i < band->count; i++)
        within &= band->lo[i] >= 0 && band->hi[i] <= 1;
    return within;
}

static figure_axis quantity_axis(const curves *self) {
    if (strcmp(self->quantity, "accuracy") != 0)
        return (figure_axis){.label = "cross-entropy (nats)"};
    figure_axis axis = {.label = "accuracy (share of right predictions)", .lo = 0, .hi = 1};
    for (int64_t s = 0; s < self->count; s++)
        if (!within_unit(&self->one[s].test) || !within_unit(&self->one[s].train))
            axis.lo = axis.hi = 0; /* from the marks */
    return axis;
}

static szg_status open_curves(szg_context *context, const curves *self, figure **out) {
    char title[8 * SHORT_TEXT], task[SHORT_TEXT], part[SHORT_TEXT];
    const char *experiment = szgi_rows_text(self->of, 0, "experiment");
    bool accuracy = strcmp(self->quantity, "accuracy") == 0;
    snprintf(title, sizeof title, "%s by epoch: task %s%s%s", accuracy ? "Accuracy" : "Loss",
             szgi_short_text(szgi_rows_text(self->of, 0, "task"), task),
             experiment ? ", experiment " : "",
             experiment ? szgi_short_text(experiment, part) : "");
    figure_options options = {.title = title, .x = {.label = "epoch"}, .y = quantity_axis(self)};
    return szgi_figure_open(context, &options, out);
}

static szg_status draw_series(szg_context *context, figure *figure, const curves *self) {
    for (int64_t s = 0; s < self->count; s++)
        SZG_TRY(szgi_band_draw(context, figure, self->one[s].name, (int)s, &self->one[s].test));
    for (int64_t s = 0; s < self->count; s++) {
        const band *train = &self->one[s].train;
        figure_style style = {.name = NULL, .colour = (int)s + FIGURE_THIN};
        if (train->count > 0)
            SZG_TRY(szgi_figure_line(context, figure, &style, train->count, train->x, train->mean));
    }
    figure_style rule = {.name = "label ceiling", .colour = FIGURE_MUTED};
    if (strcmp(self->quantity, "accuracy") == 0 && isfinite(self->ceiling))
        SZG_TRY(szgi_figure_rule(context, figure, &rule, false, self->ceiling));
    return SZG_OK;
}

static szg_status put_figure(page *page, const curves *self) {
    szg_context *context = szgi_page_context(page);
    figure *figure = NULL;
    SZG_TRY(open_curves(context, self, &figure));
    szg_status status = draw_series(context, figure, self);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &self->of, 1, szgi_curves_caption, self);
    szgi_figure_close(&figure);
    return status;
}

static szg_status draw_quantity(page *page, const groups *lines, int64_t first, curves *self) {
    szg_status status = open_series(szgi_page_context(page), lines, first, self);
    if (status == SZG_OK)
        status = put_figure(page, self);
    close_series(self);
    return status;
}

/* ---- The label ceiling ---- */

/* Mean of a column over rows; NaN: none. */
static double mean_of(rows of, const char *column) {
    double sum = 0, count = 0;
    for (int64_t i = 0; i < of.count; i++) {
        double value = szgi_rows_real(of, i, column);
        if (value >= 0 && value <= 1) {
            sum += value;
            count++;
        }
    }
    return count > 0 ? sum / count : NAN;
}

/* Whether both rows have the same text in the column. */
static bool share_text(rows a, int64_t i, rows b, int64_t j, const char *column) {
    const char *one = szgi_rows_text(a, i, column), *other = szgi_rows_text(b, j, column);
    return one && other && strcmp(one, other) == 0;
}

/* Of the figure's runs, from the table of runs beside them. */
static bool is_its_run(FILE *stream, rows of, int64_t index, const void *user) {
    const rows *figure = user;
    const char *own = szgi_rows_text(of, index, "result"),
               *result = szgi_rows_text(*figure, 0, "result");
    (void)stream;
    if (!own || !result || !share_text(of, index, *figure, 0, "task"))
        return false;
    if (strcmp(szg_table_name(of.table), "reproduce_runs") == 0)
        return strcmp(own, result) == 0 && share_text(of, index, *figure, 0, "experiment");
    return szgi_is_below(result, own);
}

static szg_status find_ceiling(page *page, rows of, bool reproduced, double *out) {
    const szg_table *runs =
        szgi_collection_find(szgi_page_results(page), reproduced ? "reproduce_runs" : "train_runs");
    groups found;
    *out = NAN;
    if (!runs)
        return SZG_OK;
    SZG_TRY(
        szgi_keyed_split(szgi_page_context(page), szgi_match_all(runs), is_its_run, &of, &found));
    if (found.count > 0)
        *out = mean_of(found.group[0], reproduced ? "ceiling" : "label_ceiling");
    szgi_groups_free(&found);
    return SZG_OK;
}

/* ---- The section ---- */

static szg_status draw_figures(page *page, rows of, bool reproduced, budget *budget) {
    static const char *const quantities[] = {"accuracy", "loss"};
    curves self = {.of = of};
    groups lines;
    if (budget->left > 0) /* a look at every run of the results */
        SZG_TRY(find_ceiling(page, of, reproduced, &self.ceiling));
    SZG_TRY(szgi_keyed_split(szgi_page_context(page), of, one_line, &reproduced, &lines));
    szg_status status = SZG_OK;
    for (int64_t first = 0; status == SZG_OK && first < lines.count; first += FIGURE_COLOURS)
        for (int q = 0; status == SZG_OK && q < 2; q++) {
            self.quantity = quantities[q];
            if (szgi_budget_take(budget))
                status = draw_quantity(page, &lines, first, &self);
        }
    szgi_groups_free(&lines);
    return status;
}

static szg_status draw_table(page *page, const char *name, const groups *reproductions,
                             budget *budget) {
    const szg_table *table = szgi_collection_find(szgi_page_results(page), name);
    bool reproduced = reproductions == NULL;
    groups figures;
    if (!table)
        return SZG_OK;
    SZG_TRY(szgi_keyed_split(szgi_page_context(page), szgi_match_all(table),
                             reproduced ? reproduced_figure : trained_figure, reproductions,
                             &figures));
    szg_status status = SZG_OK;
    for (int64_t i = 0; status == SZG_OK && i < figures.count; i++)
        status = draw_figures(page, figures.group[i], reproduced, budget);
    szgi_groups_free(&figures);
    return status;
}

static bool is_present(const szg_collection *results) {
    return szgi_match_all(szgi_collection_find(results, "reproduce_curves")).count > 0 ||
           szgi_match_all(szgi_collection_find(results, "train_metrics")).count > 0;
}

static szg_status draw(page *page) {
    static const char *const tables[] = {"reproduce_curves", "train_metrics", NULL},
                             *const result[] = {"result", NULL};
    const szg_table *curves = szgi_collection_find(szgi_page_results(page), "reproduce_curves");
    budget budget = {.left = MOST_FIGURES};
    groups reproductions = {0};
    szgi_page_paragraph(page,
                        "Thick lines are the test split, thin ones training, with dropout and "
                        "while the weights still change. Where several seeds have run, a line is "
                        "their mean, and the area around it reaches from the least to the "
                        "greatest. Runs of different folders may differ in more than the "
                        "encoding.");
    if (curves)
        SZG_TRY(szgi_groups_split(szgi_page_context(page), szgi_match_all(curves), result,
                                  &reproductions));
    szgi_page_grid_begin(page);
    szg_status status = draw_table(page, tables[0], NULL, &budget);
    if (status == SZG_OK)
        status = draw_table(page, tables[1], &reproductions, &budget);
    szgi_page_grid_end(page);
    szgi_groups_free(&reproductions);
    SZG_TRY(status);
    return szgi_budget_end(page, &budget, "figures", tables);
}

const section szgi_section_curves = {.id = "curves", .title = "Accuracy by epoch", .is_present = is_present, .draw = draw};
