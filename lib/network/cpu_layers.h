/* Inner loops of the layers in single precision: vector code, compiled with contracted products
 * (fused multiply-add) and picked by processor at run time. Matrices have `rows` rows of `columns`
 * numbers with leading dimensions ld.. . */
#ifndef SZG_NETWORK_CPU_LAYERS_H
#define SZG_NETWORK_CPU_LAYERS_H

#include "network/ops.h"

typedef struct szgi_layers_norm_rows {
    int64_t rows, width;
    const float *x, *gamma, *mean, *inverse, *dy;
    float *dx, *dgamma, *dbeta;
    bool add_dx;
} szgi_layers_norm_rows;

typedef struct szgi_layers_adamw_step {
    float keep;            /* 1 - rate decay */
    float step;            /* rate / correction1 */
    float root_correction; /* 1 / sqrt(correction2) */
    float beta1, beta2, eps;
    float rest1, rest2; /* 1 - beta */
} szgi_layers_adamw_step;

/* One of the two parts that a join makes a head of. */
typedef struct szgi_layers_part {
    int64_t heads, width, ld; /* of the part's rows: [heads][width], or [width] for all heads */
    bool shared;
    int64_t whole, ldwhole; /* numbers of a joined head, leading dimension of joined rows */
} szgi_layers_part;

typedef struct szgi_layers_kernels {
    /* z += bias (NULL: nothing to add), y = act(z). y may be z, or has the same shape without
     * overlap; where y is not z, both are kept. */
    void (*activate)(int64_t rows, int64_t columns, szg_activation activation, const float *bias,
                     float *z, int64_t ldz, float *y, int64_t ldy);

    /* dy *= act'(at), where `at` is y for RELU and z for GELU; then sums[column] += dy. `at` and
     * sums may be NULL: without activation, sums not wanted. */
    void (*differentiate)(int64_t rows, int64_t columns, szg_activation activation, const float *at,
                          int64_t ldat, float *dy, int64_t lddy, float *sums);

    /* to[i] += part[0][i] + part[1][i] + ... in this order, part[g] at part + g * stride. */
    void (*add)(int64_t count, int64_t parts, int64_t stride, const float *part, float *to);

    /* The rows of a normalisation, without gaps; mean and inverse may be NULL. */
    void (*normalise)(int64_t rows, int64_t width, const float *x, const float *gamma,
                      const float *beta, float eps, float *y, float *mean, float *inverse);

    /* dx (+)= the gradient; dgamma, dbeta [width] are added to. */
    void (*normalise_backward)(const szgi_layers_norm_rows *job);

    /* Copies a part into joined rows; `out` is where it begins in the first head of the first row.
     * The way back: heads that share a part are summed in their order. */
    void (*place)(int64_t rows, const szgi_layers_part *part, const float *from, float *out);
    void (*take)(int64_t rows, const szgi_layers_part *part, const float *dout, float *to);

    /* y = residual + factors x; residual NULL: 0. y may be x or residual. */
    void (*drop)(int64_t count, const float *factors, const float *x, const float *residual,
                 float *y);

    /* to += from. */
    void (*add_row)(int64_t count, const float *from, float *to);

    /* Whether one of `count` numbers is NaN or infinite. */
    void (*find_not_finite)(int64_t count, const float *x, bool *found);

    void (*adamw)(int64_t count, const szgi_layers_adamw_step *step, const float *gradient,
                  float *weight, float *moment1, float *moment2);

    /* The normal distribution's function Phi(x) and density, as gelu uses them: *distribution
     * within 3e-7, relative to Phi within 3e-6 for x >= -5. */
    void (*normal)(int64_t count, const float *x, float *distribution, float *density);
} szgi_layers_kernels;
extern const szgi_layers_kernels szgi_layers_kernels_baseline, szgi_layers_kernels_avx2,
    szgi_layers_kernels_avx512;

/* Those of this processor. */
const szgi_layers_kernels *szgi_layers_best(void);

#endif
