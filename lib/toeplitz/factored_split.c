/* Toeplitzness of a factored matrix L = M o (A B^T + T), without the matrix.
 *
 * T changes the Toeplitz part alone: the rest is that of M o A B^T. What the ways to it cost on a
 * core with 30 GF/s and 8 GB/s, d = 128, as reckoned before they were chosen:
 *
 *   way      operations               bytes                       n = 2048   n = 131,072
 *   means    2 d + 1 real FFTs        16 n d read, 64 n kept      10 ms      0.7 s
 *   tiles    2 n^2 d + 5 n^2          256 KiB kept a worker,      45 ms      150 s
 *                                     16 (n + 128) a band
 *   factors  4 n d^2 (both R)         16 n d read, 3 MiB kept     9 ms       0.4 s
 *   causal   4 n d^2 + 512 n d        16 n d read, 1 MiB kept     10 ms      0.5 s
 *   sample   256 n d and 128 FFTs     16 n d read for each        0.1 s      3 s
 *                                     vector, 256 n kept
 *
 * Measured, means included: tiles 0.03 s at n = 2048; at n = 131,072 factors 2.4 s, causal 1.5 s, a
 * sample 2.7 s more. Tiles are as exact as the entries are, and cheaper than any spectrum up to
 * n = 2048. Beyond, the factors leave an error of the rest in proportion to the whole: enough
 * unless tau is near 1, and there the sample sees the rest alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "factored_private.h"

enum {
    BAND = 128,    /* rows of a tile: one block of the pool */
    CHUNK = 256,   /* its columns */
    SAMPLES = 64,  /* Gaussian vectors */
    BATCH = 16,    /* of them at a time */
    PURPOSE = 0x7a /* of their stream */
};

/* ---- Units ---- */

/* A matrix whose squares stay in range: columns of A and B, and T, in powers of two. */
typedef struct scaled {
    szg_factored f; /* without bias */
    int top;        /* T counts times 2^-top */
    double size;    /* sum_t |A_t| |B_t|: what rounding errors are measured against */
    double *memory; /* scaled copies; NULL: A and B are the caller's */
} scaled;

/* Exponents of largest moduli; NONE: of zeros. Within IN_RANGE no square leaves the range. */
enum { NONE = -100000, IN_RANGE = 128 };

static int exponent_of(double largest) {
    return largest > 0 ? ilogb(largest) : NONE;
}

static bool in_range(int exponent) {
    return exponent == NONE || abs(exponent) <= IN_RANGE;
}

/* The largest modulus of each column. */
static void largest_of_columns(const szg_factored *f, const double *a, int64_t lda, double *out) {
    memset(out, 0, (size_t)f->d * sizeof *out);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t t = 0; t < f->d; t++)
            out[t] = fmax(out[t], fabs(a[i * lda + t]));
}

static void squares_of_columns(const szg_factored *f, const double *a, int64_t lda, double *out) {
    memset(out, 0, (size_t)f->d * sizeof *out);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t t = 0; t < f->d; t++)
            out[t] += a[i * lda + t] * a[i * lda + t];
}

static int64_t first_lag(const szg_factored *f) {
    return f->causal ? 0 : 1 - f->n;
}

static int64_t lag_count(const szg_factored *f, int64_t lag) {
    return f->n - (lag < 0 ? -lag : lag);
}

static int bias_exponent(const szg_factored *f) {
    double largest = 0;
    for (int64_t k = first_lag(f); f->bias && k < f->n; k++)
        largest = fmax(largest, fabs(szg_toeplitz_at(f->bias, k).re));
    return exponent_of(largest);
}

/* A_t by 2^-a_t and B_t by 2^(a_t - top): what underflows is beyond any digit of the result. A
 * column of zeros on one side makes zeros of the other. */
static szg_status copy_scaled(szg_context *context, const szg_factored *f, const double *a,
                              const double *b, scaled *s) {
    int64_t n = f->n, d = f->d, size;
    SZG_TRY(szgi_memory_product(context, n, 2 * d, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &s->memory));
    double *left = s->memory, *right = left + n * d;
    for (int64_t t = 0; t < d; t++) {
        if (!(a[t] > 0) || !(b[t] > 0))
            continue;
        int exponent = exponent_of(a[t]);
        for (int64_t i = 0; i < n; i++) {
            left[i * d + t] = ldexp(f->a[i * f->lda + t], -exponent);
            right[i * d + t] = ldexp(f->b[i * f->ldb + t], exponent - s->top);
        }
    }
    s->f.a = left, s->f.b = right;
    s->f.lda = s->f.ldb = d;
    return SZG_OK;
}

/* a, b: room for a number a column. */
static szg_status fit_range(szg_context *context, const szg_factored *f, double *a, double *b,
                            scaled *s) {
    int top = bias_exponent(f);
    bool fits = in_range(top);
    largest_of_columns(f, f->a, f->lda, a);
    largest_of_columns(f, f->b, f->ldb, b);
    for (int64_t t = 0; t < f->d; t++) {
        int left = exponent_of(a[t]), right = exponent_of(b[t]);
        fits = fits && in_range(left) && in_range(right);
        if (left != NONE && right != NONE && left + right > top)
            top = left + right;
    }
    if (top != NONE && !(fits && in_range(top))) {
        s->top = top;
        SZG_TRY(copy_scaled(context, f, a, b, s));
    }
    squares_of_columns(&s->f, s->f.a, s->f.lda, a);
    squares_of_columns(&s->f, s->f.b, s->f.ldb, b);
    for (int64_t t = 0; t < f->d; t++)
        s->size += sqrt(a[t]) * sqrt(b[t]);
    return SZG_OK;
}

static szg_status scale(szg_context *context, const szg_factored *f, scaled *s) {
    double *largest;
    *s = (scaled){.f = *f};
    s->f.bias = NULL;
    SZG_TRY(szgi_memory_alloc(context, 2 * f->d, &largest));
    szg_status status = fit_range(context, f, largest, largest + f->d, s);
    szgi_memory_free(largest);
    return status;
}

/* ---- Means ---- */

/* The diagonals of M o A B^T: lag k at k + n - 1. */
typedef struct diagonals {
    double *mean;  /* 2 n - 1 */
    double error;  /* bound of the means' error, as a Toeplitz matrix in the Frobenius norm */
    double square; /* ||P_T||_F^2 of the low-rank part */
} diagonals;

/* Square of the low-rank part's Toeplitz part, and of L's own, T included. */
static void part_squares(const szg_factored *f, const scaled *s, diagonals *x, double *part) {
    x->square = *part = 0;
    for (int64_t k = first_lag(f); k < f->n; k++) {
        double count = (double)lag_count(f, k), mean = x->mean[k + f->n - 1];
        double whole = mean + (f->bias ? ldexp(szg_toeplitz_at(f->bias, k).re, -s->top) : 0);
        x->square += count * mean * mean;
        *part += count * whole * whole;
    }
}

/* A transform of length m is off by c = 8 u log2 m of the result's norm (Higham 2002, Theorem 24.2,
 * for radix 2: 6.7 u log2 m). Both transforms of a column and the sum over d products leave
 * (2 c + (d + 4) u) S in each diagonal's sum, S the size, and the transform back c times the norm
 * of all sums, those above the diagonal too where a mask drops them afterwards. A sum's error e
 * counts e^2 / count in the square; 1 / count adds up to 2 (1 + ln n). */
static double transform_error(const scaled *s, double norm_of_sums) {
    double n = (double)s->f.n, c = 8 * ROUNDING * (2 + log2(2 * n)), ways = 2 * (1 + log(n));
    double each = (2 * c + ((double)s->f.d + 4) * ROUNDING) * s->size;
    return each * sqrt(ways) + c * norm_of_sums;
}

static szg_status open_means(szg_context *context, const scaled *s, diagonals *x) {
    double norm_of_sums;
    *x = (diagonals){0};
    SZG_TRY(szgi_factored_diagonal_sums(context, &s->f, &norm_of_sums, &x->mean));
    x->error = s->f.d > 0 ? transform_error(s, norm_of_sums) : 0;
    for (int64_t k = 1 - s->f.n; k < s->f.n; k++)
        x->mean[k + s->f.n - 1] /= (double)lag_count(&s->f, k);
    return SZG_OK;
}

/* ---- Tiles ---- */

/* Deviations of the entries from the means at hand, and their squares, summed by diagonals: the
 * means are mended by the first, the squares by the first's (Chan, Golub, LeVeque 1983). */
typedef struct tiles {
    const szg_factored *f;
    const double *mean;
    double *tile;  /* BAND x CHUNK a worker */
    double *sums;  /* 2 x width a band: of deviations, of squares, by j - i */
    int64_t width; /* n + BAND: the diagonals of a band, column less row, from -(its last row) */
} tiles;

static void add_tile(const tiles *job, int64_t i, int64_t j, int64_t columns,
                     const double *restrict row, double *restrict sum, double *restrict square) {
    const double *mean = job->mean + i - j + job->f->n - 1;
    if (job->f->causal && columns > i + 1 - j)
        columns = i + 1 - j;
    for (int64_t c = 0; c < columns; c++) {
        double deviation = row[c] - mean[-c];
        sum[c] += deviation;
        square[c] += deviation * deviation;
    }
}

static szg_status tile_band(szg_context *context, void *argument, int64_t band, int worker) {
    const tiles *job = argument;
    const szg_factored *f = job->f;
    int64_t first = band * BAND, rows = f->n - first < BAND ? f->n - first : BAND;
    int64_t end = f->causal ? first + rows : f->n;
    double *tile = job->tile + (int64_t)worker * BAND * CHUNK;
    double *sum = job->sums + 2 * band * job->width, *square = sum + job->width;
    for (int64_t j = 0; j < end; j += CHUNK) {
        int64_t columns = end - j < CHUNK ? end - j : CHUNK;
        SZG_TRY(szgi_gemm(context, 'n', 't', rows, columns, f->d, 1, f->a + first * f->lda, f->lda,
                          f->b + j * f->ldb, f->ldb, 0, tile, CHUNK));
        for (int64_t r = 0; r < rows; r++) {
            int64_t at = j - r + BAND - 1; /* j - i from -(first + BAND - 1) */
            add_tile(job, first + r, j, columns, tile + r * CHUNK, sum + at, square + at);
        }
        SZG_TRY(szgi_context_check_cancel(context));
    }
    return SZG_OK;
}

/* Sums of a diagonal over the bands that it meets: rows max(lag, 0) .. to the end. */
static void diagonal_of_bands(const tiles *job, int64_t bands, int64_t lag, double *sum,
                              double *square) {
    *sum = *square = 0;
    for (int64_t band = 0; band < bands; band++) {
        int64_t at = band * BAND + BAND - 1 - lag;
        if (at < 0 || at >= job->width)
            continue;
        *sum += job->sums[2 * band * job->width + at];
        *square += job->sums[(2 * band + 1) * job->width + at];
    }
}

/* Mends the means; *rest: the square of what they leave, *squares: before they were mended. */
static void collect_tiles(const tiles *job, int64_t bands, diagonals *x, double *rest,
                          double *squares) {
    *rest = *squares = 0;
    for (int64_t lag = first_lag(job->f); lag < job->f->n; lag++) {
        double sum, square, count = (double)lag_count(job->f, lag);
        diagonal_of_bands(job, bands, lag, &sum, &square);
        x->mean[lag + job->f->n - 1] += sum / count;
        *rest += fmax(square - sum * (sum / count), 0);
        *squares += square;
    }
}

static szg_status run_tiles(szg_context *context, const szg_factored *f, diagonals *x, double *rest,
                            double *squares) {
    int64_t bands = (f->n + BAND - 1) / BAND, size;
    tiles job = {.f = f, .mean = x->mean, .width = f->n + BAND};
    szg_status status;
    SZG_TRY(szgi_memory_product(context, 2 * bands, job.width, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &job.sums));
    SZG_TRY_GOTO(
        status,
        szgi_memory_alloc(context, (int64_t)szg_context_threads(context) * BAND * CHUNK, &job.tile),
        done);
    SZG_TRY_GOTO(status, szgi_pool_run(context, bands, tile_band, &job), done);
    collect_tiles(&job, bands, x, rest, squares);
done:
    szgi_memory_free(job.tile);
    szgi_memory_free(job.sums);
    return status;
}

/* An entry is off by (d + 1) u |A_i| |B_j| (componentwise), all of them by (d + 1) u S in the
 * Frobenius norm, S the size; that moves the norms of the rest and of the part by as much. Sums of
 * a diagonal run over BAND rows, then over bands, then over diagonals. */
static szg_status split_tiles(szg_context *context, const szg_factored *f, const scaled *s,
                              diagonals *x, szgi_split *split) {
    double squares, n = (double)f->n, u = ROUNDING;
    SZG_TRY(run_tiles(context, &s->f, x, &split->rest, &squares));
    part_squares(f, s, x, &split->part);
    double sums = (3 * n + 2 * BAND + 16) * u, entries = ((double)f->d + 1) * u * s->size;
    double off = entries + sums * sqrt(squares) + 2 * u * (sqrt(x->square) + sqrt(split->part));
    split->part_error = sums * split->part + off * (2 * sqrt(split->part) + off);
    split->rest_error = 2 * sums * squares + entries * (2 * sqrt(split->rest) + entries);
    return SZG_OK;
}

/* ---- Factors ---- */

/* ||A B^T||_F = ||R_A R_B^T||_F. */
static szg_status qr_square(szg_context *context, const szg_factored *f, double *square) {
    int64_t d = f->d, size;
    double *memory, norm = 0;
    szg_status status;
    SZG_TRY(szgi_memory_product(context, 3 * d, d, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &memory));
    double *left = memory, *right = left + d * d, *product = right + d * d;
    SZG_TRY_GOTO(status, szgi_tall_r(context, f->n, d, f->a, f->lda, left), done);
    SZG_TRY_GOTO(status, szgi_tall_r(context, f->n, d, f->b, f->ldb, right), done);
    SZG_TRY_GOTO(status, szgi_gemm(context, 'n', 't', d, d, d, 1, left, d, right, d, 0, product, d),
                 done);
    for (int64_t i = 0; i < d; i++)
        norm = hypot(norm, szgi_norm(d, product + i * d));
    *square = norm * norm;
done:
    szgi_memory_free(memory);
    return status;
}

/* The square of the masked low-rank part and a bound of its error. QR: columns of A and B are off
 * by szgi_tall_r_error, their product by d u besides. Gram matrices: an entry sums
 * SZGI_FACTORED_STEP products, then steps, their inner product d^2 / 8, then steps again; the
 * blocks on the diagonal less. The moduli of all terms add up to S^2 at most. */
static szg_status low_rank_square(szg_context *context, const scaled *s, double *square,
                                  double *error) {
    double d = (double)s->f.d, u = ROUNDING, size = s->size;
    double steps = (double)(s->f.n / SZGI_FACTORED_STEP + 1);
    if (s->f.causal) {
        SZG_TRY(szgi_factored_low_rank_square(context, &s->f, square));
        *error = (2 * SZGI_FACTORED_STEP + 3 * steps + d * d / 8 + 2 * d + 32) * u * size * size;
        return SZG_OK;
    }
    SZG_TRY(qr_square(context, &s->f, square));
    double off = (2 * szgi_tall_r_error(s->f.n, s->f.d) + (d + 2) * u) * size;
    *error = off * (2 * sqrt(*square) + off) + (4 * d + 16) * u * *square;
    return SZG_OK;
}

static szg_status split_factors(szg_context *context, const szg_factored *f, const scaled *s,
                                diagonals *x, szgi_split *split) {
    double square, error, u = ROUNDING;
    SZG_TRY(low_rank_square(context, s, &square, &error));
    part_squares(f, s, x, &split->part);
    double sums = (2 * (double)f->n + 8) * u, low = sqrt(x->square), part = sqrt(split->part);
    double off = x->error + 2 * u * (low + part);
    split->rest = fmax(square - x->square, 0);
    split->rest_error = error + sums * x->square + off * (2 * low + off) + u * square;
    split->part_error = sums * split->part + off * (2 * part + off);
    return SZG_OK;
}

/* ---- Samples ---- */

/* M o A B^T less its Toeplitz part. */
static szg_status open_rest(szg_context *context, const scaled *s, const diagonals *x,
                            szg_factored *rest, szg_toeplitz **part) {
    double *minus;
    int64_t lags = 2 * s->f.n - 1;
    SZG_TRY(szgi_memory_alloc(context, lags, &minus));
    for (int64_t at = 0; at < lags; at++)
        minus[at] = -x->mean[at];
    szg_status status = szg_toeplitz_open_real(context, s->f.n, s->f.n, minus, part);
    szgi_memory_free(minus);
    *rest = s->f;
    rest->bias = *part;
    return status;
}

static szg_status sample_mean(szg_context *context, const szg_factored *rest, double *mean) {
    int64_t n = rest->n, size;
    double *x;
    szg_status status = SZG_OK;
    *mean = 0;
    SZG_TRY(szgi_memory_product(context, n, 2 * BATCH, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &x));
    double *y = x + n * BATCH;
    for (uint32_t first = 0; first < SAMPLES && status == SZG_OK; first += BATCH) {
        szgi_stream stream = {.step = first, .purpose = PURPOSE};
        szgi_random_fill_normal(&stream, 0, n * BATCH, x);
        status = szgi_factored_apply(context, rest, 'n', BATCH, x, n, y, n);
        for (int64_t b = 0; b < BATCH; b++) {
            double norm = szgi_norm(n, y + b * n);
            *mean += norm * norm / SAMPLES;
        }
    }
    szgi_memory_free(x);
    return status;
}

/* E ||E g||^2 = ||E||_F^2, with variance 2 ||E^T E||_F^2 <= 2 ||E||_F^4. A product is off by
 * (n + d) u S |g| and by 4 c sum |mean| |g|, c as in transform_error; E |g|^2 = n. The means' own
 * error is part of what is left. */
static szg_status split_samples(szg_context *context, const scaled *s, const diagonals *x,
                                szgi_split *split) {
    szg_toeplitz *part = NULL;
    szg_factored rest;
    szg_status status = open_rest(context, s, x, &rest, &part);
    if (status == SZG_OK)
        status = sample_mean(context, &rest, &split->rest);
    if (status != SZG_OK) {
        szg_toeplitz_close(&part);
        return status;
    }
    double n = (double)s->f.n, u = ROUNDING, transform = 8 * u * (2 + log2(2 * n));
    double product =
        (n + (double)s->f.d) * u * s->size + 4 * transform * szgi_toeplitz_norm_wiener(part);
    double off = product * sqrt(n) + x->error;
    split->rest_error = split->rest * sqrt(2.0 / SAMPLES) + off * (2 * sqrt(split->rest) + off);
    szg_toeplitz_close(&part);
    return SZG_OK;
}

/* ---- Which way ---- */

static szg_status split_scaled(szg_context *context, const szg_factored *f, const scaled *s,
                               diagonals *x, szg_tau *tau) {
    szgi_split split = {0};
    if (f->n <= SZG_FACTORED_TILES || f->d >= f->n || f->d == 0) {
        if (f->d > 0)
            SZG_TRY(split_tiles(context, f, s, x, &split));
        else
            part_squares(f, s, x, &split.part);
        return szgi_split_tau(context, &split, tau);
    }
    SZG_TRY(split_factors(context, f, s, x, &split));
    SZG_TRY(szgi_split_tau(context, &split, tau));
    if (1 - tau->value > tau->error)
        return SZG_OK;
    SZG_TRY(split_samples(context, s, x, &split));
    SZG_TRY(szgi_split_tau(context, &split, tau));
    tau->sampled = true;
    return SZG_OK;
}

szg_status szg_factored_toeplitzness(szg_context *context, const szg_factored *f, szg_tau *tau) {
    *tau = (szg_tau){NAN, NAN, false};
    SZGI_ENTER(context);
    SZG_TRY(szgi_factored_check_finite(context, f));
    scaled s;
    diagonals x = {0};
    szg_status status = scale(context, f, &s);
    if (status == SZG_OK)
        status = open_means(context, &s, &x);
    if (status == SZG_OK)
        status = split_scaled(context, f, &s, &x, tau);
    szgi_memory_free(x.mean);
    szgi_memory_free(s.memory);
    return status;
}
