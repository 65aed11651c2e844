/* Eigenvalues without vectors, as LAPACK's drivers compute them: a reduction to a tridiagonal
 * matrix, and an iteration without square roots (dsterf) for that. The latter works with squares,
 * and numbers that are 2^-500 of the largest have none: its values may then be off by a part in
 * 100. Trace and norm of the tridiagonal matrix show that, and an iteration by rotations (dsteqr)
 * takes its place. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cpu_tridiagonal.h"
#include "lapack.h"

static const char LOOSE_EIGEN[] = "some eigenvalues did not converge";

/* Squares of numbers between 2^-ORDINARY and 2^ORDINARY are numbers too. */
enum { ORDINARY = 485 };

/* ---- The tridiagonal matrix ---- */

/* How far the values w are from trace and Frobenius norm, relative to the norm; NaN stays. */
static double defect_of(int64_t n, const double *d, const double *e, const double *w) {
    double unit = 0, sum = 0, squares = 0, norm = 0;
    for (int64_t i = 0; i < n; i++)
        unit = fmax(unit, fmax(fabs(d[i]), i + 1 < n ? fabs(e[i]) : 0));
    if (unit == 0)
        unit = 1;
    for (int64_t i = 0; i < n; i++) {
        double value = w[i] / unit, diagonal = d[i] / unit, off = i + 1 < n ? e[i] / unit : 0;
        sum += value - diagonal;
        squares += value * value;
        norm += diagonal * diagonal + 2 * off * off;
    }
    if (norm == 0)
        return squares;
    return fabs(sum) / sqrt((double)n * norm) + fabs(sqrt(squares / norm) - 1);
}

/* w := the ascending eigenvalues of the matrix with diagonal d and n - 1 numbers e beside it;
 * `spare`: n numbers. d and e are kept if the first iteration suffices. */
static szg_status values_of(szg_context *context, int64_t n, double *d, double *e, double *spare,
                            double *w) {
    memcpy(w, d, (size_t)n * sizeof *w);
    memcpy(spare, e, (size_t)n * sizeof *e);
    lapack_int info = LAPACKE_dsterf_work((lapack_int)n, w, spare);
    if (info == 0 && defect_of(n, d, e, w) <= 8 * (double)n * DBL_EPSILON)
        return SZG_OK;
    memcpy(w, d, (size_t)n * sizeof *w);
    info = LAPACKE_dsteqr_work(LAPACK_COL_MAJOR, 'N', (lapack_int)n, w, e, NULL, 1, spare);
    return szgi_lapack_status(context, "dsteqr", info, LOOSE_EIGEN);
}

/* ---- Scaling ---- */

int szgi_cpu_scale_triangle(int64_t n, int64_t width, double *a, int64_t lda) {
    double largest = 0;
    int exponent = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (i + 1) * width; j++) {
            double value = fabs(a[i * lda * width + j]);
            largest = value > largest ? value : largest;
        }
    if (largest == 0 || !isfinite(largest))
        return 0;
    frexp(largest, &exponent);
    if (exponent > -ORDINARY && exponent < ORDINARY)
        return 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (i + 1) * width; j++)
            a[i * lda * width + j] = ldexp(a[i * lda * width + j], -exponent);
    return exponent;
}

static void scale_back(int64_t n, int exponent, double *w) {
    for (int64_t i = 0; exponent != 0 && i < n; i++)
        w[i] = ldexp(w[i], exponent);
}

/* ---- Real ---- */

/* As dsytrd and dsytrd_2stage: the latter's Householder vectors are in `house`. */
typedef struct reduction {
    bool staged;
    int64_t house, work; /* sizes */
} reduction;

static lapack_int reduce(const reduction *how, int64_t n, double *a, int64_t lda, double *d,
                         double *e, double *tau, double *house, double *work, int64_t count,
                         int64_t house_count) {
    lapack_int order = (lapack_int)n, ld = (lapack_int)lda, info = 0;
    lapack_int room = (lapack_int)count, house_room = (lapack_int)house_count;
    if (!how->staged)
        return LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', order, a, ld, d, e, tau, work, room);
    LAPACK_dsytrd_2stage("N", "U", &order, a, &ld, d, e, tau, house, &house_room, work, &room,
                         &info);
    return info;
}

static szg_status query(szg_context *context, int64_t n, double *a, int64_t lda, reduction *how) {
    double work = 0, house = 0, none;
    lapack_int info = reduce(how, n, a, lda, &none, &none, &none, &house, &work, -1, -1);
    SZG_TRY(
        szgi_lapack_status(context, how->staged ? "dsytrd_2stage" : "dsytrd", info, LOOSE_EIGEN));
    how->work = szgi_lapack_work(work) + 1;
    how->house = how->staged ? szgi_lapack_work(house) : 0;
    return SZG_OK;
}

szg_status szgi_cpu_values_symmetric(szg_context *context, int64_t n, double *a, int64_t lda,
                                     bool large, double *w) {
    reduction how = {.staged = n >= SZGI_TWO_STAGE_ORDER};
    double *memory;
    SZG_TRY(query(context, n, a, lda, &how));
    SZG_TRY(szgi_memory_alloc(context, 4 * n + how.house + how.work, &memory));
    double *d = memory, *e = d + n, *tau = e + n, *spare = tau + n, *house = spare + n;
    szgi_blas_call call = szgi_blas_begin(context, large);
    int exponent = szgi_cpu_scale_triangle(n, 1, a, lda);
    lapack_int info =
        reduce(&how, n, a, lda, d, e, tau, house, house + how.house, how.work, how.house);
    szg_status status = szgi_lapack_status(context, "dsytrd", info, LOOSE_EIGEN);
    if (status == SZG_OK)
        status = values_of(context, n, d, e, spare, w);
    szgi_blas_end(call);
    scale_back(n, exponent, w);
    szgi_memory_free(memory);
    return status;
}

/* ---- Complex ---- */

szg_status szgi_cpu_values_hermitian(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                     szg_c64 *work, int64_t count, double *w) {
    double *memory;
    SZG_TRY(szgi_memory_alloc(context, 3 * n, &memory));
    double *d = memory, *e = d + n, *spare = e + n;
    int64_t room = count > n ? count - n : 1; /* order 1 has 1 number beside */
    int exponent = szgi_cpu_scale_triangle(n, 2, (double *)a, lda);
    lapack_int info = LAPACKE_zhetrd_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)lda,
                                          d, e, work, work + n, (lapack_int)room);
    szg_status status = szgi_lapack_status(context, "zhetrd", info, LOOSE_EIGEN);
    if (status == SZG_OK)
        status = values_of(context, n, d, e, spare, w);
    scale_back(n, exponent, w);
    szgi_memory_free(memory);
    return status;
}
