/* Jacobi's method (1846), cyclic, for Hermitian matrices; a real symmetric matrix is one whose
 * rotations all stay real. */
#include <math.h>

#include "base/memory.h"
#include "reference.h"

enum { SWEEPS = 60 };

szgi_rotation szgi_rotation_of(double at_p, double at_q, szg_c64 product) {
    double modulus = hypot(product.re, product.im);
    double theta = (at_q - at_p) / (2 * modulus);
    double t = copysign(1, theta) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / hypot(t, 1);
    return (szgi_rotation){c, t * c, {product.re / modulus, product.im / modulus}};
}

void szgi_rotation_apply(const szgi_rotation *r, int64_t count, szg_c64 *p, szg_c64 *q,
                         int64_t step) {
    double re = r->s * r->phase.re, im = r->s * r->phase.im;
    for (int64_t i = 0; i < count; i++, p += step, q += step) {
        szg_c64 x = *p, y = *q;
        *p =
            (szg_c64){r->c * x.re - (re * y.re + im * y.im), r->c * x.im - (re * y.im - im * y.re)};
        *q =
            (szg_c64){r->c * y.re + (re * x.re - im * x.im), r->c * y.im + (re * x.im + im * x.re)};
    }
}

double szgi_reference_scale(int64_t rows, int64_t columns, const szg_c64 *a, int64_t lda) {
    double largest = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            largest = fmax(largest, fmax(fabs(a[i * lda + j].re), fabs(a[i * lda + j].im)));
    int exponent = 0;
    frexp(largest, &exponent);
    return largest == 0 ? 1
                        : ldexp(1, exponent > 1022    ? -1022
                                   : exponent < -1022 ? 1022
                                                      : -exponent);
}

szg_status szgi_reference_widen(szg_context *context, int64_t rows, int64_t columns,
                                const double *a, int64_t lda, szg_c64 **out) {
    int64_t count;
    SZG_TRY(szgi_memory_product(context, rows, columns, &count));
    SZG_TRY(szgi_memory_alloc(context, count, out));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            (*out)[i * columns + j].re = a[i * lda + j];
    return SZG_OK;
}

/* Fills the upper triangle from the lower, scaled; the diagonal becomes real. */
static void prepare(int64_t n, szg_c64 *a, int64_t lda) {
    for (int64_t i = 0; i < n; i++) {
        a[i * lda + i].im = 0;
        for (int64_t j = 0; j < i; j++)
            a[j * lda + i] = (szg_c64){a[i * lda + j].re, -a[i * lda + j].im};
    }
}

static void scale(int64_t n, szg_c64 *a, int64_t lda, double factor) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * lda + j] = (szg_c64){a[i * lda + j].re * factor, a[i * lda + j].im * factor};
}

static double frobenius(int64_t n, const szg_c64 *a, int64_t lda) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            sum += a[i * lda + j].re * a[i * lda + j].re + a[i * lda + j].im * a[i * lda + j].im;
    return sqrt(sum);
}

/* A := J^* A J for the rotation J of coordinates p and q; rows of v collect the conjugates'
 * transpose, that is row p of v becomes the p-th eigenvector. */
static void rotate(int64_t n, szg_c64 *a, int64_t lda, szg_c64 *v, int64_t p, int64_t q) {
    szgi_rotation r = szgi_rotation_of(a[p * lda + p].re, a[q * lda + q].re, a[p * lda + q]);
    szgi_rotation conjugated = r;
    conjugated.phase.im = -r.phase.im;
    szgi_rotation_apply(&r, n, a + p, a + q, lda);
    szgi_rotation_apply(&conjugated, n, a + p * lda, a + q * lda, 1);
    a[p * lda + q] = a[q * lda + p] = (szg_c64){0, 0};
    a[p * lda + p].im = a[q * lda + q].im = 0;
    if (v)
        szgi_rotation_apply(&r, n, v + p * n, v + q * n, 1);
}

/* One sweep over all pairs; false where none was above `threshold`. */
static bool sweep(int64_t n, szg_c64 *a, int64_t lda, szg_c64 *v, double threshold) {
    bool rotated = false;
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++)
            if (hypot(a[p * lda + q].re, a[p * lda + q].im) > threshold) {
                rotate(n, a, lda, v, p, q);
                rotated = true;
            }
    return rotated;
}

/* Selection sort: n is small here, and rows of v move along. */
static void sort_ascending(int64_t n, double *w, szg_c64 *v) {
    for (int64_t i = 0; i < n; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            least = w[j] < w[least] ? j : least;
        double value = w[i];
        w[i] = w[least];
        w[least] = value;
        for (int64_t j = 0; v && least != i && j < n; j++) {
            szg_c64 x = v[i * n + j];
            v[i * n + j] = v[least * n + j];
            v[least * n + j] = x;
        }
    }
}

szg_status szgi_reference_eigen_hermitian(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                          double *w, bool vectors) {
    szg_c64 *v = NULL;
    int64_t count;
    SZG_TRY(szgi_memory_product(context, n, n, &count));
    if (vectors)
        SZG_TRY(szgi_memory_alloc(context, count, &v));
    for (int64_t i = 0; v && i < n; i++)
        v[i * n + i].re = 1;
    prepare(n, a, lda);
    double factor = szgi_reference_scale(n, n, a, lda);
    scale(n, a, lda, factor);
    double threshold = 0x1p-54 * frobenius(n, a, lda) / (double)n;
    bool rotated = true;
    szg_status status = SZG_OK;
    for (int i = 0; rotated && i < SWEEPS && status == SZG_OK; i++) {
        rotated = sweep(n, a, lda, v, threshold);
        status = szgi_context_check_cancel(context);
    }
    if (status == SZG_OK && rotated)
        status = szgi_fail(context, SZG_ENOCONV, "Jacobi: %d sweeps did not converge", SWEEPS);
    for (int64_t i = 0; i < n; i++)
        w[i] = a[i * lda + i].re / factor;
    sort_ascending(n, w, v);
    for (int64_t i = 0; v && i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * lda + j] = v[i * n + j];
    szgi_memory_free(v);
    return status;
}

szg_status szgi_reference_eigen_symmetric(szg_context *context, int64_t n, double *a, int64_t lda,
                                          double *w, bool vectors) {
    szg_c64 *wide;
    SZG_TRY(szgi_reference_widen(context, n, n, a, lda, &wide));
    szg_status status = szgi_reference_eigen_hermitian(context, n, wide, n, w, vectors);
    for (int64_t i = 0; status == SZG_OK && vectors && i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * lda + j] = wide[i * n + j].re;
    szgi_memory_free(wide);
    return status;
}
