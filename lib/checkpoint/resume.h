/* Heads that are done go to a journal, and an analysis that was interrupted goes on behind them. */
#ifndef SZG_CHECKPOINT_RESUME_H
#define SZG_CHECKPOINT_RESUME_H

#include "rows.h"

typedef struct head_resume head_resume;

/* Opens the journal that options->journal names; NULL: *out is NULL, and so in the calls below,
 * which then do nothing. Rows that `tables` had before are not part of it. */
SZG_CHECK_RESULT szg_status szgi_resume_open(szg_context *context, const szg_checkpoint *checkpoint,
                                             const szg_checkpoint_options *options,
                                             szg_checkpoint_tables *tables, head_resume **out);

/* Adds what an earlier run left to the tables. *shares: how many shares of heads that is. */
SZG_CHECK_RESULT szg_status szgi_resume_read(szg_context *context, head_resume *resume,
                                             int64_t *shares);

/* The tables hold the rows of so many shares: they are kept when that is worth its time, or at once
 * where `now` says so, cancelled or not. */
SZG_CHECK_RESULT szg_status szgi_resume_keep(szg_context *context, head_resume *resume,
                                             int64_t shares, bool now);

/* Shares that the journal has. */
int64_t szgi_resume_kept(const head_resume *resume);

void szgi_resume_close(head_resume **resume);

#endif
