#include "plugin_dispatch.h"

void plugin_dispatch_fill(plugin_session *session) {
    session->ops = *szg_ops_cpu();
    session->ops.name = session->device->name;
    session->ops.network = session->device->network;
}
