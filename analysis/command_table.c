/* The commands of commands.def. */
#include "command.h"

#define COMMAND(name) extern const command command_##name;
#include "commands.def"
#undef COMMAND

#define COMMAND(name) &command_##name,
const command *const command_table[] = {
#include "commands.def"
    NULL};
#undef COMMAND
