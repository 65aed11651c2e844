/* What an export says about itself: provenance of every result, types and docs of every column. */
#include "formats/npy.h"
#include <szego/version.h>
#include "formats/result.h"
#include "notebooks_export/collection/collection.h"
#include "export_private.h"

static szg_status describe_result(szg_context *context, const szg_collection *collection,
                                  int64_t index, szgi_json *list) {
    const szg_result *result = szgi_collection_result(collection, index);
    szgi_json *one = NULL, *provenance = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &one), done);
    SZG_TRY_GOTO(status,
                 szgi_json_add_text(context, one, "path", szgi_collection_path(collection, index)),
                 done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "command", szg_result_command(result)),
                 done);
    SZG_TRY_GOTO(
        status,
        szgi_json_copy(context, szgi_json_root(szgi_result_provenance(result)), &provenance), done);
    SZG_TRY_GOTO(status, szgi_json_add(context, one, "provenance", &provenance), done);
    status = szgi_json_add(context, list, NULL, &one);
done:
    szgi_json_close(&provenance);
    szgi_json_close(&one);
    return status;
}

szg_status szgi_export_add_sources(szg_context *context, const szg_collection *collection,
                                   szgi_json *json) {
    szgi_json *results = NULL, *unread = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &results), done);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &unread), done);
    for (int64_t i = 0; i < szg_collection_count(collection); i++)
        SZG_TRY_GOTO(status, describe_result(context, collection, i, results), done);
    for (int64_t i = 0; i < szg_collection_bad_count(collection); i++)
        SZG_TRY_GOTO(status,
                     szgi_json_add_text(context, unread, NULL, szg_collection_bad(collection, i)),
                     done);
    SZG_TRY_GOTO(status, szgi_json_add(context, json, "results", &results), done);
    status = szgi_json_add(context, json, "unread", &unread);
done:
    szgi_json_close(&results);
    szgi_json_close(&unread);
    return status;
}

static szg_status describe_column(szg_context *context, const szg_table *table, int64_t index,
                                  szgi_json *list) {
    const szg_column *column = szg_table_column(table, index);
    szgi_end end = szgi_table_end(table, index);
    char dtype[SZGI_NPY_TYPE];
    szgi_npy_column_type(table, index, dtype);
    szgi_json *one;
    SZG_TRY(szgi_json_open_object(context, &one));
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "name", column->name), fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "type", szgi_type_name(column->type)),
                 fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "dtype", dtype), fail);
    if (end != SZGI_END_NONE)
        SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "end", szgi_end_name(end)), fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "doc", column->doc), fail);
    return szgi_json_add(context, list, NULL, &one);
fail:
    szgi_json_close(&one);
    return status;
}

static szg_status describe_table(szg_context *context, const szg_table *table, szgi_json *list) {
    szgi_json *one = NULL, *columns = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &one), done);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &columns), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "name", szg_table_name(table)), done);
    SZG_TRY_GOTO(status, szgi_json_add_integer(context, one, "rows", szg_table_rows(table)), done);
    for (int64_t i = 0; i < szg_table_columns(table); i++)
        SZG_TRY_GOTO(status, describe_column(context, table, i, columns), done);
    SZG_TRY_GOTO(status, szgi_json_add(context, one, "columns", &columns), done);
    status = szgi_json_add(context, list, NULL, &one);
done:
    szgi_json_close(&columns);
    szgi_json_close(&one);
    return status;
}

szg_status szgi_export_manifest(szg_context *context, const szg_collection *collection,
                                char **out) {
    szgi_json *manifest = NULL, *tables = NULL;
    szg_status status;
    *out = NULL;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &manifest), done);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &tables), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, manifest, "format", "szego-export-1"), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, manifest, "version", szg_version()), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, manifest, "commit", szg_commit()), done);
    SZG_TRY_GOTO(status, szgi_export_add_sources(context, collection, manifest), done);
    for (int64_t i = 0; i < szg_collection_tables(collection); i++)
        SZG_TRY_GOTO(status, describe_table(context, szgi_collection_table(collection, i), tables),
                     done);
    SZG_TRY_GOTO(status, szgi_json_add(context, manifest, "tables", &tables), done);
    status = szgi_json_text(context, szgi_json_root(manifest), 1, out);
done:
    szgi_json_close(&tables);
    szgi_json_close(&manifest);
    return status;
}
