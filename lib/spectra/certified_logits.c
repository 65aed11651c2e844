/* How far the computed entries of content and logits are from those of L = M o (A B^T + T), and the
 * eigenvalues of symmetric ones: docs/explanation/theory.md, "Entries that are rounded". */
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

#include "certified_blocks.h"
#include "factored.h"
#include "symmetry.h"

static const double U = 0x1p-53;

/* ---- Sums of |X| |Y|^T ---- */

/* A number of X, at (i, t), that is not negative. */
typedef double entry_of(const szg_factored *f, double scale, int64_t i, int64_t t);

static double entry_a(const szg_factored *f, double scale, int64_t i, int64_t t) {
    (void)scale;
    return fabs(f->a[i * f->lda + t]);
}

static double entry_b(const szg_factored *f, double scale, int64_t i, int64_t t) {
    (void)scale;
    return fabs(f->b[i * f->ldb + t]);
}

/* |a - scale b| from above: both operations round. */
static double entry_rest(const szg_factored *f, double scale, int64_t i, int64_t t) {
    double product = scale * f->b[i * f->ldb + t];
    return fabs(f->a[i * f->lda + t] - product) * (1 + 4 * U) + 2 * U * fabs(product);
}

/* The largest row sum of X |B|^T, by the column sums of |B|; `sums`: d. */
static double row_sum(const szg_factored *f, double scale, entry_of *x, entry_of *y, double *sums) {
    double largest = 0;
    memset(sums, 0, (size_t)f->d * sizeof *sums);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t t = 0; t < f->d; t++)
            sums[t] += y(f, scale, i, t);
    for (int64_t i = 0; i < f->n; i++) {
        double sum = 0;
        for (int64_t t = 0; t < f->d; t++)
            sum += x(f, scale, i, t) * sums[t];
        largest = szgi_larger(largest, sum);
    }
    return largest * (1 + 0x1p-20);
}

/* Sums of d products and a lag; underflow loses less than DBL_MIN an operation. */
static void entry_sums(const szg_factored *f, double *sums, double *rows, double *columns) {
    double gamma = (double)(f->d + 3) * U, order = (double)f->n;
    double lags = f->bias ? szgi_toeplitz_norm_wiener(f->bias) * (1 + 0x1p-20) : 0;
    double lost = order * (double)(f->d + 2) * DBL_MIN;
    *rows = gamma * (row_sum(f, 1, entry_a, entry_b, sums) + lags) + lost;
    *columns = gamma * (row_sum(f, 1, entry_b, entry_a, sums) + lags) + lost;
}

szg_status szgi_logits_entry_error(szg_context *context, const szg_factored *f, double *out) {
    double *sums, rows, columns;
    SZG_TRY(szgi_memory_alloc(context, f->d + 1, &sums));
    entry_sums(f, sums, &rows, &columns);
    *out = sqrt(rows) * sqrt(columns) * (1 + 0x1p-40);
    szgi_memory_free(sums);
    return SZG_OK;
}

/* ---- A B^T by its factors ---- */

static double column_norm(int64_t n, int64_t ld, const double *a) {
    double largest = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i * ld]));
    if (!(largest > 0))
        return 0;
    for (int64_t i = 0; i < n; i++) {
        double value = a[i * ld] / largest;
        squares += value * value;
    }
    return largest * sqrt(squares) * (1 + 0x1p-20);
}

szg_status szgi_logits_core_error(szg_context *context, const szg_factored *f, const double *r_a,
                                  const double *r_b, double *out) {
    double eta = szgi_tall_r_error(f->n, f->d), columns = 0, norms = 0, a, b;
    for (int64_t t = 0; t < f->d; t++) {
        double left = column_norm(f->n, f->lda, f->a + t);
        double right = column_norm(f->n, f->ldb, f->b + t);
        columns += left * right;
        norms += left + right;
    }
    SZG_TRY(szgi_dense_frobenius(context, f->d, f->d, r_a, f->d, &a));
    SZG_TRY(szgi_dense_frobenius(context, f->d, f->d, r_b, f->d, &b));
    double product = (double)(f->d + 2) * U * a * b;
    /* Underflow: of at most 16 operations on each entry at each of d reflections, which the other
     * factor's column meets, and of the product's. */
    double lost = (double)f->d * ((double)f->d + 16 * (double)f->n * norms) * DBL_MIN;
    *out = ((2 * eta + eta * eta) * columns + product + lost) * (1 + 0x1p-10);
    return SZG_OK;
}

/* ---- Eigenvalues of symmetric logits ---- */

/* ||(A - scale B) B^T||_2 from above: L is as far from c B B^T + T, and twice that from L^T. */
static double asymmetry(const szg_factored *f, double scale, double *sums) {
    double rows = row_sum(f, scale, entry_rest, entry_b, sums);
    double columns = row_sum(f, scale, entry_b, entry_rest, sums);
    return sqrt(rows) * sqrt(columns) * (1 + 0x1p-40) + (double)(f->n * f->d) * DBL_MIN;
}

/* The array's lower triangle counts: row i of its error is a row and a column of that of L. */
static szg_status certify_dense(szg_context *context, const szg_factored *f, bool values,
                                double asymmetric, double *sums, szg_spectrum *spectrum) {
    double *dense, rows, columns;
    entry_sums(f, sums, &rows, &columns);
    SZG_TRY(szgi_logits_dense(context, f, &dense));
    szg_status status = szgi_certify_array(context, values, f->n, 1, dense, f->n,
                                           rows + columns + asymmetric, spectrum);
    szgi_memory_free(dense);
    return status;
}

/* c x, error away at most. */
static szg_interval stretch(szg_interval x, double scale, double error) {
    double lo = nextafter(x.lo * scale, -INFINITY), hi = nextafter(x.hi * scale, INFINITY);
    return (szg_interval){nextafter(lo - error, -INFINITY), nextafter(hi + error, INFINITY)};
}

/* From the eigenvalues of B B^T; those of *spectrum over c are the guesses. */
static szg_status certify_scaled(szg_context *context, const szg_factored *f, bool values,
                                 double scale, double error, szg_spectrum *spectrum) {
    szg_factored gram = *f;
    szg_spectrum of_gram = *spectrum;
    gram.a = f->b;
    gram.lda = f->ldb;
    SZG_TRY(szgi_memory_alloc(context, spectrum->count, &of_gram.re));
    for (int64_t i = 0; i < spectrum->count; i++)
        of_gram.re[i] = spectrum->re[i] / scale;
    szg_status status = szgi_certify_gram(context, &gram, values, &of_gram);
    szgi_memory_free(of_gram.re);
    spectrum->lo = of_gram.lo;
    spectrum->hi = of_gram.hi;
    if (status != SZG_OK)
        return status;
    spectrum->certified = of_gram.certified;
    spectrum->min = stretch(of_gram.min, scale, error);
    spectrum->max = stretch(of_gram.max, scale, error);
    for (int64_t i = 0; spectrum->lo && i < spectrum->count; i++) {
        szg_interval one = stretch((szg_interval){spectrum->lo[i], spectrum->hi[i]}, scale, error);
        spectrum->lo[i] = one.lo;
        spectrum->hi[i] = one.hi;
    }
    return SZG_OK;
}

szg_status szgi_certify_logits(szg_context *context, const szg_factored *f, bool values,
                               szg_spectrum *spectrum) {
    double scale, *sums;
    if (f->a == f->b && f->lda == f->ldb && !f->bias && !f->causal)
        return szgi_certify_gram(context, f, values, spectrum);
    if (!szgi_factored_is_symmetric(f, &scale))
        return SZG_OK;
    if (f->d == 0 && !f->bias)
        return szgi_certify_points(context, 0, values, spectrum);
    SZG_TRY(szgi_memory_alloc(context, f->d + 1, &sums));
    double error = asymmetry(f, scale, sums);
    bool gram = !f->bias && f->d > 0 && f->d < f->n && scale > 0x1p-500 && scale < 0x1p500;
    szg_status status = gram ? certify_scaled(context, f, values, scale, error, spectrum)
                             : certify_dense(context, f, values, error, sums, spectrum);
    szgi_memory_free(sums);
    return status;
}
