#include "linalg/linalg.h"
#include "base/pool.h"

#include "halves.h"
#include "spectra_private.h"

/* J T J = T for the reversal J, so that even and odd vectors are invariant (Cantoni and Butler
 * 1976): blocks t_|i-j| + t_{n-1-i-j} and t_|i-j| - t_{n-1-i-j}, i, j < n/2; for odd n the middle
 * place joins the even block, its couplings t_{m-i} scaled by sqrt 2. Lower triangles only. */
typedef struct halves_job {
    const double *lags; /* 0 .. n-1 */
    int64_t n, half;    /* order of the odd block; the even one has n - half */
    double *block[2];   /* even, odd */
    double *values[2];
} halves_job;

double szgi_halves_entry(const double *lags, int64_t n, int64_t odd, int64_t i, int64_t j) {
    int64_t half = n / 2;
    if (i == half) /* of the even block where n is odd */
        return j == half ? lags[0] : M_SQRT2 * lags[half - j];
    return lags[i - j] + (odd ? -1 : 1) * lags[n - 1 - i - j];
}

void szgi_halves_row(const double *lags, int64_t n, int64_t odd, int64_t i, double *out) {
    for (int64_t j = 0; j <= i; j++)
        out[j] = szgi_halves_entry(lags, n, odd, i, j);
}

static szg_status halves_block(szg_context *context, void *argument, int64_t odd, int worker) {
    halves_job *job = argument;
    (void)worker;
    int64_t order = odd ? job->half : job->n - job->half;
    for (int64_t i = 0; i < order; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        szgi_halves_row(job->lags, job->n, odd, i, job->block[odd] + i * order);
    }
    return szgi_eigen_symmetric(context, order, job->block[odd], order, job->values[odd], false);
}

szg_status szgi_halves_eigenvalues(szg_context *context, const szg_toeplitz *t, double *w) {
    int64_t n = szg_toeplitz_size(t), half = n / 2, even = n - half;
    double *blocks;
    SZG_TRY(szgi_memory_require(context, n, even, sizeof *blocks, "all eigenvalues, by two halves,",
                                "ask for the range"));
    SZG_TRY(szgi_memory_alloc(context, even * even + half * half + n, &blocks));
    double *lags = blocks + even * even + half * half;
    for (int64_t k = 0; k < n; k++)
        lags[k] = szg_toeplitz_at(t, k).re;
    halves_job job = {.lags = lags, .n = n, .half = half};
    job.block[0] = blocks;
    job.block[1] = blocks + even * even;
    job.values[0] = w;
    job.values[1] = w + even;
    szg_status status = szgi_pool_run(context, n > 1 ? 2 : 1, halves_block, &job);
    szgi_memory_free(blocks);
    szgi_sort_ascending(n, w);
    return status;
}

/* Q = [I iI; J -iJ] / sqrt 2, a middle place mapped to itself: x = (u, v) or (u, v, x_middle). */
void szgi_map_to_complex(int64_t n, const double *x, szg_c64 *z) {
    int64_t half = n / 2;
    for (int64_t i = 0; i < half; i++) {
        double u = x[i] * M_SQRT1_2, v = x[half + i] * M_SQRT1_2;
        z[i] = (szg_c64){u, v};
        z[n - 1 - i] = (szg_c64){u, -v};
    }
    if (n % 2)
        z[half] = (szg_c64){x[n - 1], 0};
}

/* T keeps the symmetry z_{n-1-i} = conj z_i of Q's image, so its first half tells all; the mean of
 * both takes rounding off. */
void szgi_map_to_real(int64_t n, const szg_c64 *z, double *x) {
    int64_t half = n / 2;
    for (int64_t i = 0; i < half; i++) {
        x[i] = (z[i].re + z[n - 1 - i].re) * M_SQRT1_2;
        x[half + i] = (z[i].im - z[n - 1 - i].im) * M_SQRT1_2;
    }
    if (n % 2)
        x[n - 1] = z[half].re;
}

szg_status szgi_mapped_apply(szg_context *context, const szg_toeplitz *t, const double *x,
                             double *y, szg_c64 *z, szg_c64 *u) {
    int64_t n = szg_toeplitz_size(t);
    szgi_map_to_complex(n, x, z);
    SZG_TRY(szgi_toeplitz_apply_complex(context, t, 'n', 1, z, n, u, n));
    szgi_map_to_real(n, u, y);
    return SZG_OK;
}

/* With c = t_{i-j} and d = t_{i-(n-1-j)} the four quarters of Q^* T Q are Re(c + d), -Im(c - d) /
 * Im(c + d) and Re(c - d); row `middle` couples by sqrt 2 (Re, Im) t. */
double szgi_mapped_entry(const szg_c64 *lags, int64_t n, int64_t i, int64_t j) {
    int64_t half = n / 2, k = i - half, l = j - half;
    if (i == 2 * half) /* the middle place of an odd order */
        return j == i ? lags[0].re : M_SQRT2 * (j < half ? lags[l].re : lags[l - half].im);
    if (i < half)
        return lags[i - j].re + lags[i + j - (n - 1)].re;
    if (j < half)
        return lags[k - j].im + lags[k + j - (n - 1)].im;
    return lags[k - l].re - lags[k + l - (n - 1)].re;
}

void szgi_mapped_row(const szg_c64 *lags, int64_t n, int64_t i, double *out) {
    for (int64_t j = 0; j <= i; j++)
        out[j] = szgi_mapped_entry(lags, n, i, j);
}

szg_status szgi_mapped_eigenvalues(szg_context *context, const szg_toeplitz *t, double *w) {
    int64_t n = szg_toeplitz_size(t), size;
    double *a;
    SZG_TRY(szgi_memory_require(context, n, n, sizeof *a, "all eigenvalues of a Hermitian matrix",
                                "ask for the range"));
    SZG_TRY(szgi_memory_product(context, n, n, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &a));
    szg_c64 *lags = NULL;
    szg_status status = szgi_memory_alloc(context, 2 * n - 1, &lags);
    if (status == SZG_OK) {
        for (int64_t k = 1 - n; k < n; k++)
            lags[n - 1 + k] = szg_toeplitz_at(t, k);
    }
    for (int64_t i = 0; i < n && status == SZG_OK; i++) {
        status = szgi_context_check_cancel(context);
        szgi_mapped_row(lags + n - 1, n, i, a + i * n);
    }
    if (status == SZG_OK)
        status = szgi_eigen_symmetric(context, n, a, n, w, false);
    szgi_memory_free(lags);
    szgi_memory_free(a);
    return status;
}
