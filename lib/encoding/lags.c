/* An encoding's own matrices by lag and by entry, and the tables of their values by lag. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/row.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"
#include "encoding/encoding.h"

/* ---- P P^T ---- */

/* Lags of a block: |k| and N - 1 - |k| together, whose diagonals have N + 1 entries, so that blocks
 * take equally long. */
enum { LAGS_A_BLOCK = 8 };

typedef struct gram_job {
    const szg_factored *rows;
    double *mean, *spread; /* [n], of lags 0 .. n - 1; spread may be NULL */
} gram_job;

/* Entries (i, i - k) one after the other: the mean, then the deviations from it. */
static void gram_lag(const gram_job *job, int64_t k) {
    const szg_factored *f = job->rows;
    double count = (double)(f->n - k), sum = 0, rest = 0;
    for (int64_t i = k; i < f->n; i++)
        sum += szgi_dot(f->d, f->a + i * f->lda, f->b + (i - k) * f->ldb);
    job->mean[k] = sum / count;
    if (!job->spread)
        return;
    for (int64_t i = k; i < f->n; i++) {
        double entry = szgi_dot(f->d, f->a + i * f->lda, f->b + (i - k) * f->ldb);
        rest += (entry - job->mean[k]) * (entry - job->mean[k]);
    }
    job->spread[k] = sqrt(rest / count);
}

static szg_status gram_block(szg_context *context, void *data, int64_t block, int worker) {
    const gram_job *job = data;
    int64_t n = job->rows->n, end = (block + 1) * LAGS_A_BLOCK;
    (void)worker;
    for (int64_t k = block * LAGS_A_BLOCK; k < end && k < (n + 1) / 2; k++) {
        SZG_TRY(szgi_context_check_cancel(context));
        gram_lag(job, k);
        if (k != n - 1 - k)
            gram_lag(job, n - 1 - k);
    }
    return SZG_OK;
}

/* Lag -k has the numbers of lag k: out[k + n - 1] of in[k]. */
static void mirror(int64_t n, const double *in, double *out) {
    for (int64_t k = 0; k < n; k++)
        out[n - 1 + k] = out[n - 1 - k] = in[k];
}

static szg_status gram_lags(szg_context *context, const szg_matrix *gram, double *re,
                            double *spread) {
    int64_t n = gram->rows, blocks = (n + 2 * LAGS_A_BLOCK - 1) / (2 * LAGS_A_BLOCK);
    double *mean;
    SZG_TRY(szgi_memory_alloc(context, 2 * n, &mean));
    gram_job job = {&gram->of.factored, mean, spread ? mean + n : NULL};
    szg_status status = szgi_pool_run(context, blocks, gram_block, &job);
    if (status == SZG_OK) {
        mirror(n, mean, re);
        if (spread)
            mirror(n, job.spread, spread);
    }
    szgi_memory_free(mean);
    return status;
}

/* ---- By lag ---- */

static szg_status toeplitz_lags(szg_context *context, const szg_toeplitz *kernel, double *re,
                                double *im, double *spread) {
    int64_t n = szg_toeplitz_size(kernel);
    for (int64_t k = 1 - n; k < n; k++) {
        szg_c64 entry = szg_toeplitz_at(kernel, k);
        re[k + n - 1] = entry.re;
        if (im)
            im[k + n - 1] = entry.im;
        if (spread)
            spread[k + n - 1] = 0;
        if (k % SZGI_MEMORY_LOOK == 0)
            SZG_TRY(szgi_context_check_cancel(context));
    }
    return SZG_OK;
}

static szg_status head_lags(szg_context *context, const szg_encoding *encoding, int64_t head,
                            int64_t matrix, int64_t n, double *re, double *im, double *spread) {
    szg_kernel_facts facts;
    szg_toeplitz *kernel;
    szg_matrix gram;
    SZG_TRY(szg_encoding_facts(context, encoding, head, matrix, &facts));
    if (facts.structure != SZG_KERNEL_GRAM) {
        SZG_TRY(szgi_encoding_kernel_of(context, encoding, head, &facts, n, &kernel));
        szg_status status = toeplitz_lags(context, kernel, re, im, spread);
        szg_toeplitz_close(&kernel);
        return status;
    }
    SZG_TRY(szg_encoding_matrix(context, encoding, head, matrix, n, &gram));
    szg_status status = gram_lags(context, &gram, re, spread);
    for (int64_t i = 0; im && i < 2 * n - 1; i++)
        im[i] = 0;
    szg_matrix_close(&gram);
    return status;
}

/* ---- Of several heads ---- */

static szg_status check_sizes(szg_context *context, const szg_encoding *encoding, int64_t heads,
                              int64_t n) {
    if (n >= 1 && heads >= 1)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "%s: N = %" PRId64 " and %" PRId64 " heads: both must be at least 1",
                     szg_encoding_spec(encoding), n, heads);
}

/* Whether `rows` x `columns` numbers of every head fit into memory: two each, where a head's are
 * complex. */
static szg_status require(szg_context *context, const szg_encoding *encoding, int64_t first,
                          int64_t heads, int64_t matrix, int64_t rows, int64_t columns,
                          const char *what) {
    size_t parts = 1;
    for (int64_t i = 0; i < heads; i++) {
        szg_kernel_facts facts;
        SZG_TRY(szg_encoding_facts(context, encoding, first + i, matrix, &facts));
        parts = szgi_kernel_is_complex(&facts) ? 2 : parts;
    }
    return szgi_memory_require(context, rows, columns, parts * (size_t)heads * sizeof(double), what,
                               "use a smaller N, or one head");
}

szg_status szg_encoding_lags(szg_context *context, const szg_encoding *encoding, int64_t first,
                             int64_t heads, int64_t matrix, int64_t n, double *re, double *im,
                             double *spread) {
    SZGI_ENTER(context);
    int64_t lags = 2 * n - 1;
    SZG_TRY(check_sizes(context, encoding, heads, n));
    if (!re)
        return require(context, encoding, first, heads, matrix, n, 2, "the array of lags");
    for (int64_t i = 0; i < heads; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(head_lags(context, encoding, first + i, matrix, n, re + i * lags,
                          im ? im + i * lags : NULL, spread ? spread + i * lags : NULL));
    }
    return SZG_OK;
}

/* ---- By entry ---- */

/* Row i has the lags i, i - 1, .. i - (n - 1). */
static void spread_lags(int64_t n, const double *lags, double *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            out[i * n + j] = lags[i - j + n - 1];
}

static szg_status toeplitz_entries(szg_context *context, const szg_encoding *encoding, int64_t head,
                                   int64_t matrix, int64_t n, double *re, double *im) {
    double *lags;
    SZG_TRY(szgi_memory_alloc(context, 2 * (2 * n - 1), &lags));
    szg_status status =
        head_lags(context, encoding, head, matrix, n, lags, im ? lags + 2 * n - 1 : NULL, NULL);
    if (status == SZG_OK) {
        spread_lags(n, lags, re);
        if (im)
            spread_lags(n, lags + 2 * n - 1, im);
    }
    szgi_memory_free(lags);
    return status;
}

static szg_status gram_entries(szg_context *context, const szg_encoding *encoding, int64_t head,
                               int64_t matrix, int64_t n, double *re, double *im) {
    szg_matrix gram;
    SZG_TRY(szg_encoding_matrix(context, encoding, head, matrix, n, &gram));
    const szg_factored *f = &gram.of.factored;
    szg_status status =
        szgi_gemm(context, 'n', 't', n, n, f->d, 1, f->a, f->lda, f->b, f->ldb, 0, re, n);
    for (int64_t i = 0; status == SZG_OK && i < n; i++) /* rounding may differ on the two sides */
        for (int64_t j = 0; j < i; j++)
            re[j * n + i] = re[i * n + j];
    for (int64_t i = 0; im && i < n * n; i++)
        im[i] = 0;
    szg_matrix_close(&gram);
    return status;
}

static szg_status head_entries(szg_context *context, const szg_encoding *encoding, int64_t head,
                               int64_t matrix, int64_t n, double *re, double *im) {
    szg_kernel_facts facts;
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(szg_encoding_facts(context, encoding, head, matrix, &facts));
    return facts.structure == SZG_KERNEL_GRAM
               ? gram_entries(context, encoding, head, matrix, n, re, im)
               : toeplitz_entries(context, encoding, head, matrix, n, re, im);
}

szg_status szg_encoding_entries(szg_context *context, const szg_encoding *encoding, int64_t first,
                                int64_t heads, int64_t matrix, int64_t n, double *re, double *im) {
    SZGI_ENTER(context);
    int64_t square;
    SZG_TRY(check_sizes(context, encoding, heads, n));
    if (!re)
        return require(context, encoding, first, heads, matrix, n, n, "the dense matrix");
    SZG_TRY(szgi_memory_product(context, n, n, &square));
    for (int64_t i = 0; i < heads; i++)
        SZG_TRY(head_entries(context, encoding, first + i, matrix, n, re + i * square,
                             im ? im + i * square : NULL));
    return SZG_OK;
}
