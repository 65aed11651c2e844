/* The softmax statistics of a dump, and their table. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/pool.h"
#include "base/row.h"
#include "base/text.h"
#include "coupling/coupling.h"
#include "dump_private.h"

#define COLUMNS(X)                                                                                 \
    SZGI_LOGITS_IDENTITY(X, AT)                                                                    \
    X(MATRIX, "matrix", SZG_TEXT, "", "matrix", "content or logits")                               \
    X(N, "n", SZG_INTEGER, "1", "order n", "order")                                                \
    X(PAIRING, "pairing", SZG_TEXT, "", "pairing", SZGI_PAIRING_DOC)                               \
    X(MASK, "mask", SZG_TEXT, "", "mask", "none, or causal: query i sees keys 0 .. i")             \
    X(SOFT_CAP, "soft_cap", SZG_REAL, "1", "soft cap", "the softmax is of cap tanh(x / cap)")      \
    X(LARGEST, "largest_logit", SZG_REAL, "1", "largest logit",                                    \
      "with scale and bias, before the soft cap")                                                  \
    X(LARGEST_QUERY, "largest_query", SZG_INTEGER, "1", "query of the largest logit",              \
      "its query, counted from 0")                                                                 \
    X(LARGEST_KEY, "largest_key", SZG_INTEGER, "1", "key of the largest logit", "its key")         \
    X(SMALLEST, "smallest_logit", SZG_REAL, "1", "smallest logit",                                 \
      "the same of the smallest logit")                                                            \
    X(LOGIT_ERROR, "logit_error", SZG_REAL, "1", "error of a logit",                               \
      "bound on the rounding of each dot product in this precision")                               \
    X(ENTROPY_MEAN, "entropy_mean", SZG_REAL, "nats", "mean entropy",                              \
      "mean entropy of the weights of a query, nats")                                              \
    X(ENTROPY_NORMALISED, "entropy_normalised", SZG_REAL, "1", "normalised entropy",               \
      "mean of entropy / log(number of weights)")                                                  \
    X(ENTROPY_MIN, "entropy_min", SZG_REAL, "nats", "least entropy",                               \
      "least entropy of a query with two weights or more")                                         \
    X(ENTROPY_MIN_QUERY, "entropy_min_query", SZG_INTEGER, "1", "query of the least entropy",      \
      "that query")                                                                                \
    X(ENTROPY_MAX, "entropy_max", SZG_REAL, "nats", "greatest entropy",                            \
      "greatest entropy of a query")                                                               \
    X(ENTROPY_MAX_QUERY, "entropy_max_query", SZG_INTEGER, "1", "query of the greatest entropy",   \
      "that query")                                                                                \
    X(FIRST_SHARE, "first_share", SZG_REAL, "1", "first token",                                    \
      "mean weight of token 0 over the queries after it")                                          \
    X(SINKS, "sinks", SZG_TEXT, "", "sinks", "declared sinks")                                     \
    X(SINK_SHARE, "sink_share", SZG_REAL, "1", "declared sinks",                                   \
      "mean weight of the declared sinks together over the queries after the last")                \
    X(SINK_LOGIT, "sink_logit", SZG_REAL, "1", "logit of the learned sink",                        \
      "learned logit of a sink that is no token")                                                  \
    X(LEARNED_SHARE, "learned_share", SZG_REAL, "1", "learned sink",                               \
      "mean weight of the learned sink")                                                           \
    X(Q_NORM_MAX, "q_norm_max", SZG_REAL, "1", "greatest norm of a query",                         \
      "greatest norm of a query, without the scale")                                               \
    X(Q_NORM_RMS, "q_norm_rms", SZG_REAL, "1", "root mean square norm of queries",                 \
      "root mean square of these norms")                                                           \
    X(K_NORM_MAX, "k_norm_max", SZG_REAL, "1", "greatest norm of a key", "greatest norm of a key") \
    X(K_NORM_RMS, "k_norm_rms", SZG_REAL, "1", "root mean square norm of keys",                    \
      "root mean square of these norms")                                                           \
    X(PRECISION, "precision", SZG_TEXT, "", "precision",                                           \
      "of the products of queries and keys: single or double")                                     \
    X(WEIGHT_ERROR, "weight_error", SZG_REAL, "1", "relative error of a share",                    \
      "bound on the error of each entropy and share, relative to it")                              \
    X(NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define COLUMNS_SCREEN                                                                             \
    SZGI_SHOW(3, source)                                                                           \
    SZGI_SHOW(1, step)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(2, probe)                                                                            \
    SZGI_SHOW(1, matrix)                                                                           \
    SZGI_SHOW(2, n)                                                                                \
    SZGI_SHOW_AS(1, largest_logit, "largest", NULL)                                                \
    SZGI_SHOW_AS(4, largest_query, "at query", NULL)                                               \
    SZGI_SHOW_AS(4, largest_key, "at key", NULL)                                                   \
    SZGI_SHOW_AS(1, entropy_mean, "entropy", NULL)                                                 \
    SZGI_SHOW_AS(2, entropy_normalised, "normalised", NULL)                                        \
    SZGI_SHOW_AS(3, entropy_min, "least", NULL)                                                    \
    SZGI_SHOW(1, first_share)                                                                      \
    SZGI_SHOW(1, sink_share)                                                                       \
    SZGI_SHOW(1, learned_share)                                                                    \
    SZGI_SHOW(2, q_norm_max)                                                                       \
    SZGI_SHOW(2, k_norm_max)                                                                       \
    SZGI_SHOW(4, mask)                                                                             \
    SZGI_SHOW(5, soft_cap)
SZGI_SCHEMA(columns, "statistics", COLUMNS, COLUMNS_SCREEN);

szg_status szgi_dump_statistics_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &columns_schema, out);
}

/* ---- Computing ---- */

enum { LARGE = 512 }; /* above this order a matrix takes every thread for itself */

/* One row: a matrix of a pair. */
typedef struct statistics_item {
    const dump_matrix *from;
    const szg_matrix *matrix;
    const char *name;
    szg_statistics_options options;
    szg_statistics found;
    char problem[512]; /* "": none */
} statistics_item;

typedef struct statistics_job {
    const szg_statistics_options *options;
    szgi_dump_mask mask;
    char *sinks; /* "0+1+5"; NULL: none */
    szg_table *table;
    int64_t *bad; /* NULL: a matrix that cannot be computed ends the call */
} statistics_job;

/* What was not asked for is the file's. */
static szg_status choose_softmax(szg_context *context, const statistics_job *job,
                                 statistics_item *item) {
    const dump_file *file = item->from->file;
    item->options.causal = job->mask == SZGI_MASK_CAUSAL;
    if (job->mask == SZGI_MASK_FILE && file->mask)
        SZG_TRY(szgi_dump_mask_said(context, item->from, &item->options.causal));
    if (item->options.soft_cap > 0 || !file->logit_cap)
        return SZG_OK;
    return szgi_dump_cap_said(context, file, &item->options.soft_cap);
}

static szg_status compute(szg_context *context, const statistics_job *job, statistics_item *item) {
    if (item->from->problem[0])
        return szgi_fail(context, SZG_EDATA, "%s", item->from->problem);
    SZG_TRY(choose_softmax(context, job, item));
    szg_status status =
        szgi_statistics_compute(context, item->matrix, &item->options, &item->found);
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_logits_fail_at(context, status, &item->from->pair.labels);
}

static szg_status compute_or_keep(szg_context *context, const statistics_job *job,
                                  statistics_item *item) {
    szg_status status = compute(context, job, item);
    if (!job->bad || (status != SZG_EDATA && status != SZG_EDOMAIN))
        return status;
    szgi_print(item->problem, sizeof item->problem, "%s", szg_context_message(context));
    return SZG_OK;
}

typedef struct statistics_blocks {
    const statistics_job *job;
    statistics_item *items;
} statistics_blocks;

static szg_status compute_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    const statistics_blocks *blocks = data;
    return compute_or_keep(context, blocks->job, &blocks->items[block]);
}

/* Small matrices are one a thread, large ones one after the other: the same bits either way. */
static szg_status compute_all(szg_context *context, const statistics_job *job, int64_t count,
                              statistics_item *items) {
    bool large = false;
    for (int64_t i = 0; i < count; i++)
        large = large || items[i].matrix->rows > LARGE;
    if (!large)
        return szgi_pool_run(context, count, compute_block, &(statistics_blocks){job, items});
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(compute_or_keep(context, job, &items[i]));
    return SZG_OK;
}

/* The matrices of a pair that are there; of one that could not be read its place alone. */
static int64_t list_items(const statistics_job *job, const dump_matrix *from,
                          statistics_item *items) {
    const szg_matrix *matrices[] = {&from->pair.content, &from->pair.coupled};
    static const char *const names[] = {"content", "logits"};
    int64_t count = 0;
    for (int i = 0; i < 2; i++) {
        bool unread = i == 1 && from->problem[0];
        if (matrices[i]->kind == SZG_MATRIX_NONE && !unread)
            continue;
        statistics_item *item = &items[count++];
        *item =
            (statistics_item){from, matrices[i], unread ? NULL : names[i], *job->options, {0}, ""};
        item->options.scale = from->scale[i];
        item->options.sink_logit = isnan(from->sink_logit) ? NULL : &from->sink_logit;
    }
    return count;
}

/* ---- Rows ---- */

static void put_numbers(szgi_row *row, const szg_statistics *s) {
    szgi_row_real(row, LARGEST, s->largest);
    szgi_row_integer(row, LARGEST_QUERY, s->largest_query);
    szgi_row_integer(row, LARGEST_KEY, s->largest_key);
    szgi_row_real(row, SMALLEST, s->smallest);
    szgi_row_real(row, LOGIT_ERROR, s->error);
    szgi_row_real(row, ENTROPY_MEAN, s->entropy_mean);
    szgi_row_number(row, ENTROPY_NORMALISED, s->entropy_normalised);
    szgi_row_number(row, ENTROPY_MIN, s->entropy_min);
    szgi_row_place(row, ENTROPY_MIN_QUERY, s->entropy_min_query);
    szgi_row_number(row, ENTROPY_MAX, s->entropy_max);
    szgi_row_place(row, ENTROPY_MAX_QUERY, s->entropy_max_query);
    szgi_row_number(row, FIRST_SHARE, s->first_share);
    szgi_row_number(row, SINK_SHARE, s->sink_share);
    szgi_row_number(row, LEARNED_SHARE, s->learned_share);
    szgi_row_number(row, Q_NORM_MAX, s->q_norm_max);
    szgi_row_number(row, Q_NORM_RMS, s->q_norm_rms);
    szgi_row_number(row, K_NORM_MAX, s->k_norm_max);
    szgi_row_number(row, K_NORM_RMS, s->k_norm_rms);
    szgi_row_text(row, PRECISION, s->single ? "single" : "double");
    szgi_row_number(row, WEIGHT_ERROR, s->weight_error);
}

static szg_status add_row(szg_context *context, const statistics_job *job,
                          const statistics_item *item) {
    szgi_row row = szgi_row_add(context, job->table);
    szgi_logits_identify(&row, &item->from->pair.labels);
    szgi_row_text(&row, MATRIX, item->name);
    szgi_row_integer(&row, N, item->matrix->rows);
    if (item->matrix != &item->from->pair.content) /* which does not rotate */
        szgi_row_text(&row, PAIRING, item->from->pair.labels.pairing);
    szgi_row_text(&row, MASK, item->options.causal ? "causal" : "none");
    szgi_row_number(&row, SOFT_CAP, item->options.soft_cap > 0 ? item->options.soft_cap : NAN);
    szgi_row_text(&row, SINKS, job->sinks);
    szgi_row_number(&row, SINK_LOGIT, item->from->sink_logit);
    if (item->problem[0]) {
        ++*job->bad;
        szgi_row_note(&row, SZGI_NOT_COMPUTED "%s", item->problem);
        return row.status;
    }
    put_numbers(&row, &item->found);
    if (isnan(item->found.q_norm_max))
        szgi_row_note(&row, "no norms of q and k: the file has the logits themselves");
    return row.status;
}

static szg_status take(szg_context *context, void *user, int64_t count,
                       const dump_matrix *matrices) {
    const statistics_job *job = user;
    statistics_item *items;
    int64_t there = 0;
    SZG_TRY(szgi_memory_alloc(context, 2 * count, &items));
    for (int64_t i = 0; i < count; i++)
        there += list_items(job, &matrices[i], items + there);
    szg_status status = compute_all(context, job, there, items);
    for (int64_t i = 0; i < there && status == SZG_OK; i++)
        status = add_row(context, job, &items[i]);
    szgi_memory_free(items);
    return status;
}

/* The declared sinks as a cell. */
static szg_status open_sinks(szg_context *context, const szg_statistics_options *options,
                             char **out) {
    enum { LONGEST = 21 };
    if (options->sinks < 1 || !options->sink)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, options->sinks * LONGEST, out));
    char *at = *out;
    for (int64_t i = 0; i < options->sinks; i++)
        at += snprintf(at, LONGEST, "%s%" PRId64, i ? "+" : "", options->sink[i]);
    return SZG_OK;
}

szg_status szgi_dump_statistics(szg_context *context, const szgi_dump *dump,
                                const szgi_dump_options *options, szgi_dump_mask mask,
                                const szg_statistics_options *statistics, szg_table *table,
                                int64_t *bad) {
    szg_statistics_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_statistics_options, statistics, &own));
    statistics_job job = {.options = &own, .mask = mask, .table = table, .bad = bad};
    if (bad)
        *bad = 0;
    SZG_TRY(open_sinks(context, &own, &job.sinks));
    szg_status status = szgi_dump_each(context, dump, options, DUMP_FACTORS, take, &job);
    szgi_memory_free(job.sinks);
    return status;
}
