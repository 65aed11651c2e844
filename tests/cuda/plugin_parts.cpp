#include "plugin_parts.h"

static szgi_ops *opened;

static szg_status host_fail(szg_context *context, szg_status status, const char *message) {
    return szgi_fail(context, status, "%s", message);
}

static szg_status host_fail_prefix(szg_context *context, szg_status status, const char *prefix) {
    return szgi_fail_prefix(context, status, "%s", prefix);
}

static void host_say(szg_context *context, szg_severity severity, const char *message) {
    szgi_say(context, severity, "%s", message);
}

static szgi_ops *host_ops_of(szg_context *) {
    return opened;
}

static const szgi_host host = {.abi = SZGI_PLUGIN_ABI,
                               .fail = host_fail,
                               .say = host_say,
                               .fail_prefix = host_fail_prefix,
                               .check_cancel = szgi_context_check_cancel,
                               .ops_of = host_ops_of,
                               .message = szg_context_message,
                               .progress = szgi_progress};

session *parts_open(szgi_precision precision) {
    szg_device device = {};
    ck_assert_ptr_null(opened);
    cuda_host = &host;
    ck_szg_ok(session_open(test_context(), 0, &device, precision, &opened));
    return reinterpret_cast<session *>(opened);
}

void parts_close(session *self) {
    session_close(&self->ops);
    opened = NULL;
}
