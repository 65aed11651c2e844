/* Block subspace iteration: the vectors. largest_bound.c proves what they show. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

#include "largest_private.h"

/* Vectors beyond those wanted: the filter damps what they leave out. */
enum { MORE = 16 };
/* Up to this order all vectors are carried: nothing can be missed. */
enum { SMALL = 256 };
/* The filter's degree, and how much further than the least it may amplify the largest vector:
 * beyond that the vectors of a graded spectrum would all become the same. */
enum { DEGREE = 12 };
static const double AMPLIFICATION = 1e6;

int64_t szgi_largest_width(int64_t n, int64_t wanted) {
    return n > SMALL && wanted + MORE < n ? wanted + MORE : n;
}

/* ---- Vectors ---- */

static void draw(const szgi_stream *stream, int64_t n, int64_t row, double *out) {
    szgi_random_fill_normal(stream, (uint64_t)(row * n), n, out);
}

static void scale_row(int64_t n, double factor, double *x) {
    for (int64_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* x - (its part along `count` orthonormal rows). */
static void remove_rows(int64_t n, int64_t count, const double *rows, double *x) {
    for (int64_t j = 0; j < count; j++) {
        double along = szgi_dot(n, rows + j * n, x);
        for (int64_t i = 0; i < n; i++)
            x[i] -= along * rows[j * n + i];
    }
}

/* Row i orthogonal to those before it and of norm 1; false where nothing of it is left. Once the
 * norm stays within a factor of 2, it is orthogonal (Kahan's "twice is enough"; Parlett 1998, 6.9).
 */
static bool orthonormalise_row(int64_t n, int64_t i, double *v) {
    double *row = v + i * n, before = sqrt(szgi_dot(n, row, row)), all = before;
    while (before > 0x1p-40 * all && isfinite(before)) {
        scale_row(n, 1 / before, row);
        all /= before;
        remove_rows(n, i, v, row);
        double after = sqrt(szgi_dot(n, row, row));
        if (after > 0.5) {
            scale_row(n, 1 / after, row);
            return true;
        }
        before = after;
    }
    return false;
}

void szgi_largest_orthonormalise(const szgi_stream *fresh, int64_t n, int64_t count, double *v) {
    for (int64_t i = 0; i < count; i++) {
        szgi_stream stream = *fresh;
        while (!orthonormalise_row(n, i, v)) {
            draw(&stream, n, i, v + i * n); /* a direction that the others do not have */
            stream.step += 1 << 16;
        }
    }
}

/* ---- Rayleigh and Ritz ---- */

static szg_status rotate(szg_context *context, largest_work *work, double **rows) {
    int64_t width = work->width, n = work->s->n;
    SZG_TRY(szgi_gemm(context, 'n', 'n', width, n, width, 1, work->core, width, *rows, n, 0,
                      work->spare[0], n));
    double *rotated = work->spare[0];
    work->spare[0] = *rows;
    *rows = rotated;
    return SZG_OK;
}

static void swap_rows(int64_t n, double *a, double *b) {
    for (int64_t i = 0; i < n; i++) {
        double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* In a block of the pool BLAS has one thread: the bits do not depend on the context's. */
static szg_status solve_core(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    largest_work *work = data;
    return block == 0 ? szgi_eigen_symmetric(context, work->width, work->core, work->width,
                                             work->theta, true)
                      : SZG_OK;
}

/* Rows of v, orthonormal, become Ritz vectors, the largest first, and w their images. */
static szg_status ritz(szg_context *context, largest_work *work) {
    int64_t width = work->width, n = work->s->n;
    double *h = work->core;
    SZG_TRY(work->s->apply(context, work->s->data, width, work->v, work->w));
    work->passes++;
    SZG_TRY(szgi_gemm(context, 'n', 't', width, width, n, 1, work->v, n, work->w, n, 0, h, width));
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < i; j++)
            h[i * width + j] = (h[i * width + j] + h[j * width + i]) / 2;
    SZG_TRY(szgi_pool_run(context, 2, solve_core, work));
    for (int64_t i = 0; i < width / 2; i++) {
        swap_rows(width, h + i * width, h + (width - 1 - i) * width);
        swap_rows(1, work->theta + i, work->theta + width - 1 - i);
    }
    SZG_TRY(rotate(context, work, &work->v));
    SZG_TRY(rotate(context, work, &work->w));
    for (int64_t i = 0; i < width; i++)
        work->residual[i] =
            szgi_largest_residual(n, work->theta[i], work->v + i * n, work->w + i * n);
    return SZG_OK;
}

/* ---- The filter ---- */

static int64_t degree_of(const largest_work *work, double end) {
    double growth = acosh(fmax(2 * work->theta[0] / end - 1, 1 + DBL_EPSILON));
    double degree = floor(acosh(AMPLIFICATION) / growth);
    return degree < 1 ? 1 : degree < DEGREE ? (int64_t)degree : DEGREE;
}

/* T_degree(2 S / end - 1) v, in place: small within 0 .. end, and large beyond. */
static szg_status filter(szg_context *context, largest_work *work) {
    int64_t size = work->width * work->s->n;
    double end = fmax(work->theta[work->width - 1], 1e-12 * work->theta[0]);
    for (int64_t i = 0; i < size; i++)
        work->spare[0][i] = 2 / end * work->w[i] - work->v[i];
    double *before = work->v, *now = work->spare[0];
    for (int64_t degree = degree_of(work, end); degree > 1; degree--) {
        SZG_TRY(work->s->apply(context, work->s->data, work->width, now, work->w));
        szgi_largest_recur(size, end, now, work->w, before);
        work->passes++;
        double *next = before;
        before = now;
        now = next;
    }
    work->v = now;
    work->spare[0] = before;
    return SZG_OK;
}

/* ---- All of it ---- */

/* Is there nothing more to gain: the wanted values are known to a quarter of the tolerance if
 * nothing was missed, or their residuals are what rounding leaves. */
static bool is_enough(largest_work *work) {
    double squares = 0, largest = sqrt(fmax(work->theta[0], 0));
    for (int64_t i = 0; i < work->wanted; i++)
        squares += work->residual[i] * work->residual[i];
    if (!(largest > 0) || work->width == work->s->n ||
        sqrt(squares) <= 4 * work->s->error * sqrt((double)work->wanted))
        return true;
    return szgi_largest_spread(work, 1) <= 0.25 * work->tolerance * largest;
}

static szg_status iterate(szg_context *context, const szgi_largest_options *options,
                          largest_work *work) {
    szgi_stream stream = {.seed = options->seed, .step = 0, .purpose = LARGEST_RANGE};
    for (int64_t i = 0; i < work->width; i++)
        draw(&stream, work->s->n, i, work->v + i * work->s->n);
    for (;;) {
        stream.step++;
        SZG_TRY(szgi_context_check_cancel(context));
        szgi_largest_orthonormalise(&stream, work->s->n, work->width, work->v);
        SZG_TRY(ritz(context, work));
        if (is_enough(work) || work->passes >= options->passes)
            return SZG_OK;
        SZG_TRY(filter(context, work));
    }
}

static szg_status open_work(szg_context *context, const szgi_block_operator *s,
                            const szgi_largest_options *options, largest_work *work) {
    int64_t width = szgi_largest_width(s->n, options->count), size;
    *work = (largest_work){.s = s,
                           .width = width,
                           .wanted = options->count,
                           .kept = options->count,
                           .tolerance = options->tolerance,
                           .seed = options->seed};
    SZG_TRY(szgi_memory_product(context, 4 * width, s->n, &size));
    SZG_TRY(szgi_memory_alloc(context, size + width * width + 2 * width, &work->memory));
    size /= 4;
    work->v = work->memory, work->w = work->v + size;
    work->spare[0] = work->w + size, work->spare[1] = work->spare[0] + size;
    work->core = work->spare[1] + size;
    work->theta = work->core + width * width, work->residual = work->theta + width;
    return SZG_OK;
}

szg_status szgi_largest(szg_context *context, const szgi_block_operator *s,
                        const szgi_largest_options *options, szgi_largest_value *out) {
    largest_work work;
    if (options->count < 1 || options->count > s->n)
        return szgi_fail(context, SZG_EINVAL, "%lld values of an operator of order %lld",
                         (long long)options->count, (long long)s->n);
    SZG_TRY(open_work(context, s, options, &work));
    szg_status status = iterate(context, options, &work);
    if (status == SZG_OK)
        status = szgi_largest_prove(context, &work, out);
    szgi_memory_free(work.memory);
    return status;
}
