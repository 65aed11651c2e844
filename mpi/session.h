/* What the files of the plugin share: the processes, and what the library gives. */
#ifndef SZG_MPI_SESSION_H
#define SZG_MPI_SESSION_H

#include <mpi.h>
#include <stdlib.h>

#include "plugin/mpi.h"

typedef struct mpi_session {
    MPI_Comm comm; /* our own: nobody else's messages are in it */
    int rank, processes;
    int neighbours;       /* on this machine, this one among them */
    int rows, columns;    /* the grid of processes: rank = column rows + row */
    bool ended;           /* all have met for the last time, or all know of a failure */
    szg_context *context; /* the one that has the processes; NULL: none */
    szg_status failed;    /* what they know; SZG_OK: of none */
    char message[2048];   /* of that failure */
} mpi_session;

extern mpi_session mpi_processes;
extern const szgi_host *mpi_host;

/* Records a message of printf's form, as szgi_fail does. */
SZG_PRINTF(3, 4)
szg_status mpi_fail(szg_context *context, szg_status status, const char *format, ...);

/* `count` zeroed things; NULL with a recorded message. count 0 is 1. */
void *mpi_alloc(szg_context *context, int64_t count, size_t size);

/* As szgi_distributed_ops has them. */
szg_status mpi_agree(szg_context *context, szgi_meeting place, int64_t order, szg_status own);
szg_status mpi_eigenvalues(szg_context *context, const szgi_distributed_matrix *matrix, double *w);
szg_status mpi_extremes(szg_context *context, const szgi_distributed_search *search,
                        szgi_distributed_end ends[2]);

/* The block of a cyclic distribution: as large as leaves every row and column of the grid four of
 * them, 16 to 64. */
int mpi_block(int64_t n);

/* Both halves of a matrix of that order have blocks enough. ELPA 2022.11 stops, or waits for ever,
 * where a process has none. */
int64_t mpi_least_order(void);

/* n numbers in equal pieces: where that of `rank` begins. That of `processes` is n. */
static inline int64_t mpi_piece(int64_t n, int64_t rank) {
    int64_t size = n / mpi_processes.processes, more = n % mpi_processes.processes;
    return rank * size + (rank < more ? rank : more);
}

#endif
