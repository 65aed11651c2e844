#include <string.h>

#include <szego/ops.h>

const szg_ops *szg_ops_of(szg_context *context) {
    const szg_ops *ops = szg_context_ops(context);
    return ops ? ops : szg_ops_cpu();
}

const char *szg_ops_name(const szg_ops *ops) {
    return ops->name;
}

szg_status szg_backend_select(szg_context *context, const char *name) {
    if (strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0)
        szg_context_set_ops(context, szg_ops_cpu());
    else if (strcmp(name, "reference") == 0)
        szg_context_set_ops(context, szg_ops_reference());
    else if (strcmp(name, "cuda") == 0)
        return szg_fail(context, SZG_EBACKEND,
                        "backend cuda: this build has no plugin for it; use auto or cpu");
    else
        return szg_fail(context, SZG_EINVAL,
                        "backend '%s' is unknown: auto, cpu, reference or cuda", name);
    return SZG_OK;
}
