#include <szego/status.h>

const char *szg_status_name(szg_status status) {
    static const char *const names[SZG_STATUS_COUNT] = {
        [SZG_OK] = "ok",
        [SZG_EINVAL] = "invalid argument",
        [SZG_EDATA] = "bad data",
        [SZG_EDOMAIN] = "no answer exists",
        [SZG_ENOCONV] = "not converged",
        [SZG_ENOMEM] = "out of memory",
        [SZG_EIO] = "input/output error",
        [SZG_ECANCEL] = "cancelled",
        [SZG_EBACKEND] = "backend missing",
        [SZG_EINTERNAL] = "internal error",
    };
    if ((unsigned)status >= SZG_STATUS_COUNT)
        return "unknown status";
    return names[status];
}
