/* Commands that the Python package carries out. The program parses their options; the package's
 * publish.py does the rest, under an interpreter that has what the command needs. */
#ifndef SZG_ANALYSIS_SCRIPT_H
#define SZG_ANALYSIS_SCRIPT_H

#include "command.h"

/* Runs the command `what`, which has `needs`, as a script and waits for its end. It gets --output=
 * and --quiet of `call` if they were given, then `words`: other options and, after "--", operands;
 * NULL at the end. A script that fails says why itself, and its exit code goes to call->code.
 *
 * A cancellation is passed on to the script, which removes what it has not finished and ends its
 * workers. SZG_EBACKEND: no interpreter serves, with all that each of them lacks, or the package
 * is missing or of another version. SZG_ECANCEL. SZG_EIO: the process could not be started, or a
 * signal ended it. */
SZG_CHECK_RESULT szg_status script_run(command_call *call, const command *what,
                                       const char *const *words);

#endif
