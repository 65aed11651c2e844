#include "fuzz.h"

szg_context *fuzz_context(void) {
    static szg_context *context;
    szg_context_options options = {.threads = 1};
    if (!context && szg_context_open(&options, &context) != SZG_OK)
        abort();
    return context;
}
