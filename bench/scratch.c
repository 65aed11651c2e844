#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"

szg_status bench_scratch_open(szg_context *context, char folder[BENCH_SCRATCH]) {
    const char *parent = getenv("TMPDIR");
    int length = snprintf(folder, BENCH_SCRATCH, "%s/szego-bench-XXXXXX",
                          parent && *parent ? parent : "/tmp");
    if (length < BENCH_SCRATCH && mkdtemp(folder))
        return SZG_OK;
    return szgi_fail(context, SZG_EIO, "benchmark: no folder in %s: %s", folder, strerror(errno));
}

static int remove_one(const char *path, const struct stat *what, int type, struct FTW *where) {
    (void)what, (void)type, (void)where;
    return remove(path);
}

void bench_scratch_remove(const char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
