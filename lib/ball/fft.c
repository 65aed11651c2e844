#include "fft.h"

real szgi_real_of(const arf_t x) {
    arf_t rest, piece;
    arf_init(rest);
    arf_init(piece);
    arf_set(rest, x);
    real sum = 0;
    for (int i = 0; i < 3 && !arf_is_zero(rest); i++) {
        double d = arf_get_d(rest, ARF_RND_NEAR);
        sum += d;
        arf_set_d(piece, d);
        arf_sub(rest, rest, piece, ARF_PREC_EXACT, ARF_RND_DOWN);
    }
    arf_clear(rest);
    arf_clear(piece);
    return sum;
}

/* out[j] = e^{2 pi i j / denominator}, j < count. */
static void fill_roots(pair *out, int64_t count, int64_t denominator) {
    fmpq_t turn;
    acb_t z;
    fmpq_init(turn);
    acb_init(z);
    for (int64_t j = 0; j < count; j++) {
        fmpq_set_si(turn, (slong)(2 * j), (ulong)denominator);
        arb_sin_cos_pi_fmpq(acb_imagref(z), acb_realref(z), turn, LDBL_MANT_DIG + 40);
        out[j].re = szgi_real_of(arb_midref(acb_realref(z)));
        out[j].im = szgi_real_of(arb_midref(acb_imagref(z)));
    }
    fmpq_clear(turn);
    acb_clear(z);
}

static pair multiply(pair x, pair y) {
    return (pair){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* The error bounds hold for rounding to nearest with LDBL_MANT_DIG bits: another rounding mode,
 * x87's control word set to fewer bits, or an emulator with 64-bit long doubles would break them
 * silently. */
static szg_status check_rounding(szg_context *context) {
    volatile real one = 1, step = LDBL_EPSILON, half = LDBL_EPSILON / 2;
    volatile real more = 3 * half / 2;
    const real next = one + step;
    if (next > one && one + half == one && one + more == next && -one - more == -next)
        return SZG_OK;
    return szgi_fail(context, SZG_EBACKEND,
                     "long double does not round to nearest with %d bits here (rounding mode, "
                     "processor's precision control or an emulator): certified ranges need that",
                     LDBL_MANT_DIG);
}

szg_status szgi_ball_fft_open(szg_context *context, int64_t size, fft *out) {
    *out = (fft){.size = size};
    SZG_TRY(check_rounding(context));
    while ((int64_t)1 << out->log2_size < size)
        out->log2_size++;
    int64_t half = size / 2, fine = (int64_t)1 << out->log2_size / 2;
    int64_t coarse = (half + fine - 1) / fine;
    pair *table = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, half, &out->roots), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, fine + coarse, &table), done);
    fill_roots(table, fine, size);
    fill_roots(table + fine, coarse, size / fine);
    for (int64_t j = 0; j < half; j++)
        out->roots[j] = multiply(table[fine + j / fine], table[j % fine]);
done:
    szgi_memory_free(table);
    if (status != SZG_OK)
        szgi_ball_fft_close(out);
    return status;
}

void szgi_ball_fft_close(fft *plan) {
    szgi_memory_free(plan->roots);
    *plan = (fft){0};
}

int64_t szgi_ball_fft_place(const fft *plan, int64_t index) {
    uint64_t bits = (uint64_t)index, out = 0;
    for (int i = 0; i < plan->log2_size; i++, bits >>= 1)
        out = out << 1 | (bits & 1);
    return (int64_t)out;
}

static void join_halves(const fft *plan, pair *x, int64_t size) {
    int64_t half = size / 2, stride = plan->size / size;
    for (int64_t j = 0; j < half; j++) {
        pair low = x[j], high = multiply(plan->roots[j * stride], x[j + half]);
        x[j] = (pair){low.re + high.re, low.im + high.im};
        x[j + half] = (pair){low.re - high.re, low.im - high.im};
    }
}

/* Halves first, while they fit the cache; then the butterflies that join them. */
static void transform(const fft *plan, pair *x, int64_t size) {
    if (size == 1)
        return;
    transform(plan, x, size / 2);
    transform(plan, x + size / 2, size / 2);
    join_halves(plan, x, size);
}

/* The same, with a look for cancellation before each part of FFT_LOOK points and each join. */
static szg_status transform_large(szg_context *context, const fft *plan, pair *x, int64_t size) {
    if (size >= 2 * FFT_LOOK) {
        SZG_TRY(transform_large(context, plan, x, size / 2));
        SZG_TRY(transform_large(context, plan, x + size / 2, size / 2));
    }
    SZG_TRY(szgi_context_check_cancel(context));
    if (size >= 2 * FFT_LOOK)
        join_halves(plan, x, size);
    else
        transform(plan, x, size);
    return SZG_OK;
}

szg_status szgi_ball_fft_run(szg_context *context, const fft *plan, pair *x) {
    return transform_large(context, plan, x, plan->size);
}

real szgi_ball_fft_error(const fft *plan) {
    return 13 * ROUNDOFF * plan->log2_size;
}
