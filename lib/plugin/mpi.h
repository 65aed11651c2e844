/* The plugin of the mpi backend: work that several processes share. */
#ifndef SZG_PLUGIN_MPI_H
#define SZG_PLUGIN_MPI_H

#include "linalg/distributed.h"
#include "plugin/abi.h"

SZGI_BEGIN_DECLS

/* What libszego-mpi.so offers. */
typedef struct szgi_mpi_plugin {
    uint32_t abi;
    const char *version; /* szg_version() of the build that made it */
    /* Joins the processes that were started together, once a process; one context has them at a
     * time. SZG_EBACKEND. */
    szg_status (*open)(szg_context *context, const szgi_distributed_ops **out);
    void (*close)(void); /* they meet once more, unless they know of a failure */
} szgi_mpi_plugin;

typedef const szgi_mpi_plugin *szgi_mpi_entry(const szgi_host *host);
#define SZGI_MPI_ENTRY "szego_mpi_plugin"

/* The backend of this context: the cpu's tables, and those of the plugin. SZG_EBACKEND: there is
 * none, or MPI does not start. */
SZG_CHECK_RESULT szg_status szgi_mpi_select(szg_context *context);

SZGI_END_DECLS

#endif
