#include <float.h>
#include <math.h>

#include "maximum.h"

enum { SPLITS_MAX = 256, STACK_MAX = 96 };

/* b = coefficients about x0. */
static void shift(const taylor *t, const arb_t x0, arb_ptr b) {
    const int count = t->count;
    for (int q = 0; q < count; q++)
        arb_set(b + q, t->a + q);
    for (int i = 0; i < count - 1; i++)
        for (int q = count - 2; q >= i; q--)
            arb_addmul(b + q, x0, b + q + 1, t->bits);
}

/* The largest value of b_1 s + curvature s^2 over |s| <= radius: at the vertex, or at an end. */
static void quadratic_upper(arb_t out, const arb_t b1, const arb_t curvature, const arb_t radius,
                            slong bits) {
    arb_t slope, vertex;
    arb_init(slope);
    arb_init(vertex);
    arb_abs(slope, b1);
    arb_mul(out, curvature, radius, bits);
    arb_mul_si(vertex, out, -2, bits);
    if (arb_is_negative(curvature) && !arb_ge(slope, vertex)) {
        arb_mul(slope, b1, b1, bits);
        arb_div(out, slope, curvature, bits);
        arb_mul_2exp_si(out, out, -2);
        arb_neg(out, out);
    } else {
        arb_add(out, out, slope, bits);
        arb_mul(out, out, radius, bits);
    }
    arb_clear(slope);
    arb_clear(vertex);
}

/* b_2 + sum_{q > 2} |b_q| radius^(q-2): times s^2, it bounds all terms from b_2 s^2 on. */
static void curvature_upper(arb_t out, int count, arb_srcptr b, double radius, slong bits) {
    mag_t sum, size, reach;
    arf_t rest;
    mag_init(sum);
    mag_init(size);
    mag_init(reach);
    arf_init(rest);
    mag_set_d(reach, radius);
    for (int q = count - 1; q > 2; q--) {
        arb_get_mag(size, b + q);
        mag_add(sum, sum, size);
        mag_mul(sum, sum, reach);
    }
    arf_set_mag(rest, sum);
    arb_add_arf(out, b + 2, rest, bits);
    mag_clear(sum);
    mag_clear(size);
    mag_clear(reach);
    arf_clear(rest);
}

/* The polynomial about a point, over |s| <= radius. */
static void interval_upper(const taylor *t, arb_srcptr b, const arb_t curvature, double radius,
                           arf_t upper) {
    arb_t sum, reach;
    arb_init(sum);
    arb_init(reach);
    arb_set_d(reach, radius);
    quadratic_upper(sum, b + 1, curvature, reach, t->bits);
    arb_add(sum, sum, b, t->bits);
    arb_add_error_mag(sum, t->remainder);
    arb_get_ubound_arf(upper, sum, t->bits);
    arb_clear(sum);
    arb_clear(reach);
}

typedef struct piece {
    double at, radius; /* at is a multiple of radius, a power of two: halving is exact */
} piece;

/* x - b_1 / (2 b_2) into x, without error; false if that is not within the piece: its ends are
 * doubles, so that the double nearest to x tells. */
static bool step_to_vertex(const piece *where, arb_srcptr b, arb_t x, slong bits) {
    arb_t step;
    arb_init(step);
    arb_div(step, b + 1, b + 2, bits);
    arb_mul_2exp_si(step, step, -1);
    arb_sub(x, x, step, bits);
    mag_zero(arb_radref(x));
    arb_clear(step);
    return fabs(arf_get_d(arb_midref(x), ARF_RND_NEAR) - where->at) < where->radius;
}

/* The distance from x to the farther end of the piece, rounded up. */
static double reach_from(const piece *where, const arb_t x) {
    const double distance = fabs(arf_get_d(arb_midref(x), ARF_RND_NEAR) - where->at);
    return (where->radius + distance) * (1 + 8 * DBL_EPSILON) + 8 * DBL_EPSILON * fabs(where->at);
}

/* What is known of the maximum so far. */
typedef struct search {
    const taylor *t;
    arf_t lower; /* a value that is attained */
    arf_t slack; /* the search ends at lower + slack */
    arf_t limit; /* their sum */
} search;

static void search_init(search *s, const taylor *t, const arf_t lower, const arf_t tolerance) {
    s->t = t;
    arf_init(s->lower);
    arf_init(s->slack);
    arf_init(s->limit);
    arf_set(s->lower, lower);
    arf_set_mag(s->slack, t->remainder); /* value - remainder to value + remainder, and as much */
    arf_mul_2exp_si(s->slack, s->slack, 2);
    if (arf_cmp(s->slack, tolerance) < 0)
        arf_set(s->slack, tolerance);
    arf_add(s->limit, s->lower, s->slack, t->bits, ARF_RND_FLOOR);
}

static void search_clear(search *s) {
    arf_clear(s->lower);
    arf_clear(s->slack);
    arf_clear(s->limit);
}

/* The polynomial takes `value`, up to the remainder, at a point of the interval. */
static void raise_lower(search *s, const arb_t value) {
    arb_t sum;
    arf_t lower;
    arb_init(sum);
    arf_init(lower);
    arb_set(sum, value);
    arb_add_error_mag(sum, s->t->remainder);
    arb_get_lbound_arf(lower, sum, s->t->bits);
    if (arf_cmp(lower, s->lower) > 0) {
        arf_set(s->lower, lower);
        arf_add(s->limit, s->lower, s->slack, s->t->bits, ARF_RND_FLOOR);
    }
    arb_clear(sum);
    arf_clear(lower);
}

/* upper >= the polynomial in the piece: from its middle, and where it bends downwards there, from
 * the points of Newton's method, as long as they bring the bound nearer to the limit. */
static void piece_upper(search *s, const piece *where, arf_t upper) {
    const taylor *t = s->t;
    arb_ptr b = _arb_vec_init(t->count);
    arb_t x, curvature;
    arf_t next;
    arb_init(x);
    arb_init(curvature);
    arf_init(next);
    arb_set_d(x, where->at);
    arf_pos_inf(upper);
    for (;;) {
        const double reach = reach_from(where, x);
        shift(t, x, b);
        raise_lower(s, b);
        curvature_upper(curvature, t->count, b, reach, t->bits);
        interval_upper(t, b, curvature, reach, next);
        if (!(arf_cmp(next, upper) < 0))
            break;
        arf_set(upper, next);
        if (arf_cmp(upper, s->limit) <= 0 || !arb_is_negative(curvature) ||
            !step_to_vertex(where, b, x, t->bits))
            break;
    }
    _arb_vec_clear(b, t->count);
    arb_clear(x);
    arb_clear(curvature);
    arf_clear(next);
}

void szgi_taylor_raise(const taylor *t, double radius, const arf_t lower, const arf_t tolerance,
                       arf_t upper) {
    piece stack[STACK_MAX] = {{0, radius}};
    search s;
    arf_t bound;
    search_init(&s, t, lower, tolerance);
    arf_init(bound);
    int depth = 1;
    for (int splits = 0; depth > 0; splits++) {
        const piece top = stack[--depth];
        piece_upper(&s, &top, bound);
        if (arf_cmp(bound, s.lower) < 0)
            continue;
        if (arf_cmp(bound, s.limit) <= 0 || splits > SPLITS_MAX || depth + 2 > STACK_MAX) {
            if (arf_cmp(bound, upper) > 0)
                arf_set(upper, bound);
            continue;
        }
        const double half = top.radius / 2;
        stack[depth++] = (piece){top.at + half, half};
        stack[depth++] = (piece){top.at - half, half};
    }
    search_clear(&s);
    arf_clear(bound);
}
