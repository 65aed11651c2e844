/* A zip archive, written member by member. */
#ifndef SZEGO_FORMATS_ZIP_H
#define SZEGO_FORMATS_ZIP_H

#include <stdio.h>
#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_zip szgi_zip;

/* Opens a temporary file beside `path`. Members are deflated; their sizes have 64 bits where
 * needed, and the same members give the same bytes. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_zip_create(szg_context *context, const char *path, szgi_zip **out);
/* Prints `data` to a stream, twice with the same bytes; write errors are found by the caller. */
typedef szg_status szgi_emit_fn(szg_context *context, const void *data, FILE *stream);
/* Appends what `emit` prints under `name`: once to be counted, since the size goes before the
 * bytes, and once into the zip, so that no member is ever held in memory. SZG_EIO, and what
 * `emit` returns: the zip can then only be discarded. */
SZG_CHECK_RESULT szg_status szgi_zip_add(szg_context *context, szgi_zip *zip, const char *name,
                                         szgi_emit_fn *emit, const void *data);
/* Finishes, renames onto the target and frees; nulls the pointer either way. SZG_EIO. */
SZG_CHECK_RESULT szg_status szgi_zip_commit(szg_context *context, szgi_zip **zip);
/* Removes what was written and frees; NULL and *zip NULL are allowed. */
void szgi_zip_discard(szgi_zip **zip);

SZGI_END_DECLS

#endif
