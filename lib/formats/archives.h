/* Archives of files: a tar compressed with xz, whose checksums tell a damaged one; a zip is only
 * written. */
#ifndef SZEGO_FORMATS_ARCHIVES_H
#define SZEGO_FORMATS_ARCHIVES_H

#include <stdio.h>
#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* ---- Writing: the same files in the same order give the same bytes ---- */

typedef struct szgi_archive_writer szgi_archive_writer;

/* Opens a temporary file beside `path`. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_archive_create(szg_context *context, const char *path,
                                                szgi_archive_writer **out);
/* The same as a zip with deflate, whose sizes have 64 bits where a member needs them. */
SZG_CHECK_RESULT szg_status szgi_archive_create_zip(szg_context *context, const char *path,
                                                    szgi_archive_writer **out);
/* Appends the file `path` under `name`: no times, owners or permissions. SZG_EIO, SZG_EDATA (not a
 * regular file). */
SZG_CHECK_RESULT szg_status szgi_archive_add(szg_context *context, szgi_archive_writer *writer,
                                             const char *name, const char *path);
/* Prints `data` to a stream, twice with the same bytes; write errors are found by the caller. */
typedef szg_status szgi_emit_fn(szg_context *context, const void *data, FILE *stream);
/* Appends what `emit` prints under `name`: once to be counted, since the size goes before the
 * bytes, and once into the archive, so that no member is ever held in memory. SZG_EIO, and what
 * `emit` returns: the archive can then only be discarded. */
SZG_CHECK_RESULT szg_status szgi_archive_add_made(szg_context *context, szgi_archive_writer *writer,
                                                  const char *name, szgi_emit_fn *emit,
                                                  const void *data);
/* Finishes, renames onto the target and frees; nulls the pointer either way. SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_archive_commit(szg_context *context, szgi_archive_writer **writer);
/* Removes what was written and frees; NULL and *writer NULL are allowed. */
void szgi_archive_discard(szgi_archive_writer **writer);

/* ---- Reading, into memory ---- */

typedef struct szgi_archive szgi_archive;

typedef struct szgi_archive_file {
    const char *name;          /* relative, of printable ASCII, without empty, "." or ".." parts */
    const unsigned char *data; /* not NULL, also of an empty file */
    int64_t size;
} szgi_archive_file;

/* most: bytes that the archive may unpack to; it is held to 500 times its own size too, once that
 * is more than 16 MiB. SZG_EDATA, before anything of it is given out: no
 * such archive, a damaged or truncated or larger one, a link or anything else but regular files, a
 * name that is not as above, a name twice. SZG_EIO, SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_archive_open(szg_context *context, const char *path, int64_t most,
                                              szgi_archive **out);
/* The same of `size` bytes that the caller keeps; `name` is for messages. */
SZG_CHECK_RESULT szg_status szgi_archive_open_bytes(szg_context *context, const char *name,
                                                    const void *data, int64_t size, int64_t most,
                                                    szgi_archive **out);
/* Files are in the order of their names. */
int64_t szgi_archive_count(const szgi_archive *archive);
szgi_archive_file szgi_archive_file_at(const szgi_archive *archive, int64_t index);
/* The file of that name; data NULL: there is none. */
szgi_archive_file szgi_archive_find(const szgi_archive *archive, const char *name);
/* Frees and nulls the pointer; NULL and *archive NULL are allowed. */
void szgi_archive_close(szgi_archive **archive);

SZGI_END_DECLS

#endif
