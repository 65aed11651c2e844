#include "reference_network.h"

const szg_network_ops szg_reference_network = {
    .real_size = sizeof(float),
};

const szg_network_ops szg_reference_network64 = {
    .real_size = sizeof(double),
};
