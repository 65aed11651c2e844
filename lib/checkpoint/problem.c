#include "problem.h"

bool szgi_is_local_failure(szg_status status) {
    return status == SZG_EDATA || status == SZG_EDOMAIN || status == SZG_ENOCONV;
}

szg_status szgi_layer_problem(szg_context *context, const layer_weights *layer, char **problem) {
    const char *query = layer->q.weight->name, *key = layer->k.weight->name;
    bool fused = layer->q.weight == layer->k.weight;
    return szgi_text_append(context, problem, "%s%s%s: %s", query, fused ? "" : ", ",
                            fused ? "" : key, szg_context_message(context));
}
