#include "backend.h"
#include "linalg/ops.h"
#include "network/cpu_network.h"
#include "network/reference_network.h"

static const szgi_ops cpu = {"cpu", &szgi_linalg_cpu, &szgi_cpu_network};
static const szgi_ops reference = {"reference", &szgi_linalg_reference, &szgi_reference_network};
static const szgi_ops reference64 = {"reference64", &szgi_linalg_reference,
                                     &szgi_reference_network64};

const szgi_ops *szgi_ops_cpu(void) {
    return &cpu;
}

const szgi_ops *szgi_ops_reference(void) {
    return &reference;
}

const szgi_ops *szgi_ops_reference64(void) {
    return &reference64;
}
