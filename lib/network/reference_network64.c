#define REAL double
#define TABLE szgi_reference_network64
#include "reference_network.inc"
