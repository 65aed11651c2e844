/* In two passes: the whole is unpacked, so that its checksums are tried to the last byte before a
 * name in it counts; then the tar is read. */
#include <archive.h>
#include <archive_entry.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <szego/archive.h>
#include <szego/file.h>
#include <szego/memory.h>

enum { PIECE = 1 << 16, MOST_FILES = 1000000, MOST_NAME = 4095 };

struct szg_archive {
    unsigned char *tar;     /* unpacked */
    int64_t size, left;     /* left: what the files yet to come can hold: sparse ones claim more */
    szg_archive_file *file; /* names are owned, data too */
    int64_t count, room;
};

static szg_status fail(szg_context *context, struct archive *tar, const char *path) {
    const char *why = archive_error_string(tar);
    return szg_fail(context, SZG_EDATA, "%s: is no whole archive: %s", path,
                    why ? why : "it cannot be read");
}

/* ---- Unpacking ---- */

static szg_status grow(szg_context *context, szg_archive *self, int64_t *room) {
    int64_t more = *room > 0 ? 2 * *room : PIECE;
    SZG_TRY(self->tar ? szg_memory_grow(context, &self->tar, *room, more, 1)
                      : szg_memory_alloc(context, more, 1, &self->tar));
    *room = more;
    return SZG_OK;
}

static szg_status unpack(szg_context *context, struct archive *packed, const char *path,
                         int64_t most, szg_archive *self) {
    struct archive_entry *entry;
    int64_t room = 0;
    int found = archive_read_next_header(packed, &entry);
    if (found != ARCHIVE_OK || archive_filter_code(packed, 0) != ARCHIVE_FILTER_XZ)
        return found < ARCHIVE_OK
                   ? fail(context, packed, path)
                   : szg_fail(context, SZG_EDATA, "%s: is no archive compressed with xz", path);
    for (;;) {
        SZG_TRY(szg_context_check_cancel(context));
        if (room - self->size < PIECE)
            SZG_TRY(grow(context, self, &room));
        ssize_t got = archive_read_data(packed, self->tar + self->size, PIECE);
        if (got < 0)
            return fail(context, packed, path);
        if (got == 0)
            return SZG_OK;
        self->size += got;
        if (self->size > most)
            return szg_fail(context, SZG_EDATA, "%s: unpacks to more than %" PRId64 " bytes", path,
                            most);
    }
}

static szg_status read_packed(szg_context *context, const char *path, const void *data,
                              int64_t size, int64_t most, szg_archive *self) {
    struct archive *packed = archive_read_new();
    szg_status status = SZG_OK;
    if (!packed)
        status = szg_fail(context, SZG_ENOMEM, "%s: out of memory", path);
    else if (archive_read_support_filter_xz(packed) != ARCHIVE_OK ||
             archive_read_support_format_raw(packed) != ARCHIVE_OK ||
             archive_read_open_memory(packed, data, (size_t)size) != ARCHIVE_OK)
        status = fail(context, packed, path);
    else
        status = unpack(context, packed, path, most, self);
    archive_read_free(packed);
    return status;
}

/* ---- The files ---- */

static bool is_safe(const char *name) {
    size_t length = strlen(name);
    if (length < 1 || length > MOST_NAME)
        return false;
    for (const char *at = name; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '\\')
            return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/' && part > name;
        size_t size = strcspn(part, "/");
        if (size == 0 || (size == 1 && part[0] == '.') || (size == 2 && memcmp(part, "..", 2) == 0))
            return false;
    }
    return true;
}

static szg_status check_entry(szg_context *context, struct archive_entry *entry, const char *path) {
    const char *name = archive_entry_pathname(entry);
    if (!name || !is_safe(name))
        return szg_fail(context, SZG_EDATA, "%s: the name \"%.100s\" is not taken", path,
                        name ? name : "");
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) ||
        archive_entry_symlink(entry))
        return szg_fail(context, SZG_EDATA, "%s: %.100s is no regular file", path, name);
    return SZG_OK;
}

static szg_status add_file(szg_context *context, struct archive *tar, struct archive_entry *entry,
                           const char *path, szg_archive *self) {
    SZG_TRY(check_entry(context, entry, path));
    int64_t size = archive_entry_size(entry);
    if (size < 0 || size > self->left || self->count >= MOST_FILES)
        return szg_fail(context, SZG_EDATA, "%s: more or larger files than it can hold", path);
    self->left -= size;
    if (self->count == self->room) {
        int64_t room = self->room > 0 ? 2 * self->room : 64;
        SZG_TRY(self->file
                    ? szg_memory_grow(context, &self->file, self->room, room, sizeof *self->file)
                    : szg_memory_alloc(context, room, sizeof *self->file, &self->file));
        self->room = room;
    }
    char *name;
    unsigned char *data;
    szg_archive_file *file = &self->file[self->count++];
    SZG_TRY(szg_memory_copy_text(context, archive_entry_pathname(entry), &name));
    file->name = name;
    SZG_TRY(szg_memory_alloc(context, size, 1, &data));
    file->data = data;
    file->size = size;
    if (size > 0 && archive_read_data(tar, data, (size_t)size) != size)
        return fail(context, tar, path);
    return SZG_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const szg_archive_file *)a)->name, ((const szg_archive_file *)b)->name);
}

static szg_status read_files(szg_context *context, struct archive *tar, const char *path,
                             szg_archive *self) {
    struct archive_entry *entry;
    int found;
    self->left = self->size;
    while ((found = archive_read_next_header(tar, &entry)) == ARCHIVE_OK) {
        SZG_TRY(szg_context_check_cancel(context));
        SZG_TRY(add_file(context, tar, entry, path, self));
    }
    if (found != ARCHIVE_EOF)
        return fail(context, tar, path);
    if (self->count > 1)
        qsort(self->file, (size_t)self->count, sizeof *self->file, by_name);
    for (int64_t i = 1; i < self->count; i++)
        if (strcmp(self->file[i - 1].name, self->file[i].name) == 0)
            return szg_fail(context, SZG_EDATA, "%s: %.200s stands in it twice", path,
                            self->file[i].name);
    return SZG_OK;
}

static szg_status read_tar(szg_context *context, const char *path, szg_archive *self) {
    struct archive *tar = archive_read_new();
    szg_status status = SZG_OK;
    if (!tar)
        status = szg_fail(context, SZG_ENOMEM, "%s: out of memory", path);
    else if (archive_read_support_format_tar(tar) != ARCHIVE_OK ||
             archive_read_open_memory(tar, self->tar, (size_t)self->size) != ARCHIVE_OK)
        status = fail(context, tar, path);
    else
        status = read_files(context, tar, path, self);
    archive_read_free(tar);
    return status;
}

szg_status szg_archive_open_bytes(szg_context *context, const char *name, const void *data,
                                  int64_t size, int64_t most, szg_archive **out) {
    SZG_TRY(szg_memory_alloc(context, 1, sizeof **out, out));
    szg_status status = read_packed(context, name, data, size, most, *out);
    if (status == SZG_OK)
        status = read_tar(context, name, *out);
    if (status != SZG_OK) {
        szg_archive_close(out);
        return status;
    }
    szg_memory_free((*out)->tar);
    (*out)->tar = NULL;
    return SZG_OK;
}

szg_status szg_archive_open(szg_context *context, const char *path, int64_t most,
                            szg_archive **out) {
    szg_mapping file;
    *out = NULL;
    SZG_TRY(szg_mapping_open(context, path, &file));
    szg_status status = szg_archive_open_bytes(context, path, file.data, file.size, most, out);
    szg_mapping_close(&file);
    return status;
}

int64_t szg_archive_count(const szg_archive *archive) {
    return archive->count;
}

szg_archive_file szg_archive_file_at(const szg_archive *archive, int64_t index) {
    return archive->file[index];
}

szg_archive_file szg_archive_find(const szg_archive *archive, const char *name) {
    szg_archive_file key = {.name = name}, *found = NULL;
    if (archive->count > 0)
        found =
            bsearch(&key, archive->file, (size_t)archive->count, sizeof *archive->file, by_name);
    return found ? *found : (szg_archive_file){0};
}

void szg_archive_close(szg_archive **archive) {
    if (!archive || !*archive)
        return;
    for (int64_t i = 0; i < (*archive)->count; i++) {
        szg_memory_free((void *)(uintptr_t)(*archive)->file[i].name);
        szg_memory_free((void *)(uintptr_t)(*archive)->file[i].data);
    }
    szg_memory_free((*archive)->file);
    szg_memory_free((*archive)->tar);
    szg_memory_free(*archive);
    *archive = NULL;
}
