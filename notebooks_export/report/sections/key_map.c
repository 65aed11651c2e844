#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "captioned.h"
#include "key_map.h"
#include "numbered.h"

enum { MOST_KEYS = 256, NAME_SIZE = 48 };

/* The distinct numbers of a column, ascending, at most MOST_KEYS. */
static szg_status find_keys(szg_context *context, rows from, const char *column, int64_t *count,
                            double **out) {
    SZG_TRY(szgi_distinct_numbers(context, from, column, count, out));
    *count = *count < MOST_KEYS ? *count : MOST_KEYS;
    return SZG_OK;
}

static void add_values(key_map *map, rows from, const char *row, const char *column,
                       const char *value) {
    for (int64_t i = 0; i < from.count; i++) {
        int64_t r = szgi_find_number(map->rows, map->row_key, szgi_rows_real(from, i, row));
        int64_t c =
            szgi_find_number(map->columns, map->column_key, szgi_rows_real(from, i, column));
        double one = szgi_rows_real(from, i, value);
        if (r < 0 || c < 0) {
            map->beyond++;
        } else if (isfinite(one)) {
            int64_t cell = r * map->columns + c;
            map->value[cell] += one;
            map->count[cell]++;
        }
    }
}

static void finish(key_map *map) {
    double sum = 0;
    for (int64_t i = 0; i < map->rows * map->columns; i++) {
        if (map->count[i] == 0) {
            map->value[i] = NAN;
            continue;
        }
        map->value[i] /= (double)map->count[i];
        if (map->filled++ == 0)
            map->least = map->greatest = i;
        map->least = map->value[i] < map->value[map->least] ? i : map->least;
        map->greatest = map->value[i] > map->value[map->greatest] ? i : map->greatest;
        sum += map->value[i];
    }
    map->mean = map->filled > 0 ? sum / (double)map->filled : NAN;
}

static szg_status fill(szg_context *context, rows from, const char *row, const char *column,
                       const char *value, key_map *map) {
    SZG_TRY(find_keys(context, from, row, &map->rows, &map->row_key));
    SZG_TRY(find_keys(context, from, column, &map->columns, &map->column_key));
    int64_t cells = map->rows * map->columns; /* at most MOST_KEYS squared */
    SZG_TRY(szgi_memory_alloc(context, cells, &map->value));
    SZG_TRY(szgi_memory_alloc(context, cells, &map->count));
    add_values(map, from, row, column, value);
    finish(map);
    return SZG_OK;
}

szg_status szgi_key_map_of(szg_context *context, rows from, const char *row, const char *column,
                           const char *value, key_map *out) {
    *out = (key_map){0};
    szg_status status = fill(context, from, row, column, value, out);
    if (status != SZG_OK)
        szgi_key_map_free(out);
    return status;
}

void szgi_key_map_free(key_map *map) {
    szgi_memory_free(map->row_key);
    szgi_memory_free(map->column_key);
    szgi_memory_free(map->value);
    szgi_memory_free(map->count);
    *map = (key_map){0};
}

/* ---- Drawing ---- */

typedef struct names {
    char text[2 * MOST_KEYS][NAME_SIZE];
    const char *row[MOST_KEYS], *column[MOST_KEYS];
} names;

/* What title and caption are about. */
typedef struct captioned {
    const key_map *map;
    const key_map_look *look;
    rows source;
} captioned;

/* "model.safetensors, position: toeplitzness by layer and head" */
static void say_title(words *title, const void *of) {
    const captioned *self = of;
    szgi_words_model(title, self->source);
    fprintf(title->stream, ": %s by %s and %s", self->look->what, self->look->row,
            self->look->column);
}

static void name_keys(names *names, const key_map *map) {
    for (int64_t i = 0; i < map->rows; i++) {
        snprintf(names->text[i], NAME_SIZE, "%.0f", map->row_key[i]);
        names->row[i] = names->text[i];
    }
    for (int64_t i = 0; i < map->columns; i++) {
        snprintf(names->text[MOST_KEYS + i], NAME_SIZE, "%.0f", map->column_key[i]);
        names->column[i] = names->text[MOST_KEYS + i];
    }
}

static szg_status print_cells(page *page, const captioned *self, names *names, figure **out) {
    const key_map *map = self->map;
    const key_map_look *look = self->look;
    bool logarithmic = look->logarithmic && map->value[map->least] > 0;
    const figure_options options = {.x = {.label = look->column}, .y = {.label = look->row}};
    name_keys(names, map);
    figure_map cells = {.rows = map->rows,
                        .columns = map->columns,
                        .value = map->value,
                        .row_names = names->row,
                        .column_names = names->column,
                        .what = look->what,
                        .lo = look->lo,
                        .hi = look->hi,
                        .logarithmic = logarithmic};
    SZG_TRY(szgi_figure_open_titled(szgi_page_context(page), options, say_title, self, out));
    szg_status status = szgi_figure_cells(szgi_page_context(page), *out, &cells);
    if (status != SZG_OK)
        szgi_figure_close(out);
    return status;
}

static void print_end(words *words, const key_map *map, const key_map_look *look, const char *which,
                      int64_t cell) {
    fprintf(words->stream, ", %s ", which);
    szgi_html_number(words->stream, map->value[cell]);
    fprintf(words->stream, " at %s %.0f, %s %.0f", look->row, map->row_key[cell / map->columns],
            look->column, map->column_key[cell % map->columns]);
}

static void say_caption(words *caption, const void *of) {
    const captioned *self = of;
    const key_map *map = self->map;
    const key_map_look *look = self->look;
    fprintf(caption->stream, "%s Mean ", look->says);
    szgi_html_number(caption->stream, map->mean);
    print_end(caption, map, look, "least", map->least);
    print_end(caption, map, look, "greatest", map->greatest);
    fputs(".", caption->stream);
    if (map->beyond > 0)
        fprintf(caption->stream,
                " %" PRId64 " rows without %s and %s, or beyond the first %d of them, are not "
                "drawn.",
                map->beyond, look->row, look->column, MOST_KEYS);
}

szg_status szgi_key_map_draw(page *page, const key_map *map, const key_map_look *look,
                             rows source) {
    const captioned self = {map, look, source};
    names *names;
    figure *figure = NULL;
    if (map->filled == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(szgi_page_context(page), 1, &names));
    szg_status status = print_cells(page, &self, names, &figure);
    szgi_memory_free(names);
    if (status == SZG_OK)
        status = szgi_page_figure_captioned(page, &figure, &source, 1, say_caption, &self);
    szgi_figure_close(&figure);
    return status;
}
