/* What figures say: titles, names, hover texts, and captions where a record has none of its own. */
#include <inttypes.h>
#include <math.h>

#include "base/text.h"

#include "html.h"
#include "label.h"
#include "plot_private.h"

enum { NAME_CHARACTERS = 48 };

void szgi_plot_number(words *words, double value) {
    char text[SZGI_REAL_TEXT];
    szgi_print(text, sizeof text, "%.4g", value);
    /* Back and out again: 12300 and not 1.23e+04. */
    fputs(szgi_real_text(isfinite(value) ? szgi_real_scan(text, NULL) : value, text),
          words->stream);
}

void szgi_plot_count(words *words, int64_t count, const char *one, const char *many) {
    fprintf(words->stream, "%" PRId64 " %s", count, count == 1 ? one : many);
}

/* ---- Names from cells ---- */

typedef struct cell {
    rows of;
    int64_t index;
    const char *column;
    const plot_figure *figure;
    const char *name;
} cell;

/* "head 3" of a number, a text as it is; false: the cell is empty. */
static bool say_cell(words *words, rows of, int64_t index, const char *column, bool further) {
    const char *text = szgi_rows_text(of, index, column);
    double value = text ? NAN : szgi_rows_real(of, index, column);
    if (!text && isnan(value))
        return false;
    fputs(further ? ", " : "", words->stream);
    if (text) {
        szgi_words_clipped(words, text, NAME_CHARACTERS);
        return true;
    }
    fprintf(words->stream, "%s ", szgi_label_words(column));
    szgi_plot_number(words, value);
    return true;
}

typedef struct keyed {
    const char *const *columns;
    rows of;
} keyed;

static void say_key(words *words, const void *of) {
    const keyed *self = of;
    bool further = false;
    for (int i = 0; i < PLOT_LIST && self->columns[i]; i++)
        further |= say_cell(words, self->of, 0, self->columns[i], further);
}

const char *szgi_plot_key(plot_run *run, const char *const *columns, rows of) {
    const keyed self = {columns, of};
    return columns[0] ? szgi_plot_text(run, say_key, &self) : "";
}

typedef struct named {
    const plot *plot;
    rows of;
} named;

static void say_series(words *words, const void *of) {
    const named *self = of;
    self->plot->series_name(words, self->of);
}

const char *szgi_plot_series_name(plot_run *run, const plot *plot, rows of) {
    const named self = {plot, of};
    const char *name = plot->series_name ? szgi_plot_text(run, say_series, &self)
                                         : szgi_plot_key(run, plot->series_by, of);
    return *name ? name : NULL;
}

static void say_title(words *words, const void *of) {
    const named *self = of;
    if (self->plot->subject) {
        self->plot->subject(words, self->of);
        fputs(self->plot->title ? ": " : "", words->stream);
    }
    fputs(self->plot->title ? self->plot->title : "", words->stream);
}

const char *szgi_plot_title(plot_run *run, const plot *plot, rows of) {
    const named self = {plot, of};
    return szgi_plot_text(run, say_title, &self);
}

static void say_axis(words *words, const void *of) {
    char label[LABEL_TEXT];
    fputs(szgi_label_axis(of, label), words->stream);
}

const char *szgi_plot_axis_label(plot_run *run, const plot_axis *axis) {
    if (axis->label || !axis->column)
        return axis->label;
    return szgi_plot_text(run, say_axis, axis->column);
}

/* ---- Hover ---- */

static void say_hover(words *words, const void *of) {
    const cell *self = of;
    const plot *plot = self->figure->plot;
    fputs(self->name ? self->name : "", words->stream);
    for (int i = 0; i < PLOT_LIST && plot->hover[i]; i++) {
        const char *text = szgi_rows_text(self->of, self->index, plot->hover[i]);
        double value = text ? NAN : szgi_rows_real(self->of, self->index, plot->hover[i]);
        if (!text && isnan(value))
            continue;
        fprintf(words->stream, "%s%s: ", i || self->name ? "\n" : "",
                szgi_label_words(plot->hover[i]));
        if (text)
            szgi_words_clipped(words, text, 2 * NAME_CHARACTERS);
        else
            szgi_html_number(words->stream, value);
    }
}

const char *szgi_plot_hover(const plot_figure *figure, const char *name, rows of, int64_t index) {
    const cell self = {.of = of, .index = index, .figure = figure, .name = name};
    return szgi_plot_text(figure->run, say_hover, &self);
}

/* ---- Captions ---- */

double szgi_plot_peak(const plot_series *series) {
    double peak = NAN;
    for (int64_t i = 0; i < series->count; i++)
        if (isfinite(series->y[i]))
            peak = fmax(peak, series->y[i]);
    return peak;
}

double szgi_plot_last(const plot_series *series) {
    for (int64_t i = series->count - 1; i >= 0; i--)
        if (isfinite(series->y[i]))
            return series->y[i];
    return NAN;
}

const plot_series *szgi_plot_extreme(const plot_figure *figure, bool least) {
    const plot_series *found = NULL;
    double best = NAN;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t i = 0; i < figure->panel[p].count; i++) {
            double peak = szgi_plot_peak(&figure->panel[p].series[i]);
            if (isnan(peak) || (found && (least ? peak >= best : peak <= best)))
                continue;
            best = peak;
            found = &figure->panel[p].series[i];
        }
    return found;
}

void szgi_plot_say_outliers(words *words, const plot_figure *figure) {
    int64_t named = 0;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t i = 0; i < figure->panel[p].count; i++) {
            const plot_series *one = &figure->panel[p].series[i];
            double layer = szgi_rows_real(one->of, 0, "layer"),
                   head = szgi_rows_real(one->of, 0, "head");
            if (!one->stands_out || !isfinite(layer) || !isfinite(head))
                continue;
            fputs(named++ ? ", " : "; heads that stand out: ", words->stream);
            szgi_plot_number(words, layer);
            putc('.', words->stream);
            szgi_plot_number(words, head);
        }
}

/* "layer 0, head 2" */
static void say_place(words *words, const plot_figure *figure, int64_t at) {
    const plot_cells *cells = figure->cells;
    fprintf(words->stream, "%s ", szgi_label_words(figure->y.column));
    szgi_plot_number(words, cells->row_key[at / cells->columns]);
    fprintf(words->stream, ", %s ", szgi_label_words(figure->x.column));
    szgi_plot_number(words, cells->column_key[at % cells->columns]);
}

static void describe_cells(words *words, const plot_figure *figure) {
    const plot_cells *cells = figure->cells;
    fputs("Greatest ", words->stream);
    szgi_plot_number(words, cells->value[cells->greatest]);
    fputs(" at ", words->stream);
    say_place(words, figure, cells->greatest);
    fputs("; least ", words->stream);
    szgi_plot_number(words, cells->value[cells->least]);
    fputs(" at ", words->stream);
    say_place(words, figure, cells->least);
    fputs("; mean ", words->stream);
    szgi_plot_number(words, cells->mean);
    fputs(".", words->stream);
}

/* Where the series is: "layer 2, head 3", by what panels and series are split by. */
static void say_series_place(words *words, const plot_figure *figure, const plot_series *series) {
    bool further = false;
    for (int i = 0; i < PLOT_LIST && figure->plot->panel_by[i]; i++)
        further |= say_cell(words, series->of, 0, figure->plot->panel_by[i], further);
    if (series->name)
        fprintf(words->stream, "%s%s", further ? ", " : "", series->name);
}

static void describe_series(words *words, const plot_figure *figure) {
    const plot_series *most = szgi_plot_extreme(figure, false),
                      *least = szgi_plot_extreme(figure, true);
    if (!most) {
        fputs("Nothing finite to draw.", words->stream);
        return;
    }
    fputs("Greatest value ", words->stream);
    szgi_plot_number(words, szgi_plot_peak(most));
    if (most != least) {
        fputs(", in ", words->stream);
        say_series_place(words, figure, most);
        fputs("; the least maximum is ", words->stream);
        szgi_plot_number(words, szgi_plot_peak(least));
        fputs(", in ", words->stream);
        say_series_place(words, figure, least);
    }
    fputs(".", words->stream);
}

static void say_caption(words *words, const void *of) {
    const plot_figure *figure = of;
    if (figure->plot->caption)
        figure->plot->caption(words, figure);
    else if (figure->cells)
        describe_cells(words, figure);
    else
        describe_series(words, figure);
    if (figure->undrawn > 0)
        fprintf(words->stream, " Not drawn: %" PRId64 " %s.", figure->undrawn,
                figure->cells ? "rows without a place" : "further series");
}

typedef struct finding {
    const plot_figure *figure;
    void (*say)(words *, const plot_figure *);
} finding;

static void say_finding(words *words, const void *of) {
    const finding *self = of;
    self->say(words, self->figure);
}

void szgi_plot_find(const plot_figure *figure, void (*say)(words *, const plot_figure *)) {
    const finding self = {figure, say};
    plot_run *run = figure->run;
    if (run->found)
        return;
    const char *text = szgi_plot_text(run, say_finding, &self);
    run->found = true;
    if (run->status == SZG_OK && *text)
        szgi_page_finding(run->page, NULL, "%s", text);
}

const char *szgi_plot_caption(const plot_figure *figure) {
    return szgi_plot_text(figure->run, say_caption, figure);
}
