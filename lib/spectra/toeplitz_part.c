/* The Hermitian part of a Toeplitz matrix is Toeplitz: (a_k + conj a_{-k}) / 2. */
#include "toeplitz/toeplitz.h"

#include "solvers.h"
#include "spectra_private.h"

szg_status szgi_toeplitz_open_part(szg_context *context, const szg_toeplitz *t,
                                   szg_toeplitz **out) {
    int64_t n = szg_toeplitz_size(t), count = szgi_toeplitz_degree(t) + 1;
    int64_t width = szgi_toeplitz_is_real(t) ? 1 : 2;
    double *lags;
    SZG_TRY(szgi_memory_alloc(context, count * width, &lags));
    for (int64_t k = 0; k < count; k++) {
        szg_c64 below = szg_toeplitz_at(t, k), above = szg_toeplitz_at(t, -k);
        lags[k * width] = below.re / 2 + above.re / 2;
        if (width == 2)
            lags[k * width + 1] = below.im / 2 - above.im / 2;
    }
    szg_status status = width == 1
                            ? szg_toeplitz_open_symmetric(context, n, count, lags, out)
                            : szg_toeplitz_open_hermitian(context, n, count, (szg_c64 *)lags, out);
    szgi_memory_free(lags);
    return status;
}

szg_status szgi_toeplitz_part(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    if (szgi_toeplitz_is_hermitian(matrix->of.toeplitz))
        return szgi_toeplitz_eigen(context, matrix, options, out);
    szg_toeplitz *part = NULL;
    SZG_TRY(szgi_toeplitz_open_part(context, matrix->of.toeplitz, &part));
    szg_matrix half = szg_matrix_toeplitz(part);
    szg_status status = szgi_toeplitz_eigen(context, &half, options, out);
    szg_toeplitz_close(&part);
    return status;
}
