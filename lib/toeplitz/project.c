/* Projection of a dense matrix on the Toeplitz matrices: means along diagonals. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "toeplitz_private.h"

/* `width` doubles an entry. Names the first entry that is not finite. */
static szg_status check_square(szg_context *context, int64_t n, int width, const double *a,
                               int64_t lda) {
    if (n < 1 || lda < n)
        return szgi_fail(context, SZG_EINVAL,
                         "projection: a size of %" PRId64 " with leading dimension %" PRId64, n,
                         lda);
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < n * width; j++)
            if (!isfinite(a[i * lda * width + j]))
                return szgi_fail(context, SZG_EDATA,
                                 "projection: row %" PRId64 ", column %" PRId64 " is %g", i,
                                 j / width, a[i * lda * width + j]);
    }
    return SZG_OK;
}

/* A component of a diagonal: count numbers, `step` doubles apart. */
typedef struct diagonal {
    int64_t count, step;
    const double *at;
} diagonal;

static diagonal diagonal_of(int64_t n, int width, int part, const double *a, int64_t lda,
                            int64_t lag) {
    return (diagonal){.count = n - (lag < 0 ? -lag : lag),
                      .step = (lda + 1) * width,
                      .at = a + (lag > 0 ? lag * lda : -lag) * width + part};
}

/* The mean times `scale`, a power of two. Neumaier's summation, so that the zeros of Toeplitz parts
 * are zeros: off by u |mean|, and by count^2 u^2 times the mean modulus. */
static double diagonal_mean(const diagonal *d, double scale) {
    double sum = 0, lost = 0;
    for (int64_t i = 0; i < d->count; i++) {
        double x = d->at[i * d->step] * scale, next = sum + x;
        lost += fabs(sum) >= fabs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    if (isfinite(sum))
        return (sum + lost) / (double)d->count;
    /* The sum overflows, its mean does not: no count of numbers reaches 2^64. */
    return 0x1p64 * diagonal_mean(d, 0x1p-64 * scale);
}

static szg_status means(szg_context *context, int64_t n, int width, const double *a, int64_t lda,
                        double **out) {
    SZG_TRY(check_square(context, n, width, a, lda));
    SZG_TRY(szgi_memory_take(context, 2 * n - 1, sizeof(double) * (size_t)width, out));
    szg_status status = SZG_OK;
    for (int64_t lag = 1 - n; lag < n && status == SZG_OK; lag++) {
        status = szgi_context_check_cancel(context);
        for (int part = 0; part < width; part++) {
            diagonal d = diagonal_of(n, width, part, a, lda, lag);
            (*out)[(lag + n - 1) * width + part] = diagonal_mean(&d, 1);
        }
    }
    if (status != SZG_OK)
        szgi_memory_free(*out);
    return status;
}

/* conj a_{-k} = a_k for every lag */
static bool is_hermitian(int64_t n, int width, const double *mean) {
    for (int64_t lag = 0; lag < n; lag++) {
        const double *up = mean + (n - 1 + lag) * width, *down = mean + (n - 1 - lag) * width;
        if (up[0] != down[0] || (width == 2 && up[1] != -down[1]))
            return false;
    }
    return true;
}

szg_status szgi_toeplitz_open_means(szg_context *context, int64_t n, const double *mean,
                                    szg_toeplitz **out) {
    return is_hermitian(n, 1, mean) ? szg_toeplitz_open_symmetric(context, n, n, mean + n - 1, out)
                                    : szg_toeplitz_open_real(context, n, n, mean, out);
}

szg_status szgi_toeplitz_project(szg_context *context, int64_t n, const double *a, int64_t lda,
                                 szg_toeplitz **out) {
    *out = NULL;
    double *mean;
    SZG_TRY(means(context, n, 1, a, lda, &mean));
    szg_status status = szgi_toeplitz_open_means(context, n, mean, out);
    szgi_memory_free(mean);
    return status;
}

szg_status szgi_toeplitz_project_complex(szg_context *context, int64_t n, const szg_c64 *a,
                                         int64_t lda, szg_toeplitz **out) {
    *out = NULL;
    double *mean;
    SZG_TRY(means(context, n, 2, &a->re, lda, &mean));
    const szg_c64 *all = (const szg_c64 *)mean;
    szg_status status = is_hermitian(n, 2, mean)
                            ? szg_toeplitz_open_hermitian(context, n, n, all + n - 1, out)
                            : szg_toeplitz_open_complex(context, n, n, all, out);
    szgi_memory_free(mean);
    return status;
}

/* ---- Toeplitzness ---- */

static double largest_entry(int64_t n, int width, const double *a, int64_t lda) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n * width; j++)
            largest = fmax(largest, fabs(a[i * lda * width + j]));
    return largest;
}

/* The mean first, then squared deviations from it: a mean that is off by e adds count e^2. */
static void split_diagonal(const diagonal *d, double scale, szgi_split *split) {
    double mean = diagonal_mean(d, scale), rest = 0;
    for (int64_t i = 0; i < d->count; i++) {
        double deviation = d->at[i * d->step] * scale - mean;
        rest += deviation * deviation;
    }
    split->part += (double)d->count * mean * mean;
    split->rest += rest;
}

/* Squares of the parts of a matrix whose largest entry is near 1. Sums run over a diagonal, then
 * over at most 4 n components of diagonals. A mean is off by 2 u |mean| and n^2 u^2 times the mean
 * modulus, which in the Frobenius norm is `off` at most. */
static szg_status split_dense(szg_context *context, int64_t n, int width, const double *a,
                              int64_t lda, szg_tau *out) {
    *out = (szg_tau){NAN, NAN, false};
    SZG_TRY(check_square(context, n, width, a, lda));
    double scale = szgi_unit_scale(largest_entry(n, width, a, lda)), count = (double)n;
    szgi_split split = {0};
    for (int64_t lag = 1 - n; lag < n; lag++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int part = 0; part < width; part++) {
            diagonal d = diagonal_of(n, width, part, a, lda, lag);
            split_diagonal(&d, scale, &split);
        }
    }
    double unit = ROUNDING, sums = (5 * count + 8) * unit;
    double off =
        2 * unit * sqrt(split.part) + count * unit * (count * unit) * sqrt(split.part + split.rest);
    split.part_error = sums * split.part + off * (2 * sqrt(split.part) + off);
    split.rest_error = sums * split.rest + off * off;
    return szgi_split_tau(context, &split, out);
}

szg_status szg_toeplitzness(szg_context *context, int64_t n, const double *a, int64_t lda,
                            szg_tau *out) {
    SZGI_ENTER(context);
    return split_dense(context, n, 1, a, lda, out);
}

szg_status szgi_toeplitzness_complex(szg_context *context, int64_t n, const szg_c64 *a, int64_t lda,
                                     szg_tau *out) {
    return split_dense(context, n, 2, &a->re, lda, out);
}

szg_status szgi_toeplitzness_of_parts(szg_context *context, const szg_toeplitz *part, double rest,
                                      szg_tau *out) {
    double norm = szgi_toeplitz_norm_frobenius(part), scale = szgi_unit_scale(fmax(norm, rest));
    double n = (double)szg_toeplitz_size(part), sums = (n * n + 8) * ROUNDING;
    szgi_split split = {.part = norm * scale * (norm * scale),
                        .rest = rest * scale * (rest * scale)};
    double off = 2 * ROUNDING * sqrt(split.part);
    split.part_error = sums * split.part;
    split.rest_error = sums * split.rest + off * off;
    return szgi_split_tau(context, &split, out);
}
