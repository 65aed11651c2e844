#include <inttypes.h>
#include <math.h>

#include "polynomial.h"

szg_status szgi_polynomial_open(szg_context *context, int64_t count, polynomial *out) {
    *out = (polynomial){.period = 1};
    SZG_TRY(szgi_memory_require(context, count, 1, 2 * sizeof(acb_struct),
                                "the coefficients of a symbol", "use fewer lags"));
    out->c = _acb_vec_init((slong)count);
    out->allocated = count;
    arb_init(out->mean);
    mag_init(out->perturbation);
    return SZG_OK;
}

void szgi_polynomial_close(polynomial *p) {
    if (!p->c)
        return;
    _acb_vec_clear(p->c, (slong)p->allocated);
    arb_clear(p->mean);
    mag_clear(p->perturbation);
    *p = (polynomial){0};
}

/* Twice the radius of each part is what |2 Re(c e^{ikt})| can change by. */
static void absorb_radius(mag_t perturbation, arb_t part) {
    mag_add(perturbation, perturbation, arb_radref(part));
    mag_add(perturbation, perturbation, arb_radref(part));
    mag_zero(arb_radref(part));
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void szgi_polynomial_normalise(polynomial *p) {
    int64_t degree = 0, divisor = 0;
    for (int64_t k = 1; k < p->allocated; k++) {
        absorb_radius(p->perturbation, acb_realref(p->c + k));
        absorb_radius(p->perturbation, acb_imagref(p->c + k));
        if (acb_is_zero(p->c + k))
            continue;
        degree = k;
        divisor = common_divisor(k, divisor);
    }
    p->period = divisor ? divisor : 1;
    p->degree = degree / p->period;
    for (int64_t k = 1; k <= p->degree && p->period > 1; k++)
        acb_swap(p->c + k, p->c + k * p->period);
}

static szg_status check_coefficients(szg_context *context, int64_t count, const szg_c64 *a) {
    if (count < 1)
        return szgi_fail(context, SZG_EINVAL, "a symbol of %" PRId64 " coefficients does not exist",
                         count);
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(a[k].re) || !isfinite(a[k].im))
            return szgi_fail(context, SZG_EDATA, "coefficient %" PRId64 " is not finite (%g%+gi)",
                             k, a[k].re, a[k].im);
    return SZG_OK;
}

/* a_k (order - k) / order: the Fejer weight is a ratio of integers, so the radius is all it costs.
 */
static void taper_coefficient(acb_t c, int64_t k, int64_t order, slong bits) {
    if (k >= order) {
        acb_zero(c);
        return;
    }
    acb_mul_si(c, c, (slong)(order - k), bits);
    acb_div_si(c, c, (slong)order, bits);
}

szg_status szgi_polynomial_from_symbol(szg_context *context, int64_t count, const szg_c64 *a,
                                       szgi_taper taper, int64_t order, slong bits,
                                       polynomial *out) {
    *out = (polynomial){0};
    SZG_TRY(check_coefficients(context, count, a));
    if (a[0].im != 0)
        return szgi_fail(context, SZG_EDATA,
                         "a_0 = %g%+gi is not real: the symbol of a Hermitian matrix needs that",
                         a[0].re, a[0].im);
    if (taper == SZGI_TAPER_FEJER && order < 1)
        return szgi_fail(context, SZG_EINVAL, "a Fejer mean of order %" PRId64 " is below 1",
                         order);
    SZG_TRY(szgi_polynomial_open(context, count, out));
    arb_set_d(out->mean, a[0].re);
    for (int64_t k = 1; k < count; k++) {
        acb_set_d_d(out->c + k, a[k].re, a[k].im);
        if (taper == SZGI_TAPER_FEJER)
            taper_coefficient(out->c + k, k, order, bits);
    }
    szgi_polynomial_normalise(out);
    return SZG_OK;
}

/* Coefficient k of |a|^2 is sum_j a_{j+k} conj a_j: the product with the reversed conjugates. */
szg_status szgi_polynomial_from_modulus(szg_context *context, int64_t count, const szg_c64 *a,
                                        slong bits, polynomial *out) {
    *out = (polynomial){0};
    SZG_TRY(check_coefficients(context, count, a));
    SZG_TRY(szgi_memory_require(context, count, 8, sizeof(acb_struct), "the square of a symbol",
                                "use fewer lags"));
    SZG_TRY(szgi_polynomial_open(context, count, out));
    acb_ptr forward = _acb_vec_init((slong)count), reverse = _acb_vec_init((slong)count);
    acb_ptr product = _acb_vec_init((slong)(2 * count - 1));
    for (int64_t k = 0; k < count; k++) {
        acb_set_d_d(forward + k, a[k].re, a[k].im);
        acb_set_d_d(reverse + count - 1 - k, a[k].re, -a[k].im);
    }
    _acb_poly_mul(product, forward, (slong)count, reverse, (slong)count, bits);
    arb_set(out->mean, acb_realref(product + count - 1));
    for (int64_t k = 1; k < count; k++)
        acb_set(out->c + k, product + count - 1 + k);
    _acb_vec_clear(forward, (slong)count);
    _acb_vec_clear(reverse, (slong)count);
    _acb_vec_clear(product, (slong)(2 * count - 1));
    szgi_polynomial_normalise(out);
    return SZG_OK;
}

static szg_status check_weights(szg_context *context, int64_t count, const double *w,
                                const szgi_phase *theta) {
    if (count < 1)
        return szgi_fail(context, SZG_EINVAL, "a sum of %" PRId64 " cosines does not exist", count);
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(w[i]))
            return szgi_fail(context, SZG_EDATA, "weight %" PRId64 " is not finite (%g)", i, w[i]);
        if (theta)
            SZG_TRY(szgi_check_phase(context, theta + i, "phase", i));
    }
    return SZG_OK;
}

szg_status szgi_polynomial_from_phases(szg_context *context, int64_t count, const double *w,
                                       const szgi_phase *theta, szgi_phase_mode mode, slong bits,
                                       polynomial *out) {
    *out = (polynomial){0};
    SZG_TRY(check_weights(context, count, w, theta));
    SZG_TRY(szgi_polynomial_open(context, count, out));
    for (int64_t i = 0; i < count; i++) {
        acb_ptr c = out->c + i;
        acb_one(c);
        if (theta && w[i] != 0)
            szgi_phase_exp(c, theta + i, mode == SZGI_PHASE_PLAIN ? 1 : i, bits);
        arb_t weight;
        arb_init(weight);
        arb_set_d(weight, w[i]);
        acb_mul_arb(c, c, weight, bits);
        arb_clear(weight);
    }
    arb_mul_2exp_si(out->mean, acb_realref(out->c), 1);
    acb_zero(out->c);
    szgi_polynomial_normalise(out);
    return SZG_OK;
}
