#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meddle.h"

static struct {
    const char *path;
    meddling how;
    int reads; /* until the change; 0: nothing is to be done */
} change;

void meddle_with(const char *path, meddling how, int reads) {
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    change.path = path;
    change.how = how;
    change.reads = reads;
}

void meddle_restore(const char *path, const void *bytes, size_t size) {
    ck_assert_msg(change.reads == 0, "%s: %d reads are missing", path, change.reads);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

static int make_change(void) {
    if (change.how == MEDDLE_FAIL) {
        errno = EIO;
        return -1;
    }
    const struct timespec later[2] = {{.tv_sec = 2}, {.tv_sec = 2}};
    return change.how == MEDDLE_CUT ? truncate(change.path, 1)
                                    : utimensat(AT_FDCWD, change.path, later, 0);
}

/* In the place of the system's, for every reader of the program. */
ssize_t pread64(int descriptor, void *to, size_t count, off64_t offset) {
    if (change.reads > 0 && --change.reads == 0 && make_change() != 0)
        return -1;
    return syscall(SYS_pread64, descriptor, to, count, offset);
}
