/* From which size on an operation is worth the way to the device. */
#ifndef SZG_PLUGIN_CROSSOVER_H
#define SZG_PLUGIN_CROSSOVER_H

#include "plugin/abi.h"

/* The comment beside each says what is counted. */
typedef enum plugin_work {
    PLUGIN_PRODUCT, /* harmonic mean of m, n, k: of a cube its side */
    PLUGIN_EIGEN,   /* order */
    PLUGIN_EIGEN_VECTORS,
    PLUGIN_HERMITIAN,
    PLUGIN_HERMITIAN_VECTORS,
    PLUGIN_GENERAL,
    PLUGIN_GENERAL_COMPLEX,
    PLUGIN_SINGULAR, /* smaller side */
    PLUGIN_SINGULAR_VECTORS,
    PLUGIN_SINGULAR_COMPLEX,
    PLUGIN_SINGULAR_COMPLEX_VECTORS,
    PLUGIN_EIGEN_BATCH,    /* count n^3 */
    PLUGIN_SINGULAR_BATCH, /* count (m + n)^3 / 8 */
    PLUGIN_TRANSFORM,      /* numbers: batch n */
    PLUGIN_WORKS
} plugin_work;

/* Orders up to which batched solvers are asked; larger ones go one at a time. */
enum { PLUGIN_BATCH_ORDER = 1024 };

/* By what the crossovers are multiplied: the environment variable SZEGO_CUDA_CROSSOVER, 1 without
 * it. 0 sends everything to the device, inf everything to the cpu. SZG_EINVAL: no such number. */
SZG_CHECK_RESULT szg_status szgi_plugin_crossover_scale(szg_context *context, double *out);

/* Whether `size` of this work reaches the crossover; nothing (0) never does. */
bool szgi_plugin_crossover_reached(plugin_work work, double size, double scale);

#endif
