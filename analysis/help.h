/* What the program says of itself: `szego help ...`, `--help` and `--usage` of a command, and the
 * man pages, all from the tables that parse the command line. */
#ifndef SZG_ANALYSIS_HELP_H
#define SZG_ANALYSIS_HELP_H

#include "command.h"

/* `szego help [--man] [COMMAND | TOPIC [NAME...]]`; `count` words follow `help`. Returns the exit
 * status. */
int help_main(int count, char **words);

/* What `szego help` prints. */
void help_overview(FILE *stream);

void help_command(const command *which, FILE *stream);
void help_usage(const command *which, FILE *stream);

/* What `szego help` takes, each word on a line. */
void help_list_topics(FILE *stream);

/* Says on stderr that there is no such command, and which one may have been meant. */
void help_unknown_command(const char *name);

/* NULL: there is none. */
const command *command_find(const char *name);

#endif
