/* The processes that a launcher (mpirun, srun) has started together with this one. The first of
 * them speaks: the others print nothing and write no file. */
#ifndef SZG_ANALYSIS_LAUNCH_H
#define SZG_ANALYSIS_LAUNCH_H

#include <stdbool.h>

/* What the launcher says in the environment: their number, 1 without a launcher; which one this is;
 * and the variable that tells, NULL without a launcher. */
int launch_processes(void);
int launch_rank(void);
const char *launch_variable(void);

/* How many processes were started with this one, also where nothing tells which one it is, and the
 * variable that says so; 1 and NULL: it is alone. */
int launch_started(const char **variable);

/* At the start of a process: all but the first fall silent. */
void launch_silence(void);

/* From now on the processes know of each other: what one fails in, all are told. */
void launch_joined(void);

/* Before that a launcher that sees one process fail ends the others. Gives the first time to say
 * why, and then says it if this process still lives, as the first has not failed. */
void launch_fail_alone(const char *message);

#endif
