/* The tables of trained profiles of the lag, and of what heads mix of them. */
#ifndef SZG_CHECKPOINT_PROFILE_ROWS_H
#define SZG_CHECKPOINT_PROFILE_ROWS_H

#include "lag_bias.h"
#include "part.h"
#include "rows.h"

/* Opens the tables that the checkpoint has rows for. */
SZG_CHECK_RESULT szg_status szgi_profile_rows_open(szg_context *context,
                                                   const szg_checkpoint *checkpoint,
                                                   const szg_checkpoint_options *options,
                                                   szg_checkpoint_tables *tables);

/* All rows of the part. A bank that cannot be read has a row with a note, and counts as bad. */
SZG_CHECK_RESULT szg_status szgi_profile_rows_add(szg_context *context,
                                                  const szg_checkpoint *checkpoint,
                                                  const szg_checkpoint_options *options,
                                                  const head_part *part, const lag_bias *bias,
                                                  szg_checkpoint_tables *tables);

#endif
