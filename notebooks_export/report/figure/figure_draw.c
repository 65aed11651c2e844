#include <math.h>

#include "figure_canvas.h"
#include "html.h"

static void begin(const canvas *canvas, const char *kind, const mark *mark) {
    fputs("<g ", canvas->stream);
    szgi_print_class(canvas->stream, kind, mark);
    szgi_print_series(canvas, canvas->stream, mark);
    szgi_print_head(canvas->stream, mark->head);
    fputs(">", canvas->stream);
}

static void end(const canvas *canvas) {
    fputs("</g>\n", canvas->stream);
}

/* <title> of a mark that stands for a whole series: its name, or what the axis measures. */
static void print_name(const canvas *canvas, const mark *mark) {
    const char *label = canvas->figure->y.label;
    fputs("<title>", canvas->stream);
    szgi_html_text(canvas->stream, mark->name ? mark->name : label ? label : "y");
    fputs("</title>", canvas->stream);
}

static void print_fractions(const canvas *canvas, char letter, double x, double y) {
    szgi_print_step(canvas->stream, letter, canvas->left + canvas->width * x,
                    canvas->top + canvas->height * (1 - y));
}

/* The line, cut at the ends of the axes; a point without neighbours as a dot. */
static void print_line_path(const canvas *canvas, const mark *mark) {
    double x0 = NAN, y0 = NAN, pen_x = NAN, pen_y = NAN;
    for (int64_t i = 0; i < mark->count; i++) {
        double x1 = NAN, y1 = NAN;
        if (!isnan(mark->x[i])) {
            x1 = szgi_scale_fraction(&canvas->x, mark->x[i]);
            y1 = szgi_scale_fraction(&canvas->y, mark->y[i]);
        }
        bool alone = isnan(x0) && (i + 1 == mark->count || isnan(mark->x[i + 1]));
        double a = isnan(x0) ? x1 : x0, b = isnan(x0) ? y1 : y0, c = x1, d = y1;
        if (!isnan(x1) && (!isnan(x0) || alone) && szgi_segment_clip(&a, &b, &c, &d)) {
            if (!(a == pen_x && b == pen_y))
                print_fractions(canvas, 'M', a, b);
            print_fractions(canvas, 'L', c, d);
            pen_x = c;
            pen_y = d;
        }
        x0 = x1;
        y0 = y1;
    }
}

/* Shapes on the line, on every point where they are few. */
static void print_markers(const canvas *canvas, const mark *mark) {
    if (mark->thin || mark->colour < 0)
        return;
    int64_t stride = mark->count <= 30 ? 1 : mark->count / 6;
    fputs("<path class=\"markers\" d=\"", canvas->stream);
    for (int64_t i = mark->count <= 30 ? 0 : stride / 2; i < mark->count; i += stride)
        if (!isnan(mark->x[i]) && szgi_canvas_shows(canvas, mark->x[i], mark->y[i]))
            szgi_print_marker(canvas->stream, mark->colour, szgi_canvas_x(canvas, mark->x[i]),
                              szgi_canvas_y(canvas, mark->y[i]));
    fputs("\"/>", canvas->stream);
}

static void print_line(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    begin(canvas, "line", mark);
    fputs("<path class=\"mark\" ", stream);
    if (szgi_dash_of(mark))
        fprintf(stream, "stroke-dasharray=\"%s\" ", szgi_dash_of(mark));
    fputs("d=\"", stream);
    print_line_path(canvas, mark);
    fputs("\">", stream);
    print_name(canvas, mark);
    fputs("</path>", stream);
    print_markers(canvas, mark);
    szgi_hits_print(canvas, mark);
    end(canvas);
}

/* One shape for all, and hover points that are apart. Lines without length and with round ends are
 * the shortest way to write the first colour's marker. */
static void print_crowd(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    bool dots = mark->colour <= 0;
    begin(canvas, "points crowd", mark);
    fprintf(stream, "<path class=\"mark%s\" d=\"", dots ? " dots" : "");
    for (int64_t i = 0; i < mark->count; i++) {
        double x = szgi_canvas_x(canvas, mark->x[i]), y = szgi_canvas_y(canvas, mark->y[i]);
        if (dots) {
            szgi_print_step(stream, 'M', x, y);
            fputs("h0", stream);
        } else {
            szgi_print_marker(stream, mark->colour, x, y);
        }
    }
    fputs("\">", stream);
    print_name(canvas, mark);
    fputs("</path>", stream);
    szgi_hits_print(canvas, mark);
    end(canvas);
}

static void print_points(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    if (szgi_mark_is_crowd(mark)) {
        print_crowd(canvas, mark);
        return;
    }
    begin(canvas, mark->small ? "points small" : "points", mark);
    for (int64_t i = 0; i < mark->count; i++) {
        double x = szgi_canvas_x(canvas, mark->x[i]), y = szgi_canvas_y(canvas, mark->y[i]);
        if (mark->small) {
            fputs("<circle class=\"mark\" ", stream);
            szgi_print_point_head(stream, mark, i);
            szgi_print_attribute(stream, "cx", x);
            szgi_print_attribute(stream, "cy", y);
            fputs("r=\"2\">", stream);
        } else {
            fputs("<path class=\"mark\" ", stream);
            szgi_print_point_head(stream, mark, i);
            fputs("d=\"", stream);
            szgi_print_marker(stream, mark->colour, x, y);
            fputs("\">", stream);
        }
        szgi_point_hover(canvas, mark, i);
        fputs(mark->small ? "</circle>" : "</path>", stream);
    }
    end(canvas);
}

/* One closed shape for each stretch without a break: along hi, back along lo. */
static void print_band(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    begin(canvas, "area", mark);
    fputs("<path class=\"mark\" d=\"", stream);
    for (int64_t from = 0, to; from < mark->count; from = to + 1) {
        for (to = from; to < mark->count && !isnan(mark->x[to]); to++)
            szgi_print_step(stream, to == from ? 'M' : 'L', szgi_canvas_x(canvas, mark->x[to]),
                            szgi_canvas_y(canvas, mark->hi[to]));
        for (int64_t i = to - 1; i >= from; i--)
            szgi_print_step(stream, 'L', szgi_canvas_x(canvas, mark->x[i]),
                            szgi_canvas_y(canvas, mark->lo[i]));
        if (to > from)
            fputc('z', stream);
    }
    fputs("\">", stream);
    print_name(canvas, mark);
    fputs("</path>", stream);
    end(canvas);
}

static void print_rule(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    const axis *axis = mark->vertical ? &canvas->figure->x : &canvas->figure->y;
    begin(canvas, "rule", mark);
    fputs("<path class=\"mark\" d=\"", stream);
    if (mark->vertical) {
        szgi_print_step(stream, 'M', szgi_canvas_x(canvas, mark->x[0]), canvas->top);
        fputc('v', stream);
        szgi_print_coordinate(stream, canvas->height);
    } else {
        szgi_print_step(stream, 'M', canvas->left, szgi_canvas_y(canvas, mark->y[0]));
        fputc('h', stream);
        szgi_print_coordinate(stream, canvas->width);
    }
    fputs("\"><title>", stream);
    szgi_html_clipped(stream, mark->name, HOVER_CHARACTERS);
    fputs(mark->name ? ": " : "", stream);
    szgi_print_value(stream, axis, mark->x[0]);
    fputs("</title></path>", stream);
    end(canvas);
}

static void print_whisker(const canvas *canvas, const mark *mark, int64_t i) {
    FILE *stream = canvas->stream;
    if (mark->lo[i] == mark->hi[i])
        return;
    double x = szgi_canvas_x(canvas, mark->x[i]);
    double from = szgi_canvas_y(canvas, mark->lo[i]), to = szgi_canvas_y(canvas, mark->hi[i]);
    fputs("<path class=\"whisker\" d=\"", stream);
    szgi_print_step(stream, 'M', x, from);
    szgi_print_step(stream, 'L', x, to);
    szgi_print_step(stream, 'M', x - 3, from);
    fputs("h6", stream);
    szgi_print_step(stream, 'M', x - 3, to);
    fputs("h6\"/>", stream);
}

static void print_bar_hover(const canvas *canvas, const mark *mark, int64_t i) {
    FILE *stream = canvas->stream;
    if (mark->lo[i] == mark->hi[i]) {
        szgi_print_hover(canvas, mark->name, mark->x[i], mark->y[i]);
        return;
    }
    fputs("<title>", stream);
    szgi_html_clipped(stream, mark->name, HOVER_CHARACTERS);
    fputs(mark->name ? "\n" : "", stream);
    szgi_print_value(stream, &canvas->figure->x, mark->x[i]);
    fputs(": ", stream);
    szgi_print_value(stream, &canvas->figure->y, mark->y[i]);
    fputs(" (", stream);
    szgi_print_value(stream, &canvas->figure->y, mark->lo[i]);
    fputs(" to ", stream);
    szgi_print_value(stream, &canvas->figure->y, mark->hi[i]);
    fputs(")</title>", stream);
}

static void print_bars(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    double foot =
        canvas->figure->y.logarithmic ? canvas->top + canvas->height : szgi_canvas_y(canvas, 0);
    begin(canvas, "bars", mark);
    for (int64_t i = 0; i < mark->count; i++) {
        double x0 = mark->x[i] - mark->width / 2, x1 = mark->x[i] + mark->width / 2;
        /* A logarithmic axis has no place for the side that is not positive. */
        double from = canvas->x.logarithmic && x0 <= 0 ? canvas->left : szgi_canvas_x(canvas, x0);
        double to = canvas->x.logarithmic && x1 <= 0 ? canvas->left : szgi_canvas_x(canvas, x1);
        fputs("<path class=\"mark\" ", stream);
        szgi_print_point_head(stream, mark, i);
        fputs("d=\"", stream);
        szgi_print_step(stream, 'M', from, foot);
        fputc('V', stream);
        szgi_print_coordinate(stream, szgi_canvas_y(canvas, mark->y[i]));
        fputc('H', stream);
        szgi_print_coordinate(stream, to);
        fputc('V', stream);
        szgi_print_coordinate(stream, foot);
        fputs("z\">", stream);
        print_bar_hover(canvas, mark, i);
        fputs("</path>", stream);
        print_whisker(canvas, mark, i);
    }
    end(canvas);
}

static void print_range_hover(const canvas *canvas, const mark *mark, int64_t i) {
    FILE *stream = canvas->stream;
    if (mark->hover && mark->hover[i]) {
        szgi_point_hover(canvas, mark, i);
        return;
    }
    fputs("<title>", stream);
    szgi_html_clipped(stream, mark->name, HOVER_CHARACTERS);
    fputs(mark->name ? "\n" : "", stream);
    szgi_print_value(stream, &canvas->figure->y, mark->y[i]);
    fputs(": ", stream);
    szgi_print_value(stream, &canvas->figure->x, mark->lo[i]);
    fputs(" to ", stream);
    szgi_print_value(stream, &canvas->figure->x, mark->hi[i]);
    fputs("</title>", stream);
}

/* A bar from end to end, at least two pixels long. */
static void print_ranges(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    begin(canvas, "bars ranges", mark);
    for (int64_t i = 0; i < mark->count; i++) {
        double from = szgi_canvas_x(canvas, mark->lo[i]), to = szgi_canvas_x(canvas, mark->hi[i]);
        double top = szgi_canvas_y(canvas, mark->y[i] - mark->width / 2);
        double foot = szgi_canvas_y(canvas, mark->y[i] + mark->width / 2);
        double more = fmax(2 - (to - from), 0) / 2;
        fputs("<path class=\"mark\" d=\"", stream);
        szgi_print_step(stream, 'M', from - more, top);
        fputc('H', stream);
        szgi_print_coordinate(stream, to + more);
        fputc('V', stream);
        szgi_print_coordinate(stream, foot);
        fputc('H', stream);
        szgi_print_coordinate(stream, from - more);
        fputs("z\">", stream);
        print_range_hover(canvas, mark, i);
        fputs("</path>", stream);
    }
    end(canvas);
}

static void print_violin(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    double middle = szgi_canvas_y(canvas, mark->middle), widest = 0, from = 0, to = 0;
    begin(canvas, "violin", mark);
    fputs("<path class=\"mark\" d=\"", stream);
    for (int64_t i = 0; i < mark->count; i++)
        szgi_print_step(stream, i == 0 ? 'M' : 'L', szgi_canvas_x(canvas, mark->lo[i]),
                        szgi_canvas_y(canvas, mark->y[i]));
    for (int64_t i = mark->count - 1; i >= 0; i--) {
        szgi_print_step(stream, 'L', szgi_canvas_x(canvas, mark->hi[i]),
                        szgi_canvas_y(canvas, mark->y[i]));
        /* The median's line ends on the outline: at the nearest place, as near as one can see. */
        double away = fabs(szgi_canvas_y(canvas, mark->y[i]) - middle);
        if (i == mark->count - 1 || away < widest) {
            widest = away;
            from = szgi_canvas_x(canvas, mark->lo[i]);
            to = szgi_canvas_x(canvas, mark->hi[i]);
        }
    }
    fputs("z\"><title>", stream);
    szgi_html_clipped(stream, mark->name, HOVER_CHARACTERS);
    fputs(mark->name ? "\nmedian: " : "median: ", stream);
    szgi_html_number(stream, mark->middle);
    fputs("</title></path><path class=\"median\" d=\"", stream);
    szgi_print_step(stream, 'M', from, middle);
    fputc('H', stream);
    szgi_print_coordinate(stream, to);
    fputs("\"/>", stream);
    end(canvas);
}

void szgi_mark_print(const canvas *canvas, const mark *mark) {
    static void (*const prints[])(const struct canvas *, const struct mark *) = {
        [MARK_LINE] = print_line,    [MARK_POINTS] = print_points, [MARK_BAND] = print_band,
        [MARK_RULE] = print_rule,    [MARK_BARS] = print_bars,     [MARK_VIOLIN] = print_violin,
        [MARK_RANGES] = print_ranges};
    if (mark->count > 0 && !mark->hidden)
        prints[mark->kind](canvas, mark);
}
