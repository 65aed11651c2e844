#include "cpu_layers.h"
#include "linalg/cpu_level.h"

const szgi_layers_kernels *szgi_layers_best(void) {
#ifdef __x86_64__
    static const szgi_layers_kernels *const all[SZGI_CPU_LEVELS] = {
        &szgi_layers_kernels_baseline, &szgi_layers_kernels_avx2, &szgi_layers_kernels_avx512};
    return all[szgi_cpu_level_best()];
#else
    return &szgi_layers_kernels_baseline;
#endif
}
