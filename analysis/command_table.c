#include "command.h"

extern const command command_completion;

const command *const command_table[] = {
    &command_completion,
    NULL,
};
