#include "base/context.h"
#include "cpu.h"

const szgi_linalg_ops szgi_linalg_cpu = {
#define ORACLE(returns, name, parameters) .name = szgi_cpu_##name,
#define VENDOR(returns, name, parameters) .name = szgi_cpu_##name,
#include "linalg_ops.def"
};

const szgi_linalg_ops *szgi_linalg_of(szg_context *context) {
    const szgi_ops *ops = szgi_context_ops(context);
    return ops ? ops->linalg : &szgi_linalg_cpu;
}

const char *szgi_backend_name(szg_context *context) {
    const szgi_ops *ops = szgi_context_ops(context);
    return ops ? ops->name : "cpu";
}
