/* Toeplitzness from the squares of the Toeplitz part and of the rest. */
#include <math.h>
#include "base/context.h"

#include "toeplitz_private.h"

/* tau = p / (p + r) has the digits of p near 0 and 1 - tau those of r near 1, as none cancel here:
 * how many those are, the errors of p and r say. With p', r' the true squares, |p' / (p' + r') - p
 * / (p + r)| = |p' (r - r') + r' (p' - p)| / ((p' + r') (p + r)), which is at most (tau' |r - r'| +
 * (1 - tau') |p - p'|) / (p + r). A first bound takes both shares for 1; the second knows by it how
 * near tau' is to an end. Sum and quotient round by 2 units. */
szg_status szgi_split_tau(szg_context *context, const szgi_split *split, szg_tau *out) {
    double whole = split->part + split->rest;
    *out = (szg_tau){NAN, NAN, false};
    if (!(whole > 0))
        return szgi_fail(context, SZG_EDOMAIN, "toeplitzness: the matrix is 0 and has none");
    double tau = split->part / whole;
    double error = (split->part_error + split->rest_error) / whole;
    double most = fmin(tau + error, 1), least = fmax(tau - error, 0);
    error = (most * split->rest_error + (1 - least) * split->part_error) / whole;
    *out = (szg_tau){tau, fmin(error + 2 * ROUNDING * tau, 1), false};
    return SZG_OK;
}

const char *szgi_tau_note(const szg_tau *tau) {
    return tau->sampled ? "1 - toeplitzness is a mean over 64 Gaussian vectors: its standard error "
                          "is 18% at most"
                        : NULL;
}
