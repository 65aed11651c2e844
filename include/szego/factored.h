/* Factored matrices L = M o (A B^T + T): A, B n x d, T Toeplitz, M all ones or the lower triangle
 * of ones (causal: entries i >= j stay, masked ones are 0). Nothing here forms n x n. Rotary logits
 * sum_t G_t o E_t are of this form with A, B the rotated queries and keys, real. */
#ifndef SZEGO_FACTORED_H
#define SZEGO_FACTORED_H

#include <szego/toeplitz.h>

SZG_BEGIN_DECLS

/* Borrows everything it points to. Every function checks it: SZG_EINVAL (n < 1, d < 0, a leading
 * dimension below d, missing arrays, a bias of another size or of a complex kind), SZG_EDATA (NaN
 * or infinity in A or B; the first place is named) where it does not merely propagate (apply). */
typedef struct szg_factored {
    int64_t n, d;    /* d = 0: no low-rank part, a and b are ignored */
    const double *a; /* n x d */
    int64_t lda;
    const double *b; /* n x d */
    int64_t ldb;
    const szg_toeplitz *bias; /* NULL: none */
    bool causal;
} szg_factored;

/* Toeplitzness of L, entries of any size; tau->error bounds what rounding does to it, A, B and T
 * taken as exact. Up to n = SZG_FACTORED_TILES (and where d >= n) from the entries, a tile at a
 * time: O(n^2 d). Beyond, the rest is ||M o A B^T||^2 less the square of its Toeplitz part: O(n
 * d^2) and 2 d + 1 transforms, from ||R_A R_B^T||_F of QR factors, or from running Gram matrices if
 * causal. Where 1 - tau is below the error of that difference, it is the mean of ||(L - P_T L)
 * g||^2 over 64 Gaussian vectors g, always the same ones: `sampled`, relative standard error
 * sqrt(2/64) = 18% at most. SZG_EDOMAIN: L = 0. */
enum { SZG_FACTORED_TILES = 2048 };
SZG_CHECK_RESULT szg_status szg_factored_toeplitzness(szg_context *context,
                                                      const szg_factored *factored, szg_tau *tau);

SZG_END_DECLS

#endif
