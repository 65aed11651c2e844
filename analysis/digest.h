/* A long table in a few rows, for a person: what the heads of a layer span, and which one is the
 * greatest. */
#ifndef SZG_ANALYSIS_DIGEST_H
#define SZG_ANALYSIS_DIGEST_H

#include "base/table.h"

/* Of the table `summary` of a checkpoint: `layers`, one row per layer and matrix, or if no row has
 * a head `weights`, which has the same rows. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_checkpoint(szg_context *context, const szg_table *summary,
                                              szg_table **out);

/* Of the table `kernel` of encodings: `lags`, one row per lag that is shown and one column per
 * matrix (two more where it is complex or has a spread). SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_lags(szg_context *context, const szg_table *kernel,
                                        szg_table **out);

/* Of the table `kernel` of a checkpoint: its rows at the lags that are shown. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status digest_kernel(szg_context *context, const szg_table *kernel,
                                          szg_table **out);

#endif
