/* Numbers derived from spectra. */
#ifndef SZEGO_SUMMARY_H
#define SZEGO_SUMMARY_H

#include <szego/spectrum.h>
#include <szego/table.h>
#include <szego/toeplitz.h>

SZG_BEGIN_DECLS

/* What one row of the table `summary` says. A number that does not exist for the matrix at hand, or
 * that the spectra given do not determine, is NaN, and `note` says why. */
typedef struct szg_summary {
    int64_t n;             /* order */
    int64_t rank;          /* exact rank where known, else -1 */
    int64_t zeros;         /* values exactly 0 by structure; -1: only a part is known */
    double lambda_min;     /* least eigenvalue; for complex eigenvalues the least real part */
    double lambda_max;     /* largest eigenvalue; the largest real part */
    double width;          /* lambda_max - lambda_min; NaN for complex eigenvalues */
    double radius;         /* largest modulus of an eigenvalue */
    double sigma_min;      /* least singular value, structural zeros included */
    double sigma_max;      /* largest singular value: the spectral norm */
    double condition;      /* sigma_max / sigma_min; infinity where sigma_min = 0 < sigma_max */
    double stable_rank;    /* ||L||_F^2 / ||L||_2^2; NaN for the zero matrix */
    double effective_rank; /* exp of the entropy of sigma_i / sum sigma (Roy and Vetterli 2007) */
    double nuclear;        /* sum of the singular values: Schatten norm of p = 1 */
    double frobenius;      /* Schatten norm of p = 2 */
    double residual;       /* the worse of the spectra's residuals */
    const char *residual_meaning; /* that spectrum's sentence */
    double dropped; /* of the eigenvalues' spectrum, by divide and conquer; NaN: another method */
    szg_method method; /* of the eigenvalues; of the singular values if there are none */
    const char *note;  /* NULL, or which numbers do not exist and why */
} szg_summary;

/* Summarises a matrix from its eigenvalues, its singular values, or both (of the same matrix, or
 * eigenvalues of its Hermitian part; either may be NULL). Eigenvalues of a normal matrix serve as
 * singular values. From a partial spectrum come the range, the radius and, where
 * spectrum->frobenius is known, the stable rank; the rest is NaN. SZG_EINVAL: both NULL, kinds
 * exchanged, orders that differ. */
SZG_CHECK_RESULT szg_status szg_summary_of(szg_context *context, const szg_spectrum *eigenvalues,
                                           const szg_spectrum *singular, szg_summary *out);

/* Spectral density histogram of a real or singular spectrum over bins [edge_i, edge_{i+1}) of equal
 * width between lo and hi (the last one closed); lo = hi = 0 takes the spectrum's own range,
 * widened where it is a point. Structural zeros count. edges: bins + 1; mass: bins numbers, the
 * share of the n values that falls into each bin (they sum to 1 when [lo, hi] covers a complete
 * spectrum). SZG_EINVAL: bins < 1, hi < lo, a complex spectrum. */
SZG_CHECK_RESULT szg_status szg_summary_density(szg_context *context, const szg_spectrum *spectrum,
                                                int64_t bins, double lo, double hi, double *edges,
                                                double *mass);

SZG_END_DECLS

#endif
