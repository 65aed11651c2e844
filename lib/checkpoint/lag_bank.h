/* Profiles over the lag that a model has trained, and what a head mixes of them:
 * docs/explanation/theory.md, "Profiles of the lag". */
#ifndef SZG_CHECKPOINT_LAG_BANK_H
#define SZG_CHECKPOINT_LAG_BANK_H

#include "checkpoint_private.h"

/* Certified range of |sum_k a_k e^{ikt}| over `count` lags in a row: the first one does not change
 * it, and zeros at both ends cost nothing. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_profile_symbol(szg_context *context, int64_t count,
                                                const double *value, szg_range *out);

/* The profiles that the queries of a layer mix. It owns its arrays. */
typedef struct lag_bank {
    int64_t profiles, lags;
    double *memory;
    double *value;     /* [profiles, lags] */
    szg_range *symbol; /* [profiles] */
    int64_t grid;      /* points of the circle: the first grid / 2 + 1 have values below */
    double *re, *im;   /* [grid / 2 + 1, profiles]: symbols at the points */
    double *rounding;  /* [profiles]: of those, in modulus */
} lag_bank;

/* The bank of a layer. SZG_EDATA: a tensor of another shape, a number that is not finite, or axes
 * that cannot be told apart; SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_bank_open(szg_context *context,
                                               const szg_checkpoint *checkpoint, int64_t layer,
                                               lag_bank *out);
void szgi_lag_bank_close(lag_bank *bank);

/* What a head can make of a bank, over all queries behind the input's norm. */
typedef struct lag_mixture {
    double bias;         /* no bias is larger in modulus, and one is as large */
    int64_t bias_lag;    /* at this lag */
    szg_interval symbol; /* largest |symbol| of one query's profile */
    double theta;        /* near the angle where it is reached */
    double norm;         /* no matrix of biases has a larger spectral norm, of any size */
    double sum;          /* the same from the norms of single profiles */
} lag_mixture;

/* Of a head with these rows of weights, [profiles, d] with the gains of the input's norm folded in;
 * `error` bounds the Frobenius norm of their rounding. SZG_EDATA: numbers beyond doubles. */
SZG_CHECK_RESULT szg_status szgi_lag_mixture_find(szg_context *context, const lag_bank *bank,
                                                  int64_t d, const double *weights, double error,
                                                  lag_mixture *out);

#endif
