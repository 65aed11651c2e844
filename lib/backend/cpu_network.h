/* The layers of the cpu table: one file a group of operations. Signatures are those of ops.h. */
#ifndef SZG_BACKEND_CPU_NETWORK_H
#define SZG_BACKEND_CPU_NETWORK_H

#include <szego/ops.h>

extern const szg_network_ops szg_cpu_network;

#endif
