/* Logits that get a number by the lag alone: the trained tables of T5 and MPNet, and ALiBi.
 * docs/explanation/theory.md, "Positional heads". */
#ifndef SZG_CHECKPOINT_LAG_BIAS_H
#define SZG_CHECKPOINT_LAG_BIAS_H

#include "positional.h"

/* The biases of all heads: one set that every layer adds, or one a layer. */
typedef struct lag_bias {
    const char *why; /* NULL, or why they are not known: static */
    int64_t first, lags;
    int64_t sets, heads; /* 1, or layers */
    double *value;       /* [sets, heads, lags - first]; NULL: nothing is added */
    double *weight;      /* [lags - first]: szgi_lag_weights */
    lag_list listed;
} lag_bias;

/* dense: of the listed lags. Numbers that cannot be read are said in `why`. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_bias_open(szg_context *context,
                                               const szg_checkpoint *checkpoint, int64_t dense,
                                               lag_bias *out);
void szgi_lag_bias_close(lag_bias *bias);
static inline const double *szgi_lag_bias_of(const lag_bias *bias, int64_t layer, int64_t head) {
    int64_t set = bias->sets > 1 ? layer : 0;
    return bias->value + (set * bias->heads + head) * (bias->lags - bias->first);
}

/* Of a head of isotropic tokens that does not rotate. */
SZG_CHECK_RESULT szg_status szgi_lag_bias_find(szg_context *context, const law_input *head,
                                               const lag_bias *bias, head_positional *out);

#endif
