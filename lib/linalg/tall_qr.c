/* QR of a tall matrix in blocks of rows that fit the cache, one a thread, and then of their R
 * factors stacked, and so on (TSQR; Demmel, Grigori, Hoemmen, Langou 2012): as stable as
 * Householder's QR of the whole, in a few megabytes. */
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "base/pool.h"

typedef struct tall_qr {
    int64_t n, d, rows, blocks; /* `rows` >= d rows a block; the last has what remains */
    bool proved;
    const double *a;
    int64_t lda;
    double *scratch; /* 2 rows x (d + 1) and d a worker */
    double *stacked; /* blocks d x d */
} tall_qr;

static int64_t block_rows(int64_t d) {
    return 4 * d > 128 ? 4 * d : 128;
}

/* The last block has fewer than 2 * rows. */
static int64_t block_count(int64_t n, int64_t d) {
    int64_t blocks = n / block_rows(d);
    return blocks > 0 ? blocks : 1;
}

/* ---- One reflection after the other ---- */

/* Column k of the rows a, d apart, becomes one of R; w := factor v^T a of those behind it, from
 * which v w goes. v comes from the column scaled by a power of two, as for numbers near 1. */
static void reflect(int64_t rows, int64_t d, int64_t k, double *a, double *v, double *w) {
    double largest = 0, sum = 0;
    int exponent;
    for (int64_t i = k; i < rows; i++)
        largest = fmax(largest, fabs(a[i * d + k]));
    if (largest == 0)
        return;
    frexp(largest, &exponent);
    double scale = ldexp(1, exponent < -1022 ? 1022 : -exponent);
    for (int64_t i = k; i < rows; i++) {
        v[i] = a[i * d + k] * scale;
        sum += v[i] * v[i];
        a[i * d + k] = 0;
    }
    double norm = copysign(sqrt(sum), v[k]);
    v[k] += norm;
    a[k * d + k] = -norm / scale;
    double factor = 1 / (norm * v[k]);
    memset(w + k, 0, (size_t)(d - k) * sizeof *w);
    for (int64_t i = k; i < rows; i++)
        for (int64_t j = k + 1; j < d; j++)
            w[j] += v[i] * a[i * d + j];
    for (int64_t j = k + 1; j < d; j++)
        w[j] *= factor;
    for (int64_t i = k; i < rows; i++)
        for (int64_t j = k + 1; j < d; j++)
            a[i * d + j] -= v[i] * w[j];
}

static szg_status reflect_all(szg_context *context, int64_t rows, int64_t d, double *a,
                              double *work) {
    for (int64_t k = 0; k < d; k++) {
        SZG_TRY(szgi_context_check_cancel(context));
        reflect(rows, d, k, a, work, work + rows);
    }
    return SZG_OK;
}

/* ---- Blocks ---- */

static szg_status tall_block(szg_context *context, void *argument, int64_t block, int worker) {
    tall_qr *self = argument;
    int64_t d = self->d, first = block * self->rows, rows = self->rows;
    if (block == self->blocks - 1)
        rows = self->n - first;
    double *scratch = self->scratch + worker * (2 * self->rows * (d + 1) + d);
    for (int64_t i = 0; i < rows; i++)
        memcpy(scratch + i * d, self->a + (first + i) * self->lda, (size_t)d * sizeof *scratch);
    SZG_TRY(self->proved ? reflect_all(context, rows, d, scratch, scratch + rows * d)
                         : szgi_qr_r(context, rows, d, scratch, d));
    memcpy(self->stacked + block * d * d, scratch, (size_t)(d * d) * sizeof *scratch);
    return SZG_OK;
}

static szg_status tall_r(szg_context *context, int64_t n, int64_t d, const double *a, int64_t lda,
                         bool proved, double *r) {
    tall_qr self = {.n = n, .d = d, .a = a, .lda = lda, .rows = block_rows(d), .proved = proved};
    self.blocks = block_count(n, d);
    int64_t workers = szg_context_threads(context), size = 2 * self.rows * (d + 1) + d;
    SZG_TRY(szgi_memory_alloc(context, workers * size, &self.scratch));
    szg_status status = szgi_memory_alloc(context, self.blocks * d * d, &self.stacked);
    if (status == SZG_OK)
        status = szgi_pool_run(context, self.blocks, tall_block, &self);
    szgi_memory_free(self.scratch);
    if (status == SZG_OK && self.blocks > 1)
        status = tall_r(context, self.blocks * d, d, self.stacked, d, proved, r);
    else if (status == SZG_OK)
        memcpy(r, self.stacked, (size_t)(d * d) * sizeof *r);
    szgi_memory_free(self.stacked);
    return status;
}

szg_status szgi_tall_r(szg_context *context, int64_t n, int64_t d, const double *a, int64_t lda,
                       double *r) {
    return tall_r(context, n, d, a, lda, false, r);
}

szg_status szgi_tall_r_proved(szg_context *context, int64_t n, int64_t d, const double *a,
                              int64_t lda, double *r) {
    return tall_r(context, n, d, a, lda, true, r);
}

/* A reflection of m rows is off by 4 (m + 4) u: its vector, of norm sqrt 2, by m u / 2 and by what
 * its scaling rounds, which counts twice, and its inner product by m u (Higham 2002, Lemma 19.2). A
 * level of d reflections moves a column by d times that at most (Lemma 19.3), and Q, orthogonal,
 * carries it to the level before as it is. That counts reflections one by one. From 129 columns on
 * LAPACK takes 32 of them together, and what is proved of that is larger by powers of 32. */
double szgi_tall_r_error(int64_t n, int64_t d) {
    double error = 0;
    for (bool last = false; !last; n = block_count(n, d) * d) {
        int64_t blocks = block_count(n, d), rows = n - (blocks - 1) * block_rows(d);
        error += 4 * (double)d * (double)(rows + 4) * 0x1p-53;
        last = blocks == 1;
    }
    return error;
}
