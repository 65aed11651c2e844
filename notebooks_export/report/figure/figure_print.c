#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#include "figure_canvas.h"
#include "html.h"

enum { ENTRIES = 40, ENTRY_CHARACTERS = 36 };

static const char *entry_of(const mark *mark) {
    return mark->entry ? mark->entry : mark->name;
}

/* Entries of one name and look are one entry. */
static bool is_repeated(const figure *figure, int64_t at) {
    const mark *mark = &figure->mark[at];
    for (int64_t i = 0; i < at; i++) {
        const struct mark *other = &figure->mark[i];
        if (other->in_legend && other->colour == mark->colour && other->thin == mark->thin &&
            strcmp(entry_of(other), entry_of(mark)) == 0)
            return true;
    }
    return false;
}

static void print_swatch(FILE *stream, const mark *mark, double x, double y) {
    bool area = mark->kind == MARK_BAND || mark->kind == MARK_BARS || mark->kind == MARK_VIOLIN ||
                mark->kind == MARK_RANGES;
    bool line = mark->kind == MARK_LINE || mark->kind == MARK_RULE;
    fputs("<g ", stream);
    szgi_print_class(stream,
                     mark->kind == MARK_BAND     ? "area"
                     : mark->kind == MARK_BARS   ? "bars"
                     : mark->kind == MARK_RANGES ? "bars"
                     : mark->kind == MARK_VIOLIN ? "violin"
                     : mark->kind == MARK_RULE   ? "rule"
                     : line                      ? "line"
                                                 : "points",
                     mark);
    fputs("><path class=\"swatch\" ", stream);
    if (line && szgi_dash_of(mark))
        fprintf(stream, "stroke-dasharray=\"%s\" ", szgi_dash_of(mark));
    fputs("d=\"", stream);
    if (area) {
        szgi_print_step(stream, 'M', x, y - 5);
        fputs("h24v10h-24z", stream);
    } else if (line) {
        szgi_print_step(stream, 'M', x, y);
        fputs("h24", stream);
    } else {
        szgi_print_marker(stream, mark->colour, x + 12, y);
    }
    fputs("\"/>", stream);
    if (mark->kind == MARK_LINE && !mark->thin && mark->colour >= 0) {
        fputs("<path class=\"markers\" d=\"", stream);
        szgi_print_marker(stream, mark->colour, x + 12, y);
        fputs("\"/>", stream);
    }
    fputs("</g>", stream);
}

/* The head that every mark of the series shows; NULL: there is none, or there are several. */
static const char *shared_head(const figure *figure, const mark *mark) {
    int64_t series = szgi_mark_series(figure, mark);
    for (int64_t i = 0; mark->head && i < figure->count; i++) {
        const struct mark *other = &figure->mark[i];
        if (szgi_mark_series(figure, other) == series &&
            (!other->head || strcmp(other->head, mark->head) != 0))
            return NULL;
    }
    return mark->head;
}

/* The path of class "room" is an area as wide as the entry: easier to press than its letters. */
static void print_entry(const canvas *canvas, const mark *mark, double x, double y, double width,
                        int64_t characters) {
    FILE *stream = canvas->stream;
    fputs("<g class=\"entry\" ", stream);
    szgi_print_series(canvas, stream, mark);
    szgi_print_head(stream, shared_head(canvas->figure, mark));
    fputs("><path class=\"room\" d=\"", stream);
    szgi_print_step(stream, 'M', x - 4, y - 9);
    fputc('h', stream);
    szgi_print_coordinate(stream, fmin(width - 8, canvas->full_width - x));
    fputs("v18H", stream);
    szgi_print_coordinate(stream, x - 4);
    fputs("z\"/>", stream);
    print_swatch(stream, mark, x, y);
    fputs("<text ", stream);
    szgi_print_attribute(stream, "x", x + 30);
    szgi_print_attribute(stream, "y", y + 4);
    fputc('>', stream);
    szgi_html_clipped(stream, entry_of(mark), characters);
    fputs("<title>", stream);
    szgi_html_text(stream, entry_of(mark));
    fputs("</title></text></g>\n", stream);
}

double szgi_legend_print(const canvas *canvas, FILE *stream, double y) {
    const figure *figure = canvas->figure;
    double x = canvas->left, from = y;
    int64_t entries = 0, room = (int64_t)((canvas->full_width - x - 48) / 7.5);
    int64_t characters = room < ENTRY_CHARACTERS ? room : ENTRY_CHARACTERS;
    for (int64_t i = 0; i < figure->count && entries <= ENTRIES; i++) {
        const mark *mark = &figure->mark[i];
        if (!mark->in_legend || mark->hidden || mark->count == 0 || is_repeated(figure, i))
            continue;
        double width = 30 + szgi_text_width(entry_of(mark), characters) + 18;
        if (x > canvas->left && x + width > canvas->full_width) {
            x = canvas->left;
            y += 18;
        }
        if (entries == ENTRIES && stream) {
            fputs("<text ", stream);
            szgi_print_attribute(stream, "x", x);
            szgi_print_attribute(stream, "y", y + 13);
            fputs(">…</text>", stream);
        } else if (stream) {
            print_entry(canvas, mark, x, y + 9, width, characters);
        }
        x += width;
        entries++;
    }
    return entries ? y + 22 - from : 0;
}

/* One note: what the picture does not show. */
static double print_note(const canvas *canvas, FILE *stream, double y, int64_t count,
                         const char *one, const char *many) {
    if (count == 0)
        return 0;
    if (stream) {
        fputs("<text class=\"note\" ", stream);
        szgi_print_attribute(stream, "x", canvas->left);
        szgi_print_attribute(stream, "y", y + 11);
        fprintf(stream, ">%" PRId64 " %s</text>", count, count == 1 ? one : many);
    }
    return 16;
}

double szgi_notes_print(const canvas *canvas, FILE *stream, double y) {
    const figure *figure = canvas->figure;
    double from = y;
    y += print_note(canvas, stream, y, figure->not_finite, "value is not finite: not drawn",
                    "values are not finite: not drawn");
    y += print_note(canvas, stream, y, figure->not_positive,
                    "value is not positive: no place on a logarithmic axis",
                    "values are not positive: no place on a logarithmic axis");
    y += print_note(canvas, stream, y, figure->outside, "mark lies outside of the axes",
                    "marks lie outside of the axes");
    y += print_note(canvas, stream, y, figure->map ? figure->map->beyond : 0,
                    "cell lies beyond the colours' ends: drawn as the nearer end",
                    "cells lie beyond the colours' ends: drawn as the nearer end");
    if (figure->map && figure->map->down * figure->map->across > 1)
        y += print_note(canvas, stream, y, figure->map->down * figure->map->across, "",
                        "values in a cell: their mean is drawn");
    return y > from ? y + 4 - from : 0;
}

static int64_t heading_room(const figure *figure) {
    return (int64_t)(figure->width / 8.8);
}

static size_t heading_break(const figure *figure) {
    return szgi_text_break(figure->title, heading_room(figure));
}

static void print_heading_line(const canvas *canvas, int y, const char *text) {
    fprintf(canvas->stream, "<text class=\"heading\" x=\"4\" y=\"%d\">", y);
    szgi_html_clipped(canvas->stream, text, heading_room(canvas->figure));
    fputs("</text>\n", canvas->stream);
}

/* On two lines where it is long: the title is what tells figures apart. */
static void print_heading(const canvas *canvas) {
    const figure *figure = canvas->figure;
    size_t first = heading_break(figure);
    char line[FIGURE_TEXT + 4];
    if (!figure->title)
        return;
    if (first == 0) {
        print_heading_line(canvas, 18, figure->title);
        return;
    }
    memcpy(line, figure->title, first);
    line[first] = 0;
    print_heading_line(canvas, 18, line);
    const char *rest = figure->title + first;
    print_heading_line(canvas, 36, *rest == ' ' ? rest + 1 : rest);
}

static void lay_out(canvas *canvas) {
    const figure *figure = canvas->figure;
    double left, bottom;
    canvas->top = !figure->title ? 12 : heading_break(figure) ? 50 : 32;
    canvas->x = szgi_axis_scale(&figure->x);
    canvas->y = szgi_axis_scale(&figure->y);
    canvas->left = 70;
    double right = figure->map && figure->map->finite ? 100 : 18;
    /* Twice: the room for names depends on the width that they leave. */
    for (int pass = 0; pass < 2; pass++) {
        canvas->width = fmax(figure->width - canvas->left - right, 40);
        canvas->height = fmax(figure->height - canvas->top - 42, 40);
        szgi_axes_measure(canvas, &left, &bottom);
        canvas->left = left;
    }
    canvas->width = fmax(figure->width - left - right, 40);
    canvas->height = fmax(figure->height - canvas->top - bottom, 40);
    canvas->full_width = left + canvas->width + right;
    canvas->full_height = canvas->top + canvas->height + bottom;
    canvas->full_height += szgi_legend_print(canvas, NULL, 0);
    canvas->full_height += szgi_notes_print(canvas, NULL, 0);
    canvas->hits = szgi_hits_each(figure);
}

static void print_head(const canvas *canvas) {
    const figure *figure = canvas->figure;
    FILE *stream = canvas->stream;
    fprintf(stream,
            "<svg class=\"figure\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
            "data-marks=\"%" PRId64 "\" ",
            figure->elements);
    szgi_print_attribute(stream, "width", canvas->full_width);
    szgi_print_attribute(stream, "height", canvas->full_height);
    fputs("style=\"--width:", stream); /* for the style sheet, which attr() does not reach */
    szgi_print_coordinate(stream, canvas->full_width);
    fputs("px\" ", stream);
    fputs("viewBox=\"0 0 ", stream);
    szgi_print_coordinate(stream, canvas->full_width);
    fputc(' ', stream);
    szgi_print_coordinate(stream, canvas->full_height);
    fputs("\">\n<title>", stream);
    szgi_html_text(stream, figure->title ? figure->title : "figure");
    fputs("</title>\n<desc>", stream);
    szgi_html_text(stream, figure->y.label ? figure->y.label : "y");
    fputs(figure->map ? " by " : " over ", stream);
    szgi_html_text(stream, figure->x.label ? figure->x.label : "x");
    fprintf(stream, "; %" PRId64 " marks</desc>\n", figure->elements);
}

static void print_nothing(const canvas *canvas) {
    FILE *stream = canvas->stream;
    fputs("<text class=\"nothing\" text-anchor=\"middle\" ", stream);
    szgi_print_attribute(stream, "x", canvas->left + canvas->width / 2);
    szgi_print_attribute(stream, "y", canvas->top + canvas->height / 2);
    fputs(">no finite values</text>\n", stream);
}

szg_status szgi_figure_print(szg_context *context, const figure *figure, FILE *stream) {
    canvas canvas = {.stream = stream, .figure = figure};
    lay_out(&canvas);
    print_head(&canvas);
    print_heading(&canvas);
    szgi_axes_print(&canvas);
    if (figure->map)
        szgi_cells_print(&canvas);
    for (int64_t i = 0; i < figure->count; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        szgi_mark_print(&canvas, &figure->mark[i]);
    }
    if (figure->elements == 0 || (figure->map && figure->map->finite == 0))
        print_nothing(&canvas);
    double y = canvas.full_height - szgi_notes_print(&canvas, NULL, 0);
    szgi_notes_print(&canvas, stream, y);
    y -= szgi_legend_print(&canvas, NULL, 0);
    szgi_legend_print(&canvas, stream, y);
    fputs("</svg>\n", stream);
    return SZG_OK;
}
