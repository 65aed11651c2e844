#include "cpu_network.h"
#include "network_memory.h"

const szg_network_ops szg_cpu_network = {
    .real_size = sizeof(float),
    SZG_HOST_MEMORY,
    .linear = szg_cpu_linear,
    .linear_backward = szg_cpu_linear_backward,
    .attention = szg_cpu_attention,
    .attention_backward = szg_cpu_attention_backward,
    .attention_logits = szg_cpu_attention_logits,
    .diagonal_means = szg_cpu_diagonal_means,
    .join = szg_cpu_join,
    .join_backward = szg_cpu_join_backward,
    .bias = szg_cpu_bias,
    .bias_backward = szg_cpu_bias_backward,
    .layer_norm = szg_cpu_layer_norm,
    .layer_norm_backward = szg_cpu_layer_norm_backward,
    .dropout_residual = szg_cpu_dropout_residual,
    .dropout_backward = szg_cpu_dropout_backward,
    .embedding = szg_cpu_embedding,
    .embedding_backward = szg_cpu_embedding_backward,
    .pooling = szg_cpu_pooling,
    .pooling_backward = szg_cpu_pooling_backward,
    .cross_entropy = szg_cpu_cross_entropy,
    .finite = szg_cpu_finite,
    .adamw = szg_cpu_adamw,
};
