#include <stdio.h>

#include <archive.h>
#include <archive_entry.h>

#include "formats/zip.h"
#include "base/file.h"
#include "base/memory.h"

struct szgi_zip {
    struct archive *archive;
    szgi_writer *file;
    char *path;
};

static szg_status fail(szg_context *context, const szgi_zip *self, const char *name) {
    const char *why = archive_error_string(self->archive);
    return szgi_fail(context, SZG_EIO, "%s: %.200s: %s", self->path, name,
                     why ? why : "cannot be written");
}

/* Deflate, which NumPy and every unzip read; 64-bit sizes come by themselves where needed. */
static int set_format(struct archive *zip) {
    int status = archive_write_set_format_zip(zip);
    return status == ARCHIVE_OK ? archive_write_zip_set_compression_deflate(zip) : status;
}

static szg_status begin(szg_context *context, szgi_zip *self, const char *path) {
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

szg_status szgi_zip_create(szg_context *context, const char *path, szgi_zip **out) {
    SZG_TRY(szgi_memory_alloc(context, 1, out));
    szg_status status = begin(context, *out, path);
    if (status != SZG_OK)
        szgi_zip_discard(out);
    return status;
}

static szg_status begin_member(szg_context *context, szgi_zip *self, const char *name,
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

static szg_status pour(szg_context *context, szgi_zip *self, const char *name, szgi_emit_fn *emit,
                       const void *data, sink *to) {
    FILE *stream = fopencookie(to, "w", (cookie_io_functions_t){.write = take});
    if (!stream)
        return szgi_fail(context, SZG_ENOMEM, "%s: out of memory", self->path);
    szg_status status = emit(context, data, stream);
    bool failed = ferror(stream) != 0;
    failed = fclose(stream) != 0 || failed;
    return status == SZG_OK && failed ? fail(context, self, name) : status;
}

szg_status szgi_zip_add(szg_context *context, szgi_zip *zip, const char *name, szgi_emit_fn *emit,
                        const void *data) {
    sink count = {0}, store = {.archive = zip->archive};
    SZG_TRY(pour(context, zip, name, emit, data, &count));
    SZG_TRY(begin_member(context, zip, name, count.size));
    return pour(context, zip, name, emit, data, &store);
}

szg_status szgi_zip_commit(szg_context *context, szgi_zip **zip) {
    szg_status status = SZG_OK;
    if (archive_write_close((*zip)->archive) != ARCHIVE_OK)
        status = fail(context, *zip, "its end");
    else
        status = szgi_writer_commit(context, &(*zip)->file);
    szgi_zip_discard(zip);
    return status;
}

void szgi_zip_discard(szgi_zip **zip) {
    if (!zip || !*zip)
        return;
    archive_write_free((*zip)->archive);
    szgi_writer_discard(&(*zip)->file);
    szgi_memory_free((*zip)->path);
    szgi_memory_free(*zip);
    *zip = NULL;
}
