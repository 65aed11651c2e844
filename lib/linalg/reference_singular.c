/* One-sided Jacobi (Hestenes 1958) and Householder's QR. */
#include <math.h>

#include "base/memory.h"
#include "reference.h"

enum { SWEEPS = 60 };

/* The state of one decomposition: `count` vectors of length `length` >= count in the rows of w, and
 * the rotations that made them from unit vectors in the rows of v. */
typedef struct hestenes {
    int64_t count, length;
    szg_c64 *w, *v;
    double *s;
} hestenes;

/* x^* y */
static szg_c64 inner(int64_t n, const szg_c64 *x, const szg_c64 *y) {
    szg_c64 sum = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        sum.re += x[i].re * y[i].re + x[i].im * y[i].im;
        sum.im += x[i].re * y[i].im - x[i].im * y[i].re;
    }
    return sum;
}

/* One sweep over all pairs; false where all were orthogonal. The floor lets vectors be that are
 * below rounding and would shrink for ever; those that normalise() keeps are above it by 2^54. */
static bool sweep(hestenes *h) {
    bool rotated = false;
    double floor = 0x1p-160 * inner(h->count * h->length, h->w, h->w).re;
    for (int64_t p = 0; p < h->count; p++)
        for (int64_t q = p + 1; q < h->count; q++) {
            szg_c64 *x = h->w + p * h->length, *y = h->w + q * h->length;
            double xx = inner(h->length, x, x).re, yy = inner(h->length, y, y).re;
            szg_c64 xy = inner(h->length, x, y);
            double bound = (double)h->length * 0x1p-53 * sqrt(xx) * sqrt(yy) + floor;
            if (!(hypot(xy.re, xy.im) > bound))
                continue;
            szgi_rotation r = szgi_rotation_of(xx, yy, xy);
            szgi_rotation_apply(&r, h->length, x, y, 1);
            szgi_rotation_apply(&r, h->count, h->v + p * h->count, h->v + q * h->count, 1);
            rotated = true;
        }
    return rotated;
}

static void swap_rows(int64_t n, szg_c64 *x, szg_c64 *y) {
    for (int64_t i = 0; i < n; i++) {
        szg_c64 z = x[i];
        x[i] = y[i];
        y[i] = z;
    }
}

static void sort_descending(hestenes *h) {
    for (int64_t i = 0; i < h->count; i++) {
        int64_t most = i;
        for (int64_t j = i + 1; j < h->count; j++)
            most = h->s[j] > h->s[most] ? j : most;
        if (most == i)
            continue;
        double value = h->s[i];
        h->s[i] = h->s[most];
        h->s[most] = value;
        swap_rows(h->length, h->w + i * h->length, h->w + most * h->length);
        swap_rows(h->count, h->v + i * h->count, h->v + most * h->count);
    }
}

/* Row i of w has no direction of its own: gives it the unit vector that is farthest from the rows
 * before it, made orthogonal to them (twice is enough: Kahan, Parlett). */
static void complete(hestenes *h, int64_t i) {
    szg_c64 *x = h->w + i * h->length;
    int64_t farthest = 0;
    double least = INFINITY;
    for (int64_t k = 0; k < h->length; k++) {
        double covered = 0;
        for (int64_t j = 0; j < i; j++) {
            szg_c64 y = h->w[j * h->length + k];
            covered += y.re * y.re + y.im * y.im;
        }
        if (covered < least) {
            least = covered;
            farthest = k;
        }
    }
    for (int64_t k = 0; k < h->length; k++)
        x[k] = (szg_c64){k == farthest, 0};
    for (int64_t j = 0; j < 2 * i; j++) {
        const szg_c64 *y = h->w + (j % i) * h->length;
        szg_c64 c = inner(h->length, y, x);
        for (int64_t k = 0; k < h->length; k++) {
            x[k].re -= c.re * y[k].re - c.im * y[k].im;
            x[k].im -= c.re * y[k].im + c.im * y[k].re;
        }
    }
}

static void normalise(hestenes *h) {
    for (int64_t i = 0; i < h->count; i++) {
        szg_c64 *x = h->w + i * h->length;
        if (!(h->s[i] > (double)h->length * 0x1p-53 * h->s[0]))
            complete(h, i);
        double norm = sqrt(inner(h->length, x, x).re);
        for (int64_t k = 0; k < h->length; k++)
            x[k] = (szg_c64){x[k].re / norm, x[k].im / norm};
    }
}

static szg_status decompose(szg_context *context, hestenes *h, bool vectors) {
    double factor = szgi_reference_scale(h->count, h->length, h->w, h->length);
    for (int64_t i = 0; i < h->count * h->length; i++)
        h->w[i] = (szg_c64){h->w[i].re * factor, h->w[i].im * factor};
    for (int64_t i = 0; i < h->count; i++)
        h->v[i * h->count + i].re = 1;
    bool rotated = true;
    for (int i = 0; rotated && i < SWEEPS; i++) {
        rotated = sweep(h);
        SZG_TRY(szgi_context_check_cancel(context));
    }
    if (rotated)
        return szgi_fail(context, SZG_ENOCONV, "Jacobi: %d sweeps did not converge", SWEEPS);
    for (int64_t i = 0; i < h->count; i++) {
        const szg_c64 *x = h->w + i * h->length;
        h->s[i] = sqrt(inner(h->length, x, x).re);
    }
    sort_descending(h);
    if (vectors)
        normalise(h);
    for (int64_t i = 0; i < h->count; i++)
        h->s[i] /= factor;
    return SZG_OK;
}

/* Rows of w: the columns of a (m >= n), or of its conjugate transpose, the conjugated rows. */
static void load(hestenes *h, bool wide, const szg_c64 *a, int64_t lda) {
    for (int64_t i = 0; i < h->count; i++)
        for (int64_t k = 0; k < h->length; k++) {
            szg_c64 x = wide ? a[i * lda + k] : a[k * lda + i];
            h->w[i * h->length + k] = (szg_c64){x.re, wide ? -x.im : x.im};
        }
}

/* The rows of `from` (count of length n) as columns of u, or conjugated as rows of vt. */
static void store_columns(int64_t count, int64_t n, const szg_c64 *from, szg_c64 *u, int64_t ldu) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < n; k++)
            u[k * ldu + i] = from[i * n + k];
}

static void store_rows(int64_t count, int64_t n, const szg_c64 *from, szg_c64 *vt, int64_t ldvt) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < n; k++)
            vt[i * ldvt + k] = (szg_c64){from[i * n + k].re, -from[i * n + k].im};
}

szg_status szgi_reference_singular_complex(szg_context *context, int64_t m, int64_t n, szg_c64 *a,
                                           int64_t lda, double *s, szg_c64 *u, int64_t ldu,
                                           szg_c64 *vt, int64_t ldvt) {
    bool wide = m < n;
    hestenes h = {.count = wide ? m : n, .length = wide ? n : m, .s = s};
    int64_t size;
    SZG_TRY(szgi_memory_product(context, m, n, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &h.w));
    szg_status status = szgi_memory_alloc(context, h.count * h.count, &h.v);
    if (status == SZG_OK) {
        load(&h, wide, a, lda);
        status = decompose(context, &h, u != NULL);
    }
    if (status == SZG_OK && u) {
        store_columns(h.count, m, wide ? h.v : h.w, u, ldu);
        store_rows(h.count, n, wide ? h.w : h.v, vt, ldvt);
    }
    szgi_memory_free(h.w);
    szgi_memory_free(h.v);
    return status;
}

static void narrow(int64_t rows, int64_t columns, const szg_c64 *from, double *to, int64_t ld) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[i * ld + j] = from[i * columns + j].re;
}

szg_status szgi_reference_singular(szg_context *context, int64_t m, int64_t n, double *a,
                                   int64_t lda, double *s, double *u, int64_t ldu, double *vt,
                                   int64_t ldvt) {
    int64_t k = m < n ? m : n;
    szg_c64 *wide, *left = NULL, *right = NULL;
    SZG_TRY(szgi_reference_widen(context, m, n, a, lda, &wide));
    szg_status status = SZG_OK;
    if (u)
        status = szgi_memory_alloc(context, m * k, &left);
    if (u && status == SZG_OK)
        status = szgi_memory_alloc(context, k * n, &right);
    if (status == SZG_OK)
        status = szgi_reference_singular_complex(context, m, n, wide, n, s, left, k, right, n);
    if (status == SZG_OK && u) {
        narrow(m, k, left, u, ldu);
        narrow(k, n, right, vt, ldvt);
    }
    szgi_memory_free(wide);
    szgi_memory_free(left);
    szgi_memory_free(right);
    return status;
}

/* Makes column j zero below its diagonal by the reflection I - 2 v v^T / v^T v. */
static void reflect(int64_t m, int64_t n, double *a, int64_t lda, double *v, int64_t j) {
    double norm = 0;
    for (int64_t i = j; i < m; i++) {
        v[i] = a[i * lda + j];
        norm = hypot(norm, v[i]);
    }
    if (norm == 0)
        return;
    v[j] += copysign(norm, v[j]);
    double square = 0;
    for (int64_t i = j; i < m; i++) {
        v[i] /= norm;
        square += v[i] * v[i];
    }
    for (int64_t k = j; k < n; k++) {
        double dot = 0;
        for (int64_t i = j; i < m; i++)
            dot += v[i] * a[i * lda + k];
        for (int64_t i = j; i < m; i++)
            a[i * lda + k] -= 2 * dot / square * v[i];
    }
    for (int64_t i = j + 1; i < m; i++)
        a[i * lda + j] = 0;
}

szg_status szgi_reference_qr_r(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda) {
    double *v;
    SZG_TRY(szgi_memory_alloc(context, m, &v));
    for (int64_t j = 0; j < n && j < m - 1; j++)
        reflect(m, n, a, lda, v, j);
    szgi_memory_free(v);
    return SZG_OK;
}

/* Makes row j of b zero by the reflection I - 2 v v^T / v^T v of the columns j of l and all of b,
 * where v is that row behind l_jj. */
static void reflect_row(int64_t n, int64_t count, double *l, int64_t ldl, double *b, int64_t ldb,
                        double *v, int64_t j) {
    double norm = l[j * ldl + j], square = 0;
    for (int64_t t = 0; t < count; t++)
        norm = hypot(norm, b[j * ldb + t]);
    if (norm == 0)
        return;
    double head = (l[j * ldl + j] + copysign(norm, l[j * ldl + j])) / norm;
    for (int64_t t = 0; t < count; t++) {
        v[t] = b[j * ldb + t] / norm;
        square += v[t] * v[t];
    }
    square += head * head;
    for (int64_t i = j; i < n; i++) {
        double dot = head * l[i * ldl + j];
        for (int64_t t = 0; t < count; t++)
            dot += v[t] * b[i * ldb + t];
        l[i * ldl + j] -= 2 * dot / square * head;
        for (int64_t t = 0; t < count; t++)
            b[i * ldb + t] -= 2 * dot / square * v[t];
    }
}

szg_status szgi_reference_lq_append(szg_context *context, int64_t n, int64_t count, double *l,
                                    int64_t ldl, double *b, int64_t ldb) {
    double *v;
    SZG_TRY(szgi_memory_alloc(context, count, &v));
    for (int64_t j = 0; j < n; j++)
        reflect_row(n, count, l, ldl, b, ldb, v, j);
    szgi_memory_free(v);
    return SZG_OK;
}
