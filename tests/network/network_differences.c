/* Gradients against central differences on the oracle. */
#include "network_tests.h"

/* Where number i of a slot stands in the slot that it belongs to, whose gaps may be others; -1: in
 * a gap. */
static int64_t place_in(const op_trial *trial, const op_slot *from, int64_t i) {
    int64_t row = i / from->ld, column = i % from->ld;
    return column < from->columns ? row * trial->slot[from->of].ld + column : -1;
}

/* sum of seed * result over every result that has a seed; *size: the sum of the moduli. */
static double objective(op_trial *trial, double *size) {
    double *out[SLOTS], sum = 0;
    *size = 0;
    run_on(oracle(), trial, trial->forward, out);
    for (int s = 0; s < trial->slots; s++) {
        const op_slot *seed = &trial->slot[s];
        for (int64_t i = 0; seed->role == SLOT_SEED && i < seed->count; i++) {
            int64_t place = place_in(trial, seed, i);
            double term = place < 0 ? 0 : seed->values[i] * out[seed->of][place];
            sum += term;
            *size += fabs(term);
        }
    }
    free_run(trial, out);
    return sum;
}

static double difference(op_trial *trial, double *at, double step, double *size) {
    double old = *at;
    *at = old + step;
    double above = objective(trial, size);
    *at = old - step;
    double below = objective(trial, size);
    *at = old;
    return (above - below) / (2 * step);
}

/* The central difference D(h) errs by c h^2, where D(2h) - D(h) = 3 c h^2 up to h^4, and by the
 * objective's rounding, at most 2^10 eps of its terms here, over h. */
static void check_difference(op_trial *trial, int s, int64_t i, double got) {
    const double step = 1e-4;
    int64_t place = place_in(trial, &trial->slot[s], i);
    if (place < 0)
        return;
    double *at = &trial->slot[trial->slot[s].of].values[place];
    double size, once, twice;
    once = difference(trial, at, step, &size);
    twice = difference(trial, at, 2 * step, &size);
    double bound = fabs(twice - once) + 0x1p-42 * (size + 1) / step;
    ck_assert_msg(fabs(got - once) <= bound,
                  "%s[%lld] = %.12g, difference %.12g, error %.3g > %.3g", trial->slot[s].name,
                  (long long)i, got, once, got - once, bound);
}

void check_differences(op_trial *trial) {
    enum { SAMPLES = 40 };
    double *out[SLOTS];
    run_on(oracle(), trial, trial->forward, out);
    for (int s = 0; s < trial->slots; s++)
        if (trial->slot[s].role == SLOT_RESULT)
            memcpy(trial->slot[s].values, out[s], (size_t)trial->slot[s].count * sizeof(double));
    free_run(trial, out);
    run_on(oracle(), trial, trial->backward, out);
    for (int s = 0; s < trial->slots; s++) {
        op_slot *slot = &trial->slot[s];
        if (slot->role != SLOT_GRADIENT || slot->of < 0)
            continue;
        int64_t stride = 1 + slot->count / SAMPLES;
        for (int64_t i = 0; i < slot->count; i += stride)
            check_difference(trial, s, i, out[s][i] - (slot->adds ? slot->values[i] : 0));
    }
    free_run(trial, out);
}
