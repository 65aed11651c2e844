/* What `szego checkpoint`, `szego diff` and `szego kernel` show to a person. Of a checkpoint: which
 * heads are positional, at what distance, and is it more than chance? Then a line per layer, and
 * what a reader must know. */
#ifndef SZG_ANALYSIS_DIGEST_H
#define SZG_ANALYSIS_DIGEST_H

#include <stdio.h>

#include <szego/checkpoint.h>

#include "base/text.h"

typedef struct digest {
    szgi_text said, notes;  /* paragraphs before and behind the tables, each with its new line */
    szg_table *mean, *self; /* heads that stand out by this kernel, at most ten; NULL: none */
    szg_table *layers;      /* a row per layer and kernel; NULL: no head is known */
    szg_table *weights;     /* of an unknown architecture: the rows of `summary` */
} digest;

/* Of all tables of a checkpoint; `more` ("": nothing) are further lines of notes. The caller
 * closes *out, after a failure too. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_open(szg_context *context, const szg_checkpoint_tables *tables,
                                        const char *more, digest *out);
void digest_close(digest *out);

/* ---- digest_heads.c ---- */

/* Says which heads stand out, and fills `mean` and `self`. */
SZG_CHECK_RESULT szg_status digest_heads(szg_context *context, const szg_table *heads, digest *out);

/* ---- digest_layers.c ---- */

SZG_CHECK_RESULT szg_status digest_layers(szg_context *context, const szg_checkpoint_tables *tables,
                                          digest *out);

/* ---- digest_decays.c ---- */

/* Says how far recurrent layers remember. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_decays(szg_context *context, const szg_table *decays, FILE *to);

/* ---- digest_diff.c ---- */

/* Of the tables of `szego diff`: sentences on the head that changed most. `heads` may be NULL. The
 * caller closes *out, after a failure too. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_changes(szg_context *context, const szg_table *diff,
                                           const szg_table *heads, szgi_text *out);
/* Of `diff` or `diff_heads`: the first ten rows of each step and stack, without heads whose
 * kernels did not change. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_most_changed(szg_context *context, const szg_table *table,
                                                szg_table **out);

/* An empty table with the columns of `table`. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_open_like(szg_context *context, const szg_table *table,
                                             const char *name, szg_table **out);
/* Adds a row of a table with the same columns. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_copy_row(szg_context *context, const szg_table *from,
                                            int64_t row, szg_table *out);
/* To three digits: what a person compares. */
double digest_rounded(double value);
/* "encoder" of a row's source "t5-small/ (encoder)"; false: the table has one source. */
enum { DIGEST_STACK = 32 };
bool digest_stack(const szg_table *table, int64_t row, char out[DIGEST_STACK]);

/* Of the table `kernel` of encodings: `lags`, one row per lag that is shown and one column per
 * matrix (two more where it is complex or has a spread). SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_lags(szg_context *context, const szg_table *kernel,
                                        szg_table **out);

/* Of the table `kernel` of a checkpoint: its rows at the lags that are shown. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_kernel(szg_context *context, const szg_table *kernel,
                                          szg_table **out);

#endif
