/* Rotation as multiplication of complex planes. A 2 x 2 block [[a, b], [c, d]] of planes s and t is
 * z |-> alpha z + gamma conj(z) with alpha = (a + d + i (c - b)) / 2, gamma = (a - d + i (b + c)) /
 * 2; R_k multiplies plane t by e^{-i k theta_t}. Dimensions that do not turn form planes of their
 * own with the angle 0; the last of an odd number stands with a row of zeros. */
#include "share.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"

/* ---- Kernels ---- */

static void start_kernel(const szgi_rotary *rotary, lag_kernel *out) {
    out->constant = 0;
    memset(out->wave, 0, (size_t)(2 * rotary->pairs) * sizeof *out->wave);
}

/* Adds Re(z e^{i k theta_t}). */
static void add_plane(int64_t t, szg_c64 z, lag_kernel *out) {
    out->constant += z.re;
    out->wave[2 * t] += z.re;
    out->wave[2 * t + 1] -= z.im;
}

static bool turns(const szgi_rotary *rotary, int64_t i) {
    return i >= rotary->offset && i < rotary->offset + 2 * rotary->pairs;
}

/* Trace of the block that does not rotate. */
static double still_trace(const szgi_rotary *rotary, int64_t e, const double *cross) {
    double trace = 0;
    for (int64_t i = 0; i < e; i++)
        if (!turns(rotary, i))
            trace += cross[i * (e + 1)];
    return trace;
}

void szgi_kernel_of_cross(const szgi_rotary *rotary, int64_t e, const double *cross,
                          lag_kernel *out) {
    start_kernel(rotary, out);
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t a, b;
        szgi_pair_rows(rotary, t, &a, &b);
        add_plane(t,
                  szgi_pair_wave(cross[a * (e + 1)], cross[b * e + a], cross[a * e + b],
                                 cross[b * (e + 1)]),
                  out);
    }
    out->constant += still_trace(rotary, e, cross);
}

void szgi_kernel_of_means(const szgi_rotary *rotary, const double *q, const double *k, int64_t e,
                          lag_kernel *out) {
    start_kernel(rotary, out);
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t a, b;
        szgi_pair_rows(rotary, t, &a, &b);
        add_plane(t, szgi_pair_wave(q[a] * k[a], q[a] * k[b], q[b] * k[a], q[b] * k[b]), out);
    }
    for (int64_t i = 0; i < e; i++)
        if (!turns(rotary, i))
            out->constant += q[i] * k[i];
}

/* What a block of lags has beside `near`: x (cos a - 1) + y sin a with a = b + r is the same of b
 * alone, plus x' (cos r - 1) + y' sin r, x' and y' the coefficients turned by b. All terms are
 * small where a pair hardly turns. */
static double turn_kernel(int64_t pairs, const double *wave, const double *far, double *out) {
    double sum = 0;
    for (int64_t t = 0; t < pairs; t++) {
        double x = wave[2 * t], y = wave[2 * t + 1], cosine = far[2 * t], sine = far[2 * t + 1];
        double value = x * cosine + y * sine;
        sum += value;
        out[2 * t] = x + value;
        out[2 * t + 1] = y + (y * cosine - x * sine);
    }
    return sum;
}

szg_status szgi_kernel_values(szg_context *context, const lag_kernel *kernel,
                              const lag_moments *moments, double *out) {
    int64_t n = 2 * moments->pairs, blocks = moments->blocks;
    int64_t count = szgi_lag_moments_count(moments);
    double *turned;
    SZG_TRY(szgi_memory_alloc(context, blocks * (n + LAG_BLOCK), &turned));
    double *value = turned + blocks * n;
    for (int64_t i = 0; i < blocks; i++) {
        double begin = kernel->constant + turn_kernel(moments->pairs, kernel->wave,
                                                      moments->far + i * n, turned + i * n);
        for (int64_t r = 0; r < LAG_BLOCK; r++)
            value[i * LAG_BLOCK + r] = begin;
    }
    szg_status status = szgi_gemm(context, 'n', 't', blocks, LAG_BLOCK, n, 1, turned, n,
                                  moments->near, n, 1, value, LAG_BLOCK);
    memcpy(out, value, (size_t)count * sizeof *out);
    szgi_memory_free(turned);
    return status;
}

/* ---- Noise ---- */

/* The rows of each plane; those behind rotary->pairs do not turn. */
typedef struct plane {
    int64_t first, second; /* second -1: a row of zeros */
} plane;

static int64_t list_planes(const szgi_rotary *rotary, int64_t e, plane *out) {
    int64_t count = rotary->pairs;
    bool open = false;
    for (int64_t t = 0; t < count; t++)
        szgi_pair_rows(rotary, t, &out[t].first, &out[t].second);
    for (int64_t i = 0; i < e; i++) {
        if (turns(rotary, i))
            continue;
        if (open)
            out[count++].second = i;
        else
            out[count] = (plane){i, -1};
        open = !open;
    }
    return count + open;
}

/* A block of two planes: alpha and gamma. */
typedef struct block {
    szg_c64 linear, conjugate;
} block;

static double entry(const double *a, int64_t e, int64_t i, int64_t j) {
    return i < 0 || j < 0 ? 0 : a[i * e + j];
}

static block block_of(const double *g, int64_t e, plane s, plane t) {
    double a = entry(g, e, s.first, t.first), b = entry(g, e, s.first, t.second);
    double c = entry(g, e, s.second, t.first), d = entry(g, e, s.second, t.second);
    return (block){{(a + d) / 2, (c - b) / 2}, {(a - d) / 2, (b + c) / 2}};
}

/* Re(x conj(y) z). */
static double product(szg_c64 x, szg_c64 y, szg_c64 z) {
    double re = x.re * y.re + x.im * y.im, im = x.im * y.re - x.re * y.im;
    return re * z.re - im * z.im;
}

/* The part of plane pair (s, t) in the mean of <A, R_k B R_k^T>. */
static double contract(block a, block b, szg_c64 difference, szg_c64 sum) {
    return 2 * (product(a.linear, b.linear, difference) + product(a.conjugate, b.conjugate, sum));
}

/* out = a + x x^T; x of the dimensions that turn alone, with `turning`. */
static void add_square(const szgi_rotary *rotary, int64_t e, const double *a, const double *x,
                       bool turning, double *out) {
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++) {
            bool counts = !turning || (turns(rotary, i) && turns(rotary, j));
            out[i * e + j] = a[i * e + j] + (counts ? x[i] * x[j] : 0);
        }
}

/* The mean of <a, R_k b R_k^T>: the planes (s, t) and (t, s) add the same. */
static double mean_product(const szgi_rotary *rotary, int64_t e, int64_t planes, const plane *list,
                           const double *a, const double *b, const lag_moments *moments) {
    double sum = 0;
    for (int64_t s = 0; s < planes; s++)
        for (int64_t t = s; t < planes; t++) {
            szg_c64 difference, both;
            szgi_lag_moments_phases(moments, s < rotary->pairs ? s : -1, t < rotary->pairs ? t : -1,
                                    &difference, &both);
            sum += (s == t ? 1 : 2) * contract(block_of(a, e, list[s], list[t]),
                                               block_of(b, e, list[s], list[t]), difference, both);
        }
    return sum;
}

/* <Q, R K R^T> + <Q, R k k^T R^T> + <q q^T, R K R^T> =
 * <Q + q q^T, R (K + k k^T) R^T> - (q^T R k)^2 would cancel: the second term is its own product. */
szg_status szgi_share_noise(szg_context *context, const szgi_rotary *rotary, int64_t e,
                            const head_law *law, const lag_moments *moments, double *out) {
    plane *planes;
    double *room;
    SZG_TRY(szgi_memory_alloc(context, e, &planes));
    szg_status status = szgi_memory_alloc(context, 2 * e * e, &room);
    if (status == SZG_OK) {
        int64_t count = list_planes(rotary, e, planes);
        double *outer = room + e * e;
        add_square(rotary, e, law->k_covariance, law->k_mean, true, room);
        memset(outer, 0, (size_t)(e * e) * sizeof *outer);
        add_square(rotary, e, outer, law->q_mean, false, outer);
        *out = szgi_variance_of(
            mean_product(rotary, e, count, planes, law->q_covariance, room, moments) +
            mean_product(rotary, e, count, planes, outer, law->k_covariance, moments));
    }
    szgi_memory_free(room);
    szgi_memory_free(planes);
    return status;
}
