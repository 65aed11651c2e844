#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "toeplitz_private.h"

static szg_status check_counts(szg_context *context, int64_t n, int64_t count) {
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "Toeplitz: a size of %" PRId64 " is below 1", n);
    if (count < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "Toeplitz: %" PRId64 " lags given, at least lag 0 is needed", count);
    return SZG_OK;
}

/* The largest lag below n with a coefficient that is not 0. `at` walks the source's layout. */
typedef szg_c64 lag_reader(const void *a, int64_t count, int64_t lag);

static szg_c64 read_symmetric(const void *a, int64_t count, int64_t lag) {
    (void)count;
    return (szg_c64){((const double *)a)[lag < 0 ? -lag : lag], 0};
}

static szg_c64 read_hermitian(const void *a, int64_t count, int64_t lag) {
    (void)count;
    szg_c64 value = ((const szg_c64 *)a)[lag < 0 ? -lag : lag];
    value.im = lag < 0 ? -value.im : value.im;
    return value;
}

static szg_c64 read_real(const void *a, int64_t count, int64_t lag) {
    return (szg_c64){((const double *)a)[lag + count - 1], 0};
}

static szg_c64 read_complex(const void *a, int64_t count, int64_t lag) {
    return ((const szg_c64 *)a)[lag + count - 1];
}

static lag_reader *const readers[] = {
    [SZG_TOEPLITZ_SYMMETRIC] = read_symmetric,
    [SZG_TOEPLITZ_HERMITIAN] = read_hermitian,
    [SZG_TOEPLITZ_REAL] = read_real,
    [SZG_TOEPLITZ_COMPLEX] = read_complex,
};

/* All lags given must be numbers, those that are dropped too. Half of them are given where the
 * matrix is its own adjoint: no message names another. */
static szg_status check_lags(szg_context *context, szg_toeplitz_kind kind, int64_t count,
                             const void *a) {
    bool half = kind == SZG_TOEPLITZ_SYMMETRIC || kind == SZG_TOEPLITZ_HERMITIAN;
    for (int64_t lag = half ? 0 : 1 - count; lag < count; lag++) {
        szg_c64 value = readers[kind](a, count, lag);
        if (!isfinite(value.re) || !isfinite(value.im))
            return szgi_fail(context, SZG_EDATA,
                             "Toeplitz: the coefficient of lag %" PRId64 " is not a finite number",
                             lag);
    }
    if (kind == SZG_TOEPLITZ_HERMITIAN && ((const szg_c64 *)a)->im != 0)
        return szgi_fail(
            context, SZG_EDATA,
            "Toeplitz: the coefficient of lag 0 of a Hermitian matrix has the imaginary "
            "part %g, it must be real",
            ((const szg_c64 *)a)->im);
    return SZG_OK;
}

static int64_t find_degree(szg_toeplitz_kind kind, int64_t n, int64_t count, const void *a) {
    for (int64_t lag = (count < n ? count : n) - 1; lag > 0; lag--) {
        szg_c64 up = readers[kind](a, count, lag), down = readers[kind](a, count, -lag);
        if (up.re != 0 || up.im != 0 || down.re != 0 || down.im != 0)
            return lag;
    }
    return 0;
}

static bool kind_is_real(szg_toeplitz_kind kind) {
    return kind == SZG_TOEPLITZ_SYMMETRIC || kind == SZG_TOEPLITZ_REAL;
}

static szg_status open_any(szg_context *context, szg_toeplitz_kind kind, int64_t n, int64_t count,
                           const void *a, szg_toeplitz **out) {
    *out = NULL;
    SZG_TRY(check_counts(context, n, count));
    SZG_TRY(check_lags(context, kind, count, a));
    szg_toeplitz *t;
    SZG_TRY(szgi_memory_alloc(context, 1, &t));
    t->kind = kind;
    t->n = n;
    t->degree = find_degree(kind, n, count, a);
    int64_t lags = 2 * t->degree + 1;
    szg_status status = kind_is_real(kind) ? szgi_memory_alloc(context, lags, &t->real)
                                           : szgi_memory_alloc(context, lags, &t->complex);
    if (status != SZG_OK) {
        szgi_memory_free(t);
        return status;
    }
    for (int64_t lag = -t->degree; lag <= t->degree; lag++) {
        szg_c64 value = readers[kind](a, count, lag);
        if (t->real)
            t->real[lag + t->degree] = value.re;
        else
            t->complex[lag + t->degree] = value;
    }
    pthread_mutex_init(&t->lock, NULL);
    *out = t;
    return SZG_OK;
}

szg_status szg_toeplitz_open_symmetric(szg_context *context, int64_t n, int64_t count,
                                       const double *a, szg_toeplitz **out) {
    SZGI_ENTER(context);
    return open_any(context, SZG_TOEPLITZ_SYMMETRIC, n, count, a, out);
}

szg_status szg_toeplitz_open_hermitian(szg_context *context, int64_t n, int64_t count,
                                       const szg_c64 *a, szg_toeplitz **out) {
    SZGI_ENTER(context);
    return open_any(context, SZG_TOEPLITZ_HERMITIAN, n, count, a, out);
}

szg_status szg_toeplitz_open_real(szg_context *context, int64_t n, int64_t count, const double *a,
                                  szg_toeplitz **out) {
    SZGI_ENTER(context);
    return open_any(context, SZG_TOEPLITZ_REAL, n, count, a, out);
}

szg_status szg_toeplitz_open_complex(szg_context *context, int64_t n, int64_t count,
                                     const szg_c64 *a, szg_toeplitz **out) {
    SZGI_ENTER(context);
    return open_any(context, SZG_TOEPLITZ_COMPLEX, n, count, a, out);
}

void szg_toeplitz_close(szg_toeplitz **toeplitz) {
    if (!toeplitz || !*toeplitz)
        return;
    szg_toeplitz *t = *toeplitz;
    szgi_circulant_close(&t->full);
    szgi_circulant_close(&t->causal);
    szgi_pair_close(&t->pair);
    szgi_pair_close(&t->causal_pair);
    pthread_mutex_destroy(&t->lock);
    szgi_memory_free(t->real);
    szgi_memory_free(t->complex);
    szgi_memory_free(t);
    *toeplitz = NULL;
}

szg_toeplitz_kind szgi_toeplitz_kind_of(const szg_toeplitz *t) {
    return t->kind;
}

int64_t szg_toeplitz_size(const szg_toeplitz *t) {
    return t->n;
}

int64_t szgi_toeplitz_degree(const szg_toeplitz *t) {
    return t->degree;
}

szg_c64 szg_toeplitz_at(const szg_toeplitz *t, int64_t lag) {
    if (lag > t->degree || lag < -t->degree)
        return (szg_c64){0, 0};
    return t->real ? (szg_c64){szgi_toeplitz_real_at(t, lag), 0} : t->complex[lag + t->degree];
}

bool szgi_toeplitz_is_real(const szg_toeplitz *t) {
    return t->real != NULL;
}

bool szgi_toeplitz_is_hermitian(const szg_toeplitz *t) {
    return t->kind == SZG_TOEPLITZ_SYMMETRIC || t->kind == SZG_TOEPLITZ_HERMITIAN;
}

szg_c64 szgi_toeplitz_trace(const szg_toeplitz *t) {
    szg_c64 a = szg_toeplitz_at(t, 0);
    return (szg_c64){(double)t->n * a.re, (double)t->n * a.im};
}

double szgi_toeplitz_largest_part(const szg_toeplitz *t) {
    double largest = 0;
    for (int64_t lag = -t->degree; lag <= t->degree; lag++) {
        szg_c64 a = szg_toeplitz_at(t, lag);
        largest = fmax(largest, fmax(fabs(a.re), fabs(a.im)));
    }
    return largest;
}

double szgi_toeplitz_norm_wiener(const szg_toeplitz *t) {
    double sum = 0;
    for (int64_t lag = -t->degree; lag <= t->degree; lag++) {
        szg_c64 a = szg_toeplitz_at(t, lag);
        sum += hypot(a.re, a.im);
    }
    return sum;
}

double szgi_toeplitz_norm_frobenius(const szg_toeplitz *t) {
    double largest = 0, sum = 0;
    for (int64_t lag = -t->degree; lag <= t->degree; lag++) {
        szg_c64 a = szg_toeplitz_at(t, lag);
        largest = fmax(largest, hypot(a.re, a.im));
    }
    if (largest == 0)
        return 0;
    for (int64_t lag = -t->degree; lag <= t->degree; lag++) {
        szg_c64 a = szg_toeplitz_at(t, lag);
        double modulus = hypot(a.re, a.im) / largest;
        sum += (double)(t->n - (lag < 0 ? -lag : lag)) * modulus * modulus;
    }
    return largest * sqrt(sum);
}

static szg_status check_dense(szg_context *context, const szg_toeplitz *t, int64_t lda,
                              size_t size) {
    if (lda < t->n)
        return szgi_fail(context, SZG_EINVAL,
                         "dense Toeplitz: leading dimension %" PRId64 " is below %" PRId64, lda,
                         t->n);
    return szgi_memory_require(context, t->n, t->n, size, "a dense Toeplitz matrix",
                               "szg_toeplitz_apply and the structured spectra need the lags only");
}

szg_status szgi_toeplitz_dense(szg_context *context, const szg_toeplitz *t, double *a,
                               int64_t lda) {
    if (!t->real)
        return szgi_fail(context, SZG_EINVAL,
                         "dense Toeplitz: the matrix is complex, and the array holds real numbers");
    SZG_TRY(check_dense(context, t, lda, sizeof *a));
    for (int64_t i = 0; i < t->n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        memset(a + i * lda, 0, (size_t)t->n * sizeof *a);
        int64_t first = i > t->degree ? i - t->degree : 0;
        int64_t last = t->n - 1 - i > t->degree ? i + t->degree : t->n - 1;
        for (int64_t j = first; j <= last; j++)
            a[i * lda + j] = szgi_toeplitz_real_at(t, i - j);
    }
    return SZG_OK;
}

szg_status szgi_toeplitz_dense_complex(szg_context *context, const szg_toeplitz *t, szg_c64 *a,
                                       int64_t lda) {
    SZG_TRY(check_dense(context, t, lda, sizeof *a));
    for (int64_t i = 0; i < t->n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < t->n; j++)
            a[i * lda + j] = szg_toeplitz_at(t, i - j);
    }
    return SZG_OK;
}
