/* Statistics of a softmax with products in single precision and exponentials in vectors
 * (softmax_kernel.h). The bound on a logit is computed before; logits that may be the largest or
 * the smallest are computed again in double precision after it. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "softmax_kernel.h"
#include "statistics_private.h"

enum {
    SMALLEST = 1024, /* below this order double precision takes some milliseconds */
    QUERIES = 8 * SZGI_SOFTMAX_ROWS,
    ROWS = SZGI_SOFTMAX_ROWS,
    KEYS = SZGI_SOFTMAX_KEYS,
    PANEL = SZGI_SOFTMAX_PANEL,
    /* Logits that are computed again: at most one of so many, and so many a query. */
    AGAIN = 128,
    AGAIN_QUERY = 64
};

/* Of a logit: a larger bound is of little use. */
static const double MOST_ERROR = 1e-3;

typedef struct single_job {
    statistics_job *job;
    const szgi_softmax_kernels *kernels;
    float *keys;  /* in panels, times 2^-exponent */
    float *bias;  /* of lag i - j at j - i + n - 1, and a block more */
    int exponent; /* the greatest entry of B lies in [2^(exponent - 1), 2^exponent) */
    double gamma, tiny;
    double high, low; /* the largest logit is at least, the smallest at most this */
    int64_t rows;     /* how many queries may have one of the two */
    int64_t *row;
    atomic_llong left; /* logits that may still be computed again */
} single_job;

/* ---- The bound ---- */

/* Roundings of a term: two of its factors into single precision, those of the kernel, the last one
 * for the norms' own, and one of the bias on top.
 *
 * Entries of B come below 1 and those of A below 2 max|A_i| max|B_j| < 2^12 by the exponent: what
 * underflows, by at most 2^-126 where numbers below that become 0, moves a logit by at most
 * d 2^-113. */
static void find_bound(single_job *s) {
    const statistics_job *job = s->job;
    double d = (double)job->factored->d;
    double terms = szgi_softmax_roundings(job->factored->d) + 3 + (job->bias != NULL);
    s->gamma = terms * 0x1p-24 / (1 - terms * 0x1p-24);
    s->tiny = (d + 1) * 0x1p-113;
}

/* On the logits of a query whose row of A has this norm. Products of zeros are exact. */
static double bound(const single_job *s, double a_norm) {
    const statistics_job *job = s->job;
    double size = a_norm * job->b_norm + job->bias_most;
    bool zero = (a_norm == 0 || job->b_norm == 0) && !job->bias;
    return zero ? 0 : s->gamma * size + s->tiny;
}

static double row_bound(const single_job *s, int64_t i) {
    return bound(s, s->job->query[i].a_norm);
}

static bool suits(const single_job *s) {
    const statistics_job *job = s->job;
    double cap = job->options.soft_cap;
    return bound(s, job->a_norm) + SZGI_STATISTICS_CAPPED * 0x1p-24 * cap <= MOST_ERROR &&
           (cap == 0 || cap >= 0x1p-100);
}

/* ---- Queries, keys and bias in single precision ---- */

static void find_exponent(single_job *s) {
    const szg_factored *f = s->job->factored;
    double most = 0;
    for (int64_t j = 0; j < f->n; j++)
        for (int64_t t = 0; t < f->d; t++)
            most = fmax(most, fabs(f->b[j * f->ldb + t]));
    frexp(most, &s->exponent);
}

static szg_status pack_keys(szg_context *context, void *data, int64_t block, int worker) {
    (void)context, (void)worker;
    const single_job *s = data;
    const szg_factored *f = s->job->factored;
    int64_t first = block * KEYS, end = first + KEYS < f->n ? first + KEYS : f->n;
    for (int64_t j = first; j < end; j++) {
        float *to = s->keys + j / PANEL * PANEL * f->d + j % PANEL;
        for (int64_t t = 0; t < f->d; t++)
            to[t * PANEL] = (float)ldexp(f->b[j * f->ldb + t], -s->exponent);
    }
    return SZG_OK;
}

/* Where every key is zero, queries are of any size: beyond single precision times 0 is no number.
 */
static void pack_query(const single_job *s, int64_t i, float *to) {
    const szg_factored *f = s->job->factored;
    for (int64_t t = 0; t < f->d; t++)
        to[t] = s->job->b_norm > 0 ? (float)ldexp(f->a[i * f->lda + t], s->exponent) : 0;
}

static szg_status pack(szg_context *context, single_job *s) {
    const statistics_job *job = s->job;
    int64_t n = job->n, blocks = (n + KEYS - 1) / KEYS, size;
    SZG_TRY(szgi_memory_product(context, blocks * KEYS, job->factored->d, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &s->keys));
    if (job->bias) {
        SZG_TRY(szgi_memory_alloc(context, 2 * n + KEYS, &s->bias));
        for (int64_t lag = 1 - n; lag < n; lag++)
            s->bias[n - 1 - lag] = (float)job->bias[lag + n - 1];
    }
    find_exponent(s);
    return szgi_pool_run(context, blocks, pack_keys, s);
}

/* ---- Logits of a block ---- */

/* KEYS keys from `key` on of ROWS queries that pack_query made. */
static void fill(const single_job *s, const float *q, int64_t key, float *x) {
    int64_t d = s->job->factored->d, left = s->job->n - key < KEYS ? s->job->n - key : KEYS;
    s->kernels->products((left + PANEL - 1) / PANEL, d, q, s->keys + key * d, x);
}

/* The logits of query i, `count` keys from `key` on; the bias joins them. */
static void finish_row(const single_job *s, int64_t i, int64_t key, int64_t count, float *x,
                       float *least, float *greatest) {
    if (s->bias)
        s->kernels->add(count, s->bias + key - i + s->job->n - 1, x);
    s->kernels->range(count, x, least, greatest);
}

/* ---- One query, one block of keys ---- */

static void take_sinks(const statistics_job *job, int64_t key, int64_t count, const float *weight,
                       statistics_sums *sums) {
    if (key == 0)
        sums->first += (double)weight[0];
    for (int64_t i = 0; i < job->options.sinks; i++) {
        int64_t at = job->options.sink[i] - key;
        if (at >= 0 && at < count)
            sums->sinks += (double)weight[at];
    }
}

static void take_keys(const single_job *s, int64_t i, int64_t key, int64_t count, float *x,
                      statistics_sums *sums) {
    const statistics_job *job = s->job;
    statistics_query *q = &job->query[i];
    float least, greatest;
    finish_row(s, i, key, count, x, &least, &greatest);
    q->largest = fmax(q->largest, (double)greatest);
    q->smallest = fmin(q->smallest, (double)least);
    if (job->options.soft_cap > 0) {
        s->kernels->capped(count, (float)job->options.soft_cap, x);
        s->kernels->range(count, x, &least, &greatest);
    }
    if ((double)greatest > sums->top)
        szgi_statistics_raise((double)greatest, sums);
    s->kernels->weights(count, (float)sums->top, x, &sums->weight, &sums->slope);
    take_sinks(job, key, count, x, sums);
}

/* ---- A block of queries ---- */

/* Keys that any of `rows` queries from `row` on sees. */
static int64_t end_of(const statistics_job *job, int64_t row, int64_t rows) {
    return job->causal ? row + rows : job->n;
}

static void run_rows(const single_job *s, int64_t row, int64_t rows, int64_t key, const float *q,
                     float *x, statistics_sums *sums) {
    if (key >= end_of(s->job, row, rows))
        return;
    fill(s, q, key, x);
    int64_t keys = s->job->n - key < KEYS ? s->job->n - key : KEYS;
    for (int64_t i = 0; i < rows; i++) {
        int64_t count = statistics_seen(s->job, row + i, key, keys);
        if (count > 0)
            take_keys(s, row + i, key, count, x + i * KEYS, &sums[i]);
    }
}

static szg_status run_queries(szg_context *context, const single_job *s, int64_t row, int64_t rows,
                              float *q) {
    statistics_sums sums[QUERIES];
    float x[ROWS * KEYS] __attribute__((aligned(64)));
    const int64_t d = s->job->factored->d;
    for (int64_t i = 0; i < rows; i++) {
        sums[i] = (statistics_sums){.top = -INFINITY};
        s->job->query[row + i].largest = -INFINITY;
        s->job->query[row + i].smallest = INFINITY;
        pack_query(s, row + i, q + i * d);
    }
    for (int64_t key = 0; key < end_of(s->job, row, rows); key += KEYS) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t i = 0; i < rows; i += ROWS)
            run_rows(s, row + i, rows - i < ROWS ? rows - i : ROWS, key, q + i * d, x, sums + i);
    }
    for (int64_t i = 0; i < rows; i++)
        szgi_statistics_finish(s->job, &sums[i], &s->job->query[row + i]);
    return SZG_OK;
}

static szg_status run_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    const single_job *s = data;
    int64_t row = block * QUERIES, n = s->job->n;
    float *q;
    SZG_TRY(szgi_memory_alloc(context, QUERIES * s->job->factored->d, &q));
    szg_status status = run_queries(context, s, row, n - row < QUERIES ? n - row : QUERIES, q);
    szgi_memory_free(q);
    return status;
}

/* ---- The largest and the smallest logit ----
 *
 * A logit can be the largest if its bound reaches the greatest lower bound of all; only these are
 * computed again. Zeros are exact, and of a row of them the first is enough. */

static bool may_be(const single_job *s, int64_t i) {
    const statistics_query *q = &s->job->query[i];
    double off = row_bound(s, i);
    return q->largest + off >= s->high || q->smallest - off <= s->low;
}

static szg_status find_rows(szg_context *context, single_job *s) {
    SZG_TRY(szgi_memory_alloc(context, s->job->n, &s->row));
    s->high = -INFINITY;
    s->low = INFINITY;
    for (int64_t i = 0; i < s->job->n; i++) {
        double off = row_bound(s, i);
        s->high = fmax(s->high, s->job->query[i].largest - off);
        s->low = fmin(s->low, s->job->query[i].smallest + off);
    }
    for (int64_t i = 0; i < s->job->n; i++)
        if (may_be(s, i))
            s->row[s->rows++] = i;
    return SZG_OK;
}

static double logit(const statistics_job *job, int64_t i, int64_t j) {
    enum { LANES = 8 };
    const szg_factored *f = job->factored;
    const double *a = f->a + i * f->lda, *b = f->b + j * f->ldb;
    double sum[LANES] = {0};
    int64_t t = 0;
    for (; t + LANES <= f->d; t += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] += a[t + lane] * b[t + lane];
    for (; t < f->d; t++)
        sum[0] += a[t] * b[t];
    for (int lane = 1; lane < LANES; lane++)
        sum[0] += sum[lane];
    return sum[0] + (job->bias ? job->bias[i - j + job->n - 1] : 0);
}

static void take_logit(single_job *s, int64_t i, int64_t j, statistics_query *best) {
    double value = logit(s->job, i, j);
    atomic_fetch_sub_explicit(&s->left, 1, memory_order_relaxed);
    if (value > best->largest) {
        best->largest = value;
        best->largest_key = j;
    }
    if (value < best->smallest) {
        best->smallest = value;
        best->smallest_key = j;
    }
}

static bool too_many(single_job *s) {
    return atomic_load_explicit(&s->left, memory_order_relaxed) < 0;
}

static void search_row(single_job *s, int64_t i, int64_t key, float *x, statistics_query *best) {
    const statistics_job *job = s->job;
    int64_t count = statistics_seen(job, i, key, job->n - key < KEYS ? job->n - key : KEYS);
    double off = row_bound(s, i);
    float least, greatest;
    if (count == 0 || too_many(s))
        return;
    finish_row(s, i, key, count, x, &least, &greatest);
    if (!((double)greatest + off >= s->high || (double)least - off <= s->low))
        return;
    if (off == 0 && key == 0)
        take_logit(s, i, 0, best);
    for (int64_t j = 0; off > 0 && j < count; j++)
        if ((double)x[j] + off >= s->high || (double)x[j] - off <= s->low)
            take_logit(s, i, key + j, best);
}

static szg_status search_rows(szg_context *context, single_job *s, int64_t rows, const int64_t *row,
                              float *q) {
    float x[ROWS * KEYS] __attribute__((aligned(64)));
    statistics_query best[ROWS];
    for (int64_t i = 0; i < rows; i++) {
        best[i] = (statistics_query){.largest = -INFINITY, .smallest = INFINITY};
        pack_query(s, row[i], q + i * s->job->factored->d);
    }
    for (int64_t key = 0; key < end_of(s->job, row[rows - 1], 1) && !too_many(s); key += KEYS) {
        SZG_TRY(szgi_context_check_cancel(context));
        fill(s, q, key, x);
        for (int64_t i = 0; i < rows; i++)
            search_row(s, row[i], key, x + i * KEYS, &best[i]);
    }
    for (int64_t i = 0; i < rows; i++) {
        statistics_query *to = &s->job->query[row[i]];
        to->largest = best[i].largest;
        to->largest_key = best[i].largest_key;
        to->smallest = best[i].smallest;
        to->smallest_key = best[i].smallest_key;
    }
    return SZG_OK;
}

static szg_status search_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    single_job *s = data;
    int64_t first = block * ROWS, rows = s->rows - first < ROWS ? s->rows - first : ROWS;
    float *q;
    SZG_TRY(szgi_memory_alloc(context, ROWS * s->job->factored->d, &q));
    szg_status status = search_rows(context, s, rows, s->row + first, q);
    szgi_memory_free(q);
    return status;
}

/* Queries that cannot have an extreme logit lose theirs, which is not one of double precision. */
static szg_status find_extremes(szg_context *context, single_job *s) {
    double pairs = (double)s->job->n * (double)s->job->n / (s->job->causal ? 2 : 1);
    SZG_TRY(find_rows(context, s));
    for (int64_t i = 0, at = 0; i < s->job->n; i++)
        if (at < s->rows && s->row[at] == i) {
            at++;
        } else {
            s->job->query[i].largest = -INFINITY;
            s->job->query[i].smallest = INFINITY;
        }
    atomic_init(&s->left, (long long)(pairs / AGAIN) + AGAIN_QUERY * s->job->n);
    return szgi_pool_run(context, (s->rows + ROWS - 1) / ROWS, search_block, s);
}

/* ---- Together ---- */

static szg_status run(szg_context *context, single_job *s) {
    SZG_TRY(pack(context, s));
    SZG_TRY(szgi_pool_run(context, (s->job->n + QUERIES - 1) / QUERIES, run_block, s));
    return find_extremes(context, s);
}

szg_status szgi_statistics_single(szg_context *context, statistics_job *job, bool *taken,
                                  double *error) {
    single_job s = {.job = job, .kernels = szgi_softmax_of(szgi_cpu_level_best())};
    *taken = false;
    if (!job->factored || job->options.exact || job->n < SMALLEST)
        return SZG_OK;
    find_bound(&s);
    if (!suits(&s))
        return SZG_OK;
    szg_status status = run(context, &s);
    *taken = status == SZG_OK && !too_many(&s);
    *error = bound(&s, job->a_norm);
    szgi_memory_free(s.keys);
    szgi_memory_free(s.bias);
    szgi_memory_free(s.row);
    return status;
}
