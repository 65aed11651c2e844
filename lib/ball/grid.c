#include <string.h>
#include <tgmath.h>

#include "grid.h"

/* pi degree / size lies in (pi/8, pi/4] for large degrees. */
enum { CELLS_PER_DEGREE = 4, CELLS_MIN = 64 };

/* Upper bounds of e^x and e^2x for x <= pi/4. */
static const real EXP_X = 2.2L, EXP_2X = 4.9L;

static int64_t grid_size(int64_t degree) {
    int64_t size = CELLS_MIN;
    while (size < CELLS_PER_DEGREE * degree)
        size *= 2;
    return size;
}

/* x^order / order! rounded up. */
static real taylor_weight(real x, int order) {
    real weight = 1;
    for (int i = 1; i <= order; i++)
        weight *= x / i;
    return weight * (1 + 4 * order * ROUNDOFF);
}

/* Enough terms that the remainder drowns in the rounding errors of the transform. */
static int orders_for(real half_width) {
    int orders = 6;
    while (orders < ORDERS_MAX - 2 && taylor_weight(half_width, orders) > 4 * ROUNDOFF)
        orders += 2;
    return orders;
}

static int64_t largest_exponent(const polynomial *p) {
    slong largest = WORD_MIN;
    for (int64_t k = 1; k <= p->degree; k++) {
        slong re = arf_abs_bound_lt_2exp_si(arb_midref(acb_realref(p->c + k)));
        slong im = arf_abs_bound_lt_2exp_si(arb_midref(acb_imagref(p->c + k)));
        largest = re > largest ? re : largest;
        largest = im > largest ? im : largest;
    }
    return largest;
}

static real scaled(const arb_t x, int64_t exponent) {
    arf_t y;
    arf_init(y);
    arf_mul_2exp_si(y, arb_midref(x), (slong)-exponent);
    real out = szgi_real_of(y);
    arf_clear(y);
    return out;
}

typedef struct norms {
    real one, two_squared; /* of the two-sided coefficients */
} norms;

/* Norms of the coefficients times (k / degree)^shift. */
static norms coefficient_norms(const grid *g, int shift) {
    norms sum = {0};
    for (int64_t k = 1; k <= g->degree; k++) {
        const pair c = g->coefficient[k];
        real square = c.re * c.re + c.im * c.im;
        const real ratio = (real)k / (real)g->degree;
        for (int i = 0; i < shift; i++)
            square *= ratio * ratio;
        sum.one += 2 * sqrt(square);
        sum.two_squared += 2 * square;
    }
    real slack = 1 + 8 * (real)(g->degree + 8) * ROUNDOFF;
    return (norms){sum.one * slack + LDBL_MIN, sum.two_squared * slack + LDBL_MIN};
}

static void tighten(grid *g, int p, real bound) {
    g->bound[p] = fmin(g->bound[p], bound);
}

szg_status szgi_grid_open(szg_context *context, const polynomial *p, grid *out) {
    const real pi = 3.14159265358979323846264338327950288L;
    *out = (grid){.degree = p->degree, .size = grid_size(p->degree)};
    out->half_width = pi * (real)out->degree / (real)out->size * (1 + 16 * ROUNDOFF);
    out->orders = orders_for(out->half_width);
    out->exponent = largest_exponent(p);
    for (int i = 0; i <= ORDERS_MAX; i++)
        out->bound[i] = INFINITY;
    szg_status status;
    SZG_TRY_GOTO(status,
                 szgi_memory_require(context, out->size, 1, 8 * sizeof(pair),
                                     "the grid of a symbol", "use fewer lags"),
                 fail);
    SZG_TRY_GOTO(status, szgi_ball_fft_open(context, out->size, &out->plan), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, out->size, &out->value), fail);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, p->degree + 1, &out->coefficient), fail);
    for (int64_t k = 1; k <= p->degree; k++)
        out->coefficient[k] = (pair){scaled(acb_realref(p->c + k), out->exponent),
                                     scaled(acb_imagref(p->c + k), out->exponent)};
    return SZG_OK;
fail:
    szgi_grid_close(out);
    return status;
}

void szgi_grid_close(grid *g) {
    szgi_ball_fft_close(&g->plan);
    szgi_memory_free(g->coefficient);
    szgi_memory_free(g->value);
    *g = (grid){0};
}

/* i^p c for p = 0, 1, 2, ... */
static pair quarter_turns(pair c, int p) {
    switch (p % 4) {
    case 0:
        return c;
    case 1:
        return (pair){-c.im, c.re};
    case 2:
        return (pair){-c.re, -c.im};
    default:
        return (pair){c.im, -c.re};
    }
}

/* Lag k of F_p + i F_{p+1} is a + i b, lag -k is conj a + i conj b, where a and b belong to F_p and
 * F_{p+1}; then the coefficients move on to p + 2. */
static void scatter(grid *g, int p) {
    memset(g->value, 0, (size_t)g->size * sizeof *g->value);
    for (int64_t k = 1; k <= g->degree; k++) {
        const real ratio = (real)k / (real)g->degree;
        pair c = g->coefficient[k];
        pair a = quarter_turns(c, p);
        pair b = quarter_turns((pair){c.re * ratio, c.im * ratio}, p + 1);
        g->value[szgi_ball_fft_place(&g->plan, k)] = (pair){a.re - b.im, a.im + b.re};
        g->value[szgi_ball_fft_place(&g->plan, g->size - k)] = (pair){a.re + b.im, b.re - a.im};
        g->coefficient[k] = (pair){c.re * ratio * ratio, c.im * ratio * ratio};
    }
}

/* M. Riesz: near its largest modulus, at distance s, |F| >= max |F| cos(degree s), and the grid has
 * a point within half a cell. */
static void bound_from_grid(grid *g, int p) {
    real re = 0, im = 0;
    for (int64_t j = 0; j < g->size; j++) {
        re = fmax(re, fabs(g->value[j].re));
        im = fmax(im, fabs(g->value[j].im));
    }
    const real slack = 1 + 64 * ROUNDOFF;
    const real cosine = 1 - g->half_width * g->half_width / 2;
    tighten(g, p, (re + g->error) / cosine * slack);
    tighten(g, p + 1, fmin(g->bound[p], (im + g->error) / cosine * slack));
    tighten(g, p + 2, g->bound[p + 1]);
}

szg_status szgi_grid_next(szg_context *context, grid *g, int p) {
    const norms first = coefficient_norms(g, 0), second = coefficient_norms(g, 1);
    const norms third = coefficient_norms(g, 2);
    const real one = first.one + second.one;
    const real two = sqrt((real)g->size * (first.two_squared + second.two_squared));
    const real rounding =
        szgi_ball_fft_error(&g->plan) * fmin(one, two) + (3 * p + 16) * ROUNDOFF * one;
    const real error = 1.01L * rounding + 1e-300L * (real)g->size;
    g->error = fmax(g->error, error);
    const real slack = 1 + (3 * p + 64) * ROUNDOFF;
    tighten(g, p, first.one * slack + g->error);
    tighten(g, p + 1, second.one * slack + g->error);
    tighten(g, p + 2, third.one * slack + g->error);
    scatter(g, p);
    SZG_TRY(szgi_ball_fft_run(context, &g->plan, g->value));
    bound_from_grid(g, p);
    return SZG_OK;
}

real szgi_grid_taylor_error(const grid *g, int orders) {
    return g->error * EXP_X + g->bound[orders] * taylor_weight(g->half_width, orders) +
           256 * ROUNDOFF * g->bound[0] * EXP_2X;
}
