#include <math.h>

#include "matrix.h"

enum { SWEEPS_MAX = 30 };

static double modulus_squared(szg_c64 z) {
    return z.re * z.re + z.im * z.im;
}

/* (x, y) <- (c x - s e^{-i phi} y, s e^{i phi} x + c y) with s e^{i phi} = `turn`. */
static void rotate(szg_c64 *x, szg_c64 *y, double c, szg_c64 turn) {
    const szg_c64 a = *x, b = *y;
    *x = (szg_c64){c * a.re - (turn.re * b.re + turn.im * b.im),
                   c * a.im - (turn.re * b.im - turn.im * b.re)};
    *y = (szg_c64){turn.re * a.re - turn.im * a.im + c * b.re,
                   turn.re * a.im + turn.im * a.re + c * b.im};
}

static szg_c64 conjugate(szg_c64 z) {
    return (szg_c64){z.re, -z.im};
}

/* Annihilates entry (p, q) of a; columns p and q of v turn along. */
static void annihilate(int64_t n, szg_c64 *a, szg_c64 *v, int64_t p, int64_t q) {
    const szg_c64 z = a[p * n + q];
    const double size = hypot(z.re, z.im);
    if (!(size > 0))
        return;
    const double tau = (a[q * n + q].re - a[p * n + p].re) / (2 * size);
    const double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + hypot(1, tau));
    const double c = 1 / hypot(1, t), s = t * c;
    const szg_c64 turn = {s * z.re / size, s * z.im / size};
    for (int64_t k = 0; k < n; k++) {
        rotate(&a[k * n + p], &a[k * n + q], c, turn);
        rotate(&v[k * n + p], &v[k * n + q], c, turn);
    }
    for (int64_t k = 0; k < n; k++)
        rotate(&a[p * n + k], &a[q * n + k], c, conjugate(turn));
    a[p * n + q] = a[q * n + p] = (szg_c64){0, 0};
}

szg_status szgi_jacobi(szg_context *context, int64_t n, szg_c64 *a, szg_c64 *v) {
    double total = 0;
    for (int64_t i = 0; i < n * n; i++) {
        total += modulus_squared(a[i]);
        v[i] = (szg_c64){i % (n + 1) == 0, 0};
    }
    for (int sweep = 0; sweep < SWEEPS_MAX; sweep++) {
        double rest = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                rest += modulus_squared(a[i * n + j]);
        if (!(rest > 1e-32 * total))
            break;
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++)
                annihilate(n, a, v, p, q);
    }
    return SZG_OK;
}
