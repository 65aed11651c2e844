#include <errno.h>
#include <fcntl.h>
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

szg_status szg_mapping_open(szg_context *context, const char *path, szg_mapping *out) {
    *out = (szg_mapping){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return fail_errno(context, path, "cannot be read");
    struct stat info;
    szg_status status = SZG_OK;
    if (fstat(descriptor, &info) != 0)
        status = fail_errno(context, path, "cannot be read");
    else if (!S_ISREG(info.st_mode))
        status = szg_fail(context, SZG_EDATA, "%s: is not a regular file", path);
    else if (info.st_size > 0) {
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
