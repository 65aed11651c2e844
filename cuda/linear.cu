/* Linear layers: products on cuBLASLt with bias and RELU in them, kernels of our own for what has
 * no epilogue.
 *
 * At 65,536 rows, 256 to 1024: 34 Gflop a product, 0.07 ms at 495 Tflop/s (an H100's dense TF32),
 * 0.11 ms for the 336 MB that it moves at 3.0 TB/s: the memory decides. */
#include "layers_sums.h"
#include "linear_activation.h"
#include "product.h"
#include "table.h"

/* Passes of the forward direction that no epilogue took along. */
static uint32_t separate_of(const szgi_linear *l, const product_done *done) {
    uint32_t passes = l->bias && !done->bias ? SZG_EPILOGUE_BIAS : 0;
    if (l->activation == SZG_ACTIVATION_GELU)
        passes |= SZG_EPILOGUE_GELU;
    if (l->activation == SZG_ACTIVATION_RELU && !done->relu)
        passes |= SZG_EPILOGUE_RELU;
    return passes;
}

/* y^T = W x^T by columns: W by rows is W^T by columns, x is x^T. */
static szg_status forward(szg_context *context, session *self, const szgi_linear *l) {
    bool apart = l->activation == SZG_ACTIVATION_GELU && l->before;
    float *y = static_cast<float *>(l->y), *z = apart ? static_cast<float *>(l->before) : y;
    int64_t ldz = apart ? l->out : l->ldy;
    product p = {true,
                 false,
                 l->out,
                 l->rows,
                 l->in,
                 static_cast<const float *>(l->weight),
                 l->in,
                 static_cast<const float *>(l->x),
                 l->ldx,
                 z,
                 ldz,
                 false,
                 static_cast<const float *>(l->bias),
                 l->activation == SZG_ACTIVATION_RELU};
    product_done done;
    SZG_TRY(product_run(context, self, &p, &done));
    SZG_TRY(product_note(context, self, &done, separate_of(l, &done)));
    if (p.bias && !done.bias) {
        activation_job add = {l->rows, l->out, z, ldz, z, ldz, p.bias};
        SZG_TRY(activation_run(context, self, SZG_ACTIVATION_NONE, &add));
    }
    if (l->activation == SZG_ACTIVATION_NONE || done.relu)
        return SZG_OK;
    activation_job job = {l->rows, l->out, z, ldz, y, l->ldy, NULL};
    return activation_run(context, self, l->activation, &job);
}

static szg_status linear_forward(szg_context *context, const szgi_linear *l) {
    return named(context, forward(context, session_of(context), l), "linear %lld x %lld x %lld",
                 (long long)l->rows, (long long)l->in, (long long)l->out);
}

/* dz = dy act' and the bias's gradient. */
static szg_status differentiate(szg_context *context, session *self, const szgi_linear *l,
                                const szgi_linear_gradient *g) {
    bool gelu = l->activation == SZG_ACTIVATION_GELU, none = l->activation == SZG_ACTIVATION_NONE;
    column_sums sums = {l->rows,
                        l->out,
                        l->activation,
                        static_cast<float *>(g->dy),
                        g->lddy,
                        none ? NULL : static_cast<const float *>(gelu ? l->before : l->y),
                        gelu ? l->out : l->ldy,
                        static_cast<float *>(g->dbias)};
    return none && !g->dbias ? SZG_OK : column_sums_add(context, self, &sums);
}

/* dx^T (+)= W^T dz^T by columns. */
static szg_status add_input(szg_context *context, session *self, const szgi_linear *l,
                            const szgi_linear_gradient *g) {
    product_done done;
    product p = {false,   false,
                 l->in,   l->rows,
                 l->out,  static_cast<const float *>(l->weight),
                 l->in,   static_cast<const float *>(g->dy),
                 g->lddy, static_cast<float *>(g->dx),
                 g->lddx, g->add_dx,
                 NULL,    false};
    SZG_TRY(product_run(context, self, &p, &done));
    return product_note(context, self, &done, 0);
}

/* dW^T += x^T dz by columns. What differentiate did stands beside it: cuBLASLt has epilogues for
 * the bias's gradient (BGRADB, here) and for RELU's derivative (DRELU, in the product before). */
static szg_status add_weight(szg_context *context, session *self, const szgi_linear *l,
                             const szgi_linear_gradient *g) {
    product_done done;
    product p = {false,   true,
                 l->in,   l->out,
                 l->rows, static_cast<const float *>(l->x),
                 l->ldx,  static_cast<const float *>(g->dy),
                 g->lddy, static_cast<float *>(g->dweight),
                 l->in,   true,
                 NULL,    false};
    uint32_t separate = l->activation == SZG_ACTIVATION_NONE ? 0 : SZG_EPILOGUE_DERIVATIVE;
    if (g->dbias)
        separate |= SZG_EPILOGUE_BIAS_GRADIENT;
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

static szg_status linear_backward(szg_context *context, const szgi_linear *l,
                                  const szgi_linear_gradient *g) {
    return named(context, backward(context, session_of(context), l, g),
                 "linear backward %lld x %lld x %lld", (long long)l->rows, (long long)l->in,
                 (long long)l->out);
}

static void products(szg_context *context, int64_t room, szgi_product_fact *out, int64_t *count) {
    product_facts(session_of(context), room, out, count);
}

static szg_status products_begin(szg_context *context, bool timed, int64_t count,
                                 const szgi_product_fact *kept) {
    return named(context, product_begin(context, session_of(context), timed, count, kept),
                 "products");
}

void linear_fill(szgi_network_ops *network) {
    network->linear = linear_forward;
    network->linear_backward = linear_backward;
    network->products = products;
    network->products_begin = products_begin;
}
