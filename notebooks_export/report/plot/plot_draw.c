/* From panels and series to marks on the page. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "choose.h"
#include "plot_private.h"

enum { PANEL_WIDTH = 260, PANEL_HEIGHT = 200 };

/* ---- Axes ---- */

/* What stands on an axis, of all panels, which share it. */
typedef struct extent {
    double *value;
    int64_t count;
    double lo, hi;
} extent;

static void take(extent *to, int64_t count, const double *value) {
    for (int64_t i = 0; value && i < count; i++) {
        to->value[to->count++] = value[i];
        if (isfinite(value[i])) {
            to->lo = fmin(to->lo, value[i]);
            to->hi = fmax(to->hi, value[i]);
        }
    }
}

static bool is_flat(const plot_figure *figure) {
    return figure->plot->marks == PLOT_RANGES;
}

/* Rules at numbers: those at a column's mean lie among its values. */
static void take_rules(extent *to, const plot_figure *figure, bool along_x) {
    for (int64_t i = 0; i < figure->rules; i++)
        if (!figure->rule[i].column && figure->rule[i].vertical == along_x)
            take(to, 1, &figure->rule[i].at);
}

/* The values along x, or along y; those of ranges lie along x. */
static extent find_extent(plot_figure *figure, bool along_x) {
    extent out = {.lo = NAN, .hi = NAN};
    int64_t room = figure->rules;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t i = 0; i < figure->panel[p].count; i++)
            room += 3 * figure->panel[p].series[i].count;
    if (!szgi_plot_new(figure->run, room, &out.value))
        return out;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t i = 0; i < figure->panel[p].count; i++) {
            const plot_series *one = &figure->panel[p].series[i];
            if (!is_flat(figure))
                take(&out, one->count, along_x ? one->x : one->y);
            if (along_x == one->flat) {
                take(&out, one->count, one->lo);
                take(&out, one->count, one->hi);
            }
        }
    take_rules(&out, figure, along_x);
    return out;
}

static void choose_scale(plot_run *run, const plot_axis *from, const extent *of, figure_axis *to) {
    chosen_scale chosen = {0};
    if (from->scale == PLOT_LOG)
        chosen.logarithmic = of->lo > 0;
    else if (from->scale == PLOT_CHOSEN)
        szgi_plot_keep(run, szgi_choose_scale(run->context, of->count, of->value, &chosen));
    to->logarithmic = chosen.logarithmic;
    to->linear = chosen.linear;
}

/* Ends that are given hold where every value lies between them; panels share the ends. */
static void choose_ends(const plot_axis *from, const extent *of, bool shared, figure_axis *to) {
    if (of->lo >= from->lo && of->hi <= from->hi) {
        to->lo = from->lo;
        to->hi = from->hi;
    } else if (shared && of->lo < of->hi) {
        double margin = to->logarithmic || to->linear > 0 ? 0 : 0.04 * (of->hi - of->lo);
        to->lo = of->lo - margin;
        to->hi = of->hi + margin;
    }
}

static figure_axis axis_of(plot_figure *figure, bool along_x) {
    const plot_axis *from = along_x ? &figure->x : &figure->y;
    figure_axis out = {.label = szgi_plot_axis_label(figure->run, from),
                       .names = along_x ? figure->x_names : figure->y_names,
                       .count = along_x ? figure->x_count : figure->y_count};
    block *mark = figure->run->block;
    if (out.names)
        return out;
    extent of = find_extent(figure, along_x);
    if (figure->run->status == SZG_OK) {
        choose_scale(figure->run, from, &of, &out);
        choose_ends(from, &of, figure->panels > 1, &out);
    }
    szgi_plot_release(figure->run, mark);
    return out;
}

/* ---- Marks ---- */

/* Where the drawing of a panel is. */
typedef struct pen {
    plot_figure *figure;
    const plot_panel *panel;
    struct figure *paper;
} pen;

static bool keep(const pen *pen, szg_status status) {
    return szgi_plot_keep(pen->figure->run, status);
}

static szg_context *context_of(const pen *pen) {
    return pen->figure->run->context;
}

typedef struct count_text {
    int64_t count;
} count_text;

static void say_others(words *words, const void *of) {
    fprintf(words->stream, "%" PRId64 " others", ((const count_text *)of)->count);
}

static bool is_other(const plot_series *one) {
    return one->colour == FIGURE_MUTED && !one->beside;
}

/* Grey series are one entry of the legend, which counts them. */
static figure_style style_of(const pen *pen, const plot_series *one) {
    figure_style style = {.name = one->name, .colour = one->colour, .unlisted = one->unlisted};
    if (!pen->figure->plot->outliers || !is_other(one))
        return style;
    count_text grey = {0};
    for (int64_t i = 0; i < pen->panel->count; i++)
        grey.count += is_other(&pen->panel->series[i]);
    style.entry = grey.count > 1 ? szgi_plot_text(pen->figure->run, say_others, &grey) : NULL;
    return style;
}

static void draw_whiskers(const pen *pen, const plot_series *one) {
    const figure_style style = {.colour =
                                    one->colour < 0 ? one->colour : one->colour + (int)FIGURE_THIN};
    for (int64_t i = 0; one->lo && one->hi && i < one->count; i++) {
        const double x[] = {one->x[i], one->x[i]}, y[] = {one->y[i], one->y[i]};
        const double ends[] = {one->lo[i], one->hi[i]};
        if (isfinite(ends[0]) && isfinite(ends[1]) && pen->figure->run->status == SZG_OK)
            keep(pen, szgi_figure_line(context_of(pen), pen->paper, &style, 2, one->flat ? ends : x,
                                       one->flat ? y : ends));
    }
}

static void draw_points(const pen *pen, const plot_series *one, const figure_style *style) {
    draw_whiskers(pen, one);
    if (pen->figure->run->status == SZG_OK)
        keep(pen, szgi_figure_points(context_of(pen), pen->paper, style, one->count, one->x, one->y,
                                     one->hover));
}

/* The area around means, or where the record wants one; else whiskers and points on the line where
 * these say more than the line. */
static void draw_line(const pen *pen, const plot_series *one, const figure_style *style) {
    const figure_style area = {.colour = style->colour}, points = {.colour = style->colour};
    bool area_between = pen->figure->plot->values == PLOT_MEANS || pen->figure->plot->area;
    if (one->count == 0)
        return;
    if (area_between && one->lo && one->hi)
        keep(pen, szgi_figure_band(context_of(pen), pen->paper, &area, one->count, one->x, one->lo,
                                   one->hi));
    if (pen->figure->run->status == SZG_OK)
        keep(pen, szgi_figure_line(context_of(pen), pen->paper, style, one->count, one->x, one->y));
    if (!area_between && (one->lo || one->hover) && pen->figure->run->status == SZG_OK)
        draw_points(pen, one, &points);
}

/* The place of one of several series beside each other, moved from the middle of the place. */
static double beside(const pen *pen, const plot_series *one, double *width) {
    int64_t count = 0, index = 0;
    for (int64_t i = 0; i < pen->panel->count; i++) {
        bool like = pen->panel->series[i].marks == one->marks;
        index += like && &pen->panel->series[i] < one;
        count += like;
    }
    *width = 0.8 / (double)count;
    return ((double)index - (double)(count - 1) / 2) * *width;
}

static double *moved(const pen *pen, int64_t count, const double *from, double by) {
    double *out;
    if (!szgi_plot_new(pen->figure->run, count, &out))
        return NULL;
    for (int64_t i = 0; i < count; i++)
        out[i] = from[i] + by;
    return out;
}

static void draw_bars(const pen *pen, const plot_series *one, const figure_style *style) {
    double width, by = beside(pen, one, &width), *x = moved(pen, one->count, one->x, by);
    if (x)
        keep(pen, szgi_figure_bars(context_of(pen), pen->paper, style, one->count, 0.9 * width, x,
                                   one->y, one->lo, one->hi));
}

static void draw_ranges(const pen *pen, const plot_series *one, const figure_style *style) {
    double width, by = beside(pen, one, &width), *y = moved(pen, one->count, one->y, by);
    if (y && one->lo && one->hi)
        keep(pen, szgi_figure_ranges(context_of(pen), pen->paper, style, one->count, 0.9 * width, y,
                                     one->lo, one->hi, one->hover));
}

/* Heads, which are pointed at across figures. */

typedef struct place {
    double layer, head;
} place;

static void say_place(words *words, const void *of) {
    const place *at = of;
    fprintf(words->stream, "%.0f.%.0f", at->layer, at->head);
}

/* NULL: not a head of a layer. */
static const char *name_head(plot_run *run, double layer, double head) {
    const place at = {layer, head};
    return isfinite(layer) && isfinite(head) ? szgi_plot_text(run, say_place, &at) : NULL;
}

/* The values at one place; its first point is `first`. */
static void draw_violin(const pen *pen, const plot_series *one, const figure_style *style,
                        int64_t first) {
    plot_run *run = pen->figure->run;
    block *mark = run->block;
    double width, by = beside(pen, one, &width), *value;
    const char **hover = NULL, **head;
    bool rows_are_values = pen->figure->plot->values == PLOT_EACH && one->count == one->of.count;
    int64_t count = 0;
    if (!szgi_plot_new(run, one->count, &value) || !szgi_plot_new(run, one->count, &head) ||
        (one->hover && !szgi_plot_new(run, one->count, &hover)))
        return;
    for (int64_t i = first; i < one->count; i++)
        if (one->x[i] == one->x[first]) {
            if (hover)
                hover[count] = one->hover[i];
            head[count] = rows_are_values ? name_head(run, szgi_rows_real(one->of, i, "layer"),
                                                      szgi_rows_real(one->of, i, "head"))
                                          : NULL;
            value[count++] = one->y[i];
        }
    szgi_figure_show_heads(pen->paper, NULL, head);
    keep(pen, szgi_figure_violin(context_of(pen), pen->paper, style, one->x[first] + by, width,
                                 count, value, hover));
    szgi_plot_release(run, mark);
}

static void draw_violins(const pen *pen, const plot_series *one, const figure_style *style) {
    for (int64_t i = 0; i < one->count && pen->figure->run->status == SZG_OK; i++) {
        bool seen = isnan(one->x[i]);
        for (int64_t k = 0; k < i && !seen; k++)
            seen = one->x[k] == one->x[i];
        if (!seen)
            draw_violin(pen, one, style, i);
    }
}

/* The head of a whole series; NULL: it shows several, or none. */
static const char *head_of(const pen *pen, const plot_series *one) {
    const char *const *by = pen->figure->plot->series_by;
    for (int i = 0; i < PLOT_LIST && by[i]; i++)
        if (strcmp(by[i], "head") == 0)
            return name_head(pen->figure->run, szgi_rows_real(one->of, 0, "layer"),
                             szgi_rows_real(one->of, 0, "head"));
    return NULL;
}

/* One head a cell, where rows are layers and columns heads. */
static const char **heads_of(const plot_figure *figure) {
    const plot_cells *cells = figure->cells;
    const char **name;
    if (strcmp(figure->y.column, "layer") != 0 || strcmp(figure->x.column, "head") != 0 ||
        !szgi_plot_new(figure->run, cells->rows * cells->columns, &name))
        return NULL;
    for (int64_t i = 0; i < cells->rows * cells->columns; i++)
        name[i] = name_head(figure->run, cells->row_key[i / cells->columns],
                            cells->column_key[i % cells->columns]);
    return name;
}

static void draw_series(const pen *pen, const plot_series *one) {
    static void (*const draws[])(const struct pen *, const plot_series *,
                                 const figure_style *) = {[PLOT_LINES] = draw_line,
                                                          [PLOT_POINTS] = draw_points,
                                                          [PLOT_BARS] = draw_bars,
                                                          [PLOT_RANGES] = draw_ranges,
                                                          [PLOT_VIOLINS] = draw_violins};
    const figure_style style = style_of(pen, one);
    szgi_figure_show_heads(pen->paper, head_of(pen, one), NULL);
    if (pen->figure->run->status == SZG_OK)
        draws[one->marks](pen, one, &style);
    szgi_figure_show_heads(pen->paper, NULL, NULL);
}

/* The mean of a column's finite values, or of its sums with another's. */
static double mean_of(rows of, const char *column, const char *plus) {
    double mean = NAN, count = 0;
    for (int64_t i = 0; i < of.count; i++) {
        double value = szgi_rows_real(of, i, column);
        value += plus ? szgi_rows_real(of, i, plus) : 0;
        if (isfinite(value))
            mean = ++count == 1 ? value : mean + (value - mean) / count;
    }
    return mean;
}

static void draw_rules(const pen *pen) {
    for (int64_t i = 0; i < pen->figure->rules && pen->figure->run->status == SZG_OK; i++) {
        const plot_rule *rule = &pen->figure->rule[i];
        const plot_axis *axis = rule->vertical ? &pen->figure->x : &pen->figure->y;
        double mean = rule->column ? mean_of(pen->panel->of, rule->column, rule->plus) : NAN;
        double at = rule->column ? mean * (axis->times != 0 ? axis->times : 1) : rule->at;
        const figure_style style = {.name = rule->name, .colour = FIGURE_MUTED};
        if (isfinite(at))
            keep(pen, szgi_figure_rule(context_of(pen), pen->paper, &style, rule->vertical, at));
    }
}

/* Grey series first: what stands out lies above them. */
static void draw_panel(const pen *pen) {
    for (int coloured = 0; coloured < 2; coloured++)
        for (int64_t i = 0; i < pen->panel->count; i++)
            if ((pen->panel->series[i].colour >= 0) == coloured)
                draw_series(pen, &pen->panel->series[i]);
    draw_rules(pen);
}

/* ---- Cells ---- */

static void say_key(words *words, const void *of) {
    szgi_plot_number(words, *(const double *)of);
}

static const char **name_keys(plot_run *run, int64_t count, const double *key) {
    const char **name;
    if (!szgi_plot_new(run, count, &name))
        return NULL;
    for (int64_t i = 0; i < count; i++)
        name[i] = szgi_plot_text(run, say_key, &key[i]);
    return name;
}

/* A half is as far from 1 as 2 is: the ends are 1/m and m times the middle. */
static void set_middle(const plot_cells *cells, double middle, figure_map *map) {
    double most = 1.05;
    for (int64_t i = 0; i < cells->rows * cells->columns; i++) {
        double ratio = cells->value[i] / middle;
        if (ratio > 0)
            most = fmax(most, fmax(ratio, 1 / ratio));
    }
    most = fmin(most, 16);
    map->diverging = map->logarithmic = true;
    map->middle = middle;
    map->lo = middle / most;
    map->hi = middle * most;
}

static void draw_cells(const pen *pen) {
    const plot_figure *figure = pen->figure;
    const plot_cells *cells = figure->cells;
    plot_run *run = figure->run;
    chosen_scale chosen = {0};
    int64_t all = cells->rows * cells->columns;
    const plot_axis value = {.column = figure->plot->value};
    figure_map map = {.rows = cells->rows,
                      .columns = cells->columns,
                      .value = cells->value,
                      .row_names = name_keys(run, cells->rows, cells->row_key),
                      .column_names = name_keys(run, cells->columns, cells->column_key),
                      .what = szgi_plot_axis_label(run, &value),
                      .lo = figure->plot->value_lo,
                      .hi = figure->plot->value_hi};
    bool positive = cells->filled > 0 && cells->value[cells->least] > 0;
    if (figure->plot->colours == PLOT_CHOSEN && run->status == SZG_OK)
        keep(pen, szgi_choose_scale(run->context, all, cells->value, &chosen));
    map.logarithmic = positive && (figure->plot->colours == PLOT_LOG || chosen.logarithmic);
    if (figure->plot->middle > 0)
        set_middle(cells, figure->plot->middle, &map);
    szgi_figure_show_heads(pen->paper, NULL, heads_of(figure));
    if (run->status == SZG_OK)
        keep(pen, szgi_figure_cells(run->context, pen->paper, &map));
    szgi_figure_show_heads(pen->paper, NULL, NULL);
}

/* ---- The figure ---- */

static figure_options options_of(plot_figure *figure) {
    bool panels = figure->panels > 1;
    figure_options out = {.title = figure->title,
                          .x = axis_of(figure, true),
                          .y = axis_of(figure, false),
                          .width = figure->width,
                          .height = figure->height};
    if (panels && out.width == 0) {
        out.width = PANEL_WIDTH;
        out.height = PANEL_HEIGHT;
    }
    if (out.height == 0 && figure->cells)
        out.height = figure->cells->rows < 10 ? 160 + 24 * (int)figure->cells->rows : 400;
    if (out.height == 0 && figure->y_names)
        out.height = 90 + 22 * (int)figure->y_count;
    return out;
}

static void open_panel(plot_figure *figure, figure_options options, int64_t index,
                       struct figure **out) {
    plot_panel whole = {.of = figure->of};
    pen pen = {.figure = figure, .panel = figure->cells ? &whole : &figure->panel[index]};
    if (figure->panels > 1)
        options.title = figure->panel[index].name;
    if (figure->run->status != SZG_OK ||
        !szgi_plot_keep(figure->run, szgi_figure_open(figure->run->context, &options, out)))
        return;
    pen.paper = *out;
    if (figure->cells)
        draw_cells(&pen);
    else
        draw_panel(&pen);
}

static void put(plot_figure *figure, struct figure *const *paper, int64_t count) {
    plot_run *run = figure->run;
    rows source[1 + sizeof figure->source / sizeof *figure->source] = {figure->of};
    for (int64_t i = 0; i < figure->sources; i++)
        source[1 + i] = figure->source[i];
    const panel_words words = {.title = count > 1 ? figure->title : NULL,
                               .caption = szgi_plot_caption(figure),
                               .remark = figure->plot->remark};
    if (run->status == SZG_OK)
        szgi_plot_keep(
            run, szgi_page_panels(run->page, paper, count, &words, source, 1 + figure->sources));
    if (run->status == SZG_OK && figure->plot->finding)
        figure->plot->finding(figure);
}

static bool any_finite(int64_t count, const double *value) {
    for (int64_t i = 0; value && i < count; i++)
        if (isfinite(value[i]))
            return true;
    return false;
}

/* Cells that are empty throughout do not apply: there is nothing to draw or to say. */
static bool is_blank(const plot_figure *figure) {
    if (figure->cells)
        return figure->cells->filled == 0;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t i = 0; i < figure->panel[p].count; i++) {
            const plot_series *one = &figure->panel[p].series[i];
            if (any_finite(one->count, one->y) &&
                (!is_flat(figure) || any_finite(one->count, one->lo)))
                return false;
        }
    return true;
}

void szgi_plot_draw(plot_figure *figure) {
    plot_run *run = figure->run;
    struct figure *paper[PLOT_PANELS] = {NULL};
    int64_t count = figure->cells ? 1 : figure->panels;
    if (run->status != SZG_OK || is_blank(figure))
        return;
    figure_options options = options_of(figure);
    for (int64_t i = 0; i < count; i++)
        open_panel(figure, options, i, &paper[i]);
    if (run->status == SZG_OK)
        put(figure, paper, count);
    for (int64_t i = 0; i < count; i++)
        szgi_figure_close(&paper[i]);
}
