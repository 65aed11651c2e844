/* How processes learn that one of them has failed: none goes on alone into work that all share,
 * where it would wait for ever. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "session.h"

/* What one process says at a meeting. Of all of them the least of each number is kept, so that the
 * negative ones tell the largest. */
enum { FIRST_FAILED, PLACE, PLACE_NEGATIVE, NUMBERS };

typedef struct failure {
    int status;
    char message[sizeof mpi_processes.message];
} failure;

/* The first that failed tells; where not all did, its message names it. */
static szg_status take_failure(szg_context *context, int first, szg_status own) {
    mpi_session *self = &mpi_processes;
    failure known = {.status = (int)own};
    int failed = own != SZG_OK, all = 0;
    snprintf(known.message, sizeof known.message, "%s", failed ? mpi_host->message(context) : "");
    MPI_Bcast(&known, sizeof known, MPI_BYTE, first, self->comm);
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, self->comm);
    self->failed = (szg_status)known.status;
    self->ended = true;
    if (all == self->processes)
        snprintf(self->message, sizeof self->message, "%s", known.message);
    else
        snprintf(self->message, sizeof self->message, "process %d of %d: %.1900s", first,
                 self->processes, known.message);
    return mpi_host->fail(context, self->failed, self->message);
}

/* MPI is used by the thread that started it: others are refused before a message is sent. */
static szg_status check_thread(szg_context *context) {
    int main_thread = 0;
    if (MPI_Is_thread_main(&main_thread) == MPI_SUCCESS && main_thread)
        return SZG_OK;
    return mpi_fail(context, SZG_EDOMAIN,
                    "backend mpi: this thread did not start MPI: take one matrix after the other, "
                    "in the thread that selected the backend");
}

szg_status mpi_agree(szg_context *context, szgi_meeting place, int64_t order, szg_status own) {
    mpi_session *self = &mpi_processes;
    SZG_TRY(check_thread(context));
    if (self->failed != SZG_OK)
        return mpi_host->fail(context, self->failed, self->message);
    long long where = (long long)place + 16 * (long long)order;
    long long mine[NUMBERS] = {own == SZG_OK ? LLONG_MAX : self->rank, where, -where};
    long long least[NUMBERS];
    MPI_Allreduce(mine, least, NUMBERS, MPI_LONG_LONG, MPI_MIN, self->comm);
    if (least[FIRST_FAILED] != LLONG_MAX)
        return take_failure(context, (int)least[FIRST_FAILED], own);
    self->ended = place == SZGI_MEETING_END;
    if (least[PLACE] == -least[PLACE_NEGATIVE])
        return SZG_OK;
    self->failed = SZG_EDATA;
    self->ended = true;
    snprintf(self->message, sizeof self->message,
             "backend mpi: the %d processes do not compute the same: start all of them with one "
             "command line, one version of szego, the same files and one OPENBLAS_CORETYPE",
             self->processes);
    return mpi_host->fail(context, self->failed, self->message);
}
