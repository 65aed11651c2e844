/* The other half of a head: the rows of its values and the columns of the attention's output that
 * it writes through. Only what is asked for by `circuits` is looked up here. */
#ifndef SZG_CHECKPOINT_VALUES_H
#define SZG_CHECKPOINT_VALUES_H

#include "fold.h"
#include "part.h"

/* Where one layer's values and output are. */
typedef struct layer_values {
    const szgi_tensor *value, *output;
    head_places at; /* of key heads, in `value` */
    int64_t size;   /* dimensions of a head's values */
    char *problem;  /* NULL, or why this layer has no OV circuit */
} layer_values;

typedef struct value_set {
    layer_values *layer; /* [layers] */
    int64_t size;        /* the largest of all layers; at least 1 */
    char *problem;       /* NULL, or why no layer has an OV circuit */
} value_set;

/* Finds the tensors of all layers and looks at the numbers of the part's. What is wrong with a
 * layer, or with all, is kept in `problem`. */
SZG_CHECK_RESULT szg_status szgi_values_open(szg_context *context, const szg_checkpoint *checkpoint,
                                             const head_part *part, value_set *out);
/* The same without looking at numbers: no weight is read. */
SZG_CHECK_RESULT szg_status szgi_values_find(szg_context *context, const szg_checkpoint *checkpoint,
                                             value_set *out);
void szgi_values_close(const szg_checkpoint *checkpoint, value_set *set);

/* The size x d rows of a key head's values, with the gains that `fold` says; `norm`: their
 * Frobenius norm before the input norm's gains. SZG_EDATA: a gain that is no number, or products
 * beyond doubles. */
SZG_CHECK_RESULT szg_status szgi_values_rows(szg_context *context, const szg_checkpoint *checkpoint,
                                             const layer_values *values, int64_t layer,
                                             int64_t key_head, fold_kind fold, double *rows,
                                             long double *norm);
/* The columns of the output that act on a query head's values, as size x d rows. */
SZG_CHECK_RESULT szg_status szgi_values_output(szg_context *context,
                                               const szg_checkpoint *checkpoint,
                                               const layer_values *values, int64_t head,
                                               double *rows);

/* The Frobenius norm, which squares cannot take out of range. */
long double szgi_values_norm(int64_t count, const double *x);

/* What `fold` leaves folded in a layer's values: "none", "input", "latent", "input+latent". */
const char *szgi_values_folded(const szg_checkpoint *checkpoint, int64_t layer, fold_kind fold);
/* Do the head's outputs stay the same where W_V grows? */
bool szgi_values_are_scale_free(const szg_checkpoint *checkpoint);
/* NULL, or what acts between values and output and is in no W_O W_V: a sentence. */
const char *szgi_values_note(const szg_checkpoint *checkpoint);

#endif
