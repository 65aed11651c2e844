#define REAL float
#define TABLE szg_reference_network
#include "reference_network.inc"
