#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/context.h"

#include "cpu_level.h"

static const char *const NAMES[SZGI_CPU_LEVELS] = {"baseline", "avx2", "avx512"};

static szgi_cpu_level of_processor(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return SZGI_CPU_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return SZGI_CPU_AVX2;
#endif
    return SZGI_CPU_BASELINE;
}

/* The level that SZEGO_SIMD names, of those that the processor has; SZGI_CPU_LEVELS: another word.
 */
static szgi_cpu_level level_of(const char *name) {
    for (int level = 0; level <= (int)of_processor(); level++)
        if (strcmp(name, NAMES[level]) == 0)
            return (szgi_cpu_level)level;
    return SZGI_CPU_LEVELS;
}

/* NULL: not set, or empty. */
static const char *wanted(void) {
    const char *name = getenv("SZEGO_SIMD");
    return name && *name ? name : NULL;
}

static atomic_int latest = SZGI_CPU_LEVELS; /* not asked yet */

szgi_cpu_level szgi_cpu_level_best(void) {
    szgi_cpu_level level = wanted() ? level_of(wanted()) : SZGI_CPU_LEVELS;
    level = level < SZGI_CPU_LEVELS ? level : of_processor();
    atomic_store_explicit(&latest, (int)level, memory_order_relaxed);
    return level;
}

szgi_cpu_level szgi_cpu_level_latest(void) {
    int level = atomic_load_explicit(&latest, memory_order_relaxed);
    return level < SZGI_CPU_LEVELS ? (szgi_cpu_level)level : szgi_cpu_level_best();
}

szg_status szgi_backend_check_simd(szg_context *context) {
    char list[64] = "";
    const char *name = wanted();
    if (!name || level_of(name) < SZGI_CPU_LEVELS)
        return SZG_OK;
    for (int level = 0; level <= (int)of_processor(); level++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", level ? ", " : "", NAMES[level]);
    }
    return szgi_fail(context, SZG_EINVAL,
                     "SZEGO_SIMD=%.80s is not one of this processor's levels: %s; without the "
                     "variable the last one is used",
                     name, list);
}

const char *szgi_cpu_level_name(szgi_cpu_level level) {
    return NAMES[level];
}

const char *szg_backend_simd(void) {
    return szgi_cpu_level_name(szgi_cpu_level_best());
}
