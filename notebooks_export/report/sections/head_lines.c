#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "captioned.h"
#include "quantile.h"
#include "head_lines.h"

/* One head's line. */
typedef struct line {
    rows from;
    double *x, *y;
    int64_t count;
    double peak; /* the greatest y */
} line;

static void line_free(line *line) {
    szgi_memory_free(line->x);
    szgi_memory_free(line->y);
    *line = (struct line){0};
}

/* Values from the greatest on, over 1, 2, ... */
static szg_status sort_line(szg_context *context, line *line) {
    quantiles sorted;
    SZG_TRY(szgi_quantiles_of(context, line->count, line->y, 0, &sorted));
    line->count = sorted.listed;
    for (int64_t i = 0; i < sorted.listed; i++) {
        line->y[i] = sorted.value[sorted.listed - 1 - i];
        line->x[i] = (double)(i + 1);
    }
    szgi_quantiles_free(&sorted);
    return SZG_OK;
}

static szg_status fill_line(szg_context *context, const head_lines *look, line *out) {
    out->count = out->from.count;
    out->peak = NAN;
    SZG_TRY(szgi_rows_reals(context, out->from, look->value, &out->y));
    if (look->by)
        SZG_TRY(szgi_rows_reals(context, out->from, look->by, &out->x));
    else
        SZG_TRY(szgi_memory_alloc(context, out->count, &out->x));
    if (!look->by)
        SZG_TRY(sort_line(context, out));
    for (int64_t i = 0; i < out->count; i++)
        if (isfinite(out->y[i]))
            out->peak = fmax(out->peak, out->y[i]);
    return SZG_OK;
}

static szg_status add_line(szg_context *context, figure *figure, const head_lines *look,
                           const line *line, int colour) {
    words name;
    double head = szgi_rows_real(line->from, 0, "head");
    SZG_TRY(szgi_words_open(context, &name));
    if (isnan(head))
        fputs(look->noun, name.stream);
    else
        fprintf(name.stream, "head %.0f", head);
    szg_status status = szgi_words_end(context, &name);
    if (status == SZG_OK)
        status = szgi_figure_line(context, figure, &(figure_style){name.text, colour}, line->count,
                                  line->x, line->y);
    szgi_words_free(&name);
    return status;
}

/* The lines of one figure. */
typedef struct drawn {
    const head_lines *look;
    const line *lines;
    int64_t count;
} drawn;

/* Which head has the greatest value, and what the others' are beside it. */
static void say_caption(words *caption, const void *of) {
    const drawn *self = of;
    const line *lines = self->lines;
    int64_t most = 0, least = 0;
    for (int64_t i = 1; i < self->count; i++) {
        most = !(lines[i].peak <= lines[most].peak) ? i : most;
        least = !(lines[i].peak >= lines[least].peak) ? i : least;
    }
    fprintf(caption->stream, "The greatest %s: ", self->look->noun);
    szgi_html_number(caption->stream, lines[most].peak);
    if (self->count > 1) {
        fprintf(caption->stream, " in head %.0f; the head whose greatest is least, %.0f, has ",
                szgi_rows_real(lines[most].from, 0, "head"),
                szgi_rows_real(lines[least].from, 0, "head"));
        szgi_html_number(caption->stream, lines[least].peak);
    }
    fputs(".", caption->stream);
}

static void say_title(words *title, const void *of) {
    const drawn *self = of;
    double layer = szgi_rows_real(self->lines->from, 0, "layer");
    szgi_words_model(title, self->lines->from);
    if (!isnan(layer))
        fprintf(title->stream, ", layer %.0f", layer);
    fprintf(title->stream, ": %s", self->look->what);
}

static szg_status put(page *page, const head_lines *look, const line *lines, int64_t count) {
    const drawn self = {look, lines, count};
    const figure_options options = {.x = look->x, .y = look->y};
    rows source[FIGURE_COLOURS];
    figure *figure;
    SZG_TRY(szgi_figure_open_titled(szgi_page_context(page), options, say_title, &self, &figure));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        source[i] = lines[i].from;
        status = add_line(szgi_page_context(page), figure, look, &lines[i], (int)i);
    }
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, source, count, say_caption, &self);
    szgi_figure_close(&figure);
    return status;
}

static szg_status draw_some(page *page, const head_lines *look, const rows *heads, int64_t count) {
    line lines[FIGURE_COLOURS] = {{.count = 0}};
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        lines[i].from = heads[i];
        status = fill_line(szgi_page_context(page), look, &lines[i]);
    }
    if (status == SZG_OK)
        status = put(page, look, lines, count);
    for (int64_t i = 0; i < count; i++)
        line_free(&lines[i]);
    return status;
}

szg_status szgi_head_lines_draw(page *page, const head_lines *look, rows layer, budget *budget) {
    groups heads;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), layer, (const char *const[]){"head", NULL},
                              &heads));
    int64_t pieces = (heads.count + FIGURE_COLOURS - 1) / FIGURE_COLOURS, next = 0;
    szg_status status = SZG_OK;
    for (int64_t piece = 0; piece < pieces && status == SZG_OK; piece++) {
        int64_t end = heads.count * (piece + 1) / pieces;
        if (szgi_budget_take(budget))
            status = draw_some(page, look, heads.group + next, end - next);
        next = end;
    }
    szgi_groups_free(&heads);
    return status;
}
