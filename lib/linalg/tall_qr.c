/* QR of a tall matrix in blocks of rows that fit the cache, one a thread, and then of their R
 * factors stacked, and so on (TSQR; Demmel, Grigori, Hoemmen, Langou 2012): as stable as
 * Householder's QR of the whole, in a few megabytes. */
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "base/pool.h"

typedef struct tall_qr {
    int64_t n, d, rows, blocks; /* `rows` >= d rows a block; the last has what remains */
    const double *a;
    int64_t lda;
    double *scratch; /* 2 rows x d a worker */
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

static szg_status tall_block(szg_context *context, void *argument, int64_t block, int worker) {
    tall_qr *self = argument;
    int64_t d = self->d, first = block * self->rows, rows = self->rows;
    if (block == self->blocks - 1)
        rows = self->n - first;
    double *scratch = self->scratch + (int64_t)worker * 2 * self->rows * d;
    for (int64_t i = 0; i < rows; i++)
        memcpy(scratch + i * d, self->a + (first + i) * self->lda, (size_t)d * sizeof *scratch);
    SZG_TRY(szgi_qr_r(context, rows, d, scratch, d));
    memcpy(self->stacked + block * d * d, scratch, (size_t)(d * d) * sizeof *scratch);
    return SZG_OK;
}

szg_status szgi_tall_r(szg_context *context, int64_t n, int64_t d, const double *a, int64_t lda,
                       double *r) {
    tall_qr self = {.n = n, .d = d, .a = a, .lda = lda, .rows = block_rows(d)};
    self.blocks = block_count(n, d);
    int64_t workers = szg_context_threads(context), size = 2 * self.rows * d;
    SZG_TRY(szgi_memory_alloc(context, workers * size, &self.scratch));
    szg_status status = szgi_memory_alloc(context, self.blocks * d * d, &self.stacked);
    if (status == SZG_OK)
        status = szgi_pool_run(context, self.blocks, tall_block, &self);
    szgi_memory_free(self.scratch);
    if (status == SZG_OK && self.blocks > 1)
        status = szgi_tall_r(context, self.blocks * d, d, self.stacked, d, r);
    else if (status == SZG_OK)
        memcpy(r, self.stacked, (size_t)(d * d) * sizeof *r);
    szgi_memory_free(self.stacked);
    return status;
}

/* A reflection of m rows is off by 4 (m + 4) u: its vector, of norm sqrt 2, by m u / 2 and by what
 * its scaling rounds, which counts twice, and its inner product by m u (Higham 2002, Lemma 19.2). A
 * level of d reflections moves a column by d times that at most (Lemma 19.3), and Q, orthogonal,
 * carries it to the level before as it is. */
double szgi_tall_r_error(int64_t n, int64_t d) {
    double error = 0;
    for (bool last = false; !last; n = block_count(n, d) * d) {
        int64_t blocks = block_count(n, d), rows = n - (blocks - 1) * block_rows(d);
        error += 4 * (double)d * (double)(rows + 4) * 0x1p-53;
        last = blocks == 1;
    }
    return error;
}
