/* The second code path: phases in integers, and the hypotheses of the claims. */
#include <string.h>

#include "base/memory.h"

#include "recheck.h"

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

static bool all_congruent(const certificate *c) {
    for (int64_t i = 0; i < c->phases; i++)
        for (int64_t j = 0; j < i; j++)
            if (!congruent(&c->theta[i], &c->theta[j], 1))
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
static bool some_shift(const certificate *c, int half) {
    int64_t grid = 1, first = 0;
    for (int64_t i = c->weights - 1; i >= 1; i--) {
        if (c->w[i] == 0.0)
            continue;
        int64_t q = denominator(&c->theta[i]);
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
        for (int64_t i = first; i < c->weights && fits; i++) {
            if (c->w[i] == 0.0)
                continue;
            int64_t angle = numerator(&c->theta[i]) * (grid / denominator(&c->theta[i])) + m;
            fits = (i * (angle % (2 * grid)) - half * grid) % (2 * grid) == 0;
        }
        if (fits)
            return true;
    }
    return false;
}

/* Phases that matter: all rational, or all the same float (0 here: it cancels). */
static bool shift_exists(const certificate *c, int half) {
    int64_t floats = 0, used = 0, last = 0;
    for (int64_t i = 1; i < c->weights; i++) {
        if (c->w[i] == 0.0)
            continue;
        bool is_float = !is_rational(&c->theta[i]);
        if (used && is_float && !congruent(&c->theta[i], &c->theta[last], 1))
            return false;
        floats += is_float;
        used++;
        last = i;
    }
    if (used <= 1)
        return true;
    if (floats == 0)
        return some_shift(c, half);
    return floats == used && half == 0;
}

/* w_0 is 0, or its phase an integer times pi. */
static bool real_diagonal(const certificate *c) {
    return c->w[0] == 0.0 ||
           (is_rational(&c->theta[0]) && numerator(&c->theta[0]) % denominator(&c->theta[0]) == 0);
}

static bool linear_phases(const certificate *c) {
    for (int64_t k = 2; k < c->phases; k++)
        if (!congruent(&c->theta[k], &c->theta[1], k))
            return false;
    return true;
}

bool szgi_recheck_equal(const certificate *c) {
    switch (c->left) {
    case Q_MAX_F:
        return shift_exists(c, 0) || (c->w[0] == 0.0 && shift_exists(c, 1));
    case Q_WIDTH_F:
        return shift_exists(c, 0);
    case Q_SPREAD_WE:
        return linear_phases(c);
    case Q_UNIT_MINOR: /* the moduli are 1: checked as a hypothesis */
    case Q_ALIBI_LAG:
    case Q_TAIL_LAG:
        return true;
    default:
        return false;
    }
}

/* ---- Hypotheses ---- */

static szg_status symbol_is_positive(szg_context *context, const certificate *c, bool *positive) {
    double *w = NULL;
    SZG_TRY(szgi_memory_alloc(context, c->weights, sizeof *w, &w));
    memcpy(w, c->w, (size_t)c->weights * sizeof *w);
    w[0] /= 2.0;
    szg_range range;
    szg_status status = szgi_ball_range_check(context, c->weights, w, NULL, SZG_PHASE_TIMES_INDEX,
                                              RECHECK_BITS, 1e-12, &range);
    szgi_memory_free(w);
    *positive = status == SZG_OK && range.min.lo > 0.0;
    return status;
}

static szg_status is_definite(szg_context *context, const certificate *c, bool *positive) {
    szgi_ball_matrix *matrix = NULL;
    int64_t below = 1, above = 0;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_recheck_matrix(context, c, false, &matrix), done);
    status = szgi_ball_matrix_inertia(context, matrix, 0.0, &below, &above);
    *positive = status == SZG_OK && below == 0 && above == c->n;
done:
    szgi_ball_matrix_close(&matrix);
    return status;
}

szg_status szgi_recheck_hypotheses(szg_context *context, int hypotheses, const certificate *c,
                                   bool *hold) {
    const szgi_phase zero = szgi_phase_ratio(0, 1);
    bool nonnegative = true, ones = true;
    for (int64_t i = 0; i < c->weights; i++) {
        nonnegative = nonnegative && c->w[i] >= 0.0;
        ones = ones && c->w[i] == 1.0;
    }
    *hold =
        (!(hypotheses & HYPOTHESIS_NONNEGATIVE) || nonnegative) &&
        (!(hypotheses & HYPOTHESIS_MODULI) || ones) &&
        (!(hypotheses & HYPOTHESIS_ALIGNED) || all_congruent(c)) &&
        (!(hypotheses & HYPOTHESIS_UNALIGNED) || !all_congruent(c)) &&
        (!(hypotheses & HYPOTHESIS_UNIT) || (c->phases > 0 && congruent(&c->theta[0], &zero, 1))) &&
        (!(hypotheses & HYPOTHESIS_RANK_ONE) || linear_phases(c)) &&
        (!(hypotheses & HYPOTHESIS_NONZERO) || (c->weights > 0 && c->w[c->weights - 1] != 0.0)) &&
        (!(hypotheses & HYPOTHESIS_HERMITIAN) || real_diagonal(c));
    if (*hold && (hypotheses & HYPOTHESIS_SYMBOL))
        SZG_TRY(symbol_is_positive(context, c, hold));
    if (*hold && (hypotheses & HYPOTHESIS_DEFINITE))
        SZG_TRY(is_definite(context, c, hold));
    return SZG_OK;
}
