#include <string.h>
#include <tgmath.h>

#include "sieve.h"
#include "taylor.h"

/* Intervals tried in one cell before its bound is taken as it stands. */
enum { SPLITS_PER_CELL = 4096, STACK_MAX = 96 };

void szgi_sieve_close(sieve *s) {
    szgi_memory_free(s->cell);
    szgi_memory_free(s->taylor);
    szgi_memory_free(s->candidate);
    s->cell = NULL;
    s->taylor = NULL;
    s->candidate = NULL;
    s->room = 0;
}

static void raise_lower(const grid *g, sieve *s, real value, int64_t cell, real x) {
    if (!(value > s->lower))
        return;
    s->lower = value;
    s->lower_at = 2 * g->half_width * (real)cell + x;
}

/* The bound of a cell from its value and slope. */
static real first_upper(const grid *g, const sieve *s, int64_t j, real slack) {
    return s->sign * g->value[j].re + fabs(g->value[j].im) * g->half_width + slack;
}

static szg_status take_first(szg_context *context, const grid *g, sieve *s) {
    const real slack = szgi_grid_taylor_error(g, 2);
    s->lower = -INFINITY;
    for (int64_t j = 0; j < g->size; j++)
        raise_lower(g, s, s->sign * g->value[j].re - g->error, j, 0);
    int64_t cells = 0;
    for (int64_t j = 0; j < g->size; j++)
        cells += !(first_upper(g, s, j, slack) < s->lower);
    SZG_TRY(szgi_memory_require(context, cells, ORDERS_MAX, sizeof(real),
                                "the cells that may hold an extremum", "use fewer lags"));
    SZG_TRY(szgi_memory_alloc(context, cells, &s->cell));
    SZG_TRY(szgi_memory_take(context, cells, ORDERS_MAX * sizeof(real), &s->taylor));
    for (int64_t j = 0; j < g->size; j++) {
        if (j % SIEVE_LOOK == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        if (first_upper(g, s, j, slack) < s->lower)
            continue;
        s->taylor[s->cells * ORDERS_MAX] = s->sign * g->value[j].re;
        s->taylor[s->cells * ORDERS_MAX + 1] = s->sign * g->value[j].im;
        s->cell[s->cells++] = j;
    }
    return SZG_OK;
}

static real factorial(int p) {
    real product = 1;
    for (int i = 2; i <= p; i++)
        product *= i;
    return product;
}

static void drop_cells(const grid *g, int orders, sieve *s) {
    const real error = szgi_grid_taylor_error(g, orders);
    int64_t kept = 0;
    for (int64_t i = 0; i < s->cells; i++) {
        const real *a = s->taylor + i * ORDERS_MAX;
        if (szgi_taylor_upper(orders, a, g->half_width) + error < s->lower)
            continue;
        memmove(s->taylor + kept * ORDERS_MAX, a, ORDERS_MAX * sizeof *a);
        s->cell[kept++] = s->cell[i];
    }
    s->cells = kept;
}

/* Once the Taylor polynomials say something, climb each: the sharper `lower` is, the fewer survive.
 */
static szg_status climb_cells(szg_context *context, const grid *g, int orders, sieve *s) {
    const real error = szgi_grid_taylor_error(g, orders);
    for (int64_t i = 0; i < s->cells; i++) {
        if (i % SIEVE_LOOK == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        const real *a = s->taylor + i * ORDERS_MAX;
        if (szgi_taylor_upper(orders, a, g->half_width) < s->lower)
            continue;
        real x = szgi_taylor_climb(orders, a, g->half_width);
        raise_lower(g, s, szgi_taylor_value(orders, a, x) - error, s->cell[i], x);
    }
    return SZG_OK;
}

szg_status szgi_sieve_take(szg_context *context, const grid *g, int p, sieve *s) {
    if (p == 0)
        return take_first(context, g, s);
    const real first = s->sign / factorial(p), second = s->sign / factorial(p + 1);
    for (int64_t i = 0; i < s->cells; i++) {
        real *a = s->taylor + i * ORDERS_MAX;
        a[p] = first * g->value[s->cell[i]].re;
        a[p + 1] = second * g->value[s->cell[i]].im;
    }
    SZG_TRY(climb_cells(context, g, p + 2, s));
    drop_cells(g, p + 2, s);
    return szgi_context_check_cancel(context);
}

typedef struct piece {
    real at, radius;
} piece;

static szg_status add_candidate(szg_context *context, const grid *g, sieve *s, int64_t cell,
                                piece where) {
    if (s->candidates >= CANDIDATES_MAX) {
        s->candidates = CANDIDATES_MAX + 1;
        return SZG_OK;
    }
    SZG_TRY(szgi_memory_reserve(context, &s->candidate, &s->room, s->candidates, 1));
    const real y = 2 * g->half_width * (real)cell + where.at;
    s->candidate[s->candidates++] = (candidate){y - where.radius, y + where.radius};
    return SZG_OK;
}

/* Branch and bound in one cell, from left to right. */
static szg_status split_cell(szg_context *context, const grid *g, sieve *s, int64_t i) {
    const real *a = s->taylor + i * ORDERS_MAX;
    const real error = szgi_grid_taylor_error(g, g->orders);
    const real enough = 3 * error + g->bound[0] * 0x1p-62L;
    piece stack[STACK_MAX] = {{0, g->half_width}};
    real b[ORDERS_MAX];
    int depth = 1;
    for (int splits = 0; depth > 0; splits++) {
        const piece top = stack[--depth];
        szgi_taylor_shift(g->orders, a, top.at, b);
        raise_lower(g, s, b[0] - error, s->cell[i], top.at);
        const real upper = szgi_taylor_upper(g->orders, b, top.radius) + error;
        if (upper < s->lower)
            continue;
        if (upper <= s->lower + enough || splits > SPLITS_PER_CELL || depth + 2 > STACK_MAX) {
            s->upper = fmax(s->upper, upper);
            SZG_TRY(add_candidate(context, g, s, s->cell[i], top));
            continue;
        }
        const real half = top.radius / 2;
        stack[depth++] = (piece){top.at + half, half};
        stack[depth++] = (piece){top.at - half, half};
    }
    return SZG_OK;
}

szg_status szgi_sieve_finish(szg_context *context, const grid *g, sieve *s) {
    s->upper = s->lower;
    for (int64_t i = 0; i < s->cells; i++) {
        if (i % 64 == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(split_cell(context, g, s, i));
    }
    return SZG_OK;
}
