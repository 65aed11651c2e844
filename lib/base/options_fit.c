#include <string.h>

#include "base/options.h"

/* No struct is as long, in this release or a later one: a size beyond is no size. */
enum { SIZE_MAX_KNOWN = 4096 };

static bool is_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

szgi_options_fault szgi_options_fit(const void *from, void *to, size_t size) {
    memset(to, 0, size);
    if (from) {
        size_t given;
        memcpy(&given, from, sizeof given);
        if (given < sizeof given || given > SIZE_MAX_KNOWN)
            return SZGI_OPTIONS_UNSET;
        if (given > size && !is_zero((const unsigned char *)from + size, given - size))
            return SZGI_OPTIONS_UNKNOWN;
        memcpy(to, from, given < size ? given : size);
    }
    memcpy(to, &size, sizeof size);
    return SZGI_OPTIONS_FIT;
}
