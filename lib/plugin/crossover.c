#include "crossover.h"

#include <stdlib.h>
#include "base/text.h"

/* Predicted, not measured: two cores of some 40 GFLOP/s each in double precision against a device
 * of the class of an H100 behind a bus of 10 GB/s, arrays being the host's; for eigenvalues what
 * libraries report of themselves. `szego bench` measures the true ones on a device, and
 * docs/reference/benchmarks.md says which figures stand. */
static const double crossover[PLUGIN_WORKS] = {
    [PLUGIN_PRODUCT] = 512,
    [PLUGIN_EIGEN] = 1024,
    [PLUGIN_EIGEN_VECTORS] = 768,
    [PLUGIN_HERMITIAN] = 768,
    [PLUGIN_HERMITIAN_VECTORS] = 512,
    [PLUGIN_GENERAL] = 1024,
    [PLUGIN_GENERAL_COMPLEX] = 768,
    [PLUGIN_SINGULAR] = 1536,
    [PLUGIN_SINGULAR_VECTORS] = 1024,
    [PLUGIN_SINGULAR_COMPLEX] = 1024,
    [PLUGIN_SINGULAR_COMPLEX_VECTORS] = 768,
    [PLUGIN_EIGEN_BATCH] = 0x1p27,    /* 64 matrices of order 128 */
    [PLUGIN_SINGULAR_BATCH] = 0x1p27, /* as many */
    [PLUGIN_TRANSFORM] = 0x1p19,
};

bool szgi_plugin_crossover_reached(plugin_work work, double size, double scale) {
    return size > 0 && size >= scale * crossover[work];
}

szg_status szgi_plugin_crossover_scale(szg_context *context, double *out) {
    const char *text = getenv("SZEGO_CUDA_CROSSOVER");
    char *end;
    *out = 1;
    if (!text || !*text)
        return SZG_OK;
    *out = szgi_real_scan(text, &end);
    if (*end == 0 && *out >= 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "SZEGO_CUDA_CROSSOVER=%.40s is not a factor for the crossovers between cpu "
                     "and GPU: a number from 0 (always the GPU) to inf (never)",
                     text);
}
