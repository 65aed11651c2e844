/* Largest logit, entropy and sinks of one head's softmax, streaming over blocks of keys. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <szego/statistics.h>
#include "base/memory.h"
#include "base/options.h"
#include "base/pool.h"
#include "coupling/look.h"
#include "linalg/linalg.h"
#include "toeplitz/factored.h"
#include "statistics_private.h"

/* A block of logits, 512 KiB: it stays in the cache from the product to the exponentials. */
enum { QUERIES = 128, KEYS = 512 };

static int64_t blocks_of(const statistics_job *job) {
    return (job->n + QUERIES - 1) / QUERIES;
}

/* ---- Norms ---- */

/* Of any size: neither squares nor their sum overflow. */
static double row_norm(int64_t count, const double *x) {
    double most = 0, sum = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(x[i]));
    if (most == 0)
        return 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] / most * (x[i] / most);
    return most * sqrt(sum);
}

static double scale_of(const statistics_job *job) {
    return job->options.scale > 0 ? job->options.scale : 1;
}

static szg_status take_norms(szg_context *context, void *data, int64_t block, int worker) {
    (void)context, (void)worker;
    const statistics_job *job = data;
    const szg_factored *f = job->factored;
    int64_t end = (block + 1) * QUERIES < job->n ? (block + 1) * QUERIES : job->n;
    for (int64_t i = block * QUERIES; i < end; i++) {
        job->query[i].a_norm = f ? row_norm(f->d, f->a + i * f->lda) : NAN;
        job->query[i].b_norm = f ? row_norm(f->d, f->b + i * f->ldb) : NAN;
    }
    return SZG_OK;
}

/* The greatest norms and modulus of the bias, for bounds. */
static void find_sizes(statistics_job *job) {
    for (int64_t i = 0; i < job->n && job->factored; i++) {
        job->a_norm = fmax(job->a_norm, job->query[i].a_norm);
        job->b_norm = fmax(job->b_norm, job->query[i].b_norm);
    }
    for (int64_t i = 0; job->bias && i < 2 * job->n - 1; i++)
        job->bias_most = fmax(job->bias_most, fabs(job->bias[i]));
}

/* ---- The logits of a block ---- */

static szg_status fill_products(szg_context *context, const statistics_job *job, int64_t row,
                                int64_t rows, int64_t key, int64_t keys, double *out) {
    const szg_factored *f = job->factored;
    if (f->d > 0)
        SZG_TRY(szgi_gemm(context, 'n', 't', rows, keys, f->d, 1, f->a + row * f->lda, f->lda,
                          f->b + key * f->ldb, f->ldb, 0, out, KEYS));
    else
        memset(out, 0, (size_t)(rows * KEYS) * sizeof *out);
    for (int64_t i = 0; job->bias && i < rows; i++) {
        const double *bias = job->bias + row + i - key + job->n - 1;
        for (int64_t j = 0; j < keys; j++)
            out[i * KEYS + j] += bias[-j];
    }
    return SZG_OK;
}

/* Row i of `out` begins at out + i KEYS. Of dense numbers those that the mask hides are not read.
 */
static szg_status fill_block(szg_context *context, const statistics_job *job, int64_t row,
                             int64_t rows, int64_t key, int64_t keys, double *out) {
    if (job->factored)
        return fill_products(context, job, row, rows, key, keys, out);
    bool zero = job->matrix->kind == SZG_MATRIX_ZERO;
    for (int64_t i = 0; i < rows; i++) {
        size_t bytes = (size_t)statistics_seen(job, row + i, key, keys) * sizeof *out;
        if (zero)
            memset(out + i * KEYS, 0, bytes);
        else
            memcpy(out + i * KEYS,
                   job->matrix->of.dense.a + (row + i) * job->matrix->of.dense.lda + key, bytes);
    }
    return SZG_OK;
}

/* ---- One query, one block of keys ---- */

static szg_status check_finite(szg_context *context, const statistics_job *job, int64_t i,
                               int64_t key, int64_t count, const double *x) {
    int64_t bad = 0;
    for (int64_t j = 0; j < count; j++)
        bad += !(fabs(x[j]) <= DBL_MAX);
    if (bad == 0)
        return SZG_OK;
    int64_t at = 0;
    while (fabs(x[at]) <= DBL_MAX)
        at++;
    return szgi_fail(context, SZG_EDATA,
                     "statistics: the logit of query %" PRId64 " and key %" PRId64 " is %g: %s", i,
                     key + at, x[at],
                     job->factored ? "the dot product overflows; scale queries and keys down"
                                   : "give logits before mask and softmax, and set causal");
}

static void take_extremes(const double *x, int64_t key, int64_t count, statistics_query *q) {
    double largest = x[0], smallest = x[0];
    for (int64_t j = 1; j < count; j++) {
        largest = x[j] > largest ? x[j] : largest;
        smallest = x[j] < smallest ? x[j] : smallest;
    }
    int64_t at = 0;
    if (largest > q->largest) {
        while (x[at] < largest)
            at++;
        q->largest = largest;
        q->largest_key = key + at;
    }
    at = 0;
    if (smallest < q->smallest) {
        while (x[at] > smallest)
            at++;
        q->smallest = smallest;
        q->smallest_key = key + at;
    }
}

static void take_sinks(const statistics_job *job, int64_t key, int64_t count, const double *weight,
                       statistics_sums *s) {
    if (key == 0)
        s->first += weight[0];
    for (int64_t i = 0; i < job->options.sinks; i++) {
        int64_t at = job->options.sink[i] - key;
        if (at >= 0 && at < count)
            s->sinks += weight[at];
    }
}

static szg_status take_keys(szg_context *context, const statistics_job *job, int64_t i, int64_t key,
                            int64_t count, double *x, statistics_sums *s) {
    double cap = job->options.soft_cap;
    SZG_TRY(check_finite(context, job, i, key, count, x));
    take_extremes(x, key, count, &job->query[i]);
    for (int64_t j = 0; cap > 0 && j < count; j++)
        x[j] = cap * tanh(x[j] / cap);
    szgi_statistics_take(count, x, s);
    take_sinks(job, key, count, x, s);
    return SZG_OK;
}

/* ---- A block of queries ---- */

static szg_status run_queries(szg_context *context, const statistics_job *job, int64_t row,
                              int64_t rows, double *x, statistics_sums *of) {
    int64_t end = job->causal ? row + rows : job->n;
    for (int64_t key = 0; key < end; key += KEYS) {
        int64_t keys = end - key < KEYS ? end - key : KEYS;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(fill_block(context, job, row, rows, key, keys, x));
        for (int64_t i = 0; i < rows; i++) {
            int64_t count = statistics_seen(job, row + i, key, keys);
            if (count > 0)
                SZG_TRY(take_keys(context, job, row + i, key, count, x + i * KEYS, &of[i]));
        }
    }
    for (int64_t i = 0; i < rows; i++)
        szgi_statistics_finish(job, &of[i], &job->query[row + i]);
    return SZG_OK;
}

static szg_status run_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    const statistics_job *job = data;
    int64_t row = block * QUERIES, rows = job->n - row < QUERIES ? job->n - row : QUERIES;
    statistics_sums of[QUERIES];
    double *x;
    for (int64_t i = 0; i < rows; i++) {
        of[i] = (statistics_sums){.top = -INFINITY};
        job->query[row + i].largest = -INFINITY;
        job->query[row + i].smallest = INFINITY;
    }
    SZG_TRY(szgi_memory_alloc(context, rows * KEYS, &x));
    szg_status status = run_queries(context, job, row, rows, x, of);
    szgi_memory_free(x);
    return status;
}

/* ---- Over the queries ---- */

/* Weights of query i: the keys that it sees, and the learned sink. */
static int64_t weights_of(const statistics_job *job, int64_t i) {
    return (job->causal ? i + 1 : job->n) + (job->options.sink_logit != NULL);
}

static void find_extremes(const statistics_job *job, szg_statistics *out) {
    for (int64_t i = 0; i < job->n; i++) {
        const statistics_query *q = &job->query[i];
        if (i == 0 || q->largest > out->largest) {
            out->largest = q->largest;
            out->largest_query = i;
            out->largest_key = q->largest_key;
        }
        if (i == 0 || q->smallest < out->smallest) {
            out->smallest = q->smallest;
            out->smallest_query = i;
            out->smallest_key = q->smallest_key;
        }
    }
}

static void find_entropies(const statistics_job *job, szg_statistics *out) {
    double sum = 0, normalised = 0;
    int64_t several = 0;
    out->entropy_min = out->entropy_max = NAN;
    out->entropy_min_query = out->entropy_max_query = -1;
    for (int64_t i = 0; i < job->n; i++) {
        double entropy = job->query[i].entropy;
        sum += entropy;
        if (weights_of(job, i) < 2)
            continue;
        several++;
        normalised += entropy / log((double)weights_of(job, i));
        if (!(entropy >= out->entropy_min)) {
            out->entropy_min = entropy;
            out->entropy_min_query = i;
        }
        if (!(entropy <= out->entropy_max)) {
            out->entropy_max = entropy;
            out->entropy_max_query = i;
        }
    }
    out->entropy_mean = sum / (double)job->n;
    out->entropy_normalised = several ? normalised / (double)several : NAN;
}

static void find_shares(const statistics_job *job, szg_statistics *out) {
    double first = 0, sinks = 0, learned = 0;
    int64_t last = -1, n = job->n;
    for (int64_t i = 0; i < job->options.sinks; i++)
        last = job->options.sink[i] > last ? job->options.sink[i] : last;
    for (int64_t i = 0; i < n; i++) {
        first += i > 0 ? job->query[i].first : 0;
        sinks += i > last ? job->query[i].sinks : 0;
        learned += job->query[i].learned;
    }
    out->first_share = n > 1 ? first / (double)(n - 1) : NAN;
    out->sink_share = last >= 0 && last < n - 1 ? sinks / (double)(n - 1 - last) : NAN;
    out->learned_share = job->options.sink_logit ? learned / (double)n : NAN;
}

/* Root mean square of the norms, relative to the greatest: squares do not overflow. */
static void find_norms(const statistics_job *job, szg_statistics *out) {
    double a = 0, b = 0;
    for (int64_t i = 0; i < job->n; i++) {
        double of_a = job->query[i].a_norm / job->a_norm;
        double of_b = job->query[i].b_norm / job->b_norm;
        a += of_a * of_a;
        b += of_b * of_b;
    }
    double a_rms = job->a_norm == 0 ? 0 : job->a_norm * sqrt(a / (double)job->n);
    double b_rms = job->b_norm == 0 ? 0 : job->b_norm * sqrt(b / (double)job->n);
    out->q_norm_max = job->factored ? job->a_norm / scale_of(job) : NAN;
    out->q_norm_rms = job->factored ? a_rms / scale_of(job) : NAN;
    out->k_norm_max = job->factored ? job->b_norm : NAN;
    out->k_norm_rms = job->factored ? b_rms : NAN;
}

/* ---- Bounds ---- */

/* gamma_{d+3}: d terms, the bias on top, and what the norms' own rounding takes from the product.
 */
static double error_of(const statistics_job *job) {
    if (!job->factored)
        return 0;
    double terms = (double)job->factored->d + 3;
    double gamma = terms * 0x1p-53 / (1 - terms * 0x1p-53);
    return gamma * (job->a_norm * job->b_norm + job->bias_most) + terms * DBL_TRUE_MIN;
}

/* How far a number of the softmax can lie below another one of its query. */
static double spread_of(const statistics_job *job, const szg_statistics *out) {
    double most = out->largest, least = out->smallest;
    if (job->options.sink_logit) {
        most = fmax(most, *job->options.sink_logit);
        least = fmin(least, *job->options.sink_logit);
    }
    return most - least + 2 * out->error;
}

/* docs/explanation/methods.md derives it. What the softmax is of is off by `error`, by the rounding
 * of t = x - top where e^t is not 0, and by what exp and tanh add. */
static double weight_error_of(const statistics_job *job, const szg_statistics *out) {
    const bool single = out->single;
    double unit = single ? 0x1p-24 : 0x1p-53, lost = single ? 88 : 746;
    double off = out->error + unit * fmin(lost, spread_of(job, out)) + 4 * unit +
                 SZGI_STATISTICS_CAPPED * unit * job->options.soft_cap;
    double bound = expm1(2 * off) + 8 * unit * exp(2 * off) + ((double)job->n + 8) * 0x1p-51;
    return isfinite(bound) ? bound : NAN;
}

/* ---- Arguments ---- */

static szg_status check_options(szg_context *context, const szg_statistics_options *options,
                                int64_t n) {
    if (!(options->soft_cap >= 0) || !isfinite(options->soft_cap))
        return szgi_fail(context, SZG_EINVAL,
                         "statistics: soft_cap is %g: it must be positive, or 0 for none",
                         options->soft_cap);
    if (!(options->scale >= 0) || !isfinite(options->scale))
        return szgi_fail(context, SZG_EINVAL,
                         "statistics: scale is %g: it must be positive, or 0 for 1",
                         options->scale);
    if (options->sink_logit && !isfinite(*options->sink_logit))
        return szgi_fail(context, SZG_EINVAL,
                         "statistics: sink_logit is %g: it must be finite; without a learned sink "
                         "leave it out",
                         *options->sink_logit);
    if (options->sinks < 0 || (options->sinks > 0 && !options->sink))
        return szgi_fail(context, SZG_EINVAL, "statistics: %" PRId64 " sinks without their tokens",
                         options->sinks);
    for (int64_t i = 0; i < options->sinks; i++) {
        if (options->sink[i] < 0 || options->sink[i] >= n)
            return szgi_fail(context, SZG_EINVAL,
                             "statistics: sink %" PRId64 " is no token: they are 0 .. %" PRId64,
                             options->sink[i], n - 1);
        for (int64_t j = 0; j < i; j++)
            if (options->sink[i] == options->sink[j])
                return szgi_fail(context, SZG_EINVAL,
                                 "statistics: sink %" PRId64 " is there twice: name it once",
                                 options->sink[i]);
    }
    return SZG_OK;
}

static szg_status check_matrix(szg_context *context, const szg_matrix *matrix) {
    switch (matrix->kind) {
    case SZG_MATRIX_FACTORED:
        return szgi_factored_check_finite(context, &matrix->of.factored);
    case SZG_MATRIX_ZERO:
    case SZG_MATRIX_DENSE:
    case SZG_MATRIX_SYMMETRIC:
        break;
    default:
        return szgi_fail(
            context, SZG_EDOMAIN,
            "statistics of a matrix of kind %s: give dense logits, or queries and keys",
            szg_matrix_kind_name(matrix->kind));
    }
    if (matrix->rows < 1 || matrix->rows != matrix->columns)
        return szgi_fail(context, SZG_EINVAL,
                         "statistics of %" PRId64 " x %" PRId64 " numbers: logits are square",
                         matrix->rows, matrix->columns);
    if (matrix->kind != SZG_MATRIX_ZERO &&
        (!matrix->of.dense.a || matrix->of.dense.lda < matrix->columns))
        return szgi_fail(context, SZG_EINVAL,
                         "statistics: the numbers are missing, or their leading dimension %" PRId64
                         " is below %" PRId64,
                         matrix->of.dense.lda, matrix->columns);
    return SZG_OK;
}

static szg_status open_bias(szg_context *context, statistics_job *job) {
    if (!job->factored || !job->factored->bias)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 2 * job->n - 1, &job->bias));
    for (int64_t lag = 1 - job->n; lag < job->n; lag++) {
        double value = szg_toeplitz_at(job->factored->bias, lag).re;
        job->bias[lag + job->n - 1] = value;
    }
    return SZG_OK;
}

static szg_status run_double(szg_context *context, statistics_job *job, double *error) {
    *error = error_of(job);
    return szgi_pool_run(context, blocks_of(job), run_block, job);
}

static szg_status run(szg_context *context, statistics_job *job, szg_statistics *out) {
    *out = (szg_statistics){.n = job->n};
    SZG_TRY(open_bias(context, job));
    SZG_TRY(szgi_memory_alloc(context, job->n, &job->query));
    SZG_TRY(szgi_pool_run(context, blocks_of(job), take_norms, job));
    find_sizes(job);
    SZG_TRY(szgi_statistics_single(context, job, &out->single, &out->error));
    if (!out->single)
        SZG_TRY(run_double(context, job, &out->error));
    find_extremes(job, out);
    find_entropies(job, out);
    find_shares(job, out);
    find_norms(job, out);
    out->weight_error = weight_error_of(job, out);
    return SZG_OK;
}

szg_status szgi_statistics_compute(szg_context *context, const szg_matrix *logits,
                                   const szg_statistics_options *options, szg_statistics *out) {
    statistics_job job = {.matrix = logits};
    SZG_TRY(SZGI_OPTIONS(context, szg_statistics_options, options, &job.options));
    SZG_TRY(check_matrix(context, logits));
    job.factored = logits->kind == SZG_MATRIX_FACTORED ? &logits->of.factored : NULL;
    job.n = job.factored ? job.factored->n : logits->rows;
    job.causal = job.options.causal || (job.factored && job.factored->causal);
    SZG_TRY(check_options(context, &job.options, job.n));
    szg_status status = run(context, &job, out);
    szgi_memory_free(job.bias);
    szgi_memory_free(job.query);
    return status;
}

szg_status szg_statistics_compute(szg_context *context, const szg_matrix *logits,
                                  const szg_statistics_options *options, szg_statistics *out) {
    SZGI_ENTER(context);
    szg_statistics_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_statistics_options, options, &own));
    SZG_TRY(check_matrix(context, logits));
    SZG_TRY(szgi_logits_look(context, logits, "logits", own.causal,
                             "leave the future out with `causal`, and cut padding off"));
    return szgi_statistics_compute(context, logits, options, out);
}
