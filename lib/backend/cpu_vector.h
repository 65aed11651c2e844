/* Vectors of the widest kind that the file including this is compiled for: AVX-512, AVX2 with FMA,
 * or what the baseline has. Kernel files are compiled once for each (meson.build) and chosen among
 * at run time (cpu_level.h); everything here is static, so that no variant's code leaks into
 * another. In these files a * b + c is one fused operation where the machine has it. */
#ifndef SZG_BACKEND_CPU_VECTOR_H
#define SZG_BACKEND_CPU_VECTOR_H

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

/* value where the lane of `mask` is all ones, 0 where it is 0. */
static inline vfloat vector_where(vint mask, vfloat value) {
    return (vfloat)(mask & (vint)value);
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
