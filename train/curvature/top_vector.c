#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

#include "top_vector.h"

/* The basis and the matrix T of the operator in it, which is tridiagonal. */
typedef struct krylov {
    const szgi_operator *s;
    int64_t count, most;  /* vectors that T knows; room */
    double *basis;        /* [most][n], orthonormal */
    double *image;        /* [n]: what is left of the latest image, of norm beta[count - 1] */
    double *alpha, *beta; /* [most]: T's diagonal, and beside it */
    double *t, *theta;    /* [count][count], whose rows become eigenvectors; [count], ascending */
} krylov;

static void krylov_close(krylov *k) {
    szgi_memory_free(k->basis);
    szgi_memory_free(k->image);
    szgi_memory_free(k->alpha);
    szgi_memory_free(k->beta);
    szgi_memory_free(k->t);
    szgi_memory_free(k->theta);
}

static szg_status krylov_open(szg_context *context, const szgi_operator *s, int64_t most,
                              krylov *k) {
    *k = (krylov){.s = s, .most = most < s->n ? most : s->n};
    most = k->most;
    SZG_TRY(szgi_memory_require(context, s->n, most + 1, sizeof(double), "the Lanczos basis",
                                "set curvature.every=0, or take a smaller model"));
    SZG_TRY(szgi_memory_alloc(context, most * s->n, &k->basis));
    SZG_TRY(szgi_memory_alloc(context, s->n, &k->image));
    SZG_TRY(szgi_memory_alloc(context, most, &k->alpha));
    SZG_TRY(szgi_memory_alloc(context, most, &k->beta));
    SZG_TRY(szgi_memory_alloc(context, most * most, &k->t));
    return szgi_memory_alloc(context, most, &k->theta);
}

static double norm_of(int64_t n, const double *x) {
    return sqrt(szgi_dot(n, x, x));
}

static void add(int64_t n, double factor, const double *x, double *y) {
    for (int64_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

/* The image becomes the basis's next vector. */
static void take_image(krylov *k, double norm) {
    double *next = k->basis + k->count * k->s->n;
    for (int64_t i = 0; i < k->s->n; i++)
        next[i] = k->image[i] / norm;
    k->count++;
}

/* A row and a column of T. The image is made orthogonal to the whole basis, twice: once leaves what
 * rounding brought in (Parlett 1998, 6.9). */
static szg_status multiply(szg_context *context, krylov *k) {
    int64_t n = k->s->n, latest = k->count - 1;
    SZG_TRY(k->s->apply(context, k->s->data, k->basis + latest * n, k->image));
    k->alpha[latest] = szgi_dot(n, k->basis + latest * n, k->image);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t j = 0; j < k->count; j++)
            add(n, -szgi_dot(n, k->basis + j * n, k->image), k->basis + j * n, k->image);
    k->beta[latest] = norm_of(n, k->image);
    return SZG_OK;
}

/* In a block of the pool BLAS has one thread: the bits do not depend on the context's. */
static szg_status solve_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    krylov *k = data;
    return block == 0 ? szgi_eigen_symmetric(context, k->count, k->t, k->count, k->theta, true)
                      : SZG_OK;
}

static szg_status solve(szg_context *context, krylov *k) {
    int64_t m = k->count;
    memset(k->t, 0, (size_t)(m * m) * sizeof *k->t);
    for (int64_t i = 0; i < m; i++) {
        k->t[i * m + i] = k->alpha[i];
        if (i > 0)
            k->t[i * m + i - 1] = k->beta[i - 1];
    }
    return szgi_pool_run(context, 2, solve_block, k);
}

/* Of T's largest eigenvalue. */
static const double *top_row(const krylov *k) {
    return k->t + (k->count - 1) * k->count;
}

/* The Ritz vector's residual has the norm |beta s|, s the last entry of T's eigenvector (Golub and
 * Van Loan, 10.1.4). After a beta that is rounding no further vector can be formed. */
static bool is_enough(const krylov *k, double tolerance) {
    int64_t last = k->count - 1;
    double beta = k->beta[last], top = fabs(k->theta[last]);
    double size = fmax(top, fabs(k->theta[0]));
    return k->count == k->most || !(beta > 0x1p-40 * size) ||
           !(beta * fabs(top_row(k)[last]) > tolerance * top);
}

/* Nothing is found where a product is not finite. */
static szg_status iterate(szg_context *context, krylov *k, double tolerance, top_vector *out) {
    for (;;) {
        SZG_TRY(multiply(context, k));
        out->products++;
        out->found = isfinite(k->alpha[k->count - 1]) && isfinite(k->beta[k->count - 1]);
        if (!out->found)
            return SZG_OK;
        SZG_TRY(solve(context, k));
        if (is_enough(k, tolerance))
            return SZG_OK;
        take_image(k, k->beta[k->count - 1]);
    }
}

static void combine(const krylov *k, top_vector *out) {
    int64_t n = k->s->n;
    for (int64_t j = 0; j < k->count; j++)
        add(n, top_row(k)[j], k->basis + j * n, out->vector);
    double norm = norm_of(n, out->vector);
    for (int64_t i = 0; i < n; i++)
        out->vector[i] /= norm;
}

static szg_status find(szg_context *context, krylov *k, const top_options *options,
                       top_vector *out) {
    int64_t n = k->s->n;
    szgi_random_fill_normal(&options->start, 0, n, out->vector);
    SZG_TRY(k->s->apply(context, k->s->data, out->vector, k->image));
    out->products++;
    double norm = norm_of(n, k->image);
    memset(out->vector, 0, (size_t)n * sizeof *out->vector);
    out->found = norm > 0 && isfinite(norm);
    if (out->found) {
        take_image(k, norm);
        SZG_TRY(iterate(context, k, options->tolerance, out));
    }
    if (out->found)
        combine(k, out);
    return SZG_OK;
}

szg_status szgi_top_vector(szg_context *context, const szgi_operator *s, const top_options *options,
                           top_vector *out) {
    krylov k;
    *out = (top_vector){.vector = out->vector};
    szg_status status = krylov_open(context, s, options->products - 1, &k);
    if (status == SZG_OK)
        status = find(context, &k, options, out);
    krylov_close(&k);
    return status;
}

double szgi_top_missed(double value, double beyond, double residual) {
    double half = (value - beyond) / 2;
    return hypot(half, residual) - half;
}
