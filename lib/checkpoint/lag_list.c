#include "lag_list.h"

#include <math.h>

#include "base/memory.h"

enum { STEPS = 16 }; /* in each doubling */

static int64_t next_lag(int64_t lag, int64_t dense, int64_t last) {
    int64_t next = lag + 1;
    if (next >= dense && (double)lag * exp2(1.0 / STEPS) > (double)next)
        next = (int64_t)((double)lag * exp2(1.0 / STEPS));
    return next < last ? next : last;
}

/* How many lags >= 0 there are; `out`, where it is not NULL, gets them. */
static int64_t list_lags(int64_t dense, int64_t lags, int64_t *out) {
    int64_t count = 0;
    for (int64_t lag = 0; dense > 0; lag = next_lag(lag, dense, lags - 1)) {
        if (out)
            out[count] = lag;
        count++;
        if (lag == lags - 1)
            break;
    }
    return count;
}

szg_status szgi_lag_list_open(szg_context *context, int64_t first, int64_t lags, int64_t dense,
                              lag_list *out) {
    int64_t later = list_lags(dense, lags, NULL), before = first < 0 && later > 0 ? later - 1 : 0;
    *out = (lag_list){.count = before + later};
    SZG_TRY(szgi_memory_alloc(context, out->count + 1, &out->lag));
    list_lags(dense, lags, out->lag + before);
    for (int64_t i = 0; i < before; i++)
        out->lag[i] = -out->lag[out->count - 1 - i];
    return SZG_OK;
}

void szgi_lag_list_close(lag_list *list) {
    szgi_memory_free(list->lag);
    *list = (lag_list){0};
}
