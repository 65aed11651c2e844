#include <inttypes.h>
#include <math.h>

#include "ball/arb.h"

szg_status szgi_check_bits(szg_context *context, int64_t bits) {
    if (bits < BITS_MIN || bits > BITS_MAX)
        return szgi_fail(context, SZG_EINVAL, "a precision of %" PRId64 " bits is outside %d .. %d",
                         bits, BITS_MIN, BITS_MAX);
    return SZG_OK;
}

szgi_phase szgi_phase_ratio(int64_t p, int64_t q) {
    return (szgi_phase){.rational = true, .p = p, .q = q};
}

szgi_phase szgi_phase_radians(double radians) {
    return (szgi_phase){.rational = false, .radians = radians, .q = 1};
}

szg_status szgi_check_phase(szg_context *context, const szgi_phase *phase, const char *what,
                            int64_t index) {
    if (phase->rational && phase->q < 1)
        return szgi_fail(context, SZG_EDATA,
                         "%s %" PRId64 ": the denominator %" PRId64 " of pi is below 1", what,
                         index, phase->q);
    if (!phase->rational && !isfinite(phase->radians))
        return szgi_fail(context, SZG_EDATA, "%s %" PRId64 ": %g radians is not an angle", what,
                         index, phase->radians);
    return SZG_OK;
}

/* p/q reduced modulo 2 after the multiplication, in exact integers. */
static void turns_of_pi(fmpq_t x, const szgi_phase *phase, int64_t multiplier) {
    fmpz_t two_q;
    fmpz_init_set_si(two_q, phase->q);
    fmpz_mul_ui(two_q, two_q, 2);
    fmpz_set_si(fmpq_numref(x), phase->p);
    fmpz_mul_si(fmpq_numref(x), fmpq_numref(x), multiplier);
    fmpz_mod(fmpq_numref(x), fmpq_numref(x), two_q);
    fmpz_set_si(fmpq_denref(x), phase->q);
    fmpq_canonicalise(x);
    fmpz_clear(two_q);
}

void szgi_phase_exp(acb_t z, const szgi_phase *phase, int64_t multiplier, slong bits) {
    if (phase->rational) {
        fmpq_t turns;
        fmpq_init(turns);
        turns_of_pi(turns, phase, multiplier);
        arb_sin_cos_pi_fmpq(acb_imagref(z), acb_realref(z), turns, bits);
        fmpq_clear(turns);
        return;
    }
    arb_t angle;
    arb_init(angle);
    arb_set_d(angle, phase->radians);
    arb_mul_si(angle, angle, multiplier, ARF_PREC_EXACT);
    arb_sin_cos(acb_imagref(z), acb_realref(z), angle, bits);
    arb_clear(angle);
}

void szgi_phase_polar(acb_t z, double weight, int64_t multiplier, const szgi_phase *phase,
                      slong bits) {
    arb_t scale;
    arb_init(scale);
    arb_set_d(scale, weight);
    szgi_phase_exp(z, phase, multiplier, bits);
    acb_mul_arb(z, z, scale, bits);
    arb_clear(scale);
}

void szgi_ball_accumulate(arb_t sum, const arb_t x, const arb_t y, slong bits) {
    arb_t product;
    arb_init(product);
    arb_mul(product, y, x, bits);
    arb_add(sum, sum, product, bits);
    arb_clear(product);
}

void szgi_phase_angle(arb_t x, const szgi_phase *phase, slong bits) {
    if (!phase->rational) {
        arb_set_d(x, phase->radians);
        return;
    }
    arb_const_pi(x, bits);
    arb_mul_si(x, x, phase->p, bits);
    arb_div_si(x, x, phase->q, bits);
}

bool szgi_phase_congruent(const szgi_phase *a, const szgi_phase *b, int64_t multiplier) {
    if (multiplier == 0)
        return true;
    if (!a->rational && !b->rational)
        return a->radians == b->radians;
    fmpq_t x, y;
    fmpq_init(x);
    fmpq_init(y);
    /* A double is commensurable with pi only when it is zero. */
    bool possible = (a->rational || a->radians == 0) && (b->rational || b->radians == 0);
    if (a->rational)
        turns_of_pi(x, a, multiplier);
    if (b->rational)
        turns_of_pi(y, b, multiplier);
    bool equal = possible && fmpq_equal(x, y);
    fmpq_clear(x);
    fmpq_clear(y);
    return equal;
}
