/* The table of the network's layers. */
#include "table.h"

const szgi_network_ops gpu_network = {
    .real_size = sizeof(float),
#define LAYER(name, words, arguments) .name = gpu_##name,
#define MOVE(name, arguments) .name = gpu_##name,
#define SERVICE(group, returns, name, parameters) .name = gpu_##name,
#include "network/network_ops.def"
};
