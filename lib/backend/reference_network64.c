#define REAL double
#define TABLE szg_reference_network64
#include "reference_network.inc"
