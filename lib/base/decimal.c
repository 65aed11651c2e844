#include "decimal.h"

#include <math.h>
#include <string.h>

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

enum { LEAST_DIGITS = 15, DIGITS = 17 };

static const uint64_t ten[DIGITS + 1] = {1,
                                         10,
                                         100,
                                         1000,
                                         10000,
                                         100000,
                                         1000000,
                                         10000000,
                                         100000000,
                                         1000000000,
                                         10000000000,
                                         100000000000,
                                         1000000000000,
                                         10000000000000,
                                         100000000000000,
                                         1000000000000000,
                                         10000000000000000,
                                         100000000000000000};

static uint64_t power_of_five(int exponent) {
    static const uint64_t small[] = {1, 5, 25, 125, 625, 3125, 15625, 78125, 390625};
    uint64_t power = 1;
    for (; exponent > 8; exponent -= 8)
        power *= small[8];
    return power * small[exponent];
}

/* |value| 10^tens = whole + rest 2^-shift, 10^16 <= whole < 10^17, without rounding; doubles next
 * to `value` differ from it by place 2^-shift, an odd number. */
typedef struct scaled {
    uint64_t whole;
    wide rest, place;
    int shift, tens;
} scaled;

/* 5^MOST is less than 2^128, and 50 2^SHIFT_MOST too. */
enum { POWER_MOST = 27, MOST = 2 * POWER_MOST, SHIFT_MOST = 120 };

static bool scale(double magnitude, scaled *out) {
    uint64_t bits, one = (uint64_t)1 << 52;
    memcpy(&bits, &magnitude, sizeof bits);
    uint64_t mantissa = bits % one + one;
    int exponent = (int)(bits / one) - 1075; /* magnitude = mantissa 2^exponent */
    int tens = DIGITS - 1 - (int)floor(log10(magnitude)), shift = -exponent - tens;
    if (tens < 1 || tens > MOST || shift < 1 || shift > SHIFT_MOST || mantissa == one)
        return false;
    int first = tens < POWER_MOST ? tens : POWER_MOST;
    uint64_t a = power_of_five(first), b = power_of_five(tens - first);
    wide product = (wide)mantissa * a, low = (wide)(uint64_t)product * b;
    wide high =
        (product >> 64) * b + (low >> 64); /* the product of all is high 2^64 + low mod 2^64 */
    if (shift < 64) {
        wide all = high << 64 | (uint64_t)low;
        out->whole = (uint64_t)(all >> shift);
        out->rest = all & (((wide)1 << shift) - 1);
    } else {
        out->whole = (uint64_t)(high >> (shift - 64));
        out->rest = (high & (((wide)1 << (shift - 64)) - 1)) << 64 | (uint64_t)low;
    }
    out->place = (wide)a * b;
    out->shift = shift;
    out->tens = tens;
    return out->whole >= ten[DIGITS - 1] && out->whole < ten[DIGITS]; /* log10 is rounded */
}

/* The nearest number of so many digits, of two the even one. Is `value` the nearest double? */
static inline bool round_to(const scaled *x, int digits, uint64_t *out) {
    uint64_t unit = ten[DIGITS - digits];
    wide below = ((wide)(x->whole % unit) << x->shift) + x->rest;
    wide above = ((wide)unit << x->shift) - below;
    *out = x->whole / unit;
    bool up = below > above || (below == above && *out % 2 == 1);
    *out += up;
    return (up ? above : below) <= x->place >> 1;
}

/* As %g writes digits d_1 d_2 .. d_count with the value d_1.d_2 .. times 10^exponent. */
static void lay_out(const char *digit, int count, int exponent, int digits, char *out) {
    bool small = exponent < -4, large = exponent >= digits;
    int point = small || large ? 1 : exponent + 1; /* digits before it */
    if (point <= 0) {
        memcpy(out, "0.", 2);
        memset(out + 2, '0', (size_t)-point);
        out += 2 - point;
        point = count;
    }
    for (int i = 0; i < count || i < point; i++) {
        if (i == point)
            *out++ = '.';
        *out++ = i < count ? digit[i] : '0';
    }
    if (small || large) {
        int size = small ? -exponent : exponent;
        *out++ = 'e';
        *out++ = small ? '-' : '+';
        *out++ = (char)('0' + size / 10);
        *out++ = (char)('0' + size % 10);
    }
    *out = 0;
}

bool szgi_decimal_text(double value, char text[SZGI_REAL_TEXT]) {
    double magnitude = fabs(value);
    char digit[DIGITS];
    scaled x;
    uint64_t number;
    if (!(magnitude > 1e-37 && magnitude < 1e16) || !scale(magnitude, &x))
        return false;
    int digits = LEAST_DIGITS, exponent = DIGITS - 1 - x.tens, count;
    while (!round_to(&x, digits, &number))
        digits++;
    if (number == ten[digits]) {
        number /= 10;
        exponent++;
    }
    for (count = digits; number % 10 == 0; count--)
        number /= 10;
    for (int i = count; i-- > 0; number /= 10)
        digit[i] = (char)('0' + number % 10);
    if (value < 0)
        *text++ = '-';
    lay_out(digit, count, exponent, digits, text);
    return true;
}

#else /* compilers for 32 bits */

bool szgi_decimal_text(double value, char text[SZGI_REAL_TEXT]) {
    (void)value;
    (void)text;
    return false;
}

#endif
