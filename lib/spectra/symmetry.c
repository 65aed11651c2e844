#include "symmetry.h"

#include "network/network.h"
#include "toeplitz/factored.h"
#include "toeplitz/toeplitz.h"

#include "spectra_private.h"

/* Up to 64 eps: `skew` is max |a_ij - a_ji|, `largest` max |a_ij|. */
static bool within_rounding(double skew, double largest) {
    return skew <= 64 * DBL_EPSILON * largest;
}

szg_status szgi_dense_is_symmetric(szg_context *context, int64_t n, const double *a, int64_t lda,
                                   bool *symmetric) {
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < n; j++) { /* fmax is a call */
            double value = fabs(a[i * lda + j]);
            largest = value > largest ? value : largest;
        }
    }
    *symmetric = true;
    for (int64_t i = 0; i < n && *symmetric; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < i && *symmetric; j++)
            *symmetric = within_rounding(fabs(a[i * lda + j] - a[j * lda + i]), largest);
    }
    return SZG_OK;
}

/* |Re| and |Im| of a_ij - conj(a_ji), j <= i. */
static void difference(int64_t width, const double *a, int64_t lda, int64_t i, int64_t j,
                       double out[2]) {
    const double *x = a + (i * lda + j) * width, *y = a + (j * lda + i) * width;
    out[0] = fabs(x[0] - y[0]);
    out[1] = width == 2 ? fabs(x[1] + y[1]) : 0;
}

double szgi_dense_asymmetry(int64_t n, int64_t width, const double *a, int64_t lda) {
    double largest = 0, sum = 0, d[2];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            difference(width, a, lda, i, j, d);
            largest = fmax(largest, fmax(d[0], d[1]));
        }
    if (largest == 0)
        return 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            difference(width, a, lda, i, j, d);
            double square =
                (d[0] / largest) * (d[0] / largest) + (d[1] / largest) * (d[1] / largest);
            sum += j < i ? 2 * square : square;
        }
    double rounding = ((double)n * (double)n + 16) * 0x1p-53;
    return nextafter(largest * sqrt(sum) * (1 + rounding), INFINITY);
}

/* A = scale B up to rounding of the entries: then A B^T is symmetric. */
static bool proportional(const szg_factored *f, double *scale) {
    double largest_a = 0, largest_b = 0;
    *scale = 0;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->d; j++) {
            largest_a = fmax(largest_a, fabs(f->a[i * f->lda + j]));
            if (fabs(f->b[i * f->ldb + j]) > largest_b) {
                largest_b = fabs(f->b[i * f->ldb + j]);
                *scale = f->a[i * f->lda + j] / f->b[i * f->ldb + j];
            }
        }
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->d; j++)
            if (!(fabs(f->a[i * f->lda + j] - *scale * f->b[i * f->ldb + j]) <=
                  16 * DBL_EPSILON * largest_a))
                return false;
    return true;
}

bool szgi_factored_is_symmetric(const szg_factored *f, double *scale) {
    *scale = 0;
    return !f->causal && (!f->bias || szgi_toeplitz_is_hermitian(f->bias)) &&
           (f->d == 0 || proportional(f, scale));
}

szg_status szgi_matrix_is_hermitian(szg_context *context, const szg_matrix *matrix,
                                    bool *hermitian) {
    const szgi_logit_numbers *numbers = matrix->of.numbers;
    double scale;
    switch (matrix->kind) {
    case SZG_MATRIX_DENSE:
        return szgi_dense_is_symmetric(context, matrix->rows, matrix->of.dense.a,
                                       matrix->of.dense.lda, hermitian);
    case SZG_MATRIX_FACTORED:
        SZG_TRY(szgi_factored_check(context, &matrix->of.factored));
        *hermitian = szgi_factored_is_symmetric(&matrix->of.factored, &scale);
        return SZG_OK;
    case SZG_MATRIX_TOEPLITZ:
        *hermitian = szgi_toeplitz_is_hermitian(matrix->of.toeplitz);
        return SZG_OK;
    case SZG_MATRIX_DEVICE:
        *hermitian = within_rounding(numbers->skew, numbers->largest);
        return SZG_OK;
    default:
        *hermitian = matrix->kind != SZG_MATRIX_COMPLEX;
        return SZG_OK;
    }
}
