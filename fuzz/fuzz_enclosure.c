/* Coefficients of a Hermitian Toeplitz matrix of order 8 at most whose certified eigenvalues, or
 * whose range, miss: an oracle by Sylvester's law of inertia says so. The first byte has the order
 * less 1 (three bits) and whether lags are complex (one bit); doubles follow, and zeros. */
#include <math.h>

#include "spectra/spectra.h"
#include "tests/support/inertia.h"
#include "toeplitz/toeplitz.h"

#include "fuzz.h"

enum { ORDER = 8 };

/* False: they are no coefficients, or eigenvalues may overflow. */
static bool read_lags(const uint8_t *data, size_t size, int64_t count, double *lags) {
    size_t bytes = (size_t)count * sizeof *lags;
    memcpy(lags, data, size < bytes ? size : bytes);
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(lags[i]) < 1e300))
            return false;
    return true;
}

static szg_status open_toeplitz(int64_t n, bool complex, double *lags, szg_toeplitz **t) {
    if (!complex)
        return szg_toeplitz_open_symmetric(fuzz_context(), n, n, lags, t);
    lags[1] = 0;
    return szg_toeplitz_open_hermitian(fuzz_context(), n, n, (const szg_c64 *)lags, t);
}

static void check(const szg_toeplitz *t, int64_t n) {
    const szg_spectra_options options = {SZG_INIT(szg_spectra_options),
                                         .certify = SZG_CERTIFY_VALUES};
    szg_c64 a[ORDER * ORDER];
    szg_spectrum s;
    szgi_ball_matrix *balls;
    int64_t decided = 0;
    const szg_matrix matrix = szg_matrix_toeplitz(t);
    FUZZ_PROMISE(szg_spectrum_compute(fuzz_context(), &matrix, SZG_QUESTION_EIGENVALUES, &options,
                                      &s) == SZG_OK);
    FUZZ_PROMISE(s.certified && s.min.lo <= s.min.hi && s.max.lo <= s.max.hi);
    FUZZ_PROMISE(szgi_toeplitz_dense_complex(fuzz_context(), t, a, n) == SZG_OK);
    FUZZ_PROMISE(inertia_matrix(fuzz_context(), n, 2, &a->re, &balls) == SZG_OK);
    FUZZ_PROMISE(inertia_meets(fuzz_context(), &s, balls, &decided));
    szgi_ball_matrix_close(&balls);
    szg_spectrum_close(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    int64_t n = 1 + (data[0] & 7);
    bool complex = data[0] >> 3 & 1;
    double lags[2 * ORDER] = {0};
    szg_toeplitz *t;
    if (!read_lags(data + 1, size - 1, complex ? 2 * n : n, lags))
        return 0;
    FUZZ_PROMISE(open_toeplitz(n, complex, lags, &t) == SZG_OK);
    check(t, n);
    szg_toeplitz_close(&t);
    return 0;
}
