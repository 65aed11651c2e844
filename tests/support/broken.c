/* A suite with a crash and a case that never ends: what broken.sh looks at. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "suite.h"

START_TEST(passes) {
    ck_assert_ptr_nonnull(test_context());
}
END_TEST

/* Comparisons that hold write nothing: a file may have 4 KiB. */
START_TEST(compares) {
    const struct rlimit bytes = {4096, 4096};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &bytes), 0);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_ge(i, 0);
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
    test_add(suite, "many", compares);
    test_add(suite, "last", passes);
}
