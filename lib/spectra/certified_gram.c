/* Certified ends of B B^T, B n x d: B^T B, d x d, has the same nonzero eigenvalues where d < n, and
 * 0 is another one. Entries of the smaller matrix are sums in twice the precision, rounded once. */
#include "certified_blocks.h"
#include "doubled.h"

static const double U = 0x1p-53;

typedef struct gram_job {
    int64_t order, length; /* of the smaller matrix, and of the sums */
    double *rows;          /* of B^T, or of B; scaled so that no sum exceeds 1 */
    double *array;         /* the matrix */
    double *squares;       /* its diagonal's square roots, from above */
} gram_job;

static double largest_of(const szg_factored *f) {
    double largest = 0;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->d; j++)
            largest = fmax(largest, fabs(f->b[i * f->ldb + j]));
    return largest;
}

/* 2^-exponent `largest` is below 2^-half, 4^half >= length. */
static int scale_of(double largest, int64_t length) {
    int exponent, half = 0;
    frexp(largest, &exponent);
    for (; length > 1; length = (length + 3) / 4)
        half++;
    return exponent + half;
}

static void take_rows(const szg_factored *f, int exponent, gram_job *job) {
    bool turned = f->d < f->n;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < f->d; j++)
            job->rows[turned ? j * job->length + i : i * job->length + j] =
                ldexp(f->b[i * f->ldb + j], -exponent);
}

/* The error is the largest row sum of u |g_ij| and 4 (length + 16)^2 u^2 ||b_i|| ||b_j||, and of
 * what underflow loses. */
static szg_status fill_array(szg_context *context, gram_job *job, szgi_block *block) {
    int64_t n = job->order;
    double twice = (double)(job->length + 16) * U, squares = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        const double *row = job->rows + i * job->length;
        for (int64_t j = 0; j <= i; j++) {
            szgi_doubled sum = szgi_doubled_dot(job->length, row, job->rows + j * job->length);
            job->array[i * n + j] = job->array[j * n + i] = sum.head + sum.tail;
        }
        job->squares[i] = sqrt(job->array[i * (n + 1)]) * (1 + 0x1p-40);
        squares += job->squares[i];
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += fabs(job->array[i * n + j]);
        largest =
            szgi_larger(largest, 1.01 * U * sum + 4.1 * twice * twice * squares * job->squares[i]);
    }
    block->error = largest + 0x1p-900;
    return SZG_OK;
}

static szg_status open_job(szg_context *context, const szg_factored *f, gram_job *job) {
    bool turned = f->d < f->n;
    int64_t entries, array;
    job->order = turned ? f->d : f->n;
    job->length = turned ? f->n : f->d;
    SZG_TRY(szgi_memory_product(context, f->n, f->d, &entries));
    SZG_TRY(szgi_memory_product(context, job->order, job->order, &array));
    SZG_TRY(szgi_memory_require(context, entries + array, 1, sizeof *job->rows,
                                "the proof of the eigenvalues' range", "leave --certify out"));
    SZG_TRY(szgi_memory_alloc(context, entries + array + job->order, &job->rows));
    job->array = job->rows + entries;
    job->squares = job->array + array;
    return SZG_OK;
}

szg_status szgi_certify_gram(szg_context *context, const szg_factored *f, bool values,
                             szg_spectrum *spectrum) {
    gram_job job = {0};
    bool gram = f->a == f->b && f->lda == f->ldb && !f->bias && !f->causal;
    if (!gram)
        return SZG_OK;
    double largest = largest_of(f); /* the product of small numbers may underflow */
    if (largest == 0) {
        szgi_certify_point(0, spectrum);
        return SZG_OK;
    }
    SZG_TRY(open_job(context, f, &job));
    int exponent = scale_of(largest, job.length);
    take_rows(f, exponent, &job);
    szgi_block_set set = {.count = 1,
                          .values = values,
                          .semidefinite = true,
                          .singular = f->d < f->n,
                          .block = {{.n = job.order, .width = 1}}};
    const szgi_array_rows rows = {job.array, job.order, 1, 1, 1};
    szg_status status = szgi_blocks_open(context, 1, &set);
    set.exponent = 2 * exponent;
    set.block[0].row = szgi_array_row;
    set.block[0].data = &rows;
    if (status == SZG_OK)
        status = fill_array(context, &job, &set.block[0]);
    if (status == SZG_OK)
        status = szgi_blocks_prove(context, &set, spectrum);
    szgi_blocks_close(&set);
    szgi_memory_free(job.rows);
    return status;
}
