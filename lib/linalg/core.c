/* OpenBLAS knows processors by model number; one newer than the library gets its oldest kernels,
 * measured at a fifth of the speed. The choice is made while the library is loaded. */
#include <string.h>

#include <cblas.h>
#include "linalg/linalg.h"

const char *szgi_backend_core_remedy(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    static const char *const modern[] = {"Haswell",       "Zen",        "Excavator",
                                         "SkylakeX",      "Cooperlake", "SapphireRapids",
                                         "Sapphirerapids"};
    const char *chosen = openblas_get_corename();
    for (size_t i = 0; i < sizeof modern / sizeof *modern; i++)
        if (strcmp(chosen, modern[i]) == 0)
            return NULL;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "Haswell";
#endif
    return NULL;
}
