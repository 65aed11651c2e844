/* FOLDER/COMMAND_TABLE.csv with a manifest: the joined tables as a result of their own. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "formats/result.h"
#include "collection_private.h"
#include "export_private.h"

/* An export in the folder of the results would stand for all of them from now on. */
static szg_status check_place(szg_context *context, const szg_collection *collection,
                              const char *folder) {
    struct stat here, there;
    if (szgi_collection_is_export(collection) || stat(folder, &here) != 0 ||
        stat(szgi_collection_folder(collection), &there) != 0 || here.st_ino != there.st_ino ||
        here.st_dev != there.st_dev)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "%s is the folder of the results: choose another, or one below it", folder);
}

/* The manifest of another command is not replaced: its tables would no longer be found. */
static szg_status check_folder(szg_context *context, const char *folder) {
    char *path;
    const char *command;
    szgi_json *manifest = NULL;
    SZG_TRY(szgi_collection_join_path(context, folder, "manifest.json", &path));
    szg_status status = SZG_OK;
    if (access(path, F_OK) == 0)
        status = szgi_json_read(context, path, &manifest);
    if (manifest)
        status = szgi_json_as_text(context, szgi_json_member(szgi_json_root(manifest), "command"),
                                   &command);
    if (status == SZG_EDATA || (manifest && status == SZG_OK && strcmp(command, "export") != 0))
        status = szgi_fail(context, SZG_EINVAL,
                           "%s is there and not of an export: choose another folder", path);
    szgi_json_close(&manifest);
    szgi_memory_free(path);
    return status;
}

szg_status szg_export_csv(szg_context *context, const szg_collection *collection,
                          const char *folder) {
    SZGI_ENTER(context);
    szg_result *result;
    char *slashed;
    SZG_TRY(check_folder(context, folder));
    SZG_TRY(check_place(context, collection, folder));
    SZG_TRY(szgi_collection_join_path(context, folder, "", &slashed));
    szg_status status;
    SZG_TRY_GOTO(status, szg_result_open(context, "export", &result), done);
    SZG_TRY_GOTO(status,
                 szgi_export_add_sources(context, collection, szgi_result_provenance(result)),
                 close);
    for (int64_t i = 0; i < szg_collection_tables(collection); i++) {
        szg_table *copy;
        SZG_TRY_GOTO(status, szgi_context_check_cancel(context), close);
        SZG_TRY_GOTO(status, szgi_table_copy(context, szgi_collection_table(collection, i), &copy),
                     close);
        SZG_TRY_GOTO(status, szg_result_add(context, result, &copy), close);
    }
    status = szg_result_write(context, result, slashed, NULL);
close:
    szg_result_close(&result);
done:
    szgi_memory_free(slashed);
    return status;
}
