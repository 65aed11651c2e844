/* For programs that try the backend named by SZG_TEST_BACKEND. */
#ifndef SZG_TESTS_TESTED_BACKEND_H
#define SZG_TESTS_TESTED_BACKEND_H

#include "linalg/linalg.h"

#include "suite.h"

static inline void use_backend(const char *name) {
    ck_szg_ok(szg_backend_select(test_context(), name));
}

/* The backend under test, which oracles leave and come back to; a set-up for test_before_each. */
static inline void use_tested_backend(void) {
    use_backend(test_backend());
}

#endif
