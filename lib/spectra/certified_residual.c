/* Residuals by exact products of heads: no directed rounding, whose mode the threads of a BLAS
 * ignore. */
#include "linalg/linalg.h"

#include "certified_residual.h"
#include "doubled.h"

static const double U = 0x1p-53;

/* ---- Parts ---- */

void szgi_parts_take(const double *from, bool conjugate, const szgi_parts *to) {
    int64_t count = to->rows * to->columns;
    double *im = szgi_parts_im(to);
    if (to->width == 1) {
        memcpy(to->re, from, (size_t)count * sizeof *from);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        to->re[i] = from[2 * i];
        im[i] = conjugate ? -from[2 * i + 1] : from[2 * i + 1];
    }
}

void szgi_parts_take_adjoint(const double *from, const szgi_parts *to) {
    int64_t m = to->rows, n = to->columns, width = to->width;
    double *im = szgi_parts_im(to);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            const double *value = from + (j * m + i) * width;
            to->re[i * n + j] = value[0];
            if (width == 2)
                im[i * n + j] = -value[1];
        }
}

void szgi_parts_adjoint(const szgi_parts *x, const szgi_parts *to) {
    int64_t m = x->rows, n = x->columns;
    const double *im = szgi_parts_im(x);
    double *to_im = szgi_parts_im(to);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            to->re[j * m + i] = x->re[i * n + j];
            if (x->width == 2)
                to_im[j * m + i] = -im[i * n + j];
        }
}

/* ---- Norms ---- */

/* The sum's rounding is below 2^-20 of it for up to 2^31 numbers. */
static double frobenius(int64_t count, const double *x) {
    return sqrt(szgi_dot(count, x, x)) * (1 + 0x1p-20) + 0x1p-480;
}

double szgi_parts_frobenius(const szgi_parts *x) {
    return frobenius(szgi_parts_count(x), x->re);
}

/* Squares that underflow are below 2^-1022, moduli 2^-500 pays for. */
static inline double modulus(const szgi_parts *x, int64_t at) {
    double re = x->re[at], im = x->width == 2 ? szgi_parts_im(x)[at] : 0;
    return x->width == 2 ? sqrt(re * re + im * im) + 0x1p-500 : fabs(re);
}

void szgi_parts_sums(const szgi_parts *x, double *sums, double *rows, double *columns) {
    double largest = 0, other = 0;
    memset(sums, 0, (size_t)x->columns * sizeof *sums);
    for (int64_t i = 0; i < x->rows; i++) {
        double row = 0;
        for (int64_t j = 0; j < x->columns; j++) {
            double value = modulus(x, i * x->columns + j);
            row += value;
            sums[j] += value;
        }
        largest = szgi_larger(largest, row);
    }
    for (int64_t j = 0; j < x->columns; j++)
        other = szgi_larger(other, sums[j]);
    *rows = largest * (1 + 0x1p-20);
    *columns = other * (1 + 0x1p-20);
}

/* sqrt(||x||_1 ||x||_infinity) >= ||x||_2; NaN stays. */
static double spectral_bound(const szgi_parts *x, double *sums) {
    double rows, columns;
    szgi_parts_sums(x, sums, &rows, &columns);
    return sqrt(rows) * sqrt(columns) * (1 + 0x1p-40);
}

/* ---- Products ---- */

/* x rounded to multiples of 2^-bits, |x| < 2^(51 - bits). */
static void take_head(int64_t count, int bits, const double *x, double *head) {
    const double large = ldexp(1.5, 52 - bits);
    for (int64_t i = 0; i < count; i++)
        head[i] = (x[i] + large) - large;
}

static void take_tail(int64_t count, const double *x, double *head) {
    for (int64_t i = 0; i < count; i++)
        head[i] = x[i] - head[i];
}

/* Bits of a head so that sums of `terms` products of two heads, below 2 and 4, are exact. */
static int head_bits(int64_t terms) {
    int bits = 50;
    while (terms > 1 && bits > 0) {
        terms = (terms + 1) / 2;
        bits--;
    }
    return bits / 2;
}

/* z := x y^* + beta z; a part of an entry is a sum of width n products. */
static szg_status multiply(szg_context *context, const szgi_parts *x, const szgi_parts *y,
                           double beta, const szgi_parts *z) {
    int64_t k = x->rows, m = y->rows, n = x->columns;
    const double *x_im = szgi_parts_im(x), *y_im = szgi_parts_im(y);
    double *z_im = szgi_parts_im(z);
    SZG_TRY(szgi_gemm(context, 'n', 't', k, m, n, 1, x->re, n, y->re, n, beta, z->re, m));
    if (x->width == 1)
        return SZG_OK;
    SZG_TRY(szgi_gemm(context, 'n', 't', k, m, n, 1, x_im, n, y_im, n, 1, z->re, m));
    SZG_TRY(szgi_gemm(context, 'n', 't', k, m, n, 1, x_im, n, y->re, n, beta, z_im, m));
    return szgi_gemm(context, 'n', 't', k, m, n, -1, x->re, n, y_im, n, 1, z_im, m);
}

/* How much sums of `sums` times n products err, relative to Frobenius norms: both parts of a
 * complex entry by sqrt 2 of one. */
static double product_error(const szgi_parts *x, int64_t sums) {
    double terms = (double)(sums * x->width * x->columns + 4);
    return (x->width == 2 ? 1.4143 : 1) * terms * U * (1 + 0x1p-20);
}

/* x y^* = product + correction; *error bounds the error of the correction in Frobenius norm. */
static szg_status multiply_parts(szg_context *context, const szgi_parts *x, const szgi_parts *y,
                                 const szgi_residual_work *work, double *error) {
    int64_t count = szgi_parts_count(x), other = szgi_parts_count(y);
    int bits = head_bits(x->width * x->columns);
    double gamma = product_error(x, 2);
    const szgi_parts left = {x->rows, x->columns, x->width, work->left};
    const szgi_parts right = {y->rows, y->columns, y->width, work->right};
    const szgi_parts product = {x->rows, y->rows, x->width, work->product};
    const szgi_parts correction = {x->rows, y->rows, x->width, work->correction};
    take_head(count, bits, x->re, left.re);
    take_head(other, bits, y->re, right.re);
    SZG_TRY(multiply(context, &left, &right, 0, &product));
    take_tail(other, y->re, right.re);
    SZG_TRY(multiply(context, &left, &right, 0, &correction));
    *error = gamma * szgi_parts_frobenius(&left) * szgi_parts_frobenius(&right);
    take_tail(count, x->re, left.re);
    *error += gamma * szgi_parts_frobenius(&left) * szgi_parts_frobenius(y);
    return multiply(context, &left, y, 1, &correction);
}

/* product := (product - s z) + correction, each number off by 4 u of those that it is made of.
 * Returns the Frobenius norm of these errors. */
static double subtract_scaled(const double *s, const szgi_parts *z,
                              const szgi_residual_work *work) {
    int64_t rows = z->rows * z->width, m = z->columns;
    double sum = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < m; j++) {
            int64_t at = i * m + j;
            szgi_doubled scaled = szgi_doubled_product(s[i % z->rows], z->re[at]);
            double rest = work->product[at] - scaled.head;
            double made = fabs(rest) + fabs(scaled.tail) + fabs(work->correction[at]);
            work->product[at] = (rest - scaled.tail) + work->correction[at];
            sum += made * made;
        }
    return 4 * U * sqrt(sum) * (1 + 0x1p-20);
}

/* ---- Bounds ---- */

szg_status szgi_residual_bound(szg_context *context, const szgi_parts *x, const szgi_parts *y,
                               const double *s, const szgi_parts *z, const szgi_residual_work *work,
                               double *out) {
    const szgi_parts residual = {z->rows, z->columns, z->width, work->product};
    double error;
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(multiply_parts(context, x, y, work, &error));
    error += subtract_scaled(s, z, work);
    *out = (spectral_bound(&residual, work->left) + error) * (1 + 0x1p-40) + 0x1p-900;
    return SZG_OK;
}

szg_status szgi_defect_bound(szg_context *context, const szgi_parts *x,
                             const szgi_residual_work *work, double *out) {
    const szgi_parts defect = {x->rows, x->rows, x->width, work->correction};
    double norm = szgi_parts_frobenius(x);
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(multiply(context, x, x, 0, &defect));
    for (int64_t i = 0; i < x->rows; i++)
        defect.re[i * (x->rows + 1)] -= 1;
    *out = spectral_bound(&defect, work->left) + product_error(x, 1) * norm * norm;
    return SZG_OK;
}

szg_status szgi_defect_check(szg_context *context, double defect, double radius, const char *what) {
    if (defect < 0.5 && isfinite(radius))
        return SZG_OK;
    return szgi_fail(context, SZG_ENOCONV,
                     "the computed %svectors are not orthonormal (defect %.2g): no %svalue is "
                     "proved",
                     what, defect, what);
}
