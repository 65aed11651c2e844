/* What changed between two checkpoints of one architecture, head by head, and series of them. */
#ifndef SZEGO_CHECKPOINT_DIFF_H
#define SZEGO_CHECKPOINT_DIFF_H

#include <szego/checkpoint.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_diff_tables {
    szg_table *diff;          /* a row a head and step */
    szg_table *diff_heads;    /* shares and kernels of both, a row a head and step */
    szg_table *diff_adapter;  /* what an adapter adds to each head; no rows of others */
    szg_table *diff_spectra;  /* singular values; NULL: not wanted */
    int64_t bad, unconverged; /* what was reported and skipped */
} szgi_diff_tables;

/* Empty tables. On failure *out is zeroed. */
SZG_CHECK_RESULT szg_status szgi_diff_open(szg_context *context, bool spectra,
                                           szgi_diff_tables *out);
void szgi_diff_close(szgi_diff_tables *tables);

/* Why the two have no difference head by head: SZG_EDATA that names the key of the configuration,
 * or says that an architecture is unknown. */
SZG_CHECK_RESULT szg_status szgi_diff_check(szg_context *context, const szg_checkpoint *base,
                                            const szg_checkpoint *other);

typedef struct szgi_diff_options {
    int64_t top;   /* >= 1: the singular vectors whose span is followed */
    bool raw;      /* no gain of a norm is folded into the weights; no shares then */
    uint64_t seed; /* of what chance would give */
} szgi_diff_options;

/* Adds the rows of all heads, those that changed most (||M_B - M_A||_F / ||M_A||_F) first, A the
 * base and B the other. `step` < 0: none. A head that cannot be read is a row with a note at the
 * end. SZG_EDATA: szgi_diff_check. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_diff(szg_context *context, const szg_checkpoint *base,
                                                 const szg_checkpoint *other, int64_t step,
                                                 const szgi_diff_options *options,
                                                 szgi_diff_tables *tables);

/* A row that holds nothing but the reason why a whole checkpoint is left out; a warning is sent. */
SZG_CHECK_RESULT szg_status szgi_diff_problem(szg_context *context, szgi_diff_tables *tables,
                                              const szg_checkpoint *base, const char *other,
                                              int64_t step, const char *problem);

/* ---- diff_heads.c ---- */

SZG_CHECK_RESULT szg_status szgi_diff_heads_open(szg_context *context, szg_table **out);

typedef struct szgi_heads_pair {
    const szg_checkpoint *base, *other;
    int64_t step;         /* negative: none */
    char *const *problem; /* [layers]: why a layer is skipped, or NULL */
    uint64_t seed;
} szgi_heads_pair;
/* Adds the rows of heads whose layers have no problem, by the largest difference of a kernel. */
SZG_CHECK_RESULT szg_status szgi_diff_heads_add(szg_context *context, const szgi_heads_pair *pair,
                                                szg_table *out);

/* ---- diff_adapter.c ---- */

SZG_CHECK_RESULT szg_status szgi_diff_adapter_open(szg_context *context, szg_table **out);
/* Adds a row for each head and side whose weight the adapter of `other` changes; none where it has
 * no adapter. */
SZG_CHECK_RESULT szg_status szgi_diff_adapter_add(szg_context *context, const szgi_heads_pair *pair,
                                                  szg_table *out);

/* ---- series.c ---- */

/* Checkpoints in their order. */
typedef struct szgi_series {
    int64_t count;
    struct szgi_series_item {
        char *path;
        int64_t step;
    } * item;
} szgi_series;

/* STEP of a path whose last part is checkpoint-STEP; -1: it is none. */
int64_t szgi_series_step(const char *path);

/* The folders checkpoint-STEP of a folder, by step. Other names that begin with "checkpoint-" are
 * named in a warning. SZG_EIO; SZG_EDATA: fewer than two, or two of one step. */
SZG_CHECK_RESULT szg_status szgi_series_of_folder(szg_context *context, const char *folder,
                                                  szgi_series *out);
/* The paths as they stand. Steps are those of their names where every path but the first has one,
 * else 0, 1, ..., and -1 where there are two paths. */
SZG_CHECK_RESULT szg_status szgi_series_of_paths(szg_context *context, const char *const *path,
                                                 int64_t count, szgi_series *out);
void szgi_series_close(szgi_series *series);

SZGI_END_DECLS

#endif
