/* What device code calls beyond <math.h>. */
#ifndef EMULATED_INTRINSICS_H
#define EMULATED_INTRINSICS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "simt.h"

/* Barriers and exchanges note where they are called: a deadlock names the place. */
#define EMULATED_PLACE                                                                             \
    const char *file = __builtin_FILE(), int line = __builtin_LINE(),                              \
               const char *function = __builtin_FUNCTION()

inline void __syncthreads(EMULATED_PLACE) {
    emulated::simt_barrier(0, {function, file, line});
}
inline int __syncthreads_count(int value, EMULATED_PLACE) {
    return emulated::simt_barrier(value, {function, file, line}).count;
}
inline int __syncthreads_and(int value, EMULATED_PLACE) {
    return emulated::simt_barrier(value, {function, file, line}).all;
}
inline int __syncthreads_or(int value, EMULATED_PLACE) {
    return emulated::simt_barrier(value, {function, file, line}).any;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, EMULATED_PLACE) {
    int nothing = 0;
    emulated::simt_exchange(emulated::Kind::sync, mask, &nothing, sizeof nothing, 0,
                            {function, file, line});
}

namespace emulated {

template <class T> T shuffle(unsigned mask, T value, unsigned source, Place place) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
    T result;
    memcpy(&result, simt_exchange(Kind::shuffle, mask, &value, sizeof value, source, place),
           sizeof result);
    return result;
}

/* A source beyond the segment of `width` lanes is the lane itself. */
inline unsigned source_in(int width, int source) {
    int lane = static_cast<int>(simt_lane());
    int first = lane & ~(width - 1);
    return static_cast<unsigned>(source < first || source >= first + width ? lane : source);
}

inline unsigned ballot(unsigned mask, int value, Place place) {
    unsigned result;
    memcpy(&result, simt_exchange(Kind::ballot, mask, &value, sizeof value, 0, place),
           sizeof result);
    return result;
}

template <class To, class From> To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "equal sizes");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

} // namespace emulated

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, EMULATED_PLACE) {
    int lane = static_cast<int>(emulated::simt_lane());
    unsigned from = static_cast<unsigned>((lane & ~(width - 1)) | (source & (width - 1)));
    return emulated::shuffle(mask, value, from, {function, file, line});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, EMULATED_PLACE) {
    /* Into a lower segment it may read, into a higher one not. */
    int lane = static_cast<int>(emulated::simt_lane()), from = lane ^ lanes;
    if (from >= (lane & ~(width - 1)) + width)
        from = lane;
    return emulated::shuffle(mask, value, static_cast<unsigned>(from), {function, file, line});
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATED_PLACE) {
    int from = static_cast<int>(emulated::simt_lane() + delta);
    return emulated::shuffle(mask, value, emulated::source_in(width, from), {function, file, line});
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, EMULATED_PLACE) {
    int from = static_cast<int>(emulated::simt_lane()) - static_cast<int>(delta);
    return emulated::shuffle(mask, value, emulated::source_in(width, from), {function, file, line});
}
inline unsigned __ballot_sync(unsigned mask, int value, EMULATED_PLACE) {
    return emulated::ballot(mask, value, {function, file, line});
}
inline int __any_sync(unsigned mask, int value, EMULATED_PLACE) {
    return emulated::ballot(mask, value, {function, file, line}) != 0;
}
inline int __all_sync(unsigned mask, int value, EMULATED_PLACE) {
    return emulated::ballot(mask, !value, {function, file, line}) == 0;
}
inline unsigned __activemask() {
    return emulated::simt_active_mask();
}
inline void __threadfence() {
}
inline void __threadfence_block() {
}

/* One thread runs at a time, so plain operations are atomic. Sums of floats are left out on
 * purpose: their order, and with it the result, would differ from run to run. */
#define EMULATED_ATOMIC(name, type, value)                                                         \
    inline type name(type *address, type operand) {                                                \
        type old = *address;                                                                       \
        *address = (value);                                                                        \
        return old;                                                                                \
    }
#define EMULATED_ATOMICS(type)                                                                     \
    EMULATED_ATOMIC(atomicAdd, type, old + operand)                                                \
    EMULATED_ATOMIC(atomicOr, type, old | operand)                                                 \
    EMULATED_ATOMIC(atomicAnd, type, old &operand)                                                 \
    EMULATED_ATOMIC(atomicMax, type, old > operand ? old : operand)                                \
    EMULATED_ATOMIC(atomicMin, type, old < operand ? old : operand)                                \
    EMULATED_ATOMIC(atomicExch, type, operand)                                                     \
    inline type atomicCAS(type *address, type compare, type operand) {                             \
        type old = *address;                                                                       \
        *address = old == compare ? operand : old;                                                 \
        return old;                                                                                \
    }
EMULATED_ATOMICS(int)
EMULATED_ATOMICS(unsigned int)
EMULATED_ATOMICS(unsigned long long)
#undef EMULATED_ATOMICS
#undef EMULATED_ATOMIC

inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(uint64_t{a} * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    __extension__ typedef unsigned __int128 wide;
    return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
inline int __clz(int x) {
    return x ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}
inline int __clzll(long long x) {
    return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
inline unsigned __float_as_uint(float x) {
    return emulated::bits_as<unsigned>(x);
}
inline int __float_as_int(float x) {
    return emulated::bits_as<int>(x);
}
inline float __uint_as_float(unsigned x) {
    return emulated::bits_as<float>(x);
}
inline float __int_as_float(int x) {
    return emulated::bits_as<float>(x);
}
inline long long __double_as_longlong(double x) {
    return emulated::bits_as<long long>(x);
}
inline double __longlong_as_double(long long x) {
    return emulated::bits_as<double>(x);
}
template <class T> T __ldg(const T *address) {
    return *address;
}

inline float rsqrtf(float x) {
    return 1 / sqrtf(x);
}
inline double rsqrt(double x) {
    return 1 / sqrt(x);
}
inline float __expf(float x) {
    return expf(x);
}
inline float __logf(float x) {
    return logf(x);
}
inline float __log2f(float x) {
    return log2f(x);
}
inline float __sinf(float x) {
    return sinf(x);
}
inline float __cosf(float x) {
    return cosf(x);
}
inline float __powf(float x, float y) {
    return powf(x, y);
}
inline float __fdividef(float x, float y) {
    return x / y;
}
inline float __frcp_rn(float x) {
    return 1 / x;
}
inline float __fsqrt_rn(float x) {
    return sqrtf(x);
}
inline float __fadd_rn(float x, float y) {
    return x + y;
}
inline float __fmul_rn(float x, float y) {
    return x * y;
}
inline float __fmaf_rn(float x, float y, float z) {
    return fmaf(x, y, z);
}
inline double __dadd_rn(double x, double y) {
    return x + y;
}
inline double __dmul_rn(double x, double y) {
    return x * y;
}
inline double __fma_rn(double x, double y, double z) {
    return fma(x, y, z);
}
inline float __saturatef(float x) {
    return x > 0 ? (x < 1 ? x : 1) : 0; /* NaN gives 0 */
}
inline double rcbrt(double x) {
    return 1 / cbrt(x);
}
inline void sincospi(double x, double *sine, double *cosine) {
    sincos(M_PI * x, sine, cosine);
}

/* CUDA declares these in the global namespace, of floats with the meaning of fmin and fmax. */
#define EMULATED_EXTREMES(type)                                                                    \
    constexpr type min(type a, type b) {                                                           \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    constexpr type max(type a, type b) {                                                           \
        return a < b ? b : a;                                                                      \
    }
EMULATED_EXTREMES(int)
EMULATED_EXTREMES(unsigned int)
EMULATED_EXTREMES(long)
EMULATED_EXTREMES(unsigned long)
EMULATED_EXTREMES(long long)
EMULATED_EXTREMES(unsigned long long)
#undef EMULATED_EXTREMES
inline float min(float a, float b) {
    return fminf(a, b);
}
inline float max(float a, float b) {
    return fmaxf(a, b);
}
inline double min(double a, double b) {
    return fmin(a, b);
}
inline double max(double a, double b) {
    return fmax(a, b);
}

#undef EMULATED_PLACE
#endif
