/* The layers of the cpu table: one file a group of operations. Signatures are those of ops.h. */
#ifndef SZG_BACKEND_CPU_NETWORK_H
#define SZG_BACKEND_CPU_NETWORK_H

#include <szego/ops.h>

extern const szg_network_ops szg_cpu_network;

szg_status szg_cpu_linear(szg_context *context, const szg_linear *linear);
szg_status szg_cpu_linear_backward(szg_context *context, const szg_linear *linear,
                                   const szg_linear_gradient *gradient);

szg_status szg_cpu_join(szg_context *context, const szg_join *join, const void *a, const void *b,
                        void *out);
szg_status szg_cpu_join_backward(szg_context *context, const szg_join *join, const void *dout,
                                 void *da, void *db);
szg_status szg_cpu_bias(szg_context *context, const szg_bias_rows *rows, const void *table,
                        void *bias);
szg_status szg_cpu_bias_backward(szg_context *context, const szg_bias_rows *rows, const void *dbias,
                                 void *dtable);

szg_status szg_cpu_layer_norm(szg_context *context, const szg_layer_norm *norm);
szg_status szg_cpu_layer_norm_backward(szg_context *context, const szg_layer_norm *norm,
                                       const szg_layer_norm_gradient *gradient);

szg_status szg_cpu_dropout_residual(szg_context *context, int64_t rows, int64_t columns,
                                    const szg_dropout *dropout, const void *x, const void *residual,
                                    void *y);
szg_status szg_cpu_dropout_backward(szg_context *context, int64_t rows, int64_t columns,
                                    const szg_dropout *dropout, const void *dy, void *dx);

szg_status szg_cpu_gather(szg_context *context, const szg_gather *gather);
szg_status szg_cpu_embedding(szg_context *context, const szg_embedding *embedding);
szg_status szg_cpu_embedding_backward(szg_context *context, const szg_embedding *embedding,
                                      const void *dout, void *dtable, void *dtrained);
szg_status szg_cpu_pooling(szg_context *context, const szg_pooling *pooling, const void *x,
                           void *y);
szg_status szg_cpu_pooling_backward(szg_context *context, const szg_pooling *pooling,
                                    const void *dy, void *dx);

szg_status szg_cpu_cross_entropy(szg_context *context, const szg_cross_entropy *entropy);
szg_status szg_cpu_finite(szg_context *context, int64_t count, const void *x,
                          szg_step_block *block);
szg_status szg_cpu_adamw(szg_context *context, const szg_adamw *adamw);
szg_status szg_cpu_advance(szg_context *context, const szg_step_block *blocks, int64_t count,
                           szg_step_block *block, int64_t *at);

szg_status szg_cpu_attention(szg_context *context, const szg_attention *attention);
szg_status szg_cpu_attention_backward(szg_context *context, const szg_attention *attention,
                                      const szg_attention_gradient *gradient);
szg_status szg_cpu_attention_logits(szg_context *context, const szg_attention *attention,
                                    bool coupled, void *logits);
szg_status szg_cpu_diagonal_means(szg_context *context, int64_t count, int64_t n, const void *a,
                                  void *out);

#endif
