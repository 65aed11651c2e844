#include <tgmath.h>

#include "maximum.h"
#include "refine.h"

/* Clusters times degree, at most: under a second. The branch and bound of a cluster costs as much
 * as some two thousand more terms. */
enum { WORK_MAX = 1 << 19, SPLIT_COST = 2048, CLUSTERS_MIN = 8 };

/* What one refinement needs: room for e^{i k tau}, and the target. */
typedef struct refiner {
    szg_context *context;
    const polynomial *p;
    const grid *g;
    const sieve *s;
    slong bits; /* of the sums; the powers carry more */
    slong power_bits;
    acb_ptr power, term; /* degree + 1 */
    arb_ptr derivative;  /* ORDERS_MAX: sign F_q at the latest point, then divided by q! */
    arf_t tolerance;
    extremum *out;
} refiner;

void szgi_extremum_init(extremum *e) {
    arf_init(e->lower);
    arf_init(e->upper);
    e->at = 0;
    e->balls = true;
}

void szgi_extremum_clear(extremum *e) {
    arf_clear(e->lower);
    arf_clear(e->upper);
}

/* x = value 2^exponent, exactly. */
static void set_real(arf_t x, real value, int64_t exponent) {
    arf_t piece;
    arf_init(piece);
    arf_zero(x);
    for (int i = 0; i < 3; i++) {
        double d = (double)value;
        arf_set_d(piece, d);
        arf_add(x, x, piece, ARF_PREC_EXACT, ARF_RND_DOWN);
        value -= d;
    }
    arf_mul_2exp_si(x, x, (slong)exponent);
    arf_clear(piece);
}

/* sign F_q(tau), q < orders, into r->derivative: 2 Re sum c_k (ik/degree)^q e^{i k tau}.
 * SZG_ECANCEL. */
static szg_status evaluate(refiner *r, const arf_t tau, int orders) {
    const int64_t degree = r->p->degree;
    acb_t z, sum;
    arb_t angle;
    acb_init(z);
    acb_init(sum);
    arb_init(angle);
    arb_set_arf(angle, tau);
    arb_sin_cos(acb_imagref(z), acb_realref(z), angle, r->power_bits);
    _acb_vec_set_powers(r->power, z, (slong)(degree + 1), r->power_bits);
    for (int64_t k = 1; k <= degree; k++)
        acb_mul(r->term + k, r->power + k, r->p->c + k, r->bits);
    szg_status status = SZG_OK;
    for (int q = 0; q < orders; q++) {
        status =
            szgi_context_check_cancel(r->context); /* a million lags take a tenth of a second */
        if (status != SZG_OK)
            break;
        acb_zero(sum);
        for (int64_t k = 1; k <= degree; k++) {
            if (q > 0)
                acb_mul_ui(r->term + k, r->term + k, (ulong)k, r->bits);
            acb_add(sum, sum, r->term + k, r->bits);
        }
        arb_ptr out = r->derivative + q;
        arb_set(out, q % 2 ? acb_imagref(sum) : acb_realref(sum));
        for (int i = 0; i < q; i++)
            arb_div_ui(out, out, (ulong)degree, r->bits);
        arb_mul_si(out, out, 2 * r->s->sign * ((q + 1) / 2 % 2 ? -1 : 1), r->bits);
    }
    acb_clear(z);
    acb_clear(sum);
    arb_clear(angle);
    return status;
}

/* tau in [0, 2 pi), back from the reduced polynomial to f. */
static double angle_of(const refiner *r, const arf_t tau) {
    const double turn = 6.283185307179586;
    const double at = fmod(arf_get_d(tau, ARF_RND_NEAR), turn);
    return (at < 0 ? at + turn : at) / (double)r->p->period;
}

static void raise_attained(refiner *r, const arb_t value, const arf_t tau) {
    arf_t lower;
    arf_init(lower);
    arb_get_lbound_arf(lower, value, r->bits);
    if (arf_cmp(lower, r->out->lower) > 0) {
        arf_set(r->out->lower, lower);
        r->out->at = angle_of(r, tau);
    }
    arf_clear(lower);
}

/* tau = y / degree. */
static void set_point(refiner *r, arf_t tau, real y) {
    set_real(tau, y, 0);
    arf_div_si(tau, tau, (slong)r->p->degree, r->bits, ARF_RND_NEAR);
}

/* Newton's method from the sieve's best point, whose value is the first lower bound. */
static szg_status climb(refiner *r) {
    arf_t tau;
    arb_t step;
    arf_init(tau);
    arb_init(step);
    set_point(r, tau, r->s->lower_at);
    set_real(r->out->lower, r->s->lower, r->g->exponent);
    r->out->at = angle_of(r, tau);
    szg_status status = SZG_OK;
    for (int i = 0; i < 3; i++) {
        status = evaluate(r, tau, 3);
        if (status != SZG_OK)
            break;
        raise_attained(r, r->derivative, tau);
        if (!arb_is_negative(r->derivative + 2))
            break;
        arb_div(step, r->derivative + 1, r->derivative + 2, r->bits);
        if (!(fabs(arf_get_d(arb_midref(step), ARF_RND_NEAR)) < 1))
            break;
        arb_div_ui(step, step, (ulong)r->p->degree, r->bits);
        arf_sub(tau, tau, arb_midref(step), r->bits, ARF_RND_NEAR);
    }
    arf_clear(tau);
    arb_clear(step);
    return status;
}

/* bound >= sup |F_q|; by Bernstein the grid's last bound holds from its last order on. */
static void derivative_bound(const refiner *r, int q, mag_t bound) {
    mag_set_d(bound, (double)r->g->bound[q < r->g->orders ? q : r->g->orders] * (1 + 1e-9));
    mag_mul_2exp_si(bound, bound, (slong)r->g->exponent);
}

/* remainder >= sup |F_orders| radius^orders / orders!. */
static void remainder_bound(const refiner *r, int orders, double radius, mag_t remainder) {
    mag_t factor;
    mag_init(factor);
    mag_set_d(factor, radius);
    mag_pow_ui(factor, factor, (ulong)orders);
    mag_rfac_ui(remainder, (ulong)orders);
    mag_mul(remainder, remainder, factor);
    derivative_bound(r, orders, factor);
    mag_mul(remainder, remainder, factor);
    mag_clear(factor);
}

static int orders_for(const refiner *r, double radius, mag_t remainder) {
    for (int orders = 4;; orders++) {
        remainder_bound(r, orders, radius, remainder);
        if (orders == ORDERS_MAX || arf_cmpabs_mag(r->tolerance, remainder) > 0)
            return orders;
    }
}

/* Derivatives to Taylor coefficients. */
static void divide_by_factorials(refiner *r, int orders) {
    arb_t scale;
    arb_init(scale);
    for (int q = 2; q < orders; q++) {
        arb_fac_ui(scale, (ulong)q, r->bits);
        arb_div(r->derivative + q, r->derivative + q, scale, r->bits);
    }
    arb_clear(scale);
}

static szg_status bound_cluster(refiner *r, candidate cluster) {
    const real middle = (cluster.lo + cluster.hi) / 2;
    /* y carries the rounding of some 2 pi j degree / size. */
    const real reach = (cluster.hi - cluster.lo) / 2 + 64 * LDBL_EPSILON * (fabs(middle) + 1);
    const double radius = exp2(ceil(log2((double)reach * (1 + 1e-9))));
    mag_t remainder;
    arf_t tau;
    mag_init(remainder);
    arf_init(tau);
    const int orders = orders_for(r, radius, remainder);
    set_point(r, tau, middle);
    szg_status status = evaluate(r, tau, orders);
    if (status == SZG_OK) {
        raise_attained(r, r->derivative, tau);
        divide_by_factorials(r, orders);
        const taylor t = {orders, r->derivative, remainder, r->bits};
        szgi_taylor_raise(&t, radius, r->out->lower, r->tolerance, r->out->upper);
    }
    mag_clear(remainder);
    arf_clear(tau);
    return status;
}

/* Joins neighbours in place; returns how many clusters there are, each at most one cell wide. */
static int64_t join_candidates(const grid *g, int64_t count, candidate *list) {
    int64_t clusters = 0;
    for (int64_t i = 0; i < count; i++) {
        candidate *last = clusters ? list + clusters - 1 : NULL;
        if (last && list[i].lo - last->hi <= 4 * (last->hi - last->lo) &&
            list[i].hi - last->lo <= 2 * g->half_width)
            last->hi = list[i].hi;
        else
            list[clusters++] = list[i];
    }
    return clusters;
}

static szg_status bound_clusters(refiner *r, int64_t clusters) {
    arf_zero(r->out->upper);
    arf_set(r->out->upper, r->out->lower);
    for (int64_t i = 0; i < clusters; i++) {
        SZG_TRY(bound_cluster(r, r->s->candidate[i]));
    }
    return SZG_OK;
}

static void refiner_init(refiner *r) {
    const slong count = (slong)(r->p->degree + 1);
    mag_t bound;
    mag_init(bound);
    r->power_bits = r->bits + 2 * (slong)FLINT_BIT_COUNT((ulong)count) + 16;
    r->power = _acb_vec_init(count);
    r->term = _acb_vec_init(count);
    r->derivative = _arb_vec_init(ORDERS_MAX);
    arf_init(r->tolerance);
    derivative_bound(r, 0, bound);
    arf_set_mag(r->tolerance, bound);
    arf_mul_2exp_si(r->tolerance, r->tolerance, 24 - r->bits);
    mag_clear(bound);
}

static void refiner_clear(refiner *r) {
    const slong count = (slong)(r->p->degree + 1);
    _acb_vec_clear(r->power, count);
    _acb_vec_clear(r->term, count);
    _arb_vec_clear(r->derivative, ORDERS_MAX);
    arf_clear(r->tolerance);
}

szg_status szgi_refine(szg_context *context, const polynomial *p, const grid *g, const sieve *s,
                       slong bits, extremum *out) {
    SZG_TRY(szgi_memory_require(context, p->degree + 1, 3,
                                sizeof(acb_struct) + (size_t)bits / 4 + 64,
                                "the powers of one point", "use fewer lags"));
    refiner r = {.context = context, .p = p, .g = g, .s = s, .bits = bits, .out = out};
    refiner_init(&r);
    arf_t sieved;
    arf_init(sieved);
    set_real(sieved, s->upper, g->exponent);
    szg_status status = climb(&r);
    out->balls = s->candidates <= CANDIDATES_MAX;
    int64_t clusters = out->balls ? join_candidates(g, s->candidates, s->candidate) : 0;
    if (clusters > CLUSTERS_MIN && clusters * (p->degree + SPLIT_COST) > WORK_MAX)
        out->balls = false;
    if (status == SZG_OK && out->balls)
        status = bound_clusters(&r, clusters);
    if (!out->balls || arf_cmp(out->upper, sieved) > 0)
        arf_set(out->upper, sieved);
    arf_clear(sieved);
    refiner_clear(&r);
    return status;
}
