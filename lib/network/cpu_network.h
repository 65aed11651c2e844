/* The layers of the cpu's table. */
#ifndef SZG_NETWORK_CPU_NETWORK_H
#define SZG_NETWORK_CPU_NETWORK_H

#include "network/ops.h"

extern const szgi_network_ops szgi_cpu_network;

#define LAYER(name, words, arguments)                                                              \
    szg_status szgi_cpu_##name(szg_context *context SZGI_PARAMETERS arguments);
#include "network_ops.def"

#endif
