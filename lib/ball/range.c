#include "refine.h"

static const char *const METHOD_BALLS = "grid with the inequalities of M. Riesz and Bernstein, "
                                        "Taylor branch and bound, ball arithmetic";
static const char *const METHOD_SIEVE =
    "grid with the inequalities of M. Riesz and Bernstein, Taylor branch and bound with a proved "
    "rounding bound (extrema too many or too flat for ball arithmetic)";
static const char *const METHOD_CONSTANT = "constant polynomial, ball arithmetic";

/* Both extrema: highest.lower <= max (f - mean) <= highest.upper, and lowest is of mean - f. */
typedef struct extrema {
    extremum highest, lowest;
} extrema;

static szg_status sieve_both(szg_context *context, const polynomial *p, grid *g, sieve *high,
                             sieve *low) {
    SZG_TRY(szgi_grid_open(context, p, g));
    for (int q = 0; q < g->orders; q += 2) {
        szgi_progress(context, "symbol range", q, g->orders + 2);
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_grid_next(context, g, q));
        SZG_TRY(szgi_sieve_take(context, g, q, high));
        SZG_TRY(szgi_sieve_take(context, g, q, low));
    }
    SZG_TRY(szgi_sieve_finish(context, g, high));
    return szgi_sieve_finish(context, g, low);
}

static szg_status find_extrema(szg_context *context, const polynomial *p, slong bits,
                               extrema *out) {
    grid g = {0};
    sieve high = {.sign = 1}, low = {.sign = -1};
    szg_status status;
    SZG_TRY_GOTO(status, sieve_both(context, p, &g, &high, &low), done);
    SZG_TRY_GOTO(status, szgi_refine(context, p, &g, &high, bits, &out->highest), done);
    SZG_TRY_GOTO(status, szgi_refine(context, p, &g, &low, bits, &out->lowest), done);
    szgi_progress(context, "symbol range", g.orders + 2, g.orders + 2);
done:
    szgi_sieve_close(&high);
    szgi_sieve_close(&low);
    szgi_grid_close(&g);
    return status;
}

/* mean + sign [lower, upper], widened by the perturbation; negative ends of a root read as 0. */
static szg_interval assemble(const polynomial *p, const extremum *e, int sign, bool root,
                             slong bits) {
    arb_t lower, upper;
    arf_t end;
    arb_init(lower);
    arb_init(upper);
    arf_init(end);
    arb_set_arf(lower, e->lower);
    arb_set_arf(upper, e->upper);
    if (sign < 0) {
        arb_neg(lower, lower);
        arb_neg(upper, upper);
        arb_swap(lower, upper);
    }
    arb_add(lower, lower, p->mean, 2 * bits);
    arb_add(upper, upper, p->mean, 2 * bits);
    arb_add_error_mag(lower, p->perturbation);
    arb_add_error_mag(upper, p->perturbation);
    szg_interval out;
    arb_get_lbound_arf(end, lower, 2 * bits);
    if (root && arf_sgn(end) < 0)
        arf_zero(end);
    if (root)
        arf_sqrt(end, end, 2 * bits, ARF_RND_FLOOR);
    out.lo = szgi_lower_double(end);
    arb_get_ubound_arf(end, upper, 2 * bits);
    if (root)
        arf_sqrt(end, end, 2 * bits, ARF_RND_CEIL);
    out.hi = szgi_upper_double(end);
    arb_clear(lower);
    arb_clear(upper);
    arf_clear(end);
    return out;
}

static szg_status range_of(szg_context *context, const polynomial *p, slong bits, bool root,
                           szg_range *out) {
    extrema e;
    szgi_extremum_init(&e.highest);
    szgi_extremum_init(&e.lowest);
    szg_status status = SZG_OK;
    if (p->degree > 0)
        status = find_extrema(context, p, bits, &e);
    if (status == SZG_OK) {
        out->max = assemble(p, &e.highest, 1, root, bits);
        out->min = assemble(p, &e.lowest, -1, root, bits);
        out->theta_max = e.highest.at;
        out->theta_min = e.lowest.at;
        out->method = p->degree == 0                      ? METHOD_CONSTANT
                      : e.highest.balls && e.lowest.balls ? METHOD_BALLS
                                                          : METHOD_SIEVE;
    }
    szgi_extremum_clear(&e.highest);
    szgi_extremum_clear(&e.lowest);
    return status;
}

szg_status szgi_ball_symbol_range(szg_context *context, int64_t count, const szg_c64 *a,
                                  szgi_taper taper, int64_t order, int64_t bits, szg_range *out) {
    polynomial p;
    SZG_TRY(szgi_check_bits(context, bits));
    SZG_TRY(szgi_polynomial_from_symbol(context, count, a, taper, order, (slong)bits, &p));
    szg_status status = range_of(context, &p, (slong)bits, false, out);
    szgi_polynomial_close(&p);
    return status;
}

szg_status szgi_ball_modulus_range(szg_context *context, int64_t count, const szg_c64 *a,
                                   int64_t bits, szg_range *out) {
    polynomial p;
    SZG_TRY(szgi_check_bits(context, bits));
    SZG_TRY(szgi_polynomial_from_modulus(context, count, a, 2 * (slong)bits, &p));
    szg_status status = range_of(context, &p, (slong)bits, true, out);
    szgi_polynomial_close(&p);
    return status;
}

szg_status szgi_ball_range(szg_context *context, int64_t count, const double *w,
                           const szgi_phase *theta, szgi_phase_mode mode, int64_t bits,
                           szg_range *out) {
    polynomial p;
    SZG_TRY(szgi_check_bits(context, bits));
    SZG_TRY(szgi_polynomial_from_phases(context, count, w, theta, mode, (slong)bits, &p));
    szg_status status = range_of(context, &p, (slong)bits, false, out);
    szgi_polynomial_close(&p);
    return status;
}
