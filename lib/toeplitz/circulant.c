/* Circulant matrices by their eigenvalues, and the circulants nearest to a Toeplitz matrix. */
#include <string.h>

#include "base/memory.h"
#include "toeplitz_private.h"

szg_status szgi_transform_once(szg_context *context, szgi_fft_kind kind, int64_t n, const void *in,
                               void *out) {
    szgi_fft *fft;
    SZG_TRY(szgi_fft_open(context, kind, n, 1, &fft));
    szg_status status = szgi_fft_run(context, fft, in, out);
    szgi_fft_close(&fft);
    return status;
}

static szg_status open_any(szg_context *context, bool real, int64_t length, const void *column,
                           szgi_circulant *out) {
    szgi_circulant made = {.length = length, .real = real};
    int64_t count = real ? length / 2 + 1 : length;
    SZG_TRY(szgi_memory_alloc(context, count, &made.spectrum));
    szg_status status = szgi_transform_once(context, real ? SZGI_FFT_REAL : SZGI_FFT_FORWARD,
                                            length, column, made.spectrum);
    if (status != SZG_OK) {
        szgi_memory_free(made.spectrum);
        return status;
    }
    for (int64_t i = 0; i < count; i++) {
        made.spectrum[i].re /= (double)length;
        made.spectrum[i].im /= (double)length;
    }
    *out = made;
    return SZG_OK;
}

szg_status szgi_circulant_open_real(szg_context *context, int64_t length, const double *column,
                                    szgi_circulant *out) {
    return open_any(context, true, length, column, out);
}

szg_status szgi_circulant_open_complex(szg_context *context, int64_t length, const szg_c64 *column,
                                       szgi_circulant *out) {
    return open_any(context, false, length, column, out);
}

void szgi_circulant_close(szgi_circulant *circulant) {
    szgi_memory_free(circulant->spectrum);
    circulant->spectrum = NULL;
}

szg_status szgi_circulant_work_open(szg_context *context, int64_t length, bool complex,
                                    szgi_circulant_work *out) {
    *out = (szgi_circulant_work){0};
    szg_status status;
    int64_t spectrum = complex ? length : length / 2 + 1;
    size_t size = complex ? sizeof(szg_c64) : sizeof(double);
    SZG_TRY_GOTO(status, szgi_memory_take(context, length, size, &out->vector), fail);
    SZG_TRY_GOTO(status, szgi_memory_take(context, spectrum, sizeof(szg_c64), &out->spectrum),
                 fail);
    SZG_TRY_GOTO(status,
                 szgi_fft_open(context, complex ? SZGI_FFT_FORWARD : SZGI_FFT_REAL, length, 1,
                               &out->forward),
                 fail);
    SZG_TRY_GOTO(status,
                 szgi_fft_open(context, complex ? SZGI_FFT_BACKWARD : SZGI_FFT_REAL_BACKWARD,
                               length, 1, &out->backward),
                 fail);
    return SZG_OK;
fail:
    szgi_circulant_work_close(out);
    return status;
}

void szgi_circulant_work_close(szgi_circulant_work *work) {
    szgi_fft_close(&work->forward);
    szgi_fft_close(&work->backward);
    szgi_memory_free(work->vector);
    szgi_memory_free(work->spectrum);
    *work = (szgi_circulant_work){0};
}

szg_status szgi_circulant_run(szg_context *context, const szgi_circulant *circulant,
                              szgi_circulant_work *work, char op, int64_t n, const double *x,
                              double *y, bool add) {
    int64_t length = circulant->length;
    double *vector = work->vector;
    szg_c64 *spectrum = work->spectrum;
    memcpy(vector, x, (size_t)n * sizeof *x);
    memset(vector + n, 0, (size_t)(length - n) * sizeof *vector);
    SZG_TRY(szgi_fft_run(context, work->forward, vector, spectrum));
    for (int64_t j = 0; j <= length / 2; j++) {
        szg_c64 value = circulant->spectrum[j];
        spectrum[j] = szgi_multiply(spectrum[j], op == 'n' ? value : szgi_conjugate(value));
    }
    SZG_TRY(szgi_fft_run(context, work->backward, spectrum, vector));
    for (int64_t i = 0; i < n; i++)
        y[i] = add ? y[i] + vector[i] : vector[i];
    return SZG_OK;
}

/* Eigenvalue j of op(C) over the length; a real circulant keeps half of them. */
static szg_c64 eigenvalue(const szgi_circulant *circulant, char op, int64_t j) {
    int64_t length = circulant->length;
    if (op == 't')
        j = j == 0 ? 0 : length - j;
    szg_c64 value = circulant->real && j > length / 2
                        ? szgi_conjugate(circulant->spectrum[length - j])
                        : circulant->spectrum[j];
    return op == 'c' ? szgi_conjugate(value) : value;
}

szg_status szgi_circulant_run_complex(szg_context *context, const szgi_circulant *circulant,
                                      szgi_circulant_work *work, char op, int64_t n,
                                      const szg_c64 *x, szg_c64 *y) {
    int64_t length = circulant->length;
    szg_c64 *vector = work->vector, *spectrum = work->spectrum;
    memcpy(vector, x, (size_t)n * sizeof *x);
    memset(vector + n, 0, (size_t)(length - n) * sizeof *vector);
    SZG_TRY(szgi_fft_run(context, work->forward, vector, spectrum));
    for (int64_t j = 0; j < length; j++)
        spectrum[j] = szgi_multiply(spectrum[j], eigenvalue(circulant, op, j));
    SZG_TRY(szgi_fft_run(context, work->backward, spectrum, vector));
    memcpy(y, vector, (size_t)n * sizeof *y);
    return SZG_OK;
}
