#include "cpu_network.h"

const szg_network_ops szg_cpu_network = {
    .real_size = sizeof(float),
};
