/* A run's first failure, its memory, and what every record of a section needs before it draws. */
#include <math.h>

#include "base/memory.h"

#include "match.h"
#include "plot_private.h"

bool szgi_plot_keep(plot_run *run, szg_status status) {
    if (run->status == SZG_OK)
        run->status = status;
    return run->status == SZG_OK;
}

void szgi_plot_adopt(plot_run *run, void *memory) {
    block *new = NULL;
    szg_status status = szgi_memory_alloc(run->context, 1, &new);
    szgi_plot_keep(run, status);
    if (status != SZG_OK) {
        szgi_memory_free(memory);
        return;
    }
    *new = (block){run->block, memory};
    run->block = new;
}

bool szgi_plot_take(plot_run *run, int64_t count, size_t size, void *out) {
    void *memory = NULL;
    *(void **)out = NULL;
    if (run->status != SZG_OK ||
        !szgi_plot_keep(run, szgi_memory_take(run->context, count, size, &memory)))
        return false;
    szgi_plot_adopt(run, memory);
    if (run->status == SZG_OK)
        *(void **)out = memory;
    return run->status == SZG_OK;
}

void szgi_plot_release(plot_run *run, block *mark) {
    while (run->block != mark) {
        block *next = run->block->next;
        szgi_memory_free(run->block->memory);
        szgi_memory_free(run->block);
        run->block = next;
    }
}

double *szgi_plot_reals(plot_run *run, rows of, const char *column) {
    double *value = NULL;
    if (run->status != SZG_OK ||
        !szgi_plot_keep(run, szgi_rows_reals(run->context, of, column, &value)))
        return NULL;
    szgi_plot_adopt(run, value);
    return run->status == SZG_OK ? value : NULL;
}

const char *szgi_plot_text(plot_run *run, void (*say)(words *, const void *), const void *of) {
    words text = {0};
    char *copy = NULL;
    if (run->status != SZG_OK)
        return "";
    szg_status status = szgi_words_open(run->context, &text);
    if (status == SZG_OK) {
        say(&text, of);
        status = szgi_words_end(run->context, &text);
    }
    if (status == SZG_OK)
        status = szgi_memory_copy_text(run->context, text.text, &copy);
    szgi_words_free(&text);
    if (szgi_plot_keep(run, status))
        szgi_plot_adopt(run, copy);
    return run->status == SZG_OK ? copy : "";
}

groups szgi_plot_split(plot_run *run, rows of, const char *const *columns, row_key_fn *key) {
    groups out = {0};
    if (run->status != SZG_OK)
        return out;
    szg_status status = key ? szgi_keyed_split(run->context, of, key, run, &out)
                            : szgi_groups_split(run->context, of, columns, &out);
    if (!szgi_plot_keep(run, status))
        return (groups){0};
    szgi_plot_adopt(run, out.group);
    szgi_plot_adopt(run, out.storage);
    return run->status == SZG_OK ? out : (groups){0};
}

void szgi_plot_begin(plot_run *run, page *page, const section *section) {
    *run = (plot_run){.page = page, .context = szgi_page_context(page), .section = section};
    run->left = section->figures > 0 ? section->figures : PLOT_FIGURES;
    if (section->intro)
        szgi_page_prose(page, section->intro);
}

szg_status szgi_plot_end(plot_run *run) {
    szgi_plot_release(run, NULL);
    return run->status;
}

static double greatest(rows of, const char *column) {
    double value = NAN;
    for (int64_t i = 0; i < of.count; i++)
        value = fmax(value, szgi_rows_real(of, i, column));
    return value;
}

/* Those with the column's greatest number; all where none has a number. */
static rows last_of(plot_run *run, rows of, const char *column) {
    int64_t *row;
    double last = column ? greatest(of, column) : NAN;
    if (isnan(last) || !szgi_plot_new(run, of.count, &row))
        return of;
    rows kept = {.table = of.table, .row = row};
    for (int64_t i = 0; i < of.count; i++)
        if (szgi_rows_real(of, i, column) == last)
            row[kept.count++] = szgi_rows_at(of, i);
    return kept;
}

static bool has_several(rows of, const char *column) {
    double first = NAN;
    for (int64_t i = 0; i < of.count; i++) {
        double value = szgi_rows_real(of, i, column);
        if (isfinite(value) && isfinite(first) && value != first)
            return true;
        first = isfinite(first) ? first : value;
    }
    return false;
}

static void choose_column(plot_axis *axis, rows of) {
    if (axis->otherwise && !has_several(of, axis->column) && has_several(of, axis->otherwise))
        axis->column = axis->otherwise;
}

void szgi_plot_one(plot_run *run, const plot *plot, rows of) {
    static const char *const no_columns[PLOT_COLUMNS] = {NULL};
    block *mark = run->block;
    of = last_of(run, of, plot->last);
    if (plot->marks == PLOT_ROWS) {
        if (run->status == SZG_OK)
            szgi_plot_keep(
                run, szgi_page_rows(run->page, of, plot->shown[0] ? plot->shown : no_columns));
        return;
    }
    plot_figure figure = {.run = run,
                          .plot = plot,
                          .of = of,
                          .x = plot->x,
                          .y = plot->y,
                          .width = plot->width,
                          .height = plot->height};
    figure.title = szgi_plot_title(run, plot, of);
    for (int i = 0; i < PLOT_LIST && plot->rules[i].name; i++)
        szgi_plot_add_rule(&figure, plot->rules[i]);
    choose_column(&figure.x, of);
    if (plot->marks == PLOT_CELLS)
        szgi_plot_fill_cells(&figure);
    else
        szgi_plot_fill(&figure);
    if (run->status == SZG_OK && plot->prepare)
        plot->prepare(&figure);
    szgi_plot_draw(&figure);
    szgi_plot_release(run, mark);
}

void szgi_plot_add_rule(plot_figure *figure, plot_rule rule) {
    if (figure->rules < (int64_t)(sizeof figure->rule / sizeof *figure->rule))
        figure->rule[figure->rules++] = rule;
}

void szgi_plot_add_source(plot_figure *figure, rows of) {
    if (of.table && figure->sources < (int64_t)(sizeof figure->source / sizeof *figure->source))
        figure->source[figure->sources++] = of;
}

szg_status szgi_plot_section(page *page, const section *section) {
    plot_run run;
    szgi_plot_begin(&run, page, section);
    szgi_plot_all(&run, section->plots);
    return szgi_plot_end(&run);
}
