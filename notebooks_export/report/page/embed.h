/* Tables as compressed bytes, column by column, exact: docs/reference/html-report.md has the
 * format. */
#ifndef SZG_NOTEBOOKS_EXPORT_EMBED_H
#define SZG_NOTEBOOKS_EXPORT_EMBED_H

#include <stdio.h>
#include "base/table.h"
#include <zlib.h>

/* The whole table, deflated (zlib, RFC 1950), in new memory (szgi_memory_free). SZG_EINVAL: more
 * rows, or longer texts, than 32 bits count. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_embed_table(szg_context *context, const szg_table *table,
                                             unsigned char **bytes, int64_t *size);

/* Prints bytes as base64 (RFC 4648) on one line. */
void szgi_embed_base64(const unsigned char *bytes, int64_t size, FILE *stream);

/* Bytes on their way through the compressor into memory that grows. */
typedef struct sink {
    szg_context *context;
    z_stream stream;
    unsigned char *bytes;
    int64_t size, capacity;
    szg_status refused; /* of the compressor's own memory, which it answers with a code */
} sink;

SZG_CHECK_RESULT szg_status szgi_sink_open(szg_context *context, sink *out);
/* Every byte that the compressor still holds. */
SZG_CHECK_RESULT szg_status szgi_sink_finish(sink *sink);
/* Of an open one that failed too; its bytes are the caller's. */
void szgi_sink_close(sink *sink);

SZG_CHECK_RESULT szg_status szgi_sink_put(sink *sink, const void *bytes, int64_t size);
SZG_CHECK_RESULT szg_status szgi_sink_number(sink *sink, int64_t value); /* 4 bytes, least first */
SZG_CHECK_RESULT szg_status szgi_sink_text(sink *sink, const char *text);

/* One column. */
SZG_CHECK_RESULT szg_status szgi_embed_column(sink *sink, const szg_table *table, int64_t column);

#endif
