/* Every eigenvalue of one real array between proven bounds: R = A X - X D of computed vectors, and
 * |lambda_i - d_i| <= ||R||_2 / sqrt(1 - ||X^T X - I||_2) (Cao, Xie, Li 1996). Vectors stand in
 * rows here, V = X^T, so that R^T = V A - D V. */
#include "linalg/linalg.h"

#include "certified.h"
#include "doubled.h"

static const double U = 0x1p-53;

/* Arrays n x n. */
typedef struct value_work {
    int64_t n;
    double *a, *v, *w;            /* the array, vectors, n values */
    double *left, *right;         /* parts of v and a */
    double *product, *correction; /* v a = product + correction */
    double *memory;
} value_work;

/* ---- Norms ---- */

/* ||x||_F from above: the sum's rounding is below 2^-20 of it for n <= 2^15. */
static double frobenius(int64_t count, const double *x) {
    return sqrt(szgi_dot(count, x, x)) * (1 + 0x1p-20) + 0x1p-480;
}

/* sqrt(||x||_1 ||x||_infinity), a bound of ||x||_2; column sums go to `sums`. NaN stays. */
static double spectral_bound(int64_t n, const double *x, double *sums) {
    double rows = 0, columns = 0;
    memset(sums, 0, (size_t)n * sizeof *sums);
    for (int64_t i = 0; i < n; i++) {
        double row = 0;
        for (int64_t j = 0; j < n; j++) {
            double value = fabs(x[i * n + j]);
            row += value;
            sums[j] += value;
        }
        rows = szgi_larger(rows, row);
    }
    for (int64_t j = 0; j < n; j++)
        columns = szgi_larger(columns, sums[j]);
    return sqrt(rows) * sqrt(columns) * (1 + 0x1p-20);
}

/* ---- The residual ---- */

/* x rounded to multiples of 2^-bits, |x| < 2^(51 - bits). */
static void take_head(int64_t count, int bits, const double *x, double *head) {
    const double large = ldexp(1.5, 52 - bits);
    for (int64_t i = 0; i < count; i++)
        head[i] = (x[i] + large) - large;
}

static void take_tail(int64_t count, const double *x, double *head) {
    for (int64_t i = 0; i < count; i++)
        head[i] = x[i] - head[i];
}

/* Bits of a head so that sums of n products of two heads, below 2 and 4, are exact. */
static int head_bits(int64_t n) {
    int bits = 50;
    while (n > 1 && bits > 0) {
        n = (n + 1) / 2;
        bits--;
    }
    return bits / 2;
}

static szg_status multiply(szg_context *context, int64_t n, const double *x, const double *y,
                           double beta, double *z) {
    return szgi_gemm(context, 'n', 'n', n, n, n, 1, x, n, y, n, beta, z, n);
}

/* v a = product + correction; *error bounds the error of the correction in Frobenius norm. */
static szg_status multiply_parts(szg_context *context, value_work *work, double *error) {
    int64_t n = work->n, count = n * n;
    int bits = head_bits(n);
    double gamma = (double)(2 * n + 4) * U * (1 + 0x1p-20);
    take_head(count, bits, work->v, work->left);
    take_head(count, bits, work->a, work->right);
    SZG_TRY(multiply(context, n, work->left, work->right, 0, work->product));
    take_tail(count, work->a, work->right);
    SZG_TRY(multiply(context, n, work->left, work->right, 0, work->correction));
    *error = gamma * frobenius(count, work->left) * frobenius(count, work->right);
    take_tail(count, work->v, work->left);
    *error += gamma * frobenius(count, work->left) * frobenius(count, work->a);
    return multiply(context, n, work->left, work->a, 1, work->correction);
}

/* product := v a - d v, each entry off by 4 u of the numbers that it is made of. */
static double subtract_scaled(value_work *work) {
    int64_t n = work->n;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            int64_t at = i * n + j;
            szgi_doubled scaled = szgi_doubled_product(work->w[i], work->v[at]);
            double rest = work->product[at] - scaled.head;
            double made = fabs(rest) + fabs(scaled.tail) + fabs(work->correction[at]);
            work->product[at] = (rest - scaled.tail) + work->correction[at];
            sum += made * made;
        }
    return 4 * U * sqrt(sum) * (1 + 0x1p-20);
}

/* ||X^T X - I||_2 from above. */
static szg_status defect_of(szg_context *context, value_work *work, double *defect) {
    int64_t n = work->n;
    SZG_TRY(
        szgi_gemm(context, 'n', 't', n, n, n, 1, work->v, n, work->v, n, 0, work->correction, n));
    for (int64_t i = 0; i < n; i++)
        work->correction[i * (n + 1)] -= 1;
    double norm = frobenius(n * n, work->v);
    *defect = spectral_bound(n, work->correction, work->left) +
              (double)(n + 4) * U * (1 + 0x1p-20) * norm * norm;
    return SZG_OK;
}

static szg_status distance(szg_context *context, value_work *work, double *out) {
    double error, defect;
    SZG_TRY(multiply_parts(context, work, &error));
    error += subtract_scaled(work);
    double residual = spectral_bound(work->n, work->product, work->left) + error;
    SZG_TRY(defect_of(context, work, &defect));
    *out = (residual + 0x1p-900) / sqrt(1 - defect) * (1 + 0x1p-20);
    if (defect < 0.5 && isfinite(*out))
        return SZG_OK;
    return szgi_fail(context, SZG_ENOCONV,
                     "the computed eigenvectors are not orthonormal (defect %.2g): no eigenvalue "
                     "is proved",
                     defect);
}

/* ---- The block ---- */

static szg_status open_work(szg_context *context, const szgi_block *block, value_work *work) {
    int64_t n = block->n, count;
    *work = (value_work){.n = n};
    SZG_TRY(szgi_memory_product(context, n, n, &count));
    SZG_TRY(szgi_memory_require(context, count, 6, sizeof *work->a, "the proof of every eigenvalue",
                                "leave --certify or --all out"));
    SZG_TRY(szgi_memory_alloc(context, 6 * count + n, &work->memory));
    double **const arrays[] = {&work->a,     &work->v,       &work->left,
                               &work->right, &work->product, &work->correction};
    for (int i = 0; i < 6; i++)
        *arrays[i] = work->memory + i * count;
    work->w = work->memory + 6 * count;
    for (int64_t i = 0; i < n; i++)
        block->row(block->data, i, work->a + i * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            work->a[j * n + i] = work->a[i * n + j];
    memcpy(work->v, work->a, (size_t)count * sizeof *work->a);
    return SZG_OK;
}

szg_status szgi_block_values(szg_context *context, const szgi_block *block, double *lo,
                             double *hi) {
    value_work work;
    double radius = 0;
    szg_status status = open_work(context, block, &work);
    if (status == SZG_OK)
        status = szgi_eigen_symmetric(context, block->n, work.v, block->n, work.w, true);
    if (status == SZG_OK)
        status = distance(context, &work, &radius);
    radius = nextafter(radius + block->error, INFINITY);
    for (int64_t i = 0; status == SZG_OK && i < block->n; i++) {
        lo[i] = nextafter(work.w[i] - radius, -INFINITY);
        hi[i] = nextafter(work.w[i] + radius, INFINITY);
    }
    szgi_memory_free(work.memory);
    return status;
}
