/* Another program at work on a file that is being read, at a moment that a test chooses. */
#ifndef SZG_TESTS_MEDDLE_H
#define SZG_TESTS_MEDDLE_H

#include <szego/status.h>
#include "scratch.h"

typedef enum meddling { MEDDLE_CUT, MEDDLE_WRITE, MEDDLE_FAIL } meddling;

/* Before the `reads`-th read by position from now on, 1 the next, the file is cut to one byte, or
 * gets the time of a later write; or that read fails with EIO. It has an old time until then. */
void meddle_with(const char *path, meddling how, int reads);

/* Fails unless `call`, which reads the file, ends with SZG_EIO and says that the file was changed.
 */
#define ck_notices_changes(path, reads, call)                                                      \
    do {                                                                                           \
        size_t ck_size;                                                                            \
        char ck_path[512], *ck_bytes;                                                              \
        snprintf(ck_path, sizeof ck_path, "%s", path);                                             \
        ck_bytes = scratch_read(ck_path, &ck_size);                                                \
        meddle_with(ck_path, MEDDLE_CUT, reads);                                                   \
        ck_szg_fails(SZG_EIO, "while it was read", call);                                          \
        meddle_restore(ck_path, ck_bytes, ck_size);                                                \
        meddle_with(ck_path, MEDDLE_WRITE, reads);                                                 \
        ck_szg_fails(SZG_EIO, "while it was read", call);                                          \
        meddle_restore(ck_path, ck_bytes, ck_size);                                                \
        free(ck_bytes);                                                                            \
    } while (0)

/* Writes the bytes back; fails if the change has not been made. */
void meddle_restore(const char *path, const void *bytes, size_t size);

#endif
