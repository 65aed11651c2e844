#include "softmax_kernel.h"

const szgi_softmax_kernels *szgi_softmax_of(szgi_cpu_level level) {
#ifdef __x86_64__
    static const szgi_softmax_kernels *const all[SZGI_CPU_LEVELS] = {
        &szgi_softmax_baseline, &szgi_softmax_avx2, &szgi_softmax_avx512};
    return all[level];
#else
    (void)level;
    return &szgi_softmax_baseline;
#endif
}
