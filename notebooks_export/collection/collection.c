#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include "formats/json.h"

#include "collection_private.h"

enum { MANIFEST_LIMIT = 256 << 20 }; /* bytes; szg_result_read refuses what is longer */

/* Formats of ours, this version's and others'. */
static const char family[] = "szego-results-";

static bool is_family(szgi_json_value root) {
    const char *format;
    szgi_json_value value = szgi_json_member(root, "format");
    return szgi_json_kind_of(root) == SZGI_JSON_OBJECT &&
           szgi_json_kind_of(value) == SZGI_JSON_TEXT &&
           szgi_json_as_text(NULL, value, &format) == SZG_OK &&
           strncmp(format, family, sizeof family - 1) == 0;
}

/* The joined tables that `szego export --to csv` wrote, beside what they were joined of. */
static bool is_export(szgi_json_value root) {
    const char *command;
    szgi_json_value value = szgi_json_member(root, "command");
    return szgi_json_kind_of(value) == SZGI_JSON_TEXT &&
           szgi_json_as_text(NULL, value, &command) == SZG_OK && strcmp(command, "export") == 0;
}

/* Whether the manifest is one of ours, and not of an export below the folder: its rows would come
 * twice. One that names our format but is no JSON is: it was cut off, and szg_result_read says
 * where. SZG_EDATA: it is longer than any of ours. */
static szg_status is_ours(szg_context *context, const char *folder, bool below, bool *out) {
    char *path;
    szgi_contents contents = {0};
    szgi_json *json = NULL;
    SZG_TRY(szgi_collection_join_path(context, folder, "manifest.json", &path));
    szg_status status =
        szgi_contents_open_within(context, path, MANIFEST_LIMIT, "a manifest", &contents);
    if (status == SZG_OK && contents.size > 0 &&
        memmem(contents.data, (size_t)contents.size, family, sizeof family - 1)) {
        status = szgi_json_parse(context, path, contents.data, contents.size, &json);
        *out = status == SZG_EDATA || (status == SZG_OK && is_family(szgi_json_root(json)) &&
                                       !(below && is_export(szgi_json_root(json))));
        status = status == SZG_EDATA ? SZG_OK : status;
    }
    szgi_json_close(&json);
    szgi_contents_close(&contents);
    szgi_memory_free(path);
    return status;
}

/* Keeps the result of one folder, or the reason why there is none. */
static szg_status read_one(szg_context *context, szg_collection *all, const char *relative) {
    char *folder;
    bool ours = false;
    SZG_TRY(szgi_collection_join_path(context, all->folder, relative, &folder));
    szg_result **next = &all->result[all->path.count];
    szg_status status = is_ours(context, folder, strcmp(relative, ".") != 0, &ours);
    if (status == SZG_OK && ours)
        status = szg_result_read(context, folder, next);
    szgi_memory_free(folder);
    if (status == SZG_EDATA || status == SZG_EIO)
        return szgi_texts_add(context, &all->bad, szg_context_message(context));
    if (status == SZG_OK && ours)
        status = szgi_texts_add(context, &all->path, relative);
    if (status != SZG_OK)
        szg_result_close(next);
    return status;
}

static szg_status refuse_nothing(szg_context *context, const szg_collection *all) {
    if (all->bad.count == 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: holds no results: give a folder that a command wrote with -o DIR/ "
                         "(CSV files and a manifest.json), or one above it",
                         all->folder);
    char first[768];
    snprintf(first, sizeof first, "%s", all->bad.text[0]);
    return szgi_fail(context, SZG_EDATA,
                     "%s: holds no result that can be read: %s%s: write it again with -o DIR/",
                     all->folder, first, all->bad.count > 1 ? " (and others)" : "");
}

static szg_status read_all(szg_context *context, szg_collection *all) {
    SZG_TRY(szgi_collection_walk(context, all));
    int64_t count = all->found.count;
    SZG_TRY(szgi_memory_alloc(context, count, &all->result));
    for (int64_t i = 0; i < count && !szgi_collection_is_export(all); i++) {
        szgi_progress(context, "reading results", i, count);
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(read_one(context, all, all->found.text[i]));
    }
    szgi_progress(context, "reading results", count, count);
    return all->path.count > 0 ? SZG_OK : refuse_nothing(context, all);
}

szg_status szg_collection_open(szg_context *context, const char *folder, szg_collection **out) {
    *out = NULL;
    SZGI_ENTER(context);
    szg_collection *all;
    szg_status status;
    SZG_TRY(szgi_memory_alloc(context, 1, &all));
    SZG_TRY_GOTO(status, szgi_memory_copy_text(context, folder, &all->folder), fail);
    SZG_TRY_GOTO(status, read_all(context, all), fail);
    SZG_TRY_GOTO(status, szgi_collection_join(context, all), fail);
    SZG_TRY_GOTO(status, szgi_collection_complete(context, all), fail);
    *out = all;
    return SZG_OK;
fail:
    szg_collection_close(&all);
    return status;
}

void szg_collection_close(szg_collection **collection) {
    if (!collection || !*collection)
        return;
    szg_collection *all = *collection;
    for (int64_t i = 0; i < all->path.count; i++)
        szg_result_close(&all->result[i]);
    for (int64_t i = 0; i < all->tables; i++)
        szg_table_close(&all->table[i]);
    szgi_memory_free(all->result);
    szgi_memory_free(all->table);
    szgi_texts_free(&all->found);
    szgi_texts_free(&all->path);
    szgi_texts_free(&all->bad);
    szgi_memory_free(all->folder);
    szgi_memory_free(all);
    *collection = NULL;
}

const char *szgi_collection_folder(const szg_collection *collection) {
    return collection->folder;
}

int64_t szg_collection_count(const szg_collection *collection) {
    return collection->path.count;
}

const char *szgi_collection_path(const szg_collection *collection, int64_t index) {
    return collection->path.text[index];
}

const szg_result *szgi_collection_result(const szg_collection *collection, int64_t index) {
    return collection->result[index];
}

int64_t szg_collection_bad_count(const szg_collection *collection) {
    return collection->bad.count;
}

const char *szg_collection_bad(const szg_collection *collection, int64_t index) {
    return collection->bad.text[index];
}

int64_t szg_collection_tables(const szg_collection *collection) {
    return collection->tables;
}

const szg_table *szgi_collection_table(const szg_collection *collection, int64_t index) {
    return collection->table[index];
}

const szg_table *szgi_collection_find(const szg_collection *collection, const char *name) {
    for (int64_t i = 0; i < collection->tables; i++)
        if (strcmp(szg_table_name(collection->table[i]), name) == 0)
            return collection->table[i];
    return NULL;
}
