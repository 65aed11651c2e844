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
#include "hub.h"

static szg_status has_entry(szg_context *context, const char *folder, const char *name, bool *out) {
    char *path;
    SZG_TRY(szgi_path_join(context, folder, name, &path));
    *out = access(path, F_OK) == 0;
    szgi_memory_free(path);
    return SZG_OK;
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

/* A folder of the caller's that is called as a model of the hub is what he means, as for the hub's
 * own library; that the cache has the model too is worth a word. */
static szg_status warn_of_both(szg_context *context, const char *path, const char *revision) {
    hub_model model;
    if (revision)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: is there, a file or folder, and a revision is of a model of the "
                         "Hugging Face hub: leave the revision out, or work in another folder",
                         path);
    if (!szgi_hub_is_name(path))
        return SZG_OK;
    szg_status status = szgi_hub_find(context, path, NULL, &model);
    if (status != SZG_OK) /* what a damaged cache holds does not matter here */
        return status == SZG_EDATA || status == SZG_EIO ? SZG_OK : status;
    if (model.place)
        szgi_say(context, SZG_WARNING,
                 "%s: what is called so in the current folder is read, and not the model of the "
                 "Hugging Face hub, which is %s",
                 path, model.place);
    szgi_hub_close(&model);
    return SZG_OK;
}

/* A name of the hub; *out NULL: it is in no cache. */
static szg_status find_named(szg_context *context, const char *path, const char *revision,
                             bool refuse, szg_checkpoint_place *kind, char **out) {
    hub_model model;
    SZG_TRY(szgi_hub_find(context, path, revision, &model));
    szg_status status = SZG_OK;
    *kind = !model.place ? SZG_PLACE_NOWHERE : model.fetched ? SZG_PLACE_FETCHED : SZG_PLACE_HUB;
    if (model.place && !model.file)
        status = find_in_folder(context, model.place, out);
    if (model.place && !model.file && status == SZG_OK && refuse)
        status = szgi_hub_check_one(context, &model);
    if (model.place && status == SZG_OK && !*out)
        status = szgi_memory_copy_text(context, model.place, out);
    if (refuse && !model.place)
        status = szgi_hub_refuse(context, &model);
    if (refuse && *out)
        szgi_say(context, SZG_NOTE,
                 "%s: is a model of the Hugging Face hub: revision %s in %s cache is read, %s",
                 model.id, model.revision, model.fetched ? "szego's" : "its", *out);
    szgi_hub_close(&model);
    return status;
}

static szg_status find(szg_context *context, const char *path, const char *revision, bool refuse,
                       szg_checkpoint_place *kind, char **out) {
    struct stat entry;
    *out = NULL;
    *kind = SZG_PLACE_PATH;
    bool there = stat(path, &entry) == 0 || (errno != ENOENT && errno != ENOTDIR);
    if (!there && szgi_hub_is_name(path))
        return find_named(context, path, revision, refuse, kind, out);
    if (there)
        SZG_TRY(warn_of_both(context, path, revision));
    else if (revision)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: a revision is of a model of the Hugging Face hub, ORG/NAME: leave it "
                         "out",
                         path);
    if (there && S_ISDIR(entry.st_mode))
        SZG_TRY(find_in_folder(context, path, out));
    return *out ? SZG_OK : szgi_memory_copy_text(context, path, out);
}

szg_status szgi_place_find(szg_context *context, const char *path, const char *revision,
                           char **out) {
    szg_checkpoint_place kind;
    return find(context, path, revision, true, &kind, out);
}

szg_status szg_checkpoint_locate(szg_context *context, const char *path, const char *revision,
                                 szg_checkpoint_place *out) {
    char *place;
    *out = SZG_PLACE_PATH;
    SZGI_ENTER(context);
    SZG_TRY(find(context, path, revision, false, out, &place));
    szgi_memory_free(place);
    return SZG_OK;
}
