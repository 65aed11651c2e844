#include <math.h>

#include "colour.h"
#include "figure_canvas.h"
#include "html.h"

/* 0 to 1 on the map of colours; values beyond the ends have the ends' colours. */
static double colour_place(const cells *cells, double value) {
    double lo = cells->lo, hi = cells->hi, middle = cells->middle;
    if (cells->logarithmic && lo > 0) {
        lo = log(lo);
        hi = log(hi);
        middle = log(middle);
        value = value > 0 ? log(value) : lo;
    }
    if (cells->diverging) {
        double half = fmax(hi / 2 - middle / 2, middle / 2 - lo / 2);
        return half > 0 ? 0.5 + (value / 2 - middle / 2) / half / 2 : 0.5;
    }
    return (value / 2 - lo / 2) / (hi / 2 - lo / 2);
}

static uint32_t colour_of(const cells *cells, double value) {
    double place = fmin(fmax(colour_place(cells, value), 0), 1);
    return cells->diverging ? szgi_colour_diverging(place) : szgi_colour_sequential(place);
}

typedef struct box {
    double x, y, width, height;
} box;

/* At whole pixels, as crisp edges are painted. Merged cells at the end may stand for fewer rows or
 * columns. */
static box box_of(const canvas *canvas, int64_t row, int64_t column) {
    const cells *cells = canvas->figure->map;
    double x0 = round(szgi_canvas_x(canvas, (double)(column * cells->across) - 0.5));
    double x1 = round(szgi_canvas_x(canvas, (double)((column + 1) * cells->across) - 0.5));
    double y0 = round(szgi_canvas_y(canvas, (double)(row * cells->down) - 0.5));
    double y1 = round(szgi_canvas_y(canvas, (double)((row + 1) * cells->down) - 0.5));
    return (box){x0, y0, x1 - x0, y1 - y0};
}

static void print_place(const canvas *canvas, const axis *axis, const char *name, int64_t at,
                        int64_t each, int64_t all) {
    FILE *stream = canvas->stream;
    int64_t last = (at + 1) * each < all ? (at + 1) * each : all;
    szgi_html_clipped(stream, axis->label ? axis->label : name, HOVER_CHARACTERS);
    fputc(' ', stream);
    szgi_print_value(stream, axis, (double)(at * each));
    if (each > 1) {
        fputs(" to ", stream);
        szgi_print_value(stream, axis, (double)(last - 1));
    }
}

static void print_cell_hover(const canvas *canvas, int64_t row, int64_t column) {
    const figure *figure = canvas->figure;
    const cells *cells = figure->map;
    FILE *stream = canvas->stream;
    fputs("<title>", stream);
    print_place(canvas, &figure->y, "row", row, cells->down, cells->all_rows);
    fputs(", ", stream);
    print_place(canvas, &figure->x, "column", column, cells->across, cells->all_columns);
    fputc('\n', stream);
    szgi_html_clipped(stream, cells->what ? cells->what : "value", HOVER_CHARACTERS);
    fputs(cells->down * cells->across > 1 ? " (mean): " : ": ", stream);
    szgi_html_number(stream, cells->value[row * cells->columns + column]);
    fputs("</title>", stream);
}

/* An empty cell is an outline with a diagonal. */
static void print_cell(const canvas *canvas, int64_t row, int64_t column) {
    const cells *cells = canvas->figure->map;
    FILE *stream = canvas->stream;
    double value = cells->value[row * cells->columns + column];
    bool empty = !isfinite(value);
    box box = box_of(canvas, row, column);
    if (empty)
        fputs("<path class=\"mark empty\" ", stream);
    else
        fprintf(stream, "<path class=\"mark\" fill=\"#%06x\" ", (unsigned)colour_of(cells, value));
    if (cells->heads)
        szgi_print_head(stream, cells->heads[row * cells->columns + column]);
    fputs("d=\"", stream);
    szgi_print_step(stream, 'M', box.x, box.y);
    fputc('h', stream);
    szgi_print_coordinate(stream, box.width);
    fputc('v', stream);
    szgi_print_coordinate(stream, box.height);
    fputc('H', stream);
    szgi_print_coordinate(stream, box.x);
    fputc('z', stream);
    if (empty)
        szgi_print_step(stream, 'L', box.x + box.width, box.y + box.height);
    fputs("\">", stream);
    print_cell_hover(canvas, row, column);
    fputs("</path>", stream);
}

/* Three digits are enough beside the colour. */
static void print_cell_text(const canvas *canvas, int64_t row, int64_t column) {
    const cells *cells = canvas->figure->map;
    FILE *stream = canvas->stream;
    double value = cells->value[row * cells->columns + column];
    box box = box_of(canvas, row, column);
    if (!isfinite(value))
        return;
    fprintf(stream, "<text class=\"%s\" ",
            szgi_colour_is_light(colour_of(cells, value)) ? "on-light" : "on-dark");
    szgi_print_attribute(stream, "x", box.x + box.width / 2);
    szgi_print_attribute(stream, "y", box.y + box.height / 2 + 4);
    fputs("text-anchor=\"middle\">", stream);
    double unit = value == 0 ? 1 : pow(10, 2 - floor(log10(fabs(value))));
    szgi_html_number(stream, isfinite(unit) && unit > 0 ? round(value * unit) / unit : value);
    fputs("</text>", stream);
}

enum { BAR_STEPS = 48 };

static double value_at(const scale *scale, double fraction) {
    double units = scale->hi * fraction + scale->lo * (1 - fraction);
    return scale->logarithmic ? pow(10, units) : units;
}

/* The colours from lo to hi, right of the cells, with ticks. */
static void print_colour_bar(const canvas *canvas) {
    const cells *cells = canvas->figure->map;
    FILE *stream = canvas->stream;
    double x = canvas->left + canvas->width + 16, step = canvas->height / BAR_STEPS;
    scale scale = szgi_scale_of(cells->logarithmic && cells->lo > 0, cells->lo, cells->hi, 0);
    ticks ticks;
    fputs("<g class=\"colour-bar\">", stream);
    for (int i = 0; i < BAR_STEPS; i++) {
        double part = (i + 0.5) / BAR_STEPS;
        double value = value_at(&scale, 1 - part);
        fprintf(stream, "<path fill=\"#%06x\" d=\"", (unsigned)colour_of(cells, value));
        szgi_print_step(stream, 'M', x, canvas->top + i * step);
        fputs("h12v", stream);
        szgi_print_coordinate(stream, i + 1 < BAR_STEPS ? step + 0.5 : step);
        fputs("h-12z\"/>", stream);
    }
    szgi_ticks_place(&scale, 5, false, &ticks);
    for (int i = 0; i < ticks.count; i++) {
        fputs("<text ", stream);
        szgi_print_attribute(stream, "x", x + 17);
        szgi_print_attribute(stream, "y",
                             canvas->top + canvas->height * (1 - ticks.tick[i].at) + 4);
        fprintf(stream, ">%s</text>", ticks.tick[i].text);
    }
    if (cells->what) {
        double middle = canvas->top + canvas->height / 2;
        fputs("<text class=\"label\" text-anchor=\"middle\" ", stream);
        szgi_print_attribute(stream, "x", x + 74);
        szgi_print_attribute(stream, "y", middle);
        fputs("transform=\"rotate(-90 ", stream);
        szgi_print_coordinate(stream, x + 74);
        fputc(' ', stream);
        szgi_print_coordinate(stream, middle);
        fputs(")\">", stream);
        szgi_html_clipped(stream, cells->what, (int64_t)(canvas->height / 6.6));
        fputs("</text>", stream);
    }
    fputs("</g>\n", stream);
}

void szgi_cells_print(const canvas *canvas) {
    const cells *cells = canvas->figure->map;
    FILE *stream = canvas->stream;
    box first = box_of(canvas, 0, 0);
    bool texts = cells->columns <= 12 && first.width >= 34 && first.height >= 14;
    fputs("<g class=\"cells\" shape-rendering=\"crispEdges\">", stream);
    for (int64_t row = 0; row < cells->rows; row++)
        for (int64_t column = 0; column < cells->columns; column++)
            print_cell(canvas, row, column);
    fputs("</g>\n<g class=\"cell-texts\">", stream);
    for (int64_t row = 0; texts && row < cells->rows; row++)
        for (int64_t column = 0; column < cells->columns; column++)
            print_cell_text(canvas, row, column);
    fputs("</g>\n", stream);
    if (cells->finite > 0)
        print_colour_bar(canvas);
}
