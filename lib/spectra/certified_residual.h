/* Bounds of residuals X Y^* - S Z and of defects X X^* - I, which prove every eigenvalue or
 * singular value: docs/explanation/theory.md, "Certified eigenvalues". */
#ifndef SZG_SPECTRA_CERTIFIED_RESIDUAL_H
#define SZG_SPECTRA_CERTIFIED_RESIDUAL_H

#include "spectra_private.h"

/* Real and imaginary parts as arrays of their own, one behind the other, row-major without padding:
 * BLAS then multiplies complex matrices as real ones. */
typedef struct szgi_parts {
    int64_t rows, columns, width; /* width 1: real */
    double *re;                   /* rows x columns; imaginary parts follow */
} szgi_parts;

static inline int64_t szgi_parts_count(const szgi_parts *x) {
    return x->rows * x->columns * x->width;
}

static inline double *szgi_parts_im(const szgi_parts *x) {
    return x->re + x->rows * x->columns;
}

/* Interleaved numbers, as LAPACK has them, and their conjugates. */
void szgi_parts_take(const double *from, bool conjugate, const szgi_parts *to);
/* The same of the adjoint: `from` is columns x rows. */
void szgi_parts_take_adjoint(const double *from, const szgi_parts *to);
/* to = x^* */
void szgi_parts_adjoint(const szgi_parts *x, const szgi_parts *to);

/* ||x||_F from above. */
double szgi_parts_frobenius(const szgi_parts *x);
/* The largest sum of moduli of a row, and of a column, from above; NaN stays. `sums`: columns. */
void szgi_parts_sums(const szgi_parts *x, double *sums, double *rows, double *columns);

/* Room for as many numbers as the larger of X and Y and for two arrays of the shape of X Y^*. */
typedef struct szgi_residual_work {
    double *left, *right, *product, *correction;
} szgi_residual_work;

/* *out >= ||X Y^* - diag(s) Z||_2, X k x n, Y m x n, Z k x m. Parts of X are below 2, parts of Y
 * below 4. */
SZG_CHECK_RESULT szg_status szgi_residual_bound(szg_context *context, const szgi_parts *x,
                                                const szgi_parts *y, const double *s,
                                                const szgi_parts *z, const szgi_residual_work *work,
                                                double *out);

/* *out >= ||X X^* - I||_2 */
SZG_CHECK_RESULT szg_status szgi_defect_bound(szg_context *context, const szgi_parts *x,
                                              const szgi_residual_work *work, double *out);

/* SZG_ENOCONV unless the defect is below 1/2 and the radius finite; `what`: "eigen", "singular ".
 */
SZG_CHECK_RESULT szg_status szgi_defect_check(szg_context *context, double defect, double radius,
                                              const char *what);

#endif
