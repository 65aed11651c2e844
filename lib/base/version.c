#include <szego/version.h>

#include "build_version.h"

const char *szg_version(void) {
    return SZG_VERSION;
}

const char *szg_commit(void) {
    return SZG_COMMIT;
}
