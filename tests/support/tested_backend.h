/* For programs that try the backend named by SZG_TEST_BACKEND. */
#ifndef SZG_TESTS_TESTED_BACKEND_H
#define SZG_TESTS_TESTED_BACKEND_H

#include <stdlib.h>
#include <szego/backend.h>

#include "suite.h"

static inline void use_backend(const char *name) {
    ck_szg_ok(szg_backend_select(test_context(), name));
}

/* The backend under test, which oracles leave and come back to. */
static inline void use_tested_backend(void) {
    use_backend(test_backend());
}

/* The same before the first test, where nothing can fail but the program. */
static inline void start_tested_backend(void) {
    if (szg_backend_select(test_context(), test_backend()) == SZG_OK)
        return;
    fprintf(stderr, "%s: %s\n", test_backend(), szg_context_message(test_context()));
    exit(EXIT_FAILURE);
}

#endif
