/* Files of rows that grow while they are computed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"

struct szgi_csv_growth {
    char *path;
    FILE *stream;
};

static szg_status fail_errno(szg_context *context, const szgi_csv_growth *growth,
                             const char *what) {
    return szgi_fail(context, SZG_EIO, "%s: %s: %s%s", growth->path, what, strerror(errno),
                     szgi_write_remedy(errno));
}

/* A lock that dies with its process: two writers would mix their lines. Not a pipe or a device,
 * which cannot be cut. */
static szg_status open_stream(szg_context *context, szgi_csv_growth *growth) {
    struct stat info;
    int descriptor = open(growth->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0)
        return fail_errno(context, growth, "cannot be written");
    growth->stream = fdopen(descriptor, "r+b");
    if (!growth->stream) {
        close(descriptor);
        return fail_errno(context, growth, "cannot be written");
    }
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return szgi_fail(context, SZG_EIO, "%s: cannot be written: is not a regular file",
                         growth->path);
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return szgi_fail(context, SZG_EIO,
                         "%s: another process writes it: wait for its end, or "
                         "name another file",
                         growth->path);
    return SZG_OK;
}

/* What the file holds, with a NUL behind it. */
static szg_status read_whole(szg_context *context, const szgi_csv_growth *growth, szgi_text *out) {
    char block[1 << 14];
    size_t got;
    SZG_TRY(szgi_text_open(context, out));
    while ((got = fread(block, 1, sizeof block, growth->stream)) > 0)
        fwrite(block, 1, got, out->stream);
    return szgi_text_end(out, ferror(growth->stream) ? fail_errno(context, growth, "cannot be read")
                                                     : SZG_OK);
}

/* Bytes that stay: whole lines, the first of them the table's header. */
static szg_status measure_kept(szg_context *context, const szgi_csv_growth *growth,
                               const szg_table *table, int64_t *out) {
    szgi_text text = {0}, header = {0};
    szg_status status;
    SZG_TRY_GOTO(status, read_whole(context, growth, &text), end);
    const char *last = strrchr(text.text, '\n');
    *out = last ? last + 1 - text.text : 0;
    if (*out < text.length)
        szgi_say(context, SZG_WARNING, "%s: its last line is not whole: cut off", growth->path);
    SZG_TRY_GOTO(status, szgi_text_open(context, &header), end);
    SZG_TRY_GOTO(status,
                 szgi_text_end(&header, szgi_csv_print_header(context, table, header.stream)), end);
    if (*out > 0 &&
        (*out < header.length || memcmp(text.text, header.text, (size_t)header.length) != 0))
        status = szgi_fail(context, SZG_EDATA,
                           "%s: has other columns than the rows to be added: name another file",
                           growth->path);
end:
    szgi_text_close(&text);
    szgi_text_close(&header);
    return status;
}

static szg_status begin(szg_context *context, szgi_csv_growth *growth, const szg_table *table,
                        bool keep) {
    int64_t kept = 0;
    SZG_TRY(open_stream(context, growth));
    if (keep)
        SZG_TRY(measure_kept(context, growth, table, &kept));
    if (ftruncate(fileno(growth->stream), kept) != 0 || fseeko(growth->stream, kept, SEEK_SET) != 0)
        return fail_errno(context, growth, "cannot be cut");
    if (kept > 0)
        return SZG_OK;
    szg_status status = szgi_csv_print_header(context, table, growth->stream);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "%s", growth->path);
}

szg_status szgi_csv_grow_open(szg_context *context, const char *path, const szg_table *table,
                              bool keep, szgi_csv_growth **out) {
    szgi_csv_growth *growth;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &growth));
    szg_status status = szgi_memory_copy_text(context, path, &growth->path);
    if (status == SZG_OK)
        status = begin(context, growth, table, keep);
    if (status == SZG_OK)
        *out = growth;
    else
        szgi_csv_grow_close(&growth);
    return status;
}

szg_status szgi_csv_grow(szg_context *context, szgi_csv_growth *growth, const szg_table *table,
                         int64_t row) {
    szg_status status = szgi_csv_print_row(context, table, row, growth->stream);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "%s", growth->path);
}

void szgi_csv_grow_close(szgi_csv_growth **growth) {
    if (!growth || !*growth)
        return;
    if ((*growth)->stream)
        fclose((*growth)->stream);
    szgi_memory_free((*growth)->path);
    szgi_memory_free(*growth);
    *growth = NULL;
}
