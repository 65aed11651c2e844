/* What an analysis reads each tensor for: the table `tensors`, and what szego.hub has to fetch. */
#ifndef SZG_CHECKPOINT_USE_H
#define SZG_CHECKPOINT_USE_H

#include "part.h"
#include "values.h"

/* The rows of `tensors` that are the part's; values: of every layer, NULL without circuits. */
SZG_CHECK_RESULT szg_status szgi_use_report(szg_context *context, const szg_checkpoint *checkpoint,
                                            const szg_checkpoint_options *options,
                                            const head_part *part, const layer_values *values,
                                            szg_checkpoint_tables *tables);

/* A row of `tensors` for each, without reading any: what the layers of the part will be used for.
 */
SZG_CHECK_RESULT szg_status szgi_use_plan(szg_context *context, const szg_checkpoint *checkpoint,
                                          const szg_checkpoint_options *options,
                                          szg_checkpoint_tables *tables);

/* SZG_EDATA: a tensor that the part needs was left out of the files; the message names the command
 * that fetches it. */
SZG_CHECK_RESULT szg_status szgi_use_check(szg_context *context, const szg_checkpoint *checkpoint,
                                           const szg_checkpoint_options *options,
                                           const head_part *part);

#endif
