/* The two halves of a symmetric Toeplitz matrix as scaled Loewner matrices. */
#ifndef SZG_SPECTRA_DC_HALVES_H
#define SZG_SPECTRA_DC_HALVES_H

#include "base/context.h"

/* With x running over the n points centred at 0 and theta_k = (2k+1) pi / n, the vectors
 * cos(theta_k x) and sin(theta_k x) are orthogonal and span the symmetric and the antisymmetric
 * ones. T commutes with the shift except at its ends, so in these bases both halves are Loewner:
 *
 *   C_kl = weight_k weight_l (h_k - h_l) / (sine[k+l+1] sine[l-k]),  k != l, sine[j] = sin(j pi/n),
 *   even: h = cot(theta/2) F, weight = sqrt(2/n) sin(theta/2)   (docs/explanation/methods.md
 * derives it) odd:  h = tan(theta/2) F, weight = sqrt(2/n) cos(theta/2) F_k = sum over j of t_j
 * sin(theta_k j), C_kk = t_0 + (2/n) (sum over j of (n-j) t_j cos(theta_k j) +- F_k /
 * sin(theta_k)).
 *
 * For a symbol rational of degree r in cos(theta), h is one too, and every off-diagonal block of C
 * has rank r at most; for smooth symbols the numerical rank is small. h is kept as high + low. */
typedef struct szgi_dc_half {
    int64_t size;
    double *high, *low, *weight, *diagonal;
    const double *sine; /* -n <= index <= n */
} szgi_dc_half;

typedef struct szgi_dc_halves {
    int64_t n;
    int exponent;         /* the matrix held here is T / 2^exponent, entries at most 1 */
    double norm;          /* a lower bound of its spectral norm, above 0 unless T = 0 */
    szgi_dc_half half[2]; /* even, odd */
    double *memory;
} szgi_dc_halves;

/* From the lags t_0 .. t_{n-1}, finite, n >= 2. Close it also on failure. */
SZG_CHECK_RESULT szg_status szgi_dc_halves_open(szg_context *context, int64_t n, const double *lags,
                                                szgi_dc_halves *out);
void szgi_dc_halves_close(szgi_dc_halves *halves);

/* Rows row .. row + rows - 1, columns column .. column + columns - 1 of C, row-major. */
void szgi_dc_half_block(const szgi_dc_half *half, int64_t row, int64_t rows, int64_t column,
                        int64_t columns, double *out, int64_t ld);

#endif
