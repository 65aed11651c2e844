#include "formats/archives.h"
#include "fuzz.h"

enum { MOST = 1 << 24 };

/* Every name could be joined to a folder and stay in it; each stands there once, in order, and is
 * found by its name. */
static void use_files(const szgi_archive *archive) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < szgi_archive_count(archive); i++) {
        szgi_archive_file file = szgi_archive_file_at(archive, i);
        char inside[4200];
        snprintf(inside, sizeof inside, "/%s/", file.name);
        FUZZ_PROMISE(*file.name && !strstr(inside, "//") && !strstr(inside, "/../") &&
                     !strstr(inside, "/./"));
        FUZZ_PROMISE(i == 0 || strcmp(szgi_archive_file_at(archive, i - 1).name, file.name) < 0);
        FUZZ_PROMISE(szgi_archive_find(archive, file.name).data == file.data && file.size >= 0);
        bytes += file.size;
    }
    FUZZ_PROMISE(bytes <= MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szgi_archive *archive;
    szg_status status =
        szgi_archive_open_bytes(fuzz_context(), "fuzz", data, (int64_t)size, MOST, &archive);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    use_files(archive);
    szgi_archive_close(&archive);
    return 0;
}
