#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"

/* In memory where there is such a place: results are synced, and a disk makes a test wait. */
static char folder[64];

static bool make_folder(const char *place) {
    snprintf(folder, sizeof folder, "%s/szego-test.XXXXXX", place);
    return mkdtemp(folder) != NULL;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

void scratch_remove(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void) {
    scratch_remove(folder);
}

const char *scratch_path(const char *name) {
    static char path[4][512];
    static int next;
    static bool made;
    if (!made) {
        ck_assert(make_folder("/dev/shm") || make_folder("/tmp"));
        atexit(remove_folder);
        made = true;
    }
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

const char *scratch_folder(void) {
    char *path = (char *)scratch_path("XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
    return path;
}

const char *scratch_bytes(const char *name, const void *data, size_t size) {
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    if (size > 0)
        ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

const char *scratch_text(const char *name, const char *text) {
    return scratch_bytes(name, text, strlen(text));
}

char *scratch_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is not there", path);
    char *text = NULL;
    size_t length = 0;
    FILE *copy = open_memstream(&text, &length);
    for (int c; (c = getc(file)) != EOF;)
        putc(c, copy);
    fclose(copy);
    fclose(file);
    if (size)
        *size = length;
    return text;
}

int scratch_entries(const char *path) {
    int count = 0;
    DIR *at = opendir(path);
    ck_assert_ptr_nonnull(at);
    for (struct dirent *entry; (entry = readdir(at));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(at);
    return count;
}
