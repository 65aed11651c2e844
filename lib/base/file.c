#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <szego/file.h>
#include <szego/memory.h>

struct szg_writer {
    char *path, *temporary;
    FILE *stream;
    szg_writer *next; /* among those that have a temporary file */
};

/* Guards the list, and that a file is in it from its creation to its renaming or removal. */
static pthread_mutex_t writers_lock = PTHREAD_MUTEX_INITIALIZER;
static szg_writer *writers;

static int create_temporary(szg_writer *writer) {
    pthread_mutex_lock(&writers_lock);
    int descriptor = mkostemp(writer->temporary, O_CLOEXEC), before = errno;
    if (descriptor >= 0) {
        writer->next = writers;
        writers = writer;
    }
    pthread_mutex_unlock(&writers_lock);
    errno = before;
    return descriptor;
}

/* Renames the temporary file to `path`, or removes it where that is NULL. */
static bool end_temporary(szg_writer *writer, const char *path) {
    pthread_mutex_lock(&writers_lock);
    int failed = path ? rename(writer->temporary, path) : unlink(writer->temporary);
    if (failed == 0 || !path) {
        szg_writer **at = &writers;
        while (*at && *at != writer)
            at = &(*at)->next;
        if (*at)
            *at = writer->next;
        writer->temporary[0] = 0;
    }
    pthread_mutex_unlock(&writers_lock);
    return failed == 0;
}

void szg_writer_abandon_all(void) {
    pthread_mutex_lock(&writers_lock); /* for good */
    for (const szg_writer *writer = writers; writer; writer = writer->next)
        unlink(writer->temporary);
}

static szg_status fail_errno(szg_context *context, const char *path, const char *what) {
    return szg_fail(context, SZG_EIO, "%s: %s: %s", path, what, strerror(errno));
}

/* Permissions of a file that open(2) would have made: mkstemp's 0600 would surprise. */
static mode_t default_mode(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Renaming over a device or a pipe would put a file in its place, /dev/null included. A folder is
 * refused by the renaming. */
static szg_status check_target(szg_context *context, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return SZG_OK;
    return szg_fail(context, SZG_EIO, "%s: cannot be written: is not a regular file", path);
}

szg_status szg_writer_open(szg_context *context, const char *path, szg_writer **out) {
    *out = NULL;
    szg_writer *writer;
    SZG_TRY(check_target(context, path));
    SZG_TRY(szg_memory_alloc(context, 1, sizeof *writer, &writer));
    szg_status status;
    SZG_TRY_GOTO(status, szg_memory_copy_text(context, path, &writer->path), fail);
    size_t length = strlen(path) + sizeof ".XXXXXX";
    SZG_TRY_GOTO(status, szg_memory_alloc(context, (int64_t)length, 1, &writer->temporary), fail);
    snprintf(writer->temporary, length, "%s.XXXXXX", path);
    int descriptor = create_temporary(writer);
    if (descriptor < 0) {
        status = fail_errno(context, path, "cannot be written");
        writer->temporary[0] = 0;
        goto fail;
    }
    if (fchmod(descriptor, default_mode()) != 0 || !(writer->stream = fdopen(descriptor, "w+b"))) {
        status = fail_errno(context, path, "cannot be written");
        close(descriptor);
        goto fail;
    }
    *out = writer;
    return SZG_OK;
fail:
    szg_writer_discard(&writer);
    return status;
}

FILE *szg_writer_stream(szg_writer *writer) {
    return writer->stream;
}

/* Makes the rename itself durable; a file system that refuses is left to its own promises. */
static void sync_folder(const char *path) {
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 1;
    if (length >= sizeof folder)
        return;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = 0;
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return;
    (void)!fsync(descriptor);
    close(descriptor);
}

szg_status szg_writer_commit(szg_context *context, szg_writer **writer) {
    szg_writer *w = *writer;
    bool failed = ferror(w->stream) != 0;
    failed = fflush(w->stream) != 0 || failed;
    failed = failed || fsync(fileno(w->stream)) != 0;
    failed = fclose(w->stream) != 0 || failed;
    w->stream = NULL;
    failed = failed || !end_temporary(w, w->path);
    szg_status status = SZG_OK;
    if (failed) {
        status = fail_errno(context, w->path, "writing failed, the old contents were kept");
    } else {
        sync_folder(w->path);
    }
    szg_writer_discard(writer);
    return status;
}

void szg_writer_discard(szg_writer **writer) {
    if (!writer || !*writer)
        return;
    szg_writer *w = *writer;
    if (w->stream)
        fclose(w->stream);
    if (w->temporary && w->temporary[0])
        end_temporary(w, NULL);
    szg_memory_free(w->temporary);
    szg_memory_free(w->path);
    szg_memory_free(w);
    *writer = NULL;
}

szg_status szg_folder_create(szg_context *context, const char *path) {
    char *copy;
    SZG_TRY(szg_memory_copy_text(context, path, &copy));
    szg_status status = SZG_OK;
    for (char *at = copy + 1; status == SZG_OK && copy[0]; at++) {
        if (*at != '/' && *at != 0)
            continue;
        char end = *at;
        *at = 0;
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            status = fail_errno(context, copy, "folder cannot be created");
        *at = end;
        if (end == 0)
            break;
    }
    struct stat info;
    if (status == SZG_OK && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
        status = szg_fail(context, SZG_EIO, "%s: is not a folder", path);
    szg_memory_free(copy);
    return status;
}

/* A descriptor of a regular file, and its facts. */
static szg_status open_regular(szg_context *context, const char *path, int *out,
                               struct stat *info) {
    *out = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*out < 0)
        return fail_errno(context, path, "cannot be read");
    szg_status status = SZG_OK;
    if (fstat(*out, info) != 0)
        status = fail_errno(context, path, "cannot be read");
    else if (!S_ISREG(info->st_mode))
        status = szg_fail(context, SZG_EDATA, "%s: is not a regular file", path);
    if (status != SZG_OK)
        close(*out);
    return status;
}

szg_status szg_mapping_open(szg_context *context, const char *path, szg_mapping *out) {
    *out = (szg_mapping){0};
    int descriptor;
    struct stat info;
    SZG_TRY(open_regular(context, path, &descriptor, &info));
    szg_status status = SZG_OK;
    if (info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED)
            status = fail_errno(context, path, "cannot be mapped");
        else
            *out = (szg_mapping){.data = data, .size = info.st_size};
    }
    close(descriptor);
    return status;
}

void szg_mapping_close(szg_mapping *mapping) {
    if (mapping->data)
        munmap((void *)mapping->data, (size_t)mapping->size);
    *mapping = (szg_mapping){0};
}

struct szg_source {
    char *path;
    int descriptor;
    int64_t size;
    struct timespec changed;
};

szg_status szg_source_open(szg_context *context, const char *path, szg_source **out) {
    *out = NULL;
    szg_source *source;
    struct stat info;
    SZG_TRY(szg_memory_alloc(context, 1, sizeof *source, &source));
    source->descriptor = -1;
    szg_status status = szg_memory_copy_text(context, path, &source->path);
    if (status == SZG_OK)
        status = open_regular(context, path, &source->descriptor, &info);
    if (status != SZG_OK) {
        source->descriptor = -1;
        szg_source_close(&source);
        return status;
    }
    source->size = info.st_size;
    source->changed = info.st_mtim;
    *out = source;
    return SZG_OK;
}

void szg_source_close(szg_source **source) {
    if (!source || !*source)
        return;
    if ((*source)->descriptor >= 0)
        close((*source)->descriptor);
    szg_memory_free((*source)->path);
    szg_memory_free(*source);
    *source = NULL;
}

int64_t szg_source_size(const szg_source *source) {
    return source->size;
}

szg_status szg_source_read(szg_context *context, const szg_source *source, int64_t offset,
                           int64_t count, void *out) {
    unsigned char *to = out;
    while (count > 0) {
        ssize_t got = pread(source->descriptor, to, (size_t)count, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(context, source->path, "cannot be read");
        if (got == 0)
            return szg_fail(context, SZG_EIO,
                            "%s: was cut while it was read: its %" PRId64
                            " bytes end before byte %" PRId64
                            " now; run the command again when the file is whole",
                            source->path, source->size, offset);
        to += got;
        offset += got;
        count -= got;
    }
    return SZG_OK;
}

szg_status szg_source_check(szg_context *context, const szg_source *source) {
    struct stat info;
    if (fstat(source->descriptor, &info) != 0)
        return fail_errno(context, source->path, "cannot be read");
    if (info.st_size == source->size && info.st_mtim.tv_sec == source->changed.tv_sec &&
        info.st_mtim.tv_nsec == source->changed.tv_nsec)
        return SZG_OK;
    return szg_fail(context, SZG_EIO,
                    "%s: was changed while it was read (%" PRId64 " bytes before, %" PRId64
                    " now): run the command again when nothing writes to it",
                    source->path, source->size, (int64_t)info.st_size);
}
