/* Projection of a dense matrix on the Toeplitz matrices: means along diagonals. */
#include <inttypes.h>
#include <math.h>

#include <szego/memory.h>
#include "toeplitz_private.h"

/* `width` doubles an entry. Names the first entry that is not finite. */
static szg_status check_square(szg_context *context, int64_t n, int width, const double *a,
                               int64_t lda) {
    if (n < 1 || lda < n)
        return szg_fail(context, SZG_EINVAL,
                        "projection: a size of %" PRId64 " with leading dimension %" PRId64, n,
                        lda);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n * width; j++)
            if (!isfinite(a[i * lda * width + j]))
                return szg_fail(context, SZG_EDATA,
                                "projection: row %" PRId64 ", column %" PRId64 " is %g", i,
                                j / width, a[i * lda * width + j]);
    return SZG_OK;
}

/* Component `part` of the mean of the diagonal i - j = lag. Neumaier's summation, so that the zeros
 * of Toeplitz parts are zeros. */
static double diagonal_mean(int64_t n, int width, int part, const double *a, int64_t lda,
                            int64_t lag) {
    int64_t count = n - (lag < 0 ? -lag : lag);
    const double *at = a + (lag > 0 ? lag * lda : -lag) * width + part;
    int64_t step = (lda + 1) * width;
    double scale = 1.0 / (double)count, sum = 0, lost = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = at[i * step], next = sum + x;
        lost += fabs(sum) >= fabs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    if (isfinite(sum))
        return (sum + lost) / (double)count;
    /* The sum overflows, its mean does not. */
    sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += at[i * step] * scale;
    return sum;
}

static szg_status means(szg_context *context, int64_t n, int width, const double *a, int64_t lda,
                        double **out) {
    SZG_TRY(check_square(context, n, width, a, lda));
    SZG_TRY(szg_memory_alloc(context, 2 * n - 1, sizeof(double) * (size_t)width, out));
    for (int64_t lag = 1 - n; lag < n; lag++)
        for (int part = 0; part < width; part++)
            (*out)[(lag + n - 1) * width + part] = diagonal_mean(n, width, part, a, lda, lag);
    return SZG_OK;
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

szg_status szg_toeplitz_open_means(szg_context *context, int64_t n, const double *mean,
                                   szg_toeplitz **out) {
    return is_hermitian(n, 1, mean) ? szg_toeplitz_open_symmetric(context, n, n, mean + n - 1, out)
                                    : szg_toeplitz_open_real(context, n, n, mean, out);
}

szg_status szg_toeplitz_project(szg_context *context, int64_t n, const double *a, int64_t lda,
                                szg_toeplitz **out) {
    *out = NULL;
    double *mean;
    SZG_TRY(means(context, n, 1, a, lda, &mean));
    szg_status status = szg_toeplitz_open_means(context, n, mean, out);
    szg_memory_free(mean);
    return status;
}

szg_status szg_toeplitz_project_complex(szg_context *context, int64_t n, const szg_c64 *a,
                                        int64_t lda, szg_toeplitz **out) {
    *out = NULL;
    double *mean;
    SZG_TRY(means(context, n, 2, &a->re, lda, &mean));
    const szg_c64 *all = (const szg_c64 *)mean;
    szg_status status = is_hermitian(n, 2, mean)
                            ? szg_toeplitz_open_hermitian(context, n, n, all + n - 1, out)
                            : szg_toeplitz_open_complex(context, n, n, all, out);
    szg_memory_free(mean);
    return status;
}

static double norm_frobenius(int64_t n, int width, const double *a, int64_t lda) {
    double norm = 0;
    for (int64_t i = 0; i < n; i++)
        norm = hypot(norm, szg_norm(n * width, a + i * lda * width));
    return norm;
}

szg_status szg_toeplitz_share(szg_context *context, const szg_toeplitz *part, double whole,
                              double *tau) {
    *tau = NAN;
    if (!(whole > 0))
        return szg_fail(context, SZG_EDOMAIN, "toeplitzness: the matrix is 0 and has none");
    double ratio = szg_toeplitz_norm_frobenius(part) / whole;
    *tau = fmin(ratio * ratio, 1);
    return SZG_OK;
}

szg_status szg_toeplitzness(szg_context *context, int64_t n, const double *a, int64_t lda,
                            double *tau) {
    *tau = NAN;
    szg_toeplitz *part;
    SZG_TRY(szg_toeplitz_project(context, n, a, lda, &part));
    szg_status status = szg_toeplitz_share(context, part, norm_frobenius(n, 1, a, lda), tau);
    szg_toeplitz_close(&part);
    return status;
}

szg_status szg_toeplitzness_complex(szg_context *context, int64_t n, const szg_c64 *a, int64_t lda,
                                    double *tau) {
    *tau = NAN;
    szg_toeplitz *part;
    SZG_TRY(szg_toeplitz_project_complex(context, n, a, lda, &part));
    szg_status status = szg_toeplitz_share(context, part, norm_frobenius(n, 2, &a->re, lda), tau);
    szg_toeplitz_close(&part);
    return status;
}
