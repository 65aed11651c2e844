/* The second code path: hypotheses of the claims and equalities, phases in integers. Shares no step
 * with enclose_exact.c and criterion.c. */
#include <string.h>

#include "base/memory.h"

#include "recheck.h"
#include "refutation.h"

__extension__ typedef __int128 wide;

/* ---- Phases in integers ---- */

static bool is_rational(const szgi_phase *x) {
    return x->rational || x->radians == 0.0;
}

static int64_t numerator(const szgi_phase *x) {
    return x->rational ? x->p % (2 * x->q) : 0;
}

static int64_t denominator(const szgi_phase *x) {
    return x->rational ? x->q : 1;
}

/* a = multiplier b modulo 2 pi. */
static bool congruent(const szgi_phase *a, const szgi_phase *b, int64_t multiplier) {
    if (is_rational(a) != is_rational(b))
        return false;
    if (!is_rational(a))
        return multiplier == 1 && a->radians == b->radians;
    wide qa = denominator(a), qb = denominator(b);
    return (numerator(a) * qb - (wide)multiplier * numerator(b) * qa) % (2 * qa * qb) == 0;
}

static bool all_congruent(const instance *at) {
    for (int64_t i = 0; i < at->phases; i++)
        for (int64_t j = 0; j < i; j++)
            if (!congruent(&at->theta[i], &at->theta[j], 1))
                return false;
    return true;
}

static int64_t gcd(int64_t a, int64_t b) {
    return b ? gcd(b, a % b) : a;
}

enum { MOST_SHIFTS = 1 << 22 };

/* Every shift t = m pi / grid, grid a common multiple of the denominators times the first index, is
 * tried: i (theta_i + t) = half pi modulo 2 pi in integers modulo 2 grid. False where the grid
 * would be too fine to try: then nothing is confirmed. */
static bool some_shift(const instance *at, int half) {
    int64_t grid = 1, first = 0;
    for (int64_t i = at->weights - 1; i >= 1; i--) {
        if (at->w[i] == 0.0)
            continue;
        int64_t q = denominator(&at->theta[i]);
        if (q > MOST_SHIFTS || grid / gcd(grid, q) * q > MOST_SHIFTS)
            return false;
        grid = grid / gcd(grid, q) * q;
        first = i;
    }
    if (first == 0)
        return true;
    grid *= first;
    for (int64_t m = 0; m < 2 * grid && grid <= MOST_SHIFTS; m++) {
        bool fits = true;
        for (int64_t i = first; i < at->weights && fits; i++) {
            if (at->w[i] == 0.0)
                continue;
            int64_t angle = numerator(&at->theta[i]) * (grid / denominator(&at->theta[i])) + m;
            fits = (i * (angle % (2 * grid)) - half * grid) % (2 * grid) == 0;
        }
        if (fits)
            return true;
    }
    return false;
}

/* Phases that matter: all rational, or all the same float (0 here: it cancels). */
static bool shift_exists(const instance *at, int half) {
    int64_t floats = 0, used = 0, last = 0;
    for (int64_t i = 1; i < at->weights; i++) {
        if (at->w[i] == 0.0)
            continue;
        bool is_float = !is_rational(&at->theta[i]);
        if (used && is_float && !congruent(&at->theta[i], &at->theta[last], 1))
            return false;
        floats += is_float;
        used++;
        last = i;
    }
    if (used <= 1)
        return true;
    if (floats == 0)
        return some_shift(at, half);
    return floats == used && half == 0;
}

static bool linear_phases(const instance *at) {
    for (int64_t k = 2; k < at->phases; k++)
        if (!congruent(&at->theta[k], &at->theta[1], k))
            return false;
    return true;
}

/* ---- Equalities ---- */

bool szgi_recheck_equal_maximum(const instance *at) {
    return shift_exists(at, 0) || (at->w[0] == 0.0 && shift_exists(at, 1));
}

bool szgi_recheck_equal_widths(const instance *at) {
    return shift_exists(at, 0);
}

bool szgi_recheck_equal_spectra(const instance *at) {
    return linear_phases(at);
}

/* The moduli are 1: a hypothesis. */
bool szgi_recheck_equal_zero_minor(const instance *at) {
    (void)at;
    return true;
}

bool szgi_recheck_equal_by_statement(const instance *at) {
    (void)at;
    return true;
}

/* ---- Hypotheses ---- */

bool szgi_recheck_hold_nonnegative(const instance *at) {
    bool holds = true;
    for (int64_t i = 0; i < at->weights; i++)
        holds = holds && at->w[i] >= 0.0;
    return holds;
}

bool szgi_recheck_hold_moduli(const instance *at) {
    bool holds = true;
    for (int64_t i = 0; i < at->weights; i++)
        holds = holds && at->w[i] == 1.0;
    return holds;
}

bool szgi_recheck_hold_nonzero(const instance *at) {
    return at->weights > 0 && at->w[at->weights - 1] != 0.0;
}

bool szgi_recheck_hold_aligned(const instance *at) {
    return all_congruent(at);
}

bool szgi_recheck_hold_unaligned(const instance *at) {
    return !all_congruent(at);
}

bool szgi_recheck_hold_unit(const instance *at) {
    const szgi_phase zero = szgi_phase_ratio(0, 1);
    return at->phases > 0 && congruent(&at->theta[0], &zero, 1);
}

bool szgi_recheck_hold_rank_one(const instance *at) {
    return linear_phases(at);
}

/* w_0 is 0, or its phase an integer times pi. */
bool szgi_recheck_hold_hermitian(const instance *at) {
    return at->w[0] == 0.0 || (is_rational(&at->theta[0]) &&
                               numerator(&at->theta[0]) % denominator(&at->theta[0]) == 0);
}

szg_status szgi_recheck_hold_positive_symbol(szg_context *context, const instance *at,
                                             bool *holds) {
    double *w = NULL;
    SZG_TRY(szgi_memory_alloc(context, at->weights, &w));
    memcpy(w, at->w, (size_t)at->weights * sizeof *w);
    w[0] /= 2.0;
    szg_range range;
    szg_status status = szgi_ball_range_check(context, at->weights, w, NULL, SZGI_PHASE_TIMES_INDEX,
                                              RECHECK_BITS, 1e-12, &range);
    szgi_memory_free(w);
    *holds = status == SZG_OK && range.min.lo > 0.0;
    return status;
}

szg_status szgi_recheck_hold_definite(szg_context *context, const instance *at, bool *holds) {
    szgi_ball_matrix *matrix = NULL;
    int64_t below = 1, above = 0;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_recheck_matrix(context, at, false, &matrix), done);
    status = szgi_ball_matrix_inertia(context, matrix, 0.0, &below, &above);
    *holds = status == SZG_OK && below == 0 && above == at->n;
done:
    szgi_ball_matrix_close(&matrix);
    return status;
}
