#include <ftw.h>
#include <unistd.h>

#include "fuzz.h"

szg_context *fuzz_context(void) {
    static szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    if (!context && szg_context_open(&options, &context) != SZG_OK)
        abort();
    return context;
}

static char folder[32];

const char *fuzz_folder(void) {
    if (*folder)
        return folder;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/szego-XXXXXX" : "/tmp/szego-XXXXXX");
    if (!mkdtemp(folder)) {
        perror(folder);
        abort();
    }
    return folder;
}

const char *fuzz_file(const char *name, const void *data, size_t size) {
    enum { PATHS = 8 };
    static char path[PATHS][256];
    static int last;
    last = (last + 1) % PATHS;
    snprintf(path[last], sizeof path[last], "%s/%s", fuzz_folder(), name);
    FILE *file = fopen(path[last], "wb");
    FUZZ_PROMISE(file != NULL);
    FUZZ_PROMISE(size == 0 || fwrite(data, 1, size, file) == size);
    FUZZ_PROMISE(fclose(file) == 0);
    return path[last];
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

void fuzz_clean(void) {
    if (*folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    *folder = 0;
}
