#ifndef SZG_CHECKPOINT_POSITIONAL_ROWS_H
#define SZG_CHECKPOINT_POSITIONAL_ROWS_H

#include "positional.h"
#include "rows.h"

SZG_CHECK_RESULT szg_status szgi_positional_rows_open(szg_context *context,
                                                      szg_checkpoint_tables *tables);
SZG_CHECK_RESULT szg_status szgi_positional_rows_add(szg_context *context,
                                                     szg_checkpoint_tables *tables,
                                                     const row_key *key, int64_t key_head,
                                                     const head_positional *found);

#endif
