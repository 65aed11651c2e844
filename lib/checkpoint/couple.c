#include "toeplitz/toeplitz.h"
#include "checkpoint.h"

void szgi_pair_rows(const szgi_rotary *rotary, int64_t t, int64_t *first, int64_t *second) {
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    *first = rotary->offset + (half ? t : 2 * t);
    *second = *first + (half ? rotary->pairs : 1);
}

void szgi_checkpoint_pair_grams(const szgi_rotary *rotary, int64_t d, const double *rows,
                                szgi_pair_gram *out) {
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t first, second;
        szgi_pair_rows(rotary, t, &first, &second);
        const double *one = rows + first * d, *two = rows + second * d;
        out[t] = (szgi_pair_gram){.first = szgi_dot(d, one, one),
                                  .cross = szgi_dot(d, one, two),
                                  .second = szgi_dot(d, two, two)};
    }
}

/* ||Q^T K||_F^2 = tr((Q Q^T)(K K^T)). */
static double model_energy(const szgi_pair_gram *q, const szgi_pair_gram *k) {
    double sum = q->first * k->first + q->second * k->second + 2 * q->cross * k->cross;
    return sum > 0 ? sum : 0; /* not below 0 by rounding */
}

void szgi_checkpoint_couple(const szgi_rotary *rotary, int64_t e, const double *k_q,
                            const szgi_pair_gram *q, const szgi_pair_gram *k,
                            szgi_pair_coupling *out) {
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t first, second;
        szgi_pair_rows(rotary, t, &first, &second);
        double c11 = k_q[first * e + first], c12 = k_q[second * e + first];
        double c21 = k_q[first * e + second], c22 = k_q[second * e + second];
        szg_c64 turn = szgi_pair_wave(c11, c12, c21, c22);
        out[t] = (szgi_pair_coupling){
            .theta = rotary->theta[t],
            .rotation = {turn.re / 2, turn.im / 2},
            .reflection = {(c11 - c22) / 2, (c21 + c12) / 2},
            .energy = c11 * c11 + c12 * c12 + c21 * c21 + c22 * c22,
            .model_energy = model_energy(&q[t], &k[t]),
        };
    }
}
