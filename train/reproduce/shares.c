/* The largest of several shares in two references: uniform on the simplex, and equal but for the
 * sampling error of the test split. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"

#include "shares.h"

/* ---- Uniform on the simplex ---- */

double szgi_largest_share_tail(int64_t count, double share) {
    /* With n = count, the first term is the expected number of shares above. Where it is large, the
     * sum's terms cancel, up to e^term roundings. There the chance is 1: shares of the Dirichlet
     * distribution are negatively associated (Joag-Dev and Proschan 1983), so that all are below
     * with a chance of at most (1 - (1 - share)^(n - 1))^n <= e^-term. At 16 either is below 1e-7.
     */
    enum { ALL = 16 };
    double n = (double)count, sum = 0;
    if (count < 1 || isnan(share))
        return NAN;
    if (!(share < 1))
        return 0;
    if (share <= 1 / n || n * exp((n - 1) * log1p(-share)) > ALL)
        return 1;
    for (double j = 1; j <= n && j * share < 1; j++) {
        double log_term =
            lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + (n - 1) * log1p(-j * share);
        sum += fmod(j, 2) == 1 ? exp(log_term) : -exp(log_term);
    }
    return fmin(1, fmax(0, sum));
}

double szgi_largest_share_quantile(int64_t count, double chance) {
    double low = 0, high = 1;
    if (count < 1 || !(chance > 0 && chance < 1))
        return NAN;
    for (int halving = 0; halving < 60; halving++) {
        double middle = (low + high) / 2;
        *(szgi_largest_share_tail(count, middle) > chance ? &low : &high) = middle;
    }
    return high;
}

/* ---- Equal heads ---- */

/* A binomial distribution: above[k] is the chance of k or fewer. */
static void fill_binomial(int64_t trials, double chance, double *above) {
    double n = (double)trials, sum = 0;
    for (int64_t k = 0; k <= trials; k++) {
        double x = (double)k, log_chance = lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1);
        /* 0 log 0 is 0: a chance of 0 or 1 has one outcome. */
        log_chance += (k > 0 ? x * log(chance) : 0) + (k < trials ? (n - x) * log1p(-chance) : 0);
        above[k] = sum += exp(log_chance);
    }
    for (int64_t k = 0; k <= trials; k++)
        above[k] /= sum;
}

/* The first outcome whose chance, with those before it, exceeds `uniform`. */
static int64_t draw_binomial(int64_t trials, const double *above, double uniform) {
    int64_t low = 0, high = trials;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (above[middle] > uniform)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double draw_share(const szgi_equal_heads *of, const double *above, const szgi_stream *stream,
                         int64_t trial) {
    double total = 0, largest = 0;
    for (int64_t head = 0; head < of->heads; head++) {
        double uniform = szgi_random_uniform(stream, (uint64_t)(trial * of->heads + head));
        int64_t right = draw_binomial(of->examples, above, uniform);
        double drop = fmax(0, of->accuracy - (double)right / (double)of->examples);
        total += drop;
        largest = fmax(largest, drop);
    }
    return total > 0 ? largest / total : 0;
}

static int by_size(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

szg_status szgi_equal_heads_shares(szg_context *context, const szgi_equal_heads *of, uint64_t seed,
                                   int64_t layer, double *out) {
    enum { PURPOSE = 0x4551484c };
    double *above, chance = of->accuracy - of->total / (double)of->heads;
    if (of->heads < 1 || of->examples < 1 || !(of->accuracy >= 0 && of->accuracy <= 1) ||
        !(of->total >= 0))
        return szgi_fail(context, SZG_EINVAL,
                         "equal heads: %" PRId64 " heads, %" PRId64 " examples, accuracy %g, drops "
                         "of %g: at least one head and example, and an accuracy in 0 .. 1",
                         of->heads, of->examples, of->accuracy, of->total);
    SZG_TRY(szgi_memory_alloc(context, of->examples + 1, &above));
    fill_binomial(of->examples, fmax(0, chance), above);
    szgi_stream stream = {.seed = seed, .step = (uint32_t)layer, .purpose = PURPOSE};
    for (int64_t trial = 0; trial < SZGI_EQUAL_TRIALS; trial++)
        out[trial] = draw_share(of, above, &stream, trial);
    szgi_memory_free(above);
    qsort(out, SZGI_EQUAL_TRIALS, sizeof *out, by_size);
    return SZG_OK;
}
