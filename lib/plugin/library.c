/* Loading of plugins. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/fork.h"
#include <szego/version.h>
#include "abi.h"
#include "library.h"

/* What the variable says; NULL where it says nothing. */
static const char *wanted_plugin(const szgi_library *library) {
    const char *wanted = secure_getenv(library->variable);
    return wanted && *wanted ? wanted : NULL;
}

/* The first of the places that has a file; the bare name if no place has one. */
static void find_plugin(const szgi_library *library, char path[PATH_MAX]) {
    const struct {
        const char *way, *folder;
    } places[] = {{"", library->backend},
                  {"../", library->backend},
                  {"", "szego"},
                  {"../" SZEGO_LIBDIR "/", "szego"}};
    const char *wanted = wanted_plugin(library);
    static const char anchor; /* in libszego, or in the program */
    char folder[PATH_MAX];
    if (wanted) {
        snprintf(path, PATH_MAX, "%s", wanted);
        return;
    }
    szgi_folder_of_code(&anchor, folder);
    for (size_t i = 0; *folder && i < sizeof places / sizeof *places; i++) {
        int size = snprintf(path, PATH_MAX, "%s/%s%s/%s", folder, places[i].way, places[i].folder,
                            library->file);
        if (size < PATH_MAX && access(path, R_OK) == 0)
            return;
    }
    snprintf(path, PATH_MAX, "%s", library->file);
}

/* Why there is no file to load at `path`; the remedy is what differs. */
static szg_status missing(szg_context *context, const szgi_library *library, const char *path) {
    if (wanted_plugin(library))
        return szgi_fail(context, SZG_EBACKEND,
                         "backend %s: there is no plugin (%s): the path in %s is wrong: correct or "
                         "unset it, or %s",
                         library->backend, path, library->variable, library->otherwise);
    return szgi_fail(context, SZG_EBACKEND, "backend %s: there is no plugin (%s): %s, or %s",
                     library->backend, path, library->build, library->otherwise);
}

/* Whether it begins as shared libraries do: what then cannot be loaded lacks others. */
static bool is_library(const char *path) {
    char head[4] = {0};
    FILE *file = fopen(path, "rb");
    bool read = file && fread(head, 1, sizeof head, file) == sizeof head;
    if (file)
        fclose(file);
    return read && memcmp(head, "\177ELF", sizeof head) == 0;
}

/* A bare name was looked for by the linker, which names first what it has not found. */
static bool is_missing(const char *path, const char *reason) {
    if (strchr(path, '/'))
        return access(path, F_OK) != 0;
    return !reason || strncmp(reason, path, strlen(path)) == 0;
}

static szg_status not_a_library(szg_context *context, const szgi_library *library,
                                const char *path) {
    if (wanted_plugin(library))
        return szgi_fail(context, SZG_EBACKEND,
                         "backend %s: %s is not a shared library: correct or unset %s, or %s",
                         library->backend, path, library->variable, library->otherwise);
    return szgi_fail(context, SZG_EBACKEND,
                     "backend %s: %s is not a shared library: remove it, or %s", library->backend,
                     path, library->otherwise);
}

/* Whether someone else than root, the user and the user's group, which builds under umask 002 let
 * write, may change what `is` describes. */
static bool others_may_write(const struct stat *is) {
    if (is->st_uid != 0 && is->st_uid != geteuid())
        return true;
    return (is->st_mode & S_IWOTH) || ((is->st_mode & S_IWGRP) && is->st_gid != getegid());
}

/* Code of somebody else is not run, neither from a file of theirs nor from a folder where they can
 * put one. `real` is what to load: the file that was looked at, or, of a bare name, the name, which
 * is the dynamic linker's business. */
static szg_status check_owner(szg_context *context, const szgi_library *library, const char *path,
                              char real[PATH_MAX]) {
    struct stat file, folder;
    if (!strchr(path, '/') || !realpath(path, real) || stat(real, &file) != 0) {
        snprintf(real, PATH_MAX, "%s", path);
        return SZG_OK; /* loading tells what is wrong */
    }
    if (!S_ISREG(file.st_mode))
        return not_a_library(context, library, path);
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", real);
    char *slash = strrchr(parent, '/');
    slash[slash == parent] = 0; /* of "/name" it is "/" */
    if (stat(parent, &folder) == 0 && !others_may_write(&file) && !others_may_write(&folder))
        return SZG_OK;
    return szgi_fail(
        context, SZG_EBACKEND,
        "backend %s: %s is not loaded: users outside your group may write it or its folder: make "
        "both yours or root's and writable by nobody else (chown, chmod go-w), or %s",
        library->backend, path, library->otherwise);
}

static szg_status load(szg_context *context, const szgi_library *library, const char *path,
                       void **handle) {
    if (getauxval(AT_SECURE))
        return szgi_fail(context, SZG_EBACKEND,
                         "backend %s: a program with the rights of another user (setuid) loads no "
                         "plugin: %s",
                         library->backend, library->otherwise);
    char real[PATH_MAX];
    SZG_TRY(check_owner(context, library, path, real));
    *handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (*handle)
        return SZG_OK;
    const char *reason = dlerror();
    if (is_missing(path, reason))
        return missing(context, library, path);
    if (access(path, R_OK) == 0 && !is_library(path))
        return not_a_library(context, library, path);
    /* The linker names the file that was looked at; the user's own name of it says more. */
    bool named = reason && strncmp(reason, real, strlen(real)) == 0;
    return szgi_fail(context, SZG_EBACKEND,
                     "backend %s: the plugin cannot be loaded: %s%s: install %s that it names, or "
                     "%s",
                     library->backend, named ? path : "",
                     named    ? reason + strlen(real)
                     : reason ? reason
                              : path,
                     library->libraries, library->otherwise);
}

static szg_status open_symbol(szg_context *context, const szgi_library *library, char path[],
                              void **handle, void **symbol) {
    find_plugin(library, path);
    SZG_TRY(load(context, library, path, handle));
    *symbol = dlsym(*handle, library->symbol);
    if (*symbol)
        return SZG_OK;
    dlclose(*handle);
    return szgi_fail(
        context, SZG_EBACKEND,
        "backend %s: %s is not a plugin of szego: it has no symbol %s: remove it or set %s",
        library->backend, path, library->symbol, library->variable);
}

/* Whether what it offers belongs to this build. */
static szg_status check(szg_context *context, const szgi_library *library, const char *path,
                        const uint32_t *abi, const char *version) {
    static const char remedy[] = "install plugin and program of one build";
    if (!abi || *abi != SZGI_PLUGIN_ABI)
        return szgi_fail(context, SZG_EBACKEND,
                         "backend %s: %s is a plugin of another version: its interface is %u, "
                         "this library's %u: %s, or %s",
                         library->backend, path, abi ? *abi : 0, (unsigned)SZGI_PLUGIN_ABI, remedy,
                         library->otherwise);
    if (strcmp(version, szg_version()) != 0)
        return szgi_fail(context, SZG_EBACKEND,
                         "backend %s: %s is a plugin of version %s, this library is %s: %s, or %s",
                         library->backend, path, version, szg_version(), remedy,
                         library->otherwise);
    return SZG_OK;
}

static szg_status load_once(szg_context *context, const szgi_library *library,
                            const void **loaded) {
    char path[PATH_MAX];
    void *handle, *symbol;
    const uint32_t *abi = NULL;
    const char *version = NULL;
    SZG_TRY(open_symbol(context, library, path, &handle, &symbol));
    const void *plugin = library->enter(symbol, &abi, &version);
    szg_status status = check(context, library, path, abi, version);
    if (status == SZG_OK)
        *loaded = plugin;
    else
        dlclose(handle);
    return status;
}

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
SZGI_FREE_AFTER_FORK(loading)

szg_status szgi_library_load(szg_context *context, const szgi_library *library,
                             const void **loaded) {
    pthread_mutex_lock(&loading);
    szg_status status = *loaded ? SZG_OK : load_once(context, library, loaded);
    pthread_mutex_unlock(&loading);
    return status;
}
