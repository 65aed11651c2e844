/* What the environment asks of the emulated GPU. SZG_EMULATED_DEAF=1: nothing, as of a real one. */
#ifndef EMULATED_SETTING_H
#define EMULATED_SETTING_H

#include <stdlib.h>

namespace emulated {

/* NULL: not set, or not heard. */
inline const char *setting(const char *variable) {
    return getenv("SZG_EMULATED_DEAF") ? nullptr : getenv(variable);
}

} // namespace emulated

#endif
