/* Differences of recorded runs, computed again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/inference.h"
#include "mechanism.h"

/* ---- The record ---- */

enum {
    LAYERS = 2,
    HEADS = 4,
    TEST_EXAMPLES = 4500,
    MOST_MINUS = 2,
    MOST_SEEDS = 10,
    LEAST_PAIRS = 5
};

/* Numbers are at most 1, and a difference has at most eight roundings. */
#define ROUNDING (8 * 0x1p-53)

/* Test examples answered right, by the whole model and without each head. */
typedef struct run_record {
    const char *arm;
    int64_t seed, whole, without[LAYERS][HEADS];
} run_record;

/* Heads' shares of the gradient norm of W_Q and W_K in layer 0, before accuracy leaves chance. */
typedef struct early_record {
    int64_t seed;
    double share[HEADS];
} early_record;

typedef enum measure { INDEX, ACCURACY, RANK_CORRELATION } measure;

/* A hypothesis, and what the experiment's table says of it. */
typedef struct contrast_record {
    const char *name;
    bool primary;
    measure measure;
    int64_t layer;
    const char *arm, *minus[MOST_MINUS]; /* NULL: fewer */
    int64_t pairs;
    double difference, low, high, p, adjusted; /* NAN: too few pairs */
} contrast_record;

#define WITHOUT(a, b, c, d)                                                                        \
    { a, b, c, d }
#define MECHANISM_COMMIT(commit) static const char recorded_commit[] = commit;
#define MECHANISM_RUN(arm, seed, whole, first, second) {arm, seed, whole, {first, second}},
#define MECHANISM_EARLY(seed, a, b, c, d) {seed, {a, b, c, d}},
#define MECHANISM_CONTRAST(...) {__VA_ARGS__},
#include "mechanism.def"

enum { CONTRASTS = sizeof contrasts / sizeof *contrasts };

static const run_record *run_of(const char *arm, int64_t seed) {
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (runs[i].seed == seed && strcmp(runs[i].arm, arm) == 0)
            return &runs[i];
    return NULL;
}

/* ---- A run's numbers ---- */

/* Answers that the loss of a head costs. */
static int64_t drop(const run_record *run, int64_t layer, int64_t head) {
    return run->whole - run->without[layer][head];
}

/* The worst head's share of the drops; NAN if they come to a twentieth of the examples or less. */
static double index_of(const run_record *run, int64_t layer) {
    int64_t total = 0, largest = 0;
    for (int64_t head = 0; head < HEADS; head++) {
        int64_t own = drop(run, layer, head) > 0 ? drop(run, layer, head) : 0;
        total += own;
        largest = own > largest ? own : largest;
    }
    return 20 * total > TEST_EXAMPLES ? (double)largest / (double)total : NAN;
}

static szg_status rank_correlation(szg_context *context, const run_record *run, double *out) {
    double drops[HEADS];
    *out = NAN;
    for (int64_t head = 0; head < HEADS; head++)
        drops[head] = (double)drop(run, 0, head);
    for (size_t i = 0; i < sizeof early / sizeof *early; i++)
        if (early[i].seed == run->seed)
            return szgi_spearman(context, HEADS, early[i].share, drops, out);
    return SZG_OK;
}

static szg_status value_of(szg_context *context, const contrast_record *about,
                           const run_record *run, double *out) {
    *out = NAN;
    if (!run)
        return SZG_OK;
    if (about->measure == RANK_CORRELATION)
        return rank_correlation(context, run, out);
    *out =
        about->measure == INDEX ? index_of(run, about->layer) : (double)run->whole / TEST_EXAMPLES;
    return SZG_OK;
}

/* ---- A contrast ---- */

typedef struct contrast {
    int64_t pairs;
    szgi_mean_interval mean;
    double p, adjusted;
} contrast;

/* The arm's number less the mean of the others'; NAN: some run lacks it. */
static szg_status difference_of(szg_context *context, const contrast_record *about, int64_t seed,
                                double *out) {
    double other, sum = 0;
    int64_t count = 0;
    SZG_TRY(value_of(context, about, run_of(about->arm, seed), out));
    for (; count < MOST_MINUS && about->minus[count]; count++) {
        SZG_TRY(value_of(context, about, run_of(about->minus[count], seed), &other));
        sum += other;
    }
    *out -= count ? sum / (double)count : 0;
    return SZG_OK;
}

static szg_status compute(const claims_run *run, const contrast_record *about, contrast *out) {
    double x[MOST_SEEDS];
    *out = (contrast){0};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        SZG_TRY(difference_of(run->context, about, early[i].seed, &x[out->pairs]));
        x[out->pairs] *= 1 + run->twist;
        out->pairs += !isnan(x[out->pairs]);
    }
    out->mean = szgi_mean_interval_of(out->pairs, x);
    out->p = out->pairs < LEAST_PAIRS ? NAN : szgi_sign_flip(out->pairs, x, ROUNDING);
    out->adjusted = NAN;
    return SZG_OK;
}

/* Holm's rule over the primary hypotheses: all of them, also those that are not quoted. */
static szg_status adjust(szg_context *context, contrast *all) {
    double p[CONTRASTS], adjusted[CONTRASTS];
    int64_t count = 0;
    for (int64_t i = 0; i < CONTRASTS; i++)
        if (contrasts[i].primary)
            p[count++] = all[i].p;
    SZG_TRY(szgi_holm(context, count, p, adjusted));
    count = 0;
    for (int64_t i = 0; i < CONTRASTS; i++)
        if (contrasts[i].primary)
            all[i].adjusted = adjusted[count++];
    return SZG_OK;
}

/* ---- What is said ---- */

/* Numbers are at most 2, of at most a hundred roundings. */
static bool equal(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 2 * 100 * 0x1p-53;
}

static bool is_recorded(const contrast_record *about, const contrast *now) {
    return about->pairs == now->pairs && equal(about->difference, now->mean.mean) &&
           equal(about->low, now->mean.low) && equal(about->high, now->mean.high) &&
           equal(about->p, now->p) && equal(about->adjusted, now->adjusted);
}

static void describe(const contrast_record *about, const contrast *now, finding *out) {
    if (now->pairs < 2)
        szgi_finding_note(out, "%s: not testable", about->name);
    else if (about->primary)
        szgi_finding_note(out, "%s: %.3f, 95%% %.3f .. %.3f, adjusted p %.2g", about->name,
                          now->mean.mean, now->mean.low, now->mean.high, now->adjusted);
    else
        szgi_finding_note(out, "%s: %.3f, 95%% %.3f .. %.3f", about->name, now->mean.mean,
                          now->mean.low, now->mean.high);
}

static szg_status add_evidence(claims_run *run, const contrast_record *about, const contrast *now) {
    const struct {
        const char *what;
        double value;
    } rows[] = {{"pairs", (double)now->pairs},
                {"difference", now->mean.mean},
                {"95% interval, low", now->mean.low},
                {"95% interval, high", now->mean.high},
                {"p", now->p},
                {"p by Holm", now->adjusted}};
    char what[64], where[160];
    const char *const *minus = about->minus;
    snprintf(where, sizeof where, "%s%s%s%s%s", about->arm, minus[0] ? " less " : "",
             minus[0] ? minus[0] : "", minus[1] ? " and " : "", minus[1] ? minus[1] : "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (isnan(rows[i].value))
            continue;
        snprintf(what, sizeof what, "%s: %s", about->name, rows[i].what);
        SZG_TRY(szgi_evidence_number(run, what, rows[i].value, where));
    }
    return SZG_OK;
}

/* Of layer 0: the head that costs most; the first of equal ones. */
static int64_t worst_head(const run_record *run) {
    int64_t worst = 0;
    for (int64_t head = 1; head < HEADS; head++)
        if (drop(run, 0, head) > drop(run, 0, worst))
            worst = head;
    return worst;
}

szg_status szgi_mechanism_count_winners(claims_run *run, const char *const *arms, finding *out) {
    for (; *arms; arms++) {
        int64_t same = 0, seeds = 0;
        for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
            const run_record *rope = run_of("rope/rope", early[i].seed),
                             *own = run_of(*arms, early[i].seed);
            seeds += rope && own;
            same += rope && own && worst_head(rope) == worst_head(own);
        }
        szgi_finding_note(out, "%s: RoPE's worst head is the worst again in %lld of %lld seeds",
                          *arms, (long long)same, (long long)seeds);
        SZG_TRY(szgi_evidence_number(run, "seeds with RoPE's worst head again",
                                     (double)same * (1 + run->twist), *arms));
    }
    return SZG_OK;
}

static int64_t place_of(const char *name) {
    int64_t place = 0;
    while (place < CONTRASTS && strcmp(contrasts[place].name, name) != 0)
        place++;
    return place;
}

szg_status szgi_mechanism_quote(claims_run *run, const char *const *names, finding *out) {
    contrast all[CONTRASTS];
    bool as_recorded = true;
    for (int64_t i = 0; i < CONTRASTS; i++)
        SZG_TRY(compute(run, &contrasts[i], &all[i]));
    SZG_TRY(adjust(run->context, all));
    for (; *names; names++) {
        int64_t place = place_of(*names);
        if (place == CONTRASTS)
            return szgi_fail(run->context, SZG_EINTERNAL, "no contrast %s is recorded", *names);
        as_recorded = as_recorded && is_recorded(&contrasts[place], &all[place]);
        describe(&contrasts[place], &all[place], out);
        SZG_TRY(add_evidence(run, &contrasts[place], &all[place]));
        out->trials = (int64_t)fmax((double)out->trials, (double)all[place].pairs);
    }
    szgi_finding_note(out, "runs of commit %s", recorded_commit);
    if (as_recorded) {
        out->verdict = SZG_VERDICT_MEASURED;
        out->basis = "record";
    } else {
        szgi_finding_note(out, "the record's table says something else");
    }
    return SZG_OK;
}
