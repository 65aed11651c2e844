/* Linear layers: products on cuBLASLt with bias and RELU in them, kernels of our own for what has
 * no epilogue.
 *
 * At 65,536 rows, 256 to 1024: 34 Gflop a product, 0.07 ms at 495 Tflop/s (an H100's dense TF32),
 * 0.11 ms for the 336 MB that it moves at 3.0 TB/s: the memory decides. */
#include "layers.cuh"
#include "layers_sums.h"
#include "product.h"

/* ---- Activations ----
 * GELU, which is the erf form here (cuBLASLt's is the tanh form), and RELU where the fused one
 * would lose NaN, and a bias that no product could take along: one warp for 128 columns of a row.
 *
 * At 65,536 x 1024: 268 MB read, 268 MB written, 0.18 ms at 3.0 TB/s. */

/* y = act(z), [rows][columns]; y may be z. SZG_ACTIVATION_NONE: y = z + bias. */
typedef struct activation_job {
    int64_t rows, columns;
    const float *z;
    int64_t ldz;
    float *y;
    int64_t ldy;
    const float *bias; /* [columns]; NULL but with NONE */
} activation_job;

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

static szg_status activation_run(szg_context *context, session *self, szg_activation activation,
                                 const activation_job *job) {
    bool wide = is_wide(job->columns, job->z, job->y, job->bias) && job->ldz % WIDE == 0 &&
                job->ldy % WIDE == 0;
    return launch(
        context, self->stream, wide ? kernel_of<WIDE>(activation) : kernel_of<1>(activation),
        dim3(blocks_for(job->rows, WARPS), blocks_for(job->columns, WARP * (wide ? WIDE : 1))),
        THREADS, 0, *job);
}

/* ---- Forward ---- */

/* Passes of the forward direction that no epilogue took along. */
static uint32_t separate_of(const szgi_linear *l, const product_done *done) {
    uint32_t passes = l->bias && !done->bias ? SZGI_EPILOGUE_BIAS : 0;
    if (l->activation == SZG_ACTIVATION_GELU)
        passes |= SZGI_EPILOGUE_GELU;
    if (l->activation == SZG_ACTIVATION_RELU && !done->relu)
        passes |= SZGI_EPILOGUE_RELU;
    return passes;
}

/* y^T = W x^T by columns: W by rows is W^T by columns, x is x^T. */
static szg_status forward(szg_context *context, session *self, const szgi_linear *l) {
    bool apart = l->activation == SZG_ACTIVATION_GELU && l->before;
    float *y = static_cast<float *>(l->y), *z = apart ? static_cast<float *>(l->before) : y;
    int64_t ldz = apart ? l->out : l->ldy;
    product p = {.transpose_a = true,
                 .transpose_b = false,
                 .m = l->out,
                 .n = l->rows,
                 .k = l->in,
                 .a = static_cast<const float *>(l->weight),
                 .lda = l->in,
                 .b = static_cast<const float *>(l->x),
                 .ldb = l->ldx,
                 .c = z,
                 .ldc = ldz,
                 .add = false,
                 .bias = static_cast<const float *>(l->bias),
                 .relu = l->activation == SZG_ACTIVATION_RELU};
    product_done done;
    SZG_TRY(product_run(context, self, &p, &done));
    SZG_TRY(product_note(context, self, &done, separate_of(l, &done)));
    if (p.bias && !done.bias) {
        activation_job add = {.rows = l->rows,
                              .columns = l->out,
                              .z = z,
                              .ldz = ldz,
                              .y = z,
                              .ldy = ldz,
                              .bias = p.bias};
        SZG_TRY(activation_run(context, self, SZG_ACTIVATION_NONE, &add));
    }
    if (l->activation == SZG_ACTIVATION_NONE || done.relu)
        return SZG_OK;
    activation_job job = {.rows = l->rows,
                          .columns = l->out,
                          .z = z,
                          .ldz = ldz,
                          .y = y,
                          .ldy = l->ldy,
                          .bias = NULL};
    return activation_run(context, self, l->activation, &job);
}

szg_status gpu_linear(szg_context *context, const szgi_linear *l) {
    return named(context, forward(context, session_of(context), l), "linear %lld x %lld x %lld",
                 (long long)l->rows, (long long)l->in, (long long)l->out);
}

/* ---- Backward ---- */

/* dz = dy act' and the bias's gradient. */
static szg_status differentiate(szg_context *context, session *self, const szgi_linear *l,
                                const szgi_linear_gradient *g) {
    bool gelu = l->activation == SZG_ACTIVATION_GELU, none = l->activation == SZG_ACTIVATION_NONE;
    column_sums sums = {.rows = l->rows,
                        .columns = l->out,
                        .activation = l->activation,
                        .dy = static_cast<float *>(g->dy),
                        .lddy = g->lddy,
                        .at = none ? NULL : static_cast<const float *>(gelu ? l->before : l->y),
                        .ldat = gelu ? l->out : l->ldy,
                        .sums = static_cast<float *>(g->dbias)};
    return none && !g->dbias ? SZG_OK : column_sums_add(context, self, &sums);
}

/* dx^T (+)= W^T dz^T by columns. */
static szg_status add_input(szg_context *context, session *self, const szgi_linear *l,
                            const szgi_linear_gradient *g) {
    product_done done;
    product p = {.transpose_a = false,
                 .transpose_b = false,
                 .m = l->in,
                 .n = l->rows,
                 .k = l->out,
                 .a = static_cast<const float *>(l->weight),
                 .lda = l->in,
                 .b = static_cast<const float *>(g->dy),
                 .ldb = g->lddy,
                 .c = static_cast<float *>(g->dx),
                 .ldc = g->lddx,
                 .add = g->add_dx,
                 .bias = NULL,
                 .relu = false};
    SZG_TRY(product_run(context, self, &p, &done));
    return product_note(context, self, &done, 0);
}

/* dW^T += x^T dz by columns. What differentiate did apart is noted: cuBLASLt has epilogues for the
 * bias's gradient (BGRADB, here) and for RELU's derivative (DRELU, in the product before). */
static szg_status add_weight(szg_context *context, session *self, const szgi_linear *l,
                             const szgi_linear_gradient *g) {
    product_done done;
    product p = {.transpose_a = false,
                 .transpose_b = true,
                 .m = l->in,
                 .n = l->out,
                 .k = l->rows,
                 .a = static_cast<const float *>(l->x),
                 .lda = l->ldx,
                 .b = static_cast<const float *>(g->dy),
                 .ldb = g->lddy,
                 .c = static_cast<float *>(g->dweight),
                 .ldc = l->in,
                 .add = true,
                 .bias = NULL,
                 .relu = false};
    uint32_t separate = l->activation == SZG_ACTIVATION_NONE ? 0 : SZGI_EPILOGUE_DERIVATIVE;
    if (g->dbias)
        separate |= SZGI_EPILOGUE_BIAS_GRADIENT;
    SZG_TRY(product_run(context, self, &p, &done));
    return product_note(context, self, &done, separate);
}

static szg_status backward(szg_context *context, session *self, const szgi_linear *l,
                           const szgi_linear_gradient *g) {
    SZG_TRY(differentiate(context, self, l, g));
    if (g->dx)
        SZG_TRY(add_input(context, self, l, g));
    return g->dweight ? add_weight(context, self, l, g) : SZG_OK;
}

szg_status gpu_linear_backward(szg_context *context, const szgi_linear *l,
                               const szgi_linear_gradient *g) {
    return named(context, backward(context, session_of(context), l, g),
                 "linear backward %lld x %lld x %lld", (long long)l->rows, (long long)l->in,
                 (long long)l->out);
}

/* ---- What products tell ---- */

void gpu_products(szg_context *context, int64_t room, szgi_product_fact *out, int64_t *count) {
    product_facts(session_of(context), room, out, count);
}

szg_status gpu_products_begin(szg_context *context, bool timed, int64_t count,
                              const szgi_product_fact *kept) {
    return named(context, product_begin(context, session_of(context), timed, count, kept),
                 "products");
}
