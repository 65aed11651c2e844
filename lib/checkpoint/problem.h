/* Failures of one matrix, which are reported and passed over. */
#ifndef SZG_CHECKPOINT_PROBLEM_H
#define SZG_CHECKPOINT_PROBLEM_H

#include "checkpoint_private.h"

/* Is this a failure of one matrix, to be reported and passed over? */
bool szgi_is_local_failure(szg_status status);
/* Appends the context's message to *problem, behind the tensors that it is about. */
SZG_CHECK_RESULT szg_status szgi_layer_problem(szg_context *context, const layer_weights *layer,
                                               char **problem);

#endif
