#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "figure_canvas.h"
#include "html.h"

/* 12 pixels high, in a wide font (DejaVu Sans); from U+3000 on as wide as high. */
static double character_width(unsigned char byte) {
    if (byte >= 0xE3)
        return 12;
    if (strchr("ijl", byte))
        return 3.4;
    if (strchr("frt.,:;-|!'()[]/ ", byte))
        return 4.7;
    if (strchr("mwMW=+<>%@~", byte))
        return 10.5;
    return byte >= 'A' && byte <= 'Z' ? 8.4 : 7.5;
}

double szgi_text_width(const char *text, int64_t most) {
    double width = 0;
    int64_t count = 0;
    for (; text && *text && count < most; text++) {
        if (szgi_utf8_continues(*text))
            continue;
        count++;
        width += character_width((unsigned char)*text);
    }
    return text && *text ? width + 12 : width; /* the ellipsis */
}

size_t szgi_text_break(const char *text, int64_t room) {
    int64_t count = 0;
    size_t at = 0;
    if (!text || szgi_utf8_count(text, room + 1) <= room)
        return 0;
    for (const char *here = text; count <= room; here++) {
        count += !szgi_utf8_continues(*here);
        if (*here == ' ' || (count > room && at == 0))
            at = (size_t)(here - text);
    }
    return at;
}

void szgi_print_coordinate(FILE *stream, double value) {
    if (!(fabs(value) < 1e7))
        value = 0;
    long hundredths = lrint(value * 100);
    long whole = labs(hundredths) / 100, part = labs(hundredths) % 100;
    fprintf(stream, "%s%ld", hundredths < 0 ? "-" : "", whole);
    if (part % 10)
        fprintf(stream, ".%02ld", part);
    else if (part)
        fprintf(stream, ".%ld", part / 10);
}

void szgi_print_attribute(FILE *stream, const char *name, double value) {
    fprintf(stream, "%s=\"", name);
    szgi_print_coordinate(stream, value);
    fputs("\" ", stream);
}

void szgi_print_step(FILE *stream, char letter, double x, double y) {
    fputc(letter, stream);
    szgi_print_coordinate(stream, x);
    fputc(' ', stream);
    szgi_print_coordinate(stream, y);
}

static double clamped(double fraction) {
    return fmin(fmax(fraction, 0), 1);
}

double szgi_canvas_x(const canvas *canvas, double value) {
    return canvas->left + canvas->width * clamped(szgi_scale_fraction(&canvas->x, value));
}

double szgi_canvas_y(const canvas *canvas, double value) {
    double fraction = clamped(szgi_scale_fraction(&canvas->y, value));
    return canvas->top + canvas->height * (canvas->figure->y.reversed ? fraction : 1 - fraction);
}

bool szgi_canvas_shows(const canvas *canvas, double x, double y) {
    double across = szgi_scale_fraction(&canvas->x, x), up = szgi_scale_fraction(&canvas->y, y);
    return across >= 0 && across <= 1 && up >= 0 && up <= 1;
}

void szgi_print_value(FILE *stream, const axis *axis, double value) {
    double whole = round(value);
    if (axis->names && whole >= 0 && whole < (double)axis->count && fabs(value - whole) < 0.5)
        szgi_html_clipped(stream, axis->names[(int64_t)whole], HOVER_CHARACTERS);
    else
        szgi_html_number(stream, value);
}

static void print_labelled(FILE *stream, const axis *axis, const char *name, double value) {
    szgi_html_clipped(stream, axis->label ? axis->label : name, HOVER_CHARACTERS);
    fputs(": ", stream);
    szgi_print_value(stream, axis, value);
}

void szgi_print_hover(const canvas *canvas, const char *name, double x, double y) {
    FILE *stream = canvas->stream;
    fputs("<title>", stream);
    szgi_html_clipped(stream, name, HOVER_CHARACTERS);
    if (name)
        fputc('\n', stream);
    print_labelled(stream, &canvas->figure->x, "x", x);
    fputc('\n', stream);
    print_labelled(stream, &canvas->figure->y, "y", y);
    fputs("</title>", stream);
}

void szgi_point_hover(const canvas *canvas, const mark *mark, int64_t point) {
    if (!mark->hover || !mark->hover[point]) {
        double x = mark->small ? mark->lo[point] : mark->x[point];
        szgi_print_hover(canvas, mark->name, x, mark->y[point]);
        return;
    }
    fputs("<title>", canvas->stream);
    szgi_html_text(canvas->stream, mark->hover[point]);
    fputs("</title>", canvas->stream);
}

void szgi_print_head(FILE *stream, const char *head) {
    if (!head)
        return;
    fputs("data-head=\"", stream);
    szgi_html_text(stream, head);
    fputs("\" ", stream);
}

void szgi_print_point_head(FILE *stream, const mark *mark, int64_t point) {
    if (mark->heads)
        szgi_print_head(stream, mark->heads[point]);
}

void szgi_print_series(const canvas *canvas, FILE *stream, const mark *mark) {
    int64_t series = szgi_mark_series(canvas->figure, mark);
    if (series >= 0)
        fprintf(stream, "data-series=\"%" PRId64 "\" ", series);
}

void szgi_print_class(FILE *stream, const char *kind, const mark *mark) {
    if (mark->colour == FIGURE_MUTED)
        fprintf(stream, "class=\"%s muted\" ", kind);
    else if (mark->colour < 0)
        fprintf(stream, "class=\"%s band\" ", kind);
    else
        fprintf(stream, "class=\"%s c%d%s\" ", kind, mark->colour % FIGURE_COLOURS,
                mark->thin ? " thin" : "");
}

const char *szgi_dash_of(const mark *mark) {
    static const char *const dashes[FIGURE_COLOURS] = {NULL,  "7 3",  "2 3", "9 3 2 3",
                                                       "5 2", "12 3", "1 2", "9 3 2 3 2 3"};
    if (mark->thin)
        return "1 3";
    if (mark->colour < 0)
        return NULL;
    /* The second round of colours begins with the second dash. */
    return dashes[(mark->colour + mark->colour / FIGURE_COLOURS) % FIGURE_COLOURS];
}

void szgi_print_marker(FILE *stream, int shape, double x, double y) {
    static const char *const shapes[FIGURE_COLOURS] = {
        "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
        "m-3-3h6v6h-6z",
        "m0-4l4 7h-8z",
        "m0-4l4 4l-4 4l-4-4z",
        "m0 4l4-7h-8z",
        "m-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
        "m-4-2l2-2l2 2l2-2l2 2l-2 2l2 2l-2 2l-2-2l-2 2l-2-2l2-2z",
        "m-2-3.5h4l2 3.5l-2 3.5h-4l-2-3.5z"};
    szgi_print_step(stream, 'M', x, y);
    fputs(shapes[shape < 0 ? 0 : shape % FIGURE_COLOURS], stream);
}
