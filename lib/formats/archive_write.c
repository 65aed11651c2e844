#include <stdio.h>

#include <archive.h>
#include <archive_entry.h>

#include "formats/archives.h"
#include "base/file.h"
#include "base/memory.h"

enum { BLOCK = 1 << 16 }; /* bytes of a file that are read at once */

struct szgi_archive_writer {
    struct archive *archive;
    szgi_writer *file;
    char *path;
};

static szg_status fail(szg_context *context, const szgi_archive_writer *self, const char *name) {
    const char *why = archive_error_string(self->archive);
    return szgi_fail(context, SZG_EIO, "%s: %.200s: %s", self->path, name,
                     why ? why : "cannot be written");
}

static int set_tar(struct archive *tar) {
    int status = archive_write_add_filter_xz(tar);
    return status == ARCHIVE_OK ? archive_write_set_format_pax_restricted(tar) : status;
}

/* Deflate, which NumPy and every unzip read; 64-bit sizes come by themselves where needed. */
static int set_zip(struct archive *zip) {
    int status = archive_write_set_format_zip(zip);
    return status == ARCHIVE_OK ? archive_write_zip_set_compression_deflate(zip) : status;
}

static szg_status begin(szg_context *context, szgi_archive_writer *self, const char *path,
                        int (*set_format)(struct archive *)) {
    SZG_TRY(szgi_memory_copy_text(context, path, &self->path));
    SZG_TRY(szgi_writer_open(context, path, &self->file));
    self->archive = archive_write_new();
    if (!self->archive)
        return szgi_fail(context, SZG_ENOMEM, "%s: out of memory", path);
    if (set_format(self->archive) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(self->archive, 1) != ARCHIVE_OK ||
        archive_write_open_FILE(self->archive, szgi_writer_stream(self->file)) != ARCHIVE_OK)
        return fail(context, self, "its format");
    return SZG_OK;
}

static szg_status create(szg_context *context, const char *path,
                         int (*set_format)(struct archive *), szgi_archive_writer **out) {
    SZG_TRY(szgi_memory_alloc(context, 1, out));
    szg_status status = begin(context, *out, path, set_format);
    if (status != SZG_OK)
        szgi_archive_discard(out);
    return status;
}

szg_status szgi_archive_create(szg_context *context, const char *path, szgi_archive_writer **out) {
    return create(context, path, set_tar, out);
}

szg_status szgi_archive_create_zip(szg_context *context, const char *path,
                                   szgi_archive_writer **out) {
    return create(context, path, set_zip, out);
}

static szg_status begin_member(szg_context *context, szgi_archive_writer *self, const char *name,
                               int64_t size) {
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        return szgi_fail(context, SZG_ENOMEM, "%s: out of memory", self->path);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, size);
    archive_entry_set_mtime(entry, 0, 0); /* a zip, whose times are local, says 1980 everywhere */
    szg_status status = SZG_OK;
    if (archive_write_header(self->archive, entry) != ARCHIVE_OK)
        status = fail(context, self, name);
    archive_entry_free(entry);
    return status;
}

static szg_status add_data(szg_context *context, szgi_archive_writer *self, const char *name,
                           const szgi_source *from) {
    unsigned char block[BLOCK];
    int64_t size = szgi_source_size(from);
    SZG_TRY(begin_member(context, self, name, size));
    for (int64_t at = 0; at < size; at += BLOCK) {
        int64_t count = size - at < BLOCK ? size - at : BLOCK;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_source_read(context, from, at, count, block));
        if (archive_write_data(self->archive, block, (size_t)count) != count)
            return fail(context, self, name);
    }
    return szgi_source_check(context, from);
}

szg_status szgi_archive_add(szg_context *context, szgi_archive_writer *writer, const char *name,
                            const char *path) {
    szgi_source *from;
    SZG_TRY(szgi_context_check_cancel(context));
    SZG_TRY(szgi_source_open(context, path, &from));
    szg_status status = add_data(context, writer, name, from);
    szgi_source_close(&from);
    return status;
}

/* Where the bytes of a member that is being made go: into the archive, or only into the count. */
typedef struct sink {
    struct archive *archive; /* NULL: count */
    int64_t size;
} sink;

static ssize_t take(void *cookie, const char *data, size_t size) {
    sink *self = cookie;
    self->size += (int64_t)size;
    return !self->archive || archive_write_data(self->archive, data, size) == (la_ssize_t)size
               ? (ssize_t)size
               : 0; /* an error to stdio */
}

static szg_status pour(szg_context *context, szgi_archive_writer *self, const char *name,
                       szgi_emit_fn *emit, const void *data, sink *to) {
    FILE *stream = fopencookie(to, "w", (cookie_io_functions_t){.write = take});
    if (!stream)
        return szgi_fail(context, SZG_ENOMEM, "%s: out of memory", self->path);
    szg_status status = emit(context, data, stream);
    bool failed = ferror(stream) != 0;
    failed = fclose(stream) != 0 || failed;
    return status == SZG_OK && failed ? fail(context, self, name) : status;
}

szg_status szgi_archive_add_made(szg_context *context, szgi_archive_writer *writer,
                                 const char *name, szgi_emit_fn *emit, const void *data) {
    sink count = {0}, store = {.archive = writer->archive};
    SZG_TRY(pour(context, writer, name, emit, data, &count));
    SZG_TRY(begin_member(context, writer, name, count.size));
    return pour(context, writer, name, emit, data, &store);
}

szg_status szgi_archive_commit(szg_context *context, szgi_archive_writer **writer) {
    szg_status status = SZG_OK;
    if (archive_write_close((*writer)->archive) != ARCHIVE_OK)
        status = fail(context, *writer, "its end");
    else
        status = szgi_writer_commit(context, &(*writer)->file);
    szgi_archive_discard(writer);
    return status;
}

void szgi_archive_discard(szgi_archive_writer **writer) {
    if (!writer || !*writer)
        return;
    archive_write_free((*writer)->archive);
    szgi_writer_discard(&(*writer)->file);
    szgi_memory_free((*writer)->path);
    szgi_memory_free(*writer);
    *writer = NULL;
}
