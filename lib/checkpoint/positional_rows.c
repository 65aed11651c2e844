/* The tables `heads` and `kernel`: is a head positional, at which lags, and is it more than chance?
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"
#include "positional_rows.h"

/* What is said of each of the two kernels; NAME is the place of the first. */
#define OF_KERNEL(X, NAME, name, what, said)                                                       \
    X(HEADS_##NAME##_SHARE, name "_share", SZG_REAL, "1", what " share",                           \
      "variance of the " what                                                                      \
      " kernel over the lags, divided by the sum of that and the variance "                        \
      "of independent tokens' logits (and the square of spread where there is one)" said)          \
    X(HEADS_##NAME##_NULL, name "_null", SZG_REAL, "1", what " share by chance",                   \
      "quantile 0.95 of the " what " share where signs of W_K's columns are drawn at random")      \
    X(HEADS_##NAME##_P, name "_p", SZG_REAL, "1", "p of the " what " share",                       \
      "share of the draws, and of the head itself, whose " what " share is as large")              \
    X(HEADS_##NAME##_NOISE, name "_noise", SZG_REAL, "1", "spread of the content (" what ")",      \
      "root of the mean variance of independent tokens' logits")                                   \
    X(HEADS_##NAME##_SHAPE, name "_shape", SZG_TEXT, "", "shape (" what ")",                       \
      "of the " what " kernel: flat (not beyond chance), decaying, rising, forward, backward, "    \
      "peaked, periodic or mixed")                                                                 \
    X(HEADS_##NAME##_PEAK, name "_peak", SZG_INTEGER, "positions", "peak lag (" what ")",          \
      "lag where the " what " kernel is largest")                                                  \
    X(HEADS_##NAME##_WAVELENGTH, name "_wavelength", SZG_REAL, "positions",                        \
      "wavelength (" what ")", "of the carrier of the " what " kernel")                            \
    X(HEADS_##NAME##_CARRIER, name "_carrier", SZG_INTEGER, "1", "rotary pair (" what ")",         \
      "of a periodic " what " kernel the pair that explains most of it, else the pair whose term " \
      "varies most; counted from 0")                                                               \
    X(HEADS_##NAME##_MIN, name "_min", SZG_REAL, "1", "least value (" what ")",                    \
      "of the " what " kernel at these lags")                                                      \
    X(HEADS_##NAME##_MAX, name "_max", SZG_REAL, "1", "largest value (" what ")",                  \
      "of the " what " kernel at these lags")
/* Columns of a kernel, each at its place behind HEADS_SELF_SHARE or HEADS_MEAN_SHARE. */
enum { SHARE, NULLS, P, NOISE, SHAPE, PEAK, WAVELENGTH, CARRIER, LEAST, GREATEST };

#define HEADS(X)                                                                                   \
    X(HEADS_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named")  \
    X(HEADS_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                    \
    X(HEADS_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")                  \
    X(HEADS_KEY_HEAD, "key_head", SZG_INTEGER, "1", "key head",                                    \
      "key head that it is paired with, counted from 0")                                           \
    X(HEADS_STANDS_OUT, "stands_out", SZG_TEXT, "", "stands out",                                  \
      "mean, self or mean+self: whose share is 0.1 or more, and beyond chance where that is "      \
      "known, with at most 5% false ones among the analysed heads of the model (Benjamini and "    \
      "Hochberg)")                                                                                 \
    OF_KERNEL(X, MEAN, "mean", "mean", "; empty: the mean token is not known")                     \
    OF_KERNEL(X, SELF, "self", "self", "")                                                         \
    X(HEADS_TOKENS, "mean_tokens", SZG_TEXT, "", "tokens of the mean kernel",                      \
      "vocabulary: those of the embeddings; counts: those as likely as --token-counts says; "      \
      "isotropic: without a mean, so that biases alone make "                                      \
      "the kernel. The self kernel is always that of isotropic tokens")                            \
    X(HEADS_FIRST, "lag_min", SZG_INTEGER, "positions", "least lag",                               \
      "the kernels are taken at lag_min .. lag_max: both signs where queries see later keys")      \
    X(HEADS_LAST, "lag_max", SZG_INTEGER, "positions", "largest lag",                              \
      "the least of these, less 1: the trained length (2,048 where it is not known), the layer's " \
      "window, the length that scaled frequencies are for, and 131,072; where positions are "      \
      "added, also their number and 2,048; where vectors of the lag are, also 2,048")              \
    X(HEADS_SLOW, "slow_pairs", SZG_INTEGER, "1", "slow rotary pairs",                             \
      "rotary pairs that turn less than once within the lags")                                     \
    X(HEADS_SPREAD, "spread", SZG_REAL, "1", "spread along diagonals",                             \
      "root of the mean square by which position logits differ from the mean kernel; empty where " \
      "they depend on the lag alone")                                                              \
    X(HEADS_BOUND, "bound", SZG_REAL, "1", "bound", "no logit is larger in size (table `bounds`)") \
    X(HEADS_RANK, "effective_rank", SZG_REAL, "1", "effective rank",                               \
      "of W_Q^T W_K (table `summary`)")                                                            \
    X(HEADS_NOTE, "note", SZG_TEXT, "", "note",                                                    \
      "why there are no numbers, or none of one of the kernels")
#define HEADS_SCREEN                                                                               \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, mean_share)                                                                       \
    SZGI_SHOW(2, mean_null)                                                                        \
    SZGI_SHOW(2, mean_shape)                                                                       \
    SZGI_SHOW(3, mean_peak)                                                                        \
    SZGI_SHOW(1, self_share)                                                                       \
    SZGI_SHOW(1, self_null)                                                                        \
    SZGI_SHOW(1, self_shape)                                                                       \
    SZGI_SHOW(1, self_peak)                                                                        \
    SZGI_SHOW(2, self_wavelength)                                                                  \
    SZGI_SHOW(3, stands_out)
SZGI_SCHEMA(heads_columns, "heads", HEADS, HEADS_SCREEN);

#define KERNEL(X)                                                                                  \
    X(KERNEL_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named") \
    X(KERNEL_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                   \
    X(KERNEL_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")                 \
    X(KERNEL_KEY_HEAD, "key_head", SZG_INTEGER, "1", "key head",                                   \
      "key head that it is paired with, counted from 0")                                           \
    X(KERNEL_LAG, "lag", SZG_INTEGER, "positions", "lag",                                          \
      "position of the query less that of the key")                                                \
    X(KERNEL_MEAN_VALUE, "mean", SZG_REAL, "1", "mean kernel",                                     \
      "expected logit of two independent tokens; where positions are added the mean along the "    \
      "diagonal, less what a query adds to all keys; empty: not known")                            \
    X(KERNEL_MEAN_LOW, "mean_low", SZG_REAL, "1", "chance, low (mean)",                            \
      "lower end of the band of 95% of the draws of signs of W_K's columns, "                      \
      "about the kernel's mean over the lags")                                                     \
    X(KERNEL_MEAN_HIGH, "mean_high", SZG_REAL, "1", "chance, high (mean)",                         \
      "upper end of that band")                                                                    \
    X(KERNEL_SELF_VALUE, "self", SZG_REAL, "1", "self kernel",                                     \
      "expected logit of a token and its own copy, for isotropic tokens")                          \
    X(KERNEL_SELF_LOW, "self_low", SZG_REAL, "1", "chance, low (self)",                            \
      "lower end of the band of 95% of the draws of signs of W_K's columns, "                      \
      "about the kernel's mean over the lags")                                                     \
    X(KERNEL_SELF_HIGH, "self_high", SZG_REAL, "1", "chance, high (self)", "upper end of that band")
#define KERNEL_SCREEN                                                                              \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, lag)                                                                              \
    SZGI_SHOW(1, mean)                                                                             \
    SZGI_SHOW(2, mean_low)                                                                         \
    SZGI_SHOW(2, mean_high)                                                                        \
    SZGI_SHOW(1, self)                                                                             \
    SZGI_SHOW(2, self_low)                                                                         \
    SZGI_SHOW(2, self_high)                                                                        \
    SZGI_SHOW(4, key_head)
SZGI_SCHEMA(kernel_columns, "kernel", KERNEL, KERNEL_SCREEN);

szg_status szgi_positional_rows_open(szg_context *context, int64_t dense,
                                     szg_checkpoint_tables *tables) {
    SZG_TRY(szgi_schema_open(context, &heads_columns_schema, &tables->heads));
    return dense > 0 ? szgi_schema_open(context, &kernel_columns_schema, &tables->kernel) : SZG_OK;
}

static void put_kernel(szgi_row *row, int64_t first, bool turns, const kernel_facts *facts) {
    const kernel_shape *shape = &facts->shape;
    if (isnan(facts->share))
        return;
    szgi_row_number(row, first + SHARE, facts->share);
    szgi_row_number(row, first + NULLS, facts->null);
    szgi_row_number(row, first + P, facts->p);
    szgi_row_number(row, first + NOISE, facts->noise);
    szgi_row_text(row, first + SHAPE, szgi_shape_name(shape->kind));
    szgi_row_integer(row, first + PEAK, shape->greatest_at);
    if (turns)
        szgi_row_number(row, first + WAVELENGTH, shape->wavelength);
    szgi_row_place(row, first + CARRIER, shape->carrier);
    szgi_row_number(row, first + LEAST, shape->least);
    szgi_row_number(row, first + GREATEST, shape->greatest);
}

static void put_numbers(szgi_row *row, const head_positional *found) {
    put_kernel(row, HEADS_MEAN_SHARE, found->slow >= 0, &found->kernel[KERNEL_MEAN]);
    put_kernel(row, HEADS_SELF_SHARE, found->slow >= 0, &found->kernel[KERNEL_SELF]);
    if (!isnan(found->kernel[KERNEL_MEAN].share))
        szgi_row_text(row, HEADS_TOKENS,
                      !found->vocabulary ? "isotropic"
                      : found->counted   ? "counts"
                                         : "vocabulary");
    szgi_row_integer(row, HEADS_FIRST, found->first);
    szgi_row_integer(row, HEADS_LAST, found->lags - 1);
    szgi_row_place(row, HEADS_SLOW, found->slow);
    szgi_row_number(row, HEADS_SPREAD, found->spread);
    if (found->lack)
        szgi_row_note(row, "no %s kernel: %s",
                      szgi_positional_has(found, KERNEL_MEAN) ? "self" : "mean", found->lack);
}

szg_status szgi_positional_rows_add(szg_context *context, szg_checkpoint_tables *tables,
                                    const row_key *key, int64_t key_head, const head_sizes *sizes,
                                    const head_positional *found) {
    szgi_row row = szgi_row_add(context, tables->heads);
    szgi_row_text(&row, HEADS_SOURCE, key->source);
    szgi_row_integer(&row, HEADS_LAYER, key->layer);
    szgi_row_integer(&row, HEADS_HEAD, key->head);
    szgi_row_integer(&row, HEADS_KEY_HEAD, key_head);
    szgi_row_number(&row, HEADS_BOUND, sizes->bound);
    szgi_row_number(&row, HEADS_RANK, sizes->effective_rank);
    if (found->why)
        szgi_row_text(&row, HEADS_NOTE, found->why);
    else
        put_numbers(&row, found);
    return row.status;
}

szg_status szgi_kernel_rows_add(szg_context *context, szg_checkpoint_tables *tables,
                                const row_key *key, int64_t key_head,
                                const head_positional *found) {
    for (int64_t i = 0; i < found->listed.count; i++) {
        const kernel_value *mean = &found->value[KERNEL_MEAN][i];
        const kernel_value *self = &found->value[KERNEL_SELF][i];
        szgi_row row = szgi_row_add(context, tables->kernel);
        szgi_row_text(&row, KERNEL_SOURCE, key->source);
        szgi_row_integer(&row, KERNEL_LAYER, key->layer);
        szgi_row_integer(&row, KERNEL_HEAD, key->head);
        szgi_row_integer(&row, KERNEL_KEY_HEAD, key_head);
        szgi_row_integer(&row, KERNEL_LAG, found->listed.lag[i]);
        szgi_row_number(&row, KERNEL_MEAN_VALUE, mean->value);
        szgi_row_number(&row, KERNEL_MEAN_LOW, mean->low);
        szgi_row_number(&row, KERNEL_MEAN_HIGH, mean->high);
        szgi_row_number(&row, KERNEL_SELF_VALUE, self->value);
        szgi_row_number(&row, KERNEL_SELF_LOW, self->low);
        szgi_row_number(&row, KERNEL_SELF_HIGH, self->high);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

/* ---- What rows say ---- */

static const int64_t share_column[KERNEL_KINDS] = {
    [KERNEL_SELF] = HEADS_SELF_SHARE, [KERNEL_MEAN] = HEADS_MEAN_SHARE};

heads_row szgi_positional_rows_get(const szg_table *heads, int64_t row) {
    heads_row out = {.layer = szg_table_get_integer(heads, row, HEADS_LAYER),
                     .head = szg_table_get_integer(heads, row, HEADS_HEAD),
                     .note = szg_table_get_text(heads, row, HEADS_NOTE)};
    for (int kind = 0; kind < KERNEL_KINDS; kind++) {
        out.share[kind] = szg_table_get_real(heads, row, share_column[kind] + SHARE);
        out.shape[kind] = szg_table_get_text(heads, row, share_column[kind] + SHAPE);
    }
    return out;
}

kernel_row szgi_kernel_rows_get(const szg_table *kernel, int64_t row) {
    return (kernel_row){
        .layer = szg_table_get_integer(kernel, row, KERNEL_LAYER),
        .head = szg_table_get_integer(kernel, row, KERNEL_HEAD),
        .lag = szg_table_get_integer(kernel, row, KERNEL_LAG),
        .value = {[KERNEL_SELF] = szg_table_get_real(kernel, row, KERNEL_SELF_VALUE),
                  [KERNEL_MEAN] = szg_table_get_real(kernel, row, KERNEL_MEAN_VALUE)}};
}

/* ---- Which stand out ---- */

/* The largest p that is more than chance among all heads. `p` has room for every row. */
static double limit_of(const szg_table *heads, kernel_kind kind, double *p) {
    for (int64_t row = 0; row < szg_table_rows(heads); row++)
        p[row] = szg_table_get_real(heads, row, share_column[kind] + P);
    return szgi_discoveries_limit(szg_table_rows(heads), p);
}

/* A share that stands out. */
static const double least_share = 0.1;

/* Where no sign changes a kernel there is no p, and the size of the share decides. */
static bool stands_out(const szg_table *heads, int64_t row, kernel_kind kind, double limit) {
    double p = szg_table_get_real(heads, row, share_column[kind] + P);
    return szg_table_get_real(heads, row, share_column[kind] + SHARE) >= least_share &&
           !(p > limit);
}

szg_status szgi_positional_rows_judge(szg_context *context, szg_checkpoint_tables *tables) {
    szg_table *heads = tables->heads;
    double *p;
    SZG_TRY(szgi_memory_alloc(context, szg_table_rows(heads) + 1, &p));
    double mean_limit = limit_of(heads, KERNEL_MEAN, p);
    double self_limit = limit_of(heads, KERNEL_SELF, p);
    szgi_memory_free(p);
    for (int64_t row = 0; row < szg_table_rows(heads); row++) {
        bool mean = stands_out(heads, row, KERNEL_MEAN, mean_limit);
        bool self = stands_out(heads, row, KERNEL_SELF, self_limit);
        SZG_TRY(szgi_table_replace_text(context, heads, row, HEADS_STANDS_OUT,
                                        mean && self ? "mean+self"
                                        : mean       ? "mean"
                                        : self       ? "self"
                                                     : NULL));
    }
    return SZG_OK;
}

int64_t szgi_positional_rows_standing(const szg_table *heads, int64_t layer, const char *kernel) {
    int64_t count = 0;
    for (int64_t row = 0; row < szg_table_rows(heads); row++) {
        const char *which = szg_table_get_text(heads, row, HEADS_STANDS_OUT);
        count += which && strstr(which, kernel) &&
                 szg_table_get_integer(heads, row, HEADS_LAYER) == layer;
    }
    return count;
}
