/* A context that shares its work with other processes. */
#include <string.h>

#include "base/memory.h"
#include "backend.h"
#include "host.h"
#include "library.h"
#include "linalg/cpu_level.h"
#include "mpi.h"

static const void *enter(void *symbol, const uint32_t **abi, const char **version) {
    szgi_mpi_entry *entry;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function */
    const szgi_mpi_plugin *plugin = entry(&szgi_plugin_host);
    if (plugin) {
        *abi = &plugin->abi;
        *version = plugin->version;
    }
    return plugin;
}

static const szgi_library mpi = {
    .backend = "mpi",
    .file = "libszego-mpi.so",
    .variable = "SZEGO_MPI_PLUGIN",
    .symbol = SZGI_MPI_ENTRY,
    .build = "build with Open MPI, ELPA, PARPACK and FFTW-MPI (meson setup -Dmpi=enabled)",
    .libraries = "the libraries",
    .otherwise = "start one process, without --backend mpi",
    .enter = enter};

static const void *loaded;

static const szgi_mpi_plugin *plugin(void) {
    return loaded;
}

static void release(void *state) {
    plugin()->close();
    szgi_memory_free(state);
}

szg_status szgi_mpi_select(szg_context *context) {
    szgi_ops *ops;
    if (szgi_distributed_of(context))
        return SZG_OK;
    SZG_TRY(szgi_backend_check_simd(context));
    SZG_TRY(szgi_library_load(context, &mpi, &loaded));
    SZG_TRY(szgi_memory_alloc(context, 1, &ops));
    *ops = *szgi_ops_cpu();
    ops->name = "mpi";
    szg_status status = plugin()->open(context, &ops->distributed);
    if (status != SZG_OK) {
        szgi_memory_free(ops);
        return status;
    }
    szgi_context_set_state(context, ops, release);
    szgi_context_set_ops(context, ops);
    return SZG_OK;
}
