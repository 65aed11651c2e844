/* T^-1 = (S C^T + S^T C) / (2 x_0) with the circulant C and the skew-circulant S whose first column
 * is x, that of T^-1 (Ammar and Gader 1991). It is the matrix of Gohberg and Semencul: with L(x)
 * and L(y) of inverse.c C = L(x) + L(y)^T and S = L(x) - L(y)^T; triangular Toeplitz matrices
 * commute, and so S C^T + S^T C is the sum of B = L(x) L(x)^T - L(y) L(y)^T and of L(x)^T L(x) -
 * L(y)^T L(y), its reflection in the other diagonal. That is B itself, for any x: along diagonals
 * both grow by x_{i+1} x_{j+1} - x_{n-1-i} x_{n-1-j}, and both begin with the row x_0 x_j.
 *
 * A product takes six complex transforms of length n / 2 (packed.h), where that of inverse.c takes
 * six real ones of length 2 n: half the operations and 7 n numbers in place of 16 n. Four of the
 * six follow each other; passes between them read and write some 190 n bytes. */
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "toeplitz/inverse_private.h"
#include "toeplitz/packed.h"

enum { PIECES = 64 }; /* of a pass, whatever the threads */

struct szgi_inverse_packed {
    szgi_packed packed;        /* of length n */
    szg_c64 *circulant, *skew; /* transforms of C / h and S / (2 x_0 h) */
    szg_c64 *part[2][2];       /* of each product two vectors of h */
};

void szgi_inverse_packed_close(szgi_inverse_packed **inverse) {
    szgi_inverse_packed *self = *inverse;
    if (!self)
        return;
    szgi_packed_close(&self->packed);
    szgi_memory_free(self->circulant);
    szgi_memory_free(self->skew);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            szgi_memory_free(self->part[i][j]);
    szgi_memory_free(self);
    *inverse = NULL;
}

/* ---- Opening ---- */

static void scale(int64_t count, double by, szg_c64 *values) {
    for (int64_t j = 0; j < count; j++)
        values[j] = (szg_c64){values[j].re * by, values[j].im * by};
}

static szg_status open_arrays(szg_context *context, szgi_inverse_packed *self) {
    int64_t h = self->packed.half;
    SZG_TRY(szgi_memory_alloc(context, h + 1, &self->circulant));
    SZG_TRY(szgi_memory_alloc(context, h, &self->skew));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            SZG_TRY(szgi_memory_alloc(context, h, &self->part[i][j]));
    return SZG_OK;
}

static szg_status fill(szg_context *context, const double *x, szgi_inverse_packed *self) {
    const szgi_packed *packed = &self->packed;
    double h = (double)packed->half;
    SZG_TRY(szgi_transform_once(context, SZGI_FFT_REAL, packed->length, x, self->circulant));
    szgi_packed_fold(packed, packed->length, x, self->part[0][0]);
    SZG_TRY(szgi_fft_run(context, packed->forward, self->part[0][0], self->skew));
    scale(packed->half + 1, 1 / h, self->circulant);
    scale(packed->half, 1 / (2 * x[0] * h), self->skew);
    return SZG_OK;
}

bool szgi_inverse_packed_serves(int64_t n) {
    return n % 2 == 0 && szgi_fft_fast_length(n) == n;
}

szg_status szgi_inverse_packed_open(szg_context *context, int64_t n, const double *x,
                                    szgi_inverse_packed **out) {
    szgi_inverse_packed *self;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    szg_status status = szgi_packed_open(context, n, &self->packed);
    if (status == SZG_OK)
        status = open_arrays(context, self);
    if (status == SZG_OK)
        status = fill(context, x, self);
    if (status != SZG_OK)
        szgi_inverse_packed_close(&self);
    *out = self;
    return status;
}

/* ---- Products ---- */

/* From the transform of v, in part[1][0], those of C^T v and of C v. */
static szg_status run_circulants(szg_context *context, void *argument, int64_t piece, int worker) {
    (void)context, (void)worker;
    szgi_inverse_packed *self = argument;
    const szg_c64 *from = self->part[1][0];
    szgi_packed_scale(&self->packed, self->circulant, 't', piece, PIECES, from, self->part[0][0]);
    szgi_packed_scale(&self->packed, self->circulant, 'n', piece, PIECES, from, self->part[1][0]);
    return SZG_OK;
}

/* On to the transform of S C^T v or S^T C v in the second vector. */
static szg_status run_product(szg_context *context, void *argument, int64_t which, int worker) {
    (void)worker;
    szgi_inverse_packed *self = argument;
    const szgi_packed *packed = &self->packed;
    szg_c64 *first = self->part[which][0], *second = self->part[which][1];
    SZG_TRY(szgi_fft_run(context, packed->backward, first, second));
    szgi_packed_fold(packed, packed->length, &second->re, first);
    SZG_TRY(szgi_fft_run(context, packed->forward, first, second));
    szgi_packed_multiply(packed, self->skew, which == 0 ? 'n' : 't', second);
    return SZG_OK;
}

static szg_status add_products(szg_context *context, void *argument, int64_t piece, int worker) {
    (void)context, (void)worker;
    szgi_inverse_packed *self = argument;
    int64_t h = self->packed.half, first = h * piece / PIECES, end = h * (piece + 1) / PIECES;
    szg_c64 *sum = self->part[0][1];
    const szg_c64 *other = self->part[1][1];
    for (int64_t j = first; j < end; j++)
        sum[j] = (szg_c64){sum[j].re + other[j].re, sum[j].im + other[j].im};
    return SZG_OK;
}

typedef struct unfold_job {
    const szgi_inverse_packed *self;
    double *y;
} unfold_job;

static szg_status unfold(szg_context *context, void *argument, int64_t piece, int worker) {
    (void)context, (void)worker;
    const unfold_job *job = argument;
    const szgi_packed *packed = &job->self->packed;
    int64_t h = packed->half, first = h * piece / PIECES, end = h * (piece + 1) / PIECES;
    for (int64_t k = first; k < end; k++) {
        szg_c64 value = szgi_packed_unfold(packed, job->self->part[0][0], k);
        job->y[k] = value.re;
        job->y[k + h] = value.im;
    }
    return SZG_OK;
}

szg_status szgi_inverse_packed_apply(szg_context *context, szgi_inverse_packed *self,
                                     const double *x, double *y) {
    const szgi_packed *packed = &self->packed;
    unfold_job job = {.self = self, .y = y};
    SZG_TRY(szgi_fft_run(context, packed->forward, x, self->part[1][0]));
    SZG_TRY(szgi_pool_run(context, PIECES, run_circulants, self));
    SZG_TRY(szgi_pool_run(context, 2, run_product, self));
    SZG_TRY(szgi_pool_run(context, PIECES, add_products, self));
    SZG_TRY(szgi_fft_run(context, packed->backward, self->part[0][1], self->part[0][0]));
    return szgi_pool_run(context, PIECES, unfold, &job);
}
