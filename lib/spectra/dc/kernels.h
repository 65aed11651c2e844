/* The inner loops of the divide and conquer, O(n) a call and O(n^2) calls: vector code, compiled
 * with contracted products (fused multiply-add) and picked by processor at run time. */
#ifndef SZG_SPECTRA_DC_KERNELS_H
#define SZG_SPECTRA_DC_KERNELS_H

#include "halves.h"

/* A root of a secular equation as the nearest pole and the distance from it: differences with poles
 * keep their relative accuracy. */
typedef struct szgi_dc_roots {
    const double *base, *tau;
} szgi_dc_roots;

/* sums[0] = sum zz[i] / delta_i, sums[1] = sum zz[i] / delta_i^2, delta_i = (d[i] - base) - tau,
 * over i = 0 .. n-1. All delta_i of one sign, none 0; products of four must not underflow. */
void szgi_dc_secular_sums(int64_t n, const double *d, const double *zz, double base, double tau,
                          double sums[2]);

/* Loewner's formula without its last factor: *product = the product over j of (lambda_j - d_i) over
 * (d_j - d_i) for j < i, and over (d_{j+1} - d_i) for i <= j < n - 1. */
void szgi_dc_lowner_product(int64_t n, int64_t i, const double *d, szgi_dc_roots roots,
                            double *product);

/* *product = the product over j of (lambda_j - x) / (pole[j] - x), x = base + tau. */
void szgi_dc_root_ratios(int64_t n, double base, double tau, const double *pole,
                         szgi_dc_roots roots, double *product);

/* Sixteen places at once: out[c * 16 + r] += sum over i of rows[c * ld + i] q_ir, where
 * q_ir = z[i] / ((d[i] - base[r]) - tau[r]); out[count * 16 + r] += sum of q_ir^2. */
enum { SZGI_DC_PLACES = 16, SZGI_DC_MOST_ROWS = 320 };
void szgi_dc_rotate_rows(int64_t n, const double *d, const double *z, szgi_dc_roots roots,
                         int64_t count, const double *rows, int64_t ld, double *out);

/* Chebyshev's points of the first kind on [-1, 1], where functions are known that are wanted
 * elsewhere on it. */
enum { SZGI_DC_NODES = 32 };
extern const double szgi_dc_nodes[SZGI_DC_NODES];

/* Sixteen places x[r] at once: out[c * 16 + r] += f_c(x[r]) from the values
 * f[c * SZGI_DC_NODES + q] at the nodes, for `count` functions. */
void szgi_dc_interpolate_rows(const double *x, int64_t count, const double *f, double *out);

/* out[c] = f_c(x), c < 4, likewise. */
void szgi_dc_interpolate(double x, const double *f, double out[4]);

enum { SZGI_DC_TILE_ROWS = 4 };

/* out[c * 4 + r] += sum over columns l of C_{k[r], l} rows[c * ld + l - column]; no k[r] lies among
 * the columns. */
void szgi_dc_lowner_rows(const szgi_dc_half *half, const int64_t k[4], int64_t column,
                         int64_t columns, int64_t count, const double *rows, int64_t ld,
                         double *out);

/* line[l - column] = C_kl, and 0 where l = k. */
void szgi_dc_lowner_row(const szgi_dc_half *half, int64_t k, int64_t column, int64_t columns,
                        double *line);

/* *result = sum of x[i] y[i]. */
void szgi_dc_dot(int64_t n, const double *x, const double *y, double *result);

/* x[i], y[i] := x[i] + c y[i], y[i] + c x[i]. */
void szgi_dc_reflect(int64_t n, double c, double *x, double *y);

#endif
