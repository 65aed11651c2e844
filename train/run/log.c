/* Logs: CSV files that grow while a run goes on, and that a resumed run cuts to what its checkpoint
 * knows. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/csv.h"
#include "base/memory.h"
#include "base/text.h"
#include "run_private.h"

static szg_status fail_errno(szg_context *context, const run_log *log, const char *what) {
    return szgi_fail(context, SZG_EIO, "%s: %s: %s", log->path, what, strerror(errno));
}

/* A lock that dies with its process: two runs in one folder would mix their logs. A link is not
 * followed: what it points at is no log that may be cut. */
static szg_status open_stream(szg_context *context, run_log *log) {
    int descriptor = open(log->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0)
        return fail_errno(context, log, "cannot be written");
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(descriptor);
        return szgi_fail(context, SZG_EIO,
                         "%s: another process is writing into this folder: run the command again "
                         "when it has ended, or use another folder",
                         log->path);
    }
    log->stream = fdopen(descriptor, "r+b");
    if (log->stream)
        return SZG_OK;
    close(descriptor);
    return fail_errno(context, log, "cannot be written");
}

/* The checksum of the first `bytes` bytes. */
static szg_status read_check(szg_context *context, const run_log *log, int64_t bytes,
                             uint32_t *out) {
    unsigned char block[1 << 14];
    *out = 0;
    for (int64_t at = 0; at < bytes;) {
        size_t wanted = bytes - at < (int64_t)sizeof block ? (size_t)(bytes - at) : sizeof block;
        ssize_t got = pread(fileno(log->stream), block, wanted, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(context, log, "cannot be read");
        if (got == 0)
            return szgi_fail(context, SZG_EDATA,
                             "%s: ended at byte %" PRId64 " while it was read: another program "
                             "shortened it; train anew in another folder",
                             log->path, at);
        *out = (uint32_t)crc32_z(*out, block, (size_t)got);
        at += got;
    }
    return SZG_OK;
}

static szg_status check_mark(szg_context *context, const run_log *log, log_mark keep) {
    struct stat info;
    uint32_t check;
    if (fstat(fileno(log->stream), &info) != 0)
        return fail_errno(context, log, "cannot be read");
    if (info.st_size < keep.bytes)
        return szgi_fail(context, SZG_EDATA,
                         "%s has %" PRId64 " bytes, but the checkpoint recorded %" PRId64
                         ": the log was changed; train anew in another folder",
                         log->path, (int64_t)info.st_size, keep.bytes);
    SZG_TRY(read_check(context, log, keep.bytes, &check));
    if (check != keep.check)
        return szgi_fail(context, SZG_EDATA,
                         "%s: its first %" PRId64
                         " bytes differ from those that the checkpoint recorded: the log was "
                         "changed; restore it, or train anew in another folder",
                         log->path, keep.bytes);
    return SZG_OK;
}

szg_status szgi_log_cut(szg_context *context, run_log *log, log_mark keep) {
    SZG_TRY(check_mark(context, log, keep));
    if (ftruncate(fileno(log->stream), keep.bytes) != 0 ||
        fseeko(log->stream, keep.bytes, SEEK_SET) != 0)
        return fail_errno(context, log, "cannot be cut");
    log->mark = keep;
    return SZG_OK;
}

szg_status szgi_log_check_start(szg_context *context, const run_log *log, const char *bytes,
                                int64_t size) {
    char block[4096];
    for (int64_t at = 0; at < size && log->mark.bytes > 0;) {
        int64_t part = size - at < (int64_t)sizeof block ? size - at : (int64_t)sizeof block;
        ssize_t got = pread(fileno(log->stream), block, (size_t)part, at);
        if (got < 0)
            return fail_errno(context, log, "cannot be read");
        if (got < part || memcmp(block, bytes + at, (size_t)part) != 0)
            return szgi_fail(context, SZG_EDATA,
                             "%s: another version of szego began it, with other columns: continue "
                             "with that version, or train anew in another folder",
                             log->path);
        at += part;
    }
    return SZG_OK;
}

szg_status szgi_log_open(szg_context *context, const char *folder, const char *name, run_log *out) {
    *out = (run_log){0};
    SZG_TRY(szgi_path_join(context, folder, name, &out->path));
    szg_status status = open_stream(context, out);
    if (status != SZG_OK)
        szgi_log_close(out);
    return status;
}

void szgi_log_close(run_log *log) {
    if (log->stream)
        fclose(log->stream);
    szgi_memory_free(log->path);
    *log = (run_log){0};
}

szg_status szgi_log_write(szg_context *context, run_log *log, const void *bytes, int64_t size) {
    if (fwrite(bytes, 1, (size_t)size, log->stream) != (size_t)size)
        return fail_errno(context, log, "writing failed");
    log->mark.bytes += size;
    log->mark.check = (uint32_t)crc32_z(log->mark.check, bytes, (size_t)size);
    return SZG_OK;
}

szg_status szgi_log_append(szg_context *context, run_log *log, const szg_table *labels,
                           const szg_table *rows) {
    szgi_text text;
    SZG_TRY(szgi_text_open(context, &text));
    szg_status status =
        szgi_csv_print_behind(context, labels, rows, log->mark.bytes == 0, text.stream);
    status = szgi_text_end(&text, status);
    if (status == SZG_OK)
        status = szgi_log_write(context, log, text.text, text.length);
    else
        status = szgi_fail_prefix(context, status, "%s", log->path);
    szgi_text_close(&text);
    return status;
}

szg_status szgi_log_sync(szg_context *context, run_log *log) {
    if (fflush(log->stream) != 0 || fsync(fileno(log->stream)) != 0)
        return fail_errno(context, log, "writing failed");
    return SZG_OK;
}
