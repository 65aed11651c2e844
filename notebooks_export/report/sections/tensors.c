#include "tensors.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "captioned.h"

enum { MOST_TENSORS = 400, NAME_CHARACTERS = 80, MOST_SOURCES = 4 };

/* Hover texts "NAME: 12.3", one a tensor. */
typedef struct hovers {
    words *text;
    const char **list;
    int64_t count;
} hovers;

static void hovers_free(hovers *of) {
    for (int64_t i = 0; i < of->count; i++)
        szgi_words_free(&of->text[i]);
    szgi_memory_free(of->text);
    szgi_memory_free(of->list);
}

static szg_status make_hover(szg_context *context, rows tensors, int64_t index, const char *column,
                             words *text) {
    const char *name = szgi_rows_text(tensors, index, "matrix");
    SZG_TRY(szgi_words_open(context, text));
    szgi_words_clipped(text, name ? name : "unnamed", NAME_CHARACTERS);
    fputs(": ", text->stream);
    szgi_html_number(text->stream, szgi_rows_real(tensors, index, column));
    return szgi_words_end(context, text);
}

static szg_status make_hovers(szg_context *context, rows tensors, int64_t count, const char *column,
                              hovers *out) {
    *out = (hovers){0};
    szg_status status = szgi_memory_alloc(context, count, &out->text);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, count, &out->list);
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        status = make_hover(context, tensors, i, column, &out->text[i]);
        out->list[i] = out->text[i].text;
        out->count++;
    }
    if (status != SZG_OK)
        hovers_free(out);
    return status;
}

static szg_status add_points(page *page, figure *figure, rows tensors, const char *column,
                             int64_t count, const double *place, const double *value) {
    hovers hover;
    SZG_TRY(make_hovers(szgi_page_context(page), tensors, count, column, &hover));
    szg_status status = szgi_figure_points(
        szgi_page_context(page), figure, &(figure_style){NULL, 0}, count, place, value, hover.list);
    hovers_free(&hover);
    return status;
}

/* One figure in the making. */
typedef struct plotted {
    rows tensors;
    const char *column, *what;
    const double *value; /* of the column */
    int64_t count;       /* drawn */
    int64_t greatest;
} plotted;

static void say_title(words *title, const void *of) {
    const plotted *self = of;
    szgi_words_file(title, szgi_rows_text(self->tensors, 0, "source"));
    fprintf(title->stream, ": %s of each tensor", self->what);
}

static void say_caption(words *caption, const void *of) {
    const plotted *self = of;
    fprintf(caption->stream, "By %s the first is ", self->what);
    szgi_words_clipped(caption, szgi_rows_text(self->tensors, self->greatest, "matrix"),
                       NAME_CHARACTERS);
    fputs(" with ", caption->stream);
    szgi_html_number(caption->stream, self->value[self->greatest]);
    fputs("; the hover text of a point names its tensor.", caption->stream);
    if (self->count < self->tensors.count)
        fprintf(caption->stream, " The first %" PRId64 " of %" PRId64 " tensors are drawn.",
                self->count, self->tensors.count);
}

static szg_status draw_points(page *page, const plotted *self) {
    const figure_options options = {.x = {.label = "tensor, in the order of the rows"},
                                    .y = {.label = self->what, .logarithmic = true}};
    double place[MOST_TENSORS];
    figure *figure;
    for (int64_t i = 0; i < self->count; i++)
        place[i] = (double)i;
    SZG_TRY(szgi_figure_open_titled(szgi_page_context(page), options, say_title, self, &figure));
    szg_status status =
        add_points(page, figure, self->tensors, self->column, self->count, place, self->value);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &self->tensors, 1, say_caption, self);
    szgi_figure_close(&figure);
    return status;
}

static szg_status draw_column(page *page, rows tensors, const char *column, const char *what,
                              budget *budget) {
    plotted self = {.tensors = tensors, .column = column, .what = what, .greatest = -1};
    double *value;
    SZG_TRY(szgi_rows_reals(szgi_page_context(page), tensors, column, &value));
    self.value = value;
    self.count = tensors.count < MOST_TENSORS ? tensors.count : MOST_TENSORS;
    for (int64_t i = 0; i < self.count; i++)
        if (isfinite(value[i]) && (self.greatest < 0 || value[i] > value[self.greatest]))
            self.greatest = i;
    szg_status status = SZG_OK;
    if (self.greatest >= 0 && szgi_budget_take(budget))
        status = draw_points(page, &self);
    szgi_memory_free(value);
    return status;
}

static szg_status draw_source(page *page, rows tensors, budget *budget) {
    static const char *const shown[] = {
        "matrix", "n", "rank", "sigma_max", "stable_rank", "effective_rank", "note", NULL};
    szgi_page_grid_begin(page);
    SZG_TRY(draw_column(page, tensors, "sigma_max", "largest singular value", budget));
    SZG_TRY(draw_column(page, tensors, "effective_rank", "effective rank", budget));
    szgi_page_grid_end(page);
    return szgi_page_rows(page, tensors, shown);
}

szg_status szgi_tensors_draw(page *page, rows tensors, budget *budget) {
    groups sources;
    SZG_TRY(szgi_groups_split(szgi_page_context(page), tensors,
                              (const char *const[]){"result", "source", NULL}, &sources));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < sources.count && i < MOST_SOURCES && status == SZG_OK; i++)
        status = draw_source(page, sources.group[i], budget);
    if (status == SZG_OK && sources.count > MOST_SOURCES)
        szgi_page_paragraph(page,
                            "Tensors of %" PRId64
                            " more checkpoints are not drawn: their rows are in "
                            "the table checkpoint_summary.",
                            sources.count - MOST_SOURCES);
    szgi_groups_free(&sources);
    return status;
}
