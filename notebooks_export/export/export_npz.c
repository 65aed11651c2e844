/* FILE.npz: a zip of npy arrays, one structured array a table, none of them held in memory. */
#include <inttypes.h>
#include <string.h>

#include "formats/zip.h"
#include "base/memory.h"
#include "formats/npy.h"
#include "notebooks_export/collection/collection.h"
#include "export_private.h"

/* An array pads every text to the longest of its column: one text of a megabyte among 10^6 short
 * ones would ask a reader for 10^12 bytes. */
enum { PADDING_LIMIT = 1 << 30 };

static szg_status check_padding(szg_context *context, const szg_table *table) {
    for (int64_t column = 0; column < szg_table_columns(table); column++) {
        int64_t rows = szg_table_rows(table), longest = 0, bytes = 0;
        if (szg_table_column(table, column)->type != SZG_TEXT)
            continue;
        for (int64_t row = 0; row < rows; row++) {
            const char *text = szg_table_get_text(table, row, column);
            int64_t length = text ? (int64_t)strlen(text) : 0;
            longest = length > longest ? length : longest;
            bytes += length;
        }
        if (rows > 0 && longest > (PADDING_LIMIT + bytes) / rows)
            return szgi_fail(context, SZG_EDATA,
                             "table %s, column %s: an array pads all %" PRId64
                             " texts to the longest, of %" PRId64
                             " bytes, which is more than a GiB of nothing: write csv (--to csv)",
                             szg_table_name(table), szg_table_column(table, column)->name, rows,
                             longest);
    }
    return SZG_OK;
}

static szg_status emit_table(szg_context *context, const void *data, FILE *stream) {
    return szgi_npy_print_table(context, data, stream);
}

static szg_status emit_text(szg_context *context, const void *data, FILE *stream) {
    (void)context;
    szgi_npy_print_text(data, stream);
    return SZG_OK;
}

static szg_status add_tables(szg_context *context, const szg_collection *collection,
                             szgi_zip *zip) {
    for (int64_t i = 0; i < szg_collection_tables(collection); i++) {
        const szg_table *table = szgi_collection_table(collection, i);
        char name[256];
        szgi_progress(context, "export", i, szg_collection_tables(collection));
        snprintf(name, sizeof name, "%s.npy", szg_table_name(table));
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(check_padding(context, table));
        SZG_TRY(szgi_zip_add(context, zip, name, emit_table, table));
    }
    szgi_progress(context, "export", szg_collection_tables(collection),
                  szg_collection_tables(collection));
    return SZG_OK;
}

szg_status szg_export_npz(szg_context *context, const szg_collection *collection,
                          const char *path) {
    SZGI_ENTER(context);
    char *manifest;
    szgi_zip *zip = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_export_manifest(context, collection, &manifest), done);
    SZG_TRY_GOTO(status, szgi_zip_create(context, path, &zip), done);
    SZG_TRY_GOTO(status, szgi_zip_add(context, zip, "manifest.npy", emit_text, manifest), done);
    SZG_TRY_GOTO(status, add_tables(context, collection, zip), done);
    status = szgi_zip_commit(context, &zip);
done:
    szgi_zip_discard(&zip);
    szgi_memory_free(manifest);
    return status;
}
