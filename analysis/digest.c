#include "digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"

#define LAYERS(X)                                                                                  \
    X(LAYERS_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint")                 \
    X(LAYERS_STACK, "stack", SZG_TEXT, "", "stack",                                                \
      "of an encoder-decoder; empty where a model has one")                                        \
    X(LAYERS_LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                  \
    X(LAYERS_MATRIX, "matrix", SZG_TEXT, "", "matrix", "which matrix of a head")                   \
    X(LAYERS_HEADS, "heads", SZG_INTEGER, "1", "heads", "heads that the layer has of it")          \
    X(LAYERS_SIGMA_MAX, "sigma_max_least", SZG_REAL, "1", "least largest singular value",          \
      "least of its heads")                                                                        \
    X(LAYERS_SIGMA_MAX_GREATEST, "sigma_max_greatest", SZG_REAL, "1",                              \
      "greatest largest singular value", "greatest of its heads")                                  \
    X(LAYERS_SIGMA_MAX_HEAD, "sigma_max_head", SZG_INTEGER, "1", "head of the greatest",           \
      "head of the greatest")                                                                      \
    X(LAYERS_STABLE_RANK, "stable_rank_least", SZG_REAL, "1", "least stable rank",                 \
      "least of its heads")                                                                        \
    X(LAYERS_STABLE_RANK_GREATEST, "stable_rank_greatest", SZG_REAL, "1", "greatest stable rank",  \
      "greatest of its heads")                                                                     \
    X(LAYERS_STABLE_RANK_HEAD, "stable_rank_head", SZG_INTEGER, "1", "head of the greatest",       \
      "head of the greatest")                                                                      \
    X(LAYERS_TOEPLITZNESS, "toeplitzness_least", SZG_REAL, "1", "least toeplitzness",              \
      "least of its heads")                                                                        \
    X(LAYERS_TOEPLITZNESS_GREATEST, "toeplitzness_greatest", SZG_REAL, "1",                        \
      "greatest toeplitzness", "greatest of its heads")                                            \
    X(LAYERS_TOEPLITZNESS_HEAD, "toeplitzness_head", SZG_INTEGER, "1", "head of the greatest",     \
      "head of the greatest")
#define LAYERS_SCREEN                                                                              \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, stack)                                                                            \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, matrix)                                                                           \
    SZGI_SHOW(1, heads)                                                                            \
    SZGI_SHOW_RANGE(1, sigma_max, sigma_max_least, sigma_max_greatest)                             \
    SZGI_SHOW_AS(1, sigma_max_head, "at head", NULL)                                               \
    SZGI_SHOW_RANGE(1, stable_rank, stable_rank_least, stable_rank_greatest)                       \
    SZGI_SHOW_AS(2, stable_rank_head, "at head", NULL)                                             \
    SZGI_SHOW_RANGE(3, toeplitzness, toeplitzness_least, toeplitzness_greatest)                    \
    SZGI_SHOW(9, toeplitzness_head)
SZGI_SCHEMA(layers_columns, "layers", LAYERS, LAYERS_SCREEN);

/* The numbers that a row of `layers` gives the span of: three columns from `at` on. */
static const struct {
    const char *name;
    int64_t at;
} spans[] = {{"sigma_max", LAYERS_SIGMA_MAX},
             {"stable_rank", LAYERS_STABLE_RANK},
             {"toeplitzness", LAYERS_TOEPLITZNESS}};
enum { SPANS = sizeof spans / sizeof *spans };

typedef struct digest {
    const szg_table *summary;
    int64_t source, layer, head, matrix, number[SPANS]; /* columns; negative: there is none */
    int64_t rows;
    int64_t
        *row; /* [rows] those with a head, ordered by source, layer, matrix; then as they were */
} digest;

static int order(int64_t a, int64_t b) {
    return a < b ? -1 : a > b;
}

static const char *text(const digest *d, int64_t row, int64_t column) {
    const char *found = szg_table_get_text(d->summary, row, column);
    return found ? found : "";
}

static int compare_groups(const digest *d, int64_t a, int64_t b) {
    int by = strcmp(text(d, a, d->source), text(d, b, d->source));
    if (by == 0)
        by = order(szg_table_get_integer(d->summary, a, d->layer),
                   szg_table_get_integer(d->summary, b, d->layer));
    return by ? by : strcmp(text(d, a, d->matrix), text(d, b, d->matrix));
}

static int by_group(const void *left, const void *right, void *user) {
    const int64_t *a = left, *b = right;
    int by = compare_groups(user, *a, *b);
    return by ? by : order(*a, *b);
}

/* Numbers that are not there, or not finite, are no part of a span. */
static void put_span(const digest *d, int64_t from, int64_t to, int span, szgi_row *row) {
    double least = __builtin_inf(), greatest = -__builtin_inf();
    int64_t head = -1;
    for (int64_t i = from; i < to; i++) {
        double value = szg_table_get_real(d->summary, d->row[i], d->number[span]);
        if (!__builtin_isfinite(value))
            continue;
        least = value < least ? value : least;
        if (value > greatest) {
            greatest = value;
            head = szg_table_get_integer(d->summary, d->row[i], d->head);
        }
    }
    if (head < 0)
        return;
    szgi_row_real(row, spans[span].at, least);
    szgi_row_real(row, spans[span].at + 1, greatest);
    szgi_row_integer(row, spans[span].at + 2, head);
}

/* "encoder" of the source "t5-small/ (encoder)", where there are several sources. */
static void put_stack(const digest *d, const char *source, szgi_row *row) {
    const char *open = strrchr(source, '('), *last = text(d, d->row[d->rows - 1], d->source);
    size_t length = open ? strlen(open) : 0;
    char name[32];
    if (length < 2 || open[length - 1] != ')' || strcmp(text(d, d->row[0], d->source), last) == 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(length - 2), open + 1);
    szgi_row_text(row, LAYERS_STACK, name);
}

static szg_status add_group(szg_context *context, const digest *d, int64_t from, int64_t to,
                            szg_table *out) {
    szgi_row row = szgi_row_add(context, out);
    szgi_row_text(&row, LAYERS_SOURCE, szg_table_get_text(d->summary, d->row[from], d->source));
    put_stack(d, text(d, d->row[from], d->source), &row);
    szgi_row_integer(&row, LAYERS_LAYER, szg_table_get_integer(d->summary, d->row[from], d->layer));
    szgi_row_text(&row, LAYERS_MATRIX, szg_table_get_text(d->summary, d->row[from], d->matrix));
    szgi_row_integer(&row, LAYERS_HEADS, to - from);
    for (int span = 0; span < SPANS; span++)
        if (d->number[span] >= 0)
            put_span(d, from, to, span, &row);
    return row.status;
}

static szg_status fill(szg_context *context, const digest *d, szg_table *out) {
    for (int64_t from = 0, to; from < d->rows; from = to) {
        for (to = from + 1; to < d->rows && compare_groups(d, d->row[from], d->row[to]) == 0;)
            to++;
        SZG_TRY(add_group(context, d, from, to, out));
    }
    return SZG_OK;
}

static szg_status collect(szg_context *context, const szg_table *summary, digest *d) {
    *d = (digest){.summary = summary,
                  .source = szg_table_find(summary, "source"),
                  .layer = szg_table_find(summary, "layer"),
                  .head = szg_table_find(summary, "head"),
                  .matrix = szg_table_find(summary, "matrix")};
    for (int span = 0; span < SPANS; span++)
        d->number[span] = szg_table_find(summary, spans[span].name);
    SZG_TRY(szgi_memory_alloc(context, szg_table_rows(summary) + 1, &d->row));
    for (int64_t row = 0; row < szg_table_rows(summary); row++)
        if (d->head >= 0 && !szg_table_is_empty(summary, row, d->head))
            d->row[d->rows++] = row;
    qsort_r(d->row, (size_t)d->rows, sizeof *d->row, by_group, d);
    return SZG_OK;
}

static szg_status open_layers(szg_context *context, const digest *d, szg_table **out) {
    SZG_TRY(szgi_schema_open(context, &layers_columns_schema, out));
    return fill(context, d, *out);
}

static szg_status open_weights(szg_context *context, const szg_table *summary, szg_table **out) {
    int64_t count = szg_table_columns(summary);
    szg_column *columns;
    SZG_TRY(szgi_memory_alloc(context, count, &columns));
    for (int64_t i = 0; i < count; i++)
        columns[i] = *szg_table_column(summary, i);
    szg_status status = szg_table_open(context, "weights", columns, count, out);
    szgi_memory_free(columns);
    SZG_TRY(status);
    szgi_table_take_ends(*out, summary);
    return szgi_table_append(context, *out, summary);
}

szg_status digest_checkpoint(szg_context *context, const szg_table *summary, szg_table **out) {
    digest d;
    *out = NULL;
    SZG_TRY(collect(context, summary, &d));
    szg_status status =
        d.rows > 0 ? open_layers(context, &d, out) : open_weights(context, summary, out);
    if (status != SZG_OK)
        szg_table_close(out);
    szgi_memory_free(d.row);
    return status;
}
