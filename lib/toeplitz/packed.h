/* Real vectors of even length m as complex ones of length h = m / 2: products with circulant and
 * skew-circulant matrices take complex transforms of half the length. */
#ifndef SZG_TOEPLITZ_PACKED_H
#define SZG_TOEPLITZ_PACKED_H

#include "toeplitz_private.h"

typedef struct szgi_packed {
    int64_t length, half;         /* m and h */
    szg_c64 *turn;                /* e^{i pi k / m}, k < h */
    szgi_fft *forward, *backward; /* of length h */
} szgi_packed;

/* SZG_EINVAL: an odd length. */
SZG_CHECK_RESULT szg_status szgi_packed_open(szg_context *context, int64_t length,
                                             szgi_packed *out);
void szgi_packed_close(szgi_packed *packed);

/* ---- Circulant matrices ---- */

/* What is to be done between the transforms of the packed vector x_{2k} + i x_{2k+1}, which is x
 * itself in memory: `from` becomes that of the product with op of the circulant matrix whose
 * eigenvalues are h spectrum[0 .. h]. Block `block` of `blocks`; `to` may be `from`. */
void szgi_packed_scale(const szgi_packed *packed, const szg_c64 *spectrum, char op, int64_t block,
                       int64_t blocks, const szg_c64 *from, szg_c64 *to);

/* ---- Skew-circulant matrices ---- */

/* The numbers (x_k + i x_{k+h}) e^{i pi k / m}, k < h, of a vector of n numbers, h < n <= m, that
 * zeros follow: their polynomial has at the h-th roots of unity the values that x has at h roots of
 * z^m + 1, and the other roots are the conjugates of these. */
void szgi_packed_fold(const szgi_packed *packed, int64_t n, const double *x, szg_c64 *folded);

/* Number k of them without its turn: x_k and x_{k+h}. */
static inline szg_c64 szgi_packed_unfold(const szgi_packed *packed, const szg_c64 *folded,
                                         int64_t k) {
    return szgi_multiply(folded[k], szgi_conjugate(packed->turn[k]));
}

/* values[j] *= spectrum[j], or its conjugate for another op than 'n'. */
void szgi_packed_multiply(const szgi_packed *packed, const szg_c64 *spectrum, char op,
                          szg_c64 *values);

#endif
