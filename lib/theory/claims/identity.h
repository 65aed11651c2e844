/* Identities checked in guaranteed arithmetic: the difference of both sides must enclose 0. */
#ifndef SZG_THEORY_IDENTITY_H
#define SZG_THEORY_IDENTITY_H

#include "claim.h"

typedef struct identity {
    double twist;
    int64_t trials, refuted;
    double worst; /* least of -(bound of |left - right|) */
} identity;

identity szgi_identity_start(const claims_run *run);

/* One trial; `left` is overwritten. */
void szgi_identity_compare(identity *id, arb_t left, const arb_t right);
void szgi_identity_finding(const identity *id, finding *out);

#endif
