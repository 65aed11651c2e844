#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/text.h"

#include "figure_parts.h"

szg_status szgi_figure_text(szg_context *context, const char *text, char **out) {
    *out = NULL;
    if (!text)
        return SZG_OK;
    size_t length = strnlen(text, FIGURE_TEXT + 1);
    if (length <= FIGURE_TEXT)
        return szgi_memory_copy_text(context, text, out);
    length = szgi_utf8_cut(text, FIGURE_TEXT);
    SZG_TRY(szgi_memory_alloc(context, FIGURE_TEXT + 4, out));
    memcpy(*out, text, length);
    memcpy(*out + length, "…", 4);
    return SZG_OK;
}

szg_status szgi_figure_texts(szg_context *context, const char *const *texts, int64_t count,
                             char ***out) {
    *out = NULL;
    if (!texts || count <= 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, count, out));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(szgi_figure_text(context, texts[i], &(*out)[i]));
    return SZG_OK;
}

void szgi_figure_texts_free(char **texts, int64_t count) {
    for (int64_t i = 0; texts && i < count; i++)
        szgi_memory_free(texts[i]);
    szgi_memory_free(texts);
}

void szgi_cells_free(cells *cells) {
    if (!cells)
        return;
    szgi_memory_free(cells->value);
    szgi_memory_free(cells->what);
    szgi_figure_texts_free(cells->heads, cells->rows * cells->columns);
    szgi_memory_free(cells);
}

static szg_status open_axis(szg_context *context, const figure_axis *from, axis *to) {
    double lo = fmin(from->lo, from->hi), hi = fmax(from->lo, from->hi);
    to->logarithmic = from->logarithmic && !(from->linear > 0);
    to->linear = from->linear > 0 && isfinite(from->linear) ? from->linear : 0;
    to->margin = 0.04;
    if (isfinite(lo) && isfinite(hi) && lo < hi && !(to->logarithmic && lo <= 0)) {
        to->fixed = true;
        to->lo = lo;
        to->hi = hi;
    }
    SZG_TRY(szgi_figure_text(context, from->label, &to->label));
    if (!from->names || from->count <= 0)
        return SZG_OK;
    to->count = from->count;
    to->logarithmic = false;
    to->linear = 0;
    if (!to->fixed) {
        to->margin = 0;
        szgi_axis_cover(to, -0.5);
        szgi_axis_cover(to, (double)from->count - 0.5);
    }
    return szgi_figure_texts(context, from->names, from->count, &to->names);
}

static int side(int wanted, int usual) {
    return wanted <= 0 ? usual : wanted < 160 ? 160 : wanted > 4000 ? 4000 : wanted;
}

szg_status szgi_figure_open(szg_context *context, const figure_options *options, figure **out) {
    *out = NULL;
    figure *new = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &new));
    new->width = side(options->width, 640);
    new->height = side(options->height, 360);
    szg_status status = szgi_figure_text(context, options->title, &new->title);
    if (status == SZG_OK)
        status = open_axis(context, &options->x, &new->x);
    if (status == SZG_OK)
        status = open_axis(context, &options->y, &new->y);
    if (status == SZG_OK)
        *out = new;
    else
        szgi_figure_close(&new);
    return status;
}

void szgi_mark_free(mark *mark) {
    szgi_memory_free(mark->name);
    szgi_memory_free(mark->entry);
    szgi_memory_free(mark->x);
    szgi_memory_free(mark->y);
    szgi_memory_free(mark->lo);
    szgi_memory_free(mark->hi);
    szgi_figure_texts_free(mark->hover, mark->count);
    szgi_memory_free(mark->head);
    szgi_figure_texts_free(mark->heads, mark->count);
}

bool szgi_mark_is_crowd(const mark *mark) {
    enum { CROWD = 400 };
    return mark->kind == MARK_POINTS && !mark->small && mark->count > CROWD;
}

static void close_axis(axis *axis) {
    szgi_memory_free(axis->label);
    szgi_figure_texts_free(axis->names, axis->count);
}

void szgi_figure_close(figure **figure) {
    if (!figure || !*figure)
        return;
    for (int64_t i = 0; i < (*figure)->count; i++)
        szgi_mark_free(&(*figure)->mark[i]);
    szgi_memory_free((*figure)->mark);
    szgi_cells_free((*figure)->map);
    close_axis(&(*figure)->x);
    close_axis(&(*figure)->y);
    szgi_memory_free((*figure)->title);
    szgi_memory_free(*figure);
    *figure = NULL;
}

bool szgi_figure_accepts(figure *figure, const axis *axis, double value) {
    if (!isfinite(value)) {
        figure->not_finite++;
        return false;
    }
    if (axis->logarithmic && value <= 0) {
        figure->not_positive++;
        return false;
    }
    return true;
}

void szgi_axis_cover(axis *axis, double value) {
    if (axis->fixed || !isfinite(value) || (axis->logarithmic && value <= 0))
        return;
    axis->lo = axis->found ? fmin(axis->lo, value) : value;
    axis->hi = axis->found ? fmax(axis->hi, value) : value;
    axis->found = true;
}

void szgi_axis_cover_data(axis *axis, double value) {
    axis->fractional = axis->fractional || value != round(value);
    szgi_axis_cover(axis, value);
}

/* A scale from 1e9 on has ticks at whole numbers anyway, or none. */
bool szgi_axis_is_whole(const axis *axis) {
    return axis->whole || (axis->found && !axis->fractional && !axis->logarithmic &&
                           axis->linear == 0 && axis->hi - axis->lo < 1e9);
}

bool szgi_axis_is_blank(const axis *axis) {
    return !axis->fixed && !axis->found;
}

scale szgi_axis_scale(const axis *axis) {
    double margin = axis->fixed ? 0 : axis->margin;
    if (axis->linear > 0)
        return szgi_scale_two_sided(axis->linear, szgi_axis_is_blank(axis) ? NAN : axis->lo,
                                    axis->hi, margin);
    if (szgi_axis_is_blank(axis))
        return szgi_scale_of(axis->logarithmic, NAN, NAN, 0);
    return szgi_scale_of(axis->logarithmic, axis->lo, axis->hi, margin);
}

szg_status szgi_figure_add(szg_context *context, figure *figure, mark_kind kind,
                           const figure_style *style, int64_t count, mark **out) {
    SZG_TRY(szgi_memory_reserve(context, &figure->mark, &figure->room, figure->count, 1));
    mark new = {.kind = kind,
                .in_legend = (style->name || style->entry) && !style->unlisted,
                .colour = style->colour,
                .count = count};
    if (style->colour >= FIGURE_THIN) {
        new.thin = true;
        new.colour -= FIGURE_THIN;
    }
    double **arrays[] = {&new.x, &new.y, &new.lo, &new.hi};
    szg_status status = szgi_figure_text(context, style->name, &new.name);
    if (status == SZG_OK)
        status = szgi_figure_text(context, style->entry, &new.entry);
    if (status == SZG_OK)
        status = szgi_figure_text(context, figure->head, &new.head);
    if (status == SZG_OK && figure->heads)
        status = szgi_memory_alloc(context, count, &new.heads);
    for (int a = 0; a < 4 && status == SZG_OK; a++)
        status = szgi_memory_alloc(context, count, arrays[a]);
    if (status != SZG_OK) {
        szgi_mark_free(&new);
        return status;
    }
    *out = &figure->mark[figure->count++];
    **out = new;
    return SZG_OK;
}

int64_t szgi_figure_marks(const figure *figure) {
    return figure->elements;
}

void szgi_figure_show_heads(figure *figure, const char *head, const char *const *each) {
    figure->head = head;
    figure->heads = each;
}

szg_status szgi_mark_take_head(szg_context *context, const figure *figure, mark *mark,
                               int64_t point, int64_t index) {
    return figure->heads ? szgi_figure_text(context, figure->heads[index], &mark->heads[point])
                         : SZG_OK;
}

static bool is_named_alike(const mark *mark, const struct mark *other) {
    return mark == other || (mark->name && other->name && mark->colour == other->colour &&
                             mark->thin == other->thin && strcmp(mark->name, other->name) == 0);
}

int64_t szgi_mark_series(const figure *figure, const mark *mark) {
    for (int64_t i = 0; i < figure->count; i++)
        if (figure->mark[i].in_legend && is_named_alike(&figure->mark[i], mark))
            return i;
    bool joins = mark->name || mark->colour >= 0;
    for (int64_t i = 0; joins && i < figure->count; i++)
        if (figure->mark[i].in_legend && figure->mark[i].colour == mark->colour)
            return i;
    return -1;
}

const char *szgi_figure_title(const figure *figure) {
    return figure->title;
}

void szgi_figure_counts(const figure *figure, int64_t *given, int64_t *drawn) {
    *given = figure->given;
    *drawn = figure->drawn;
}

/* One bound of Liang and Barsky 1984: keeps the t in [*t0, *t1] with a + t * d >= 0. */
static bool keep_side(double a, double d, double *t0, double *t1) {
    if (d == 0)
        return a >= 0;
    double t = -a / d;
    if (d > 0)
        *t0 = fmax(*t0, t);
    else
        *t1 = fmin(*t1, t);
    return *t0 <= *t1;
}

bool szgi_segment_clip(double *x0, double *y0, double *x1, double *y1) {
    double t0 = 0, t1 = 1, x = *x0, y = *y0, dx = *x1 - x, dy = *y1 - y;
    if (!keep_side(x, dx, &t0, &t1) || !keep_side(1 - x, -dx, &t0, &t1) ||
        !keep_side(y, dy, &t0, &t1) || !keep_side(1 - y, -dy, &t0, &t1))
        return false;
    if (t1 < 1) {
        *x1 = x + t1 * dx;
        *y1 = y + t1 * dy;
    }
    if (t0 > 0) {
        *x0 = x + t0 * dx;
        *y0 = y + t0 * dy;
    }
    return true;
}
