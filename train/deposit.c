/* How the loss of heads deposits: worst head's share and Gini coefficient, with intervals. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <szego/ablation.h>
#include <szego/memory.h>
#include <szego/random.h>

/* Streams of the host: 0x54524E06 is the bootstrap's. */
enum { PURPOSE_BOOTSTRAP = 0x54524E06 };

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double szg_gini_coefficient(int64_t count, double *x) {
    double sum = 0, weighted = 0;
    qsort(x, (size_t)count, sizeof *x, ascending);
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    /* sum_i (2 i + 1 - count) x_i, the largest against the least and so on: no term is negative, so
     * that equal numbers give 0 and nearly equal ones keep their digits. */
    for (int64_t i = 0; i < count / 2; i++)
        weighted += (double)(count - 1 - 2 * i) * (x[count - 1 - i] - x[i]);
    return sum > 0 ? weighted / ((double)count * sum) : NAN;
}

/* One run's drops, and what they come to. */
typedef struct run_deposit {
    double total, index, gini;
    int64_t worst;
} run_deposit;

static run_deposit deposit_of(const szg_ablation *run, int64_t layer, double *drops) {
    run_deposit own = {.worst = -1};
    double largest = 0;
    for (int64_t h = 0; h < run->heads; h++) {
        double drop = run->accuracy - run->head[layer * run->heads + h];
        drops[h] = drop > 0 ? drop : 0;
        own.total += drops[h];
        if (drops[h] > largest) {
            largest = drops[h];
            own.worst = h;
        }
    }
    own.index = own.total > 0 ? largest / own.total : NAN;
    own.gini = szg_gini_coefficient(run->heads, drops);
    return own;
}

static double mean_of(int64_t count, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    return count > 0 ? sum / (double)count : NAN;
}

/* The 2.5% and 97.5% percentiles (the smallest value whose share of resamples reaches them) of the
 * mean of `count` values drawn with replacement. Both quantities draw the same runs. */
static void interval_of(const szg_stream *stream, int64_t count, const double *values,
                        double *means, double *low, double *high) {
    *low = *high = NAN;
    if (count < 2)
        return;
    for (int64_t b = 0; b < SZG_DEPOSIT_RESAMPLES; b++) {
        means[b] = 0;
        for (int64_t i = 0; i < count; i++)
            means[b] += values[szg_random_below(stream, (uint64_t)(b * count + i), count)];
        means[b] /= (double)count;
    }
    qsort(means, SZG_DEPOSIT_RESAMPLES, sizeof *means, ascending);
    *low = means[SZG_DEPOSIT_RESAMPLES / 40 - 1];
    *high = means[SZG_DEPOSIT_RESAMPLES - SZG_DEPOSIT_RESAMPLES / 40 - 1];
}

static szg_status check_runs(szg_context *context, const szg_ablation *const *runs, int64_t count,
                             int64_t layer) {
    if (count < 1)
        return szg_fail(context, SZG_EINVAL, "deposit: no runs");
    for (int64_t r = 0; r < count; r++)
        if (runs[r]->layers != runs[0]->layers || runs[r]->heads != runs[0]->heads)
            return szg_fail(context, SZG_EINVAL,
                            "deposit: run %" PRId64 " has %" PRId64 " layers of %" PRId64
                            " heads, the first %" PRId64 " of %" PRId64
                            ": compare runs of one shape",
                            r, runs[r]->layers, runs[r]->heads, runs[0]->layers, runs[0]->heads);
    if (layer < 0 || layer >= runs[0]->layers)
        return szg_fail(context, SZG_EINVAL, "deposit: layer %" PRId64 " is outside 0 .. %" PRId64,
                        layer, runs[0]->layers - 1);
    return SZG_OK;
}

szg_status szg_ablation_deposit(szg_context *context, const szg_ablation *const *runs,
                                int64_t count, int64_t layer, uint64_t seed, szg_deposit *out) {
    SZG_TRY(check_runs(context, runs, count, layer));
    double *index, *gini, *scratch;
    int64_t heads = runs[0]->heads,
            room = heads > SZG_DEPOSIT_RESAMPLES ? heads : SZG_DEPOSIT_RESAMPLES;
    SZG_TRY(szg_memory_alloc(context, 2 * count + room, sizeof *index, &index));
    gini = index + count;
    scratch = gini + count;
    *out = (szg_deposit){.worst_head = -1};
    for (int64_t r = 0; r < count; r++) {
        run_deposit own = deposit_of(runs[r], layer, scratch);
        out->total += own.total / (double)count;
        out->worst_head = count == 1 ? own.worst : -1;
        if (!(own.total > 0))
            continue;
        index[out->runs] = own.index;
        gini[out->runs++] = own.gini;
    }
    szg_stream stream = {.seed = seed, .step = (uint32_t)layer, .purpose = PURPOSE_BOOTSTRAP};
    out->index = mean_of(out->runs, index);
    out->gini = mean_of(out->runs, gini);
    interval_of(&stream, out->runs, index, scratch, &out->index_low, &out->index_high);
    interval_of(&stream, out->runs, gini, scratch, &out->gini_low, &out->gini_high);
    szg_memory_free(index);
    return SZG_OK;
}
