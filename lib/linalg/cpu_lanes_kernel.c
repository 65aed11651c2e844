/* Householder's reduction to tridiagonal form, then square-root-free QL (Pal, Walker, Kahan;
 * Parlett 1998, 8.15), for as many symmetric matrices as a vector has doubles. Element i of an
 * array of vectors holds number i of every matrix. */
#include <math.h>
#include <stdbool.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "cpu_lanes.h"
#include "cpu_level.h"

#if defined(__AVX512F__)
enum { LANES = 8, ROWS = 4 };
#elif defined(__AVX2__)
enum { LANES = 4, ROWS = 2 };
#else
enum { LANES = 2, ROWS = 2 };
#endif

typedef double vec __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec splat(double x) {
    return x - (vec){0};
}

/* yes where the lane of `which` is all ones, no where it is 0. */
INLINE vec choose(mask which, vec yes, vec no) {
    return (vec)((which & (mask)yes) | (~which & (mask)no));
}

INLINE vec root(vec x) {
#if defined(__AVX512F__)
    return (vec)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__)
    return (vec)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE2__)
    return (vec)_mm_sqrt_pd((__m128d)x);
#else
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = sqrt(x[lane]);
    return x;
#endif
}

INLINE vec least(vec a, vec b) {
#if defined(__AVX512F__)
    return (vec)_mm512_min_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (vec)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (vec)_mm_min_pd((__m128d)a, (__m128d)b);
#else
    return choose(a < b, a, b);
#endif
}

INLINE vec largest(vec a, vec b) {
#if defined(__AVX512F__)
    return (vec)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (vec)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
    return (vec)_mm_max_pd((__m128d)a, (__m128d)b);
#else
    return choose(a > b, a, b);
#endif
}

/* -0.0 has the sign bit alone. */
INLINE vec magnitude(vec x) {
    return (vec)((mask)x & ~(mask)splat(-0.0));
}

INLINE vec with_sign(vec x, vec sign) {
    mask bit = (mask)splat(-0.0);
    return (vec)(((mask)x & ~bit) | ((mask)sign & bit));
}

/* ---- Householder's reduction, from the last row up ----
 *
 * Entries are at most 4 in modulus. What is dropped is below 2^-450 then. */

/* Row `row` of a packed lower triangle. */
INLINE vec *row_of(vec *a, int64_t row) {
    return a + row * (row + 1) / 2;
}

/* v, with v[m-1] = 1, and tau, so that (I - tau v v^T) x is `e` at m-1 and 0 elsewhere; tau = 0
 * where x is so already, or so nearly that its squares would lose digits. m >= 2. */
static void reflector(int64_t m, const vec *x, vec *v, vec *tau, vec *e) {
    vec sums[4] = {{0}}, alpha = x[m - 1];
    int64_t j = 0;
    for (; j + 4 <= m - 1; j += 4)
        for (int r = 0; r < 4; r++)
            sums[r] += x[j + r] * x[j + r];
    for (; j < m - 1; j++)
        sums[0] += x[j] * x[j];
    vec sigma = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    mask some = sigma > splat(0x1p-900);
    vec beta = -with_sign(root(alpha * alpha + sigma), alpha);
    vec factor = choose(some, 1 / (alpha - beta), splat(0));
    *tau = choose(some, (beta - alpha) / beta, splat(0));
    *e = choose(some, beta, alpha);
    for (j = 0; j < m - 1; j++)
        v[j] = x[j] * factor;
    v[m - 1] = splat(1);
}

/* Rows r .. r + rows - 1 of a -= p q^T + q p^T and of y = a v, the transposed part of y included:
 * later rows add to it. */
INLINE void update_rows(int64_t r, int rows, vec *a, const vec *p, const vec *q, const vec *v,
                        vec *y) {
    vec *at[ROWS], pr[ROWS], qr[ROWS], vr[ROWS], sum[ROWS];
    for (int k = 0; k < rows; k++) {
        at[k] = row_of(a, r + k);
        pr[k] = p[r + k], qr[k] = q[r + k], vr[k] = v[r + k], sum[k] = splat(0);
    }
    for (int64_t j = 0; j < r; j++) {
        vec pj = p[j], qj = q[j], vj = v[j], yj = y[j];
        for (int k = 0; k < rows; k++) {
            vec x = at[k][j] - pr[k] * qj - qr[k] * pj;
            at[k][j] = x;
            sum[k] += x * vj;
            yj += x * vr[k];
        }
        y[j] = yj;
    }
    for (int k = 0; k < rows; k++)
        for (int j = 0; j <= k; j++) {
            vec x = at[k][r + j] - pr[k] * qr[j] - qr[k] * pr[j];
            at[k][r + j] = x;
            sum[k] += x * vr[j];
            if (j < k)
                sum[j] += x * vr[k];
        }
    for (int k = 0; k < rows; k++)
        y[r + k] = sum[k];
}

/* Both at once, of the leading m rows: each entry is read and written once a step. */
static void update_and_multiply(int64_t m, vec *a, const vec *p, const vec *q, const vec *v,
                                vec *y) {
    int64_t r = 0;
    for (; r + ROWS <= m; r += ROWS)
        update_rows(r, ROWS, a, p, q, v, y);
    for (; r < m; r++)
        update_rows(r, 1, a, p, q, v, y);
}

/* w = y tau - v tau^2 (y^T v) / 2 in place of y: then H A H = A - v w^T - w v^T. */
static void finish_update(int64_t m, vec tau, const vec *v, vec *y) {
    vec sums[4] = {{0}};
    int64_t j = 0;
    for (; j + 4 <= m; j += 4)
        for (int r = 0; r < 4; r++)
            sums[r] += y[j + r] * v[j + r];
    for (; j < m; j++)
        sums[0] += y[j] * v[j];
    vec half = tau * tau * ((sums[0] + sums[1]) + (sums[2] + sums[3])) * 0.5;
    for (j = 0; j < m; j++)
        y[j] = tau * y[j] - half * v[j];
}

/* Diagonal and squares of the off-diagonal, n and n - 1 of them. `vectors` has room for four. */
static void tridiagonalise(int64_t n, vec *a, vec *vectors, vec *d, vec *square) {
    vec *p = vectors, *q = p + n, *v = q + n, *y = v + n;
    for (int64_t j = 0; j < n; j++)
        p[j] = q[j] = splat(0);
    for (int64_t i = n - 1; i >= 0; i--) {
        vec *row = row_of(a, i), pi = p[i], qi = q[i], tau, e;
        for (int64_t j = 0; j <= i; j++)
            row[j] = row[j] - pi * q[j] - qi * p[j];
        d[i] = row[i];
        if (i == 1)
            square[0] = row[0] * row[0];
        if (i < 2)
            continue;
        reflector(i, row, v, &tau, &e);
        square[i - 1] = e * e;
        update_and_multiply(i, a, p, q, v, y);
        finish_update(i, tau, v, y);
        vec *free_p = p, *free_q = q;
        p = v, q = y, v = free_p, y = free_q;
    }
}

/* ---- QL ----
 *
 * A pivot whose square is below PIVOT counts as 0, and so does the square of an end's off-diagonal
 * below LOOSE: with entries of at most 4 n that moves values by less than n 2^-197, and no quotient
 * leaves the range of doubles. */
static const double PIVOT = 0x1p-500, LOOSE = 0x1p-400;

typedef struct group {
    vec *d, *square;     /* n each; the last square is scratch */
    int64_t l[LANES];    /* values below are done */
    int64_t left[LANES]; /* sweeps that the lane may still take */
    vec gamma, p, s, c, sigma;
    mask first; /* l, n for lanes that rest */
} group;

/* Moves the end of each lane past what has converged, as dsterf judges it; the first index at which
 * some lane goes on, n - 1: none. Sets up the sweeps' shifts: the eigenvalue of the leading block
 * of order two that is nearer to its first entry. */
static int64_t deflate(int64_t n, group *g) {
    int64_t begin = n - 1;
    vec here = splat(0), next = splat(0), square = splat(1);
    for (int lane = 0; lane < LANES; lane++) {
        int64_t l = g->l[lane];
        while (l < n - 1 &&
               !(g->square[l][lane] > 0x1p-104 * fabs(g->d[l][lane] * g->d[l + 1][lane]) + LOOSE))
            l++;
        g->l[lane] = l;
        bool active = l < n - 1 && g->left[lane] > 0;
        g->first[lane] = active ? l : n;
        if (!active)
            continue;
        g->left[lane]--;
        begin = l < begin ? l : begin;
        here[lane] = g->d[l][lane];
        next[lane] = g->d[l + 1][lane];
        square[lane] = g->square[l][lane];
    }
    vec e = root(square), half = (next - here) / (2 * e);
    g->sigma = here - e / (half + with_sign(root(half * half + 1), half));
    g->gamma = g->d[n - 1] - g->sigma;
    g->p = g->gamma * g->gamma;
    g->c = splat(1), g->s = splat(0);
    return begin;
}

/* One rotation, of rows i and i + 1, in lanes that have not reached their end. */
INLINE void rotate(group *g, int64_t i) {
    mask active = g->first <= i;
    vec b = g->square[i], alpha = g->d[i], r = g->p + b;
    vec both = 1 / (r * g->p);
    mask zero = g->p < splat(PIVOT);
    vec c = choose(zero, splat(0), g->p * (g->p * both));
    vec s = choose(zero, splat(1), b * (g->p * both));
    vec gamma = c * (alpha - g->sigma) - s * g->gamma;
    vec p = choose(zero, g->c * b, gamma * gamma * (r * (r * both)));
    g->d[i + 1] = choose(active, g->gamma + (alpha - gamma), g->d[i + 1]);
    g->square[i + 1] = choose(active, g->s * r, g->square[i + 1]);
    g->gamma = choose(active, gamma, g->gamma);
    g->p = choose(active, p, g->p);
    g->c = choose(active, c, g->c);
    g->s = choose(active, s, g->s);
}

static void finish_sweep(int64_t n, group *g) {
    vec d = g->sigma + g->gamma, square = g->s * g->p;
    for (int lane = 0; lane < LANES; lane++)
        if (g->first[lane] < n) {
            g->d[g->first[lane]][lane] = d[lane];
            g->square[g->first[lane]][lane] = square[lane];
        }
}

static void sweep_all(int64_t n, group groups[SZGI_LANES_GROUPS]) {
    for (;;) {
        int64_t begin = n - 1;
        for (int k = 0; k < SZGI_LANES_GROUPS; k++) {
            int64_t at = deflate(n, &groups[k]);
            begin = at < begin ? at : begin;
        }
        if (begin == n - 1)
            return;
        group first = groups[0], second = groups[1];
        for (int64_t i = n - 2; i >= begin; i--) {
            rotate(&first, i);
            rotate(&second, i);
        }
        finish_sweep(n, &first);
        finish_sweep(n, &second);
    }
}

/* QL converges to the values of small modulus first if they stand first. */
static void turn(int64_t n, vec *d, vec *square) {
    mask turned = magnitude(d[n - 1]) < magnitude(d[0]);
    for (int64_t i = 0; i < n / 2; i++) {
        vec x = d[i], y = d[n - 1 - i];
        d[i] = choose(turned, y, x);
        d[n - 1 - i] = choose(turned, x, y);
    }
    for (int64_t i = 0; i < (n - 1) / 2; i++) {
        vec x = square[i], y = square[n - 2 - i];
        square[i] = choose(turned, y, x);
        square[n - 2 - i] = choose(turned, x, y);
    }
}

/* ---- From matrices to lanes and back ---- */

/* A power of two that brings `most` below 1, as far as it is a normal number. */
static double scale_of(double most) {
    int exponent;
    frexp(most, &exponent);
    return most == 0 ? 1 : ldexp(1, exponent > 1022 ? -1022 : exponent < -1022 ? 1022 : -exponent);
}

/* Lower triangles of `count` matrices, the first again in lanes without one, scaled: the factors
 * are the result. */
static vec pack(int64_t count, int64_t n, const double *from, int64_t stride, vec *a) {
    const double *at[LANES];
    for (int lane = 0; lane < LANES; lane++)
        at[lane] = from + (lane < count ? lane : 0) * stride;
    vec most = splat(0), factor;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            vec x;
            for (int lane = 0; lane < LANES; lane++)
                x[lane] = at[lane][i * n + j];
            most = largest(most, magnitude(x));
            *a++ = x;
        }
    for (int lane = 0; lane < LANES; lane++)
        factor[lane] = scale_of(most[lane]);
    a -= n * (n + 1) / 2;
    for (int64_t i = 0; i < n * (n + 1) / 2; i++)
        a[i] *= factor;
    return factor;
}

/* Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M): the same
 * comparisons whatever the numbers. */
static void sort(int64_t n, vec *x) {
    int64_t top = 1;
    while (top < n)
        top *= 2;
    for (int64_t p = top / 2; p > 0; p /= 2)
        for (int64_t q = top / 2, r = 0, d = p; q >= p; d = q - p, q /= 2, r = p)
            for (int64_t i = 0; i + d < n; i++)
                if ((i & p) == r) {
                    vec low = least(x[i], x[i + d]), high = largest(x[i], x[i + d]);
                    x[i] = low, x[i + d] = high;
                }
}

static void unpack(int64_t count, int64_t n, const vec *d, vec factor, double *w) {
    for (int64_t lane = 0; lane < count; lane++)
        for (int64_t i = 0; i < n; i++)
            w[lane * n + i] = d[i][lane] / factor[lane];
}

/* Matrices of group k: all that are left, at most a vector of them. */
static int64_t count_of(const szgi_lanes_job *job, int k) {
    int64_t left = job->count - (int64_t)k * LANES;
    return left < 0 ? 0 : left < LANES ? left : LANES;
}

/* The tridiagonal matrices of group k; the factors they are scaled by. A lane without a matrix is
 * done before it begins. */
static vec open_group(const szgi_lanes_job *job, int k, vec *a, vec *vectors, group *g) {
    int64_t n = job->n, count = count_of(job, k);
    for (int lane = 0; lane < LANES; lane++) {
        g->l[lane] = lane < count ? 0 : n - 1;
        g->left[lane] = job->sweeps;
    }
    for (int64_t i = 0; i < n; i++)
        g->d[i] = g->square[i] = splat(0);
    if (count == 0)
        return splat(1);
    vec factor = pack(count, n, job->a + (int64_t)k * LANES * job->stride, job->stride, a);
    tridiagonalise(n, a, vectors, g->d, g->square);
    turn(n, g->d, g->square);
    return factor;
}

/* The index in the job of the first matrix that has not converged; the job's count: none. */
static int64_t first_loose(const szgi_lanes_job *job, const group groups[SZGI_LANES_GROUPS]) {
    for (int64_t i = 0; i < job->count; i++)
        if (groups[i / LANES].l[i % LANES] < job->n - 1)
            return i;
    return job->count;
}

static int64_t eigenvalues(const szgi_lanes_job *job) {
    int64_t n = job->n;
    vec *a = (vec *)(void *)job->work, *vectors = a + n * (n + 1) / 2;
    vec *values = vectors + SZGI_LANES_VECTORS * n, factor[SZGI_LANES_GROUPS];
    group groups[SZGI_LANES_GROUPS] = {{0}};
    for (int k = 0; k < SZGI_LANES_GROUPS; k++) {
        groups[k].d = values + 2 * k * n, groups[k].square = groups[k].d + n;
        factor[k] = open_group(job, k, a, vectors, &groups[k]);
    }
    sweep_all(n, groups);
    for (int k = 0; k < SZGI_LANES_GROUPS; k++) {
        sort(n, groups[k].d);
        unpack(count_of(job, k), n, groups[k].d, factor[k], job->w + (int64_t)k * LANES * n);
    }
    return first_loose(job, groups);
}

const szgi_lanes_kernels SZG_KERNELS(szgi_lanes) = {LANES, eigenvalues};
