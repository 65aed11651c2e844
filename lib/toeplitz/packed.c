#include "toeplitz/packed.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

szg_status szgi_packed_open(szg_context *context, int64_t length, szgi_packed *out) {
    szgi_packed made = {.length = length, .half = length / 2};
    *out = (szgi_packed){0};
    if (length < 2 || length % 2 != 0)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " real numbers as half as many complex",
                         length);
    szg_status status = szgi_fft_open(context, SZGI_FFT_FORWARD, made.half, 1, &made.forward);
    if (status == SZG_OK)
        status = szgi_fft_open(context, SZGI_FFT_BACKWARD, made.half, 1, &made.backward);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, made.half, &made.turn);
    if (status != SZG_OK) {
        szgi_packed_close(&made);
        return status;
    }
    for (int64_t k = 0; k < made.half; k++) {
        double angle = M_PI * (double)k / (double)length;
        made.turn[k] = (szg_c64){cos(angle), sin(angle)};
    }
    *out = made;
    return SZG_OK;
}

void szgi_packed_close(szgi_packed *packed) {
    szgi_fft_close(&packed->forward);
    szgi_fft_close(&packed->backward);
    szgi_memory_free(packed->turn);
    *packed = (szgi_packed){0};
}

/* With w = e^{-2 pi i j / m} the transform X of length m is X_j = E + w O and conj(X_{h-j}) =
 * E - w O, where 2 E = Z_j + conj(Z_{h-j}) and 2 i O = Z_j - conj(Z_{h-j}). The way back is the
 * same with conj(w). Halves that cancel are left out: `spectrum` is over h, as is the transform. */
static void scale_two(szg_c64 w, szg_c64 spectrum, szg_c64 mirrored, szg_c64 *z, szg_c64 *zh) {
    szg_c64 even = {(z->re + zh->re) / 2, (z->im - zh->im) / 2};
    szg_c64 odd = {(z->im + zh->im) / 2, (zh->re - z->re) / 2};
    szg_c64 turned = szgi_multiply(w, odd);
    szg_c64 x = szgi_multiply(spectrum, (szg_c64){even.re + turned.re, even.im + turned.im});
    szg_c64 y = szgi_multiply(szgi_conjugate(mirrored),
                              (szg_c64){even.re - turned.re, even.im - turned.im});
    even = (szg_c64){(x.re + y.re) / 2, (x.im + y.im) / 2};
    odd = szgi_multiply(szgi_conjugate(w), (szg_c64){(x.re - y.re) / 2, (x.im - y.im) / 2});
    *z = (szg_c64){even.re - odd.im, even.im + odd.re};
    *zh = (szg_c64){even.re + odd.im, odd.re - even.im};
}

/* X_0 and X_h are the sums of x_k and of (-1)^k x_k: real, as are their eigenvalues. */
static szg_c64 scale_ends(const szg_c64 *spectrum, int64_t half, szg_c64 z) {
    double sum = spectrum[0].re * (z.re + z.im), alternating = spectrum[half].re * (z.re - z.im);
    return (szg_c64){(sum + alternating) / 2, (sum - alternating) / 2};
}

void szgi_packed_scale(const szgi_packed *packed, const szg_c64 *spectrum, char op, int64_t block,
                       int64_t blocks, const szg_c64 *from, szg_c64 *to) {
    int64_t half = packed->half, pairs = half / 2;
    int64_t first = 1 + pairs * block / blocks, last = pairs * (block + 1) / blocks;
    if (block == 0)
        to[0] = scale_ends(spectrum, half, from[0]);
    for (int64_t j = first; j <= last; j++) { /* 2 j = h: w = -i, and the pair is one number */
        szg_c64 w = 2 * j < half ? szgi_conjugate(packed->turn[2 * j]) : (szg_c64){0, -1};
        szg_c64 here = spectrum[j], mirrored = spectrum[half - j];
        szg_c64 z = from[j], zh = from[half - j];
        if (op == 'n')
            scale_two(w, here, mirrored, &z, &zh);
        else
            scale_two(w, szgi_conjugate(here), szgi_conjugate(mirrored), &z, &zh);
        to[half - j] = zh;
        to[j] = z;
    }
}

void szgi_packed_fold(const szgi_packed *packed, int64_t n, const double *x, szg_c64 *folded) {
    int64_t h = packed->half;
    for (int64_t k = 0; k < h; k++) {
        const szg_c64 both = {x[k], k + h < n ? x[k + h] : 0};
        folded[k] = szgi_multiply(both, packed->turn[k]);
    }
}

void szgi_packed_multiply(const szgi_packed *packed, const szg_c64 *spectrum, char op,
                          szg_c64 *values) {
    for (int64_t j = 0; j < packed->half; j++)
        values[j] = szgi_multiply(values[j], op == 'n' ? spectrum[j] : szgi_conjugate(spectrum[j]));
}
