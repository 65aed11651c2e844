/* The table `heads`: is a head positional, at which lags, and is it more than chance? */
#include "base/row.h"
#include "positional_rows.h"

#define HEADS(X)                                                                                   \
    X(HEADS_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named")  \
    X(HEADS_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                    \
    X(HEADS_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")                  \
    X(HEADS_KEY_HEAD, "key_head", SZG_INTEGER, "1", "key head",                                    \
      "key head that it is paired with, counted from 0")                                           \
    X(HEADS_LAGS, "lags", SZG_INTEGER, "positions", "lags",                                        \
      "N: the kernel is taken at the lags 0 .. N - 1, and at -1 .. 1 - N where queries see later " \
      "keys")                                                                                      \
    X(HEADS_SELF_SHARE, "self_share", SZG_REAL, "1", "self share",                                 \
      "variance of the self kernel over the lags, by that and the variance of independent "        \
      "isotropic tokens' logits")                                                                  \
    X(HEADS_SELF_NULL, "self_null", SZG_REAL, "1", "self share by chance",                         \
      "quantile 0.95 of the self share where signs of W_K's columns are drawn at random")          \
    X(HEADS_SELF_P, "self_p", SZG_REAL, "1", "p of the self share",                                \
      "share of the draws, and of the head itself, whose self share is as large")                  \
    X(HEADS_MEAN_SHARE, "mean_share", SZG_REAL, "1", "mean share",                                 \
      "variance of the mean kernel over the lags, likewise; empty: the mean token is not known "   \
      "and no bias stands for it")                                                                 \
    X(HEADS_MEAN_NULL, "mean_null", SZG_REAL, "1", "mean share by chance",                         \
      "quantile 0.95 of the mean share where signs of W_K's columns are drawn at random")          \
    X(HEADS_MEAN_P, "mean_p", SZG_REAL, "1", "p of the mean share",                                \
      "share of the draws, and of the head itself, whose mean share is as large")                  \
    X(HEADS_NOISE, "noise", SZG_REAL, "1", "spread of the content",                                \
      "root of the mean variance of independent isotropic tokens' logits")                         \
    X(HEADS_SHAPE, "shape", SZG_TEXT, "", "shape",                                                 \
      "of the self kernel: flat, decaying, rising, peaked, periodic or mixed")                     \
    X(HEADS_PEAK, "peak", SZG_INTEGER, "positions", "lag of the largest value",                    \
      "lag where the self kernel is largest")                                                      \
    X(HEADS_WAVELENGTH, "wavelength", SZG_REAL, "positions", "wavelength",                         \
      "of the carrier; what is longer than the lags turns less than once within them")             \
    X(HEADS_CARRIER, "carrier", SZG_INTEGER, "1", "rotary pair",                                   \
      "of a periodic kernel the pair that explains most of it, else the pair whose term varies "   \
      "most; counted from 0")                                                                      \
    X(HEADS_LEAST, "kernel_min", SZG_REAL, "1", "least value of the kernel",                       \
      "of the self kernel at these lags")                                                          \
    X(HEADS_GREATEST, "kernel_max", SZG_REAL, "1", "largest value of the kernel",                  \
      "of the self kernel at these lags")                                                          \
    X(HEADS_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define HEADS_SCREEN                                                                               \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, self_share)                                                                       \
    SZGI_SHOW(1, self_null)                                                                        \
    SZGI_SHOW(1, mean_share)                                                                       \
    SZGI_SHOW(1, shape)                                                                            \
    SZGI_SHOW(1, peak)                                                                             \
    SZGI_SHOW(1, wavelength)                                                                       \
    SZGI_SHOW_RANGE(1, kernel, kernel_min, kernel_max)                                             \
    SZGI_SHOW(2, noise)                                                                            \
    SZGI_SHOW(3, self_p)
SZGI_SCHEMA(positional_columns, "heads", HEADS, HEADS_SCREEN);

szg_status szgi_positional_rows_open(szg_context *context, szg_checkpoint_tables *tables) {
    return szgi_schema_open(context, &positional_columns_schema, &tables->heads);
}

static void put_numbers(szgi_row *row, const head_positional *found) {
    const kernel_shape *shape = &found->shape;
    szgi_row_integer(row, HEADS_LAGS, found->lags);
    szgi_row_number(row, HEADS_SELF_SHARE, found->self_share);
    szgi_row_number(row, HEADS_SELF_NULL, found->self_null);
    szgi_row_number(row, HEADS_SELF_P, found->self_p);
    szgi_row_number(row, HEADS_MEAN_SHARE, found->mean_share);
    szgi_row_number(row, HEADS_MEAN_NULL, found->mean_null);
    szgi_row_number(row, HEADS_MEAN_P, found->mean_p);
    szgi_row_number(row, HEADS_NOISE, found->noise);
    szgi_row_text(row, HEADS_SHAPE, szgi_shape_name(shape->kind));
    szgi_row_integer(row, HEADS_PEAK, shape->greatest_at);
    szgi_row_number(row, HEADS_WAVELENGTH, shape->wavelength);
    szgi_row_place(row, HEADS_CARRIER, shape->carrier);
    szgi_row_number(row, HEADS_LEAST, shape->least);
    szgi_row_number(row, HEADS_GREATEST, shape->greatest);
}

szg_status szgi_positional_rows_add(szg_context *context, szg_checkpoint_tables *tables,
                                    const row_key *key, int64_t key_head,
                                    const head_positional *found) {
    szgi_row row = szgi_row_add(context, tables->heads);
    szgi_row_text(&row, HEADS_SOURCE, key->source);
    szgi_row_integer(&row, HEADS_LAYER, key->layer);
    szgi_row_integer(&row, HEADS_HEAD, key->head);
    szgi_row_integer(&row, HEADS_KEY_HEAD, key_head);
    if (found->why)
        szgi_row_text(&row, HEADS_NOTE, found->why);
    else
        put_numbers(&row, found);
    return row.status;
}
