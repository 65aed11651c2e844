/* Preloaded: a library call that never ends, while a temporary file is there. With HASTE set the
 * tenths of a second by which the program waits last a hundredth of that. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int nanosleep(const struct timespec *wanted,
                                                     struct timespec *rest) {
    struct timespec shorter = *wanted;
    if (getenv("HASTE"))
        shorter = (struct timespec){.tv_nsec = wanted->tv_nsec / 100};
    return clock_nanosleep(CLOCK_REALTIME, 0, &shorter, rest);
}

/* Of the files whose name holds HANG_AT, where that is set. */
static bool hangs(int descriptor) {
    char link[64], name[4096];
    const char *part = getenv("HANG_AT");
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (!part || length < 0)
        return true;
    name[length] = 0;
    return strstr(name, part) != NULL;
}

__attribute__((visibility("default"))) int fsync(int descriptor) {
    while (hangs(descriptor))
        pause();
    return 0;
}
