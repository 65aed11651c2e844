#include "backend.h"
#include "linalg/ops.h"
#include "network/cpu_network.h"
#include "network/reference_network.h"

static const szgi_ops cpu = {
    .name = "cpu", .linalg = &szgi_linalg_cpu, .network = &szgi_cpu_network};
static const szgi_ops reference = {
    .name = "reference", .linalg = &szgi_linalg_reference, .network = &szgi_reference_network};
static const szgi_ops reference64 = {
    .name = "reference64", .linalg = &szgi_linalg_reference, .network = &szgi_reference_network64};

const szgi_ops *szgi_ops_cpu(void) {
    return &cpu;
}

const szgi_ops *szgi_ops_reference(void) {
    return &reference;
}

const szgi_ops *szgi_ops_reference64(void) {
    return &reference64;
}
