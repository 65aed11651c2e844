#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/npy.h"
#include "result_private.h"

static szg_status describe_column(szg_context *context, const szg_table *table, int64_t index,
                                  szgi_json *list) {
    const szg_column *column = szg_table_column(table, index);
    szgi_end end = szgi_table_end(table, index);
    szgi_json *one;
    SZG_TRY(szgi_json_open_object(context, &one));
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "name", column->name), fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "type", szgi_type_name(column->type)),
                 fail);
    if (end != SZGI_END_NONE)
        SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "end", szgi_end_name(end)), fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "doc", column->doc), fail);
    return szgi_json_add(context, list, NULL, &one);
fail:
    szgi_json_close(&one);
    return status;
}

static szg_status describe_table(szg_context *context, const szg_table *table, szgi_json *list) {
    char file[256];
    snprintf(file, sizeof file, "%s.csv", szg_table_name(table));
    szgi_json *one = NULL, *columns = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &one), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "name", szg_table_name(table)), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, one, "file", file), done);
    SZG_TRY_GOTO(status, szgi_json_add_integer(context, one, "rows", szg_table_rows(table)), done);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &columns), done);
    for (int64_t i = 0; i < szg_table_columns(table); i++)
        SZG_TRY_GOTO(status, describe_column(context, table, i, columns), done);
    SZG_TRY_GOTO(status, szgi_json_add(context, one, "columns", &columns), done);
    status = szgi_json_add(context, list, NULL, &one);
done:
    szgi_json_close(&columns);
    szgi_json_close(&one);
    return status;
}

static szg_status add_provenance(szg_context *context, const szg_result *result, szgi_json *json) {
    szgi_json *copy;
    SZG_TRY(szgi_json_copy(context, szgi_json_root(result->provenance), &copy));
    return szgi_json_add(context, json, "provenance", &copy);
}

static szg_status make_manifest(szg_context *context, const szg_result *result, szgi_json **out) {
    szgi_json *manifest = NULL, *tables = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, &manifest), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, manifest, "format", RESULT_FORMAT), done);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, manifest, "command", result->command), done);
    SZG_TRY_GOTO(status, add_provenance(context, result, manifest), done);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &tables), done);
    for (int64_t i = 0; i < result->tables; i++)
        SZG_TRY_GOTO(status, describe_table(context, result->table[i], tables), done);
    SZG_TRY_GOTO(status, szgi_json_add(context, manifest, "tables", &tables), done);
    *out = manifest;
    manifest = NULL;
done:
    szgi_json_close(&tables);
    szgi_json_close(&manifest);
    return status;
}

szg_status szgi_result_path(szg_context *context, const char *folder, const char *name,
                            const char *ending, char **out) {
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, out));
    bool slash = *folder && folder[strlen(folder) - 1] != '/';
    snprintf(*out, size, "%s%s%s%s", folder, slash ? "/" : "", name, ending);
    return SZG_OK;
}

/* Opens FOLDER/TABLE.csv and writes everything but the name: a full disk shows before any file of
 * an earlier run has been replaced. */
static szg_status stage_table(szg_context *context, const char *folder, const szg_table *table,
                              szgi_writer **out) {
    char *path;
    SZG_TRY(szgi_result_path(context, folder, szg_table_name(table), ".csv", &path));
    szg_status status = szgi_writer_open(context, path, out);
    if (status == SZG_OK)
        status = szgi_csv_print(context, table, szgi_writer_stream(*out));
    if (status != SZG_OK)
        szgi_fail_prefix(context, status, "%s", path);
    szgi_memory_free(path);
    return status;
}

/* The manifest is what readers look for: the old one goes before, the new one comes after the
 * tables, so that none ever describes a mixture. */
static szg_status commit_folder(szg_context *context, const szg_result *result,
                                const szgi_json *manifest, const char *path, szgi_writer **writer) {
    if (unlink(path) != 0 && errno != ENOENT)
        return szgi_fail(context, SZG_EIO, "%s: the old manifest cannot be removed: %s", path,
                         strerror(errno));
    for (int64_t i = 0; i < result->tables; i++)
        SZG_TRY(szgi_writer_commit(context, &writer[i]));
    return szgi_json_write(context, manifest, path);
}

szg_status szgi_result_write_locked(szg_context *context, const szg_result *result,
                                    const char *folder) {
    szgi_json *manifest = NULL;
    szgi_writer **writer = NULL;
    char *path = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, make_manifest(context, result, &manifest), done);
    SZG_TRY_GOTO(status, szgi_result_path(context, folder, "manifest", ".json", &path), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, result->tables, &writer), done);
    for (int64_t i = 0; i < result->tables; i++)
        SZG_TRY_GOTO(status, stage_table(context, folder, result->table[i], &writer[i]), done);
    status = commit_folder(context, result, manifest, path, writer);
done:
    for (int64_t i = 0; writer && i < result->tables; i++)
        szgi_writer_discard(&writer[i]);
    szgi_memory_free(writer);
    szgi_memory_free(path);
    szgi_json_close(&manifest);
    return status;
}

/* Of two processes one is refused, before it has touched anything. */
static szg_status write_folder(szg_context *context, const szg_result *result, const char *folder) {
    int lock;
    SZG_TRY(szgi_folder_create(context, folder));
    SZG_TRY(szgi_folder_lock(context, folder, &lock));
    szg_status status = szgi_result_write_locked(context, result, folder);
    szgi_folder_unlock(&lock);
    return status;
}

/* A writer of the one-file forms. */
typedef szg_status emit_fn(szg_context *context, const szg_result *result, const szg_table *table,
                           FILE *stream);

static szg_status emit_json(szg_context *context, const szg_result *result, const szg_table *table,
                            FILE *stream) {
    (void)table;
    return szgi_result_emit_json(context, result, stream);
}

static szg_status emit_csv(szg_context *context, const szg_result *result, const szg_table *table,
                           FILE *stream) {
    (void)result;
    return szgi_csv_print(context, table, stream);
}

static szg_status emit_npy(szg_context *context, const szg_result *result, const szg_table *table,
                           FILE *stream) {
    (void)result;
    return szgi_npy_print_table(context, table, stream);
}

static szg_status write_file(szg_context *context, const szg_result *result, const char *path,
                             const szg_table *table, emit_fn *emit) {
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    szg_status status = emit(context, result, table, szgi_writer_stream(writer));
    if (status == SZG_OK)
        return szgi_writer_commit(context, &writer);
    szgi_writer_discard(&writer);
    return szgi_fail_prefix(context, status, "%s", path);
}

szgi_result_form szgi_result_form_of(const char *path) {
    static const char *const endings[SZGI_RESULT_FORMS] = {
        [SZGI_RESULT_JSON] = ".json", [SZGI_RESULT_CSV] = ".csv", [SZGI_RESULT_NPY] = ".npy"};
    if (szgi_path_is_folder(path))
        return SZGI_RESULT_FOLDER;
    for (int form = 0; form < SZGI_RESULT_FORMS; form++)
        if (endings[form] && szgi_path_ends(path, endings[form]))
            return (szgi_result_form)form;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return *name && !strchr(name, '.') ? SZGI_RESULT_FOLDER : SZGI_RESULT_UNKNOWN;
}

static szg_status check_form(szg_context *context, const char *path) {
    if (szgi_result_form_of(path) != SZGI_RESULT_UNKNOWN)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "output %s: end it in / for a folder, or in .csv, .json or .npy", SHOWN(path));
}

szg_status szgi_result_check_path(szg_context *context, const char *path) {
    szgi_writer *writer;
    SZG_TRY(check_form(context, path));
    if (szgi_result_form_of(path) == SZGI_RESULT_FOLDER)
        return SZG_OK; /* which is made when it is written */
    SZG_TRY(szgi_writer_open(context, path, &writer));
    szgi_writer_discard(&writer);
    return SZG_OK;
}

szg_status szg_result_write(szg_context *context, const szg_result *result, const char *path,
                            const char *name) {
    SZGI_ENTER(context);
    static emit_fn *const emit[SZGI_RESULT_FORMS] = {
        [SZGI_RESULT_JSON] = emit_json, [SZGI_RESULT_CSV] = emit_csv, [SZGI_RESULT_NPY] = emit_npy};
    szgi_result_form form = szgi_result_form_of(path);
    const szg_table *table = NULL;
    SZG_TRY(check_form(context, path));
    if (form == SZGI_RESULT_FOLDER)
        return write_folder(context, result, path);
    if (form != SZGI_RESULT_JSON)
        SZG_TRY(szgi_result_choose(context, result, name, &table));
    return write_file(context, result, path, table, emit[form]);
}
