/* The layers of the cpu table: one file a group of operations. Signatures are those of ops.h. */
#ifndef SZG_NETWORK_CPU_NETWORK_H
#define SZG_NETWORK_CPU_NETWORK_H

#include "network/ops.h"

extern const szgi_network_ops szgi_cpu_network;

szg_status szgi_cpu_linear(szg_context *context, const szgi_linear *linear);
szg_status szgi_cpu_linear_backward(szg_context *context, const szgi_linear *linear,
                                    const szgi_linear_gradient *gradient);

szg_status szgi_cpu_join(szg_context *context, const szgi_join *join, const void *a, const void *b,
                         void *out);
szg_status szgi_cpu_join_backward(szg_context *context, const szgi_join *join, const void *dout,
                                  void *da, void *db);
szg_status szgi_cpu_bias(szg_context *context, const szgi_bias_rows *rows, const void *table,
                         void *bias);
szg_status szgi_cpu_bias_backward(szg_context *context, const szgi_bias_rows *rows,
                                  const void *dbias, void *dtable);

szg_status szgi_cpu_layer_norm(szg_context *context, const szgi_layer_norm *norm);
szg_status szgi_cpu_layer_norm_backward(szg_context *context, const szgi_layer_norm *norm,
                                        const szgi_layer_norm_gradient *gradient);

szg_status szgi_cpu_dropout_residual(szg_context *context, int64_t rows, int64_t columns,
                                     const szgi_dropout *dropout, const void *x,
                                     const void *residual, void *y);
szg_status szgi_cpu_dropout_backward(szg_context *context, int64_t rows, int64_t columns,
                                     const szgi_dropout *dropout, const void *dy, void *dx);

szg_status szgi_cpu_gather(szg_context *context, const szgi_gather *gather);
szg_status szgi_cpu_embedding(szg_context *context, const szgi_embedding *embedding);
szg_status szgi_cpu_embedding_backward(szg_context *context, const szgi_embedding *embedding,
                                       const void *dout, void *dtable, void *dtrained);
szg_status szgi_cpu_pooling(szg_context *context, const szgi_pooling *pooling, const void *x,
                            void *y);
szg_status szgi_cpu_pooling_backward(szg_context *context, const szgi_pooling *pooling,
                                     const void *dy, void *dx);

szg_status szgi_cpu_cross_entropy(szg_context *context, const szgi_cross_entropy *entropy);
szg_status szgi_cpu_finite(szg_context *context, int64_t count, const void *x,
                           szgi_step_block *block);
szg_status szgi_cpu_adamw(szg_context *context, const szgi_adamw *adamw);
szg_status szgi_cpu_advance(szg_context *context, const szgi_step_block *blocks, int64_t count,
                            szgi_step_block *block, int64_t *at);

szg_status szgi_cpu_attention(szg_context *context, const szgi_attention *attention);
szg_status szgi_cpu_attention_backward(szg_context *context, const szgi_attention *attention,
                                       const szgi_attention_gradient *gradient);
szg_status szgi_cpu_attention_logits(szg_context *context, const szgi_attention *attention,
                                     bool coupled, void *logits);
szg_status szgi_cpu_diagonal_means(szg_context *context, int64_t count, int64_t n, const void *a,
                                   void *out);

#endif
