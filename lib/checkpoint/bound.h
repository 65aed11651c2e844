/* Bounds on the largest logit of a head: docs/explanation/theory.md, "The largest logit". */
#ifndef SZG_CHECKPOINT_BOUND_H
#define SZG_CHECKPOINT_BOUND_H

#include "bound_norm.h"
#include "checkpoint_private.h"
#include "fold.h"

/* What a bound follows from. */
typedef enum bound_kind {
    BOUND_NONE,   /* nothing bounds the logits: `why` says what acts on them */
    BOUND_HEADS,  /* the norm of queries and keys */
    BOUND_INPUT,  /* the norm of the layer's input */
    BOUND_LATENT, /* the norms of the latents and of the input */
    BOUND_CLIP,   /* queries and keys are clipped */
    BOUND_CAP,    /* the soft cap */
} bound_kind;
/* "none", "qk-norm", "input-norm", "latent-norm", "clip", "soft-cap" */
const char *szgi_bound_name(bound_kind kind);

typedef struct head_bound {
    double value; /* no |logit| is larger, at the lags below; NaN: none */
    double all;   /* the same at any lag */
    int64_t lags; /* 0 .. lags - 1; 0: any */
    bound_kind kind;
    const char *why;     /* NULL, or why there is none: static */
    const char *assumed; /* NULL, or what of the model's own arithmetic it leaves out: static */
} head_bound;

/* Rows of a head's queries or keys with all gains folded (FOLD_ALL), divided by 2^exponent; the
 * error, before that, is that of szgi_fold_queries and szgi_fold_keys. */
typedef struct bound_rows {
    const double *value;
    double error;
    int exponent;
    double unit; /* of the model's own arithmetic (rounding.h); 0: logits of exact arithmetic */
} bound_rows;

/* Whose rows they are: a query head's, or a key head's. */
typedef struct bound_place {
    int64_t layer, head;
    bool query;
} bound_place;

/* What bounds need of the queries, or of the keys: made once of a key head for all of its query
 * heads. All zero at first; its memory is used again for the next head. */
typedef struct bound_side {
    double *memory;
    const double *rows; /* the caller's */
    int exponent;
    szgi_gram whole, turning, still; /* of all rows, those that rotate, those that do not */
    double *shift;                   /* [e]: what is added to W n, n the normalised input */
    double *size;                    /* [e]: the moduli of what it is the sum of */
    double shift_error;              /* norm of what rounding did to it */
    const szgi_tensor *source;       /* of latent keys: where the rotary rows come from */
    double unit;                     /* of `rows` */
} bound_side;

/* `kept`: what szgi_fold_queries or szgi_fold_keys has just read. SZG_EDATA: a gain or bias that is
 * no number. */
SZG_CHECK_RESULT szg_status szgi_bound_side_make(szg_context *context,
                                                 const szg_checkpoint *checkpoint,
                                                 const bound_place *place, const bound_rows *rows,
                                                 const latent_side *kept, bound_side *out);
void szgi_bound_side_release(bound_side *side);

/* The bound of a query head, for the lags 0 .. lags - 1 (0: any) where it depends on them and
 * frequencies hold so far. With a unit, lags must be 0, and logits are those before the soft cap.
 * SZG_EDATA: a gain or bias that is no number. */
SZG_CHECK_RESULT szg_status szgi_bound_head(szg_context *context, const szg_checkpoint *checkpoint,
                                            int64_t layer, int64_t head, int64_t lags,
                                            const bound_side *q, const bound_side *k,
                                            head_bound *out);

#endif
