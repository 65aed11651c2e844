#include <string.h>

#include <szego/version.h>
#include "base/options.h"

/* No struct is as long, in this release or a later one: a size beyond is no size. */
enum { SIZE_MAX_KNOWN = 4096 };

static bool is_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

szg_status szgi_options_copy(szg_context *context, const char *type, const void *from, void *to,
                             size_t size) {
    memset(to, 0, size);
    if (from) {
        size_t given;
        memcpy(&given, from, sizeof given);
        if (given < sizeof given || given > SIZE_MAX_KNOWN)
            return szgi_fail(
                context, SZG_EINVAL,
                "%s: its field `size` is %zu, so it was not initialised: begin it with "
                "{SZG_INIT(%s)}",
                type, given, type);
        if (given > size && !is_zero((const unsigned char *)from + size, given - size))
            return szgi_fail(
                context, SZG_EINVAL,
                "%s: {SZG_INIT(%s)} made %zu bytes and a field is set beyond the %zu "
                "bytes that szego %s knows: use a later library, or leave that field 0",
                type, type, given, size, szg_version());
        memcpy(to, from, given < size ? given : size);
    }
    memcpy(to, &size, sizeof size);
    return SZG_OK;
}
