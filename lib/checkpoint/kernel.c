/* The head's mean kernel over the lag, and its table. For tokens with E[x_i x_j^T] = c(i - j) I the
 * mean logit at lag k = i - j is c(k) times
 *
 *     tr(W_Q^T R_i^T R_j W_K) = 2 sum_t Re(rotation_t e^{i k theta_t}) + the unrotated block's
 * trace
 *
 * (docs/reference/checkpoints.md, "Rotary frequencies"). */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/row.h"
#include "rows.h"

/* ---- Numbers ---- */

/* Lags of a block: e^{i (b + r) theta} is a product of two phases, each of one unit in the last
 * place, so that a pair takes a sine and a cosine for each block and for each place in one. */
enum { BLOCK = 64 };

static szg_c64 times(szg_c64 a, szg_c64 b) {
    return (szg_c64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static szg_c64 phase(int64_t k, double theta) {
    szg_c64 turned;
    szgi_lag_phase(k, theta, &turned.re, &turned.im);
    return turned;
}

static void add_pair(const szgi_pair_coupling *pair, int64_t lags, double *out) {
    szg_c64 within[BLOCK];
    for (int64_t r = 0; r < BLOCK && r < lags; r++)
        within[r] = phase(r, pair->theta);
    for (int64_t first = 0; first < lags; first += BLOCK) {
        szg_c64 turned = times(pair->rotation, phase(first, pair->theta));
        for (int64_t r = 0; r < BLOCK && first + r < lags; r++)
            out[first + r] += 2 * (turned.re * within[r].re - turned.im * within[r].im);
    }
}

void szgi_checkpoint_kernel(int64_t pairs, const szgi_pair_coupling *pair, double unrotated,
                            int64_t lags, double *out) {
    for (int64_t k = 0; k < lags; k++)
        out[k] = unrotated;
    for (int64_t t = 0; t < pairs; t++)
        add_pair(&pair[t], lags, out);
}

double szgi_checkpoint_unrotated(const szgi_rotary *rotary, int64_t e, const double *k_q) {
    double trace = 0;
    int64_t end = rotary->offset + 2 * rotary->pairs;
    for (int64_t i = 0; i < e; i++)
        if (i < rotary->offset || i >= end)
            trace += k_q[i * (e + 1)];
    return trace;
}

/* ---- The table ---- */

#define KERNEL(X)                                                                                  \
    X(KERNEL_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named") \
    X(KERNEL_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                   \
    X(KERNEL_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")                 \
    X(KERNEL_KEY_HEAD, "key_head", SZG_INTEGER, "1", "key head",                                   \
      "key head that it is paired with, counted from 0")                                           \
    X(KERNEL_LAG, "lag", SZG_INTEGER, "positions", "lag",                                          \
      "position of the query less that of the key")                                                \
    X(KERNEL_KERNEL, "kernel", SZG_REAL, "1", "mean kernel",                                       \
      "mean logit at that lag of tokens with E[x_i x_j^T] = I; empty: no double holds it")
#define KERNEL_SCREEN                                                                              \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, lag)                                                                              \
    SZGI_SHOW(1, kernel)                                                                           \
    SZGI_SHOW(3, key_head)
SZGI_SCHEMA(kernel_columns, "kernel", KERNEL, KERNEL_SCREEN);

szg_status szgi_rows_open_kernel(szg_context *context, szg_checkpoint_tables *tables) {
    return szgi_schema_open(context, &kernel_columns_schema, &tables->kernel);
}

static szg_status add_rows(szg_context *context, szg_table *table, const row_key *key,
                           int64_t key_head, int64_t lags, const double *kernel) {
    for (int64_t k = 0; k < lags; k++) {
        szgi_row row = szgi_row_add(context, table);
        szgi_row_text(&row, KERNEL_SOURCE, key->source);
        szgi_row_integer(&row, KERNEL_LAYER, key->layer);
        szgi_row_integer(&row, KERNEL_HEAD, key->head);
        szgi_row_integer(&row, KERNEL_KEY_HEAD, key_head);
        szgi_row_integer(&row, KERNEL_LAG, k);
        if (isfinite(kernel[k]))
            szgi_row_real(&row, KERNEL_KERNEL, kernel[k]);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

szg_status szgi_rows_kernel(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                            int64_t key_head, const head_kernel *facts) {
    double *kernel;
    if (facts->pairs == 0 || facts->lags == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, facts->lags, &kernel));
    szgi_checkpoint_kernel(facts->pairs, facts->pair, facts->unrotated, facts->lags, kernel);
    szg_status status = add_rows(context, tables->kernel, key, key_head, facts->lags, kernel);
    szgi_memory_free(kernel);
    return status;
}
