/* sin(n x/2) with n = 10^9 in doubles loses nine digits of the phase. Here the phase is a
 * fixed-point fraction of a turn: theta / (4 pi) modulo 1 to 128 bits (Payne and Hanek 1983), whose
 * product with n modulo 1 is the integer product modulo 2^128. Its error, n 2^-127 <= 2^-65 turns,
 * is below that of a rounding to double. */
#include "dirichlet.h"

#include <math.h>

/* 2 / pi as a binary fraction; the same bits as in every libm. |theta| <= 2^60 reads 197 of them.
 */
static const uint64_t two_over_pi[] = {
    0xA2F9836E4E441529u,
    0xFC2757D1F534DDC0u,
    0xDB6295993C439041u,
    0xFE5163ABDEBBC561u,
};
enum { WORDS = sizeof two_over_pi / sizeof *two_over_pi };

/* 64 bits of 2 / pi from bit `offset` on (0: the first behind the point); zeros outside. */
static uint64_t bits_from(int64_t offset) {
    int64_t word = offset >= 0 ? offset / 64 : -((63 - offset) / 64), shift = offset - 64 * word;
    uint64_t first = word >= 0 && word < WORDS ? two_over_pi[word] : 0;
    uint64_t second = word + 1 >= 0 && word + 1 < WORDS ? two_over_pi[word + 1] : 0;
    return shift == 0 ? first : first << shift | second >> (64 - shift);
}

/* |theta| = m 2^e with an integer m < 2^53, so theta / (4 pi) = m (2/pi) 2^(e-3): bits of (2/pi)
 * 2^(e-3) before the point add integers and are dropped, 192 behind it leave an error of m 2^-192.
 */
szgi_turns szgi_turns_of(double theta) {
    int exponent;
    double mantissa = frexp(fabs(theta), &exponent);
    szgi_turns m = (szgi_turns)ldexp(mantissa, 53);
    int64_t offset = (int64_t)exponent - 53 - 3;
    szgi_turns high = m * bits_from(offset);            /* units of 2^-64, whole turns above */
    szgi_turns middle = m * bits_from(offset + 64);     /* units of 2^-128 */
    szgi_turns low = m * bits_from(offset + 128) >> 64; /* units of 2^-128, truncated */
    szgi_turns turns = (high << 64) + middle + low;
    return theta < 0 ? -turns : turns;
}

szgi_angle szgi_angle_of(double theta) {
    return (szgi_angle){.radians = theta, .half = szgi_turns_of(theta)};
}

szgi_angle szgi_angle_sum(szgi_angle a, szgi_angle b) {
    return (szgi_angle){.radians = a.radians + b.radians, .half = a.half + b.half};
}

szgi_angle szgi_angle_difference(szgi_angle a, szgi_angle b) {
    return (szgi_angle){.radians = a.radians - b.radians, .half = a.half - b.half};
}

/* The signed fraction of a turn in [-1/2, 1/2), as radians. */
static double radians_of(szgi_turns turns) {
    __extension__ typedef __int128 signed_turns;
    return (double)(signed_turns)turns * 0x1p-128 * (2 * M_PI);
}

double szgi_angle_cos(int64_t k, szgi_angle theta) {
    return cos(radians_of((szgi_turns)k * 2 * theta.half));
}

double szgi_dirichlet(int64_t n, szgi_angle x) {
    const szgi_turns half_turn = (szgi_turns)1 << 127, quarter = (szgi_turns)1 << 126;
    szgi_turns y = x.half; /* x / 2 in turns */
    double sign = 1;
    if (y - quarter <
        half_turn) { /* y in [1/4, 3/4): take half a turn off, D changes by (-1)^(n-1) */
        y -= half_turn;
        sign = n % 2 == 0 ? -1 : 1;
    }
    /* A small angle keeps its relative accuracy as a double, not as a fixed-point number. */
    double small = fabs(x.radians) < 1 ? x.radians / 2 : radians_of(y);
    double order = (double)n;
    if (small == 0)
        return sign * order;
    double phase = fabs(order * small) < 0.5 ? order * small : radians_of((szgi_turns)n * y);
    return sign * sin(phase) / sin(small);
}
