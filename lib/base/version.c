#include <szego/version.h>

#include "build_version.h"

int szg_version_number(void) {
    return SZG_VERSION_NUMBER;
}

const char *szg_version(void) {
    return SZG_VERSION;
}

const char *szg_commit(void) {
    return SZG_COMMIT;
}
