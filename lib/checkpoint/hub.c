/* Where the Hugging Face hub's own library keeps models (huggingface_hub, "Manage the cache"):
 * CACHE/models--ORG--NAME/refs/REVISION holds the commit of a branch or tag, and snapshots/COMMIT/
 * the files. szego's cache has the same form. */
#include "hub.h"

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
#include "formats/gguf.h"
#include "formats/json.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
enum { WORD_MOST = 96, REVISION_MOST = 200, REF_MOST = 200 };
#define REVISION_MAIN "main"

/* ---- Names ---- */

/* A word of a hub's name: letters, digits, and . _ - but no point or hyphen first, and none twice.
 */
static size_t word_length(const char *text) {
    size_t length = strspn(text, LETTERS DIGITS "._-");
    for (size_t i = 0; i + 1 < length; i++)
        if ((text[i] == '.' || text[i] == '-') && text[i + 1] == text[i])
            return 0;
    return *text == '.' || *text == '-' || length > WORD_MOST ? 0 : length;
}

/* Parts with slashes between, none of them empty, "." or "..": below the folder it is joined to. */
static bool is_below(const char *path) {
    for (const char *at = path;; at++) {
        size_t length = strcspn(at, "/");
        if (length == 0 || (length <= 2 && strspn(at, ".") >= length))
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

/* How long ORG/NAME at the beginning of a text is; 0: none is there. */
static size_t id_length(const char *text) {
    size_t first = word_length(text),
           second = first > 0 && text[first] == '/' ? word_length(text + first + 1) : 0;
    size_t length = first + 1 + second;
    return second > 0 && (text[length] == 0 || text[length] == ':') ? length : 0;
}

bool szgi_hub_is_name(const char *text) {
    static const char *const files[] = {".safetensors", ".gguf", ".json"};
    size_t length = id_length(text);
    for (size_t i = 0; i < sizeof files / sizeof *files && text[length] == 0; i++)
        if (szgi_path_ends(text, files[i])) /* a path that is not there */
            return false;
    return length > 0 && (text[length] == 0 || is_below(text + length + 1));
}

/* Names that a message may print in a command, without quotes. */
static bool is_revision(const char *text) {
    size_t length = strspn(text, LETTERS DIGITS "._-/+@=,");
    return length == strlen(text) && length <= REVISION_MOST && *text != '-' && is_below(text);
}

/* ---- Caches ---- */

/* A folder below the value of an environment variable. */
typedef struct cache_place {
    const char *variable, *below;
} cache_place;

/* In the order of huggingface_hub; the second is the older name of the first. */
static const cache_place hub_places[] = {{"HF_HUB_CACHE", ""},
                                         {"HUGGINGFACE_HUB_CACHE", ""},
                                         {"HF_HOME", "hub"},
                                         {"XDG_CACHE_HOME", "huggingface/hub"},
                                         {"HOME", ".cache/huggingface/hub"},
                                         {NULL, NULL}};
static const cache_place own_places[] = {
    {"XDG_CACHE_HOME", "szego/hub"}, {"HOME", ".cache/szego/hub"}, {NULL, NULL}};

/* The folder of the first variable that is set; "" where none is. A value may begin with ~/, as for
 * huggingface_hub. */
static szg_status find_cache(szg_context *context, const cache_place *places, char **out) {
    const char *value = NULL, *home = getenv("HOME");
    for (; places->variable && !value; places++) {
        value = getenv(places->variable);
        value = value && *value ? value : NULL;
    }
    if (!value)
        return szgi_memory_copy_text(context, "", out);
    const char *below = places[-1].below;
    char *whole;
    if (value[0] == '~' && value[1] == '/' && home)
        SZG_TRY(szgi_path_join(context, home, value + 2, &whole));
    else
        SZG_TRY(szgi_memory_copy_text(context, value, &whole));
    szg_status status = *below ? szgi_path_join(context, whole, below, out)
                               : szgi_memory_copy_text(context, whole, out);
    szgi_memory_free(whole);
    return status;
}

/* FOLDER/A/B. */
static szg_status join(szg_context *context, const char *folder, const char *a, const char *b,
                       char **out) {
    char *first;
    SZG_TRY(szgi_path_join(context, folder, a, &first));
    szg_status status = szgi_path_join(context, first, b, out);
    szgi_memory_free(first);
    return status;
}

static bool is_there(const char *path) {
    return access(path, F_OK) == 0;
}

/* CACHE/models--ORG--NAME. */
static szg_status find_repository(szg_context *context, const char *cache, const char *id,
                                  char **out) {
    char name[sizeof "models----" + 2 * WORD_MOST];
    int first = (int)strcspn(id, "/");
    snprintf(name, sizeof name, "models--%.*s--%s", first, id, id + first + 1);
    return szgi_path_join(context, cache, name, out);
}

/* The commit that a ref names: what its file holds. */
static szg_status read_ref(szg_context *context, const char *path, char commit[REF_MOST + 1]) {
    szgi_contents contents;
    SZG_TRY(szgi_contents_open_within(context, path, REF_MOST, "a reference of the hub's cache",
                                      &contents));
    snprintf(commit, REF_MOST + 1, "%.*s", (int)contents.size,
             contents.data ? (const char *)contents.data : "");
    szgi_contents_close(&contents);
    commit[strcspn(commit, " \n\r\t")] = 0;
    if (*commit && commit[strspn(commit, DIGITS "abcdef")] == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: holds no commit: remove the file, and fetch the model again", path);
}

/* The folder with the files of a revision; NULL: the repository has none that is known here. */
static szg_status find_snapshot(szg_context *context, const char *repository, const char *revision,
                                char **out) {
    char commit[REF_MOST + 1], *ref = NULL, *found = NULL;
    SZG_TRY(join(context, repository, "refs", revision, &ref));
    szg_status status = SZG_OK;
    snprintf(commit, sizeof commit, "%s", revision);
    if (is_there(ref))
        status = read_ref(context, ref, commit);
    szgi_memory_free(ref);
    if (status == SZG_OK)
        status = join(context, repository, "snapshots", commit, &found);
    if (status == SZG_OK && is_there(found)) {
        *out = found;
        return SZG_OK;
    }
    szgi_memory_free(found);
    return status;
}

/* ---- What a snapshot lacks ---- */

static int is_weights(const struct dirent *entry) {
    static const char *const endings[] = {
        ".safetensors", ".gguf", ".bin", ".pt", ".pth", "modules.json"}; /* whose module has them */
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (szgi_path_ends(entry->d_name, endings[i]))
            return 1;
    return 0;
}

/* The first shard of an index that is not beside it. An entry that is no name is for the reader of
 * the index to tell. */
static szg_status find_lack_of_index(szg_context *context, const char *folder, const char *index,
                                     char **out) {
    szgi_json *json;
    SZG_TRY(szgi_json_read(context, index, &json));
    szgi_json_value map = szgi_json_member(szgi_json_root(json), "weight_map");
    szg_status status = SZG_OK;
    for (szgi_json_value entry = {0}; !*out && status == SZG_OK && szgi_json_next(map, &entry);) {
        const char *name;
        char *path;
        if (szgi_json_kind_of(entry) != SZGI_JSON_TEXT ||
            szgi_json_as_text(NULL, entry, &name) != SZG_OK || !is_below(name))
            continue;
        status = szgi_path_join(context, folder, name, &path);
        if (status == SZG_OK && !is_there(path))
            status = szgi_memory_copy_text(context, name, out);
        if (status == SZG_OK)
            szgi_memory_free(path);
    }
    szgi_json_close(&json);
    return status;
}

/* What the hub's program would have to fetch before the model can be read; NULL: nothing. A link
 * into the cache whose file is gone counts as missing. */
static szg_status find_lack(szg_context *context, const char *folder, const char *file,
                            char **out) {
    static const char index_name[] = "model.safetensors.index.json";
    char *path;
    SZG_TRY(szgi_path_join(context, folder, file ? file : index_name, &path));
    bool there = is_there(path);
    szg_status status = SZG_OK;
    if (file) {
        status = there ? SZG_OK : szgi_memory_copy_text(context, file, out);
    } else if (there) {
        status = find_lack_of_index(context, folder, path, out);
    } else {
        struct dirent **entry = NULL;
        int count = scandir(folder, &entry, is_weights, alphasort);
        for (int i = 0; i < count; i++)
            free(entry[i]);
        free(entry);
        if (count <= 0)
            status = szgi_memory_copy_text(context, "its weights", out);
    }
    szgi_memory_free(path);
    return status;
}

/* ---- Looking up ---- */

/* The model in one cache; *place NULL: it is not there, or not whole. */
static szg_status look_into(szg_context *context, const char *cache, hub_model *model, char **place,
                            char **snapshot, char **lack) {
    char *repository;
    SZG_TRY(find_repository(context, cache, model->id, &repository));
    szg_status status = find_snapshot(context, repository, model->revision, snapshot);
    szgi_memory_free(repository);
    if (status != SZG_OK || !*snapshot)
        return status;
    SZG_TRY(find_lack(context, *snapshot, model->file, lack));
    if (*lack)
        return SZG_OK;
    return model->file ? szgi_path_join(context, *snapshot, model->file, place)
                       : szgi_memory_copy_text(context, *snapshot, place);
}

static szg_status look_everywhere(szg_context *context, hub_model *model) {
    char *own, *snapshot = NULL, *lack = NULL;
    SZG_TRY(find_cache(context, hub_places, &model->cache));
    if (*model->cache)
        SZG_TRY(
            look_into(context, model->cache, model, &model->place, &model->snapshot, &model->lack));
    if (model->place)
        return SZG_OK;
    SZG_TRY(find_cache(context, own_places, &own));
    szg_status status =
        *own ? look_into(context, own, model, &model->place, &snapshot, &lack) : SZG_OK;
    model->fetched = model->place != NULL;
    szgi_memory_free(own);
    szgi_memory_free(snapshot);
    szgi_memory_free(lack);
    return status;
}

szg_status szgi_hub_find(szg_context *context, const char *name, const char *revision,
                         hub_model *out) {
    size_t length = id_length(name);
    *out = (hub_model){.file = name[length] ? name + length + 1 : NULL,
                       .revision = revision ? revision : REVISION_MAIN};
    if (!is_revision(out->revision))
        return szgi_fail(context, SZG_EINVAL,
                         "revision '%s': the name of a branch or tag, or a whole commit, is needed",
                         SHOWN(out->revision));
    SZG_TRY(szgi_memory_copy_text(context, name, &out->id));
    out->id[length] = 0;
    szg_status status = look_everywhere(context, out);
    if (status != SZG_OK)
        szgi_hub_close(out);
    return status;
}

void szgi_hub_close(hub_model *model) {
    szgi_memory_free(model->id);
    szgi_memory_free(model->place);
    szgi_memory_free(model->cache);
    szgi_memory_free(model->snapshot);
    szgi_memory_free(model->lack);
    *model = (hub_model){0};
}

szg_status szgi_hub_refuse(szg_context *context, const hub_model *model) {
    bool chosen = strcmp(model->revision, REVISION_MAIN) != 0;
    const char *option = chosen ? " --revision " : "", *revision = chosen ? model->revision : "";
    const char *space = model->file ? " " : "", *file = model->file ? SHOWN(model->file) : "";
    char whole[2 * REVISION_MOST + 512], parts[REVISION_MOST + 512] = "";
    snprintf(whole, sizeof whole, "hf download %s%s%s%s%s", model->id, space, file, option,
             revision);
    if (!model->file)
        snprintf(parts, sizeof parts,
                 "; or python3 -m szego.hub %s%s%s, which fetches what szego reads alone",
                 model->id, option, revision);
    if (model->lack)
        return szgi_fail(context, SZG_EDATA,
                         "%s: is not whole in the Hugging Face hub's cache: %s lacks %s: %s%s",
                         model->id, model->snapshot, SHOWN(model->lack), whole, parts);
    return szgi_fail(context, SZG_EIO,
                     "%s: no file or folder is called so; if it is a model's name on the Hugging "
                     "Face hub, its cache %s has no revision %s of it: %s%s",
                     model->id, *model->cache ? model->cache : "(HF_HOME and HOME are not set)",
                     model->revision, whole, parts);
}

szg_status szgi_hub_check_one(szg_context *context, const hub_model *model) {
    char *file, said[1024];
    szg_status status = szgi_gguf_find(context, model->place, &file);
    szgi_memory_free(file);
    if (status != SZG_EDATA)
        return status;
    snprintf(said, sizeof said, "%s", szg_context_message(context));
    return szgi_fail(context, status, "%s, as %s:FILE", said, model->id);
}
