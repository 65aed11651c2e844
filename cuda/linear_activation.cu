/* GELU, which is the erf form here (cuBLASLt's is the tanh form), and RELU where the fused one
 * would lose NaN, and a bias that no product could take along: a warp a row and 128 columns.
 *
 * At 65,536 x 1024: 268 MB read, 268 MB written, 0.18 ms at 3.0 TB/s. */
#include "linear_activation.h"

#include "layers.cuh"

/* x Phi(x); erfc keeps the lower tail. Comparisons pass NaN on. */
template <int Activation> static __device__ __forceinline__ float activate(float x) {
    if (Activation == SZG_ACTIVATION_RELU)
        return x <= 0 ? 0 : x;
    return x * (0.5F * erfcf(-0.707106781F * x));
}

template <int Width, int Activation>
static __global__ void __launch_bounds__(THREADS) activate_rows(activation_job job) {
    int64_t row = first_item() / WARP, lane = threadIdx.x % WARP;
    int64_t column = (static_cast<int64_t>(blockIdx.y) * WARP + lane) * Width;
    if (row >= job.rows || column >= job.columns)
        return;
    numbers<Width> x = load<Width>(job.z + row * job.ldz + column), bias = {};
    if (Activation == SZG_ACTIVATION_NONE)
        bias = load<Width>(job.bias + column);
    for (int i = 0; i < Width; i++)
        x.at[i] = Activation == SZG_ACTIVATION_NONE ? x.at[i] + bias.at[i]
                                                    : activate<Activation>(x.at[i]);
    store<Width>(job.y + row * job.ldy + column, x);
}

typedef void activation_kernel(activation_job job);

template <int Width> static activation_kernel *kernel_of(szg_activation activation) {
    return activation == SZG_ACTIVATION_GELU   ? activate_rows<Width, SZG_ACTIVATION_GELU>
           : activation == SZG_ACTIVATION_RELU ? activate_rows<Width, SZG_ACTIVATION_RELU>
                                               : activate_rows<Width, SZG_ACTIVATION_NONE>;
}

szg_status activation_run(szg_context *context, session *self, szg_activation activation,
                          const activation_job *job) {
    bool wide = is_wide(job->columns, job->z, job->y, job->bias) && job->ldz % WIDE == 0 &&
                job->ldy % WIDE == 0;
    return launch(
        context, self->stream, wide ? kernel_of<WIDE>(activation) : kernel_of<1>(activation),
        dim3(blocks_for(job->rows, WARPS), blocks_for(job->columns, WARP * (wide ? WIDE : 1))),
        THREADS, 0, *job);
}
