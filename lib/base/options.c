#include <string.h>

#include <szego/version.h>
#include "base/options.h"

szg_status szgi_options_copy(szg_context *context, const char *type, const void *from, void *to,
                             size_t size) {
    szgi_options_fault fault = szgi_options_fit(from, to, size);
    if (fault == SZGI_OPTIONS_FIT)
        return SZG_OK;
    size_t given;
    memcpy(&given, from, sizeof given);
    if (fault == SZGI_OPTIONS_UNSET)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: its field `size` is %zu, so it was not initialised: begin it with "
                         "{SZG_INIT(%s)}",
                         type, given, type);
    return szgi_fail(context, SZG_EINVAL,
                     "%s: {SZG_INIT(%s)} made %zu bytes and a field is set beyond the %zu bytes "
                     "that szego %s knows: use a later library, or leave that field 0",
                     type, type, given, size, szg_version());
}
