#include <archive.h>
#include <archive_entry.h>

#include <szego/archive.h>
#include <szego/file.h>
#include <szego/memory.h>

struct szg_archive_writer {
    struct archive *tar;
    szg_writer *file;
    char *path;
};

static szg_status fail(szg_context *context, const szg_archive_writer *self, const char *name) {
    const char *why = archive_error_string(self->tar);
    return szg_fail(context, SZG_EIO, "%s: %.200s: %s", self->path, name,
                    why ? why : "cannot be written");
}

static szg_status begin(szg_context *context, szg_archive_writer *self, const char *path) {
    SZG_TRY(szg_memory_copy_text(context, path, &self->path));
    SZG_TRY(szg_writer_open(context, path, &self->file));
    self->tar = archive_write_new();
    if (!self->tar)
        return szg_fail(context, SZG_ENOMEM, "%s: out of memory", path);
    if (archive_write_add_filter_xz(self->tar) != ARCHIVE_OK ||
        archive_write_set_format_pax_restricted(self->tar) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(self->tar, 1) != ARCHIVE_OK ||
        archive_write_open_FILE(self->tar, szg_writer_stream(self->file)) != ARCHIVE_OK)
        return fail(context, self, "as a tar with xz");
    return SZG_OK;
}

szg_status szg_archive_create(szg_context *context, const char *path, szg_archive_writer **out) {
    SZG_TRY(szg_memory_alloc(context, 1, sizeof **out, out));
    szg_status status = begin(context, *out, path);
    if (status != SZG_OK)
        szg_archive_discard(out);
    return status;
}

static szg_status add_data(szg_context *context, szg_archive_writer *self, const char *name,
                           const szg_mapping *data) {
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        return szg_fail(context, SZG_ENOMEM, "%s: out of memory", self->path);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, data->size);
    archive_entry_set_mtime(entry, 0, 0);
    szg_status status = SZG_OK;
    if (archive_write_header(self->tar, entry) != ARCHIVE_OK ||
        (data->size > 0 &&
         archive_write_data(self->tar, data->data, (size_t)data->size) != data->size))
        status = fail(context, self, name);
    archive_entry_free(entry);
    return status;
}

szg_status szg_archive_add(szg_context *context, szg_archive_writer *writer, const char *name,
                           const char *path) {
    szg_mapping data;
    SZG_TRY(szg_context_check_cancel(context));
    SZG_TRY(szg_mapping_open(context, path, &data));
    szg_status status = add_data(context, writer, name, &data);
    szg_mapping_close(&data);
    return status;
}

szg_status szg_archive_commit(szg_context *context, szg_archive_writer **writer) {
    szg_status status = SZG_OK;
    if (archive_write_close((*writer)->tar) != ARCHIVE_OK)
        status = fail(context, *writer, "its end");
    else
        status = szg_writer_commit(context, &(*writer)->file);
    szg_archive_discard(writer);
    return status;
}

void szg_archive_discard(szg_archive_writer **writer) {
    if (!writer || !*writer)
        return;
    archive_write_free((*writer)->tar);
    szg_writer_discard(&(*writer)->file);
    szg_memory_free((*writer)->path);
    szg_memory_free(*writer);
    *writer = NULL;
}
