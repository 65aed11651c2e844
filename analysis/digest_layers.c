#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"

#include "digest.h"

#define LAYERS(X)                                                                                  \
    X(LAYERS_STACK, "stack", SZG_TEXT, "", "stack",                                                \
      "of an encoder-decoder; empty where a model has one")                                        \
    X(LAYERS_LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                  \
    X(LAYERS_KERNEL, "kernel", SZG_TEXT, "", "kernel", "mean or self")                             \
    X(LAYERS_SUM, "sum", SZG_REAL, "1", "summed shares", "of its heads")                           \
    X(LAYERS_LARGEST, "largest", SZG_INTEGER, "1", "head with the largest share", "from 0")        \
    X(LAYERS_PART, "part", SZG_REAL, "1", "part of the largest head", "of the summed shares")      \
    X(LAYERS_CHANCE, "chance", SZG_REAL, "1", "part by chance", "quantile 0.95 of random signs")   \
    X(LAYERS_EFFECTIVE, "effective", SZG_REAL, "1", "effective number of heads",                   \
      "(sum of shares)^2 / sum of their squares")                                                  \
    X(LAYERS_SIGMA, "sigma_max", SZG_REAL, "1", "largest singular value",                          \
      "of W_Q^T W_K, greatest of its heads")                                                       \
    X(LAYERS_SIGMA_HEAD, "at_head", SZG_INTEGER, "1", "its head", "from 0")
#define LAYERS_SCREEN                                                                              \
    SZGI_SHOW(1, stack)                                                                            \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, kernel)                                                                           \
    SZGI_SHOW(1, sum)                                                                              \
    SZGI_SHOW(1, largest)                                                                          \
    SZGI_SHOW(1, part)                                                                             \
    SZGI_SHOW(1, chance)                                                                           \
    SZGI_SHOW(1, effective)                                                                        \
    SZGI_SHOW(1, sigma_max)                                                                        \
    SZGI_SHOW(1, at_head)
SZGI_SCHEMA(by_layer_columns, "by_layer", LAYERS, LAYERS_SCREEN);

/* A layer that has spectra, and the largest singular value of its heads. */
typedef struct layer {
    const char *source;
    int64_t row; /* its first one */
    int64_t number, head;
    double sigma;
} layer;

typedef struct layer_list {
    int64_t count;
    layer *at; /* room for every row of `summary` */
} layer_list;

static const char *text(const szg_table *table, int64_t row, const char *column) {
    const char *found = szg_table_get_text(table, row, szg_table_find(table, column));
    return found ? found : "";
}

static int64_t integer(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_integer(table, row, szg_table_find(table, column));
}

static double real(const szg_table *table, int64_t row, const char *column) {
    return szg_table_get_real(table, row, szg_table_find(table, column));
}

static bool is_of(const szg_table *table, int64_t row, const layer *which) {
    return integer(table, row, "layer") == which->number &&
           strcmp(text(table, row, "source"), which->source) == 0;
}

/* Rows of a layer stand together. */
static void collect(const szg_table *summary, layer_list *out) {
    int64_t head = szg_table_find(summary, "head");
    for (int64_t row = 0; row < szg_table_rows(summary); row++) {
        layer *last = out->count > 0 ? &out->at[out->count - 1] : NULL;
        double sigma = real(summary, row, "sigma_max");
        if (szg_table_is_empty(summary, row, head) || strcmp(text(summary, row, "matrix"), "qk"))
            continue;
        if (!last || !is_of(summary, row, last)) {
            last = &out->at[out->count++];
            *last =
                (layer){text(summary, row, "source"), row, integer(summary, row, "layer"), -1, 0};
        }
        if (__builtin_isfinite(sigma) && (last->head < 0 || sigma > last->sigma)) {
            last->head = szg_table_get_integer(summary, row, head);
            last->sigma = sigma;
        }
    }
}

static szgi_row label(szg_context *context, const szg_table *summary, const layer *which,
                      szg_table *out) {
    char stack[DIGEST_STACK];
    szgi_row row = szgi_row_add(context, out);
    if (digest_stack(summary, which->row, stack))
        szgi_row_text(&row, LAYERS_STACK, stack);
    szgi_row_integer(&row, LAYERS_LAYER, which->number);
    szgi_row_place(&row, LAYERS_SIGMA_HEAD, which->head);
    if (which->head >= 0)
        szgi_row_real(&row, LAYERS_SIGMA, digest_rounded(which->sigma));
    return row;
}

static szg_status add_shares(szg_context *context, const szg_checkpoint_tables *tables,
                             const layer *which, int64_t from, szg_table *out) {
    const szg_table *layers = tables->layers;
    szgi_row row = label(context, tables->summary, which, out);
    szgi_row_text(&row, LAYERS_KERNEL, text(layers, from, "kernel"));
    szgi_row_number(&row, LAYERS_SUM, digest_rounded(real(layers, from, "sum")));
    szgi_row_integer(&row, LAYERS_LARGEST, integer(layers, from, "largest"));
    szgi_row_number(&row, LAYERS_PART, digest_rounded(real(layers, from, "part")));
    szgi_row_number(&row, LAYERS_CHANCE, digest_rounded(real(layers, from, "part_null")));
    szgi_row_number(&row, LAYERS_EFFECTIVE, digest_rounded(real(layers, from, "effective_heads")));
    return row.status;
}

static szg_status add_layer(szg_context *context, const szg_checkpoint_tables *tables,
                            const layer *which, szg_table *out) {
    const szg_table *layers = tables->layers;
    bool found = false;
    for (int64_t row = 0; layers && row < szg_table_rows(layers); row++)
        if (is_of(layers, row, which)) {
            SZG_TRY(add_shares(context, tables, which, row, out));
            found = true;
        }
    return found ? SZG_OK : label(context, tables->summary, which, out).status;
}

szg_status digest_layers(szg_context *context, const szg_checkpoint_tables *tables, digest *out) {
    layer_list list = {0};
    SZG_TRY(szgi_memory_alloc(context, szg_table_rows(tables->summary) + 1, &list.at));
    szg_status status = szgi_schema_open(context, &by_layer_columns_schema, &out->layers);
    collect(tables->summary, &list);
    for (int64_t i = 0; i < list.count && status == SZG_OK; i++)
        status = add_layer(context, tables, &list.at[i], out->layers);
    if (tables->layers && szg_table_rows(tables->layers) > 0)
        fputs(
            "by_layer: `sum` adds up the shares of the layer's heads, and `part` is that of head "
            "`largest`, where random signs reach `chance`. `effective` is the effective number of "
            "heads, `sigma_max` the largest singular value of W_Q^T W_K.\n",
            out->notes.stream);
    szgi_memory_free(list.at);
    return status;
}
