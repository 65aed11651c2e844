/* Identities in ball arithmetic. */
#include <math.h>

#include "identity.h"

identity szgi_identity_start(const claims_run *run) {
    return (identity){.twist = run->twist};
}

static double bound(szg_interval x) {
    return fmax(fabs(x.lo), fabs(x.hi));
}

static bool excludes_zero(szg_interval x) {
    return !(x.lo <= 0.0 && x.hi >= 0.0);
}

void szgi_identity_compare(identity *id, arb_t left, const arb_t right) {
    if (id->twist != 0.0) /* left -> left (1 + twist) + twist */
        arb_set_d(left, (1.0 + id->twist) * szgi_interval_of(left).lo + id->twist);
    arb_sub(left, left, right, SZGI_BALL_BITS);
    szg_interval difference = szgi_interval_of(left);
    id->trials++;
    id->refuted += excludes_zero(difference);
    id->worst = fmin(id->worst, -bound(difference));
}

void szgi_identity_finding(const identity *id, finding *out) {
    szgi_finding_holds(out, id->trials, id->refuted, id->worst);
    szgi_finding_note(out, "margin -|left - right|, bounded in ball arithmetic");
}
