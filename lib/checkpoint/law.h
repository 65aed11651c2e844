/* The law of a head's queries and keys for isotropic tokens: docs/explanation/theory.md,
 * "Positional heads". */
#ifndef SZG_CHECKPOINT_LAW_H
#define SZG_CHECKPOINT_LAW_H

#include "share.h"
#include "token_sample.h"

/* The rows of a head with all gains, divided by 2^exponent, and what biases add, likewise but
 * without the gains of the norm of queries or keys. */
typedef struct law_side {
    const double *rows, *shift;
    const double *lower; /* [e, e]: rows = lower times orthonormal rows */
    int exponent;
} law_side;

/* Tokens behind the norm of the layer's input, without its gains and shift. */
typedef struct known_tokens {
    int64_t count;
    const double *value; /* [count, d] */
    const double *mean;  /* [d] */
} known_tokens;

/* What known tokens make of a key head, for all query heads of its group. */
typedef struct known_keys {
    bool made;
    double *mean, *covariance; /* [e], [e, e] */
} known_keys;

/* What a norm that does not belong to one head divides by, on one side of a layer. */
typedef struct norm_divisors {
    double root;   /* root mean square over isotropic tokens */
    double *tried; /* [token_sample.count]: of each token that norms are tried on; NULL: no norm */
    double *known; /* [known_tokens.count] */
} norm_divisors;

/* Of both sides: shared_norm.h. */
typedef struct shared_norm {
    const char *why; /* NULL, or why they are not known: static */
    double *memory;
    norm_divisors q, k;
} shared_norm;

typedef struct law_input {
    const szg_checkpoint *checkpoint;
    int64_t layer, head;
    const szgi_rotary *rotary;
    const token_sample *tokens;
    const known_tokens *known; /* NULL: the layer's tokens are not known */
    known_keys *keys;
    const shared_norm *shared; /* NULL: queries and keys have no norm but their head's own */
    law_side q, k;
    const double *k_q; /* [e, e]: rows of k times those of q */
} law_input;

/* Of one head; it owns its arrays. */
typedef struct isotropic_law {
    double *memory;
    double *rows;        /* [2, e, d]: q and k where they are not the caller's */
    const double *q, *k; /* [e, d]: rows, centred where the input's norm centres, and divided by
                          * the root mean square of queries or keys where a norm divides by
                          * theirs; the caller's own where neither does */
    double factor;       /* of their products in the covariances of one token */
    bool biased;         /* the means are not 0 */
    head_law law;
    head_law known; /* of the known tokens, without `cross` */
} isotropic_law;

/* f of the covariance f I, or f P, of isotropic tokens. */
double szgi_isotropic_factor(const szg_checkpoint *checkpoint);

/* A head's rows as the weights have them, without scale and rotary amplitude, and the projection's
 * bias, [e]. SZG_EDATA, SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_law_raw_rows(szg_context *context,
                                              const szg_checkpoint *checkpoint, int64_t layer,
                                              bool query, int64_t head, double *rows, double *bias);

/* W P: the mean of each row is subtracted. */
void szgi_centre_rows(int64_t e, int64_t d, double *rows);

/* NULL, or why there is no such law of this layer. */
const char *szgi_law_refusal(const szg_checkpoint *checkpoint, int64_t layer);

/* SZG_EDATA: a gain of queries or keys that is 0 or no number; SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_law_open(szg_context *context, const law_input *input,
                                          isotropic_law *out);
void szgi_law_close(isotropic_law *law);

#endif
