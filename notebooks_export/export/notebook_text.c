/* The first cells of a notebook: what it shows, and every column of every array. */
#include <inttypes.h>

#include "formats/npy.h"
#include <szego/version.h>
#include "formats/result.h"
#include "notebooks_export/collection/collection.h"
#include "export_private.h"

enum { RESULTS_SHOWN = 100, NAME_SHOWN = 200, TEXT_SHOWN = 600 };

/* A name in a cell of a table. */
static szg_status put_name(szg_context *context, const char *before, const char *name,
                           FILE *stream) {
    fprintf(stream, "%s<code>", before);
    SZG_TRY(szgi_export_markdown(context, stream, name, NAME_SHOWN));
    fputs("</code>", stream);
    return SZG_OK;
}

static szg_status print_result(szg_context *context, const szg_collection *collection,
                               int64_t index, FILE *stream) {
    const szg_result *result = szgi_collection_result(collection, index);
    szgi_json_value provenance = szgi_json_root(szgi_result_provenance(result));
    static const char *const keys[] = {"version", "commit", "backend"};
    SZG_TRY(put_name(context, "| ", szgi_collection_path(collection, index), stream));
    SZG_TRY(put_name(context, " | ", szg_result_command(result), stream));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        szgi_json_value value = szgi_json_member(provenance, keys[i]);
        const char *text = "";
        if (szgi_json_kind_of(value) == SZGI_JSON_TEXT)
            SZG_TRY(szgi_json_as_text(context, value, &text));
        SZG_TRY(put_name(context, " | ", text, stream));
    }
    fputs(" |\n", stream);
    return SZG_OK;
}

static szg_status print_unread(szg_context *context, const szg_collection *collection,
                               FILE *stream) {
    int64_t count = szg_collection_bad_count(collection);
    if (count == 0)
        return SZG_OK;
    fprintf(stream, "\n%" PRId64 " of the results could not be read and are not in here:\n\n",
            count);
    for (int64_t i = 0; i < count && i < RESULTS_SHOWN; i++) {
        fputs("- ", stream);
        SZG_TRY(
            szgi_export_markdown(context, stream, szg_collection_bad(collection, i), TEXT_SHOWN));
        putc('\n', stream);
    }
    return SZG_OK;
}

szg_status szgi_export_print_title(szg_context *context, const szg_collection *collection,
                                   FILE *stream) {
    int64_t count = szg_collection_count(collection);
    SZG_TRY(put_name(context, "# Results of ", szgi_collection_folder(collection), stream));
    fprintf(stream,
            "\n\nWritten by szego %s (%s) from %" PRId64
            " results; the whole provenance of each, its command line and its configuration, is in "
            "`manifest[\"results\"]`.\n\n"
            "| folder | command | version | commit | backend |\n|---|---|---|---|---|\n",
            szg_version(), szg_commit(), count);
    for (int64_t i = 0; i < count && i < RESULTS_SHOWN; i++)
        SZG_TRY(print_result(context, collection, i, stream));
    if (count > RESULTS_SHOWN)
        fprintf(stream, "\n%" PRId64 " more are in the manifest.\n", count - RESULTS_SHOWN);
    return print_unread(context, collection, stream);
}

static szg_status print_columns(szg_context *context, const szg_table *table, FILE *stream) {
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        const szg_column *column = szg_table_column(table, i);
        char dtype[SZGI_NPY_TYPE];
        szgi_npy_column_type(table, i, dtype);
        SZG_TRY(put_name(context, "| ", column->name, stream));
        SZG_TRY(put_name(context, " | ", dtype, stream));
        fputs(" | ", stream);
        SZG_TRY(szgi_export_markdown(context, stream, column->doc, TEXT_SHOWN));
        fputs(" |\n", stream);
    }
    return SZG_OK;
}

szg_status szgi_export_print_readme(szg_context *context, const szg_collection *collection,
                                    const char *archive, FILE *stream) {
    SZG_TRY(put_name(context,
                     "## How to read the arrays\n\nThe numbers are beside this notebook in ",
                     archive, stream));
    fputs(", one structured array a table: a row an element, a column a field. NumPy and "
          "Matplotlib are all that is needed; nothing was computed here yet: *Run all cells*.\n\n"
          "- `archive[\"verify_claims\"][\"verdict\"]` is a column of a table. Arrays are named "
          "after the command and the table.\n"
          "- `<f8` are real numbers, exact to the last bit. A cell that does not apply is NaN.\n"
          "- Where the manifest gives a column an `end`, `lower` or `upper`, its numbers are ends "
          "of enclosures: print them whole, as NumPy does below, or round outwards.\n"
          "- `<i8` are integers. A column of integers in which a cell does not apply is `<f8`, "
          "with NaN there; every value is still exact.\n"
          "- `|S` are texts, UTF-8 bytes: `.decode()`, or `texts(rows, \"verdict\")` below. A cell "
          "that does not apply and an empty text are both `b\"\"`.\n"
          "- `result` is the folder that a row comes from; `note` is what a reader must know "
          "about it.\n"
          "- `manifest` is a JSON text with the provenance of every result, and with this list.\n",
          stream);
    for (int64_t i = 0; i < szg_collection_tables(collection); i++) {
        const szg_table *table = szgi_collection_table(collection, i);
        fprintf(stream, "\n### `%s`: %" PRId64 " rows\n\n| column | dtype | |\n|---|---|---|\n",
                szg_table_name(table), szg_table_rows(table));
        SZG_TRY(print_columns(context, table, stream));
    }
    return SZG_OK;
}
