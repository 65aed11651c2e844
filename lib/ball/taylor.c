#include <tgmath.h>

#include "grid.h"
#include "taylor.h"

void szgi_taylor_shift(int count, const real *a, real x0, real *b) {
    for (int q = 0; q < count; q++)
        b[q] = a[q];
    if (x0 == 0)
        return;
    for (int i = 0; i < count - 1; i++)
        for (int q = count - 2; q >= i; q--)
            b[q] += x0 * b[q + 1];
}

real szgi_taylor_value(int count, const real *a, real x) {
    real sum = 0;
    for (int q = count - 1; q >= 0; q--)
        sum = sum * x + a[q];
    return sum;
}

real szgi_taylor_upper(int count, const real *b, real radius) {
    real upper = b[0] + fabs(b[1]) * radius;
    if (count > 2) {
        real vertex = fabs(b[1]) / (-2 * b[2]);
        upper = b[2] < 0 && vertex <= radius ? b[0] + fabs(b[1]) * vertex / 2
                                             : upper + b[2] * radius * radius;
    }
    real power = radius * radius;
    for (int q = 3; q < count; q++) {
        power *= radius;
        upper += fabs(b[q]) * power;
    }
    return upper;
}

real szgi_taylor_climb(int count, const real *a, real half) {
    real best = 0, value = szgi_taylor_value(count, a, 0);
    for (int end = -1; end <= 1; end += 2) {
        real other = szgi_taylor_value(count, a, end * half);
        if (other > value) {
            value = other;
            best = end * half;
        }
    }
    real b[ORDERS_MAX];
    real x = best;
    for (int step = 0; step < 6; step++) {
        szgi_taylor_shift(count, a, x, b);
        if (!(b[2] < 0))
            break;
        x = fmin(fmax(x - b[1] / (2 * b[2]), -half), half);
        real other = szgi_taylor_value(count, a, x);
        if (other > value) {
            value = other;
            best = x;
        }
    }
    return best;
}
