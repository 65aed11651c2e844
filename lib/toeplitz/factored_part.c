/* Toeplitz part and Frobenius norm of a factored matrix, without the matrix. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "factored_private.h"

enum {
    GROUP = 8,                /* columns that are read together: a cache line of a row */
    COLUMN_BLOCKS = 8,        /* partial sums, whatever the number of threads */
    ROWS = SZGI_FACTORED_STEP /* rows of one step of the running Gram matrix */
};

/* The sums of A B^T along diagonals are correlations of columns, sum_t sum_i A_{i+k,t} B_{i,t}.
 * Block c adds up the transforms of groups c, c + COLUMN_BLOCKS, .. of columns. */
typedef struct correlation {
    const szg_factored *f;
    int64_t length, half; /* transforms of `length` reals have `half` complex entries */
    szg_c64 *partial;     /* COLUMN_BLOCKS x half */
} correlation;

typedef struct correlation_work {
    szgi_fft *fft;
    double *columns; /* GROUP x length, zeros from n on */
    szg_c64 *a;      /* GROUP x half: transformed columns of A */
    szg_c64 *b;      /* half: one of B */
} correlation_work;

static void load_columns(const double *a, int64_t lda, int64_t n, int64_t count, double *out,
                         int64_t length) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < count; t++)
            out[t * length + i] = a[i * lda + t];
}

/* sum += transform of column t of A times the conjugate one of B */
static void accumulate(int64_t half, const szg_c64 *a, const szg_c64 *b, szg_c64 *sum) {
    for (int64_t j = 0; j < half; j++) {
        sum[j].re += a[j].re * b[j].re + a[j].im * b[j].im;
        sum[j].im += a[j].im * b[j].re - a[j].re * b[j].im;
    }
}

static szg_status add_group(szg_context *context, const correlation *job, correlation_work *work,
                            int64_t first, szg_c64 *sum) {
    const szg_factored *f = job->f;
    int64_t count = f->d - first < GROUP ? f->d - first : GROUP;
    load_columns(f->a + first, f->lda, f->n, count, work->columns, job->length);
    for (int64_t t = 0; t < count; t++)
        SZG_TRY(szgi_fft_run(context, work->fft, work->columns + t * job->length,
                             work->a + t * job->half));
    load_columns(f->b + first, f->ldb, f->n, count, work->columns, job->length);
    for (int64_t t = 0; t < count; t++) {
        SZG_TRY(szgi_fft_run(context, work->fft, work->columns + t * job->length, work->b));
        accumulate(job->half, work->a + t * job->half, work->b, sum);
    }
    return szgi_context_check_cancel(context);
}

static szg_status open_work(szg_context *context, const correlation *job, correlation_work *work) {
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_REAL, job->length, 1, &work->fft));
    SZG_TRY(szgi_memory_alloc(context, GROUP * job->length, &work->columns));
    SZG_TRY(szgi_memory_alloc(context, GROUP * job->half, &work->a));
    return szgi_memory_alloc(context, job->half, &work->b);
}

static szg_status correlate_block(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    const correlation *job = argument;
    if (block * GROUP >= job->f->d)
        return SZG_OK;
    correlation_work work = {0};
    szg_status status = open_work(context, job, &work);
    for (int64_t t = block * GROUP; t < job->f->d && status == SZG_OK; t += GROUP * COLUMN_BLOCKS)
        status = add_group(context, job, &work, t, job->partial + block * job->half);
    szgi_fft_close(&work.fft);
    szgi_memory_free(work.columns);
    szgi_memory_free(work.a);
    szgi_memory_free(work.b);
    return status;
}

/* sums[k + n - 1], |k| < n: the sum of A B^T along the diagonal i - j = k. */
static szg_status low_rank_sums(szg_context *context, const szg_factored *f, double *sums) {
    correlation job = {.f = f, .length = szgi_fft_fast_length(2 * f->n - 1)};
    job.half = job.length / 2 + 1;
    szgi_fft *fft = NULL;
    double *circular = NULL;
    szg_status status;
    SZG_TRY(szgi_memory_alloc(context, COLUMN_BLOCKS * job.half, &job.partial));
    SZG_TRY_GOTO(status, szgi_pool_run(context, COLUMN_BLOCKS, correlate_block, &job), end);
    for (int64_t c = 1; c < COLUMN_BLOCKS; c++)
        for (int64_t j = 0; j < job.half; j++) {
            job.partial[j].re += job.partial[c * job.half + j].re;
            job.partial[j].im += job.partial[c * job.half + j].im;
        }
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, job.length, &circular), end);
    SZG_TRY_GOTO(status, szgi_fft_open(context, SZGI_FFT_REAL_BACKWARD, job.length, 1, &fft), end);
    SZG_TRY_GOTO(status, szgi_fft_run(context, fft, job.partial, circular), end);
    for (int64_t k = 1 - f->n; k < f->n; k++)
        sums[k + f->n - 1] = circular[k < 0 ? job.length + k : k] / (double)job.length;
end:
    szgi_fft_close(&fft);
    szgi_memory_free(circular);
    szgi_memory_free(job.partial);
    return status;
}

szg_status szgi_factored_diagonal_sums(szg_context *context, const szg_factored *f,
                                       double *low_rank, double **out) {
    double *sums;
    SZG_TRY(szgi_memory_alloc(context, 2 * f->n - 1, &sums));
    szg_status status = f->d > 0 ? low_rank_sums(context, f, sums) : SZG_OK;
    if (status != SZG_OK) {
        szgi_memory_free(sums);
        return status;
    }
    if (low_rank)
        *low_rank = szgi_norm(2 * f->n - 1, sums);
    for (int64_t k = 1 - f->n; k < f->n; k++) {
        double *at = sums + k + f->n - 1;
        if (f->causal && k < 0)
            *at = 0;
        else if (f->bias)
            *at += (double)(f->n - (k < 0 ? -k : k)) * szg_toeplitz_at(f->bias, k).re;
    }
    *out = sums;
    return SZG_OK;
}

szg_status szgi_factored_toeplitz_part(szg_context *context, const szg_factored *f,
                                       szg_toeplitz **out) {
    *out = NULL;
    SZG_TRY(szgi_factored_check_finite(context, f));
    double *sums;
    SZG_TRY(szgi_factored_diagonal_sums(context, f, NULL, &sums));
    for (int64_t k = 1 - f->n; k < f->n; k++)
        sums[k + f->n - 1] /= (double)(f->n - (k < 0 ? -k : k));
    szg_status status = szg_toeplitz_open_real(context, f->n, f->n, sums, out);
    szgi_memory_free(sums);
    return status;
}

/* A step's rows: g gains A_rows^T A_rows, h gains B_rows^T B_rows. Those of g alone against all of
 * h up to the step give the blocks below the diagonal; the step's own square is formed. */
typedef struct gram {
    double *a, *b, *square; /* d x d, d x d, ROWS x ROWS */
} gram;

static double lower_square(int64_t rows, const double *square) {
    double sum = 0;
    for (int64_t i = 0; i < rows; i++)
        sum += szgi_dot(i + 1, square + i * ROWS, square + i * ROWS);
    return sum;
}

/* sum of the squares of A B^T below and on the diagonal, by steps of ROWS rows: with H the Gram
 * matrix of the rows of B before, tr(A_rows H A_rows^T) = <A_rows^T A_rows, H>. */
static szg_status causal_square(szg_context *context, const szg_factored *f, const gram *g,
                                double *out) {
    int64_t d = f->d;
    double sum = 0;
    for (int64_t i = 0; i < f->n; i += ROWS) {
        int64_t rows = f->n - i < ROWS ? f->n - i : ROWS;
        const double *a = f->a + i * f->lda, *b = f->b + i * f->ldb;
        SZG_TRY(szgi_gemm(context, 't', 'n', d, d, rows, 1, a, f->lda, a, f->lda, 0, g->a, d));
        sum += szgi_dot(d * d, g->a, g->b);
        SZG_TRY(szgi_gemm(context, 't', 'n', d, d, rows, 1, b, f->ldb, b, f->ldb, 1, g->b, d));
        SZG_TRY(szgi_gemm(context, 'n', 't', rows, rows, d, 1, a, f->lda, b, f->ldb, 0, g->square,
                          ROWS));
        sum += lower_square(rows, g->square);
        SZG_TRY(szgi_context_check_cancel(context));
    }
    *out = sum;
    return SZG_OK;
}

static szg_status full_square(szg_context *context, const szg_factored *f, const gram *g,
                              double *out) {
    int64_t d = f->d, n = f->n;
    SZG_TRY(szgi_gemm(context, 't', 'n', d, d, n, 1, f->a, f->lda, f->a, f->lda, 0, g->a, d));
    SZG_TRY(szgi_gemm(context, 't', 'n', d, d, n, 1, f->b, f->ldb, f->b, f->ldb, 0, g->b, d));
    *out = szgi_dot(d * d, g->a, g->b);
    return SZG_OK;
}

szg_status szgi_factored_low_rank_square(szg_context *context, const szg_factored *f, double *out) {
    *out = 0;
    if (f->d == 0)
        return SZG_OK;
    int64_t size;
    SZG_TRY(szgi_memory_product(context, f->d, f->d, &size));
    double *memory;
    SZG_TRY(szgi_memory_alloc(context, 2 * size + ROWS * ROWS, &memory));
    gram g = {.a = memory, .b = memory + size, .square = memory + 2 * size};
    szg_status status =
        f->causal ? causal_square(context, f, &g, out) : full_square(context, f, &g, out);
    szgi_memory_free(memory);
    return status;
}

/* What the bias adds: 2 <A B^T, T> + ||T||^2 over the lags that the mask keeps. */
static szg_status bias_square(szg_context *context, const szg_factored *f, double *out) {
    *out = 0;
    if (!f->bias)
        return SZG_OK;
    double *sums;
    szg_factored without = *f;
    without.bias = NULL;
    SZG_TRY(szgi_factored_diagonal_sums(context, &without, NULL, &sums));
    for (int64_t k = f->causal ? 0 : 1 - f->n; k < f->n; k++) {
        double a = szg_toeplitz_at(f->bias, k).re;
        *out += a * (2 * sums[k + f->n - 1] + (double)(f->n - (k < 0 ? -k : k)) * a);
    }
    szgi_memory_free(sums);
    return SZG_OK;
}

szg_status szgi_factored_norm_frobenius(szg_context *context, const szg_factored *f, double *out) {
    *out = NAN;
    SZG_TRY(szgi_factored_check_finite(context, f));
    double low_rank, bias;
    SZG_TRY(szgi_factored_low_rank_square(context, f, &low_rank));
    SZG_TRY(bias_square(context, f, &bias));
    double square = low_rank + bias;
    if (!isfinite(square))
        return szgi_fail(
            context, SZG_EDOMAIN,
            "factored matrix: the square of the Frobenius norm, or of a factor's, overflows: "
            "divide A and B by powers of two");
    *out = sqrt(fmax(square, 0));
    return SZG_OK;
}
