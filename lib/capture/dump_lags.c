/* What the lag explains of each head's coupled logits, over the head's sequences together. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"
#include "contraction/lag_share.h"
#include "summary/discoveries.h"
#include "dump_private.h"

#define SHARES(X)                                                                                  \
    SZGI_HEAD_IDENTITY(X, SHARE)                                                                   \
    X(SHARE_SEQUENCES, "sequences", SZG_INTEGER, "1", "sequences", "sequences of the head")        \
    X(SHARE_N, "n", SZG_INTEGER, "1", "order n",                                                   \
      "tokens of the longest of them; empty: none could be read")                                  \
    X(SHARE_MASK, "mask", SZG_TEXT, "", "mask",                                                    \
      "causal: query i counts with keys 1 .. i - 1; none: with all keys but 0 and i")              \
    X(SHARE_LAGS, "lags", SZG_INTEGER, "1", "lags", "lags that have entries")                      \
    X(SHARE_ENTRIES, "entries", SZG_INTEGER, "1", "entries", "entries of the logits that count")   \
    X(SHARE_DRAWS, "draws", SZG_INTEGER, "1", "relabellings", "relabellings of the null")          \
    X(SHARE_SHARE, "lag_share", SZG_REAL, "1", "share that the lag explains",                      \
      "share of the coupled logits' variance that their means by lag explain")                     \
    X(SHARE_NULL, "lag_null", SZG_REAL, "1", "share by chance",                                    \
      "quantile 0.95 of the share where the tokens are relabelled at random")                      \
    X(SHARE_P, "lag_p", SZG_REAL, "1", "p of the share",                                           \
      "share of the relabellings, and of the logits themselves, whose share is as large")          \
    X(SHARE_BEYOND, "beyond_chance", SZG_TEXT, "", "more than chance",                             \
      "yes: the share is, with at most 5% false ones among the heads of the source and step "      \
      "(Benjamini and Hochberg); alone: p is at most 0.05, and too few relabellings were drawn "   \
      "to compare all heads; no; empty: not known")                                                \
    X(SHARE_PEAK, "lag_peak", SZG_INTEGER, "positions", "lag that explains most",                  \
      "lag, query minus key, whose mean explains most of the variance")                            \
    X(SHARE_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define SHARES_SCREEN                                                                              \
    SZGI_SHOW(3, source)                                                                           \
    SZGI_SHOW(1, step)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(2, sequences)                                                                        \
    SZGI_SHOW(2, n)                                                                                \
    SZGI_SHOW(1, lag_share)                                                                        \
    SZGI_SHOW(1, lag_null)                                                                         \
    SZGI_SHOW(1, lag_p)                                                                            \
    SZGI_SHOW(2, beyond_chance)                                                                    \
    SZGI_SHOW(1, lag_peak)                                                                         \
    SZGI_SHOW(3, mask)
SZGI_SCHEMA(share_columns, "lag_shares", SHARES, SHARES_SCREEN);

#define LAGS(X)                                                                                    \
    SZGI_HEAD_IDENTITY(X, LAG)                                                                     \
    X(LAG_LAG, "lag", SZG_INTEGER, "positions", "lag", "query minus key")                          \
    X(LAG_ENTRIES, "entries", SZG_INTEGER, "1", "entries", "entries at that lag")                  \
    X(LAG_MEAN, "mean", SZG_REAL, "1", "mean logit", "mean of the coupled logits at that lag")     \
    X(LAG_ERROR, "error", SZG_REAL, "1", "standard error of the mean",                             \
      "over sequences; of a single one over its tokens")                                           \
    X(LAG_LOW, "low", SZG_REAL, "1", "low end of the null's band",                                 \
      "quantile 0.025 of the mean where the tokens are relabelled at random")                      \
    X(LAG_HIGH, "high", SZG_REAL, "1", "high end of the null's band", "its quantile 0.975")
SZGI_SCHEMA(lag_columns, "lags", LAGS, SZGI_NOT_SHOWN);

szg_status szgi_dump_lags_open(szg_context *context, bool kernels, szgi_dump_lag_tables *out) {
    *out = (szgi_dump_lag_tables){0};
    szg_status status = szgi_schema_open(context, &share_columns_schema, &out->shares);
    if (status == SZG_OK && kernels)
        status = szgi_schema_open(context, &lag_columns_schema, &out->lags);
    if (status != SZG_OK)
        szgi_dump_lags_close(out);
    return status;
}

void szgi_dump_lags_close(szgi_dump_lag_tables *tables) {
    szg_table_close(&tables->shares);
    szg_table_close(&tables->lags);
}

/* The head whose sequences are being read. */
typedef struct lag_job {
    szgi_dump_lag_tables *tables;
    bool causal; /* the mask of the options */
    uint64_t seed;
    bool open, masked; /* the head's entries end at the diagonal */
    char *source;
    int64_t step, layer, head, n, unread, long_ones;
    szgi_lags *lags; /* NULL: no sequence was read yet */
} lag_job;

/* ---- Rows ---- */

static void identify(szgi_row *row, const lag_job *job) {
    szgi_row_text(row, SHARE_SOURCE, job->source);
    szgi_row_place(row, SHARE_STEP, job->step);
    szgi_row_place(row, SHARE_LAYER, job->layer);
    szgi_row_place(row, SHARE_HEAD, job->head);
}

static const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}

static void put_notes(szgi_row *row, const lag_job *job, const szgi_lag_share *found) {
    if (job->long_ones > 0)
        szgi_row_note(row,
                      "%" PRId64 " sequence%s of more than %d tokens left out: cut with --lengths",
                      job->long_ones, plural(job->long_ones), SZGI_LAG_ORDER);
    if (job->unread > 0)
        szgi_row_note(row, "%" PRId64 " sequence%s could not be read: contraction says why",
                      job->unread, plural(job->unread));
    if (!job->lags)
        return;
    if (found->lags < 2)
        szgi_row_note(row, "no share: it needs two lags, four tokens of a causal head");
    else if (isnan(found->share))
        szgi_row_note(row, "no share: the logits are all equal");
    else if (isnan(found->null))
        szgi_row_note(row, "no null: the logits above the diagonal were not captured");
}

static szg_status add_share(szg_context *context, const lag_job *job, szgi_lag_share *found) {
    *found = (szgi_lag_share){.share = NAN, .null = NAN, .p = NAN};
    if (job->lags)
        SZG_TRY(szgi_lags_share(context, job->lags, found));
    szgi_row row = szgi_row_add(context, job->tables->shares);
    identify(&row, job);
    szgi_row_integer(&row, SHARE_SEQUENCES, found->sequences);
    if (job->lags)
        szgi_row_integer(&row, SHARE_N, job->n);
    szgi_row_text(&row, SHARE_MASK, job->masked ? "causal" : "none");
    szgi_row_integer(&row, SHARE_LAGS, found->lags);
    szgi_row_integer(&row, SHARE_ENTRIES, found->entries);
    szgi_row_integer(&row, SHARE_DRAWS, found->draws);
    szgi_row_number(&row, SHARE_SHARE, found->share);
    szgi_row_number(&row, SHARE_NULL, found->null);
    szgi_row_number(&row, SHARE_P, found->p);
    if (!isnan(found->share))
        szgi_row_integer(&row, SHARE_PEAK, found->peak);
    put_notes(&row, job, found);
    return row.status;
}

static szg_status add_kernel(szg_context *context, const lag_job *job, int64_t count) {
    szgi_lag *lag;
    SZG_TRY(szgi_lags_kernel(context, job->lags, &lag));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        szgi_row row = szgi_row_add(context, job->tables->lags);
        identify(&row, job);
        szgi_row_integer(&row, LAG_LAG, lag[i].lag);
        szgi_row_integer(&row, LAG_ENTRIES, lag[i].entries);
        szgi_row_real(&row, LAG_MEAN, lag[i].mean);
        szgi_row_number(&row, LAG_ERROR, lag[i].error);
        szgi_row_number(&row, LAG_LOW, lag[i].low);
        szgi_row_number(&row, LAG_HIGH, lag[i].high);
        status = row.status;
    }
    szgi_memory_free(lag);
    return status;
}

/* ---- A head ---- */

static void drop_head(lag_job *job) {
    szgi_lags_close(&job->lags);
    szgi_memory_free(job->source);
    job->source = NULL;
    job->open = false;
}

static szg_status finish_head(szg_context *context, lag_job *job) {
    szgi_lag_share found;
    if (!job->open)
        return SZG_OK;
    szg_status status = add_share(context, job, &found);
    if (status == SZG_OK && job->tables->lags && job->lags)
        status = add_kernel(context, job, found.lags);
    drop_head(job);
    return status;
}

static szg_status begin_head(szg_context *context, lag_job *job, const dump_matrix *matrix) {
    const szg_contraction_labels *labels = &matrix->pair.labels;
    int64_t size = (int64_t)strlen(labels->source) + 1;
    SZG_TRY(szgi_memory_alloc(context, size, &job->source));
    memcpy(job->source, labels->source, (size_t)size);
    job->step = labels->step;
    job->layer = labels->layer;
    job->head = labels->head;
    job->masked = job->causal;
    job->n = job->unread = job->long_ones = 0;
    job->open = true;
    return SZG_OK;
}

static bool is_causal(const lag_job *job, const dump_matrix *matrix) {
    return job->causal || matrix->masked;
}

/* Sequences with the logits above the diagonal do not count with those without them: the latter
 * begin another row. */
static bool is_of_head(const lag_job *job, const dump_matrix *matrix) {
    const szg_contraction_labels *labels = &matrix->pair.labels;
    return job->open && strcmp(job->source, labels->source) == 0 && job->step == labels->step &&
           job->layer == labels->layer && job->head == labels->head &&
           (!job->lags || !matrix->coupled || is_causal(job, matrix) == job->masked);
}

static szg_status add_sequence(szg_context *context, lag_job *job, const dump_matrix *matrix) {
    int64_t n = matrix->pair.coupled.rows;
    if (!matrix->coupled) {
        ++*(matrix->problem[0] ? &job->unread : &job->long_ones);
        return SZG_OK;
    }
    if (!job->lags) {
        int64_t most = matrix->longest < SZGI_LAG_ORDER ? matrix->longest : SZGI_LAG_ORDER;
        job->masked = is_causal(job, matrix);
        SZG_TRY(szgi_lags_open(context, most, job->masked, job->seed, &job->lags));
    }
    job->n = n > job->n ? n : job->n;
    return szgi_lags_add(context, job->lags, n, !matrix->masked, matrix->coupled);
}

static szg_status take(szg_context *context, void *user, int64_t count,
                       const dump_matrix *matrices) {
    lag_job *job = user;
    for (int64_t i = 0; i < count; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        if (!is_of_head(job, &matrices[i])) {
            SZG_TRY(finish_head(context, job));
            SZG_TRY(begin_head(context, job, &matrices[i]));
        }
        SZG_TRY(add_sequence(context, job, &matrices[i]));
    }
    return SZG_OK;
}

/* ---- Which shares are more than chance ---- */

static double p_of(const szg_table *shares, int64_t row) {
    return szg_table_get_real(shares, row, SHARE_P);
}

/* The rows from `first` on that are of its source and step. */
static int64_t end_of_step(const szg_table *shares, int64_t first) {
    const char *source = szg_table_get_text(shares, first, SHARE_SOURCE);
    int64_t step = szg_table_get_integer(shares, first, SHARE_STEP), end = first;
    while (end < szg_table_rows(shares) &&
           strcmp(szg_table_get_text(shares, end, SHARE_SOURCE), source) == 0 &&
           szg_table_get_integer(shares, end, SHARE_STEP) == step)
        end++;
    return end;
}

/* Could none of the heads with p <= 0.05 be kept among all, whatever was found? A p-value is at
 * least 1 / (1 + draws). */
static bool are_too_few(const szg_table *shares, int64_t first, int64_t end) {
    int64_t below = 0, tested = 0, draws = 0;
    for (int64_t row = first; row < end; row++) {
        int64_t drawn = szg_table_get_integer(shares, row, SHARE_DRAWS);
        tested += !isnan(p_of(shares, row));
        if (!(p_of(shares, row) <= SZGI_LEVEL))
            continue;
        draws = below++ == 0 || drawn < draws ? drawn : draws;
    }
    return below > 0 && SZGI_LEVEL * (double)below / (double)tested < 1 / (1 + (double)draws);
}

static szg_status judge_step(szg_context *context, szg_table *shares, int64_t first, int64_t end,
                             double *p) {
    for (int64_t row = first; row < end; row++)
        p[row - first] = p_of(shares, row);
    double limit = szgi_discoveries_limit(end - first, p);
    bool alone = limit < 0 && are_too_few(shares, first, end);
    for (int64_t row = first; row < end; row++) {
        double own = p_of(shares, row);
        const char *word = own <= limit ? "yes" : alone && (own <= SZGI_LEVEL) ? "alone" : "no";
        SZG_TRY(
            szgi_table_replace_text(context, shares, row, SHARE_BEYOND, isnan(own) ? NULL : word));
    }
    return SZG_OK;
}

static szg_status judge(szg_context *context, szg_table *shares, int64_t first) {
    double *p;
    szg_status status = SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, szg_table_rows(shares) + 1, &p));
    for (int64_t end; first < szg_table_rows(shares) && status == SZG_OK; first = end) {
        end = end_of_step(shares, first);
        status = judge_step(context, shares, first, end, p);
    }
    szgi_memory_free(p);
    return status;
}

szg_status szgi_dump_lags(szg_context *context, const szgi_dump *dump,
                          const szgi_dump_options *options, uint64_t seed,
                          szgi_dump_lag_tables *tables) {
    lag_job job = {.tables = tables, .causal = options && options->causal, .seed = seed};
    int64_t first = szg_table_rows(tables->shares);
    szg_status status = szgi_dump_each(context, dump, options, DUMP_WHOLE, take, &job);
    if (status == SZG_OK)
        status = finish_head(context, &job);
    if (status == SZG_OK)
        status = judge(context, tables->shares, first);
    drop_head(&job);
    return status;
}
