#include <stdlib.h>
#include <string.h>

#include <szego/backend.h>

#include "cpu_level.h"

static const char *const NAMES[SZG_CPU_LEVELS] = {"baseline", "avx2", "avx512"};

static szg_cpu_level of_processor(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return SZG_CPU_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return SZG_CPU_AVX2;
#endif
    return SZG_CPU_BASELINE;
}

szg_cpu_level szg_cpu_level_best(void) {
    szg_cpu_level best = of_processor();
    const char *wanted = getenv("SZEGO_SIMD");
    for (int level = 0; wanted && level < (int)best; level++)
        if (strcmp(wanted, NAMES[level]) == 0)
            return (szg_cpu_level)level;
    return best;
}

const char *szg_backend_simd(void) {
    return NAMES[szg_cpu_level_best()];
}
