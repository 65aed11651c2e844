/* Which variant of its kernels the library runs on this processor. */
#ifndef SZG_LINALG_CPU_LEVEL_H
#define SZG_LINALG_CPU_LEVEL_H

#include <szego/context.h>

typedef enum szgi_cpu_level {
    SZGI_CPU_BASELINE, /* what the compiler assumes */
    SZGI_CPU_AVX2,     /* and FMA */
    SZGI_CPU_AVX512,   /* F, DQ, BW, VL */
    SZGI_CPU_LEVELS
} szgi_cpu_level;

/* The highest level of the processor, or the lower one that the environment variable SZEGO_SIMD
 * names (baseline, avx2, avx512); szgi_backend_check_simd refuses other words. */
szgi_cpu_level szgi_cpu_level_best(void);

/* What that said when it was last asked. For kernels of a microsecond: a look at the environment
 * takes a tenth of one. */
szgi_cpu_level szgi_cpu_level_latest(void);

const char *szgi_cpu_level_name(szgi_cpu_level level);

/* SZG_EINVAL: SZEGO_SIMD names no level, or one that the processor lacks, and szg_backend_simd
 * ignores it. Every command of the program, and szg_backend_select where it selects the cpu table,
 * ask this first. */
SZG_CHECK_RESULT szg_status szgi_backend_check_simd(szg_context *context);

/* Attributes of a kernel whose variants share one file. */
#if defined(__x86_64__) && defined(__GNUC__)
#define SZGI_TARGET_AVX512                                                                         \
    __attribute__((target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512")))
#define SZGI_TARGET_AVX2 __attribute__((target("avx2,fma")))
#else
#define SZGI_TARGET_AVX512
#define SZGI_TARGET_AVX2
#endif

/* Kernel files name their table SZG_KERNELS(table): the build gives each variant its ending. */
#define SZG_KERNELS_PASTE(name, ending) name##_##ending
#define SZG_KERNELS_NAME(name, ending) SZG_KERNELS_PASTE(name, ending)
#define SZG_KERNELS(name) SZG_KERNELS_NAME(name, SZG_KERNELS_ENDING)

#endif
