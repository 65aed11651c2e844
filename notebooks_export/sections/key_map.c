#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <szego/memory.h>
#include "captioned.h"
#include "key_map.h"

enum { MOST_KEYS = 256, NAME_SIZE = 48 };

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The different finite numbers of a list, ascending, at most MOST_KEYS. */
static szg_status distinct(szg_context *context, int64_t count, const double *value, double **out,
                           int64_t *found) {
    int64_t finite = 0, kept = 0;
    double *sorted;
    SZG_TRY(szg_memory_alloc(context, count, sizeof *sorted, &sorted));
    for (int64_t i = 0; i < count; i++)
        if (isfinite(value[i]))
            sorted[finite++] = value[i];
    qsort(sorted, (size_t)finite, sizeof *sorted, compare);
    for (int64_t i = 0; i < finite && kept < MOST_KEYS; i++)
        if (kept == 0 || sorted[i] != sorted[kept - 1])
            sorted[kept++] = sorted[i];
    *out = sorted;
    *found = kept;
    return SZG_OK;
}

static int64_t find_key(const double *key, int64_t count, double wanted) {
    const double *found =
        isnan(wanted) ? NULL : bsearch(&wanted, key, (size_t)count, sizeof *key, compare);
    return found ? found - key : -1;
}

static void add_values(key_map *map, int64_t count, const double *row, const double *column,
                       const double *value) {
    for (int64_t i = 0; i < count; i++) {
        int64_t r = find_key(map->row_key, map->rows, row[i]);
        int64_t c = find_key(map->column_key, map->columns, column[i]);
        if (r < 0 || c < 0) {
            map->beyond++;
        } else if (isfinite(value[i])) {
            int64_t cell = r * map->columns + c;
            map->value[cell] += value[i];
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

static szg_status fill(szg_context *context, key_map *map, int64_t count, double *const key[3]) {
    SZG_TRY(distinct(context, count, key[0], &map->row_key, &map->rows));
    SZG_TRY(distinct(context, count, key[1], &map->column_key, &map->columns));
    int64_t cells = map->rows * map->columns; /* at most MOST_KEYS squared */
    SZG_TRY(szg_memory_alloc(context, cells, sizeof *map->value, &map->value));
    SZG_TRY(szg_memory_alloc(context, cells, sizeof *map->count, &map->count));
    add_values(map, count, key[0], key[1], key[2]);
    finish(map);
    return SZG_OK;
}

szg_status key_map_of(szg_context *context, rows from, const char *row, const char *column,
                      const char *value, key_map *out) {
    const char *const name[] = {row, column, value};
    double *key[] = {NULL, NULL, NULL};
    szg_status status = SZG_OK;
    *out = (key_map){0};
    for (int i = 0; i < 3 && status == SZG_OK; i++)
        status = rows_reals(context, from, name[i], &key[i]);
    if (status == SZG_OK)
        status = fill(context, out, from.count, key);
    for (int i = 0; i < 3; i++)
        szg_memory_free(key[i]);
    if (status != SZG_OK)
        key_map_free(out);
    return status;
}

void key_map_free(key_map *map) {
    szg_memory_free(map->row_key);
    szg_memory_free(map->column_key);
    szg_memory_free(map->value);
    szg_memory_free(map->count);
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
    words_model(title, self->source);
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
    SZG_TRY(figure_open_titled(page_context(page), options, say_title, self, out));
    szg_status status = figure_cells(page_context(page), *out, &cells);
    if (status != SZG_OK)
        figure_close(out);
    return status;
}

static void print_end(words *words, const key_map *map, const key_map_look *look, const char *which,
                      int64_t cell) {
    fprintf(words->stream, ", %s ", which);
    html_number(words->stream, map->value[cell]);
    fprintf(words->stream, " at %s %.0f, %s %.0f", look->row, map->row_key[cell / map->columns],
            look->column, map->column_key[cell % map->columns]);
}

static void say_caption(words *caption, const void *of) {
    const captioned *self = of;
    const key_map *map = self->map;
    const key_map_look *look = self->look;
    fprintf(caption->stream, "%s Mean ", look->says);
    html_number(caption->stream, map->mean);
    print_end(caption, map, look, "least", map->least);
    print_end(caption, map, look, "greatest", map->greatest);
    fputs(".", caption->stream);
    if (map->beyond > 0)
        fprintf(caption->stream,
                " %" PRId64 " rows without %s and %s, or beyond the first %d of them, are not "
                "drawn.",
                map->beyond, look->row, look->column, MOST_KEYS);
}

szg_status key_map_draw(page *page, const key_map *map, const key_map_look *look, rows source) {
    const captioned self = {map, look, source};
    names *names;
    figure *figure = NULL;
    if (map->filled == 0)
        return SZG_OK;
    SZG_TRY(szg_memory_alloc(page_context(page), 1, sizeof *names, &names));
    szg_status status = print_cells(page, &self, names, &figure);
    szg_memory_free(names);
    if (status == SZG_OK)
        status = page_figure_captioned(page, &figure, &source, 1, say_caption, &self);
    figure_close(&figure);
    return status;
}
