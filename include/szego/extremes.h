/* Several eigenvalues at each end of the spectrum of a large matrix, each with its error. */
#ifndef SZEGO_EXTREMES_H
#define SZEGO_EXTREMES_H

#include <szego/spectrum.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

/* One of them. An eigenvalue lies within `error` of `value`. It is resolved where error is at most
 * 1e-10 of the matrix's norm and a tenth of the gap: then `value` tells it from its neighbours. */
typedef struct szg_extreme {
    double value, error;
    double gap; /* to the nearest other computed value; infinite: there is none */
    bool resolved;
} szg_extreme;

/* The eigenvalues of a Hermitian matrix, or of the Hermitian part (L + L^*) / 2 of another, at both
 * ends; number 0 is the outermost. lo <= the least (largest) eigenvalue <= hi. That no eigenvalue
 * was missed between those listed rests on Lanczos's convergence, where that is the method. The
 * array belongs to the struct. */
typedef struct szg_extremes {
    int64_t n, count; /* values at each end: k, or n where that is less */
    bool hermitian_part;
    szg_method method;
    szg_extreme *least, *largest;
    double least_lo, least_hi, largest_lo, largest_hi;
} szg_extremes;

/* k >= 1 values at each end, by the methods of szg_spectrum_compute under SZG_WANT_RANGE; matrices
 * known by their products to order 10^8. The outer ends lo and hi: for Toeplitz matrices those of a
 * circulant that T is a block of (Cauchy) or of the certified symbol, else the Frobenius norm;
 * where the solver answers for the whole spectrum, the outermost values with their errors if that
 * is less. SZG_EINVAL (not square; k), SZG_ENOMEM (with the remedy), errors of
 * szg_spectrum_compute. */
SZG_CHECK_RESULT szg_status szg_extremes_compute(szg_context *context, const szg_matrix *matrix,
                                                 int64_t k, szg_extremes *out);
void szg_extremes_close(szg_extremes *extremes);

/* ---- Table ---- */

SZG_CHECK_RESULT szg_status szg_extremes_table(szg_context *context, szg_table **out);

/* One row per value, the least ones first; `value` is empty where its error exceeds 1e-10 of the
 * norm. A value that is given and not resolved may be the eigenvalue of a neighbouring row. */
SZG_CHECK_RESULT szg_status szg_extremes_add(szg_context *context, szg_table *table,
                                             const szg_matrix_labels *labels,
                                             const szg_extremes *extremes);

SZG_END_DECLS

#endif
