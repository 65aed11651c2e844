/* Gains of norms, folded into the rows of queries and keys: docs/explanation/theory.md, "Folded
 * norms". */
#ifndef SZG_CHECKPOINT_FOLD_H
#define SZG_CHECKPOINT_FOLD_H

#include "checkpoint_private.h"

/* Which gains a head's rows have. */
typedef enum fold_kind {
    FOLD_NONE,   /* none: --raw */
    FOLD_LATENT, /* of the latents' norms: what logits are made of, given the layer's input */
    FOLD_ALL,    /* of the input's norm and of the norm of queries and keys too */
} fold_kind;

/* The rule for the same norm in a GGUF file; INPUT_NONE where its names are not known. */
input_rule szgi_fold_rule_of_gguf(input_rule rule);

/* Finds the tensors of each layer's input norms, for queries and for keys. A norm that the family
 * has and the file does not is noted. */
SZG_CHECK_RESULT szg_status szgi_fold_resolve(szg_context *context, szg_checkpoint *checkpoint);

/* Folds both into the e x d rows of a query head, or of a key head, as they come out of the
 * weights: before scale and rotation. `error` (NULL: not wanted) bounds the Frobenius norm of what
 * rounding did to them. SZG_EDATA: a gain that is no number, or products beyond doubles. */
SZG_CHECK_RESULT szg_status szgi_fold_rows(szg_context *context, const szg_checkpoint *checkpoint,
                                           int64_t layer, bool query, int64_t head, double *rows,
                                           double *error);

/* The norm of queries or keys alone, into a head's e rows of `columns`. */
SZG_CHECK_RESULT szg_status szgi_fold_heads(szg_context *context, const szg_checkpoint *checkpoint,
                                            int64_t layer, bool query, int64_t head,
                                            int64_t columns, double *rows);

/* The input norm alone, into `count` rows of d. */
SZG_CHECK_RESULT szg_status szgi_fold_input(szg_context *context, const szg_checkpoint *checkpoint,
                                            int64_t layer, bool query, int64_t count, double *rows,
                                            double *error);

/* The gains of the norm of queries or keys on a head's e dimensions; 1 where it has none. */
SZG_CHECK_RESULT szg_status szgi_fold_gains(szg_context *context, const szg_checkpoint *checkpoint,
                                            int64_t layer, bool query, int64_t head, double *gain);

/* The tensor of what the norm of queries or keys adds; NULL: nothing. It has a head's numbers, or
 * those of all heads. And a head's e of them, 0 where there is none. */
const szgi_tensor *szgi_fold_norm_bias(const szg_checkpoint *checkpoint, int64_t layer, bool query);
SZG_CHECK_RESULT szg_status szgi_fold_norm_shift(szg_context *context,
                                                 const szg_checkpoint *checkpoint, int64_t layer,
                                                 bool query, int64_t head, double *shift);
/* The norm of one head, of a family with one for each (NORM_EACH); NULL: it is missing. */
const szgi_tensor *szgi_fold_head_norm(const szg_checkpoint *checkpoint, int64_t layer, bool query,
                                       int64_t head);

/* Numbers first .. first + count - 1 of a vector, which is `what` ("a norm's gain"). SZG_EDATA: one
 * of them is not finite. */
SZG_CHECK_RESULT szg_status szgi_fold_vector(szg_context *context, const szgi_tensor *tensor,
                                             const char *what, int64_t first, int64_t count,
                                             double *out);

/* Does the layer's input norm fold, on both sides? And the norm of queries and keys? */
bool szgi_fold_has_input(const szg_checkpoint *checkpoint, int64_t layer);
bool szgi_fold_has_heads(const szg_checkpoint *checkpoint, int64_t layer);
/* Are queries and keys of this layer normalised? */
bool szgi_fold_is_normed(const szg_checkpoint *checkpoint, int64_t layer);

/* Does one norm of queries or keys serve several heads: of all of them, or of a latent? */
bool szgi_fold_shares_norm(const szg_checkpoint *checkpoint);

/* Does the norm of a layer's input subtract each token's mean? */
bool szgi_fold_centres(const szg_checkpoint *checkpoint);

/* Does the norm of queries and keys subtract each one's mean? */
bool szgi_fold_centres_heads(const szg_checkpoint *checkpoint);

/* "RMS", "mean and variance", with ", gains 1 + weight" behind; NULL: the family has no such norm.
 */
const char *szgi_fold_input_kind(const szg_checkpoint *checkpoint);

/* What `fold` leaves folded in a layer: "none", "input", "qk", "latent", or several with plus
 * signs. */
const char *szgi_fold_name(const szg_checkpoint *checkpoint, int64_t layer, fold_kind fold);
/* Do the logits stay the same where W_Q or W_K of this layer grows? */
bool szgi_fold_is_scale_free(const szg_checkpoint *checkpoint, int64_t layer);

/* Latent attention, queries or keys: what makes the latents, which all heads of a layer share, and
 * the rows of the head read last that act on them. All zero: nothing is kept. */
typedef struct latent_side {
    const szgi_tensor *source; /* of `down`; NULL: none yet */
    double *down;              /* as in the file: a row for each number of the latent, and, of keys,
                                  the rotary rows below */
    double *up;                /* rows x rank, with the gains that were asked for */
    int64_t down_size, up_size;
} latent_side;

void szgi_latent_release(latent_side *kept);

/* Rows of a head as szgi_checkpoint_queries and szgi_checkpoint_keys give them, with other gains.
 */
SZG_CHECK_RESULT szg_status szgi_fold_queries(szg_context *context,
                                              const szg_checkpoint *checkpoint, int64_t layer,
                                              int64_t head, fold_kind fold, double *q,
                                              double *error);
SZG_CHECK_RESULT szg_status szgi_fold_keys(szg_context *context, const szg_checkpoint *checkpoint,
                                           int64_t layer, int64_t key_head, fold_kind fold,
                                           double *k, double *error);

/* The same; `kept` spares reading what the head before has read. */
SZG_CHECK_RESULT szg_status szgi_fold_queries_kept(szg_context *context,
                                                   const szg_checkpoint *checkpoint, int64_t layer,
                                                   int64_t head, fold_kind fold, latent_side *kept,
                                                   double *q, double *error);
SZG_CHECK_RESULT szg_status szgi_fold_keys_kept(szg_context *context,
                                                const szg_checkpoint *checkpoint, int64_t layer,
                                                int64_t key_head, fold_kind fold, latent_side *kept,
                                                double *k, double *error);

/* Columns first .. first + e - 1 of a [d, columns] tensor, as e rows of d. */
SZG_CHECK_RESULT szg_status szgi_read_columns(szg_context *context, const szgi_tensor *tensor,
                                              int64_t first, int64_t e, int64_t d, double *out);
/* `rows` rows of a side's weight, from `first` on, times its latent's gains (unless FOLD_NONE)
 * times what makes the latent: rows x d. */
SZG_CHECK_RESULT szg_status szgi_read_product(szg_context *context, const side_weights *side,
                                              int64_t first, int64_t rows, int64_t rank, int64_t d,
                                              fold_kind fold, latent_side *kept, double *out);

#endif
