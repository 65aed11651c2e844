/* What the library gives its plugin. */
#include "base/context.h"
#include "dispatch.h"
#include "host.h"

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

static szgi_ops *host_ops_of(szg_context *context) {
    plugin_session *session = szgi_context_state(context);
    return session->device;
}

const szgi_host szgi_plugin_host = {.abi = SZGI_PLUGIN_ABI,
                                    .fail = host_fail,
                                    .fail_prefix = host_fail_prefix,
                                    .say = host_say,
                                    .check_cancel = host_check_cancel,
                                    .ops_of = host_ops_of,
                                    .message = szg_context_message,
                                    .progress = szgi_progress};
