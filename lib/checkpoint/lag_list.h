/* The lags at which the table `kernel` has values. */
#ifndef SZG_CHECKPOINT_LAG_LIST_H
#define SZG_CHECKPOINT_LAG_LIST_H

#include "checkpoint_private.h"

typedef struct lag_list {
    int64_t count;
    int64_t *lag; /* ascending */
} lag_list;

/* Of the lags first .. lags - 1, first being 0 or 1 - lags: those below `dense` in size, then 16 in
 * each doubling, and the ends. dense = 0: none. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_list_open(szg_context *context, int64_t first, int64_t lags,
                                               int64_t dense, lag_list *out);
void szgi_lag_list_close(lag_list *list);

#endif
