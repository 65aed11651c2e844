/* What an adapter adds to each head: singular values of scale B A of the head's rows, and what two
 * random factors of these shapes would have. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/row.h"
#include "base/sort.h"
#include "linalg/linalg.h"
#include "adapter.h"
#include "analyse.h"
#include "baseline.h"
#include "diff.h"

#define CHANCE(X, NAME, name, words)                                                               \
    X(NAME##_Q025, name "_q025", SZG_REAL, "1", words ", 2.5% quantile",                           \
      "2.5% quantile of `" name "` of random factors of these shapes")                             \
    X(NAME##_MEDIAN, name "_median", SZG_REAL, "1", words ", median", "the median of these")       \
    X(NAME##_Q975, name "_q975", SZG_REAL, "1", words ", 97.5% quantile",                          \
      "the 97.5% quantile of these")

#define ADAPTER(X)                                                                                 \
    X(SOURCE, "source", SZG_TEXT, "", "encoding or file", "base and adapter")                      \
    X(BASE, "base", SZG_TEXT, "", "compared with", "the checkpoint A that it is compared with")    \
    X(STACK, "stack", SZG_TEXT, "", "stack",                                                       \
      "encoder, decoder or cross; empty where a model has one stack")                              \
    X(STEP, "step", SZG_INTEGER, "1", "training step", "as in diff")                               \
    X(LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                         \
    X(HEAD, "head", SZG_INTEGER, "1", "head", "query head, or key head, from 0")                   \
    X(SIDE, "side", SZG_TEXT, "", "side", "query or key: whose rows of the tensor these are")      \
    X(TENSOR, "tensor", SZG_TEXT, "", "tensor", "the tensor of the base")                          \
    X(RANK, "rank", SZG_INTEGER, "1", "rank", "of the adapter at this tensor, r")                  \
    X(SCALE, "scale", SZG_REAL, "1", "scale", "s = alpha / r, of rsLoRA alpha / sqrt(r)")          \
    X(RELATIVE, "relative", SZG_REAL, "1", "relative size",                                        \
      "||s B A||_F / ||W||_F of the head's rows, W the base's; empty if W = 0")                    \
    X(SIGMA_MAX, "sigma_max", SZG_REAL, "1", "largest singular value",                             \
      "spectral norm of s B A of the head's rows")                                                 \
    X(FROBENIUS, "frobenius", SZG_REAL, "1", "Frobenius norm", "its Frobenius norm")               \
    X(STABLE_RANK, "stable_rank", SZG_REAL, "1", "stable rank",                                    \
      "(Frobenius norm / spectral norm)^2 of it")                                                  \
    CHANCE(X, STABLE_RANK, "stable_rank", "stable rank")                                           \
    X(ENTROPY, "entropy", SZG_REAL, "nats", "spectral entropy",                                    \
      "-sum p log p with p = sigma / sum sigma, nats")                                             \
    CHANCE(X, ENTROPY, "entropy", "spectral entropy")                                              \
    X(DRAWS, "draws", SZG_INTEGER, "1", "draws", "random factors behind the quantiles")            \
    X(NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
SZGI_SCHEMA(diff_adapter_columns, "diff_adapter", ADAPTER, SZGI_NOT_SHOWN);

szg_status szgi_diff_adapter_open(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &diff_adapter_columns_schema, out);
}

enum { DRAW_COUNT = 200, QUANTITIES = 2, QUANTILES = 3 };

/* Streams of the factors that chance draws: beside those of circuits. */
enum { RANDOM_DOWN = 0x10, RANDOM_UP = 0x11 };

/* Shapes of one head's factors, B [e, rank] and A [rank, d], with what chance gives for them. */
typedef struct chance {
    int64_t e, rank, d;
    double quantile[QUANTITIES][QUANTILES];
} chance;

/* The arrays of one table. */
typedef struct adapter_work {
    const szgi_heads_pair *pair;
    szg_table *out;
    chance drawn; /* the shapes before; rank 0: none */
    double *down, *lower, *up, *core, *value, *base;
} adapter_work;

/* ---- One product ---- */

typedef struct spectrum_facts {
    double largest, frobenius, stable_rank, entropy;
} spectrum_facts;

static spectrum_facts facts_of(const double *value, int64_t count) {
    spectrum_facts facts = {.largest = value[0], .stable_rank = NAN, .entropy = NAN};
    double squares = 0, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double share = value[0] > 0 ? value[i] / value[0] : 0;
        squares += share * share;
        sum += share;
    }
    facts.frobenius = value[0] * sqrt(squares);
    if (!(value[0] > 0))
        return facts;
    facts.stable_rank = squares;
    facts.entropy = 0;
    for (int64_t i = 0; i < count; i++) {
        double p = value[i] / value[0] / sum;
        facts.entropy -= p > 0 ? p * log(p) : 0;
    }
    return facts;
}

/* Of scale up lower, up [e, rank] and lower [rank, rank], which has the singular values and left
 * vectors of A. */
static szg_status product_facts(szg_context *context, const adapter_work *work, int64_t e,
                                int64_t rank, double scale, const double *lower,
                                spectrum_facts *out) {
    SZG_TRY(szgi_gemm(context, 'n', 'n', e, rank, rank, scale, work->up, rank, lower, rank, 0,
                      work->core, rank));
    SZG_TRY(szgi_singular(context, e, rank, work->core, rank, work->value, NULL, 1, NULL, 1));
    *out = facts_of(work->value, e < rank ? e : rank);
    return SZG_OK;
}

/* ---- Chance ---- */

static szg_status draw(szg_context *context, adapter_work *work, const chance *shapes,
                       double *value) {
    uint64_t seed = work->pair->seed;
    for (int64_t i = 0; i < DRAW_COUNT; i++) {
        spectrum_facts facts;
        SZG_TRY(szgi_context_check_cancel(context));
        if (shapes->rank <= shapes->d) {
            szgi_baseline_triangle(seed, i, RANDOM_DOWN, shapes->rank, shapes->d, work->lower);
        } else {
            szgi_baseline_gaussian(seed, i, RANDOM_DOWN, shapes->rank, shapes->d, work->down);
            SZG_TRY(
                szgi_wide_l(context, shapes->rank, shapes->d, work->down, shapes->d, work->lower));
        }
        szgi_baseline_gaussian(seed, i, RANDOM_UP, shapes->e, shapes->rank, work->up);
        SZG_TRY(product_facts(context, work, shapes->e, shapes->rank, 1, work->lower, &facts));
        value[i] = facts.stable_rank;
        value[DRAW_COUNT + i] = facts.entropy;
    }
    return SZG_OK;
}

/* Of the shapes, unless they are those of the head before. Overwrites the work's arrays. */
static szg_status find_chance(szg_context *context, adapter_work *work, const chance *shapes) {
    static const double at[QUANTILES] = {0.025, 0.5, 0.975};
    double *value;
    if (work->drawn.rank == shapes->rank && work->drawn.e == shapes->e &&
        work->drawn.d == shapes->d)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, QUANTITIES * DRAW_COUNT, &value));
    szg_status status = draw(context, work, shapes, value);
    work->drawn = *shapes;
    for (int q = 0; q < QUANTITIES && status == SZG_OK; q++) {
        szgi_sort_reals(DRAW_COUNT, value + q * DRAW_COUNT);
        for (int i = 0; i < QUANTILES; i++)
            work->drawn.quantile[q][i] =
                szgi_baseline_quantile(DRAW_COUNT, value + q * DRAW_COUNT, at[i]);
    }
    if (status != SZG_OK)
        work->drawn.rank = 0;
    szgi_memory_free(value);
    return status;
}

/* ---- Rows ---- */

/* One head of one side. */
typedef struct adapter_head {
    int64_t layer, head, first, e;
    bool query;
    const szgi_tensor *tensor; /* of the base, unchanged, and with the adapter */
    const szgi_low_rank *change;
} adapter_head;

static szg_status base_norm(szg_context *context, const adapter_work *work,
                            const adapter_head *head, int64_t d, double *out) {
    long double squares = 0;
    SZG_TRY(
        head->change->turned
            ? szgi_tensor_read_part(context, head->tensor, 0, d, head->first, head->e, work->base)
            : szgi_tensor_read_part(context, head->tensor, head->first, head->e, 0, d, work->base));
    for (int64_t i = 0; i < head->e * d; i++)
        squares += (long double)work->base[i] * work->base[i];
    *out = (double)sqrtl(squares);
    return SZG_OK;
}

static void put_quantity(szgi_row *row, int column, double value, const double *quantile) {
    szgi_row_number(row, column, value);
    for (int i = 0; i < QUANTILES; i++)
        szgi_row_number(row, column + 1 + i, quantile[i]);
}

static szg_status put_head(szg_context *context, adapter_work *work, const adapter_head *head,
                           const spectrum_facts *facts, double norm) {
    const szgi_heads_pair *pair = work->pair;
    const char *stack = szg_checkpoint_describe(pair->base).stack;
    szgi_row row = szgi_row_add(context, work->out);
    szgi_row_text(&row, SOURCE, pair->other->source);
    szgi_row_text(&row, BASE, pair->base->source);
    szgi_row_text(&row, STACK, stack && *stack ? stack : NULL);
    szgi_row_place(&row, STEP, pair->step);
    szgi_row_integer(&row, LAYER, head->layer);
    szgi_row_integer(&row, HEAD, head->head);
    szgi_row_text(&row, SIDE, head->query ? "query" : "key");
    szgi_row_text(&row, TENSOR, head->tensor->name);
    szgi_row_integer(&row, RANK, work->drawn.rank);
    szgi_row_number(&row, SCALE, head->change->scale);
    szgi_row_number(&row, RELATIVE, norm > 0 ? facts->frobenius / norm : NAN);
    szgi_row_number(&row, SIGMA_MAX, facts->largest);
    szgi_row_number(&row, FROBENIUS, facts->frobenius);
    put_quantity(&row, STABLE_RANK, facts->stable_rank, work->drawn.quantile[0]);
    put_quantity(&row, ENTROPY, facts->entropy, work->drawn.quantile[1]);
    szgi_row_integer(&row, DRAWS, DRAW_COUNT);
    if (head->change->magnitude)
        szgi_row_note(&row, "DoRA's lengths are not in s B A");
    return row.status;
}

static szg_status open_work(szg_context *context, adapter_work *work, const chance *shapes) {
    const int64_t e = shapes->e, rank = shapes->rank, d = shapes->d;
    const struct {
        double **array;
        int64_t rows, columns;
    } arrays[] = {{&work->down, rank, d}, {&work->lower, rank, rank},  {&work->up, e, rank},
                  {&work->core, e, rank}, {&work->value, 1, e + rank}, {&work->base, e, d}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        int64_t size;
        szgi_memory_free(*arrays[i].array);
        *arrays[i].array = NULL;
        SZG_TRY(szgi_memory_product(context, arrays[i].rows, arrays[i].columns, &size));
        SZG_TRY(szgi_memory_alloc(context, size, arrays[i].array));
    }
    return SZG_OK;
}

static void close_work(adapter_work *work) {
    double *const arrays[] = {work->down, work->lower, work->up,
                              work->core, work->value, work->base};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        szgi_memory_free(arrays[i]);
}

/* What all heads share: singular values and left vectors of A. Chance overwrites it. */
static szg_status read_lower(szg_context *context, adapter_work *work, const szgi_low_rank *change,
                             const chance *shapes) {
    SZG_TRY(szgi_tensor_read(context, change->down, 0, shapes->rank * shapes->d, work->down));
    return szgi_wide_l(context, shapes->rank, shapes->d, work->down, shapes->d, work->lower);
}

static szg_status add_head(szg_context *context, adapter_work *work, const adapter_head *head,
                           const chance *shapes) {
    const szgi_low_rank *change = head->change;
    int64_t rank = shapes->rank, d = shapes->d;
    spectrum_facts facts;
    double norm;
    SZG_TRY(szgi_tensor_read(context, change->up, head->first * rank, head->e * rank, work->up));
    SZG_TRY(product_facts(context, work, head->e, rank,
                          change->scale < 0 ? -change->scale : change->scale, work->lower, &facts));
    SZG_TRY(base_norm(context, work, head, d, &norm));
    return put_head(context, work, head, &facts, norm);
}

/* All heads of one side of a layer whose weight the adapter changes. */
static szg_status add_side(szg_context *context, adapter_work *work, int64_t layer, bool query) {
    const szg_checkpoint *base = work->pair->base, *other = work->pair->other;
    const layer_weights *a = &base->layer[layer], *b = &other->layer[layer];
    const szgi_tensor *changed = query ? b->q.weight : b->k.weight;
    const szgi_low_rank *change = changed ? szgi_tensor_low_rank(changed) : NULL;
    const head_places *at = query ? &base->query_at : &base->key_at;
    if (!change || work->pair->problem[layer] || a->absent)
        return SZG_OK;
    chance shapes = {.e = !query && base->latent.nope ? base->latent.nope : base->head_size,
                     .rank = change->down->shape[0],
                     .d = change->down->shape[1]};
    SZG_TRY(open_work(context, work, &shapes));
    SZG_TRY(find_chance(context, work, &shapes));
    SZG_TRY(read_lower(context, work, change, &shapes));
    for (int64_t i = 0; i < (query ? base->heads : base->key_heads); i++) {
        const adapter_head head = {.layer = layer,
                                   .head = i,
                                   .first = szgi_layout_row(at, i),
                                   .e = shapes.e,
                                   .query = query,
                                   .tensor = query ? a->q.weight : a->k.weight,
                                   .change = change};
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(add_head(context, work, &head, &shapes));
    }
    return SZG_OK;
}

szg_status szgi_diff_adapter_add(szg_context *context, const szgi_heads_pair *pair,
                                 szg_table *out) {
    adapter_work work = {.pair = pair, .out = out};
    szg_status status = SZG_OK;
    for (int64_t i = 0; pair->other->adapter && i < pair->base->layers && status == SZG_OK; i++) {
        status = add_side(context, &work, i, true);
        if (status == SZG_OK && pair->base->layer[i].key_layer == i)
            status = add_side(context, &work, i, false);
    }
    close_work(&work);
    return status;
}
