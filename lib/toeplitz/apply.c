/* Products op(T) x: a narrow band directly, others by embedding T in a circulant. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/pool.h"
#include "toeplitz_private.h"

enum {
    DIRECT_BAND = 32, /* coefficients up to which n of them cost less than two transforms */
    DIRECT_SIZE = 32,
    BLOCK_WORK = 1 << 15 /* numbers transformed by one block of the pool, about */
};

bool szgi_toeplitz_is_direct(const szg_toeplitz *t) {
    return 2 * t->degree + 1 <= DIRECT_BAND || t->n <= DIRECT_SIZE;
}

/* Length n + degree keeps what wraps around out of the first n entries. */
static szg_status embed_real(szg_context *context, const szg_toeplitz *t, bool causal,
                             szgi_circulant *out) {
    int64_t length = szgi_fft_fast_length(t->n + t->degree);
    double *column;
    SZG_TRY(szgi_memory_alloc(context, length, &column));
    for (int64_t lag = causal ? 0 : -t->degree; lag <= t->degree; lag++)
        column[lag < 0 ? length + lag : lag] = szgi_toeplitz_real_at(t, lag);
    szg_status status = szgi_circulant_open_real(context, length, column, out);
    szgi_memory_free(column);
    return status;
}

static szg_status embed_complex(szg_context *context, const szg_toeplitz *t, szgi_circulant *out) {
    int64_t length = szgi_fft_fast_length(t->n + t->degree);
    szg_c64 *column;
    SZG_TRY(szgi_memory_alloc(context, length, &column));
    for (int64_t lag = -t->degree; lag <= t->degree; lag++)
        column[lag < 0 ? length + lag : lag] = t->complex[lag + t->degree];
    szg_status status = szgi_circulant_open_complex(context, length, column, out);
    szgi_memory_free(column);
    return status;
}

szg_status szgi_toeplitz_embedding(szg_context *context, const szg_toeplitz *t, bool causal,
                                   const szgi_circulant **out) {
    szg_toeplitz *owner = (szg_toeplitz *)t;
    szgi_circulant *circulant = causal ? &owner->causal : &owner->full;
    szg_status status = SZG_OK;
    pthread_mutex_lock(&owner->lock);
    if (!circulant->spectrum)
        status = t->real ? embed_real(context, t, causal, circulant)
                         : embed_complex(context, t, circulant);
    pthread_mutex_unlock(&owner->lock);
    *out = circulant;
    return status;
}

szg_status szgi_toeplitz_pair(szg_context *context, const szg_toeplitz *t, bool causal,
                              szgi_pair **out) {
    szg_toeplitz *owner = (szg_toeplitz *)t;
    szgi_pair **pair = causal ? &owner->causal_pair : &owner->pair;
    szg_status status = SZG_OK;
    pthread_mutex_lock(&owner->lock);
    if (!*pair)
        status = szgi_pair_open(context, t, causal, pair);
    pthread_mutex_unlock(&owner->lock);
    *out = *pair;
    return status;
}

/* A pair of circulants has three vectors and four more at work. An embedding has one of length
 * n + degree and two more at work, complex ones of a complex matrix. */
int64_t szgi_toeplitz_vectors(const szg_toeplitz *t) {
    if (szgi_toeplitz_is_direct(t))
        return 0;
    if (szgi_pair_serves(t))
        return 7;
    return ((t->real ? 3 : 6) * (t->n + t->degree) - 1) / t->n + 1;
}

typedef struct apply_job {
    const szg_toeplitz *t;
    const szgi_circulant *circulant; /* NULL: directly */
    szgi_pair *pair;                 /* NULL: not by one */
    bool is_complex, causal, add;    /* the last two only where real */
    char op;
    int64_t batch, chunk, ldx, ldy;
    const void *x;
    void *y;
} apply_job;

static void direct_real(const apply_job *job, const double *x, double *y) {
    const szg_toeplitz *t = job->t;
    int64_t sign = job->op == 'n' ? 1 : -1;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t first = i > t->degree ? i - t->degree : 0;
        int64_t last = t->n - 1 - i > t->degree ? i + t->degree : t->n - 1;
        if (job->causal && sign > 0)
            last = i;
        if (job->causal && sign < 0)
            first = i;
        double sum = 0;
        for (int64_t j = first; j <= last; j++)
            sum += szgi_toeplitz_real_at(t, sign * (i - j)) * x[j];
        y[i] = job->add ? y[i] + sum : sum;
    }
}

static void direct_complex(const apply_job *job, const szg_c64 *x, szg_c64 *y) {
    const szg_toeplitz *t = job->t;
    int64_t sign = job->op == 'n' ? 1 : -1;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t first = i > t->degree ? i - t->degree : 0;
        int64_t last = t->n - 1 - i > t->degree ? i + t->degree : t->n - 1;
        szg_c64 sum = {0, 0};
        for (int64_t j = first; j <= last; j++) {
            szg_c64 a = szg_toeplitz_at(t, sign * (i - j));
            a.im = job->op == 'c' ? -a.im : a.im;
            sum.re += a.re * x[j].re - a.im * x[j].im;
            sum.im += a.re * x[j].im + a.im * x[j].re;
        }
        y[i] = sum;
    }
}

static szg_status apply_vector(szg_context *context, const apply_job *job,
                               szgi_circulant_work *work, int64_t index) {
    int64_t n = job->t->n;
    if (job->is_complex) {
        const szg_c64 *x = (const szg_c64 *)job->x + index * job->ldx;
        szg_c64 *y = (szg_c64 *)job->y + index * job->ldy;
        if (job->circulant)
            return szgi_circulant_run_complex(context, job->circulant, work, job->op, n, x, y);
        direct_complex(job, x, y);
    } else {
        const double *x = (const double *)job->x + index * job->ldx;
        double *y = (double *)job->y + index * job->ldy;
        if (job->pair)
            return szgi_pair_run(context, job->pair, job->op, n, x, y, job->add);
        if (job->circulant)
            return szgi_circulant_run(context, job->circulant, work, job->op, n, x, y, job->add);
        direct_real(job, x, y);
    }
    return SZG_OK;
}

static szg_status apply_block(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    const apply_job *job = argument;
    int64_t end = (block + 1) * job->chunk < job->batch ? (block + 1) * job->chunk : job->batch;
    szgi_circulant_work work = {0};
    szg_status status = SZG_OK;
    if (job->circulant)
        status = szgi_circulant_work_open(context, job->circulant->length, job->is_complex, &work);
    for (int64_t b = block * job->chunk; status == SZG_OK && b < end; b++)
        status = apply_vector(context, job, &work, b);
    szgi_circulant_work_close(&work);
    return status;
}

static szg_status run(szg_context *context, apply_job *job) {
    if (job->batch == 0)
        return SZG_OK;
    if (!job->is_complex && szgi_pair_serves(job->t)) {
        SZG_TRY(szgi_toeplitz_pair(context, job->t, job->causal, &job->pair));
        if (job->batch == 1) /* outside the pool, so that both halves run side by side */
            return apply_vector(context, job, NULL, 0);
    } else if (!szgi_toeplitz_is_direct(job->t)) {
        SZG_TRY(szgi_toeplitz_embedding(context, job->t, job->causal, &job->circulant));
    }
    job->chunk = job->t->n > BLOCK_WORK ? 1 : BLOCK_WORK / job->t->n;
    return szgi_pool_run(context, (job->batch - 1) / job->chunk + 1, apply_block, job);
}

szg_status szgi_toeplitz_check_vectors(szg_context *context, int64_t n, char op, int64_t batch,
                                       int64_t ldx, int64_t ldy) {
    if (op != 'n' && op != 't' && op != 'c')
        return szgi_fail(context, SZG_EINVAL, "product: operation '%c' is not one of n, t, c", op);
    if (batch < 0)
        return szgi_fail(context, SZG_EINVAL, "product: a batch of %" PRId64 " is negative", batch);
    if (ldx < n || ldy < n)
        return szgi_fail(context, SZG_EINVAL,
                         "product: vectors of length %" PRId64 " overlap at strides %" PRId64
                         " and %" PRId64,
                         n, ldx, ldy);
    return SZG_OK;
}

szg_status szgi_toeplitz_multiply(szg_context *context, const szg_toeplitz *t, bool causal, char op,
                                  int64_t batch, const double *x, int64_t ldx, double *y,
                                  int64_t ldy, bool add) {
    apply_job job = {.t = t,
                     .causal = causal,
                     .add = add,
                     .op = op,
                     .batch = batch,
                     .ldx = ldx,
                     .ldy = ldy,
                     .x = x,
                     .y = y};
    return run(context, &job);
}

szg_status szg_toeplitz_apply(szg_context *context, const szg_toeplitz *t, char op, int64_t batch,
                              const double *x, int64_t ldx, double *y, int64_t ldy) {
    SZGI_ENTER(context);
    if (!t->real)
        return szgi_fail(
            context, SZG_EINVAL,
            "product: the matrix is complex, and the vectors are real: open a real matrix "
            "(szg_toeplitz_open_symmetric, szg_toeplitz_open_real)");
    SZG_TRY(szgi_toeplitz_check_vectors(context, t->n, op, batch, ldx, ldy));
    return szgi_toeplitz_multiply(context, t, false, op, batch, x, ldx, y, ldy, false);
}

szg_status szgi_toeplitz_apply_complex(szg_context *context, const szg_toeplitz *t, char op,
                                       int64_t batch, const szg_c64 *x, int64_t ldx, szg_c64 *y,
                                       int64_t ldy) {
    SZG_TRY(szgi_toeplitz_check_vectors(context, t->n, op, batch, ldx, ldy));
    apply_job job = {.t = t,
                     .is_complex = true,
                     .op = op,
                     .batch = batch,
                     .ldx = ldx,
                     .ldy = ldy,
                     .x = x,
                     .y = y};
    return run(context, &job);
}
