/* Which arrays prove the ends of a spectrum, by structure; the bounds themselves:
 * certified_block.c. Numbers are scaled by a power of two first, so that the largest is in [1/2,
 * 1). */
#include "base/pool.h"
#include "toeplitz/matrix.h"

#include "certified_blocks.h"
#include "closed_form.h"
#include "halves.h"

static const double U = 0x1p-53;

/* ---- What the proofs need of the machine ---- */

/* Another rounding mode would break the bounds silently. */
static szg_status check_rounding(szg_context *context) {
    volatile double one = 1, step = DBL_EPSILON, half = DBL_EPSILON / 2;
    volatile double more = 3 * half / 2;
    const double next = one + step;
    if (one + half == one && one + more == next && -one - more == -next)
        return SZG_OK;
    return szgi_fail(context, SZG_EBACKEND,
                     "doubles do not round to nearest here: certified eigenvalues need that; set "
                     "the rounding mode by fesetround(FE_TONEAREST)");
}

/* ---- Arrays ---- */

static double largest_of(int64_t n, int64_t width, const double *a, int64_t lda) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (i + 1) * width; j++) {
            double value = fabs(a[i * lda * width + j]);
            largest = value > largest ? value : largest;
        }
    return largest;
}

static szg_status certify_array(szg_context *context, int64_t n, int64_t width, const double *a,
                                int64_t lda, szg_spectrum *spectrum) {
    double largest = largest_of(n, width, a, lda);
    szgi_block_set set = {.count = 1, .block = {{.n = n, .width = width}}};
    if (largest == 0) {
        szgi_certify_point(0, spectrum);
        return SZG_OK;
    }
    SZG_TRY(szgi_blocks_open(context, largest, &set));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (i + 1) * width; j++)
            set.array[0][i * n * width + j] = ldexp(a[i * lda * width + j], -set.exponent);
    szg_status status = szgi_blocks_prove(context, &set, spectrum);
    szgi_blocks_close(&set);
    return status;
}

/* ---- Toeplitz matrices, by their halves or by the real matrix that Q makes ---- */

/* Lags -(n-1) .. n-1 by 2^-exponent, and the sum of |re| + |im| over all of them. */
static double scaled_lags(const szg_toeplitz *t, int exponent, szg_c64 *lags) {
    int64_t n = szg_toeplitz_size(t);
    double sum = 0;
    for (int64_t k = 1 - n; k < n; k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        szg_c64 *to = &lags[n - 1 + k];
        *to = (szg_c64){ldexp(a.re, -exponent), ldexp(a.im, -exponent)};
        sum += fabs(to->re) + fabs(to->im);
    }
    return sum;
}

static double largest_lag(const szg_toeplitz *t) {
    double largest = 0;
    for (int64_t k = 0; k <= szgi_toeplitz_degree(t); k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        largest = fmax(largest, fmax(fabs(a.re), fabs(a.im)));
    }
    return largest;
}

/* `lags` is scratch of 3 n - 1 complex numbers. Entries are rounded sums of two lags, those of the
 * middle row times a rounded sqrt 2. */
static szg_status fill_blocks(szg_context *context, const szg_toeplitz *t, szg_c64 *lags,
                              szgi_block_set *set) {
    int64_t n = szg_toeplitz_size(t);
    double sum = scaled_lags(t, set->exponent, lags), *real = (double *)(lags + 2 * n - 1);
    for (int64_t i = 0; i < set->count; i++)
        set->block[i].error = (n % 2 ? 3.1 : 1.1) * U * sum;
    if (set->count == 1)
        return szgi_mapped_fill(context, lags + n - 1, n, set->array[0]);
    for (int64_t k = 0; k < n; k++)
        real[k] = lags[n - 1 + k].re;
    SZG_TRY(szgi_halves_fill(context, real, n, 0, set->array[0]));
    return szgi_halves_fill(context, real, n, 1, set->array[1]);
}

static szg_status certify_toeplitz(szg_context *context, const szg_toeplitz *t,
                                   szg_spectrum *spectrum) {
    int64_t n = szg_toeplitz_size(t), half = n / 2;
    if (szgi_toeplitz_degree(t) == 0) {
        szgi_certify_point(szg_toeplitz_at(t, 0).re, spectrum);
        return SZG_OK;
    }
    szgi_block_set set = {.count = 1, .block = {{.n = n, .width = 1}}};
    if (szgi_toeplitz_is_real(t))
        set = (szgi_block_set){.count = 2,
                               .block = {{.n = n - half, .width = 1}, {.n = half, .width = 1}}};
    SZG_TRY(szgi_blocks_open(context, largest_lag(t), &set));
    szg_c64 *lags = NULL;
    szg_status status = szgi_memory_alloc(context, 3 * n - 1, &lags);
    if (status == SZG_OK)
        status = fill_blocks(context, t, lags, &set);
    if (status == SZG_OK)
        status = szgi_blocks_prove(context, &set, spectrum);
    szgi_memory_free(lags);
    szgi_blocks_close(&set);
    return status;
}

/* ---- Which ---- */

/* Factorisations of both ends beside the solvers that take all values of an array: measured by
 * `szego bench certified`. */
static bool is_cheap(const szg_spectrum *spectrum) {
    switch (spectrum->method) {
    case SZG_METHOD_ZERO:
    case SZG_METHOD_DIAGONAL:
    case SZG_METHOD_DENSE:
    case SZG_METHOD_DENSE_SYMMETRIC:
    case SZG_METHOD_DENSE_HERMITIAN:
    case SZG_METHOD_HALVES:
    case SZG_METHOD_MAPPED:
        return true;
    default:
        return false;
    }
}

static szg_status certify(szg_context *context, const szg_matrix *matrix, szg_spectrum *spectrum) {
    switch (matrix->kind) {
    case SZG_MATRIX_ZERO:
        szgi_certify_point(0, spectrum);
        return SZG_OK;
    case SZG_MATRIX_DENSE:
        if (spectrum->method != SZG_METHOD_DENSE_SYMMETRIC)
            return SZG_OK;
        __attribute__((fallthrough));
    case SZG_MATRIX_SYMMETRIC:
        return certify_array(context, matrix->rows, 1, matrix->of.dense.a, matrix->of.dense.lda,
                             spectrum);
    case SZG_MATRIX_HERMITIAN:
        return certify_array(context, matrix->rows, 2, (const double *)matrix->of.complex_dense.a,
                             matrix->of.complex_dense.lda, spectrum);
    case SZG_MATRIX_TOEPLITZ:
        return szgi_toeplitz_is_hermitian(matrix->of.toeplitz)
                   ? certify_toeplitz(context, matrix->of.toeplitz, spectrum)
                   : SZG_OK;
    case SZG_MATRIX_COSINES:
        return szgi_certify_cosines(context, matrix, spectrum);
#define SZG_CLOSED_FORM(NAME, name, words, method) case SZG_MATRIX_##NAME:
#include <szego/closed_forms.def>
        return szgi_closed_certify(context, matrix, spectrum);
    default:
        return SZG_OK;
    }
}

szg_status szgi_spectrum_certify(szg_context *context, const szg_matrix *matrix,
                                 const szg_spectra_options *options, szg_spectrum *spectrum) {
    double least, largest;
    bool wanted = options->certify == SZG_CERTIFY_ALL ||
                  (options->certify == SZG_CERTIFY_CHEAP && is_cheap(spectrum));
    if (!wanted || spectrum->im)
        return SZG_OK;
    SZG_TRY(szgi_spectrum_range(context, spectrum, &least, &largest));
    if (!isfinite(least) || !isfinite(largest))
        return SZG_OK;
    SZG_TRY(check_rounding(context));
    return certify(context, matrix, spectrum);
}
