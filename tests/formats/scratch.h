/* Files for tests: a folder that is removed at the end, and bytes in and out. */
#ifndef SZG_TESTS_FORMATS_SCRATCH_H
#define SZG_TESTS_FORMATS_SCRATCH_H

#include "suite.h"

/* Path of `name` in the scratch folder, in a buffer that lives until four calls later. */
const char *scratch_path(const char *name);

/* Writes bytes, or a text, to the scratch file `name` and returns its path. */
const char *scratch_bytes(const char *name, const void *data, size_t size);
const char *scratch_text(const char *name, const char *text);

/* The whole file as a text that the caller frees with free; fails the test if it cannot be read. */
char *scratch_read(const char *path, size_t *size);

/* Number of entries of a folder. */
int scratch_entries(const char *folder);

/* Repeats `call` with its first, second, third ... allocation refused until it succeeds, then runs
 * `cleanup`. Every failure must be SZG_ENOMEM; leaks are for the sanitizer to find. */
#define ck_survives_failed_allocations(call, cleanup)                                              \
    do {                                                                                           \
        for (int64_t ck_at_ = 1;; ck_at_++) {                                                      \
            szg_memory_fail_after(test_context(), ck_at_);                                         \
            szg_status ck_status_ = (call);                                                        \
            szg_memory_fail_after(test_context(), 0);                                              \
            if (ck_status_ == SZG_OK) {                                                            \
                ck_assert_msg(ck_at_ > 1, "%s allocates nothing", #call);                          \
                cleanup;                                                                           \
                break;                                                                             \
            }                                                                                      \
            ck_assert_msg(ck_status_ == SZG_ENOMEM && ck_at_ < 100000, "%s: allocation %d: %s",    \
                          #call, (int)ck_at_, szg_context_message(test_context()));                \
        }                                                                                          \
    } while (0)

#endif
