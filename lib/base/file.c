#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/fork.h"
#include "base/memory.h"

struct szgi_writer {
    char *path, *temporary;
    FILE *stream;
    int lock; /* the temporary file once more: its lock outlives the stream, until the renaming */
    szgi_writer *next; /* among those that have a temporary file */
};

static szg_status fail_errno(szg_context *context, const char *path, const char *what) {
    return szgi_fail(context, SZG_EIO, "%s: %s: %s", path, what, strerror(errno));
}

/* ---- Temporary files ----
 * PATH.szego-0, PATH.szego-1, ...: the first number that is free. A writer holds a lock on its file
 * until that is renamed or removed, and the kernel drops the lock when the process dies, however it
 * dies: a file that can be locked has no writer any more. The sticky bit, which means nothing on a
 * file and which programs do not set, marks it as ours: a user's file of such a name stays. */

enum { NUMBERS = 10000, NUMBERS_LOOKED_AHEAD = 16, MARK = S_ISVTX };
static const char infix[] = ".szego-";

static bool is_temporary(const char *name) {
    const char *at = strstr(name, infix), *last = NULL;
    for (; at; at = strstr(at + 1, infix))
        last = at + strlen(infix);
    size_t digits = last ? strspn(last, "0123456789") : 0;
    return digits >= 1 && digits <= 4 && !last[digits];
}

static bool is_marked(const struct stat *info) {
    return S_ISREG(info->st_mode) && (info->st_mode & MARK) && info->st_nlink == 1 &&
           info->st_uid == geteuid();
}

static int lock(int descriptor, int how) {
    int result;
    do
        result = flock(descriptor, how);
    while (result != 0 && errno == EINTR);
    return result;
}

/* Whether `path` still names the open file, and not one that another process has put there
 * since. */
static bool stands_at(int descriptor, const char *path, struct stat *info) {
    struct stat there;
    return fstat(descriptor, info) == 0 && lstat(path, &there) == 0 &&
           info->st_dev == there.st_dev && info->st_ino == there.st_ino;
}

/* Removes a temporary file whose writer is dead. False: there is no file at `path`. */
static bool remove_dead(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0)
        return false;
    int descriptor =
        is_marked(&info) ? open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (descriptor < 0)
        return true;
    if (lock(descriptor, LOCK_EX | LOCK_NB) == 0 && stands_at(descriptor, path, &info) &&
        is_marked(&info))
        unlink(path);
    close(descriptor);
    return true;
}

/* Numbers of writers that live leave gaps, so that it looks a few beyond the first free one. */
static void remove_dead_of(szgi_writer *writer, size_t room) {
    for (int number = 0, absent = 0; number < NUMBERS && absent < NUMBERS_LOOKED_AHEAD; number++) {
        snprintf(writer->temporary, room, "%s%s%d", writer->path, infix, number);
        absent = remove_dead(writer->temporary) ? 0 : absent + 1;
    }
}

static int create_marked(const char *path) {
    int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    int descriptor = open(path, flags, MARK | 0666);
    bool unmarked = descriptor < 0 && (errno == EPERM || errno == EINVAL || errno == EOPNOTSUPP);
    return unmarked ? open(path, flags, 0666) : descriptor; /* a file system may refuse the mark */
}

/* Between its creation and its lock a file looks dead: one that is gone by then is made anew. Where
 * there are no locks nobody can take one to remove it. */
static int create_numbered(szgi_writer *writer, size_t room) {
    struct stat info;
    for (int number = 0; number < NUMBERS; number++) {
        snprintf(writer->temporary, room, "%s%s%d", writer->path, infix, number);
        int descriptor = create_marked(writer->temporary);
        if (descriptor < 0 && errno == EEXIST)
            continue;
        if (descriptor < 0)
            break;
        errno = 0;
        if (lock(descriptor, LOCK_EX) != 0 || stands_at(descriptor, writer->temporary, &info))
            return descriptor;
        int why = errno;
        close(descriptor);
        if (why && why != ENOENT) { /* it is ours, and cannot be looked at */
            unlink(writer->temporary);
            errno = why;
            break;
        }
        errno = EEXIST;
    }
    writer->temporary[0] = 0;
    return -1;
}

/* Guards the list, and that a file is in it from its creation to its renaming or removal. */
static pthread_mutex_t writers_lock = PTHREAD_MUTEX_INITIALIZER;
static szgi_writer *writers;
SZGI_HELD_OVER_FORK(writers_lock)

static int create_temporary(szgi_writer *writer, size_t room) {
    pthread_mutex_lock(&writers_lock);
    int descriptor = create_numbered(writer, room), before = errno;
    if (descriptor >= 0) {
        writer->next = writers;
        writers = writer;
    }
    pthread_mutex_unlock(&writers_lock);
    errno = before;
    return descriptor;
}

/* Renames the temporary file to `path`, or removes it where that is NULL. */
static bool end_temporary(szgi_writer *writer, const char *path) {
    pthread_mutex_lock(&writers_lock);
    int failed = path ? rename(writer->temporary, path) : unlink(writer->temporary);
    if (failed == 0 || !path) {
        szgi_writer **at = &writers;
        while (*at && *at != writer)
            at = &(*at)->next;
        if (*at)
            *at = writer->next;
        writer->temporary[0] = 0;
    }
    pthread_mutex_unlock(&writers_lock);
    return failed == 0;
}

void szgi_writer_abandon_all(void) {
    pthread_mutex_lock(&writers_lock); /* for good */
    for (const szgi_writer *writer = writers; writer; writer = writer->next)
        unlink(writer->temporary);
}

void szgi_folder_sweep(const char *folder) {
    DIR *entries = opendir(folder);
    if (!entries)
        return;
    char path[PATH_MAX];
    for (struct dirent *entry; (entry = readdir(entries));)
        if (is_temporary(entry->d_name) &&
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            remove_dead(path);
    closedir(entries);
}

/* ---- Writing ---- */

const char *szgi_write_remedy(int error) {
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return ": make room, or write elsewhere";
    case EFBIG:
        return ": raise the largest size of a file (ulimit -f)";
    case EPIPE:
        return ": its reader has ended";
    case EBADF:
        return ": it was closed when the program began";
    default:
        return "";
    }
}

szg_status szgi_stream_flush(szg_context *context, FILE *stream) {
    errno = 0;
    bool failed = fflush(stream) != 0;
    int why = errno;
    if (!failed && !ferror(stream))
        return SZG_OK;
    if (why == ENOMEM) /* a stream into memory */
        return szgi_fail(context, SZG_ENOMEM, "cannot be written: out of memory");
    return szgi_fail(context, SZG_EIO, "cannot be written: %s%s",
                     why ? strerror(why) : "an earlier write failed", szgi_write_remedy(why));
}

/* Renaming over a device or a pipe would put a file in its place, /dev/null included. A folder is
 * refused by the renaming. */
static szg_status check_target(szg_context *context, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return SZG_OK;
    return szgi_fail(context, SZG_EIO, "%s: cannot be written: is not a regular file", path);
}

szg_status szgi_writer_open(szg_context *context, const char *path, szgi_writer **out) {
    *out = NULL;
    szgi_writer *writer;
    SZG_TRY(check_target(context, path));
    SZG_TRY(szgi_memory_alloc(context, 1, &writer));
    writer->lock = -1;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_copy_text(context, path, &writer->path), fail);
    size_t room = strlen(path) + sizeof infix + 4;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, (int64_t)room, &writer->temporary), fail);
    remove_dead_of(writer, room);
    writer->lock = create_temporary(writer, room);
    int descriptor = writer->lock < 0 ? -1 : fcntl(writer->lock, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0 || !(writer->stream = fdopen(descriptor, "w+b"))) {
        status = fail_errno(context, path, "cannot be written");
        if (descriptor >= 0)
            close(descriptor);
        goto fail;
    }
    *out = writer;
    return SZG_OK;
fail:
    szgi_writer_discard(&writer);
    return status;
}

FILE *szgi_writer_stream(szgi_writer *writer) {
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

/* Writes and closes the stream; 0, or what failed. */
static int finish(szgi_writer *w) {
    errno = 0;
    bool failed = fflush(w->stream) != 0 || ferror(w->stream) || fsync(fileno(w->stream)) != 0;
    int why = errno;
    if (fclose(w->stream) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    w->stream = NULL;
    return !failed ? 0 : why ? why : EIO;
}

szg_status szgi_writer_commit(szg_context *context, szgi_writer **writer) {
    szgi_writer *w = *writer;
    struct stat info;
    int why = finish(w);
    if (why == 0 && !end_temporary(w, w->path))
        why = errno;
    szg_status status = SZG_OK;
    if (why) {
        status = szgi_fail(context, SZG_EIO, "%s: writing failed, the old contents were kept: %s%s",
                           w->path, strerror(why), szgi_write_remedy(why));
    } else {
        if (fstat(w->lock, &info) == 0)
            (void)!fchmod(w->lock, info.st_mode & 0777); /* without the mark */
        sync_folder(w->path);
    }
    szgi_writer_discard(writer);
    return status;
}

void szgi_writer_discard(szgi_writer **writer) {
    if (!writer || !*writer)
        return;
    szgi_writer *w = *writer;
    if (w->stream)
        fclose(w->stream);
    if (w->temporary && w->temporary[0])
        end_temporary(w, NULL);
    if (w->lock >= 0)
        close(w->lock);
    szgi_memory_free(w->temporary);
    szgi_memory_free(w->path);
    szgi_memory_free(w);
    *writer = NULL;
}

/* ---- Folders ---- */

bool szgi_path_is_folder(const char *path) {
    struct stat info;
    size_t length = strlen(path);
    if (length > 0 && path[length - 1] == '/')
        return true;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

szg_status szgi_path_join(szg_context *context, const char *folder, const char *name, char **out) {
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, out));
    snprintf(*out, size, "%s%s%s", folder, length > 0 && folder[length - 1] != '/' ? "/" : "",
             name);
    return SZG_OK;
}

szg_status szgi_folder_create(szg_context *context, const char *path) {
    char *copy;
    SZG_TRY(szgi_memory_copy_text(context, path, &copy));
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
        status = szgi_fail(context, SZG_EIO, "%s: is not a folder", path);
    szgi_memory_free(copy);
    return status;
}

szg_status szgi_folder_lock(szg_context *context, const char *path, int *out) {
    *out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out >= 0 && lock(*out, LOCK_EX | LOCK_NB) == 0)
        return SZG_OK;
    int why = errno;
    szgi_folder_unlock(out);
    if (why == EWOULDBLOCK)
        return szgi_fail(context, SZG_EIO,
                         "%s: another writer uses this folder: run the command again "
                         "when it has ended, or use another folder",
                         path);
    szgi_say(context, SZG_NOTE, "%s: cannot be locked (%s): let no other process write into it",
             path, strerror(why));
    return SZG_OK;
}

void szgi_folder_unlock(int *folder) {
    if (*folder >= 0)
        close(*folder);
    *folder = -1;
}

/* A program that was started by its bare name is called so by the linker too. */
void szgi_folder_of_code(const void *address, char *folder) {
    Dl_info info = {0};
    bool named = dladdr(address, &info) && info.dli_fname && strchr(info.dli_fname, '/');
    bool found = named && realpath(info.dli_fname, folder);
    char *slash = found || realpath("/proc/self/exe", folder) ? strrchr(folder, '/') : NULL;
    *(slash ? slash : folder) = 0;
}

/* ---- Reading ---- */

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
        status = szgi_fail(context, SZG_EDATA, "%s: is not a regular file", path);
    if (status != SZG_OK)
        close(*out);
    return status;
}

struct szgi_source {
    char *path;
    int descriptor;
    int64_t size;
    struct timespec changed;
};

szg_status szgi_source_open(szg_context *context, const char *path, szgi_source **out) {
    *out = NULL;
    szgi_source *source;
    struct stat info;
    SZG_TRY(szgi_memory_alloc(context, 1, &source));
    source->descriptor = -1;
    szg_status status = szgi_memory_copy_text(context, path, &source->path);
    if (status == SZG_OK)
        status = open_regular(context, path, &source->descriptor, &info);
    if (status != SZG_OK) {
        source->descriptor = -1;
        szgi_source_close(&source);
        return status;
    }
    source->size = info.st_size;
    source->changed = info.st_mtim;
    *out = source;
    return SZG_OK;
}

void szgi_source_close(szgi_source **source) {
    if (!source || !*source)
        return;
    if ((*source)->descriptor >= 0)
        close((*source)->descriptor);
    szgi_memory_free((*source)->path);
    szgi_memory_free(*source);
    *source = NULL;
}

int64_t szgi_source_size(const szgi_source *source) {
    return source->size;
}

struct timespec szgi_source_changed(const szgi_source *source) {
    return source->changed;
}

static szg_status read_part(szg_context *context, const szgi_source *source, int64_t offset,
                            int64_t count, unsigned char *to) {
    while (count > 0) {
        ssize_t got = pread(source->descriptor, to, (size_t)count, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(context, source->path, "cannot be read");
        if (got == 0)
            return szgi_fail(context, SZG_EIO,
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

/* The system gives no look for cancellation between the gigabytes of one read. */
szg_status szgi_source_read(szg_context *context, const szgi_source *source, int64_t offset,
                            int64_t count, void *out) {
    for (int64_t done = 0; done < count; done += SZGI_MEMORY_LOOK) {
        int64_t part = count - done < SZGI_MEMORY_LOOK ? count - done : SZGI_MEMORY_LOOK;
        if (done > 0)
            SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(read_part(context, source, offset + done, part, (unsigned char *)out + done));
    }
    return SZG_OK;
}

szg_status szgi_source_check(szg_context *context, const szgi_source *source) {
    struct stat info;
    if (fstat(source->descriptor, &info) != 0)
        return fail_errno(context, source->path, "cannot be read");
    if (info.st_size == source->size && info.st_mtim.tv_sec == source->changed.tv_sec &&
        info.st_mtim.tv_nsec == source->changed.tv_nsec)
        return SZG_OK;
    return szgi_fail(context, SZG_EIO,
                     "%s: was changed while it was read (%" PRId64 " bytes before, %" PRId64
                     " now): run the command again when nothing writes to it",
                     source->path, source->size, (int64_t)info.st_size);
}

static szg_status make_room(szg_context *context, const szgi_source *source, unsigned char **out) {
    if (source->size > SZGI_MEMORY_LOOK) /* the answer takes longer than to read a small file */
        SZG_TRY(szgi_memory_require(context, source->size, 1, 1, source->path,
                                    "it is read whole: make it smaller, or take it on a machine "
                                    "with more memory"));
    szg_status status = szgi_memory_alloc(context, source->size, out);
    if (status != SZG_ENOMEM)
        return status;
    return szgi_fail(context, status,
                     "%s: out of memory: its %" PRId64 " bytes are read whole: make it smaller, or "
                     "raise the limit on memory (`ulimit -v`)",
                     source->path, source->size);
}

static szg_status read_whole(szg_context *context, const szgi_source *source, szgi_contents *out) {
    unsigned char *data;
    int64_t size = source->size;
    if (size == 0)
        return szgi_source_check(context, source);
    SZG_TRY(make_room(context, source, &data));
    szg_status status = szgi_source_read(context, source, 0, size, data);
    if (status == SZG_OK)
        status = szgi_source_check(context, source);
    if (status != SZG_OK) {
        szgi_memory_free(data);
        return status;
    }
    *out = (szgi_contents){.data = data, .size = size};
    return SZG_OK;
}

szg_status szgi_contents_open_within(szg_context *context, const char *path, int64_t most,
                                     const char *kind, szgi_contents *out) {
    *out = (szgi_contents){0};
    szgi_source *source;
    SZG_TRY(szgi_source_open(context, path, &source));
    szg_status status =
        source->size > most
            ? szgi_fail(context, SZG_EDATA,
                        "%s: %" PRId64 " bytes are more than the %" PRId64 " that %s may have",
                        path, source->size, most, kind)
            : read_whole(context, source, out);
    szgi_source_close(&source);
    return status;
}

szg_status szgi_contents_open(szg_context *context, const char *path, szgi_contents *out) {
    return szgi_contents_open_within(context, path, INT64_MAX, "a file", out);
}

void szgi_contents_close(szgi_contents *contents) {
    szgi_memory_free((void *)contents->data);
    *contents = (szgi_contents){0};
}
