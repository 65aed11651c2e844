#include <szego/ball.h>

#include "arb_private.h"

const char *szg_ball_library(void) {
#if __FLINT_RELEASE >= 30000
    return "FLINT " FLINT_VERSION;
#else
    return "FLINT " FLINT_VERSION ", Arb";
#endif
}
