#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* Seconds that the first process has to end with its message. */
enum { PATIENCE = 5 };

#define SLURM_PROCESSES "SLURM_STEP_NUM_TASKS"

/* Open MPI, and PRRTE; MPICH, Intel MPI and srun --mpi=pmi2; srun --mpi=pmix. */
static const struct {
    const char *processes, *rank;
} launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                 {"PMI_SIZE", "PMI_RANK"},
                 {SLURM_PROCESSES, "PMIX_RANK"}};

static bool joined, waited;

static bool read_number(const char *name, int64_t least, int64_t *out) {
    const char *text = getenv(name);
    return text && szgi_integer_parse(text, out) == SZGI_PARSED && *out >= least &&
           *out < INT32_MAX;
}

/* -1: none. */
static int launcher_of(int64_t *processes, int64_t *rank) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (read_number(launchers[i].processes, 2, processes) &&
            read_number(launchers[i].rank, 0, rank))
            return (int)i;
    *processes = 1;
    *rank = 0;
    return -1;
}

int launch_processes(void) {
    int64_t processes, rank;
    (void)launcher_of(&processes, &rank);
    return (int)processes;
}

int launch_rank(void) {
    int64_t processes, rank;
    (void)launcher_of(&processes, &rank);
    return (int)rank;
}

const char *launch_variable(void) {
    int64_t processes, rank;
    int which = launcher_of(&processes, &rank);
    return which < 0 ? NULL : launchers[which].processes;
}

/* srun without a word for MPI sets the number alone. */
int launch_started(const char **variable) {
    int64_t processes, rank;
    int which = launcher_of(&processes, &rank);
    if (which < 0 && read_number(SLURM_PROCESSES, 2, &processes))
        *variable = SLURM_PROCESSES;
    else
        *variable = which < 0 ? NULL : launchers[which].processes;
    return (int)processes;
}

static void wait_for_first(void) {
    if (launch_rank() == 0 || joined || waited)
        return;
    waited = true;
    sleep(PATIENCE);
}

/* A launcher ends all processes when one fails, and the first has perhaps not yet said why. */
static void at_end(int code, void *unused) {
    (void)unused;
    if (code != 0)
        wait_for_first();
}

/* Descriptors stay: what a library or a sanitizer says of a crash is still seen. */
void launch_silence(void) {
    if (launch_rank() == 0)
        return;
    FILE *nothing = fopen("/dev/null", "w");
    if (!nothing)
        return;
    stdout = nothing;
    stderr = nothing;
    on_exit(at_end, NULL);
}

void launch_joined(void) {
    joined = true;
}

void launch_fail_alone(const char *message) {
    char line[2200];
    if (launch_rank() == 0 || joined)
        return;
    wait_for_first();
    int size = snprintf(line, sizeof line, "szego: process %d of %d: %.2048s\n", launch_rank(),
                        launch_processes(), message);
    (void)!write(STDERR_FILENO, line, (size_t)size);
}
