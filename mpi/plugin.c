/* The plugin's one symbol: joins the processes that were started together. */
#include <fftw3-mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "session.h"

mpi_session mpi_processes;
const szgi_host *mpi_host;

szg_status mpi_fail(szg_context *context, szg_status status, const char *format, ...) {
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mpi_host->fail(context, status, text);
}

void *mpi_alloc(szg_context *context, int64_t count, size_t size) {
    void *memory = NULL;
    if (count >= 0 && (uint64_t)count <= SIZE_MAX / size)
        memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory)
        (void)mpi_fail(
            context, SZG_ENOMEM,
            "%lld numbers of %zu bytes are refused to one of %d processes: start more, on "
            "more machines",
            (long long)count, size, mpi_processes.processes);
    return memory;
}

static void count_neighbours(mpi_session *self) {
    MPI_Comm machine;
    MPI_Comm_split_type(self->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &self->neighbours);
    MPI_Comm_free(&machine);
}

/* Two integers near each other whose product is the number of processes; the fewer rows. */
static void open_grid(mpi_session *self) {
    self->rows = 1;
    for (int rows = 1; rows <= self->processes / rows; rows++)
        if (self->processes % rows == 0)
            self->rows = rows;
    self->columns = self->processes / self->rows;
}

/* A process that ends where the others do not expect it would leave them waiting for ever. */
static void end(void) {
    int over;
    if (MPI_Finalized(&over) != MPI_SUCCESS || over)
        return;
    if (!mpi_processes.ended)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fftw_mpi_cleanup();
    MPI_Finalize();
}

static szg_status start(szg_context *context) {
    int there, over, provided;
    MPI_Initialized(&there);
    MPI_Finalized(&over);
    if (over)
        return mpi_fail(context, SZG_EBACKEND,
                        "backend mpi: MPI has ended in this process: start a new one");
    if (!there && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return mpi_fail(context, SZG_EBACKEND,
                        "backend mpi: MPI does not start: try mpirun -n 2 hostname, or start one "
                        "process without --backend mpi");
    if (!there && atexit(end) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &mpi_processes.comm);
    MPI_Comm_rank(mpi_processes.comm, &mpi_processes.rank);
    MPI_Comm_size(mpi_processes.comm, &mpi_processes.processes);
    count_neighbours(&mpi_processes);
    open_grid(&mpi_processes);
    fftw_mpi_init();
    return SZG_OK;
}

/* "Open MPI v4.1.4, ELPA 2022.11.001, PARPACK 3.8.0, FFTW-MPI 3.3.10". MPI's own text goes on after
 * a comma. */
static const char *libraries(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING + 128];
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(mpi, &length);
    snprintf(text, sizeof text,
             "%.*s, ELPA " SZG_ELPA_VERSION ", PARPACK " SZG_PARPACK_VERSION
             ", FFTW-MPI " SZG_FFTW_VERSION,
             (int)strcspn(mpi, ",\n"), mpi);
    return text;
}

static szg_status open_session(szg_context *context, const szgi_distributed_ops **out) {
    static szgi_distributed_ops ops;
    if (mpi_processes.context)
        return mpi_fail(context, SZG_EBACKEND,
                        "backend mpi: another context has the processes: close it first");
    if (ops.processes == 0) {
        SZG_TRY(start(context));
        ops = (szgi_distributed_ops){.rank = mpi_processes.rank,
                                     .processes = mpi_processes.processes,
                                     .neighbours = mpi_processes.neighbours,
                                     .libraries = libraries(),
                                     .least_order = mpi_least_order(),
                                     .agree = mpi_agree,
                                     .eigenvalues = mpi_eigenvalues,
                                     .extremes = mpi_extremes};
    }
    mpi_processes.context = context;
    mpi_processes.ended = false;
    mpi_processes.failed = SZG_OK; /* all were told, of an earlier context */
    *out = &ops;
    return SZG_OK;
}

/* The processes stay together until they end. Those that fail here, or stand elsewhere, are told.
 */
static void close_session(void) {
    if (!mpi_processes.ended)
        (void)!mpi_agree(mpi_processes.context, SZGI_MEETING_END, 0, SZG_OK);
    mpi_processes.context = NULL;
}

SZG_BEGIN_DECLS
__attribute__((visibility("default"))) const szgi_mpi_plugin *
szego_mpi_plugin(const szgi_host *host);
SZG_END_DECLS

const szgi_mpi_plugin *szego_mpi_plugin(const szgi_host *host) {
    static const szgi_mpi_plugin plugin = {.abi = SZGI_PLUGIN_ABI,
                                           .version = SZG_PLUGIN_VERSION,
                                           .open = open_session,
                                           .close = close_session};
    mpi_host = host;
    return &plugin;
}
