/* Is a head positional, at which lags, and is it more than chance? docs/explanation/theory.md,
 * "Positional heads". */
#ifndef SZG_CHECKPOINT_POSITIONAL_H
#define SZG_CHECKPOINT_POSITIONAL_H

#include "chance.h"
#include "law.h"
#include "shape.h"

typedef struct positional_input {
    law_input head;
    const lag_moments *moments;
    uint64_t seed;
} positional_input;

typedef struct head_positional {
    const char *why; /* NULL, or why there are no numbers: static */
    int64_t lags;
    double self_share, self_null, self_p; /* the null's quantile at 0.95 */
    double mean_share, mean_null, mean_p; /* NaN: the mean token is not known */
    double noise;                         /* root of the mean variance */
    kernel_shape shape;                   /* of the self kernel */
} head_positional;

SZG_CHECK_RESULT szg_status szgi_positional_find(szg_context *context,
                                                 const positional_input *input,
                                                 head_positional *out);

#endif
