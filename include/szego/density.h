/* Spectral density: how the eigenvalues of a large matrix are spread, without computing each. */
#ifndef SZEGO_DENSITY_H
#define SZEGO_DENSITY_H

#include <szego/matrix.h>
#include <szego/table.h>

SZG_BEGIN_DECLS

/* All fields but `size` may be zero. */
typedef struct szg_density_options {
    SZG_SIZE(szg_density_options);
    int64_t moments; /* Chebyshev moments, 2 .. 65536; 0: 128 */
    int64_t vectors; /* random vectors; 0: none where all eigenvalues are at hand, else 2^19 / n */
    int64_t points;  /* where the density is evaluated; 0: twice the moments */
    uint64_t seed;   /* of the random vectors */
} szg_density_options;

/* The density of the n eigenvalues lambda_i of a Hermitian matrix or of the Hermitian part
 * (L + L^*) / 2 of another: sum_i delta(lambda - lambda_i) / n, smoothed by Jackson's kernel.
 * Points ascend and lie inside (lo, hi), which holds every eigenvalue: by proof (`proved`), else
 * the computed ends are moved outwards by twice n eps times the norm and the entries' rounding. The
 * arrays belong to the density. */
typedef struct szg_density {
    int64_t n, moments, vectors, points; /* vectors 0: the moments are exact up to rounding */
    bool hermitian_part; /* the eigenvalues are those of the Hermitian part, not of the matrix */
    double lo, hi;
    double *moment;      /* moment m: mean of T_m(x_i), x = (2 lambda - lo - hi) / (hi - lo) */
    double moment_error; /* bound of each moment's standard error: sqrt(2 / (n vectors)), or 0 */
    double *lambda;
    double *density;    /* for each unit of lambda; its integral is 1 */
    double *error;      /* bound of the standard error of `density`; 0 where moments are exact */
    double *cumulative; /* share of the eigenvalues below lambda, smoothed likewise */
    double *resolution; /* standard deviation of the kernel at lambda */
    bool proved;        /* lo and hi have a proof (docs/explanation/theory.md) */
} szg_density;

/* Kernel polynomial method (Weisse, Wellein, Alvermann, Fehske 2006, 78 Rev. Mod. Phys. 275):
 * moments from all eigenvalues where those are at hand (closed forms, low rank, n <= 4096), else
 * from products of a Toeplitz matrix with `vectors` vectors of random signs (Hutchinson 1990), a
 * product for two moments, O(n) memory. `options` may be NULL. The same seed gives the same
 * numbers at any number of threads. SZG_EINVAL (not square; options), SZG_EDOMAIN (all eigenvalues
 * are one number; no products of that structure), SZG_EDATA (the interval exceeds doubles), errors
 * of szg_spectrum_compute. */
SZG_CHECK_RESULT szg_status szg_density_compute(szg_context *context, const szg_matrix *matrix,
                                                const szg_density_options *options,
                                                szg_density *out);
void szg_density_close(szg_density *density);

/* ---- Tables ---- */

typedef struct szg_density_tables {
    szg_table *density; /* one row per point */
    szg_table *moments; /* one row per moment */
} szg_density_tables;

SZG_CHECK_RESULT szg_status szg_density_tables_open(szg_context *context, szg_density_tables *out);
void szg_density_tables_close(szg_density_tables *tables);

SZG_CHECK_RESULT szg_status szg_density_add(szg_context *context, szg_density_tables *tables,
                                            const szg_matrix_labels *labels,
                                            const szg_density *density);

SZG_END_DECLS

#endif
