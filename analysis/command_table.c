#include "command.h"

extern const command command_completion;
extern const command command_info;

const command *const command_table[] = {
    &command_info,
    &command_completion,
    NULL,
};
