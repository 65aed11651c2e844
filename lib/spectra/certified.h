/* Eigenvalues of Hermitian matrices between proven bounds: docs/explanation/theory.md, "Certified
 * eigenvalues", has the proofs. */
#ifndef SZG_SPECTRA_CERTIFIED_H
#define SZG_SPECTRA_CERTIFIED_H

#include "spectra_private.h"

/* Entries (i, 0) .. (i, i) of an array of doubles, each time the same ones. */
typedef void szgi_row_of(const void *data, int64_t i, double *out);

/* A Hermitian matrix that differs from the array by a Hermitian matrix of norm at most `error`. */
typedef struct szgi_block {
    int64_t n, width; /* doubles an entry: 2 of complex ones */
    szgi_row_of *row; /* lower triangle; real and imaginary parts are below 4 in modulus */
    const void *data;
    double error;
} szgi_block;

/* Rows of an array, multiplied by two powers of two: one may overflow where both together do not.
 */
typedef struct szgi_array_rows {
    const double *a;
    int64_t stride, width; /* doubles from row to row */
    double first, second;
} szgi_array_rows;
szgi_row_of szgi_array_row; /* of szgi_array_rows */

/* Where an end of the spectrum is looked for: guesses from `guess` outwards, the first `margin`
 * away from it and each next one four times as far, at most SZGI_CERTIFIED_TRIES. */
typedef struct szgi_end_search {
    int sign; /* 1: the largest eigenvalue; -1: the least */
    double guess, margin;
} szgi_end_search;

enum { SZGI_CERTIFIED_TRIES = 12 };

/* *out contains the block's largest or least eigenvalue, or lies outside of it altogether: the
 * outer bound holds for every eigenvalue, the inner bound is a Rayleigh quotient. `work`: n^2
 * entries. SZG_ENOCONV: an eigenvalue lies further out than the last guess, or the factorisation
 * fails. */
SZG_CHECK_RESULT szg_status szgi_block_end(szg_context *context, const szgi_block *block,
                                           const szgi_end_search *search, double *work,
                                           szg_interval *out);

/* The outer bound of the largest eigenvalue of sign A alone. `work` keeps the factor, from which
 * szgi_block_vector makes a vector x near the end's eigenvector, n entries, the largest part in
 * [1/2, 1). */
SZG_CHECK_RESULT szg_status szgi_block_outer(szg_context *context, const szgi_block *block,
                                             const szgi_end_search *search, double *work,
                                             double *bound);
void szgi_block_vector(const szgi_block *block, const double *factor, double *x);

/* lo[i] <= lambda_i <= hi[i] for the n eigenvalues of a block, ascending; all intervals have one
 * width. SZG_ENOMEM; SZG_ENOCONV: the computed eigenvectors are far from orthonormal. */
SZG_CHECK_RESULT szg_status szgi_block_values(szg_context *context, const szgi_block *block,
                                              double *lo, double *hi);

/* The distance of subnormal numbers over 2^exponent, which is what rounding may have cost a guess.
 * Numbers of size 1 that are far below that distance need no more than 2^400. */
double szgi_subnormal_margin(int exponent);

/* SZG_EBACKEND unless doubles round to nearest. */
SZG_CHECK_RESULT szg_status szgi_certify_rounding(szg_context *context);

/* Bounds of `count` numbers become those of their moduli, descending. */
void szgi_bounds_to_moduli(int64_t count, double *lo, double *hi);

/* The least and the largest eigenvalue of the Hermitian matrix whose computed spectrum is
 * *spectrum. Fills its `min` and `max` where the matrix has a certifier that the options afford,
 * else leaves them NaN. */
SZG_CHECK_RESULT szg_status szgi_spectrum_certify(szg_context *context, const szg_matrix *matrix,
                                                  const szg_spectra_options *options,
                                                  szg_spectrum *spectrum);

#endif
