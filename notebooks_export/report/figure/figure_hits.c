/* Places that answer to the pointer with a point's values. Points nearer to each other than a
 * pointer can tell apart share one: an element for each would be most of a page. */
#include <math.h>

#include "figure_canvas.h"
#include "html.h"

enum { FIGURE_HITS = 160, LEAST = 12, MOST = 60, FEW = 30, APART = 8 };

typedef struct hit {
    double x, y;
    int64_t point;
} hit;

typedef struct hits {
    int64_t count, most;
    double apart; /* pixels */
    hit hit[MOST];
} hits;

int64_t szgi_hits_each(const figure *figure) {
    int64_t marks = 0;
    for (int64_t i = 0; i < figure->count; i++)
        marks += figure->mark[i].kind == MARK_LINE || szgi_mark_is_crowd(&figure->mark[i]);
    int64_t each = marks ? FIGURE_HITS / marks : FIGURE_HITS;
    return each < LEAST ? LEAST : each > MOST ? MOST : each;
}

/* False: there is no more room. */
static bool take(const canvas *canvas, const mark *mark, int64_t point, hits *hits) {
    if (isnan(mark->x[point]) || !szgi_canvas_shows(canvas, mark->x[point], mark->y[point]))
        return true;
    hit new = {szgi_canvas_x(canvas, mark->x[point]), szgi_canvas_y(canvas, mark->y[point]), point};
    for (int64_t i = 0; i < hits->count; i++)
        if (hypot(new.x - hits->hit[i].x, new.y - hits->hit[i].y) < hits->apart)
            return true;
    if (hits->count == hits->most)
        return false;
    hits->hit[hits->count++] = new;
    return true;
}

/* The lowest and the highest point are never left out for a neighbour. */
static bool choose(const canvas *canvas, const mark *mark, hits *hits) {
    int64_t lowest = 0, highest = 0;
    for (int64_t i = 1; i < mark->count; i++) {
        lowest = mark->y[i] < mark->y[lowest] || isnan(mark->y[lowest]) ? i : lowest;
        highest = mark->y[i] > mark->y[highest] || isnan(mark->y[highest]) ? i : highest;
    }
    hits->count = 0;
    bool fits = take(canvas, mark, highest, hits);
    if (lowest != highest)
        fits = fits && take(canvas, mark, lowest, hits);
    for (int64_t i = 0; fits && i < mark->count; i++)
        if (i != highest && i != lowest)
            fits = take(canvas, mark, i, hits);
    return fits;
}

void szgi_hits_print(const canvas *canvas, const mark *mark) {
    FILE *stream = canvas->stream;
    hits hits = {.most = canvas->hits, .apart = mark->count <= FEW ? 0 : APART};
    while (!choose(canvas, mark, &hits))
        hits.apart = fmax(1.4 * hits.apart, APART);
    fputs("<g class=\"hits\">", stream);
    for (int64_t i = 0; i < hits.count; i++) {
        fputs("<circle ", stream);
        szgi_print_attribute(stream, "cx", hits.hit[i].x);
        szgi_print_attribute(stream, "cy", hits.hit[i].y);
        szgi_print_point_head(stream, mark, hits.hit[i].point);
        fputs("r=\"6\">", stream);
        szgi_point_hover(canvas, mark, hits.hit[i].point);
        fputs("</circle>", stream);
    }
    fputs("</g>", stream);
}
