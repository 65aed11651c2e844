#include <string.h>

#include "base/memory.h"

#include "search.h"

/* A (1+1) evolution strategy with the one-fifth rule (Rechenberg 1973): no gradient needed where
 * the objective has kinks, as maxima and extreme eigenvalues have. */
szg_status szgi_ascent_run(szg_context *context, const ascent *a, double *best) {
    double *trial;
    SZG_TRY(szgi_memory_alloc(context, a->count, &trial));
    szgi_stream stream = {.seed = a->seed, .purpose = a->purpose};
    double step = a->step;
    *best = a->value(a->user, a->x);
    szg_status status = SZG_OK;
    for (int64_t s = 0; s < a->steps && status == SZG_OK; s++) {
        stream.step = (uint32_t)s;
        /* every third step moves one coordinate alone: kinks are often aligned with an axis */
        int64_t only = s % 3 == 0 ? szgi_random_below(&stream, 4096, a->count) : -1;
        for (int64_t i = 0; i < a->count; i++) {
            bool moves = only < 0 || only == i;
            trial[i] = a->x[i] + (moves ? step * szgi_random_normal(&stream, (uint64_t)i) : 0.0);
        }
        double value = a->value(a->user, trial);
        bool better = value > *best;
        if (better) {
            *best = value;
            memcpy(a->x, trial, (size_t)a->count * sizeof *trial);
        }
        step *= better ? 1.5 : 0.92;
        if (step < 1e-12 * a->step)
            step = a->step;
        if (s % 64 == 0)
            status = szgi_context_check_cancel(context);
    }
    szgi_memory_free(trial);
    return status;
}
