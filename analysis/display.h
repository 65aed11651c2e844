/* How the program shows tables: their schemas say what each one shows. */
#ifndef SZG_ANALYSIS_DISPLAY_H
#define SZG_ANALYSIS_DISPLAY_H

#include "command.h"

/* Whether tables go to standard output for a person, not to a file or another program. */
bool display_is_for_a_person(const command_call *call);

/* Prints the tables of a result on standard output as the width, the locale and the options ask. */
SZG_CHECK_RESULT szg_status display_print(command_call *call, const szg_result *result);

/* Whether the locale has signs beyond ASCII. It is read, not set: numbers are printed with a point
 * in every one. */
bool display_has_unicode(void);

#endif
