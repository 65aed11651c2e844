/* OpenBLAS knows processors by model number; one newer than the library gets its oldest kernels,
 * measured at a fifth of the speed. The choice is made while the library is loaded. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <szego/backend.h>
#include "base/context.h"
#include "linalg/cpu.h"

const char *szg_backend_blas_core(void) {
    return openblas_get_corename();
}

/* The core whose kernels use the vector instructions of this processor; NULL: OpenBLAS has chosen
 * such a core. */
static const char *better_core(void) {
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

/* Whoever names another core has chosen; the remedy itself may have come too late. */
const char *szg_backend_blas_remedy(void) {
    const char *core = better_core(), *given = getenv("OPENBLAS_CORETYPE");
    return core && given && strcmp(given, core) != 0 ? NULL : core;
}

void szgi_blas_tell_core(szg_context *context) {
    static atomic_bool told;
    if (atomic_load_explicit(&told, memory_order_relaxed) || atomic_exchange(&told, true))
        return;
    const char *core = szg_backend_blas_remedy();
    bool heard = !core || szgi_say(context, SZG_WARNING,
                                   "OpenBLAS does not know this processor and computes with its "
                                   "kernels for %s, several times slower: set "
                                   "OPENBLAS_CORETYPE=%s before the program starts",
                                   szg_backend_blas_core(), core);
    if (!heard) /* the next context may have a callback */
        atomic_store(&told, false);
}
