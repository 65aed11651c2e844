/* Heat maps of the width ratio. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

#include "contraction_run.h"

/* Cells of a map that are computed at most. */
enum { MOST_CELLS = 1 << 20 };

/* Names of rows or columns. */
typedef struct names {
    char (*text)[2 * WHOLE_TEXT + 16];
    const char **name;
} names;

static szg_status open_names(szg_context *context, int64_t count, names *out) {
    *out = (names){0};
    SZG_TRY(szgi_memory_alloc(context, count, &out->text));
    SZG_TRY(szgi_memory_alloc(context, count, &out->name));
    for (int64_t i = 0; i < count; i++)
        out->name[i] = out->text[i];
    return SZG_OK;
}

static void close_names(names *names) {
    szgi_memory_free(names->text);
    szgi_memory_free(names->name);
}

/* Contraction by a factor and growth by it are as far from 1: the ends are 1/m and m. */
static void choose_ends(int64_t count, const double *value, figure_map *map) {
    double most = 1;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(value[i]) && value[i] > 0)
            most = fmax(most, fmax(value[i], 1 / value[i]));
    most = fmin(fmax(most, 1.05), 16);
    map->diverging = map->logarithmic = true;
    map->middle = 1;
    map->lo = 1 / most;
    map->hi = most;
}

/* ---- What the ratios say ---- */

typedef struct captioned {
    const contraction_run *run;
    const double *ratios;
    bool every_step; /* the map of pairs by steps */
} captioned;

typedef struct counted {
    int64_t below, known;
    double least, greatest;
} counted;

static counted count_step(const contraction_run *run, const double *ratios, int64_t step) {
    counted all = {.least = NAN, .greatest = NAN};
    int64_t steps = szgi_contraction_run_steps(run);
    for (int64_t p = 0; p < run->pairs; p++) {
        double value = ratios[p * steps + step];
        if (!isfinite(value))
            continue;
        all.known++;
        all.below += value < 1;
        all.least = fmin(all.least, value);
        all.greatest = fmax(all.greatest, value);
    }
    return all;
}

static void say_step(FILE *stream, const contraction_run *run, const double *ratios, int64_t step) {
    counted all = count_step(run, ratios, step);
    char number[WHOLE_TEXT];
    if (run->steps > 0)
        fprintf(stream, "at step %s ", szgi_whole_text(run->step[step], number));
    fprintf(stream, "%" PRId64 " of %" PRId64 " heads have a width ratio below 1", all.below,
            all.known);
    if (all.known == 0)
        return;
    fputs(" (", stream);
    szgi_print_real(stream, all.least);
    fputs(" to ", stream);
    szgi_print_real(stream, all.greatest);
    fputs(")", stream);
}

/* Of the map of all steps. */
static void say_cells(FILE *stream, const contraction_run *run, const double *ratios) {
    int64_t below = 0, known = 0;
    for (int64_t s = 0; s < run->steps; s++) {
        counted all = count_step(run, ratios, s);
        below += all.below;
        known += all.known;
    }
    fprintf(stream,
            "Below 1, in blue, are %" PRId64 " of %" PRId64
            " values; the row 1.2 is layer 1, head 2.",
            below, known);
}

static void say_caption(words *words, const void *of) {
    const captioned *self = of;
    const contraction_run *run = self->run;
    if (self->every_step) {
        say_cells(words->stream, run, self->ratios);
        return;
    }
    fputs("Below 1 the encoding narrows the Hermitian part's spectrum (a cell is the mean over "
          "probes): ",
          words->stream);
    if (run->steps > 1) {
        say_step(words->stream, run, self->ratios, 0);
        fputs(", ", words->stream);
    }
    say_step(words->stream, run, self->ratios, szgi_contraction_run_steps(run) - 1);
    fputs(".", words->stream);
}

/* ---- Figures ---- */

static szg_status put_map(page *page, const contraction_run *run, const char *what,
                          figure_options options, const figure_map *map, const double *ratios) {
    szg_context *context = szgi_page_context(page);
    const captioned about = {run, ratios, map->value == ratios};
    figure *figure = NULL;
    SZG_TRY(szgi_contraction_figure_open(context, run, what, options, &figure));
    szg_status status = szgi_figure_cells(context, figure, map);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &run->of, 1, say_caption, &about);
    szgi_figure_close(&figure);
    return status;
}

/* The last step's ratios by layer and head. */
static void spread_heads(const contraction_run *run, const double *ratios, double *out) {
    int64_t steps = szgi_contraction_run_steps(run), pair = 0;
    for (int64_t i = 0; i < run->layers.count * run->columns; i++)
        out[i] = NAN;
    for (int64_t l = 0; l < run->layers.count; l++)
        for (int64_t h = 0; h < run->heads[l].count; h++) {
            double head = szgi_rows_real(run->heads[l].group[h], 0, "head");
            int64_t column = szgi_find_number(run->columns, run->column, head);
            out[l * run->columns + column] = ratios[++pair * steps - 1];
        }
}

static szg_status name_heads(szg_context *context, const contraction_run *run, names *layer,
                             names *head) {
    SZG_TRY(open_names(context, run->layers.count, layer));
    SZG_TRY(open_names(context, run->columns, head));
    for (int64_t l = 0; l < run->layers.count; l++)
        szgi_whole_text(szgi_rows_real(run->layers.group[l], 0, "layer"), layer->text[l]);
    for (int64_t h = 0; h < run->columns; h++)
        szgi_whole_text(run->column[h], head->text[h]);
    return SZG_OK;
}

static szg_status put_heads(page *page, const contraction_run *run, const double *ratios,
                            double *cell) {
    char what[SHORT_TEXT], step[WHOLE_TEXT];
    names layer = {0}, head = {0};
    figure_options options = {.x = {.label = "head"}, .y = {.label = "layer"}};
    snprintf(what, sizeof what, "width ratio%s%s", run->steps > 0 ? " at step " : "",
             run->steps > 0 ? szgi_whole_text(run->step[run->steps - 1], step) : "");
    options.height = run->layers.count < 10 ? 160 + 24 * (int)run->layers.count : 400;
    spread_heads(run, ratios, cell);
    szg_status status = name_heads(szgi_page_context(page), run, &layer, &head);
    figure_map map = {.rows = run->layers.count,
                      .columns = run->columns,
                      .value = cell,
                      .row_names = layer.name,
                      .column_names = head.name,
                      .what = "width ratio"};
    choose_ends(run->layers.count * run->columns, cell, &map);
    if (status == SZG_OK)
        status = put_map(page, run, what, options, &map, ratios);
    close_names(&layer);
    close_names(&head);
    return status;
}

/* Whether the rows make a map, and say so where there are too many for one. */
static bool is_map(page *page, const contraction_run *run, int64_t rows, int64_t columns) {
    if (rows <= 0 || columns <= 0)
        return false;
    if (rows <= MOST_CELLS / columns)
        return true;
    szgi_page_paragraph(page, "%s: %" PRId64 " by %" PRId64 " cells are too many for a map.",
                        run->name.text, rows, columns);
    return false;
}

szg_status szgi_contraction_draw_heads(page *page, const contraction_run *run) {
    double *ratios, *cell = NULL;
    if (!is_map(page, run, run->layers.count, run->columns) ||
        !is_map(page, run, run->pairs, szgi_contraction_run_steps(run)))
        return SZG_OK;
    SZG_TRY(szgi_contraction_run_ratios(szgi_page_context(page), run, &ratios));
    szg_status status =
        szgi_memory_alloc(szgi_page_context(page), run->layers.count * run->columns, &cell);
    if (status == SZG_OK)
        status = put_heads(page, run, ratios, cell);
    szgi_memory_free(cell);
    szgi_memory_free(ratios);
    return status;
}

static szg_status name_pairs(szg_context *context, const contraction_run *run, names *pair,
                             names *step) {
    int64_t at = 0;
    char layer[WHOLE_TEXT], head[WHOLE_TEXT];
    SZG_TRY(open_names(context, run->pairs, pair));
    SZG_TRY(open_names(context, run->steps, step));
    for (int64_t l = 0; l < run->layers.count; l++)
        for (int64_t h = 0; h < run->heads[l].count; h++, at++)
            snprintf(pair->text[at], sizeof *pair->text, "%s.%s",
                     szgi_whole_text(szgi_rows_real(run->layers.group[l], 0, "layer"), layer),
                     szgi_whole_text(szgi_rows_real(run->heads[l].group[h], 0, "head"), head));
    for (int64_t s = 0; s < run->steps; s++)
        szgi_whole_text(run->step[s], step->text[s]);
    return SZG_OK;
}

szg_status szgi_contraction_draw_steps(page *page, const contraction_run *run) {
    double *ratios;
    names pair = {0}, step = {0};
    if (run->steps < 2 || !is_map(page, run, run->pairs, run->steps))
        return SZG_OK;
    SZG_TRY(szgi_contraction_run_ratios(szgi_page_context(page), run, &ratios));
    szg_status status = name_pairs(szgi_page_context(page), run, &pair, &step);
    figure_options options = {.x = {.label = "training step"}, .y = {.label = "layer.head"}};
    options.height = run->pairs < 24 ? 160 + 16 * (int)run->pairs : 560;
    figure_map map = {.rows = run->pairs,
                      .columns = run->steps,
                      .value = ratios,
                      .row_names = pair.name,
                      .column_names = step.name,
                      .what = "width ratio"};
    choose_ends(run->pairs * run->steps, ratios, &map);
    if (status == SZG_OK)
        status = put_map(page, run, "width ratio by head and step", options, &map, ratios);
    close_names(&pair);
    close_names(&step);
    szgi_memory_free(ratios);
    return status;
}
