#include "layer_rows.h"

#include <math.h>

#include "base/row.h"
#include "positional_rows.h"

#define LAYERS(X)                                                                                  \
    X(LAYERS_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named") \
    X(LAYERS_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                   \
    X(LAYERS_KERNEL, "kernel", SZG_TEXT, "", "kernel",                                             \
      "mean or self: whose shares (table `heads`)")                                                \
    X(LAYERS_HEADS, "heads", SZG_INTEGER, "1", "heads", "heads that have such a share")            \
    X(LAYERS_STANDING, "stand_out", SZG_INTEGER, "1", "heads that stand out",                      \
      "heads that stand out by this kernel (table `heads`)")                                       \
    X(LAYERS_SUM, "sum", SZG_REAL, "1", "summed shares", "of the heads")                           \
    X(LAYERS_LARGEST, "largest", SZG_INTEGER, "1", "head with the largest share",                  \
      "counted from 0")                                                                            \
    X(LAYERS_PART, "part", SZG_REAL, "1", "part of the largest head",                              \
      "largest share, divided by the sum")                                                         \
    X(LAYERS_NULL, "part_null", SZG_REAL, "1", "part by chance",                                   \
      "quantile 0.95 of that part where signs of W_K's columns are drawn at random; empty: not "   \
      "known")                                                                                     \
    X(LAYERS_P, "part_p", SZG_REAL, "1", "p of the part",                                          \
      "share of the draws, and of the layer itself, whose part is as large")                       \
    X(LAYERS_EFFECTIVE, "effective_heads", SZG_REAL, "1", "effective number of heads",             \
      "(sum of the shares)^2 / sum of their squares")
#define LAYERS_SCREEN                                                                              \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, kernel)                                                                           \
    SZGI_SHOW(1, stand_out)                                                                        \
    SZGI_SHOW(1, heads)                                                                            \
    SZGI_SHOW(1, sum)                                                                              \
    SZGI_SHOW(1, largest)                                                                          \
    SZGI_SHOW(1, part)                                                                             \
    SZGI_SHOW(1, part_null)                                                                        \
    SZGI_SHOW(2, effective_heads)                                                                  \
    SZGI_SHOW(3, part_p)
SZGI_SCHEMA(layers_columns, "layers", LAYERS, LAYERS_SCREEN);

szg_status szgi_layer_rows_open(szg_context *context, szg_checkpoint_tables *tables) {
    return szgi_schema_open(context, &layers_columns_schema, &tables->layers);
}

static void add_draws(const double *drawn, share_sum *out) {
    out->drawn++;
    for (int64_t i = 0; i < CHANCE_DRAWS; i++) {
        out->drawn_sum[i] += drawn[i];
        out->drawn_most[i] = fmax(out->drawn_most[i], drawn[i]);
    }
}

void szgi_layer_shares_add(const head_positional *found, int64_t head, layer_shares *out) {
    for (int kind = 0; kind < KERNEL_KINDS && !found->why; kind++) {
        share_sum *sum = &out->kernel[kind];
        double share = found->kernel[kind].share;
        if (isnan(share))
            continue;
        if (sum->heads == 0 || share > sum->most) {
            sum->most = share;
            sum->largest = head;
        }
        sum->heads++;
        sum->sum += share;
        sum->squares += share * share;
        if (found->drawn[kind])
            add_draws(found->drawn[kind], sum);
    }
}

static double part_of(double most, double sum) {
    return sum > 0 ? most / sum : 0;
}

static void put_chance(szgi_row *row, share_sum *sum) {
    double part = part_of(sum->most, sum->sum), *drawn = sum->drawn_most;
    for (int64_t i = 0; i < CHANCE_DRAWS; i++)
        drawn[i] = part_of(drawn[i], sum->drawn_sum[i]);
    chance_found found = szgi_chance_compare(drawn, part);
    szgi_row_number(row, LAYERS_NULL, found.quantile);
    szgi_row_number(row, LAYERS_P, found.p);
}

static szg_status add_row(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                          const char *kernel, share_sum *sum) {
    szgi_row row = szgi_row_add(context, tables->layers);
    szgi_row_text(&row, LAYERS_SOURCE, key->source);
    szgi_row_integer(&row, LAYERS_LAYER, key->layer);
    szgi_row_text(&row, LAYERS_KERNEL, kernel);
    szgi_row_integer(&row, LAYERS_HEADS, sum->heads);
    szgi_row_number(&row, LAYERS_SUM, sum->sum);
    szgi_row_integer(&row, LAYERS_LARGEST, sum->largest);
    szgi_row_number(&row, LAYERS_PART, part_of(sum->most, sum->sum));
    if (sum->drawn == sum->heads)
        put_chance(&row, sum);
    if (sum->squares > 0)
        szgi_row_number(&row, LAYERS_EFFECTIVE, sum->sum * sum->sum / sum->squares);
    return row.status;
}

szg_status szgi_layer_rows_add(szg_context *context, szg_checkpoint_tables *tables,
                               const row_key *key, int64_t heads, layer_shares *shares) {
    static const kernel_kind order[] = {KERNEL_MEAN, KERNEL_SELF};
    for (int i = 0; i < KERNEL_KINDS; i++)
        if (shares->kernel[order[i]].heads == heads)
            SZG_TRY(add_row(context, tables, key, szgi_kernel_name(order[i]),
                            &shares->kernel[order[i]]));
    return SZG_OK;
}

szg_status szgi_layer_rows_judge(szg_context *context, szg_checkpoint_tables *tables) {
    szg_table *layers = tables->layers;
    for (int64_t row = 0; layers && row < szg_table_rows(layers); row++) {
        int64_t count = szgi_positional_rows_standing(
            tables->heads, szg_table_get_integer(layers, row, LAYERS_LAYER),
            szg_table_get_text(layers, row, LAYERS_KERNEL));
        SZG_TRY(szgi_table_replace_integer(context, layers, row, LAYERS_STANDING, count));
    }
    return SZG_OK;
}
