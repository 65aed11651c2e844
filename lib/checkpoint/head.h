/* One head: from its rows to spectra, the Toeplitz part of its positions and its rotary pairs. */
#ifndef SZG_CHECKPOINT_HEAD_H
#define SZG_CHECKPOINT_HEAD_H

#include "toeplitz/factored.h"
#include "absolute.h"
#include "lag_bias.h"
#include "lag_table.h"
#include "shared_norm.h"
#include "positional.h"
#include "vocabulary.h"
#include "rows.h"

/* What all heads have in common. */
typedef struct head_input {
    const szg_checkpoint *checkpoint;
    const szg_checkpoint_options *options;
    int64_t positions; /* rows of p; 0: no position-position term */
    double *p;         /* positions x model size, divided by 2^p_exponent */
    int p_exponent;
    int64_t lags;  /* that bounds are for; 0: any */
    bool unplaced; /* no table of positional heads is asked for */
    bool bare;     /* no spectrum and no bound: `kernel_only`, or two checkpoints are compared */
    bool quiet;    /* what is wrong is said elsewhere */
    lag_moments_list moments;
    token_counts counts;     /* of the options */
    vocabulary vocabulary;   /* layer 0 reads it where it rotates */
    absolute_input absolute; /* and this where positions are added */
    lag_bias bias;           /* what every layer adds by the lag */
    lag_table table;         /* or multiplies its queries and keys by */
    token_sample tokens;     /* that norms of queries and keys are tried on */
    shared_norm *shared;     /* [layers], or NULL: norms that several heads share */
} head_input;

/* Queries or keys, W with folded gains, divided by 2^exponent; and what positions make of W without
 * them, divided by 2^at_exponent. */
typedef struct head_side {
    double *rows;         /* W, e x d */
    double *lower;        /* L of W = L Q, e x e */
    double *at_rows;      /* W P^T, e x positions; NULL without positions */
    double *at_lower;     /* its L */
    szgi_pair_gram *gram; /* of rotary pairs; a head has e / 2 of them at most */
    int exponent, at_exponent;
    double error;     /* of folding, before the division: szgi_fold_queries */
    bound_side bound; /* with `raw`: nothing */
    latent_side kept; /* of the layer read last */
} head_side;

/* The arrays of one worker. */
typedef struct head_work {
    double *memory; /* all of them; NULL: not open */
    head_side q, k;
    double *inner, *core; /* e x e; inner: the product of keys and queries that is at work */
    szgi_rotary rotary;   /* the layer's */
    known_keys known;     /* of the key head in `k` */
    double *room;         /* szgi_positional_room */
} head_work;

SZG_CHECK_RESULT szg_status szgi_head_work_open(szg_context *context, const head_input *input,
                                                head_work *work);
void szgi_head_work_close(head_work *work);

/* What one head leaves for its rows. */
typedef struct head_result {
    szg_status status; /* a local failure; `problem` says which */
    char *problem;
    szg_spectrum eigenvalues, singular;
    int64_t lost; /* values that lost digits, see scale_lost */
    bool has_positions;
    szg_spectrum position_eigenvalues, position_singular;
    int64_t position_lost;
    szg_tau toeplitzness;
    szg_range range; /* method NULL: beyond SZG_SYMBOL_RANGE_LIMIT */
    szg_c64 *samples;
    szgi_rotary rotary;
    szgi_pair_coupling *pairs;
    head_bound bound; /* with `raw`: none */
    head_positional positional;
} head_result;

/* A B^T, n x n, by the rows of A^T and B^T, e x n, and their triangles; inner, core: room, e x e.
 */
typedef struct row_product {
    int64_t n, e;
    const double *a, *l_a, *b, *l_b;
    double *inner, *core; /* inner becomes B^T A */
} row_product;
SZG_CHECK_RESULT szg_status szgi_head_spectra(szg_context *context, const row_product *product,
                                              szg_spectrum *eigenvalues, szg_spectrum *singular);

/* Reads a key head into work->k and factors it, for all query heads of its group. */
SZG_CHECK_RESULT szg_status szgi_head_read_key(szg_context *context, const head_input *input,
                                               int64_t layer, int64_t key_head, head_work *work);
/* Analyses a query head with the key head in work->k. *result is released by the caller, after a
 * failure too. */
SZG_CHECK_RESULT szg_status szgi_head_analyse(szg_context *context, const head_input *input,
                                              int64_t layer, int64_t head, head_work *work,
                                              head_result *result);
void szgi_head_release(head_result *result);

#endif
