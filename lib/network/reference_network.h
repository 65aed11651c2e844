/* The layers in plain C: the oracle of every faster table, in single and in double precision. */
#ifndef SZG_NETWORK_REFERENCE_NETWORK_H
#define SZG_NETWORK_REFERENCE_NETWORK_H

#include "network/ops.h"

extern const szgi_network_ops szgi_reference_network, szgi_reference_network64;

#endif
