/* Folders in which programs keep models: what is the model in them, and what to do instead. */
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/json.h"

static szg_status has_entry(szg_context *context, const char *folder, const char *name, bool *out) {
    char *path;
    SZG_TRY(szgi_path_join(context, folder, name, &path));
    *out = access(path, F_OK) == 0;
    szgi_memory_free(path);
    return SZG_OK;
}

/* A word of a hub's name: letters, digits, and . _ - but no point first. */
static size_t word_length(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    char all[sizeof letters + 3];
    snprintf(all, sizeof all, "%s._-", letters);
    return *text == '.' ? 0 : strspn(text, all);
}

/* Nothing is there: ORG/NAME is also how the hub calls a model. */
static szg_status refuse_name(szg_context *context, const char *path) {
    size_t first = word_length(path),
           second = path[first] == '/' ? word_length(path + first + 1) : 0;
    if (first == 0 || second == 0 || path[first + 1 + second] || strstr(path, ".safetensors") ||
        strstr(path, ".gguf") || strstr(path, ".json"))
        return SZG_OK; /* is reported by whoever opens it */
    return szgi_fail(context, SZG_EIO,
                     "%s: no file or folder is called so; if it is a model's name on the Hugging "
                     "Face hub: hf download %s --local-dir %s, then give that folder",
                     path, path, path + first + 1);
}

static int is_seen(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* The model in a folder of the hub's cache: its one snapshot. */
static szg_status find_snapshot(szg_context *context, const char *path, const char *snapshots,
                                char **out) {
    struct dirent **entry = NULL;
    int count = scandir(snapshots, &entry, is_seen, alphasort);
    szg_status status = SZG_OK;
    if (count == 1)
        status = szgi_path_join(context, snapshots, entry[0]->d_name, out);
    else if (count > 1)
        status = szgi_fail(context, SZG_EDATA,
                           "%s: is a model in the Hugging Face hub's cache, with %d snapshots, %s "
                           "and %s among them: name the one to read: %s/%s",
                           path, count, SHOWN(entry[0]->d_name), SHOWN(entry[1]->d_name), snapshots,
                           SHOWN(entry[0]->d_name));
    else
        status = szgi_fail(context, SZG_EDATA,
                           "%s: is a model in the Hugging Face hub's cache, without a snapshot: "
                           "fetch it again: hf download",
                           path);
    for (int i = 0; i < count; i++)
        free(entry[i]);
    free(entry);
    if (status == SZG_OK)
        szgi_say(context, SZG_NOTE,
                 "%s: is a model in the Hugging Face hub's cache: its snapshot "
                 "%s is read",
                 path, szgi_path_name(*out));
    return status;
}

/* The folder of the module of type Transformer that modules.json lists; *out is NULL where it is
 * the folder itself. */
static szg_status find_module(szg_context *context, const char *path, const char *modules,
                              char **out) {
    szgi_json *json;
    SZG_TRY(szgi_json_read(context, modules, &json));
    szgi_json_value list = szgi_json_root(json);
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < szgi_json_count(list) && !*out && status == SZG_OK; i++) {
        szgi_json_value module = szgi_json_element(list, i);
        const char *type, *inner;
        if (szgi_json_kind_of(module) != SZGI_JSON_OBJECT ||
            szgi_json_as_text(NULL, szgi_json_member(module, "type"), &type) != SZG_OK ||
            szgi_json_as_text(NULL, szgi_json_member(module, "path"), &inner) != SZG_OK ||
            !szgi_text_ends(type, ".Transformer"))
            continue;
        if (!*inner)
            break;
        status = szgi_path_join(context, path, inner, out);
        if (status == SZG_OK)
            szgi_say(context, SZG_NOTE,
                     "%s: is a folder of sentence-transformers: its module %s is read", path,
                     SHOWN(inner));
    }
    szgi_json_close(&json);
    return status;
}

/* Weights under names that are digests, and the names under manifests. */
static szg_status refuse_store(szg_context *context, const char *path) {
    bool names, weights;
    SZG_TRY(has_entry(context, path, "manifests", &names));
    SZG_TRY(has_entry(context, path, "blobs", &weights));
    if (!names || !weights)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: is Ollama's store of models: ollama show NAME --modelfile prints a line "
                     "FROM with the file of the model NAME, which szego reads",
                     path);
}

static szg_status refuse_cache(szg_context *context, const char *path) {
    struct dirent **entry = NULL;
    int count = scandir(path, &entry, is_seen, alphasort);
    const char *first = NULL;
    bool weights = false; /* a model in a folder with the cache is that model */
    szg_status status = SZG_OK;
    for (int i = 0; i < count; i++) {
        const char *name = entry[i]->d_name;
        weights = weights || szgi_path_ends(name, ".safetensors") || szgi_path_ends(name, ".gguf");
        if (!first && strncmp(name, "models--", strlen("models--")) == 0)
            first = name;
    }
    if (first && !weights)
        status = szgi_fail(context, SZG_EDATA,
                           "%s: is the Hugging Face hub's cache: name a model's folder in it, as "
                           "%s",
                           path, SHOWN(first));
    for (int i = 0; i < count; i++)
        free(entry[i]);
    free(entry);
    return status;
}

static szg_status find_in_folder(szg_context *context, const char *path, char **out) {
    bool snapshots, config, modules;
    char *inner = NULL;
    SZG_TRY(has_entry(context, path, "config.json", &config));
    SZG_TRY(has_entry(context, path, "snapshots", &snapshots));
    SZG_TRY(has_entry(context, path, "modules.json", &modules));
    if (config)
        return SZG_OK;
    if (!snapshots && !modules) {
        SZG_TRY(refuse_store(context, path));
        return refuse_cache(context, path);
    }
    SZG_TRY(szgi_path_join(context, path, snapshots ? "snapshots" : "modules.json", &inner));
    szg_status status = snapshots ? find_snapshot(context, path, inner, out)
                                  : find_module(context, path, inner, out);
    szgi_memory_free(inner);
    return status;
}

szg_status szgi_place_find(szg_context *context, const char *path, char **out) {
    struct stat entry;
    *out = NULL;
    bool there = stat(path, &entry) == 0;
    if (!there && errno == ENOENT)
        SZG_TRY(refuse_name(context, path));
    if (there && S_ISDIR(entry.st_mode))
        SZG_TRY(find_in_folder(context, path, out));
    return *out ? SZG_OK : szgi_memory_copy_text(context, path, out);
}
