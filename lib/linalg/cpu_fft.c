/* Transforms by FFTW. Planning is not thread-safe and not cheap: one cache of plans a process,
 * under a mutex. FFTW_ESTIMATE, so that the same plan comes out of every run. */
#include <fftw3.h>
#include <pthread.h>

#include "base/fork.h"
#include "base/memory.h"
#include "cpu.h"

enum { IDLE_MAX = 32 }; /* plans that nobody holds and that stay for the next who asks */

typedef struct plan_entry {
    struct plan_entry *next;
    szgi_fft_kind kind;
    int64_t n, batch;
    int64_t users;
    fftw_plan aligned, unaligned; /* unaligned: made when first needed */
} plan_entry;

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;
SZGI_HELD_OVER_FORK(planner)
static plan_entry *plans; /* latest released first; guarded by planner */

const char *szg_backend_fft(void) {
    return fftw_version;
}

static const fftw_r2r_kind cosine_kind[SZGI_FFT_KINDS] = {
    [SZGI_FFT_COSINE_2] = FFTW_REDFT10,
    [SZGI_FFT_COSINE_3] = FFTW_REDFT01,
    [SZGI_FFT_COSINE_4] = FFTW_REDFT11,
};

/* Stand-ins for the arrays: FFTW_ESTIMATE looks at their alignment and does not touch them. */
static _Alignas(64) double stand_in[2][8];

static fftw_plan make_plan(const plan_entry *entry, unsigned alignment) {
    void *in = stand_in[0], *out = stand_in[1];
    int64_t n = entry->n, half = n / 2 + 1;
    unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT | alignment;
    fftw_iodim64 length = {n, 1, 1}, batch = {entry->batch, n, n};
    switch (entry->kind) {
    case SZGI_FFT_FORWARD:
    case SZGI_FFT_BACKWARD:
        return fftw_plan_guru64_dft(1, &length, 1, &batch, in, out,
                                    entry->kind == SZGI_FFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD,
                                    flags);
    case SZGI_FFT_REAL:
        batch.os = half;
        return fftw_plan_guru64_dft_r2c(1, &length, 1, &batch, in, out, flags);
    case SZGI_FFT_REAL_BACKWARD:
        batch.is = half;
        return fftw_plan_guru64_dft_c2r(1, &length, 1, &batch, in, out, flags);
    default:
        return fftw_plan_guru64_r2r(1, &length, 1, &batch, in, out, &cosine_kind[entry->kind],
                                    flags);
    }
}

static bool has_small_factors(int64_t n) {
    for (int64_t factor = 2; factor <= 7; factor++)
        while (n % factor == 0)
            n /= factor;
    return n == 1;
}

static szg_status plan_aligned(szg_context *context, plan_entry *entry) {
    /* FFTW ends the process where malloc fails, so its tables and buffers are asked for first: of
     * lengths with small factors 1.05 complex arrays were seen at most, of a prime 6.1. */
    int64_t arrays = has_small_factors(entry->n) ? 2 : 7;
    SZG_TRY(szgi_memory_require(context, entry->n, arrays, sizeof(szg_c64), "a Fourier transform",
                                "take a smaller size"));
    entry->aligned = make_plan(entry, 0);
    if (entry->aligned)
        return SZG_OK;
    return szgi_fail(context, SZG_EINTERNAL, "FFTW made no plan for length %lld, batch %lld",
                     (long long)entry->n, (long long)entry->batch);
}

static void destroy(plan_entry *entry) {
    fftw_destroy_plan(entry->aligned);
    if (entry->unaligned)
        fftw_destroy_plan(entry->unaligned);
    szgi_memory_free(entry);
}

static plan_entry *find(szgi_fft_kind kind, int64_t n, int64_t batch) {
    plan_entry *entry = plans;
    while (entry && (entry->kind != kind || entry->n != n || entry->batch != batch))
        entry = entry->next;
    return entry;
}

static szg_status add(szg_context *context, szgi_fft_kind kind, int64_t n, int64_t batch,
                      plan_entry **out) {
    plan_entry *entry;
    SZG_TRY(szgi_memory_alloc(context, 1, &entry));
    *entry = (plan_entry){.next = plans, .kind = kind, .n = n, .batch = batch};
    szg_status status = plan_aligned(context, entry);
    if (status != SZG_OK) {
        szgi_memory_free(entry);
        return status;
    }
    *out = plans = entry;
    return SZG_OK;
}

szg_status szgi_cpu_fft_open(szg_context *context, szgi_fft_kind kind, int64_t n, int64_t batch,
                             void **plan) {
    szg_status status = SZG_OK;
    pthread_mutex_lock(&planner);
    plan_entry *entry = find(kind, n, batch);
    if (!entry)
        status = add(context, kind, n, batch, &entry);
    if (status == SZG_OK) {
        entry->users++;
        *plan = entry;
    }
    pthread_mutex_unlock(&planner);
    return status;
}

/* Moves the entry to the front and drops idle ones beyond IDLE_MAX from the end of the list. */
static void release(plan_entry *entry) {
    plan_entry **at = &plans;
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entry->next = plans;
    plans = entry;
    int idle = 0;
    for (at = &plans; *at;) {
        plan_entry *here = *at;
        if (here->users > 0 || ++idle <= IDLE_MAX) {
            at = &here->next;
            continue;
        }
        *at = here->next;
        destroy(here);
    }
}

void szgi_cpu_fft_close(void *plan) {
    plan_entry *entry = plan;
    pthread_mutex_lock(&planner);
    if (--entry->users == 0)
        release(entry);
    pthread_mutex_unlock(&planner);
}

static fftw_plan unaligned_plan(plan_entry *entry) {
    pthread_mutex_lock(&planner);
    if (!entry->unaligned)
        entry->unaligned = make_plan(entry, FFTW_UNALIGNED);
    fftw_plan plan = entry->unaligned;
    pthread_mutex_unlock(&planner);
    return plan;
}

szg_status szgi_cpu_fft_run(szg_context *context, const void *plan, const void *in, void *out) {
    plan_entry *entry = (plan_entry *)plan;
    void *from = (void *)in; /* FFTW_PRESERVE_INPUT */
    bool aligned = ((uintptr_t)in | (uintptr_t)out) % 16 == 0;
    fftw_plan ready = aligned ? entry->aligned : unaligned_plan(entry);
    if (!ready)
        return szgi_fail(context, SZG_EINTERNAL, "FFTW made no plan for unaligned arrays");
    switch (entry->kind) {
    case SZGI_FFT_FORWARD:
    case SZGI_FFT_BACKWARD:
        fftw_execute_dft(ready, from, out);
        break;
    case SZGI_FFT_REAL:
        fftw_execute_dft_r2c(ready, from, out);
        break;
    case SZGI_FFT_REAL_BACKWARD:
        fftw_execute_dft_c2r(ready, from, out);
        break;
    default:
        fftw_execute_r2r(ready, from, out);
    }
    return SZG_OK;
}
