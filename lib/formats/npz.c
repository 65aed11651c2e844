/* Names of the arrays in NumPy's archive, a zip file, for messages: its central directory lies at
 * the end. Nothing is unpacked. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "npy_private.h"

enum { END = 22, ENTRY = 46, DIRECTORY = 8192, SHOWN_NAMES = 8, NAME_LIMIT = 60 };

static uint32_t number(const unsigned char *at, int bytes) {
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

/* The directory's first bytes, as many as there is room for; 0: there is none, or it is far away (a
 * zip beyond 4 GB) or behind a comment, which NumPy does not write. */
static int64_t read_directory(szg_context *context, const szgi_source *source,
                              unsigned char out[DIRECTORY]) {
    unsigned char end[END];
    int64_t size = szgi_source_size(source);
    if (size < END || szgi_source_read(context, source, size - END, END, end) != SZG_OK ||
        memcmp(end, "PK\5\6", 4) != 0)
        return 0;
    int64_t length = number(end + 12, 4), start = number(end + 16, 4);
    if (start > size || length > size - start)
        return 0;
    length = length < DIRECTORY ? length : DIRECTORY;
    return szgi_source_read(context, source, start, length, out) == SZG_OK ? length : 0;
}

/* The number of arrays whose entries are whole; their names, without .npy, in `names`. */
static int list(const unsigned char *directory, int64_t length, char names[NPZ_NAMES]) {
    int count = 0;
    size_t used = 0;
    for (int64_t at = 0; at + ENTRY <= length && memcmp(directory + at, "PK\1\2", 4) == 0;) {
        const unsigned char *entry = directory + at;
        int64_t name = number(entry + 28, 2);
        at += ENTRY + name + number(entry + 30, 2) + number(entry + 32, 2);
        if (at > length || name < 4 || memcmp(entry + ENTRY + name - 4, ".npy", 4) != 0)
            continue;
        if (count++ > SHOWN_NAMES)
            continue;
        char text[NAME_LIMIT + 1] = "";
        int64_t shown = name - 4 < NAME_LIMIT ? name - 4 : NAME_LIMIT;
        memcpy(text, entry + ENTRY, (size_t)shown);
        used += (size_t)snprintf(names + used, NPZ_NAMES - used, "%s%s", count > 1 ? ", " : "",
                                 count > SHOWN_NAMES ? "..." : SHOWN(text));
        used = used < NPZ_NAMES ? used : NPZ_NAMES - 1;
    }
    return count;
}

bool szgi_npz_names(szg_context *context, const char *path, char names[NPZ_NAMES]) {
    unsigned char directory[DIRECTORY];
    szgi_source *source;
    int count = 0;
    names[0] = 0;
    if (szgi_source_open(context, path, &source) == SZG_OK) {
        count = list(directory, read_directory(context, source, directory), names);
        szgi_source_close(&source);
    }
    return count > 0;
}
