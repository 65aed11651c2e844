/* The least and the largest singular value of one array. Outer bounds: completed Cholesky
 * factorisations of mu^2 I - A^* A and A^* A - mu^2 I, with the product's rounding counted. Inner
 * bounds: ||A x|| / ||x|| of vectors that the factors give. */
#include "linalg/linalg.h"

#include "certified.h"
#include "certified_singular.h"
#include "doubled.h"

static const double U = 0x1p-53;

typedef struct norm_work {
    szgi_parts gram; /* A^* A */
    double scale;    /* a power of four, which makes its parts less than 4 */
    double *factor;  /* n x n */
    double *vector;  /* n entries: interleaved, and both parts apart; y = A x */
    double *apart, *y;
    double size;      /* above || |A| ||_2 */
    double frobenius; /* above ||A||_F */
    double *memory;
} norm_work;

/* ---- A^* A ---- */

static szg_status open_work(szg_context *context, const szgi_parts *a, norm_work *work) {
    int64_t m = a->rows, n = a->columns, width = a->width, square;
    *work = (norm_work){.scale = 1};
    SZG_TRY(szgi_memory_product(context, n, n * width, &square));
    SZG_TRY(szgi_memory_require(context, square, 2, sizeof *work->memory,
                                "the proof of the singular values' range", "leave --certify out"));
    SZG_TRY(szgi_memory_alloc(context, 2 * square + 2 * n * width + m * width, &work->memory));
    work->gram = (szgi_parts){n, n, width, work->memory};
    work->factor = work->memory + square;
    work->vector = work->factor + square;
    work->apart = work->vector + n * width;
    work->y = work->apart + n * width;
    for (; m > 1; m = (m + 3) / 4)
        work->scale /= 4;
    return SZG_OK;
}

/* Real parts are sums of width m products, of the array that both parts make together. */
static szg_status multiply(szg_context *context, const szgi_parts *a, const szgi_parts *gram) {
    int64_t m = a->rows, n = a->columns;
    const double *im = szgi_parts_im(a);
    double *to = szgi_parts_im(gram);
    SZG_TRY(
        szgi_gemm(context, 't', 'n', n, n, m * a->width, 1, a->re, n, a->re, n, 0, gram->re, n));
    if (a->width == 1)
        return SZG_OK;
    SZG_TRY(szgi_gemm(context, 't', 'n', n, n, m, 1, a->re, n, im, n, 0, to, n));
    return szgi_gemm(context, 't', 'n', n, n, m, -1, im, n, a->re, n, 1, to, n);
}

/* || |A| ||_2^2 <= min(||A||_F^2, ||A||_1 ||A||_infinity) */
static void measure(const szgi_parts *a, norm_work *work) {
    double rows, columns;
    work->frobenius = szgi_parts_frobenius(a);
    szgi_parts_sums(a, work->vector, &rows, &columns);
    work->size = fmin(work->frobenius, sqrt(rows) * sqrt(columns) * (1 + 0x1p-40));
}

static double product_error(const szgi_parts *a, const norm_work *work) {
    double terms = (double)(a->width * a->rows + 2) * U * (1 + 0x1p-20);
    return (a->width == 2 ? 1.4143 : 1) * terms * work->size * work->size + 0x1p-900;
}

static void gram_row(const void *data, int64_t i, double *out) {
    const norm_work *work = data;
    const szgi_parts *gram = &work->gram;
    const double *im = szgi_parts_im(gram);
    int64_t at = i * gram->columns;
    for (int64_t j = 0; j <= i; j++) {
        out[j * gram->width] = gram->re[at + j] * work->scale;
        if (gram->width == 2)
            out[2 * j + 1] = im[at + j] * work->scale;
    }
}

/* ---- Inner bounds ---- */

/* y := A x in doubles, from sums in twice the precision. */
static void apply(const szgi_parts *a, const norm_work *work) {
    int64_t m = a->rows, n = a->columns;
    const double *x = work->apart, *turned = x + n, *im = szgi_parts_im(a);
    for (int64_t i = 0; i < m; i++) {
        szgi_doubled re = szgi_doubled_dot(n, a->re + i * n, x);
        if (a->width == 2) {
            szgi_doubled more = szgi_doubled_dot(n, im + i * n, turned);
            re = szgi_doubled_add(re, (szgi_doubled){-more.head, -more.tail});
            szgi_doubled cross = szgi_doubled_dot(n, a->re + i * n, turned);
            cross = szgi_doubled_add(cross, szgi_doubled_dot(n, im + i * n, x));
            work->y[m + i] = cross.head + cross.tail;
        }
        work->y[i] = re.head + re.tail;
    }
}

/* ||A x|| / ||x|| of the vector, and how far it may be off. */
static double quotient(const szgi_parts *a, const norm_work *work, double *error) {
    int64_t n = a->columns, width = a->width, count = n * width;
    for (int64_t i = 0; i < n; i++)
        for (int64_t part = 0; part < width; part++)
            work->apart[part * n + i] = work->vector[i * width + part];
    apply(a, work);
    szgi_doubled image = szgi_doubled_dot(a->rows * width, work->y, work->y);
    szgi_doubled square = szgi_doubled_dot(count, work->vector, work->vector);
    double out = sqrt(image.head + image.tail) / sqrt(square.head + square.tail);
    double order = (double)(count + 16) * U;
    *error = 16 * U * out + 10 * order * order * work->frobenius + 0x1p-480;
    return out;
}

/* ---- Both ends ---- */

typedef struct end_job {
    const szgi_parts *a;
    norm_work *work;
    szgi_block block;
    double margin;
} end_job;

/* *outer: the bound of the eigenvalue of sign G; *inner: the quotient of its vector. */
static szg_status one_end(szg_context *context, const end_job *job, int sign, double guess,
                          double *outer, double *inner, double *error) {
    const szgi_end_search search = {sign, guess * guess * job->work->scale, job->margin};
    SZG_TRY(szgi_block_outer(context, &job->block, &search, job->work->factor, outer));
    szgi_block_vector(&job->block, job->work->factor, job->work->vector);
    *inner = quotient(job->a, job->work, error);
    return SZG_OK;
}

static szg_status largest_end(szg_context *context, const end_job *job, szgi_tall_ends *ends) {
    double outer, inner, error;
    SZG_TRY(one_end(context, job, 1, ends->largest, &outer, &inner, &error));
    double root = nextafter(sqrt(outer / job->work->scale), INFINITY);
    ends->max = (szg_interval){fmax(nextafter(inner - error, -INFINITY), 0), root};
    return SZG_OK;
}

static szg_status least_end(szg_context *context, const end_job *job, szgi_tall_ends *ends) {
    double outer, inner, error;
    SZG_TRY(one_end(context, job, -1, ends->least, &outer, &inner, &error));
    double root = outer < 0 ? sqrt(-outer / job->work->scale) : 0;
    ends->min =
        (szg_interval){fmax(nextafter(root, -INFINITY), 0), nextafter(inner + error, INFINITY)};
    return SZG_OK;
}

static szg_status prove(szg_context *context, const szgi_tall *tall, norm_work *work,
                        szgi_tall_ends *ends) {
    const szgi_parts *a = &tall->a;
    double n = (double)a->columns, largest = ends->largest, error;
    measure(a, work);
    SZG_TRY(multiply(context, a, &work->gram));
    error = product_error(a, work);
    /* What the guesses may be off: by units in the last place, by subnormal rounding, and by the
     * errors of the entries. */
    double off = 4 * (n + 4) * U * largest + szgi_subnormal_margin(tall->exponent) + tall->error;
    const end_job job = {.a = a,
                         .work = work,
                         .block = {.n = a->columns,
                                   .width = a->width,
                                   .row = gram_row,
                                   .data = work,
                                   .error = error * work->scale},
                         .margin = (off * (2 * largest + off) + error) * work->scale};
    if (isfinite(ends->largest))
        SZG_TRY(largest_end(context, &job, ends));
    return isfinite(ends->least) ? least_end(context, &job, ends) : SZG_OK;
}

static szg_status check_order(szg_context *context, szg_interval end) {
    if (!(end.lo > end.hi)) /* an end that is not sought is NaN */
        return SZG_OK;
    return szgi_fail(context, SZG_EINTERNAL,
                     "the proven bounds %.17g and %.17g of a singular value exclude each other",
                     end.lo, end.hi);
}

szg_status szgi_tall_prove_ends(szg_context *context, const szgi_tall *tall, szgi_tall_ends *ends) {
    norm_work work;
    ends->min = ends->max = (szg_interval){NAN, NAN};
    szg_status status = open_work(context, &tall->a, &work);
    if (status == SZG_OK)
        status = prove(context, tall, &work, ends);
    szgi_memory_free(work.memory);
    if (status == SZG_OK)
        status = check_order(context, ends->min);
    return status == SZG_OK ? check_order(context, ends->max) : status;
}
