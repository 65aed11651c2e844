/* Runs a fuzzer over the files of a folder, as a test: one TAP line a file, in the order of names.
 * A broken promise or a sanitizer's finding ends the program, and with it the test. */
#include <dirent.h>
#include "base/file.h"

#include "fuzz.h"

static int is_file(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* The bytes in a block of exactly their size, so that AddressSanitizer sees one read too many. */
static void replay(const char *path) {
    szgi_contents contents;
    if (szgi_contents_open(fuzz_context(), path, &contents) != SZG_OK) {
        fprintf(stderr, "%s\n", szg_context_message(fuzz_context()));
        exit(EXIT_FAILURE);
    }
    uint8_t *copy = malloc(contents.size > 0 ? (size_t)contents.size : 1);
    if (!copy)
        abort();
    if (contents.size > 0)
        memcpy(copy, contents.data, (size_t)contents.size);
    LLVMFuzzerTestOneInput(copy, (size_t)contents.size);
    free(copy);
    szgi_contents_close(&contents);
}

int main(int argc, char **argv) {
    struct dirent **entry = NULL;
    int count = argc == 2 ? scandir(argv[1], &entry, is_file, alphasort) : -1;
    if (count <= 0) {
        fprintf(stderr, "usage: %s FOLDER: a folder with at least one file\n", argv[0]);
        return EXIT_FAILURE;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], entry[i]->d_name);
        replay(path);
        printf("ok %d - %s\n", i + 1, entry[i]->d_name);
        fflush(stdout);
        free(entry[i]);
    }
    free(entry);
    szg_context *context = fuzz_context();
    szg_context_close(&context);
    return EXIT_SUCCESS;
}
