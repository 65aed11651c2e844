/* A suite with a crash and a case that never ends: what broken.sh looks at. */
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"

START_TEST(passes) {
    ck_assert_ptr_nonnull(test_context());
}
END_TEST

START_TEST(crashes) {
    abort();
}
END_TEST

START_TEST(hangs) {
    for (;;)
        pause();
}
END_TEST

TEST_FILE("broken") {
    test_add(suite, "first", passes);
    test_add(suite, "crash", crashes);
    test_add(suite, "hang", hangs);
    test_add(suite, "last", passes);
}
