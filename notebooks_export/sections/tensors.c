#include "tensors.h"

#include <inttypes.h>
#include <math.h>

#include <szego/memory.h>
#include "words.h"

enum { MOST_TENSORS = 400, NAME_CHARACTERS = 80, MOST_SOURCES = 4 };

/* Hover texts "NAME: 12.3", one a tensor. */
typedef struct hovers {
    words *text;
    const char **list;
    int64_t count;
} hovers;

static void hovers_free(hovers *of) {
    for (int64_t i = 0; i < of->count; i++)
        words_free(&of->text[i]);
    szg_memory_free(of->text);
    szg_memory_free(of->list);
}

static szg_status make_hover(szg_context *context, rows tensors, int64_t index, const char *column,
                             words *text) {
    const char *name = rows_text(tensors, index, "matrix");
    SZG_TRY(words_open(context, text));
    words_clipped(text, name ? name : "unnamed", NAME_CHARACTERS);
    fputs(": ", text->stream);
    html_number(text->stream, rows_real(tensors, index, column));
    return words_end(context, text);
}

static szg_status make_hovers(szg_context *context, rows tensors, int64_t count, const char *column,
                              hovers *out) {
    *out = (hovers){0};
    szg_status status = szg_memory_alloc(context, count, sizeof *out->text, &out->text);
    if (status == SZG_OK)
        status = szg_memory_alloc(context, count, sizeof *out->list, &out->list);
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
    SZG_TRY(make_hovers(page_context(page), tensors, count, column, &hover));
    szg_status status = figure_points(page_context(page), figure, &(figure_style){NULL, 0}, count,
                                      place, value, hover.list);
    hovers_free(&hover);
    return status;
}

static szg_status put(page *page, figure **figure, rows tensors, const char *what, int64_t greatest,
                      double value, int64_t count) {
    words caption;
    szg_status status = words_open(page_context(page), &caption);
    if (status == SZG_OK) {
        fprintf(caption.stream, "By %s the first is ", what);
        words_clipped(&caption, rows_text(tensors, greatest, "matrix"), NAME_CHARACTERS);
        fputs(" with ", caption.stream);
        html_number(caption.stream, value);
        fputs("; the hover text of a point names its tensor.", caption.stream);
        if (count < tensors.count)
            fprintf(caption.stream, " The first %" PRId64 " of %" PRId64 " tensors are drawn.",
                    count, tensors.count);
        status = words_end(page_context(page), &caption);
    }
    if (status == SZG_OK)
        status = page_figure(page, figure, &tensors, 1, caption.text);
    words_free(&caption);
    return status;
}

static szg_status open_titled(page *page, rows tensors, const char *what, figure **out) {
    words title;
    SZG_TRY(words_open(page_context(page), &title));
    words_file(&title, rows_text(tensors, 0, "source"));
    fprintf(title.stream, ": %s of each tensor", what);
    szg_status status = words_end(page_context(page), &title);
    figure_options options = {.title = title.text,
                              .x = {.label = "tensor, in the order of the rows"},
                              .y = {.label = what, .logarithmic = true}};
    if (status == SZG_OK)
        status = figure_open(page_context(page), &options, out);
    words_free(&title);
    return status;
}

static szg_status draw_column(page *page, rows tensors, const char *column, const char *what,
                              budget *budget) {
    int64_t count = tensors.count < MOST_TENSORS ? tensors.count : MOST_TENSORS, greatest = -1;
    double *value, place[MOST_TENSORS];
    figure *figure = NULL;
    SZG_TRY(rows_reals(page_context(page), tensors, column, &value));
    for (int64_t i = 0; i < count; i++) {
        place[i] = (double)i;
        if (isfinite(value[i]) && (greatest < 0 || value[i] > value[greatest]))
            greatest = i;
    }
    szg_status status = SZG_OK;
    if (greatest >= 0 && budget_take(budget))
        status = open_titled(page, tensors, what, &figure);
    if (status == SZG_OK && figure)
        status = add_points(page, figure, tensors, column, count, place, value);
    if (status == SZG_OK && figure)
        status = put(page, &figure, tensors, what, greatest, value[greatest], count);
    szg_memory_free(value);
    figure_close(&figure);
    return status;
}

static szg_status draw_source(page *page, rows tensors, budget *budget) {
    static const char *const shown[] = {
        "matrix", "n", "rank", "sigma_max", "stable_rank", "effective_rank", "note", NULL};
    page_grid_begin(page);
    SZG_TRY(draw_column(page, tensors, "sigma_max", "largest singular value", budget));
    SZG_TRY(draw_column(page, tensors, "effective_rank", "effective rank", budget));
    page_grid_end(page);
    return page_rows(page, tensors, shown);
}

szg_status tensors_draw(page *page, rows tensors, budget *budget) {
    groups sources;
    SZG_TRY(groups_split(page_context(page), tensors,
                         (const char *const[]){"result", "source", NULL}, &sources));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < sources.count && i < MOST_SOURCES && status == SZG_OK; i++)
        status = draw_source(page, sources.group[i], budget);
    if (status == SZG_OK && sources.count > MOST_SOURCES)
        page_paragraph(page,
                       "Tensors of %" PRId64 " more checkpoints are not drawn: their rows are in "
                       "the table checkpoint_summary.",
                       sources.count - MOST_SOURCES);
    groups_free(&sources);
    return status;
}
