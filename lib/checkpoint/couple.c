#include <inttypes.h>

#include "checkpoint_private.h"

static double dot(int64_t n, const double *x, const double *y) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* The rows of pair t within a head. */
static void pair_rows(const szgi_rotary *rotary, int64_t t, int64_t *first, int64_t *second) {
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    *first = rotary->offset + (half ? t : 2 * t);
    *second = *first + (half ? rotary->pairs : 1);
}

/* ||Q^T K||_F^2 = tr((Q Q^T)(K K^T)) for the 2 x d rows q1, q2 and k1, k2. */
static double model_energy(int64_t d, const double *q1, const double *q2, const double *k1,
                           const double *k2) {
    double cross = 2 * dot(d, q1, q2) * dot(d, k1, k2);
    double sum = dot(d, q1, q1) * dot(d, k1, k1) + dot(d, q2, q2) * dot(d, k2, k2) + cross;
    return sum > 0 ? sum : 0; /* not below 0 by rounding */
}

szg_status szgi_checkpoint_couple(szg_context *context, const szgi_rotary *rotary, int64_t d,
                                  const double *q, const double *k, szgi_pair_coupling *out) {
    if (d < 1)
        return szgi_fail(context, SZG_EINVAL, "model size %" PRId64 ": at least 1 is needed", d);
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t first, second;
        pair_rows(rotary, t, &first, &second);
        const double *q1 = q + first * d, *q2 = q + second * d;
        const double *k1 = k + first * d, *k2 = k + second * d;
        double c11 = dot(d, q1, k1), c12 = dot(d, q1, k2);
        double c21 = dot(d, q2, k1), c22 = dot(d, q2, k2);
        out[t] = (szgi_pair_coupling){
            .theta = rotary->theta[t],
            .rotation = {(c11 + c22) / 2, (c21 - c12) / 2},
            .reflection = {(c11 - c22) / 2, (c21 + c12) / 2},
            .energy = c11 * c11 + c12 * c12 + c21 * c21 + c22 * c22,
            .model_energy = model_energy(d, q1, q2, k1, k2),
        };
    }
    return SZG_OK;
}
