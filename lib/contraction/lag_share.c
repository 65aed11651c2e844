/* A one-way analysis of variance of logits by their diagonals, and its permutation test. */
#include "contraction/lag_share.h"

#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "base/sort.h"

enum { PURPOSE = 0x1a650000, DRAWS_A_BLOCK = 8 };

/* Sums go by slot, the lag plus `zero`. Entries are less the centre, so that squares lose no
 * digits. */
struct szgi_lags {
    bool causal, null;
    uint64_t seed;
    int64_t width, zero, sequences, draws;
    double centre, largest, squares;
    double *sum, *count;
    int64_t *there;       /* sequences that have the lag */
    double *s2, *ns, *n2; /* of each sequence's sum s and count n */
    double *token_error;  /* variance of the mean within the first sequence */
    double *draw_sum;     /* [draws, width] */
    double *draw_squares; /* [draws] */
};

szg_status szgi_lags_open(szg_context *context, int64_t n, bool causal, uint64_t seed,
                          szgi_lags **out) {
    szgi_lags *l;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &l));
    l->causal = causal;
    l->null = true;
    l->seed = seed;
    l->draws = n > SZGI_LAG_MANY ? SZGI_LAG_FEW_DRAWS : SZGI_LAG_DRAWS;
    l->width = causal ? n : 2 * n - 1;
    l->zero = causal ? 0 : n - 1;
    double **const arrays[] = {&l->sum, &l->count, &l->s2, &l->ns, &l->n2, &l->token_error};
    szg_status status = szgi_memory_alloc(context, l->width, &l->there);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == SZG_OK; i++)
        status = szgi_memory_alloc(context, l->width, arrays[i]);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, l->draws * l->width, &l->draw_sum);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, l->draws, &l->draw_squares);
    if (status != SZG_OK) {
        szgi_lags_close(&l);
        return status;
    }
    *out = l;
    return SZG_OK;
}

void szgi_lags_close(szgi_lags **lags) {
    szgi_lags *l = *lags;
    if (!l)
        return;
    double *const arrays[] = {l->sum, l->count,       l->s2,       l->ns,
                              l->n2,  l->token_error, l->draw_sum, l->draw_squares};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        szgi_memory_free(arrays[i]);
    szgi_memory_free(l->there);
    szgi_memory_free(l);
    *lags = NULL;
}

/* ---- A sequence as it is ---- */

/* The first token is left out, as a query and as a key. Queries first .. last of a lag. */
static int64_t first_query(int64_t lag) {
    return lag > 0 ? lag + 1 : 1;
}

static int64_t last_query(int64_t n, int64_t lag) {
    return lag > 0 ? n - 1 : n - 1 + lag;
}

static int64_t entries_of(int64_t n, int64_t lag) {
    int64_t count = last_query(n, lag) - first_query(lag) + 1;
    return lag == 0 || count < 0 ? 0 : count;
}

static double diagonal_sum(int64_t n, const double *x, int64_t lag) {
    double sum = 0;
    for (int64_t i = first_query(lag); i <= last_query(n, lag); i++)
        sum += x[i * n + i - lag];
    return sum;
}

static int64_t first_lag(const szgi_lags *l, int64_t n) {
    return l->causal ? 1 : 2 - n;
}

/* The first sequence's mean serves the others too. */
static void choose_centre(szgi_lags *l, int64_t n, const double *x) {
    double sum = 0, count = 0;
    for (int64_t lag = first_lag(l, n); lag <= n - 2; lag++) {
        int64_t there = entries_of(n, lag);
        sum += there > 0 ? diagonal_sum(n, x, lag) : 0;
        count += (double)there;
    }
    l->centre = count > 0 ? sum / count : 0;
}

/* Variance of a diagonal's mean if tokens are independent draws: two of its entries are dependent
 * if they share a token, which is then a query in one and a key in the other. A covariance below
 * zero is left out. */
static double token_variance(int64_t n, const double *x, int64_t lag, double mean) {
    int64_t step = lag < 0 ? -lag : lag;
    double own = 0, shared = 0, count = (double)entries_of(n, lag);
    for (int64_t i = first_query(lag); i <= last_query(n, lag); i++) {
        double e = x[i * n + i - lag] - mean;
        own += e * e;
        if (i + step <= last_query(n, lag))
            shared += e * (x[(i + step) * n + i + step - lag] - mean);
    }
    return count > 1 ? (own + 2 * fmax(shared, 0)) / (count * (count - 1)) : NAN;
}

static void observe_lag(szgi_lags *l, int64_t n, const double *x, int64_t lag) {
    int64_t slot = l->zero + lag;
    double count = (double)entries_of(n, lag), sum;
    if (count == 0)
        return;
    sum = diagonal_sum(n, x, lag);
    for (int64_t i = first_query(lag); i <= last_query(n, lag); i++) {
        double value = x[i * n + i - lag];
        l->squares += value * value;
        l->largest = fmax(l->largest, fabs(value + l->centre));
    }
    if (l->there[slot]++ == 0)
        l->token_error[slot] = token_variance(n, x, lag, sum / count);
    l->sum[slot] += sum;
    l->count[slot] += count;
    l->s2[slot] += sum * sum;
    l->ns[slot] += count * sum;
    l->n2[slot] += count * count;
}

/* ---- Its relabellings ---- */

void szgi_relabel(uint64_t seed, uint32_t purpose, int64_t draw, int64_t first, int64_t n,
                  int32_t *out) {
    const szgi_stream stream = {seed, (uint32_t)draw, purpose};
    for (int64_t i = 0; i < n - first; i++) {
        int64_t at = szgi_random_below(&stream, (uint64_t)i, i + 1);
        out[i] = out[at];
        out[at] = (int32_t)(first + i);
    }
}

typedef struct draw_job {
    szgi_lags *lags;
    int64_t n;
    const double *x;
    double squares; /* of the sequence as it is */
} draw_job;

/* `square`: NULL where nobody asks. */
static void add_keys(int64_t count, const double *row, const int32_t *token, double *sum,
                     double *square) {
    if (!square)
        for (int64_t k = 0; k < count; k++)
            sum[k] += row[token[k]];
    else
        for (int64_t k = 0; k < count; k++) {
            double value = row[token[k]];
            sum[k] += value;
            square[k] += value * value;
        }
}

/* A relabelled sequence, back to front so that lags ascend along a row: its token m - 1 - t was
 * token[t], and place[token[t]] = t. */
typedef struct relabelled {
    int32_t *token, *place;
    double *square;
} relabelled;

static szg_status open_draw(szg_context *context, const draw_job *job, int64_t draw,
                            relabelled *out) {
    const szgi_lags *l = job->lags;
    SZG_TRY(szgi_memory_alloc(context, job->n, &out->token));
    SZG_TRY(szgi_memory_alloc(context, job->n, &out->place));
    SZG_TRY(szgi_memory_alloc(context, l->width, &out->square));
    szgi_relabel(l->seed, PURPOSE + (uint32_t)l->sequences, draw, 1, job->n, out->token);
    for (int64_t t = 0; t < job->n - 1; t++)
        out->place[out->token[t]] = (int32_t)t;
    return SZG_OK;
}

static void close_draw(relabelled *draw) {
    szgi_memory_free(draw->token);
    szgi_memory_free(draw->place);
    szgi_memory_free(draw->square);
}

/* A row serves every draw of a block while it is in the cache. Without a mask the same entries
 * count in each draw. */
static void add_row(const draw_job *job, int64_t query, int64_t draw, const relabelled *r) {
    szgi_lags *l = job->lags;
    const double *row = job->x + query * job->n;
    double *sum = l->draw_sum + draw * l->width + l->zero;
    int64_t t = r->place[query];
    add_keys(job->n - 2 - t, row, r->token + t + 1, sum + 1, l->causal ? r->square + 1 : NULL);
    if (!l->causal)
        add_keys(t, row, r->token, sum - t, NULL);
}

static void add_block(const draw_job *job, int64_t first, int64_t count, const relabelled *r) {
    szgi_lags *l = job->lags;
    for (int64_t query = 1; query < job->n; query++)
        for (int64_t d = 0; d < count; d++)
            add_row(job, query, first + d, &r[d]);
    for (int64_t d = 0; d < count; d++) {
        double squares = l->causal ? 0 : job->squares;
        for (int64_t k = 0; k < l->width; k++)
            squares += r[d].square[k];
        l->draw_squares[first + d] += squares;
    }
}

static szg_status draw_block(szg_context *context, void *data, int64_t block, int worker) {
    const draw_job *job = data;
    relabelled r[DRAWS_A_BLOCK] = {{0}};
    int64_t first = block * DRAWS_A_BLOCK, left = job->lags->draws - first;
    int64_t count = left < DRAWS_A_BLOCK ? left : DRAWS_A_BLOCK;
    szg_status status = SZG_OK;
    (void)worker;
    for (int64_t d = 0; d < count && status == SZG_OK; d++)
        status = open_draw(context, job, first + d, &r[d]);
    if (status == SZG_OK)
        add_block(job, first, count, r);
    for (int64_t d = 0; d < count; d++)
        close_draw(&r[d]);
    return status;
}

szg_status szgi_lags_add(szg_context *context, szgi_lags *lags, int64_t n, bool whole, double *x) {
    if (lags->sequences == 0)
        choose_centre(lags, n, x);
    for (int64_t i = 0; i < n * n; i++)
        x[i] -= lags->centre;
    double before = lags->squares;
    for (int64_t lag = first_lag(lags, n); lag <= n - 2; lag++)
        observe_lag(lags, n, x, lag);
    lags->null = lags->null && whole;
    if (lags->null)
        SZG_TRY(szgi_pool_run(context, (lags->draws + DRAWS_A_BLOCK - 1) / DRAWS_A_BLOCK,
                              draw_block, &(draw_job){lags, n, x, lags->squares - before}));
    lags->sequences++;
    return SZG_OK;
}

/* ---- What was found ---- */

/* Share of the sum of squares that the diagonals' means explain. */
static double share_of(const szgi_lags *l, const double *sum, double squares, double entries) {
    double between = 0, total = 0;
    for (int64_t i = 0; i < l->width; i++)
        if (l->count[i] > 0) {
            between += sum[i] * sum[i] / l->count[i];
            total += sum[i];
        }
    double correction = total * total / entries;
    return fmin(fmax(between - correction, 0) / (squares - correction), 1);
}

/* Number `rank`, counted from 1, of the draws in ascending order. */
static double ranked(const szgi_lags *l, const double *draws, double quantile) {
    return draws[lround(quantile * (double)(l->draws + 1)) - 1];
}

static void compare(const szgi_lags *l, double entries, double *draws, szgi_lag_share *out) {
    const double tie =
        1 - 1e-12; /* a relabelling that changes nothing is summed in another order */
    int64_t more = 0;
    for (int64_t d = 0; d < l->draws; d++) {
        draws[d] = share_of(l, l->draw_sum + d * l->width, l->draw_squares[d], entries);
        more += draws[d] >= out->share * tie;
    }
    szgi_sort_reals(l->draws, draws);
    out->null = ranked(l, draws, 0.95);
    out->p = (double)(more + 1) / (double)(l->draws + 1);
}

szg_status szgi_lags_share(szg_context *context, const szgi_lags *lags, szgi_lag_share *out) {
    double entries = 0, sum = 0, most = -1, *draws;
    *out = (szgi_lag_share){.sequences = lags->sequences, .share = NAN, .null = NAN, .p = NAN};
    for (int64_t i = 0; i < lags->width; i++) {
        entries += lags->count[i];
        sum += lags->sum[i];
        out->lags += lags->count[i] > 0;
    }
    out->entries = (int64_t)entries;
    double rounding = 16 * 0x1p-53 * lags->largest;
    if (out->lags < 2 || lags->squares - sum * sum / entries <= entries * rounding * rounding)
        return SZG_OK;
    for (int64_t i = 0; i < lags->width; i++) {
        double off = lags->count[i] > 0 ? lags->sum[i] / lags->count[i] - sum / entries : 0;
        if (off * off * lags->count[i] > most) {
            most = off * off * lags->count[i];
            out->peak = i - lags->zero;
        }
    }
    out->share = share_of(lags, lags->sum, lags->squares, entries);
    if (!lags->null)
        return SZG_OK;
    out->draws = lags->draws;
    SZG_TRY(szgi_memory_alloc(context, lags->draws, &draws));
    compare(lags, entries, draws, out);
    szgi_memory_free(draws);
    return SZG_OK;
}

/* Of the mean over sequences, each weighted by its entries; of one sequence within it. */
static double mean_error(const szgi_lags *l, int64_t slot) {
    double there = (double)l->there[slot], count = l->count[slot], mean = l->sum[slot] / count;
    if (l->sequences == 1)
        return sqrt(l->token_error[slot]);
    if (there < 2)
        return NAN;
    double spread = l->s2[slot] - 2 * mean * l->ns[slot] + mean * mean * l->n2[slot];
    return sqrt(fmax(spread, 0) * there / (there - 1)) / count;
}

szg_status szgi_lags_kernel(szg_context *context, const szgi_lags *lags, szgi_lag **out) {
    double *draws;
    int64_t count = 0;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, lags->draws, &draws));
    szg_status status = szgi_memory_alloc(context, lags->width, out);
    for (int64_t i = 0; i < lags->width && status == SZG_OK; i++) {
        if (!(lags->count[i] > 0))
            continue;
        szgi_lag *lag = &(*out)[count++];
        *lag = (szgi_lag){i - lags->zero,
                          (int64_t)lags->count[i],
                          lags->centre + lags->sum[i] / lags->count[i],
                          mean_error(lags, i),
                          NAN,
                          NAN};
        if (!lags->null)
            continue;
        for (int64_t d = 0; d < lags->draws; d++)
            draws[d] = lags->centre + lags->draw_sum[d * lags->width + i] / lags->count[i];
        szgi_sort_reals(lags->draws, draws);
        lag->low = ranked(lags, draws, 0.025);
        lag->high = ranked(lags, draws, 0.975);
    }
    szgi_memory_free(draws);
    return status;
}
