#include <stdio.h>
#include <string.h>
#include "base/context.h"
#include "base/suggest.h"
#include "linalg/cpu_level.h"

#include "backend.h"
#include "mpi.h"
#include "plugin.h"

const szgi_ops *szgi_ops_of(szg_context *context) {
    const szgi_ops *ops = szgi_context_ops(context);
    return ops ? ops : szgi_ops_cpu();
}

static szg_status select_host(szg_context *context, const szgi_ops *ops) {
    if (ops == szgi_ops_cpu())
        SZG_TRY(szgi_backend_check_simd(context));
    szgi_context_set_ops(context, ops);
    szgi_context_set_state(context, NULL, NULL);
    return SZG_OK;
}

static szg_status refuse_name(szg_context *context, const char *name, const char *choices) {
    return szgi_fail(context, SZG_EINVAL, "backend '%.80s' is unknown: %s %s", name,
                     SZGI_DID_YOU_CHOOSE(name, choices, "one of"), choices);
}

static szg_status select_cuda(szg_context *context, const char *name) {
    static const char *const names[SZGI_PRECISIONS] = {"cuda:tf32", "cuda:f32", "cuda:bf16"};
    if (strcmp(name, "cuda") == 0)
        name = names[SZGI_PRECISION_TF32];
    for (int i = 0; i < SZGI_PRECISIONS; i++)
        if (strcmp(name, names[i]) == 0)
            return szgi_plugin_select(context, (szgi_precision)i);
    return refuse_name(context, name, "cuda:tf32|cuda:f32|cuda:bf16");
}

/* Never silent: a note says what was chosen. */
static szg_status select_auto(szg_context *context) {
    szg_status status = select_cuda(context, "cuda");
    if (status == SZG_OK) {
        szgi_say(context, SZG_NOTE, "backend auto: %s", szgi_backend_name(context));
        return SZG_OK;
    }
    if (status != SZG_EBACKEND)
        return status;
    char reason[1024];
    snprintf(reason, sizeof reason, "%s", szg_context_message(context));
    SZG_TRY(select_host(context, szgi_ops_cpu()));
    szgi_say(context, SZG_NOTE, "backend auto: cpu; %s", reason);
    return SZG_OK;
}

szg_status szg_backend_select(szg_context *context, const char *name) {
    SZGI_ENTER(context);
    if (strncmp(name, "cuda", 4) == 0 && (name[4] == 0 || name[4] == ':'))
        return select_cuda(context, name);
    if (strcmp(name, "auto") == 0)
        return select_auto(context);
    if (strcmp(name, "cpu") == 0)
        return select_host(context, szgi_ops_cpu());
    if (strcmp(name, "reference") == 0)
        return select_host(context, szgi_ops_reference());
    if (strcmp(name, "mpi") == 0)
        return szgi_mpi_select(context);
    return refuse_name(context, name, "auto|cpu|reference|cuda|cuda:tf32|cuda:f32|cuda:bf16|mpi");
}

szg_status szg_backend_devices(szg_context *context, int room, szg_device *out, int *count,
                               const char **libraries) {
    SZGI_ENTER(context);
    const szgi_plugin *plugin;
    *count = 0;
    *libraries = NULL;
    SZG_TRY(szgi_plugin_load(context, &plugin));
    *libraries = plugin->libraries;
    return plugin->devices(context, room, out, count);
}
