/* A long real Toeplitz product by two transforms of about length n that run side by side, in place
 * of one of length 2 n: T = (C + S) / 2 with the circulant C of a_k + a_{k-m} and the
 * skew-circulant S of a_k - a_{k-m}, k = 0 .. m - 1, m >= n (Pustylnikov 1980). S multiplies modulo
 * z^m + 1. Of a real vector that is a cyclic product of half the length: with h = m / 2 the numbers
 * (x_k + i x_{k+h}) e^{i pi k / m}, k < h, have a polynomial whose values at the h-th roots of
 * unity are those of x at h roots of z^m + 1; the other roots are their conjugates. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "toeplitz_private.h"

/* From here on two threads are worth their waking. */
enum { SIZE_MIN = 1 << 15 };

/* What one product works with. */
typedef struct pair_work {
    double *vector;                  /* of C, m numbers */
    szg_c64 *values;                 /* its transform, m / 2 + 1 */
    szg_c64 *folded, *folded_values; /* of S, m / 2 each */
} pair_work;

struct szgi_pair {
    int64_t length;            /* m, even */
    szg_c64 *circulant, *skew; /* transforms of C / 2m and of S / m: m / 2 + 1 and m / 2 */
    szg_c64 *turn;             /* e^{i pi k / m}, k < m / 2 */
    szgi_fft *forward, *backward, *skew_forward, *skew_backward;
    _Atomic(pair_work *) spare; /* kept from one product for the next */
};

bool szgi_pair_serves(const szg_toeplitz *t) {
    return t->real && t->n >= SIZE_MIN && t->degree >= t->n / 2;
}

/* ---- Opening ---- */

static void close_work(pair_work *work) {
    if (!work)
        return;
    szgi_memory_free(work->vector);
    szgi_memory_free(work->values);
    szgi_memory_free(work->folded);
    szgi_memory_free(work->folded_values);
    szgi_memory_free(work);
}

void szgi_pair_close(szgi_pair **pair) {
    szgi_pair *self = *pair;
    if (!self)
        return;
    close_work(atomic_load(&self->spare));
    szgi_fft_close(&self->forward);
    szgi_fft_close(&self->backward);
    szgi_fft_close(&self->skew_forward);
    szgi_fft_close(&self->skew_backward);
    szgi_memory_free(self->circulant);
    szgi_memory_free(self->skew);
    szgi_memory_free(self->turn);
    szgi_memory_free(self);
    *pair = NULL;
}

static szg_status open_plans(szg_context *context, szgi_pair *self) {
    int64_t m = self->length, h = m / 2;
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_REAL, m, 1, &self->forward));
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_REAL_BACKWARD, m, 1, &self->backward));
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_FORWARD, h, 1, &self->skew_forward));
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_BACKWARD, h, 1, &self->skew_backward));
    SZG_TRY(szgi_memory_alloc(context, h + 1, &self->circulant));
    SZG_TRY(szgi_memory_alloc(context, h, &self->skew));
    return szgi_memory_alloc(context, h, &self->turn);
}

static void fill_turns(szgi_pair *self) {
    for (int64_t k = 0; k < self->length / 2; k++) {
        double angle = M_PI * (double)k / (double)self->length;
        self->turn[k] = (szg_c64){cos(angle), sin(angle)};
    }
}

/* Number k of the first column of C or S, over twice the length, times `scale`. */
static double entry(const szg_toeplitz *t, const szgi_pair *self, int64_t k, bool skew,
                    bool causal) {
    double here = k <= t->degree ? szgi_toeplitz_real_at(t, k) : 0;
    int64_t lag = k - self->length;
    double wrapped = !causal && k > 0 && -lag <= t->degree ? szgi_toeplitz_real_at(t, lag) : 0;
    return (skew ? here - wrapped : here + wrapped) / (2 * (double)self->length);
}

static szg_status fill_circulant(szg_context *context, const szg_toeplitz *t, bool causal,
                                 szgi_pair *self) {
    double *column;
    SZG_TRY(szgi_memory_alloc(context, self->length, &column));
    for (int64_t k = 0; k < self->length; k++)
        column[k] = entry(t, self, k, false, causal);
    szg_status status = szgi_fft_run(context, self->forward, column, self->circulant);
    szgi_memory_free(column);
    return status;
}

static szg_status fill_skew(szg_context *context, const szg_toeplitz *t, bool causal,
                            szgi_pair *self) {
    szg_c64 *column;
    int64_t h = self->length / 2;
    SZG_TRY(szgi_memory_alloc(context, h, &column));
    for (int64_t k = 0; k < h; k++) { /* the backward transform of h values multiplies by m / 2 */
        const szg_c64 both = {2 * entry(t, self, k, true, causal),
                              2 * entry(t, self, k + h, true, causal)};
        column[k] = szgi_multiply(both, self->turn[k]);
    }
    szg_status status = szgi_fft_run(context, self->skew_forward, column, self->skew);
    szgi_memory_free(column);
    return status;
}

szg_status szgi_pair_open(szg_context *context, const szg_toeplitz *t, bool causal,
                          szgi_pair **out) {
    szgi_pair *self;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    self->length = szgi_fft_fast_length(t->n);
    szg_status status = open_plans(context, self);
    if (status == SZG_OK) {
        fill_turns(self);
        status = fill_circulant(context, t, causal, self);
    }
    if (status == SZG_OK)
        status = fill_skew(context, t, causal, self);
    if (status != SZG_OK)
        szgi_pair_close(&self);
    *out = self;
    return status;
}

/* ---- Products ---- */

static szg_status open_work(szg_context *context, int64_t length, pair_work **out) {
    pair_work *work;
    SZG_TRY(szgi_memory_alloc(context, 1, &work));
    szg_status status = szgi_memory_alloc(context, length, &work->vector);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, length / 2 + 1, &work->values);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, length / 2, &work->folded);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, length / 2, &work->folded_values);
    if (status != SZG_OK) {
        close_work(work);
        work = NULL;
    }
    *out = work;
    return status;
}

typedef struct pair_job {
    const szgi_pair *pair;
    const pair_work *work;
    char op;
    int64_t n;
    const double *x;
} pair_job;

static void scale(int64_t count, const szg_c64 *by, char op, szg_c64 *values) {
    for (int64_t j = 0; j < count; j++)
        values[j] = szgi_multiply(values[j], op == 'n' ? by[j] : szgi_conjugate(by[j]));
}

static szg_status run_circulant(szg_context *context, const pair_job *job) {
    const pair_work *work = job->work;
    const szgi_pair *pair = job->pair;
    memcpy(work->vector, job->x, (size_t)job->n * sizeof *job->x);
    memset(work->vector + job->n, 0, (size_t)(pair->length - job->n) * sizeof *work->vector);
    SZG_TRY(szgi_fft_run(context, pair->forward, work->vector, work->values));
    scale(pair->length / 2 + 1, pair->circulant, job->op, work->values);
    return szgi_fft_run(context, pair->backward, work->values, work->vector);
}

static szg_status run_skew(szg_context *context, const pair_job *job) {
    const pair_work *work = job->work;
    const szgi_pair *pair = job->pair;
    int64_t h = pair->length / 2;
    for (int64_t k = 0; k < h; k++) { /* h < n <= 2 h */
        const szg_c64 both = {job->x[k], k + h < job->n ? job->x[k + h] : 0};
        work->folded[k] = szgi_multiply(both, pair->turn[k]);
    }
    SZG_TRY(szgi_fft_run(context, pair->skew_forward, work->folded, work->folded_values));
    scale(h, pair->skew, job->op, work->folded_values);
    SZG_TRY(szgi_fft_run(context, pair->skew_backward, work->folded_values, work->folded));
    for (int64_t k = 0; k < h; k++)
        work->folded[k] = szgi_multiply(work->folded[k], szgi_conjugate(pair->turn[k]));
    return SZG_OK;
}

static szg_status run_block(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    return block == 0 ? run_circulant(context, argument) : run_skew(context, argument);
}

static void combine(const pair_job *job, double *y, bool add) {
    int64_t h = job->pair->length / 2;
    const pair_work *work = job->work;
    for (int64_t k = 0; k < h; k++)
        y[k] = (add ? y[k] : 0) + (work->vector[k] + work->folded[k].re);
    for (int64_t k = h; k < job->n; k++)
        y[k] = (add ? y[k] : 0) + (work->vector[k] + work->folded[k - h].im);
}

szg_status szgi_pair_run(szg_context *context, szgi_pair *pair, char op, int64_t n, const double *x,
                         double *y, bool add) {
    pair_work *work = atomic_exchange(&pair->spare, NULL);
    if (!work)
        SZG_TRY(open_work(context, pair->length, &work));
    pair_job job = {.pair = pair, .work = work, .op = op, .n = n, .x = x};
    szg_status status = szgi_pool_run(context, 2, run_block, &job);
    if (status == SZG_OK)
        combine(&job, y, add);
    close_work(atomic_exchange(&pair->spare, work));
    return status;
}

static void ends(int64_t count, const szg_c64 *values, double times, double *least,
                 double *largest) {
    *least = INFINITY;
    *largest = -INFINITY;
    for (int64_t j = 0; j < count; j++) {
        *least = fmin(*least, times * values[j].re);
        *largest = fmax(*largest, times * values[j].re);
    }
}

void szgi_pair_range(const szgi_pair *pair, double *lo, double *hi) {
    double m = (double)pair->length, least, largest;
    ends(pair->length / 2 + 1, pair->circulant, m, lo, hi); /* halves of C and S */
    ends(pair->length / 2, pair->skew, m / 2, &least, &largest);
    *lo += least;
    *hi += largest;
}
