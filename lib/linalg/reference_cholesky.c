/* Cholesky's factor row by row: l_ij = (a_ij - sum_{k < j} l_ik conj l_jk) / l_jj. */
#include <math.h>

#include "base/context.h"
#include "reference.h"

static szg_c64 remainder_of(const szg_c64 *a, int64_t lda, int64_t i, int64_t j) {
    const szg_c64 *x = a + i * lda, *y = a + j * lda;
    szg_c64 rest = x[j];
    for (int64_t k = 0; k < j; k++) {
        rest.re -= x[k].re * y[k].re;
        rest.re -= x[k].im * y[k].im;
        rest.im -= x[k].im * y[k].re;
        rest.im += x[k].re * y[k].im;
    }
    return rest;
}

szg_status szgi_reference_cholesky_complex(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                           bool *completed) {
    *completed = false;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < i; j++) {
            szg_c64 rest = remainder_of(a, lda, i, j);
            double pivot = a[j * lda + j].re;
            a[i * lda + j] = (szg_c64){rest.re / pivot, rest.im / pivot};
        }
        double square = remainder_of(a, lda, i, i).re;
        if (!(square > 0))
            return SZG_OK;
        a[i * lda + i] = (szg_c64){sqrt(square), 0};
    }
    *completed = true;
    return SZG_OK;
}

szg_status szgi_reference_cholesky(szg_context *context, int64_t n, double *a, int64_t lda,
                                   bool *completed) {
    *completed = false;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j <= i; j++) {
            double rest = a[i * lda + j];
            for (int64_t k = 0; k < j; k++)
                rest -= a[i * lda + k] * a[j * lda + k];
            if (j == i && !(rest > 0))
                return SZG_OK;
            a[i * lda + j] = j == i ? sqrt(rest) : rest / a[j * lda + j];
        }
    }
    *completed = true;
    return SZG_OK;
}
