/* What `capture` and `logits` share: the output of a contraction report. */
#ifndef SZG_ANALYSIS_CAPTURED_H
#define SZG_ANALYSIS_CAPTURED_H

#include "contraction/contraction.h"

#include "command.h"

/* Fills the tables that are open. */
typedef szg_status captured_fill(command_call *call, void *user, const szg_report_options *how,
                                 szg_contraction_tables *tables);

/* Has the tables filled and writes or prints them; values and symbols where `all` or a folder asks
 * for them. */
SZG_CHECK_RESULT szg_status captured_output(command_call *call, bool all, bool certified,
                                            captured_fill *fill, void *user);

#endif
