/* Files: written beside their target and renamed when whole; read by position, or whole. */
#ifndef SZEGO_BASE_FILE_H
#define SZEGO_BASE_FILE_H

#include <stdio.h>
#include <time.h>
#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_writer szgi_writer;

/* Opens a temporary file beside `path`, PATH.szego-0 or the next number that is free, and removes
 * those that writers of `path` left when they were killed: a lock tells which of them still live.
 * SZG_EIO (with the reason), SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_writer_open(szg_context *context, const char *path,
                                             szgi_writer **out);

/* The stream to write to, "w+b". Errors are found by szgi_writer_commit. */
FILE *szgi_writer_stream(szgi_writer *writer);

/* Flushes, fsyncs, renames onto the target and frees. On SZG_EIO (a full disk, say) the target is
 * as it was before and the temporary file is gone. Nulls the pointer either way. */
SZG_CHECK_RESULT szg_status szgi_writer_commit(szg_context *context, szgi_writer **writer);

/* Removes the temporary file and frees; NULL and *writer NULL are allowed. */
void szgi_writer_discard(szgi_writer **writer);

/* For a process that is about to end while other threads still work: removes every temporary file
 * of an open writer. From then on opening, committing and discarding wait for the end. */
void szgi_writer_abandon_all(void);

/* Flushes a stream and tells whether all that was written to it went through. SZG_EIO, with the
 * system's words and the remedy; SZG_ENOMEM (a stream into memory). The message lacks what was
 * written: szgi_fail_prefix. */
SZG_CHECK_RESULT szg_status szgi_stream_flush(szg_context *context, FILE *stream);

/* What a person can do about an errno of writing, ": make room, or write elsewhere" say; "" for
 * others. */
const char *szgi_write_remedy(int error);

/* Whether a path to be written names a folder: it ends in a slash, or is an existing folder. */
bool szgi_path_is_folder(const char *path);

/* FOLDER/NAME, with one slash between; free with szgi_memory_free. */
SZG_CHECK_RESULT szg_status szgi_path_join(szg_context *context, const char *folder,
                                           const char *name, char **out);

/* Creates `path` and its missing parents as folders. SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_folder_create(szg_context *context, const char *path);

/* Locks a folder against every other writer that locks it, until szgi_folder_unlock or the end of
 * the process. SZG_EIO: another one holds it. Where there are no locks a note says so and *out is
 * -1. */
SZG_CHECK_RESULT szg_status szgi_folder_lock(szg_context *context, const char *path, int *out);
/* *folder -1 is allowed; it is set to -1. */
void szgi_folder_unlock(int *folder);

/* The folder of the program or library that holds `address`, a variable of the caller's say, in
 * folder[PATH_MAX] of <limits.h>; "" where it is unknown. Also of a program behind an explicit
 * loader (ld-linux.so.2 ./szego), whose /proc/self/exe is the loader. */
void szgi_folder_of_code(const void *address, char *folder);

/* Removes from a folder the temporary files of writers that were killed, whatever their targets. */
void szgi_folder_sweep(const char *folder);

/* A file that is read by position while others may write to it: what a mapping answers with a
 * signal is an error with words here. */
typedef struct szgi_source szgi_source;

/* Opens a regular file. SZG_EIO (missing, unreadable), SZG_EDATA (not a regular file). */
SZG_CHECK_RESULT szg_status szgi_source_open(szg_context *context, const char *path,
                                             szgi_source **out);
void szgi_source_close(szgi_source **source);

/* Bytes of the file when it was opened. */
int64_t szgi_source_size(const szgi_source *source);

/* When its contents were last changed, as it was opened. */
struct timespec szgi_source_changed(const szgi_source *source);

/* Bytes offset .. offset + count - 1, within that size. Threads may read at the same time. SZG_EIO:
 * the file has become shorter, or cannot be read. SZG_ECANCEL (beyond SZGI_MEMORY_LOOK bytes). */
SZG_CHECK_RESULT szg_status szgi_source_read(szg_context *context, const szgi_source *source,
                                             int64_t offset, int64_t count, void *out);

/* SZG_EIO where the file's size or time of change is not what it was when it was opened: what was
 * read may be of two versions. A file that was replaced by renaming is still the one opened. */
SZG_CHECK_RESULT szg_status szgi_source_check(szg_context *context, const szgi_source *source);

/* The bytes of a whole file; data is NULL for an empty file. */
typedef struct szgi_contents {
    const unsigned char *data;
    int64_t size;
} szgi_contents;

/* Reads a regular file of one version, as szgi_source_check tells. SZG_EIO (missing, unreadable,
 * changed meanwhile), SZG_EDATA (not a regular file), SZG_ENOMEM, with the file and a remedy,
 * SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_contents_open(szg_context *context, const char *path,
                                               szgi_contents *out);
/* The same, where `kind` ("a JSON file", say) has at most `most` bytes: SZG_EDATA beyond. */
SZG_CHECK_RESULT szg_status szgi_contents_open_within(szg_context *context, const char *path,
                                                      int64_t most, const char *kind,
                                                      szgi_contents *out);
void szgi_contents_close(szgi_contents *contents);

SZGI_END_DECLS

#endif
