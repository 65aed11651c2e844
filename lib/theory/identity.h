/* Identities checked in guaranteed arithmetic: the difference of both sides must enclose 0. */
#ifndef SZG_THEORY_IDENTITY_H
#define SZG_THEORY_IDENTITY_H

#include "claims_private.h"

typedef struct identity {
    szgi_balls *balls;
    double twist;
    int64_t trials, refuted;
    double worst; /* least of -(bound of |left - right|) */
} identity;

SZG_CHECK_RESULT szg_status szgi_identity_open(claims_run *run, int64_t registers, identity *out);
void szgi_identity_close(identity *id);

/* One trial: registers `left` and `right` (complex). `left` is overwritten. */
SZG_CHECK_RESULT szg_status szgi_identity_compare(szg_context *context, identity *id, int64_t left,
                                                  int64_t right);
void szgi_identity_finding(const identity *id, finding *out);

/* Shorthands over the registers. */
SZG_CHECK_RESULT szg_status szgi_balls_zero(szg_context *context, szgi_balls *balls, int64_t r);
SZG_CHECK_RESULT szg_status szgi_balls_number(szg_context *context, szgi_balls *balls, int64_t r,
                                              double x);
/* r += x y */
SZG_CHECK_RESULT szg_status szgi_balls_accumulate(szg_context *context, szgi_balls *balls,
                                                  int64_t r, int64_t x, int64_t y, int64_t scratch);

#endif
