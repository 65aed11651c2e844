/* The shape of a kernel over the lag, in a word: docs/explanation/theory.md, "Positional heads". */
#ifndef SZG_CHECKPOINT_SHAPE_H
#define SZG_CHECKPOINT_SHAPE_H

#include "share.h"

typedef enum shape_kind {
    SHAPE_FLAT,     /* it varies no more than chance would let it */
    SHAPE_DECAYING, /* it rises to its largest value at lag 0, or nearly */
    SHAPE_RISING,   /* at the last lag */
    SHAPE_BACKWARD, /* at the last lag where lags have both signs: to the earliest keys */
    SHAPE_FORWARD,  /* at the first one then: to the latest keys */
    SHAPE_PEAKED,   /* in between */
    SHAPE_PERIODIC, /* one pair that turns twice within the lags explains half of it */
    SHAPE_MIXED
} shape_kind;
/* "flat", "decaying", "rising", "backward", "forward", "peaked", "periodic", "mixed" */
const char *szgi_shape_name(shape_kind kind);

typedef struct kernel_shape {
    shape_kind kind;
    double least, greatest;        /* values at the lags */
    int64_t least_at, greatest_at; /* lags */
    int64_t carrier; /* of a periodic kernel the pair that explains most of it, else the pair whose
                      * own term varies most; -1: none varies */
    double wavelength; /* the carrier's, in positions; NaN without one */
} kernel_shape;

/* Of a kernel's values at the lags first .. first + count - 1: no carrier, and nothing periodic. */
SZG_CHECK_RESULT szg_status szgi_shape_of_values(szg_context *context, int64_t first, int64_t count,
                                                 const double *value, bool beyond_chance,
                                                 kernel_shape *out);

/* Of the lags of `moments`; flat where `beyond_chance` is false. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_shape_find(szg_context *context, const szgi_rotary *rotary,
                                            const lag_kernel *kernel, const lag_moments *moments,
                                            bool beyond_chance, kernel_shape *out);

#endif
