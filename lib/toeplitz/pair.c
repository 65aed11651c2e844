/* A long real Toeplitz product by transforms of about length n that run side by side, in place of
 * those of length 2 n: T = (C + S) / 2 with the circulant C of a_k + a_{k-m} and the skew-circulant
 * S of a_k - a_{k-m}, k = 0 .. m - 1, m >= n (Pustylnikov 1980). Both take two complex transforms
 * of length m / 2 (packed.h). A product reads and writes some 110 m bytes between transforms; the
 * last of these passes is shared by all threads. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "toeplitz/packed.h"

/* From here on two threads are worth their waking. And the numbers of one piece of y: a fixed
 * number, which the threads take one after the other. */
enum { SIZE_MIN = 1 << 15, PIECE = 1 << 16 };

/* What one product works with. */
typedef struct pair_work {
    double *vector;                  /* of C, m numbers */
    szg_c64 *values;                 /* its transform, m / 2 + 1 */
    szg_c64 *folded, *folded_values; /* of S, m / 2 each */
} pair_work;

struct szgi_pair {
    szgi_packed packed;         /* of length m */
    szg_c64 *circulant, *skew;  /* transforms of C / m and of S / m: m / 2 + 1 and m / 2 */
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
    szgi_packed_close(&self->packed);
    szgi_memory_free(self->circulant);
    szgi_memory_free(self->skew);
    szgi_memory_free(self);
    *pair = NULL;
}

/* Number k of the first column of C or S, over m. */
static double entry(const szg_toeplitz *t, int64_t length, int64_t k, bool skew, bool causal) {
    double here = k <= t->degree ? szgi_toeplitz_real_at(t, k) : 0;
    int64_t lag = k - length;
    double wrapped = !causal && k > 0 && -lag <= t->degree ? szgi_toeplitz_real_at(t, lag) : 0;
    return (skew ? here - wrapped : here + wrapped) / (double)length;
}

static szg_status fill(szg_context *context, const szg_toeplitz *t, bool causal, szgi_pair *self) {
    double *column;
    szg_c64 *folded;
    int64_t m = self->packed.length, h = self->packed.half;
    SZG_TRY(szgi_memory_alloc(context, 2 * m, &column));
    folded = (szg_c64 *)(column + m);
    for (int64_t k = 0; k < m; k++)
        column[k] = entry(t, m, k, false, causal);
    szg_status status = szgi_memory_alloc(context, h + 1, &self->circulant);
    if (status == SZG_OK)
        status = szgi_transform_once(context, SZGI_FFT_REAL, m, column, self->circulant);
    for (int64_t k = 0; k < m; k++)
        column[k] = entry(t, m, k, true, causal);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, h, &self->skew);
    if (status == SZG_OK) {
        szgi_packed_fold(&self->packed, m, column, folded);
        status = szgi_fft_run(context, self->packed.forward, folded, self->skew);
    }
    szgi_memory_free(column);
    return status;
}

szg_status szgi_pair_open(szg_context *context, const szg_toeplitz *t, bool causal,
                          szgi_pair **out) {
    szgi_pair *self;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    szg_status status = szgi_packed_open(context, szgi_fft_fast_length(t->n), &self->packed);
    if (status == SZG_OK)
        status = fill(context, t, causal, self);
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
        status = szgi_memory_alloc(context, length / 2, &work->values);
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
    bool add;
    int64_t n;
    const double *x;
    double *y;
} pair_job;

/* The packed product with C in `vector`. */
static szg_status run_circulant(szg_context *context, const pair_job *job) {
    const pair_work *work = job->work;
    const szgi_packed *packed = &job->pair->packed;
    const double *x = job->x;
    if (job->n < packed->length) {
        memcpy(work->vector, x, (size_t)job->n * sizeof *x);
        memset(work->vector + job->n, 0, (size_t)(packed->length - job->n) * sizeof *x);
        x = work->vector;
    }
    SZG_TRY(szgi_fft_run(context, packed->forward, x, work->values));
    szgi_packed_scale(packed, job->pair->circulant, job->op, 0, 1, work->values, work->values);
    return szgi_fft_run(context, packed->backward, work->values, work->vector);
}

/* The folded product with S in `folded`. */
static szg_status run_skew(szg_context *context, const pair_job *job) {
    const pair_work *work = job->work;
    const szgi_packed *packed = &job->pair->packed;
    szgi_packed_fold(packed, job->n, job->x, work->folded); /* m / 2 < n */
    SZG_TRY(szgi_fft_run(context, packed->forward, work->folded, work->folded_values));
    szgi_packed_multiply(packed, job->pair->skew, job->op, work->folded_values);
    return szgi_fft_run(context, packed->backward, work->folded_values, work->folded);
}

static szg_status run_block(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    return block == 0 ? run_circulant(context, argument) : run_skew(context, argument);
}

static szg_status combine_piece(szg_context *context, void *argument, int64_t piece, int worker) {
    (void)context, (void)worker;
    const pair_job *job = argument;
    const szgi_packed *packed = &job->pair->packed;
    const double *vector = job->work->vector;
    int64_t h = packed->half, first = piece * PIECE, end = first + PIECE < h ? first + PIECE : h;
    double *y = job->y;
    for (int64_t k = first; k < end; k++) {
        szg_c64 value = szgi_packed_unfold(packed, job->work->folded, k);
        y[k] = (job->add ? y[k] : 0) + (vector[k] + value.re);
        if (k + h < job->n)
            y[k + h] = (job->add ? y[k + h] : 0) + (vector[k + h] + value.im);
    }
    return SZG_OK;
}

szg_status szgi_pair_run(szg_context *context, szgi_pair *pair, char op, int64_t n, const double *x,
                         double *y, bool add) {
    pair_work *work = atomic_exchange(&pair->spare, NULL);
    if (!work)
        SZG_TRY(open_work(context, pair->packed.length, &work));
    pair_job job = {.pair = pair, .work = work, .op = op, .add = add, .n = n, .x = x, .y = y};
    szg_status status = szgi_pool_run(context, 2, run_block, &job);
    if (status == SZG_OK)
        status = szgi_pool_run(context, (pair->packed.half - 1) / PIECE + 1, combine_piece, &job);
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
    int64_t h = pair->packed.half;
    double least, largest;
    ends(h + 1, pair->circulant, (double)h, lo, hi); /* halves of C and S */
    ends(h, pair->skew, (double)h, &least, &largest);
    *lo += least;
    *hi += largest;
}
