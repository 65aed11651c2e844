/* The range once more, from the definition: each cosine by Arb, the third derivative by the
 * triangle inequality, branch and bound. Shares no step with range.c. */
#include <inttypes.h>
#include <math.h>

#include "ball/arb.h"

enum { COUNT_MAX = 4096, CELLS_PER_LAG = 8, SPLITS_PER_LAG = 512, STACK_MAX = 96 };

/* f(t) = sum 2 w_i cos(angle_i + i t). */
typedef struct cosines {
    int64_t count;
    slong bits;
    arb_ptr weight, angle;
    arb_t value[3]; /* f, f', f'' at the latest point */
    arb_t third;    /* sum 2 |w_i| i^3 >= |f'''| */
    arb_t size;     /* sum 2 |w_i| */
} cosines;

static void cosines_clear(cosines *c) {
    _arb_vec_clear(c->weight, (slong)c->count);
    _arb_vec_clear(c->angle, (slong)c->count);
    for (int q = 0; q < 3; q++)
        arb_clear(c->value[q]);
    arb_clear(c->third);
    arb_clear(c->size);
}

static void set_bounds(cosines *c) {
    arb_t term;
    arb_init(term);
    for (int64_t i = 0; i < c->count; i++) {
        arb_abs(term, c->weight + i);
        arb_add(c->size, c->size, term, c->bits);
        for (int power = 0; power < 3; power++)
            arb_mul_si(term, term, (slong)i, c->bits);
        arb_add(c->third, c->third, term, c->bits);
    }
    arb_clear(term);
}

static szg_status set_terms(szg_context *context, const double *w, const szgi_phase *theta,
                            szgi_phase_mode mode, cosines *c) {
    for (int64_t i = 0; i < c->count; i++) {
        if (!isfinite(w[i]))
            return szgi_fail(context, SZG_EDATA, "weight %" PRId64 " is not finite (%g)", i, w[i]);
        arb_set_d(c->weight + i, w[i]);
        arb_mul_2exp_si(c->weight + i, c->weight + i, 1);
        if (!theta)
            continue;
        SZG_TRY(szgi_check_phase(context, theta + i, "phase", i));
        szgi_phase_angle(c->angle + i, theta + i, c->bits + 64);
        if (mode == SZGI_PHASE_TIMES_INDEX)
            arb_mul_si(c->angle + i, c->angle + i, (slong)i, c->bits + 64);
    }
    set_bounds(c);
    return SZG_OK;
}

static szg_status cosines_init(szg_context *context, int64_t count, const double *w,
                               const szgi_phase *theta, szgi_phase_mode mode, int64_t bits,
                               cosines *out) {
    SZG_TRY(szgi_check_bits(context, bits));
    if (count < 1 || count > COUNT_MAX)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " cosines are outside 1 .. %d", count,
                         COUNT_MAX);
    *out = (cosines){.count = count, .bits = (slong)bits};
    out->weight = _arb_vec_init((slong)count);
    out->angle = _arb_vec_init((slong)count);
    for (int q = 0; q < 3; q++)
        arb_init(out->value[q]);
    arb_init(out->third);
    arb_init(out->size);
    szg_status status = set_terms(context, w, theta, mode, out);
    if (status != SZG_OK)
        cosines_clear(out);
    return status;
}

/* f, f' and f'' at t. */
static void evaluate(cosines *c, const arb_t t) {
    arb_t x, sine, cosine;
    arb_init(x);
    arb_init(sine);
    arb_init(cosine);
    for (int q = 0; q < 3; q++)
        arb_zero(c->value[q]);
    for (int64_t i = 0; i < c->count; i++) {
        arb_mul_si(x, t, (slong)i, c->bits + 64);
        arb_add(x, x, c->angle + i, c->bits + 64);
        arb_sin_cos(sine, cosine, x, c->bits);
        arb_mul(cosine, cosine, c->weight + i, c->bits);
        arb_mul(sine, sine, c->weight + i, c->bits);
        arb_add(c->value[0], c->value[0], cosine, c->bits);
        arb_submul_ui(c->value[1], sine, (ulong)i, c->bits);
        arb_mul_ui(cosine, cosine, (ulong)i, c->bits);
        arb_submul_ui(c->value[2], cosine, (ulong)i, c->bits);
    }
    arb_clear(x);
    arb_clear(sine);
    arb_clear(cosine);
}

/* An upper bound of sign f over |t - point| <= radius from the values at the point: endpoint or
 * vertex of the quadratic, third radius^3 / 6 for the rest. */
static void upper_bound(const cosines *c, int sign, double radius, arf_t upper) {
    arb_t h, slope, curve, sum, rest;
    arb_init(h);
    arb_init(slope);
    arb_init(curve);
    arb_init(sum);
    arb_init(rest);
    arb_set_d(h, radius);
    arb_abs(slope, c->value[1]);
    arb_mul_si(curve, c->value[2], sign, c->bits);
    arb_mul(sum, curve, h, c->bits);
    arb_neg(rest, sum);
    if (arb_is_positive(rest) && arb_lt(slope, rest)) {
        arb_mul(sum, slope, slope, c->bits); /* vertex inside */
        arb_div(sum, sum, curve, c->bits);
        arb_mul_2exp_si(sum, sum, -1);
        arb_neg(sum, sum);
    } else {
        arb_mul_2exp_si(sum, sum, -1);
        arb_add(sum, sum, slope, c->bits);
        arb_mul(sum, sum, h, c->bits);
    }
    arb_pow_ui(rest, h, 3, c->bits);
    arb_mul(rest, rest, c->third, c->bits);
    arb_div_ui(rest, rest, 6, c->bits);
    arb_add(sum, sum, rest, c->bits);
    arb_addmul_si(sum, c->value[0], sign, c->bits);
    arb_get_ubound_arf(upper, sum, c->bits);
    arb_clear(h);
    arb_clear(slope);
    arb_clear(curve);
    arb_clear(sum);
    arb_clear(rest);
}

typedef struct cell {
    double at, radius;
} cell;

/* Evaluates at cell.at; raises `lower`, which sign f attains there, and moves `theta` with it. */
static void visit(cosines *c, int sign, cell where, arf_t lower, double *theta, arf_t upper) {
    arb_t t;
    arf_t low;
    arb_init(t);
    arf_init(low);
    arb_set_d(t, where.at);
    evaluate(c, t);
    upper_bound(c, sign, where.radius, upper);
    arb_mul_si(t, c->value[0], sign, c->bits);
    arb_get_lbound_arf(low, t, c->bits);
    if (arf_cmp(low, lower) > 0) {
        arf_set(lower, low);
        *theta = where.at;
    }
    arb_clear(t);
    arf_clear(low);
}

/* What one search for the maximum of sign f keeps. */
typedef struct search {
    cosines *c;
    int sign;
    int64_t splits; /* left */
    arf_t lower, upper, tolerance, latest;
    double theta;
} search;

static bool good_enough(search *s) {
    arf_t limit;
    arf_init(limit);
    arf_add(limit, s->lower, s->tolerance, s->c->bits, ARF_RND_DOWN);
    bool good = arf_cmp(s->latest, limit) <= 0;
    arf_clear(limit);
    return good;
}

static szg_status split(szg_context *context, search *s, cell start) {
    cell stack[STACK_MAX] = {start};
    int depth = 1;
    while (depth > 0) {
        const cell top = stack[--depth];
        visit(s->c, s->sign, top, s->lower, &s->theta, s->latest);
        if (arf_cmp(s->latest, s->lower) < 0)
            continue;
        if (good_enough(s) || s->splits-- <= 0 || depth + 2 > STACK_MAX) {
            if (arf_cmp(s->latest, s->upper) > 0)
                arf_set(s->upper, s->latest);
            continue;
        }
        const double half = top.radius / 2;
        stack[depth++] = (cell){top.at + half, half};
        stack[depth++] = (cell){top.at - half, half};
    }
    return szgi_context_check_cancel(context);
}

/* Cells [2k radius, 2(k+1) radius) with a radius of few bits, so that halving is exact; they cover
 * [0, 2 pi]: 6.2831853072 > 2 pi. */
static szg_status search_cells(szg_context *context, search *s) {
    const double radius = exp2(floor(log2(3.2 / (CELLS_PER_LAG * (double)s->c->count))));
    const int64_t cells = (int64_t)(6.2831853072 / (2 * radius)) + 1;
    szg_status status = SZG_OK;
    for (int64_t k = 0; k < cells && status == SZG_OK; k++) {
        visit(s->c, s->sign, (cell){(2 * (double)k + 1) * radius, radius}, s->lower, &s->theta,
              s->latest);
        status = szgi_context_check_cancel(context);
    }
    arf_set(s->upper, s->lower);
    for (int64_t k = 0; k < cells && status == SZG_OK; k++)
        status = split(context, s, (cell){(2 * (double)k + 1) * radius, radius});
    return status;
}

static szg_status search_maximum(szg_context *context, cosines *c, int sign, double tolerance,
                                 szg_interval *out, double *theta) {
    search s = {.c = c, .sign = sign, .splits = SPLITS_PER_LAG * (c->count + 8)};
    arf_init(s.lower);
    arf_init(s.upper);
    arf_init(s.tolerance);
    arf_init(s.latest);
    arf_neg_inf(s.lower);
    arf_set_d(s.tolerance, tolerance);
    arf_mul(s.tolerance, s.tolerance, arb_midref(c->size), c->bits, ARF_RND_DOWN);
    szg_status status = search_cells(context, &s);
    out->lo = szgi_lower_double(s.lower);
    out->hi = szgi_upper_double(s.upper);
    *theta = s.theta;
    arf_clear(s.lower);
    arf_clear(s.upper);
    arf_clear(s.tolerance);
    arf_clear(s.latest);
    return status;
}

szg_status szgi_ball_range_check(szg_context *context, int64_t count, const double *w,
                                 const szgi_phase *theta, szgi_phase_mode mode, int64_t bits,
                                 double tolerance, szg_range *out) {
    if (!(tolerance >= 1e-15 && tolerance <= 1e-3))
        return szgi_fail(context, SZG_EINVAL, "a tolerance of %g is outside 1e-15 .. 1e-3",
                         tolerance);
    cosines c;
    szg_interval negated;
    SZG_TRY(cosines_init(context, count, w, theta, mode, bits, &c));
    szg_status status = search_maximum(context, &c, 1, tolerance, &out->max, &out->theta_max);
    if (status == SZG_OK)
        status = search_maximum(context, &c, -1, tolerance, &negated, &out->theta_min);
    cosines_clear(&c);
    if (status != SZG_OK)
        return status;
    out->min = (szg_interval){-negated.hi, -negated.lo};
    out->method = "triangle inequality for the third derivative, branch and bound, ball arithmetic";
    return SZG_OK;
}
