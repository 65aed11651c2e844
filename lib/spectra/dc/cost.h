/* Predicted processor seconds of both ways to all eigenvalues of a symmetric Toeplitz matrix. */
#ifndef SZG_SPECTRA_DC_COST_H
#define SZG_SPECTRA_DC_COST_H

#include "tree.h"

/* Two halves of order about n / 2 by LAPACK, values alone. */
double szgi_dc_halves_seconds(int64_t n);

/* Divide and conquer with leaves of order `leaf` where blocks of 64 rows have this rank on average:
 * the ranks of larger blocks follow the growth that random lags show. */
double szgi_dc_predicted_seconds(int64_t n, int64_t leaf, double rank, int64_t samples);

/* What remains of it once the tree is split: ranks and terms are known. */
double szgi_dc_tree_seconds(const szgi_dc_tree *tree);

#endif
