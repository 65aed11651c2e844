#define REAL float
#define TABLE szgi_reference_network
#include "reference_network.inc"
