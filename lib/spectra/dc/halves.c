#include <math.h>

#include "base/memory.h"
#include "linalg/cpu_level.h"
#include "halves.h"
#include "kernels.h"
#include "transform.h"

static const long double pi = 3.14159265358979323846264338327950288L;

/* The two sums over lags at every theta_k: f = sum t_j sin, g = sum (n-j) t_j cos, j >= 1. */
typedef struct lag_sums {
    long double *x, *f, *g, *unused;
} lag_sums;

static szg_status sum_lags(szg_context *context, int64_t n, const double *lags, int exponent,
                           lag_sums *sums) {
    for (int64_t j = 1; j < n; j++)
        sums->x[j] = ldexpl((long double)lags[j], -exponent);
    SZG_TRY(szgi_dc_transform(context, n, sums->x, sums->unused, sums->f));
    for (int64_t j = 1; j < n; j++)
        sums->x[j] *= (long double)(n - j);
    return szgi_dc_transform(context, n, sums->x, sums->g, sums->unused);
}

static void set_h(szgi_dc_half *half, int64_t k, long double h) {
    half->high[k] = (double)h;
    half->low[k] = (double)(h - (long double)half->high[k]);
}

static void fill(szgi_dc_halves *halves, double t0, const lag_sums *sums) {
    szgi_dc_half *even = &halves->half[0], *odd = &halves->half[1];
    long double n = (long double)halves->n;
    for (int64_t k = 0; k < odd->size; k++) {
        long double theta = pi * (long double)(2 * k + 1) / n;
        long double s = sinl(theta / 2), c = cosl(theta / 2), f = sums->f[k];
        even->weight[k] = (double)(sqrtl(2 / n) * s);
        odd->weight[k] = (double)(sqrtl(2 / n) * c);
        set_h(even, k, c / s * f);
        set_h(odd, k, s / c * f);
        long double both = (long double)t0 + 2 / n * sums->g[k], end = f / (n * s * c);
        even->diagonal[k] = (double)(both + end);
        odd->diagonal[k] = (double)(both - end);
    }
    if (even->size > odd->size) { /* odd n: theta = pi, where sin(theta x) vanishes */
        int64_t k = odd->size;
        even->weight[k] = (double)sqrtl(1 / n);
        set_h(even, k, 0);
        even->diagonal[k] = (double)((long double)t0 + 2 / n * sums->g[k]);
    }
}

/* Rayleigh quotients bound the norm from below, and so does the root mean square eigenvalue. */
static double norm_below(const szgi_dc_halves *halves, double t0, const lag_sums *sums) {
    long double square = (long double)halves->n * t0 * t0;
    for (int64_t j = 1; j < halves->n; j++) {
        long double weighted = sums->x[j]; /* (n-j) t_j, scaled */
        square += 2 * weighted * weighted / (long double)(halves->n - j);
    }
    double norm = (double)sqrtl(square / (long double)halves->n);
    for (int which = 0; which < 2; which++)
        for (int64_t k = 0; k < halves->half[which].size; k++)
            norm = fmax(norm, fabs(halves->half[which].diagonal[k]));
    return norm;
}

static void lay_out(szgi_dc_halves *out, double *memory) {
    int64_t n = out->n;
    out->memory = memory;
    for (int64_t j = -n; j <= n; j++)
        memory[n + j] = (double)sinl(pi * (long double)j / (long double)n);
    memory[0] = memory[2 * n] = 0;
    double *next = memory + 2 * n + 1;
    for (int which = 0; which < 2; which++) {
        szgi_dc_half *half = &out->half[which];
        int64_t size = which == 0 ? (n + 1) / 2 : n / 2;
        *half =
            (szgi_dc_half){size, next, next + size, next + 2 * size, next + 3 * size, memory + n};
        next += 4 * size;
    }
}

szg_status szgi_dc_halves_open(szg_context *context, int64_t n, const double *lags,
                               szgi_dc_halves *out) {
    *out = (szgi_dc_halves){.n = n};
    (void)szgi_cpu_level_best(); /* kernels go by the latest look */
    double largest = 0;
    for (int64_t j = 0; j < n; j++)
        largest = fmax(largest, fabs(lags[j]));
    if (largest > 0)
        (void)frexp(largest, &out->exponent);
    double *memory = NULL;
    long double *scratch = NULL;
    SZG_TRY(szgi_memory_alloc(context, 6 * n + 1, &memory));
    lay_out(out, memory);
    SZG_TRY(szgi_memory_alloc(context, 4 * n, &scratch));
    lag_sums sums = {scratch, scratch + n, scratch + 2 * n, scratch + 3 * n};
    szg_status status = sum_lags(context, n, lags, out->exponent, &sums);
    if (status == SZG_OK) {
        double t0 = ldexp(lags[0], -out->exponent);
        fill(out, t0, &sums);
        out->norm = norm_below(out, t0, &sums);
    }
    szgi_memory_free(scratch);
    return status;
}

void szgi_dc_halves_close(szgi_dc_halves *halves) {
    szgi_memory_free(halves->memory);
    *halves = (szgi_dc_halves){0};
}

void szgi_dc_half_block(const szgi_dc_half *half, int64_t row, int64_t rows, int64_t column,
                        int64_t columns, double *out, int64_t ld) {
    for (int64_t i = 0; i < rows; i++) {
        int64_t k = row + i;
        double *line = out + i * ld;
        szgi_dc_lowner_row(half, k, column, columns, line);
        if (k >= column && k < column + columns)
            line[k - column] = half->diagonal[k];
    }
}
