#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "safetensors_private.h"

szg_status szgi_shard_add(szg_context *context, szgi_safetensors *set, const char *file) {
    SZG_TRY(szgi_memory_grow(context, &set->shard, set->shards, set->shards + 1));
    SZG_TRY(szgi_memory_copy_text(context, file, &set->shard[set->shards].file));
    set->shards++;
    return SZG_OK;
}

void szgi_safetensors_close(szgi_safetensors **set) {
    if (!set || !*set)
        return;
    for (int64_t i = 0; i < (*set)->shards; i++) {
        szgi_shard *shard = &(*set)->shard[i];
        szgi_json_close(&shard->header);
        szgi_json_close(&shard->left_out);
        szgi_memory_free(shard->left_out_shapes);
        szgi_memory_free(shard->shapes);
        szgi_memory_free(shard->texts);
        szgi_memory_free(shard->asked);
        szgi_memory_free(shard->file);
        szgi_source_close(&shard->source);
    }
    for (int64_t i = 0; i < (*set)->count; i++) {
        szgi_memory_free((*set)->tensor[i].refusal);
        szgi_coded_close((*set)->tensor[i].coded);
        szgi_update_close(&(*set)->tensor[i].update);
    }
    szgi_memory_free((*set)->missing);
    szgi_memory_free((*set)->shard);
    szgi_memory_free((*set)->tensor);
    szgi_memory_free(*set);
    *set = NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const szgi_tensor *)a)->name, ((const szgi_tensor *)b)->name);
}

/* Of equal names those that were left out come last. */
static int by_name_and_bytes(const void *a, const void *b) {
    int order = by_name(a, b);
    return order ? order : ((const szgi_tensor *)a)->left_out - ((const szgi_tensor *)b)->left_out;
}

/* The shard that the index (absent: there is none) gives for a tensor, by its file's name; NULL: it
 * does not say. */
static const char *mapped(szgi_json_value map, const char *tensor) {
    const char *name;
    szgi_json_value entry = szgi_json_member(map, tensor);
    return szgi_json_kind_of(entry) == SZGI_JSON_TEXT &&
                   szgi_json_as_text(NULL, entry, &name) == SZG_OK
               ? name
               : NULL;
}

static szg_status fail_twice(szg_context *context, bool in_memory, const szgi_tensor *tensor,
                             const szgi_tensor *other) {
    if (other->file == tensor->file)
        return szgi_fail(context, SZG_EDATA, "%s: tensor %s: is there twice%s", tensor->file,
                         SHOWN(tensor->name), in_memory ? "" : ": the file is damaged");
    return szgi_fail(context, SZG_EDATA,
                     "%s: tensor %s: is in %s too, and no index says which counts: name the file "
                     "to read instead of the folder",
                     tensor->file, SHOWN(tensor->name), szgi_path_name(other->file));
}

/* Of equal names, from `first` to before `end`, the one that the index gives; NULL: it gives none
 * of them. */
static szgi_tensor *chosen(szgi_tensor *first, const szgi_tensor *end, szgi_json_value map) {
    const char *name = mapped(map, first->name);
    for (; name && first < end; first++)
        if (strcmp(szgi_path_name(first->file), name) == 0)
            return first;
    return NULL;
}

/* Sorts by name; of a name in two shards the index chooses, without which the answer would be a
 * matter of chance. */
static szg_status complete(szg_context *context, szgi_safetensors *set, szgi_json_value map,
                           int64_t *dropped) {
    int64_t kept = 0, next;
    if (set->count > 0)
        qsort(set->tensor, (size_t)set->count, sizeof *set->tensor, by_name_and_bytes);
    for (int64_t i = 0; i < set->count; i = next) {
        szgi_tensor *first = &set->tensor[i], *one = first;
        for (next = i + 1; next < set->count && by_name(first, &set->tensor[next]) == 0;)
            next++;
        int64_t end = i + 1; /* of those that a file has */
        while (end < next && !set->tensor[end].left_out)
            end++;
        if (end > i + 1)
            one = chosen(first, &set->tensor[end], map);
        for (int64_t k = i + 1; k < end; k++) /* in one file is damage, whatever the index says */
            if (!one || set->tensor[k].file == set->tensor[k - 1].file)
                return fail_twice(context, set->shard[0].asked, &set->tensor[k],
                                  &set->tensor[k - 1]);
        set->tensor[kept++] = *one;
        *dropped += end - i - 1;
    }
    set->count = kept;
    return SZG_OK;
}

szg_status szgi_shards_complete(szg_context *context, szgi_safetensors *set) {
    int64_t dropped = 0;
    return complete(context, set, (szgi_json_value){.node = NULL}, &dropped);
}

static szg_status open_file(szg_context *context, szgi_safetensors *set, const char *path) {
    SZG_TRY(szgi_shard_add(context, set, path));
    szgi_source **source = &set->shard[set->shards - 1].source;
    SZG_TRY(szgi_source_open(context, path, source));
    int64_t size = szgi_source_size(*source);
    unsigned char start[SHARD_START] = {0}, *head;
    SZG_TRY(szgi_source_read(context, *source, 0, size < SHARD_START ? size : SHARD_START, start));
    int64_t length = szgi_shard_head(start, size);
    SZG_TRY(szgi_memory_alloc(context, length, &head));
    szg_status status = szgi_source_read(context, *source, 0, length, head);
    if (status == SZG_OK)
        status = szgi_shard_parse(context, set, head, size);
    szgi_memory_free(head);
    return status;
}

/* FOLDER/NAME, where `beside` is a file in the folder or the folder with its slash. */
static szg_status sibling(szg_context *context, const char *beside, const char *name, char **out) {
    size_t folder = (size_t)(szgi_path_name(beside) - beside);
    SZG_TRY(szgi_memory_alloc(context, (int64_t)(folder + strlen(name) + 1), out));
    memcpy(*out, beside, folder);
    memcpy(*out + folder, name, strlen(name) + 1);
    return SZG_OK;
}

static bool is_open(const szgi_safetensors *set, const char *path) {
    for (int64_t i = 0; i < set->shards; i++)
        if (strcmp(set->shard[i].file, path) == 0)
            return true;
    return false;
}

/* Appends the shard to those that are missing, unless it is among them. */
static szg_status note_missing(szg_context *context, szgi_safetensors *set, const char *name) {
    for (const char *at = set->missing; at && *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        if (length == strlen(name) && strncmp(at, name, length) == 0)
            return SZG_OK;
        at += length;
    }
    size_t before = set->missing ? strlen(set->missing) : 0;
    char *list;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)(before + strlen(name) + sizeof ", "), &list));
    snprintf(list, before + strlen(name) + sizeof ", ", "%s%s%s", before ? set->missing : "",
             before ? ", " : "", name);
    szgi_memory_free(set->missing);
    set->missing = list;
    return SZG_OK;
}

/* Opens the shard that one entry of an index names, unless it is open already, or missing. */
static szg_status open_shard(szg_context *context, szgi_safetensors *set, const char *index,
                             szgi_json_value entry) {
    const char *name;
    char *path;
    SZG_TRY(szgi_json_as_text(context, entry, &name));
    if (!*name || strlen(name) > NAME_MAX || strchr(name, '/') || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return szgi_json_fail(
            context, entry, "shard \"%s\" is not the name of a file beside the index", SHOWN(name));
    SZG_TRY(sibling(context, index, name, &path));
    szg_status status = SZG_OK;
    if (!is_open(set, path)) {
        if (access(path, F_OK) != 0 && errno == ENOENT)
            status = note_missing(context, set, name);
        else
            status = open_file(context, set, path);
    }
    szgi_memory_free(path);
    return status;
}

/* Tensors of the index that no shard holds: a model may do without, and says so where it cannot. */
static void warn_absent(szg_context *context, const szgi_safetensors *set, const char *index,
                        szgi_json_value map) {
    const char *first = NULL;
    int64_t absent = 0;
    for (szgi_json_value entry = {0}; szgi_json_next(map, &entry);)
        if (!szgi_safetensors_find(set, entry.key) && absent++ == 0)
            first = entry.key;
    if (set->missing && absent == 0)
        szgi_say(context, SZG_WARNING,
                 "%s: stale index: shards that it names are missing: %s; other files have all of "
                 "its tensors, and are read",
                 index, SHOWN(set->missing));
    else if (set->missing)
        szgi_say(context, SZG_WARNING,
                 "%s: shards that it names are missing: %s; no other file has %" PRId64
                 " of its tensors, %s the first of them",
                 index, SHOWN(set->missing), absent, SHOWN(first));
    else if (absent > 0)
        szgi_say(context, SZG_WARNING,
                 "%s: stale index: no shard holds %" PRId64 " of its tensors, %s the first of them",
                 index, absent, SHOWN(first));
}

/* What the index says against what the shards hold: the shards are right, and the rest is a
 * warning. */
static void compare_index(szg_context *context, const szgi_safetensors *set, const char *index,
                          szgi_json_value map) {
    int64_t moved = 0, omitted = 0;
    const char *first = NULL;
    for (int64_t i = 0; i < set->count; i++) {
        const char *name = mapped(map, set->tensor[i].name);
        moved += name && !set->missing && strcmp(szgi_path_name(set->tensor[i].file), name) != 0;
        if (!name && omitted++ == 0)
            first = set->tensor[i].name;
    }
    if (moved > 0)
        szgi_say(context, SZG_WARNING,
                 "%s: stale index: %" PRId64
                 " tensors are in other shards than it says; the shards are followed",
                 index, moved);
    if (omitted > 0)
        szgi_say(context, SZG_WARNING,
                 "%s: stale index: it omits %" PRId64
                 " tensors of the shards, %s the first of them; they are read",
                 index, omitted, SHOWN(first));
    warn_absent(context, set, index, map);
}

static szg_status open_beside(szg_context *context, szgi_safetensors *set, const char *index);

/* The shards of an index, or where none of them is there, the files that lie beside it. */
static szg_status open_mapped(szg_context *context, szgi_safetensors *set, const char *index,
                              szgi_json_value map) {
    int64_t dropped = 0;
    for (szgi_json_value entry = {0}; szgi_json_next(map, &entry);)
        SZG_TRY(open_shard(context, set, index, entry));
    if (set->shards == 0)
        SZG_TRY(open_beside(context, set, index));
    SZG_TRY(complete(context, set, map, &dropped));
    if (dropped > 0)
        szgi_say(context, SZG_NOTE,
                 "%s: %" PRId64
                 " tensors are in several shards: each is read from the one that it names",
                 index, dropped);
    compare_index(context, set, index, map);
    return SZG_OK;
}

static szg_status open_index(szg_context *context, szgi_safetensors *set, const char *path) {
    szgi_json *json;
    SZG_TRY(szgi_json_read(context, path, &json));
    szgi_json_value map = szgi_json_member(szgi_json_root(json), "weight_map");
    szg_status status;
    if (szgi_json_kind_of(map) == SZGI_JSON_ABSENT) {
        status = szgi_fail(context, SZG_EDATA,
                           "%s: is not an index of shards, which has a weight_map: give the "
                           "folder, its .safetensors file or its .safetensors.index.json",
                           path);
        goto done;
    }
    SZG_TRY_GOTO(status, szgi_json_as_object(context, map), done);
    if (szgi_json_count(map) == 0) {
        status = szgi_json_fail(context, map, "is empty: the index names no shard");
        goto done;
    }
    for (szgi_json_value entry = {0}; szgi_json_next(map, &entry);) {
        const char *name;
        SZG_TRY_GOTO(status, szgi_json_as_text(context, entry, &name), done);
    }
    status = open_mapped(context, set, path, map);
done:
    szgi_json_close(&json);
    return status;
}

static int is_shard_name(const struct dirent *entry) {
    return entry->d_name[0] != '.' && szgi_path_ends(entry->d_name, ".safetensors");
}

static int is_pytorch_name(const struct dirent *entry) {
    return entry->d_name[0] != '.' && szgi_path_is_pytorch(entry->d_name);
}

static int is_distributed_name(const struct dirent *entry) {
    return szgi_path_is_distributed(entry->d_name);
}

static int is_gguf_name(const struct dirent *entry) {
    return entry->d_name[0] != '.' && szgi_path_ends(entry->d_name, ".gguf");
}

/* Opens the files of a folder that `wanted` accepts, in the order of their names; their number. */
static szg_status open_matching(szg_context *context, szgi_safetensors *set, const char *folder,
                                int (*wanted)(const struct dirent *entry), int *count) {
    struct dirent **entry = NULL;
    *count = scandir(folder, &entry, wanted, alphasort);
    szg_status status = SZG_OK;
    if (*count < 0)
        return szgi_fail(context, SZG_EIO, "%s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < *count; i++) {
        char *path = NULL;
        if (status == SZG_OK)
            status = sibling(context, folder, entry[i]->d_name, &path);
        if (status == SZG_OK)
            status = open_file(context, set, path);
        szgi_memory_free(path);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* The files beside an index of which no shard is there: it is left from another form of the model.
 */
static szg_status open_beside(szg_context *context, szgi_safetensors *set, const char *index) {
    int count = 1;
    char *folder, *whole = NULL;
    SZG_TRY(sibling(context, index, szgi_path_name(index) == index ? "./" : "", &folder));
    szg_status status = sibling(context, index, "model.safetensors", &whole);
    if (status == SZG_OK)
        status = access(whole, F_OK) == 0
                     ? open_file(context, set, whole)
                     : open_matching(context, set, folder, is_shard_name, &count);
    szgi_memory_free(whole);
    szgi_memory_free(folder);
    if (status == SZG_OK && count == 0)
        return szgi_fail(context, SZG_EDATA, "%s: its shards are missing: %s: put them beside it",
                         index, SHOWN(set->missing));
    return status;
}

/* Opens every *.safetensors of a folder; without any, the message names the remedy for what the
 * folder has instead. */
static szg_status open_all(szg_context *context, szgi_safetensors *set, const char *folder) {
    int count = 0;
    SZG_TRY(open_matching(context, set, folder, is_shard_name, &count));
    if (count == 0) /* opening one tells how to convert all */
        SZG_TRY(open_matching(context, set, folder, is_distributed_name, &count));
    if (count == 0)
        SZG_TRY(open_matching(context, set, folder, is_pytorch_name, &count));
    if (count == 0)
        SZG_TRY(open_matching(context, set, folder, is_gguf_name, &count));
    if (count == 0)
        return szgi_fail(context, SZG_EDATA, "%s: holds no .safetensors file", folder);
    return SZG_OK;
}

static szg_status open_folder(szg_context *context, szgi_safetensors *set, const char *folder) {
    static const char *const names[] = {"model.safetensors.index.json", "model.safetensors"};
    char *path = NULL;
    szg_status status;
    for (int i = 0; i < 2; i++) {
        szgi_memory_free(path);
        path = NULL;
        SZG_TRY_GOTO(status, sibling(context, folder, names[i], &path), done);
        if (access(path, F_OK) != 0)
            continue;
        status = i == 0 ? open_index(context, set, path) : open_file(context, set, path);
        goto done;
    }
    status = open_all(context, set, folder);
done:
    szgi_memory_free(path);
    return status;
}

static szg_status open_path(szg_context *context, szgi_safetensors *set, const char *path) {
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        char *folder; /* with its slash */
        SZG_TRY(szgi_memory_alloc(context, (int64_t)strlen(path) + 2, &folder));
        snprintf(folder, strlen(path) + 2, "%s%s", path,
                 *path && path[strlen(path) - 1] == '/' ? "" : "/");
        szg_status status = open_folder(context, set, folder);
        szgi_memory_free(folder);
        return status;
    }
    if (szgi_path_ends(path, ".json"))
        return open_index(context, set, path);
    return open_file(context, set, path);
}

szg_status szgi_safetensors_open(szg_context *context, const char *path, szgi_safetensors **out) {
    *out = NULL;
    szgi_safetensors *set;
    SZG_TRY(szgi_memory_alloc(context, 1, &set));
    szg_status status = open_path(context, set, path);
    if (status == SZG_OK)
        status = szgi_shards_complete(context, set);
    if (status != SZG_OK)
        szgi_safetensors_close(&set);
    *out = set;
    return status;
}

szg_status szgi_safetensors_open_bytes(szg_context *context, const char *name, const void *data,
                                       int64_t size, szgi_safetensors **out) {
    *out = NULL;
    szgi_safetensors *set;
    SZG_TRY(szgi_memory_alloc(context, 1, &set));
    szg_status status = szgi_shard_add(context, set, name);
    if (status == SZG_OK)
        status = szgi_shard_parse(context, set, data, size);
    if (status == SZG_OK)
        status = szgi_shards_complete(context, set);
    if (status != SZG_OK)
        szgi_safetensors_close(&set);
    *out = set;
    return status;
}

szg_status szgi_safetensors_check(szg_context *context, const szgi_safetensors *set) {
    for (int64_t i = 0; i < set->shards; i++)
        if (set->shard[i].source)
            SZG_TRY(szgi_source_check(context, set->shard[i].source));
    return SZG_OK;
}

szg_status szgi_safetensors_describe(szg_context *context, const szgi_safetensors *set,
                                     szgi_json *json) {
    for (int64_t i = 0; i < set->shards; i++) {
        const szgi_source *source = set->shard[i].source;
        char text[96] = "bytes of the caller";
        if (source) {
            struct timespec changed = szgi_source_changed(source);
            snprintf(text, sizeof text, "%" PRId64 " bytes, changed at %lld.%09ld",
                     szgi_source_size(source), (long long)changed.tv_sec, changed.tv_nsec);
        }
        SZG_TRY(szgi_json_add_text(context, json, set->shard[i].file, text));
    }
    return SZG_OK;
}

const char *szgi_safetensors_missing(const szgi_safetensors *set) {
    return set->missing;
}

int64_t szgi_safetensors_count(const szgi_safetensors *set) {
    return set->count;
}

const szgi_tensor *szgi_safetensors_tensor(const szgi_safetensors *set, int64_t index) {
    return &set->tensor[index];
}

const szgi_tensor *szgi_safetensors_find(const szgi_safetensors *set, const char *name) {
    szgi_tensor key = {.name = name};
    if (set->count == 0)
        return NULL;
    return bsearch(&key, set->tensor, (size_t)set->count, sizeof *set->tensor, by_name);
}

const char *szgi_safetensors_metadata(const szgi_safetensors *set, const char *key) {
    for (int64_t i = 0; i < set->shards; i++) {
        szgi_json_value metadata =
            szgi_json_member(szgi_json_root(set->shard[i].header), "__metadata__");
        const char *text;
        if (szgi_json_has(metadata, key) &&
            szgi_json_as_text(NULL, szgi_json_member(metadata, key), &text) == SZG_OK)
            return text;
    }
    return NULL;
}
