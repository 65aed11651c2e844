/* Fused attention: which kernel runs. */
#ifndef SZG_CUDA_ATTENTION_CUH
#define SZG_CUDA_ATTENTION_CUH

#include "tile.cuh"
#include "session.h"

enum { ATTENTION_WIDEST = 128 }; /* d_qk and d_v of the fused kernels */

/* forward.cu, backward.cu. */
szg_status attention_forward(szg_context *context, session *self, const attention_call &a);
szg_status attention_backward(szg_context *context, session *self, attention_call a, float *dbias);

/* logits.cu. */
szg_status attention_logits(szg_context *context, session *self, const attention_call &a,
                            float *out);

/* Refuses a grid beyond what a launch takes. */
inline szg_status attention_grid(szg_context *context, int64_t blocks) {
    if (blocks <= INT32_MAX)
        return SZG_OK;
    return fail(context, SZG_EBACKEND,
                "%lld blocks, more than a launch has: make the batch smaller", (long long)blocks);
}

/* Calls Launch<Qk, V, Exact>::run with the padded widths and the precision. The pairs are few, for
 * each is compiled for every architecture: those of the models, and 128 for the rest. */
template <template <int, int, bool> class Launch, int Qk, int V>
szg_status attention_by_precision(szg_context *context, session *self, const attention_call &a) {
    if (self->precision == SZGI_PRECISION_F32)
        return Launch<Qk, V, true>::run(context, self, a);
    return Launch<Qk, V, false>::run(context, self, a);
}

template <template <int, int, bool> class Launch>
szg_status attention_by_width(szg_context *context, session *self, const attention_call &a) {
    int widest = a.q.width > a.v.width ? a.q.width : a.v.width;
    if (widest <= 16)
        return attention_by_precision<Launch, 16, 16>(context, self, a);
    if (widest <= 32 && a.v.width <= 16)
        return attention_by_precision<Launch, 32, 16>(context, self, a);
    if (widest <= 32)
        return attention_by_precision<Launch, 32, 32>(context, self, a);
    if (widest <= 64)
        return attention_by_precision<Launch, 64, 64>(context, self, a);
    return attention_by_precision<Launch, 128, 128>(context, self, a);
}

#endif
