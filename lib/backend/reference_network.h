/* The layers in plain C: the oracle of every faster table, in single and in double precision. */
#ifndef SZG_BACKEND_REFERENCE_NETWORK_H
#define SZG_BACKEND_REFERENCE_NETWORK_H

#include <szego/ops.h>

extern const szg_network_ops szg_reference_network, szg_reference_network64;

#endif
