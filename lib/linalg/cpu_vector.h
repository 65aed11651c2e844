/* Vectors of the widest kind that the file including this is compiled for: AVX-512, AVX2 with FMA,
 * or what the baseline has. Kernel files are compiled once for each (meson.build) and chosen among
 * at run time (cpu_level.h); everything here is static, so that no variant's code leaks into
 * another. In these files a * b + c is one fused operation where the machine has it. */
#ifndef SZG_LINALG_CPU_VECTOR_H
#define SZG_LINALG_CPU_VECTOR_H

#include <stdint.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

typedef float vfloat __attribute__((vector_size(4 * LANES)));
typedef int32_t vint __attribute__((vector_size(4 * LANES)));
typedef uint32_t vword __attribute__((vector_size(4 * LANES)));
typedef uint64_t vwide __attribute__((vector_size(4 * LANES)));
typedef double vdouble __attribute__((vector_size(4 * LANES)));

/* The same without alignment. */
typedef float vfloat_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t vword_any __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline vfloat vector_load(const float *at) {
    return *(const vfloat_any *)at;
}

static inline void vector_store(float *at, vfloat value) {
    *(vfloat_any *)at = value;
}

static inline vword vector_load_words(const uint32_t *at) {
    return *(const vword_any *)at;
}

static inline void vector_store_words(uint32_t *at, vword value) {
    *(vword_any *)at = value;
}

static inline vfloat vector_splat(float value) {
    return value - (vfloat){0};
}

/* Lane i of the result is lane order[i] of a and b, counted through both. */
static inline __attribute__((always_inline)) vfloat vector_shuffle(vfloat a, vfloat b, vint order) {
#ifdef __clang__ /* has no shuffle by a vector; its optimiser sees through the loop */
    vfloat out;
    for (int i = 0; i < LANES; i++)
        out[i] = order[i] < LANES ? a[order[i]] : b[order[i] - LANES];
    return out;
#else
    return __builtin_shuffle(a, b, order);
#endif
}

/* value where the lane of `mask` is all ones, 0 where it is 0. */
static inline vfloat vector_where(vint mask, vfloat value) {
    return (vfloat)(mask & (vint)value);
}

static inline vfloat vector_select(vint mask, vfloat yes, vfloat no) {
    return (vfloat)((mask & (vint)yes) | (~mask & (vint)no));
}

/* All ones in the first `count` lanes, 0 in the others. */
static inline vint vector_first(int64_t count) {
    vint lane;
    for (int i = 0; i < LANES; i++)
        lane[i] = i;
    int32_t bound = count < LANES ? (int32_t)count : LANES;
    return lane < bound;
}

/* The greater one; b where one of them is NaN. */
static inline vfloat vector_max(vfloat a, vfloat b) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vfloat)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (vfloat)_mm_max_ps((__m128)a, (__m128)b);
#else
    return vector_select(a > b, a, b);
#endif
}

/* The lesser one; b where one of them is NaN. */
static inline vfloat vector_min(vfloat a, vfloat b) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vfloat)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
    return (vfloat)_mm_min_ps((__m128)a, (__m128)b);
#else
    return vector_select(a < b, a, b);
#endif
}

static inline float vector_largest(vfloat a) {
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps((__m512)a);
#else
    float largest = a[0];
    for (int i = 1; i < LANES; i++)
        largest = a[i] > largest ? a[i] : largest;
    return largest;
#endif
}

static inline float vector_sum(vfloat a) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps((__m512)a);
#else
    float sum = a[0];
    for (int i = 1; i < LANES; i++)
        sum += a[i];
    return sum;
#endif
}

/* The lower and the upper half of the lanes in double precision. */
static inline void vector_widen(vfloat a, vdouble *low, vdouble *high) {
#if defined(__AVX512F__)
    *low = (vdouble)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)a));
    *high = (vdouble)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)a, 1));
#elif defined(__AVX2__)
    *low = (vdouble)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)a));
    *high = (vdouble)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)a, 1));
#elif defined(__SSE2__)
    *low = (vdouble)_mm_cvtps_pd((__m128)a);
    *high = (vdouble)_mm_cvtps_pd(_mm_movehl_ps((__m128)a, (__m128)a));
#else
    for (int i = 0; i < LANES / 2; i++) {
        (*low)[i] = a[i];
        (*high)[i] = a[LANES / 2 + i];
    }
#endif
}

/* p 2^n for whole n; infinity where it is above the range. */
static inline vfloat vector_scale(vfloat p, vfloat n) {
#if defined(__AVX512F__)
    return (vfloat)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
    vfloat bounded = vector_min(vector_splat(128.0F), vector_max(vector_splat(-127.0F), n));
    vint power = __builtin_convertvector(bounded, vint) + 127;
    return p * (vfloat)(power << 23);
#endif
}

/* exp(x) for x < 88.37, relative error below 2^-22; 0 below log 2^-126 (no subnormal results, which
 * are slow), infinity from 88.73 on (between the two: either); NaN stays NaN. x = n log 2 + r with
 * |r| <= log(2)/2, log 2 in two parts (Cody, Waite 1980); exp(r) = 1 + r q(r), q interpolated at
 * Chebyshev's nodes, error 2^-26. */
static inline vfloat vector_exp(vfloat x) {
    const float least = -87.33654F, shift = 0x1.8p23F;
    vint kept = ~(vint)(x < least);
    x = vector_min(vector_splat(100.0F), x);
    vfloat n = x * 1.44269504F + shift - shift;
    vfloat r = x - n * 0.693359375F;
    r = r + n * 2.12194440e-4F;
    vfloat p = 1.39336859e-3F * r + 8.36918438e-3F;
    p = p * r + 4.16664646e-2F;
    p = p * r + 1.66665049e-1F;
    p = p * r + 5.00000001e-1F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    return vector_where(kept, vector_scale(p, n));
}

/* log(x) for normal x > 0, error below 2^-22 max(1, |log x|); NaN for NaN and infinity. x = 2^e m
 * with m in [sqrt(1/2), sqrt 2), log m = 2 artanh(s), s = (m - 1) / (m + 1), s^2 < 0.03. */
static inline vfloat vector_log(vfloat x) {
    vint bits = (vint)x, e = (bits - 0x3F3504F3) >> 23;
    vfloat f = (vfloat)(bits - (e << 23)) - 1.0F;
    vfloat s = f / (f + 2.0F), square = s * s;
    vfloat p = 2.0F / 9.0F * square + 2.0F / 7.0F;
    p = p * square + 2.0F / 5.0F;
    p = p * square + 2.0F / 3.0F;
    p = p * square * s + 2.0F * s;
    return __builtin_convertvector(e, vfloat) * 0.693147181F + p + (x - x);
}

/* Products of the low halves of 64-bit lanes; the high halves are not read. */
static inline vwide vector_multiply_words(vwide a, vwide b) {
#if defined(__AVX512F__)
    return (vwide)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vwide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (vwide)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

#endif
