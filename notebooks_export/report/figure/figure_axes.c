#include <math.h>
#include <string.h>

#include "base/text.h"

#include "figure_canvas.h"
#include "html.h"

static double longest(const axis *axis) {
    double most = 0;
    for (int64_t i = 0; i < axis->count; i++)
        most = fmax(most, szgi_text_width(axis->names[i], NAME_CHARACTERS));
    return most;
}

static double step_pixels(const scale *scale, double length) {
    return length / (scale->hi - scale->lo);
}

/* Long names are turned where they do not fit beside each other; of short ones some are left out.
 */
static bool is_turned(const canvas *canvas) {
    const axis *axis = &canvas->figure->x;
    if (!axis->names)
        return false;
    double most = longest(axis);
    return most > 48 && most + 8 > step_pixels(&canvas->x, canvas->width);
}

static void place(const canvas *canvas, bool vertical, ticks *out) {
    const axis *axis = vertical ? &canvas->figure->y : &canvas->figure->x;
    double wanted = vertical ? canvas->height / (axis->whole ? 18 : 32)
                             : canvas->width / (axis->whole ? 30 : 60);
    out->count = 0;
    if (!szgi_axis_is_blank(axis))
        szgi_ticks_place(vertical ? &canvas->y : &canvas->x,
                         (int)fmin(fmax(wanted, 4), axis->whole ? 24 : 10),
                         axis->whole || (!vertical && szgi_axis_is_whole(axis)), out);
}

enum { LABEL_LINE = 13 }; /* pixels from a label's first line to its second */

/* Characters that a label has room for. */
static int64_t label_room(double length) {
    return (int64_t)(length / 6.6);
}

/* Names beside each other turned by 35 degrees need room below, and the first one on its left. */
void szgi_axes_measure(const canvas *canvas, double *left, double *bottom) {
    const axis *x = &canvas->figure->x, *y = &canvas->figure->y;
    double widest = y->names ? longest(y) : 0;
    ticks ticks;
    place(canvas, true, &ticks);
    for (int i = 0; !y->names && i < ticks.count; i++)
        widest = fmax(widest, szgi_text_width(ticks.tick[i].text, TICK_TEXT));
    bool turned = is_turned(canvas);
    double slant = turned ? longest(x) : 0;
    *bottom = 22 + (x->label ? 20 : 0) + (turned ? 0.574 * slant - 6 : 0);
    double height = fmax(canvas->figure->height - canvas->top - *bottom, 40);
    *left = widest + 12 + (y->label ? 20 : 0);
    *left += szgi_text_break(y->label, label_room(height)) > 0 ? LABEL_LINE : 0;
    if (turned)
        *left = fmax(*left, 0.82 * slant - step_pixels(&canvas->x, canvas->width) / 2 + 8);
}

/* Cut where it is long, then whole in its hover. */
static void print_name(FILE *stream, const char *text) {
    szgi_html_clipped(stream, text, NAME_CHARACTERS);
    if (szgi_utf8_count(text, NAME_CHARACTERS + 1) > NAME_CHARACTERS) {
        fputs("<title>", stream);
        szgi_html_text(stream, text);
        fputs("</title>", stream);
    }
}

static void print_x_tick(const canvas *canvas, double x, const char *text, bool turned) {
    FILE *stream = canvas->stream;
    double y = canvas->top + canvas->height + 16;
    fputs("<text ", stream);
    szgi_print_attribute(stream, "x", x);
    szgi_print_attribute(stream, "y", turned ? y - 4 : y);
    if (turned) {
        fputs("text-anchor=\"end\" transform=\"rotate(-35 ", stream);
        szgi_print_coordinate(stream, x);
        fputc(' ', stream);
        szgi_print_coordinate(stream, y - 4);
        fputs(")\"", stream);
    } else {
        fputs("text-anchor=\"middle\"", stream);
    }
    fputc('>', stream);
    print_name(stream, text);
    fputs("</text>", stream);
}

static void print_y_tick(const canvas *canvas, double y, const char *text) {
    FILE *stream = canvas->stream;
    fputs("<text ", stream);
    szgi_print_attribute(stream, "x", canvas->left - 6);
    szgi_print_attribute(stream, "y", y + 4);
    fputs("text-anchor=\"end\">", stream);
    print_name(stream, text);
    fputs("</text>", stream);
}

/* Names at 0, 1, 2, ..., every k-th where they would overlap. */
static void print_names(const canvas *canvas, bool vertical) {
    const axis *axis = vertical ? &canvas->figure->y : &canvas->figure->x;
    bool turned = !vertical && is_turned(canvas);
    double step =
        vertical ? step_pixels(&canvas->y, canvas->height) : step_pixels(&canvas->x, canvas->width);
    double needed = vertical ? 14 : turned ? 22 : longest(axis) + 8;
    double most = (double)axis->count; /* marks far away may leave no room at all */
    int64_t each = (int64_t)fmin(fmax(ceil(needed / step), 1), most);
    for (int64_t i = 0; i < axis->count; i += each) {
        double fraction = szgi_scale_fraction(vertical ? &canvas->y : &canvas->x, (double)i);
        if (!(fraction >= -1e-9 && fraction <= 1 + 1e-9))
            continue;
        if (vertical)
            print_y_tick(canvas, szgi_canvas_y(canvas, (double)i), axis->names[i]);
        else
            print_x_tick(canvas, szgi_canvas_x(canvas, (double)i), axis->names[i], turned);
    }
}

static void print_numbers(const canvas *canvas, bool vertical, const ticks *ticks) {
    double free_from = -1e9;
    for (int i = 0; i < ticks->count; i++) {
        const tick *tick = &ticks->tick[i];
        if (vertical) {
            double at = canvas->figure->y.reversed ? tick->at : 1 - tick->at;
            print_y_tick(canvas, canvas->top + canvas->height * at, tick->text);
            continue;
        }
        double x = canvas->left + canvas->width * tick->at;
        double half = szgi_text_width(tick->text, TICK_TEXT) / 2;
        if (x - half < free_from)
            continue;
        print_x_tick(canvas, x, tick->text, false);
        free_from = x + half + 6;
    }
}

/* Thin lines across the area, below the marks. */
static void print_grid(const canvas *canvas, bool vertical, const ticks *ticks) {
    FILE *stream = canvas->stream;
    if (ticks->count == 0 || canvas->figure->map)
        return;
    fputs("<path class=\"gridlines\" d=\"", stream);
    for (int i = 0; i < ticks->count; i++) {
        double at = ticks->tick[i].at;
        if (vertical) {
            szgi_print_step(stream, 'M', canvas->left, canvas->top + canvas->height * (1 - at));
            fputc('h', stream);
            szgi_print_coordinate(stream, canvas->width);
        } else {
            szgi_print_step(stream, 'M', canvas->left + canvas->width * at, canvas->top);
            fputc('v', stream);
            szgi_print_coordinate(stream, canvas->height);
        }
    }
    fputs("\"/>", stream);
}

/* A long label of y has two lines; below x there is room for one. */
static void print_label_lines(const canvas *canvas, const char *label, int64_t room, bool vertical,
                              double middle) {
    FILE *stream = canvas->stream;
    size_t first = vertical ? szgi_text_break(label, room) : 0;
    char line[FIGURE_TEXT + 4];
    if (first == 0) {
        szgi_html_clipped(stream, label, room);
        return;
    }
    memcpy(line, label, first); /* of FIGURE_TEXT bytes at most, as every text of a figure */
    line[first] = 0;
    fputs("<tspan>", stream);
    szgi_html_text(stream, line);
    fputs("</tspan><tspan ", stream);
    szgi_print_attribute(stream, "x", 14);
    szgi_print_attribute(stream, "y", middle + LABEL_LINE);
    fputc('>', stream);
    szgi_html_clipped(stream, label + first + (label[first] == ' '), room);
    fputs("</tspan>", stream);
}

static void print_label(const canvas *canvas, bool vertical, double bottom) {
    FILE *stream = canvas->stream;
    const char *label = vertical ? canvas->figure->y.label : canvas->figure->x.label;
    if (!label)
        return;
    double middle = vertical ? canvas->top + canvas->height / 2 : canvas->left + canvas->width / 2;
    double length = vertical ? canvas->height : canvas->width;
    fputs("<text class=\"label\" text-anchor=\"middle\" ", stream);
    szgi_print_attribute(stream, "x", vertical ? 14 : middle);
    szgi_print_attribute(stream, "y",
                         vertical ? middle : canvas->top + canvas->height + bottom - 8);
    if (vertical) {
        fputs("transform=\"rotate(-90 14 ", stream);
        szgi_print_coordinate(stream, middle);
        fputs(")\"", stream);
    }
    fputc('>', stream);
    print_label_lines(canvas, label, label_room(length), vertical, middle);
    fputs("</text>", stream);
}

void szgi_axes_print(const canvas *canvas) {
    FILE *stream = canvas->stream;
    double left, bottom;
    szgi_axes_measure(canvas, &left, &bottom);
    fputs("<g class=\"axes\">", stream);
    for (int vertical = 0; vertical < 2; vertical++) {
        const axis *axis = vertical ? &canvas->figure->y : &canvas->figure->x;
        ticks ticks;
        place(canvas, vertical, &ticks);
        if (!axis->names)
            print_grid(canvas, vertical, &ticks);
        if (axis->names)
            print_names(canvas, vertical);
        else
            print_numbers(canvas, vertical, &ticks);
        print_label(canvas, vertical, bottom);
    }
    fputs("<path class=\"frame\" d=\"", stream);
    szgi_print_step(stream, 'M', canvas->left, canvas->top);
    fputc('v', stream);
    szgi_print_coordinate(stream, canvas->height);
    fputc('h', stream);
    szgi_print_coordinate(stream, canvas->width);
    fputs("\"/></g>\n", stream);
}
