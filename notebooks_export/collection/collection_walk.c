/* Looks for manifests in a tree of folders. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/memory.h"

#include "collection_private.h"

enum {
    DEPTH_LIMIT = 64, /* folders in folders */
    FOLDER_LIMIT = 100000,
    RESULT_LIMIT = 10000
};

typedef struct walker {
    szg_context *context;
    szg_collection *all;
    int64_t folders;
} walker;

szg_status szgi_texts_add(szg_context *context, texts *list, const char *text) {
    SZG_TRY(szgi_memory_reserve(context, &list->text, &list->capacity, list->count, 1));
    SZG_TRY(szgi_memory_copy_text(context, text, &list->text[list->count]));
    list->count++;
    return SZG_OK;
}

void szgi_texts_free(texts *list) {
    for (int64_t i = 0; i < list->count; i++)
        szgi_memory_free(list->text[i]);
    szgi_memory_free(list->text);
    *list = (texts){0};
}

szg_status szgi_collection_join_path(szg_context *context, const char *folder, const char *relative,
                                     char **out) {
    if (strcmp(relative, ".") == 0)
        return szgi_memory_copy_text(context, folder, out);
    size_t length = strlen(folder), size = length + strlen(relative) + 2;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, out));
    bool slash = length > 0 && folder[length - 1] == '/';
    snprintf(*out, size, "%s%s%s", folder, slash ? "" : "/", relative);
    return SZG_OK;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders in `at`, sorted, and whether it holds a manifest; links are neither. */
static szg_status list_folder(szg_context *context, DIR *at, texts *folders, bool *manifest) {
    for (struct dirent *entry; (entry = readdir(at));) {
        const char *name = entry->d_name;
        struct stat info;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            fstatat(dirfd(at), name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(info.st_mode))
            SZG_TRY(szgi_texts_add(context, folders, name));
        else if (S_ISREG(info.st_mode) && strcmp(name, "manifest.json") == 0)
            *manifest = true;
    }
    if (folders->count > 0)
        qsort(folders->text, (size_t)folders->count, sizeof *folders->text, compare_texts);
    return SZG_OK;
}

/* The root must be there; what cannot be opened below it is left out, with the reason. */
static szg_status refuse_folder(walker *w, const char *path, bool root, int error) {
    char message[1024];
    if (root && error == ENOTDIR)
        return szgi_fail(w->context, SZG_EIO,
                         "%s: is not a folder: give the folder that a command wrote with -o DIR/, "
                         "or one above it",
                         path);
    if (root)
        return szgi_fail(w->context, SZG_EIO, "%s: cannot be read: %s", path, strerror(error));
    snprintf(message, sizeof message, "%s: cannot be read: %s", path, strerror(error));
    return szgi_texts_add(w->context, &w->all->bad, message);
}

static szg_status read_folder(walker *w, const char *relative, texts *folders) {
    char *path;
    bool manifest = false;
    szg_status status;
    SZG_TRY(szgi_collection_join_path(w->context, w->all->folder, relative, &path));
    DIR *at = opendir(path);
    if (at) {
        status = list_folder(w->context, at, folders, &manifest);
        closedir(at);
    } else {
        status = refuse_folder(w, path, strcmp(relative, ".") == 0, errno);
    }
    szgi_memory_free(path);
    if (status == SZG_OK && manifest)
        status = szgi_texts_add(w->context, &w->all->found, relative);
    return status;
}

static szg_status check_limits(walker *w) {
    SZG_TRY(szgi_context_check_cancel(w->context));
    if (++w->folders > FOLDER_LIMIT)
        return szgi_fail(w->context, SZG_EDATA,
                         "%s: more than %d folders lie below it: give a folder that holds results "
                         "and little else",
                         w->all->folder, (int)FOLDER_LIMIT);
    if (w->all->found.count > RESULT_LIMIT)
        return szgi_fail(w->context, SZG_EDATA,
                         "%s: more than %d results lie below it: give a folder further down",
                         w->all->folder, (int)RESULT_LIMIT);
    return SZG_OK;
}

static szg_status refuse_depth(walker *w, const char *relative) {
    char message[1024];
    snprintf(message, sizeof message,
             "%s: the folders in it were left out: it lies %d folders below the first", relative,
             (int)DEPTH_LIMIT);
    return szgi_texts_add(w->context, &w->all->bad, message);
}

static szg_status walk(walker *w, const char *relative, int depth);

static szg_status walk_below(walker *w, const char *relative, const char *name, int depth) {
    char *path;
    bool root = strcmp(relative, ".") == 0;
    SZG_TRY(root ? szgi_memory_copy_text(w->context, name, &path)
                 : szgi_collection_join_path(w->context, relative, name, &path));
    szg_status status = walk(w, path, depth + 1);
    szgi_memory_free(path);
    return status;
}

static szg_status walk(walker *w, const char *relative, int depth) {
    texts folders = {0};
    szg_status status;
    SZG_TRY_GOTO(status, check_limits(w), done);
    SZG_TRY_GOTO(status, read_folder(w, relative, &folders), done);
    if (depth == DEPTH_LIMIT && folders.count > 0)
        status = refuse_depth(w, relative);
    for (int64_t i = 0; depth < DEPTH_LIMIT && i < folders.count; i++)
        SZG_TRY_GOTO(status, walk_below(w, relative, folders.text[i], depth), done);
done:
    szgi_texts_free(&folders);
    return status;
}

szg_status szgi_collection_walk(szg_context *context, szg_collection *all) {
    walker w = {.context = context, .all = all};
    return walk(&w, ".", 0);
}

bool szgi_collection_is_export(const szg_collection *all) {
    return all->path.count > 0 && strcmp(szg_result_command(all->result[0]), "export") == 0;
}
