/* Loading of libszego-cuda.so. It is looked for where SZEGO_CUDA_PLUGIN says, and nowhere else
 * then; else beside the library or the program in a build or an installation, and where the dynamic
 * linker looks. */
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
#include <szego/version.h>
#include "plugin.h"
#include "host.h"

#define NAME "libszego-cuda.so"

static struct {
    pthread_mutex_t lock;
    const szgi_plugin *plugin; /* NULL: not loaded yet */
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What SZEGO_CUDA_PLUGIN says; NULL where it says nothing. */
static const char *wanted_plugin(void) {
    const char *wanted = secure_getenv("SZEGO_CUDA_PLUGIN");
    return wanted && *wanted ? wanted : NULL;
}

/* The first of the places where there is a file; the bare name where there is none. */
static void find_plugin(char path[PATH_MAX]) {
    static const char *const places[] = {"%s/cuda/" NAME, "%s/../cuda/" NAME, "%s/szego/" NAME,
                                         "%s/../" SZEGO_LIBDIR "/szego/" NAME};
    const char *wanted = wanted_plugin();
    static const char anchor; /* in libszego, or in the program */
    char folder[PATH_MAX];
    if (wanted) {
        snprintf(path, PATH_MAX, "%s", wanted);
        return;
    }
    szgi_folder_of_code(&anchor, folder);
    for (size_t i = 0; *folder && i < sizeof places / sizeof *places; i++) {
        int size = snprintf(path, PATH_MAX, places[i], folder);
        if (size < PATH_MAX && access(path, R_OK) == 0)
            return;
    }
    memcpy(path, NAME, sizeof NAME);
}

/* Why there is no file to load at `path`; the remedy is what differs. */
static szg_status missing(szg_context *context, const char *path) {
    if (wanted_plugin())
        return szgi_fail(context, SZG_EBACKEND,
                         "backend cuda: there is no plugin (%s): the path in SZEGO_CUDA_PLUGIN is "
                         "wrong: correct or unset it, or use --backend cpu",
                         path);
    return szgi_fail(context, SZG_EBACKEND,
                     "backend cuda: there is no plugin (%s): build with a CUDA toolkit "
                     "(meson setup -Dcuda=enabled), or use --backend cpu",
                     path);
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

static szg_status not_a_library(szg_context *context, const char *path) {
    return szgi_fail(context, SZG_EBACKEND,
                     "backend cuda: %s is not a shared library: %s, or use --backend cpu", path,
                     wanted_plugin() ? "correct or unset SZEGO_CUDA_PLUGIN" : "remove it");
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
static szg_status check_owner(szg_context *context, const char *path, char real[PATH_MAX]) {
    struct stat file, folder;
    if (!strchr(path, '/') || !realpath(path, real) || stat(real, &file) != 0) {
        snprintf(real, PATH_MAX, "%s", path);
        return SZG_OK; /* loading tells what is wrong */
    }
    if (!S_ISREG(file.st_mode))
        return not_a_library(context, path);
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", real);
    char *slash = strrchr(parent, '/');
    slash[slash == parent] = 0; /* of "/name" it is "/" */
    if (stat(parent, &folder) == 0 && !others_may_write(&file) && !others_may_write(&folder))
        return SZG_OK;
    return szgi_fail(
        context, SZG_EBACKEND,
        "backend cuda: %s is not loaded: users outside your group may write it or its folder: make "
        "both yours or root's and writable by nobody else (chown, chmod go-w), or use "
        "--backend cpu",
        path);
}

static szg_status open_library(szg_context *context, const char *path, void **library) {
    if (getauxval(AT_SECURE))
        return szgi_fail(
            context, SZG_EBACKEND,
            "backend cuda: a program with the rights of another user (setuid) loads no "
            "plugin: use --backend cpu");
    char real[PATH_MAX];
    SZG_TRY(check_owner(context, path, real));
    *library = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (*library)
        return SZG_OK;
    const char *reason = dlerror();
    if (is_missing(path, reason))
        return missing(context, path);
    if (access(path, R_OK) == 0 && !is_library(path))
        return not_a_library(context, path);
    /* The linker names the file that was looked at; the user's own name of it says more. */
    bool named = reason && strncmp(reason, real, strlen(real)) == 0;
    return szgi_fail(context, SZG_EBACKEND,
                     "backend cuda: the plugin cannot be loaded: %s%s: install the CUDA runtime "
                     "libraries that it names, or use --backend cpu",
                     named ? path : "",
                     named    ? reason + strlen(real)
                     : reason ? reason
                              : path);
}

static szg_status check_version(szg_context *context, const char *path, const szgi_plugin *plugin) {
    const char *remedy = "install plugin and program of one build, or use --backend cpu";
    if (!plugin || plugin->abi != SZGI_PLUGIN_ABI)
        return szgi_fail(context, SZG_EBACKEND,
                         "backend cuda: %s is a plugin of another version: its interface is %u, "
                         "this library's %u: %s",
                         path, plugin ? plugin->abi : 0, (unsigned)SZGI_PLUGIN_ABI, remedy);
    if (strcmp(plugin->version, szg_version()) != 0)
        return szgi_fail(context, SZG_EBACKEND,
                         "backend cuda: %s is a plugin of version %s, this library is %s: %s", path,
                         plugin->version, szg_version(), remedy);
    return SZG_OK;
}

static szg_status load(szg_context *context) {
    char path[PATH_MAX];
    void *library, *symbol;
    szgi_plugin_entry *entry;
    find_plugin(path);
    SZG_TRY(open_library(context, path, &library));
    symbol = dlsym(library, SZGI_PLUGIN_ENTRY);
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function */
    if (!symbol) {
        dlclose(library);
        return szgi_fail(
            context, SZG_EBACKEND,
            "backend cuda: %s is not a plugin of szego: it has no symbol " SZGI_PLUGIN_ENTRY
            ": remove it or set SZEGO_CUDA_PLUGIN",
            path);
    }
    const szgi_plugin *plugin = entry(&szgi_plugin_host);
    szg_status status = check_version(context, path, plugin);
    if (status == SZG_OK)
        loaded.plugin = plugin;
    else
        dlclose(library);
    return status;
}

szg_status szgi_plugin_load(szg_context *context, const szgi_plugin **out) {
    pthread_mutex_lock(&loaded.lock);
    szg_status status = loaded.plugin ? SZG_OK : load(context);
    *out = loaded.plugin;
    pthread_mutex_unlock(&loaded.lock);
    return status;
}
