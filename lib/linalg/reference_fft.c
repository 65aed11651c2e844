/* The transforms by their definitions. */
#include <math.h>

#include "base/memory.h"
#include "reference.h"

typedef struct plain_transform {
    szgi_fft_kind kind;
    int64_t n, batch;
    int64_t period; /* roots[r] = e^{2 pi i r / period} */
    szg_c64 *roots;
} plain_transform;

szg_status szgi_reference_fft_open(szg_context *context, szgi_fft_kind kind, int64_t n,
                                   int64_t batch, void **out) {
    plain_transform *plan;
    SZG_TRY(szgi_memory_alloc(context, 1, &plan));
    int64_t factor = kind == SZGI_FFT_COSINE_4 ? 8 : kind >= SZGI_FFT_COSINE_2 ? 4 : 1;
    *plan = (plain_transform){.kind = kind, .n = n, .batch = batch, .period = factor * n};
    szg_status status = szgi_memory_alloc(context, plan->period, &plan->roots);
    if (status != SZG_OK) {
        szgi_memory_free(plan);
        return status;
    }
    for (int64_t r = 0; r < plan->period; r++) {
        double angle = 2 * M_PI * (double)r / (double)plan->period;
        plan->roots[r] = (szg_c64){cos(angle), sin(angle)};
    }
    *out = plan;
    return SZG_OK;
}

void szgi_reference_fft_close(void *argument) {
    plain_transform *plan = argument;
    szgi_memory_free(plan->roots);
    szgi_memory_free(plan);
}

/* sum_k x_k e^{sign 2 pi i jk / n} over `count` complex numbers */
static szg_c64 fourier_sum(const plain_transform *plan, const szg_c64 *x, int64_t j, double sign) {
    szg_c64 sum = {0, 0};
    for (int64_t k = 0; k < plan->n; k++) {
        szg_c64 root = plan->roots[j * k % plan->period];
        root.im *= sign;
        sum.re += x[k].re * root.re - x[k].im * root.im;
        sum.im += x[k].re * root.im + x[k].im * root.re;
    }
    return sum;
}

static szg_c64 real_sum(const plain_transform *plan, const double *x, int64_t j) {
    szg_c64 sum = {0, 0};
    for (int64_t k = 0; k < plan->n; k++) {
        szg_c64 root = plan->roots[j * k % plan->period];
        sum.re += x[k] * root.re;
        sum.im -= x[k] * root.im;
    }
    return sum;
}

/* The second half of the Hermitian sequence is the conjugate of the first. */
static double hermitian_sum(const plain_transform *plan, const szg_c64 *x, int64_t j) {
    double sum = x[0].re;
    for (int64_t k = 1; k <= (plan->n - 1) / 2; k++) {
        szg_c64 root = plan->roots[j * k % plan->period];
        sum += 2 * (x[k].re * root.re - x[k].im * root.im);
    }
    if (plan->n % 2 == 0)
        sum += (j % 2 ? -1 : 1) * x[plan->n / 2].re;
    return sum;
}

static double cosine_sum(const plain_transform *plan, const double *x, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < plan->n; k++) {
        int64_t turn = plan->kind == SZGI_FFT_COSINE_2   ? j * (2 * k + 1)
                       : plan->kind == SZGI_FFT_COSINE_3 ? (2 * j + 1) * k
                                                         : (2 * j + 1) * (2 * k + 1);
        double weight = plan->kind == SZGI_FFT_COSINE_3 && k == 0 ? 1 : 2;
        sum += weight * x[k] * plan->roots[turn % plan->period].re;
    }
    return sum;
}

static void transform(const plain_transform *plan, int64_t row, const void *in, void *out) {
    int64_t n = plan->n, half = n / 2 + 1;
    for (int64_t j = 0; j < n; j++)
        switch (plan->kind) {
        case SZGI_FFT_FORWARD:
        case SZGI_FFT_BACKWARD:
            ((szg_c64 *)out)[row * n + j] = fourier_sum(plan, (const szg_c64 *)in + row * n, j,
                                                        plan->kind == SZGI_FFT_FORWARD ? -1 : 1);
            break;
        case SZGI_FFT_REAL:
            if (j < half)
                ((szg_c64 *)out)[row * half + j] = real_sum(plan, (const double *)in + row * n, j);
            break;
        case SZGI_FFT_REAL_BACKWARD:
            ((double *)out)[row * n + j] = hermitian_sum(plan, (const szg_c64 *)in + row * half, j);
            break;
        default:
            ((double *)out)[row * n + j] = cosine_sum(plan, (const double *)in + row * n, j);
        }
}

szg_status szgi_reference_fft_run(szg_context *context, const void *plan, const void *in,
                                  void *out) {
    const plain_transform *plain = plan;
    for (int64_t row = 0; row < plain->batch; row++) {
        SZG_TRY(szgi_context_check_cancel(context));
        transform(plain, row, in, out);
    }
    return SZG_OK;
}
