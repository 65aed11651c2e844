/* In two passes: the whole is unpacked, so that its checksums are tried to the last byte before a
 * name in it counts; then the tar is read. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/archives.h"
#include "base/file.h"
#include "base/memory.h"

enum { PIECE = 1 << 16, MOST_FILES = 1000000, MOST_NAME = 4095 };

/* Rows of zeros with a counter, the most regular table that a run writes, pack to 1/190 of their
 * size; equal rows, which none has, to 1/6800. Below ALWAYS_TAKEN bytes no ratio does harm. */
enum { MOST_RATIO = 500, ALWAYS_TAKEN = 1 << 24 };

struct szgi_archive {
    unsigned char *tar;      /* unpacked; mapped */
    int64_t size, room;      /* of the tar */
    szgi_archive_file *file; /* names are owned; data are in the tar */
    int64_t count, files_room;
};

static szg_status fail(szg_context *context, struct archive *tar, const char *path) {
    const char *why = archive_error_string(tar);
    return szgi_fail(context, SZG_EDATA, "%s: is no whole archive: %s", path,
                     why ? why : "it cannot be read");
}

/* ---- Unpacking ---- */

/* Mapped memory grows by moving pages: neither a copy nor zeros, which take seconds of a gigabyte
 * and cannot be cancelled. */
static szg_status grow(szg_context *context, const char *path, szgi_archive *self) {
    int64_t more = self->room > 0 ? 2 * self->room : PIECE;
    SZG_TRY(
        szgi_memory_require(context, more, 1, 1, path, "take it on a machine with more memory"));
    void *at = self->room > 0 ? mremap(self->tar, (size_t)self->room, (size_t)more, MREMAP_MAYMOVE)
                              : mmap(NULL, (size_t)more, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return szgi_fail(context, SZG_ENOMEM, "%s: out of memory for %" PRId64 " bytes", path,
                         more);
    self->tar = at;
    self->room = more;
    return SZG_OK;
}

/* The packed bytes, from a file or from the caller's memory. */
typedef struct packed {
    szg_context *context;
    const szgi_source *source; /* NULL: data */
    const unsigned char *data;
    int64_t size, at;
    int64_t most;      /* bytes that they may unpack to */
    szg_status status; /* of the read that failed, which libarchive answers with its own code */
    unsigned char block[PIECE];
} packed;

/* A read that failed is no verdict on the bytes; the context has its words. */
static szg_status fail_packed(szg_context *context, struct archive *archive, const char *path,
                              const packed *from) {
    return from->status != SZG_OK ? from->status : fail(context, archive, path);
}

/* Asked of each piece: what is beyond a limit is never held. */
static szg_status check_size(szg_context *context, const char *path, int64_t size,
                             const packed *from) {
    if (size > from->most)
        return szgi_fail(context, SZG_EDATA,
                         "%s: unpacks to more than %" PRId64 " bytes, the most that its files need",
                         path, from->most);
    if (size > ALWAYS_TAKEN && size / MOST_RATIO > from->size)
        return szgi_fail(context, SZG_EDATA,
                         "%s: unpacks to more than %d times its size, which no files of a run do",
                         path, MOST_RATIO);
    return SZG_OK;
}

static szg_status unpack(szg_context *context, struct archive *archive, const char *path,
                         const packed *from, szgi_archive *self) {
    struct archive_entry *entry;
    int found = archive_read_next_header(archive, &entry);
    if (found != ARCHIVE_OK || archive_filter_code(archive, 0) != ARCHIVE_FILTER_XZ)
        return found < ARCHIVE_OK || from->status != SZG_OK
                   ? fail_packed(context, archive, path, from)
                   : szgi_fail(context, SZG_EDATA, "%s: is no archive compressed with xz", path);
    for (;;) {
        SZG_TRY(szgi_context_check_cancel(context));
        if (self->room - self->size < PIECE)
            SZG_TRY(grow(context, path, self));
        ssize_t got = archive_read_data(archive, self->tar + self->size, PIECE);
        if (got < 0)
            return fail_packed(context, archive, path, from);
        if (got == 0)
            return SZG_OK;
        self->size += got;
        SZG_TRY(check_size(context, path, self->size, from));
    }
}

static la_ssize_t next_block(struct archive *archive, void *user, const void **out) {
    packed *self = user;
    int64_t left = self->size - self->at, count = left < PIECE ? left : PIECE;
    *out = self->source ? self->block : self->data + self->at;
    if (self->source)
        self->status = szgi_source_read(self->context, self->source, self->at, count, self->block);
    if (self->status != SZG_OK) {
        archive_set_error(archive, EIO, "%s", szg_context_message(self->context));
        return ARCHIVE_FATAL;
    }
    self->at += count;
    return (la_ssize_t)count;
}

/* What a file that is changed meanwhile gives is no verdict on the archive. */
static szg_status read_packed(szg_context *context, const char *path, packed *from,
                              szgi_archive *self) {
    struct archive *archive = archive_read_new();
    szg_status status = SZG_OK;
    if (!archive)
        status = szgi_fail(context, SZG_ENOMEM, "%s: out of memory", path);
    else if (archive_read_support_filter_xz(archive) != ARCHIVE_OK ||
             archive_read_support_format_raw(archive) != ARCHIVE_OK ||
             archive_read_open(archive, from, NULL, next_block, NULL) != ARCHIVE_OK)
        status = fail_packed(context, archive, path, from);
    else
        status = unpack(context, archive, path, from, self);
    archive_read_free(archive);
    if (from->source && (status == SZG_OK || status == SZG_EDATA))
        SZG_TRY(szgi_source_check(context, from->source));
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
        return szgi_fail(context, SZG_EDATA, "%s: the name \"%.100s\" is not taken", path,
                         name ? name : "");
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) ||
        archive_entry_symlink(entry))
        return szgi_fail(context, SZG_EDATA, "%s: %.100s is no regular file", path, name);
    return SZG_OK;
}

/* Where the bytes of the file are in the tar; libarchive hands out its memory as it stands. Only a
 * sparse file, which claims more than there is, is in parts. */
static szg_status find_data(szg_context *context, struct archive *tar, const char *path,
                            const szgi_archive *self, szgi_archive_file *file) {
    const void *data = self->tar;
    size_t size = 0;
    la_int64_t offset = 0;
    if (file->size > 0 && archive_read_data_block(tar, &data, &size, &offset) != ARCHIVE_OK)
        return fail(context, tar, path);
    const unsigned char *at = data;
    if (offset != 0 || (int64_t)size != file->size || at < self->tar ||
        at + size > self->tar + self->size)
        return szgi_fail(context, SZG_EDATA, "%s: %.100s is in parts or longer than the archive",
                         path, file->name);
    file->data = at;
    return SZG_OK;
}

static szg_status add_file(szg_context *context, struct archive *tar, struct archive_entry *entry,
                           const char *path, szgi_archive *self) {
    SZG_TRY(check_entry(context, entry, path));
    if (self->count >= MOST_FILES)
        return szgi_fail(context, SZG_EDATA, "%s: more than %d files", path, MOST_FILES);
    SZG_TRY(szgi_memory_reserve(context, &self->file, &self->files_room, self->count, 1));
    char *name;
    SZG_TRY(szgi_memory_copy_text(context, archive_entry_pathname(entry), &name));
    szgi_archive_file *file = &self->file[self->count++];
    *file = (szgi_archive_file){.name = name, .size = archive_entry_size(entry)};
    return find_data(context, tar, path, self, file);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const szgi_archive_file *)a)->name, ((const szgi_archive_file *)b)->name);
}

static szg_status read_files(szg_context *context, struct archive *tar, const char *path,
                             szgi_archive *self) {
    struct archive_entry *entry;
    int found;
    while ((found = archive_read_next_header(tar, &entry)) == ARCHIVE_OK) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(add_file(context, tar, entry, path, self));
    }
    if (found != ARCHIVE_EOF)
        return fail(context, tar, path);
    if (self->count > 1)
        qsort(self->file, (size_t)self->count, sizeof *self->file, by_name);
    for (int64_t i = 1; i < self->count; i++)
        if (strcmp(self->file[i - 1].name, self->file[i].name) == 0)
            return szgi_fail(context, SZG_EDATA, "%s: %.200s stands in it twice", path,
                             self->file[i].name);
    return SZG_OK;
}

static szg_status read_tar(szg_context *context, const char *path, szgi_archive *self) {
    struct archive *tar = archive_read_new();
    szg_status status = SZG_OK;
    if (!tar)
        status = szgi_fail(context, SZG_ENOMEM, "%s: out of memory", path);
    else if (archive_read_support_format_tar(tar) != ARCHIVE_OK ||
             archive_read_open_memory(tar, self->tar, (size_t)self->size) != ARCHIVE_OK)
        status = fail(context, tar, path);
    else
        status = read_files(context, tar, path, self);
    archive_read_free(tar);
    return status;
}

static szg_status open_packed(szg_context *context, const char *name, packed *from,
                              szgi_archive **out) {
    SZG_TRY(szgi_memory_alloc(context, 1, out));
    szg_status status = read_packed(context, name, from, *out);
    if (status == SZG_OK)
        status = read_tar(context, name, *out);
    if (status != SZG_OK)
        szgi_archive_close(out);
    return status;
}

szg_status szgi_archive_open_bytes(szg_context *context, const char *name, const void *data,
                                   int64_t size, int64_t most, szgi_archive **out) {
    packed from = {.context = context, .data = data, .size = size, .most = most};
    return open_packed(context, name, &from, out);
}

szg_status szgi_archive_open(szg_context *context, const char *path, int64_t most,
                             szgi_archive **out) {
    szgi_source *source;
    *out = NULL;
    SZG_TRY(szgi_source_open(context, path, &source));
    packed from = {
        .context = context, .source = source, .size = szgi_source_size(source), .most = most};
    szg_status status = open_packed(context, path, &from, out);
    szgi_source_close(&source);
    return status;
}

int64_t szgi_archive_count(const szgi_archive *archive) {
    return archive->count;
}

szgi_archive_file szgi_archive_file_at(const szgi_archive *archive, int64_t index) {
    return archive->file[index];
}

szgi_archive_file szgi_archive_find(const szgi_archive *archive, const char *name) {
    szgi_archive_file key = {.name = name}, *found = NULL;
    if (archive->count > 0)
        found =
            bsearch(&key, archive->file, (size_t)archive->count, sizeof *archive->file, by_name);
    return found ? *found : (szgi_archive_file){0};
}

void szgi_archive_close(szgi_archive **archive) {
    if (!archive || !*archive)
        return;
    for (int64_t i = 0; i < (*archive)->count; i++)
        szgi_memory_free((void *)(uintptr_t)(*archive)->file[i].name);
    szgi_memory_free((*archive)->file);
    if ((*archive)->tar)
        munmap((*archive)->tar, (size_t)(*archive)->room);
    szgi_memory_free(*archive);
    *archive = NULL;
}
