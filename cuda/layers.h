/* The entries of layers.cu, by file. */
#ifndef SZG_CUDA_LAYERS_H
#define SZG_CUDA_LAYERS_H

#include "session.h"

/* norm.cu */
szg_status norm_forward(szg_context *context, const szgi_layer_norm *norm);
/* norm_backward.cu */
szg_status norm_backward(szg_context *context, const szgi_layer_norm *norm,
                         const szgi_layer_norm_gradient *gradient);
/* dropout.cu */
szg_status dropout_residual(szg_context *context, int64_t rows, int64_t columns,
                            const szgi_dropout *dropout, const void *x, const void *residual,
                            void *y);
szg_status dropout_backward(szg_context *context, int64_t rows, int64_t columns,
                            const szgi_dropout *dropout, const void *dy, void *dx);
/* embedding.cu, embedding_backward.cu */
szg_status embedding_forward(szg_context *context, const szgi_embedding *embedding);
szg_status embedding_backward(szg_context *context, const szgi_embedding *embedding,
                              const void *dout, void *dtable, void *dtrained);
/* pooling.cu */
szg_status pooling_forward(szg_context *context, const szgi_pooling *pooling, const void *x,
                           void *y);
szg_status pooling_backward(szg_context *context, const szgi_pooling *pooling, const void *dy,
                            void *dx);
/* entropy.cu */
szg_status cross_entropy(szg_context *context, const szgi_cross_entropy *entropy);
/* adamw.cu */
szg_status adamw_step(szg_context *context, const szgi_adamw *adamw);
szg_status find_not_finite(szg_context *context, int64_t count, const void *x,
                           szgi_step_block *block);
/* gather.cu */
szg_status gather_batch(szg_context *context, const szgi_gather *gather);
szg_status advance_step(szg_context *context, const szgi_step_block *blocks, int64_t count,
                        szgi_step_block *block, int64_t *at);

#endif
