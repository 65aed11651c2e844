/* A context that works on the plugin's table. */
#include <stdlib.h>

#include "base/memory.h"
#include "plugin.h"
#include "dispatch.h"

static void release(void *state) {
    plugin_session *session = state;
    session->plugin->close(session->device);
    pthread_mutex_destroy(&session->lock);
    szgi_memory_free(session);
}

szg_status szgi_plugin_select(szg_context *context, szgi_precision precision) {
    plugin_session *session;
    const szgi_plugin *plugin;
    szg_status status;
    SZG_TRY(szgi_plugin_load(context, &plugin));
    SZG_TRY(szgi_memory_alloc(context, 1, &session));
    session->plugin = plugin;
    SZG_TRY_GOTO(status, plugin->open(context, precision, &session->device), failed);
    SZG_TRY_GOTO(status, szgi_plugin_dispatch_fill(context, session), filled);
    pthread_mutex_init(&session->lock, NULL);
    szgi_context_set_state(context, session, release);
    szgi_context_set_ops(context, &session->ops);
    return SZG_OK;
filled:
    plugin->close(session->device);
failed:
    szgi_memory_free(session);
    return status;
}
