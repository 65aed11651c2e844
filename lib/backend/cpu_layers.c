#include "cpu_layers.h"
#include "cpu_level.h"

const szg_layers_kernels *szg_layers_best(void) {
#ifdef __x86_64__
    static const szg_layers_kernels *const all[SZG_CPU_LEVELS] = {
        &szg_layers_kernels_baseline, &szg_layers_kernels_avx2, &szg_layers_kernels_avx512};
    return all[szg_cpu_level_best()];
#else
    return &szg_layers_kernels_baseline;
#endif
}
