/* The symbol a(t) = sum_k a_k e^{ikt} of a Toeplitz matrix T_ij = a_{i-j}: samples, certified
 * range, Fejer means, and the conventions for a symbol that is an infinite series. */
#ifndef SZEGO_SYMBOL_H
#define SZEGO_SYMBOL_H

#include <szego/toeplitz.h>

SZG_BEGIN_DECLS

/* What stands for the symbol of a kernel whose lags go on for ever. Every table that shows a symbol
 * names the convention. */
typedef enum szg_symbol_convention {
    SZG_SYMBOL_TRUNCATED, /* the lags |k| < N that T_N holds; its range bounds T_N's eigenvalues */
    SZG_SYMBOL_FEJER,     /* a_k (1 - |k|/N): its range lies inside that of the symbol: no bound */
    SZG_SYMBOL_CLOSED_FORM, /* the sum of the infinite series; limit as N grows */
    SZG_SYMBOL_CONVENTIONS
} szg_symbol_convention;

/* "truncated", "fejer", "closed_form", "atoms"; "unknown" outside the enumeration. */
const char *szg_symbol_convention_name(szg_symbol_convention convention);

/* out[j] = a(2 pi j / grid), j = 0 .. grid - 1, by one FFT of size `grid`; any grid >= 1, also
 * below the degree (lags are folded modulo the grid, which is exact). For symmetric and Hermitian
 * matrices the imaginary part is exactly 0. SZG_EINVAL, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_symbol_samples(szg_context *context, const szg_toeplitz *toeplitz,
                                               int64_t grid, szg_c64 *out);

/* The same for the Fejer mean of order `order` >= 1, coefficients a_k max(0, 1 - |k|/order). */
SZG_CHECK_RESULT szg_status szg_symbol_fejer_samples(szg_context *context,
                                                     const szg_toeplitz *toeplitz, int64_t order,
                                                     int64_t grid, szg_c64 *out);

/* Certified range of the symbol of a symmetric or Hermitian matrix, by ball arithmetic. It
 * contains every eigenvalue. SZG_EDOMAIN for real and complex kinds that are not Hermitian (their
 * symbol is not real: szg_symbol_modulus_range). SZG_EDATA, SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szg_symbol_range(szg_context *context, const szg_toeplitz *toeplitz,
                                             szg_range *out);

/* Reports enclose neither the truncated symbol of a kernel of more lags, unless coefficients give
 * it, nor an |a| of a larger degree. */
enum { SZG_SYMBOL_RANGE_LIMIT = 100000 };

/* Certified range of |a| for any kind. Its maximum bounds the largest singular value. |a|^2 is one
 * product of Arb, which does not look for cancellation: half a second at SZG_SYMBOL_RANGE_LIMIT,
 * some seconds at ten times as many lags. */
SZG_CHECK_RESULT szg_status szg_symbol_modulus_range(szg_context *context,
                                                     const szg_toeplitz *toeplitz, szg_range *out);

/* Certified range of the Fejer mean of order `order`: inside the range of the symbol, and so no
 * bound of the eigenvalues. Kinds as szg_symbol_range. */
SZG_CHECK_RESULT szg_status szg_symbol_fejer_range(szg_context *context,
                                                   const szg_toeplitz *toeplitz, int64_t order,
                                                   szg_range *out);

SZG_END_DECLS

#endif
