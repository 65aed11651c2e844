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
