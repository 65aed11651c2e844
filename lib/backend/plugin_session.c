/* A context that works on the plugin's table. */
#include <stdlib.h>

#include "base/memory.h"
#include "plugin.h"
#include "plugin_dispatch.h"
#include "plugin_host.h"

static szg_status host_fail(szg_context *context, szg_status status, const char *message) {
    return szgi_fail(context, status, "%s", message);
}

static szg_status host_fail_prefix(szg_context *context, szg_status status, const char *prefix) {
    return szgi_fail_prefix(context, status, "%s", prefix);
}

static void host_say(szg_context *context, szg_severity severity, const char *message) {
    szgi_say(context, severity, "%s", message);
}

static szg_status host_check_cancel(szg_context *context) {
    return szgi_context_check_cancel(context);
}

static szg_ops *host_ops_of(szg_context *context) {
    plugin_session *session = szgi_context_state(context);
    return session->device;
}

const szgi_host szgi_plugin_host = {.abi = SZG_PLUGIN_ABI,
                                    .fail = host_fail,
                                    .fail_prefix = host_fail_prefix,
                                    .say = host_say,
                                    .check_cancel = host_check_cancel,
                                    .ops_of = host_ops_of};

static void release(void *state) {
    plugin_session *session = state;
    session->plugin->close(session->device);
    pthread_mutex_destroy(&session->lock);
    szgi_memory_free(session);
}

szg_status szgi_plugin_select(szg_context *context, szg_precision precision) {
    plugin_session *session;
    const szgi_plugin *plugin;
    szg_status status;
    SZG_TRY(szgi_plugin_load(context, &plugin));
    SZG_TRY(szgi_memory_alloc(context, 1, sizeof *session, &session));
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
