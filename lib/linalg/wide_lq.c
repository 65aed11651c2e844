/* LQ of a wide matrix in blocks of columns, each appended to the triangle of those before it (a
 * flat tree of TSQR; Demmel, Grigori, Hoemmen, Langou 2012): as stable as Householder's of the
 * whole, in the memory of one block. */
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"

/* 512 columns of 128 rows are 512 KiB: half of the second cache of most processors. */
enum { COLUMNS = 512 };
/* Rows of a block stand a cache line further apart: a power of two would put all of them into the
 * same lines, which cost a tenth of the time. */
enum { APART = COLUMNS + 8 };

static szg_status append_all(szg_context *context, int64_t n, int64_t d, const double *a,
                             int64_t lda, double *block, double *l) {
    for (int64_t first = 0; first < d; first += COLUMNS) {
        int64_t count = d - first < COLUMNS ? d - first : COLUMNS;
        for (int64_t i = 0; i < n; i++)
            memcpy(block + i * APART, a + i * lda + first, (size_t)count * sizeof *block);
        SZG_TRY(szgi_lq_append(context, n, count, l, n, block, APART));
    }
    return SZG_OK;
}

szg_status szgi_wide_l(szg_context *context, int64_t n, int64_t d, const double *a, int64_t lda,
                       double *l) {
    double *block;
    int64_t size;
    SZG_TRY(szgi_memory_product(context, n, APART, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &block));
    memset(l, 0, (size_t)(n * n) * sizeof *l);
    szg_status status = append_all(context, n, d, a, lda, block, l);
    szgi_memory_free(block);
    return status;
}
