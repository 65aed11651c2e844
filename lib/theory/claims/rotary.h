/* Rotary logits of one pair of tokens, two ways: as a model computes them, and as Hadamard
 * products.
 */
#ifndef SZG_THEORY_ROTARY_H
#define SZG_THEORY_ROTARY_H

#include "identity.h"

enum { ROTARY_PAIRS = 3, ROTARY_CONTENT = 2 };

/* A query and a key with rotary pairs and content dimensions, at positions i and j. */
typedef struct token_pair {
    double q[2 * ROTARY_PAIRS], k[2 * ROTARY_PAIRS];
    double content_q[ROTARY_CONTENT], content_k[ROTARY_CONTENT];
    double theta[ROTARY_PAIRS];
    int64_t i, j;
} token_pair;

token_pair szgi_token_pair_draw(uint64_t seed, uint32_t purpose, int64_t trial);

/* sum_t q^(t) conj(k^(t)) e^{i (i - j) theta_t}, L = its real part (corrected Eq. 9-10); without
 * the conjugate where `plain`. */
void szgi_hadamard_sum(acb_t sum, const token_pair *t, bool plain);

/* Trials of: sum over pairs of (R_i q) . (R_j k), plus the content's q . k where wanted, is the
 * real part of the Hadamard sum, plus the same. */
identity szgi_rotary_trials(const claims_run *run, uint32_t purpose, bool content);

#endif
