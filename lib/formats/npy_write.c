#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "formats/npy.h"
#include "npy_private.h"

/* Version 1 holds headers up to 65535 bytes of Latin-1, version 2 longer ones; names are ASCII. */
void szgi_npy_emit_header(const char *dictionary, FILE *stream) {
    size_t length = strlen(dictionary) + 1;
    int version = length + 64 > 65535 ? 2 : 1;
    size_t prefix = version == 1 ? 10 : 12;
    size_t padding = (64 - (prefix + length) % 64) % 64; /* data begins at a multiple of 64 */
    length += padding;
    fputs(SZGI_NPY_MAGIC, stream);
    putc(version, stream);
    putc(0, stream);
    for (size_t i = 0; i < prefix - 8; i++)
        putc((int)(length >> (8 * i) & 0xFF), stream);
    fprintf(stream, "%s%*s\n", dictionary, (int)padding, "");
}

static szg_status shape_count(szg_context *context, int dims, const int64_t *shape, int64_t *out) {
    if (dims < 0 || dims > SZGI_NPY_DIMS)
        return szgi_fail(context, SZG_EINVAL, "npy: %d dimensions are not within 0 and %d", dims,
                         SZGI_NPY_DIMS);
    *out = 1;
    for (int i = 0; i < dims; i++)
        SZG_TRY(szgi_memory_product(context, *out, shape[i], out));
    return SZG_OK;
}

szg_status szgi_npy_write_real(szg_context *context, const char *path, int dims,
                               const int64_t *shape, const double *data) {
    int64_t count = 0;
    SZG_TRY(shape_count(context, dims, shape, &count));
    char list[SZGI_NPY_DIMS * 24] = "", dictionary[sizeof list + 96];
    for (int i = 0; i < dims; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%" PRId64 "%s", shape[i],
                 i + 1 < dims ? ", "
                 : dims == 1  ? ","
                              : "");
    }
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", list);
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    szgi_npy_emit_header(dictionary, szgi_writer_stream(writer));
    fwrite(data, sizeof *data, (size_t)count, szgi_writer_stream(writer));
    return szgi_writer_commit(context, &writer);
}
