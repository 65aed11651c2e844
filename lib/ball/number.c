#include <inttypes.h>
#include <math.h>

#include "number.h"

szg_status szgi_balls_open(szg_context *context, int64_t count, int64_t bits, szgi_balls **out) {
    *out = NULL;
    SZG_TRY(szgi_check_bits(context, bits));
    if (count < 1)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " registers are none", count);
    SZG_TRY(szgi_memory_require(context, count, 2, sizeof(acb_struct) + (size_t)bits / 4,
                                "the registers", "ask for fewer"));
    szgi_balls *balls;
    SZG_TRY(szgi_memory_alloc(context, 1, sizeof *balls, &balls));
    balls->count = count;
    balls->bits = (slong)bits;
    balls->value = _acb_vec_init((slong)count);
    *out = balls;
    return SZG_OK;
}

void szgi_balls_close(szgi_balls **balls) {
    if (!balls || !*balls)
        return;
    _acb_vec_clear((*balls)->value, (slong)(*balls)->count);
    szgi_memory_free(*balls);
    *balls = NULL;
}

szg_status szgi_check_register(szg_context *context, const szgi_balls *balls, int64_t r) {
    if (r < 0 || r >= balls->count)
        return szgi_fail(context, SZG_EINVAL, "register %" PRId64 " is outside 0 .. %" PRId64, r,
                         balls->count - 1);
    return SZG_OK;
}

szg_status szgi_balls_set(szg_context *context, szgi_balls *balls, int64_t r, szg_c64 value) {
    SZG_TRY(szgi_check_register(context, balls, r));
    if (!isfinite(value.re) || !isfinite(value.im))
        return szgi_fail(context, SZG_EDATA, "%g%+gi is not finite", value.re, value.im);
    acb_set_d_d(balls->value + r, value.re, value.im);
    return SZG_OK;
}

szg_status szgi_balls_set_ratio(szg_context *context, szgi_balls *balls, int64_t r, int64_t p,
                                int64_t q) {
    SZG_TRY(szgi_check_register(context, balls, r));
    if (q == 0)
        return szgi_fail(context, SZG_EDATA, "%" PRId64 "/0 is no number", p);
    acb_set_si(balls->value + r, (slong)p);
    acb_div_si(balls->value + r, balls->value + r, (slong)q, balls->bits);
    return SZG_OK;
}

szg_status szgi_balls_set_angle(szg_context *context, szgi_balls *balls, int64_t r,
                                const szgi_phase *angle) {
    SZG_TRY(szgi_check_register(context, balls, r));
    SZG_TRY(szgi_check_phase(context, angle, "register", r));
    acb_zero(balls->value + r);
    szgi_phase_angle(acb_realref(balls->value + r), angle, balls->bits);
    return SZG_OK;
}

szg_status szgi_balls_set_polar(szg_context *context, szgi_balls *balls, int64_t r, double weight,
                                int64_t multiplier, const szgi_phase *angle) {
    SZG_TRY(szgi_check_phase(context, angle, "register", r));
    SZG_TRY(szgi_balls_set(context, balls, r, (szg_c64){weight, 0}));
    acb_t z;
    acb_init(z);
    szgi_phase_exp(z, angle, multiplier, balls->bits);
    acb_mul(balls->value + r, balls->value + r, z, balls->bits);
    acb_clear(z);
    return SZG_OK;
}

static szg_status divide(szg_context *context, acb_t r, const acb_t x, const acb_t y, slong bits) {
    if (acb_contains_zero(y))
        return szgi_fail(context, SZG_EDOMAIN, "the divisor may be zero");
    acb_div(r, x, y, bits);
    return SZG_OK;
}

static szg_status root(szg_context *context, acb_t r, const acb_t x, slong bits) {
    if (arb_is_negative(acb_realref(x)))
        return szgi_fail(context, SZG_EDOMAIN, "the root of a negative number is not real");
    arb_sqrtpos(acb_realref(r), acb_realref(x), bits);
    arb_zero(acb_imagref(r));
    return SZG_OK;
}

static szg_status take_part(acb_t r, const arb_t part) {
    arb_set(acb_realref(r), part);
    arb_zero(acb_imagref(r));
    return SZG_OK;
}

static szg_status modulus(acb_t r, const acb_t x, slong bits) {
    acb_abs(acb_realref(r), x, bits);
    arb_zero(acb_imagref(r));
    return SZG_OK;
}

static szg_status apply(szg_context *context, szgi_ball_op op, acb_t r, const acb_t x,
                        const acb_t y, slong bits) {
    switch (op) {
    case SZG_BALL_COPY:
        return acb_set(r, x), SZG_OK;
    case SZG_BALL_ADD:
        return acb_add(r, x, y, bits), SZG_OK;
    case SZG_BALL_SUBTRACT:
        return acb_sub(r, x, y, bits), SZG_OK;
    case SZG_BALL_MULTIPLY:
        return acb_mul(r, x, y, bits), SZG_OK;
    case SZG_BALL_DIVIDE:
        return divide(context, r, x, y, bits);
    case SZG_BALL_CONJUGATE:
        return acb_conj(r, x), SZG_OK;
    case SZG_BALL_MODULUS:
        return modulus(r, x, bits);
    case SZG_BALL_REAL:
        return take_part(r, acb_realref(x));
    case SZG_BALL_IMAGINARY:
        return take_part(r, acb_imagref(x));
    case SZG_BALL_ROOT:
        return root(context, r, x, bits);
    case SZG_BALL_EXP:
        return acb_exp(r, x, bits), SZG_OK;
    case SZG_BALL_COS:
        return acb_cos(r, x, bits), SZG_OK;
    case SZG_BALL_SIN:
        return acb_sin(r, x, bits), SZG_OK;
    default:
        return szgi_fail(context, SZG_EINVAL, "operation %d does not exist", (int)op);
    }
}

szg_status szgi_balls_apply(szg_context *context, szgi_balls *balls, szgi_ball_op op, int64_t r,
                            int64_t x, int64_t y) {
    const bool two = op == SZG_BALL_ADD || op == SZG_BALL_SUBTRACT || op == SZG_BALL_MULTIPLY ||
                     op == SZG_BALL_DIVIDE;
    SZG_TRY(szgi_check_register(context, balls, r));
    SZG_TRY(szgi_check_register(context, balls, x));
    if (two)
        SZG_TRY(szgi_check_register(context, balls, y));
    return apply(context, op, balls->value + r, balls->value + x, balls->value + (two ? y : x),
                 balls->bits);
}

szg_status szgi_balls_get(szg_context *context, const szgi_balls *balls, int64_t r,
                          szg_interval *re, szg_interval *im) {
    SZG_TRY(szgi_check_register(context, balls, r));
    if (re)
        *re = szgi_interval_of(acb_realref(balls->value + r));
    if (im)
        *im = szgi_interval_of(acb_imagref(balls->value + r));
    return SZG_OK;
}

szg_status szgi_balls_compare(szg_context *context, const szgi_balls *balls, int64_t x, int64_t y,
                              int *sign) {
    SZG_TRY(szgi_check_register(context, balls, x));
    SZG_TRY(szgi_check_register(context, balls, y));
    arb_srcptr left = acb_realref(balls->value + x), right = acb_realref(balls->value + y);
    *sign = arb_lt(left, right) ? -1 : arb_gt(left, right) ? 1 : 0;
    return SZG_OK;
}

szg_status szgi_balls_format(szg_context *context, const szgi_balls *balls, int64_t x,
                             int64_t digits, char **text) {
    *text = NULL;
    SZG_TRY(szgi_check_register(context, balls, x));
    if (digits < 1 || digits > BITS_MAX)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " digits are outside 1 .. %d", digits,
                         BITS_MAX);
    char *decimal = arb_get_str(acb_realref(balls->value + x), (slong)digits, 0);
    szg_status status = szgi_memory_copy_text(context, decimal, text);
    flint_free(decimal);
    return status;
}
