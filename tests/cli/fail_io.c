/* Preloaded: the call named by FAIL, `fstat`, `unlink` or `pread`, fails with EIO on files whose
 * name holds FAIL_AT; reads fail that begin at the byte FAIL_FROM or behind it. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static bool fails(const char *call, const char *path) {
    const char *failing = getenv("FAIL"), *part = getenv("FAIL_AT");
    if (!failing || !part || strcmp(failing, call) != 0 || !strstr(path, part))
        return false;
    errno = EIO;
    return true;
}

static bool fails_on(const char *call, int descriptor) {
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, sizeof name - 1);
    name[length < 0 ? 0 : length] = 0;
    return fails(call, name);
}

__attribute__((visibility("default"))) int fstat64(int descriptor, struct stat64 *out) {
    int (*real)(int, struct stat64 *);
    *(void **)&real = dlsym(RTLD_NEXT, "fstat64");
    return fails_on("fstat", descriptor) ? -1 : real(descriptor, out);
}

__attribute__((visibility("default"))) int unlink(const char *path) {
    int (*real)(const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "unlink");
    return fails("unlink", path) ? -1 : real(path);
}

__attribute__((visibility("default"))) ssize_t pread64(int descriptor, void *to, size_t count,
                                                       off_t from) {
    ssize_t (*real)(int, void *, size_t, off_t);
    const char *least = getenv("FAIL_FROM");
    *(void **)&real = dlsym(RTLD_NEXT, "pread64");
    bool reached = least && from >= atoll(least);
    return reached && fails_on("pread", descriptor) ? -1 : real(descriptor, to, count, from);
}
