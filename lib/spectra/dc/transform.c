#include <math.h>

#include "base/memory.h"
#include "transform.h"

/* Split complex numbers, so that swapping the two pointers conjugates (up to a factor i). */
typedef struct split {
    long double *re, *im;
} split;

static void bit_reverse(int64_t n, split x) {
    for (int64_t i = 1, j = 0; i < n; i++) {
        int64_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i >= j)
            continue;
        long double re = x.re[i], im = x.im[i];
        x.re[i] = x.re[j], x.im[i] = x.im[j];
        x.re[j] = re, x.im[j] = im;
    }
}

/* In place, n a power of two; root[j] = e^{2 pi i j / n}, j < n / 2. */
static void power_of_two_fft(int64_t n, split x, split root) {
    bit_reverse(n, x);
    for (int64_t half = 1; half < n; half *= 2) {
        int64_t stride = n / (2 * half);
        for (int64_t start = 0; start < n; start += 2 * half) {
            for (int64_t j = 0; j < half; j++) {
                int64_t a = start + j, b = a + half;
                long double c = root.re[j * stride], s = root.im[j * stride];
                long double re = c * x.re[b] - s * x.im[b], im = c * x.im[b] + s * x.re[b];
                x.re[b] = x.re[a] - re, x.im[b] = x.im[a] - im;
                x.re[a] += re, x.im[a] += im;
            }
        }
    }
}

/* root[p] = e^{i pi p / n}, p < count. */
static void fill_roots(int64_t n, int64_t count, split root) {
    const long double pi = 3.14159265358979323846264338327950288L;
    for (int64_t p = 0; p < count; p++) {
        root.re[p] = cosl(pi * (long double)p / (long double)n);
        root.im[p] = sinl(pi * (long double)p / (long double)n);
    }
}

/* Bluestein: j k = (j^2 + k^2 - (k-j)^2) / 2 turns the sum into a convolution with the chirp
 * e^{-i pi m^2 / n}; the exponents are reduced exactly, modulo 2 n. */
static void convolve(int64_t n, int64_t count, int64_t padded, const long double *x, split chirp,
                     split root, split a, split b) {
    for (int64_t j = 0; j < n; j++) {
        int64_t p = (j * j + j) % (2 * n);
        a.re[j] = x[j] * chirp.re[p];
        a.im[j] = x[j] * chirp.im[p];
    }
    for (int64_t m = 1 - n; m < count; m++) {
        int64_t p = m * m % (2 * n), at = m < 0 ? m + padded : m;
        b.re[at] = chirp.re[p];
        b.im[at] = -chirp.im[p];
    }
    power_of_two_fft(padded, a, root);
    power_of_two_fft(padded, b, root);
    for (int64_t i = 0; i < padded; i++) {
        long double re = a.re[i] * b.re[i] - a.im[i] * b.im[i];
        a.im[i] = a.re[i] * b.im[i] + a.im[i] * b.re[i];
        a.re[i] = re;
    }
    power_of_two_fft(padded, (split){a.im, a.re}, root); /* the inverse, times padded */
}

szg_status szgi_dc_transform(szg_context *context, int64_t n, const long double *x, long double *re,
                             long double *im) {
    int64_t count = (n + 1) / 2, padded = 1;
    while (padded < n + count)
        padded *= 2;
    long double *memory = NULL;
    SZG_TRY(szgi_memory_alloc(context, 4 * n + 5 * padded, &memory));
    split chirp = {memory, memory + 2 * n};
    split root = {memory + 4 * n, memory + 4 * n + padded / 2};
    split a = {root.re + padded, root.re + 2 * padded};
    split b = {root.re + 3 * padded, root.re + 4 * padded};
    fill_roots(n, 2 * n, chirp);
    fill_roots(padded / 2, padded / 2, root);
    convolve(n, count, padded, x, chirp, root, a, b);
    for (int64_t k = 0; k < count; k++) {
        int64_t p = k * k % (2 * n);
        long double c = chirp.re[p] / (long double)padded, s = chirp.im[p] / (long double)padded;
        re[k] = c * a.re[k] - s * a.im[k];
        im[k] = c * a.im[k] + s * a.re[k];
    }
    szgi_memory_free(memory);
    return SZG_OK;
}
