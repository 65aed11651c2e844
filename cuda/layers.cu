/* The table's entries of norms, dropout, both ends and the optimiser. */
#include "layers.h"

#include "table.h"

void layers_fill(szgi_network_ops *network) {
    network->layer_norm = norm_forward;
    network->layer_norm_backward = norm_backward;
    network->dropout_residual = dropout_residual;
    network->dropout_backward = dropout_backward;
    network->embedding = embedding_forward;
    network->embedding_backward = embedding_backward;
    network->pooling = pooling_forward;
    network->pooling_backward = pooling_backward;
    network->cross_entropy = cross_entropy;
    network->adamw = adamw_step;
    network->finite = find_not_finite;
    network->gather = gather_batch;
    network->advance = advance_step;
}
