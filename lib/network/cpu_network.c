#include "cpu_network.h"
#include "memory.h"

const szgi_network_ops szgi_cpu_network = {
    .real_size = sizeof(float),
    SZGI_HOST_MEMORY,
#define LAYER(name, words, arguments) .name = szgi_cpu_##name,
#include "network_ops.def"
};
