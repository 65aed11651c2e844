/* How the loss of heads deposits: worst head's share and Gini coefficient, and how far they spread
 * over seeds. */
#include <inttypes.h>
#include <math.h>

#include "ablation.h"
#include "base/memory.h"
#include "base/sort.h"

double szgi_gini_coefficient(int64_t count, double *x) {
    double sum = 0, weighted = 0;
    szgi_sort_reals(count, x);
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
    double total, largest, index, gini;
    int64_t worst;
} run_deposit;

static run_deposit deposit_of(const szg_ablation *run, int64_t layer, double *drops) {
    run_deposit own = {.worst = -1};
    for (int64_t h = 0; h < run->heads; h++) {
        double drop = run->accuracy - run->head[layer * run->heads + h];
        drops[h] = drop > 0 ? drop : 0;
        own.total += drops[h];
        if (drops[h] > own.largest) {
            own.largest = drops[h];
            own.worst = h;
        }
    }
    own.index = own.total > 0 ? own.largest / own.total : NAN;
    own.gini = szgi_gini_coefficient(run->heads, drops);
    return own;
}

static double mean_of(int64_t count, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    return count > 0 ? sum / (double)count : NAN;
}

double szgi_deposit_uniform(int64_t heads) {
    double sum = 0;
    for (int64_t i = heads; i >= 1; i--)
        sum += 1 / (double)i;
    return heads > 0 ? sum / (double)heads : NAN;
}

/* The chance of |t| <= tan(angle) sqrt(freedom): a finite sum (Abramowitz and Stegun 26.7.3-4). */
static double student_within(int64_t freedom, double angle) {
    double cosine = cos(angle), sum = 0, term = freedom % 2 ? cosine : 1;
    for (int64_t k = freedom % 2 ? 3 : 2; k <= freedom; k += 2) {
        sum += term;
        term *= cosine * cosine * (double)(k - 1) / (double)k;
    }
    return freedom % 2 ? (angle + sin(angle) * sum) / acos(0) : sin(angle) * sum;
}

double szgi_student_quantile(int64_t freedom) {
    double low = 0, high = acos(0);
    if (freedom < 1)
        return NAN;
    for (int halving = 0; halving < 60; halving++) {
        double middle = (low + high) / 2;
        *(student_within(freedom, middle) < .95 ? &low : &high) = middle;
    }
    return tan(low) * sqrt((double)freedom);
}

szgi_mean_interval szgi_mean_interval_of(int64_t count, const double *x) {
    double n = (double)count, sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i];
    double mean = count > 0 ? sum / n : NAN;
    for (int64_t i = 0; i < count; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    double reach = szgi_student_quantile(count - 1) * sqrt(squares / (n - 1) / n);
    return (szgi_mean_interval){mean, mean - reach, mean + reach};
}

static szgi_seed_spread spread_of(int64_t count, const double *x) {
    szgi_seed_spread spread = {NAN, NAN, NAN, NAN};
    if (count < 2)
        return spread;
    for (int64_t i = 0; i < count; i++) {
        spread.least = fmin(spread.least, x[i]);
        spread.greatest = fmax(spread.greatest, x[i]);
    }
    szgi_mean_interval mean = szgi_mean_interval_of(count, x);
    spread.low = mean.low;
    spread.high = mean.high;
    return spread;
}

int64_t szgi_ablation_able(const szg_ablation *ablation, int64_t layer) {
    int64_t able = 0;
    for (int64_t h = 0; h < ablation->reach; h++)
        able += !szgi_ablation_spares(ablation, layer, h);
    return able;
}

/* Heads that nothing is cut of cannot drop. Where the last heads below are off, every drop has what
 * these cost in common: the drops are not independent. NaN where the runs differ in that. */
static double uniform_of(const szg_ablation *const *runs, int64_t count, int64_t layer) {
    int64_t able = szgi_ablation_able(runs[0], layer);
    for (int64_t r = 0; r < count; r++)
        if (szgi_ablation_able(runs[r], layer) != able ||
            (runs[r]->method == SZG_ABLATE_CUMULATIVE && layer > 0))
            return NAN;
    return szgi_deposit_uniform(able);
}

static szg_status check_runs(szg_context *context, const szg_ablation *const *runs, int64_t count,
                             int64_t layer) {
    if (count < 1)
        return szgi_fail(context, SZG_EINVAL, "deposit: no runs");
    for (int64_t r = 0; r < count; r++)
        if (runs[r]->layers != runs[0]->layers || runs[r]->heads != runs[0]->heads)
            return szgi_fail(context, SZG_EINVAL,
                             "deposit: run %" PRId64 " has %" PRId64 " layers of %" PRId64
                             " heads, the first %" PRId64 " of %" PRId64
                             ": compare runs of one shape",
                             r, runs[r]->layers, runs[r]->heads, runs[0]->layers, runs[0]->heads);
    if (layer < 0 || layer >= runs[0]->layers)
        return szgi_fail(context, SZG_EINVAL, "deposit: layer %" PRId64 " is outside 0 .. %" PRId64,
                         layer, runs[0]->layers - 1);
    return SZG_OK;
}

szg_status szgi_ablation_deposit(szg_context *context, const szg_ablation *const *runs,
                                 int64_t count, int64_t layer, szgi_deposit *out) {
    SZG_TRY(check_runs(context, runs, count, layer));
    double *index, *gini, *scratch;
    int64_t heads = runs[0]->heads;
    SZG_TRY(szgi_memory_alloc(context, 2 * count + heads, &index));
    gini = index + count;
    scratch = gini + count;
    *out = (szgi_deposit){.worst_head = -1, .uniform_index = uniform_of(runs, count, layer)};
    for (int64_t r = 0; r < count; r++) {
        run_deposit own = deposit_of(runs[r], layer, scratch);
        out->total += own.total / (double)count;
        out->largest += own.largest / (double)count;
        out->worst_head = count == 1 ? own.worst : -1;
        if (!(own.total > 0))
            continue;
        index[out->runs] = own.index;
        gini[out->runs++] = own.gini;
    }
    out->index = mean_of(out->runs, index);
    out->gini = mean_of(out->runs, gini);
    out->index_spread = spread_of(out->runs, index);
    out->gini_spread = spread_of(out->runs, gini);
    out->coverage = out->runs > 1 ? 1 - ldexp(1, 1 - (int)out->runs) : NAN;
    szgi_memory_free(index);
    return SZG_OK;
}
