/* L2c: equality in Lemma B.1, decided in integers. docs/explanation/theory.md has the proof. */
#include "enclose.h"

#include "base/memory.h"

__extension__ typedef __int128 wide;

bool szgi_lemma_aligned(int64_t count, const szgi_phase *theta) {
    for (int64_t i = 1; i < count; i++)
        if (!szgi_phase_congruent(&theta[0], &theta[i], 1))
            return false;
    return true;
}

/* A float zero is the rational 0: then only nonzero floats are irrational multiples of pi. */
static szgi_phase exact_phase(const szgi_phase *phase) {
    return !phase->rational && phase->radians == 0.0 ? szgi_phase_ratio(0, 1) : *phase;
}

/* Positive remainder. */
static int64_t modulo(int64_t p, int64_t m) {
    int64_t r = p % m;
    return r < 0 ? r + m : r;
}

/* theta_i = p_i pi / q_i; the candidates for t = x pi that make index `first` right are
 * x = -p/q + (2 m + half) / first, m = 0 .. first - 1. Is candidate m right at index i: is
 * i (p_i / q_i + x) = half modulo 2? */
static bool candidate_fits(int64_t i, const szgi_phase *at_i, int64_t first,
                           const szgi_phase *at_first, int64_t m, int half) {
    wide pi = modulo(at_i->p, 2 * at_i->q), qi = at_i->q;
    wide pf = modulo(at_first->p, 2 * at_first->q), qf = at_first->q;
    wide denominator = qi * qf * first;
    wide numerator = pi * qf * first - pf * qi * first + (2 * (wide)m + half) * qi * qf;
    /* i numerator / denominator - half = 0 mod 2, reduced so that nothing overflows 2^127 */
    numerator %= 2 * denominator;
    return (i * numerator - half * denominator) % (2 * denominator) == 0;
}

static bool rational_shift(int64_t count, const double *w, const szgi_phase *theta, int64_t first,
                           int half) {
    szgi_phase at_first = exact_phase(&theta[first]);
    for (int64_t m = 0; m < first; m++) {
        bool fits = true;
        for (int64_t i = first + 1; i < count && fits; i++) {
            szgi_phase at_i = exact_phase(&theta[i]);
            fits = w[i] == 0.0 || candidate_fits(i, &at_i, first, &at_first, m, half);
        }
        if (fits)
            return true;
    }
    return false;
}

szg_status szgi_lemma_shift(szg_context *context, int64_t count, const double *w,
                            const szgi_phase *theta, int half, bool *exists) {
    int64_t first = 0, used = 0, floats = 0;
    bool identical = true;
    for (int64_t i = 1; i < count; i++) {
        if (w[i] == 0.0)
            continue;
        first = used++ ? first : i;
        szgi_phase phase = exact_phase(&theta[i]);
        if (phase.rational && (phase.q < 1 || phase.q > INSTANCE_PHASE_MAX))
            return szgi_fail(context, SZG_ENOCONV,
                             "phase %lld: denominator %lld is outside 1 .. 2^40, equality is not "
                             "decided",
                             (long long)i, (long long)phase.q);
        floats += !phase.rational;
        identical = identical && !phase.rational && !theta[first].rational &&
                    phase.radians == theta[first].radians;
    }
    /* One index leaves t free. A nonzero float among rationals, or beside another float, differs
     * from it by no rational multiple of pi. */
    if (used <= 1)
        *exists = true;
    else if (floats > 0)
        *exists = floats == used && identical && half == 0;
    else
        *exists = rational_shift(count, w, theta, first, half);
    /* Identical floats and half = 1: i (theta + t) = pi for all i; theta cancels, as if it were 0.
     */
    if (used > 1 && floats == used && identical && half == 1) {
        szgi_phase *zero = NULL;
        SZG_TRY(szgi_memory_alloc(context, count, &zero));
        for (int64_t i = 0; i < count; i++)
            zero[i] = szgi_phase_ratio(0, 1);
        *exists = rational_shift(count, w, zero, first, half);
        szgi_memory_free(zero);
    }
    return SZG_OK;
}

szg_status szgi_lemma_equality(szg_context *context, int64_t count, const double *w,
                               const szgi_phase *theta, bool *equality) {
    SZG_TRY(szgi_lemma_shift(context, count, w, theta, 0, equality));
    if (!*equality && w[0] == 0.0)
        SZG_TRY(szgi_lemma_shift(context, count, w, theta, 1, equality));
    return SZG_OK;
}
