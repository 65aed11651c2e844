/* Reads back the folder that result_write.c wrote. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "csv_private.h"
#include "result_private.h"

enum {
    COLUMN_LIMIT = 4096,       /* a header is searched once a column */
    TABLE_LIMIT = 1024,        /* the others are searched once a table */
    MANIFEST_LIMIT = 256 << 20 /* bytes, as szgi_json_read */
};

/* The table that is being read. */
typedef struct entry {
    szgi_json_value value;
    const char *name;
    char *path;
    int64_t rows, columns;
    szg_column *column;
    szgi_end *end; /* [columns] */
} entry;

static szg_status read_type(szg_context *context, szgi_json_value value, szg_type *out) {
    const char *text;
    SZG_TRY(szgi_json_as_text(context, value, &text));
    for (int i = 0; i < SZG_TYPES; i++)
        if (strcmp(text, szgi_type_name((szg_type)i)) == 0) {
            *out = (szg_type)i;
            return SZG_OK;
        }
    return szgi_json_fail(context, value, "%s is not one of text, integer, real", SHOWN(text));
}

/* A manifest says nothing of a column that is no end. */
static szg_status read_end(szg_context *context, szgi_json_value value, szgi_end *out) {
    const char *text;
    *out = SZGI_END_NONE;
    if (szgi_json_kind_of(value) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_text(context, value, &text));
    for (int i = SZGI_END_NONE + 1; i < SZGI_ENDS; i++)
        if (strcmp(text, szgi_end_name((szgi_end)i)) == 0) {
            *out = (szgi_end)i;
            return SZG_OK;
        }
    return szgi_json_fail(context, value, "%s is not one of lower, upper", SHOWN(text));
}

static szg_status read_columns(szg_context *context, entry *e) {
    szgi_json_value list = szgi_json_member(e->value, "columns");
    SZG_TRY(szgi_json_as_array(context, list));
    e->columns = szgi_json_count(list);
    if (e->columns < 1 || e->columns > COLUMN_LIMIT)
        return szgi_json_fail(context, list, "has %" PRId64 " columns; a table has 1 to %d",
                              e->columns, (int)COLUMN_LIMIT);
    SZG_TRY(szgi_memory_alloc(context, e->columns, &e->column));
    SZG_TRY(szgi_memory_alloc(context, e->columns, &e->end));
    for (int64_t i = 0; i < e->columns; i++) {
        szgi_json_value one = szgi_json_element(list, i);
        SZG_TRY(szgi_json_as_text(context, szgi_json_member(one, "name"), &e->column[i].name));
        SZG_TRY(szgi_json_as_text(context, szgi_json_member(one, "doc"), &e->column[i].doc));
        SZG_TRY(read_type(context, szgi_json_member(one, "type"), &e->column[i].type));
        SZG_TRY(read_end(context, szgi_json_member(one, "end"), &e->end[i]));
        for (int64_t j = 0; j < i; j++)
            if (strcmp(e->column[j].name, e->column[i].name) == 0)
                return szgi_json_fail(context, one, "the table has column %s already",
                                      SHOWN(e->column[i].name));
    }
    return SZG_OK;
}

/* The file lies in the folder and is called after the table: no name leads out of the folder. */
static szg_status read_file_name(szg_context *context, const entry *e) {
    szgi_json_value value = szgi_json_member(e->value, "file");
    const char *file;
    SZG_TRY(szgi_json_as_text(context, value, &file));
    size_t length = strlen(e->name);
    if (strncmp(file, e->name, length) == 0 && strcmp(file + length, ".csv") == 0)
        return SZG_OK;
    return szgi_json_fail(context, value,
                          "is %s; the file of table %s is %s.csv in the same folder", SHOWN(file),
                          SHOWN(e->name), SHOWN(e->name));
}

static szg_status read_entry(szg_context *context, const szg_result *result, entry *e) {
    szgi_json_value name = szgi_json_member(e->value, "name");
    szgi_json_value rows = szgi_json_member(e->value, "rows");
    SZG_TRY(szgi_json_as_text(context, name, &e->name));
    szg_status status = szgi_result_check_name(context, result, e->name);
    if (status != SZG_OK) {
        char why[512];
        snprintf(why, sizeof why, "%s", szg_context_message(context));
        return szgi_json_fail(context, name, "%s", why);
    }
    SZG_TRY(read_file_name(context, e));
    SZG_TRY(szgi_json_as_integer(context, rows, &e->rows));
    if (e->rows < 0)
        return szgi_json_fail(context, rows, "is %" PRId64 "; it cannot be negative", e->rows);
    return read_columns(context, e);
}

static szg_status read_csv(szg_context *context, result_files files, const entry *e,
                           szg_table **out) {
    *out = NULL;
    szgi_contents contents;
    SZG_TRY(files.open(context, e->path, INT64_MAX, "a table", &contents));
    szg_status status = szgi_csv_parse_exactly(context, e->path, (const char *)contents.data,
                                               contents.size, e->column, e->columns, out);
    files.close(&contents);
    if (status != SZG_OK || szg_table_rows(*out) == e->rows)
        return status;
    status = szgi_fail(context, SZG_EDATA,
                       "%s: has %" PRId64 " rows where manifest.json says %" PRId64
                       ": it was cut off or changed after it was written",
                       e->path, szg_table_rows(*out), e->rows);
    szg_table_close(out);
    return status;
}

static szg_status read_table(szg_context *context, const char *folder, result_files files,
                             szgi_json_value value, szg_result *result) {
    entry e = {.value = value};
    szg_table *table;
    szg_status status;
    SZG_TRY_GOTO(status, read_entry(context, result, &e), done);
    SZG_TRY_GOTO(status, szgi_result_path(context, folder, e.name, ".csv", &e.path), done);
    SZG_TRY_GOTO(status, read_csv(context, files, &e, &table), done);
    for (int64_t i = 0; i < e.columns; i++)
        szgi_table_set_end(table, i, e.end[i]);
    status = szg_result_add(context, result, &table);
done:
    szgi_memory_free(e.end);
    szgi_memory_free(e.column);
    szgi_memory_free(e.path);
    return status;
}

static szg_status read_command(szg_context *context, szgi_json_value value, char **out) {
    const char *text;
    SZG_TRY(szgi_json_as_text(context, value, &text));
    if (szgi_result_check_command(context, text) != SZG_OK) {
        char why[512];
        snprintf(why, sizeof why, "%s", szg_context_message(context));
        return szgi_json_fail(context, value, "%s", why);
    }
    return szgi_memory_copy_text(context, text, out);
}

static szg_status read_manifest(szg_context *context, const char *folder, result_files files,
                                szgi_json_value root, szg_result *result) {
    szgi_json_value format = szgi_json_member(root, "format"),
                    provenance = szgi_json_member(root, "provenance"),
                    tables = szgi_json_member(root, "tables");
    const char *text;
    SZG_TRY(szgi_json_as_object(context, root));
    SZG_TRY(szgi_json_as_text(context, format, &text));
    if (strcmp(text, RESULT_FORMAT) != 0)
        return szgi_json_fail(context, format, "is %s; this version reads " RESULT_FORMAT,
                              SHOWN(text));
    SZG_TRY(read_command(context, szgi_json_member(root, "command"), &result->command));
    SZG_TRY(szgi_json_as_object(context, provenance));
    SZG_TRY(szgi_json_copy(context, provenance, &result->provenance));
    SZG_TRY(szgi_json_as_array(context, tables));
    if (szgi_json_count(tables) > TABLE_LIMIT)
        return szgi_json_fail(context, tables, "has %" PRId64 " tables; a result has at most %d",
                              szgi_json_count(tables), (int)TABLE_LIMIT);
    for (int64_t i = 0; i < szgi_json_count(tables); i++)
        SZG_TRY(read_table(context, folder, files, szgi_json_element(tables, i), result));
    return SZG_OK;
}

static szg_status parse_manifest(szg_context *context, const char *path, result_files files,
                                 szgi_json **out) {
    szgi_contents contents;
    *out = NULL;
    SZG_TRY(files.open(context, path, MANIFEST_LIMIT, "a manifest", &contents));
    szg_status status = szgi_json_parse(context, path, contents.data, contents.size, out);
    files.close(&contents);
    return status;
}

szg_status szgi_result_read_from(szg_context *context, const char *folder, result_files files,
                                 szg_result **out) {
    *out = NULL;
    char *path = NULL;
    szgi_json *manifest = NULL;
    szg_result *result = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_result_path(context, folder, "manifest", ".json", &path), done);
    SZG_TRY_GOTO(status, parse_manifest(context, path, files, &manifest), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, 1, &result), done);
    SZG_TRY_GOTO(status, read_manifest(context, folder, files, szgi_json_root(manifest), result),
                 done);
    *out = result;
    result = NULL;
done:
    szg_result_close(&result);
    szgi_json_close(&manifest);
    szgi_memory_free(path);
    return status;
}

szg_status szg_result_read(szg_context *context, const char *folder, szg_result **out) {
    SZGI_ENTER(context);
    result_files files = {.open = szgi_contents_open_within, .close = szgi_contents_close};
    return szgi_result_read_from(context, folder, files, out);
}
