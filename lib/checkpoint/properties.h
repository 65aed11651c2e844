/* The table `architecture`. */
#ifndef SZG_CHECKPOINT_PROPERTIES_H
#define SZG_CHECKPOINT_PROPERTIES_H

#include "checkpoint_private.h"

/* Opens the table and fills it: a row for each property of what was resolved. */
SZG_CHECK_RESULT szg_status szgi_properties_report(szg_context *context,
                                                   const szg_checkpoint *checkpoint,
                                                   szg_table **table);

#endif
