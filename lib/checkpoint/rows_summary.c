/* The tables `summary` and `notes` of an analysis. Columns that would hold the same in every row of
 * every checkpoint are left out; those of positions stand where the architecture adds some. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/row.h"
#include "base/table.h"
#include "summary/summary.h"
#include "toeplitz/symbol.h"
#include "rows.h"

/* From HEADS_TOEPLITZNESS to HEADS_BOUND_OF: of positions, where the architecture adds some. */
#define HEADS(X)                                                                                   \
    X(HEADS_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named")  \
    X(HEADS_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                    \
    X(HEADS_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")                  \
    X(HEADS_KEY_HEAD, "key_head", SZG_INTEGER, "1", "key head",                                    \
      "key head that it is paired with, counted from 0")                                           \
    X(HEADS_MATRIX, "matrix", SZG_TEXT, "", "matrix",                                              \
      "qk: scaled W_Q^T W_K; position: scaled P W_Q^T W_K P^T")                                    \
    X(HEADS_N, "n", SZG_INTEGER, "1", "order n", "order")                                          \
    SZGI_RANK(X, HEADS, , , )                                                                      \
    SZGI_LAMBDA_MIN(X, HEADS, , , )                                                                \
    SZGI_LAMBDA_MAX(X, HEADS, , , )                                                                \
    SZGI_WIDTH(X, HEADS, , , )                                                                     \
    SZGI_RADIUS(X, HEADS, , , )                                                                    \
    SZGI_SIGMA_MAX(X, HEADS, , , )                                                                 \
    X(HEADS_SIGMA_E, "sigma_e", SZG_REAL, "1", "least singular value by rank",                     \
      "singular value number min(e, n), e the head size: those behind it are exactly 0")           \
    X(HEADS_CONDITION_E, "condition_e", SZG_REAL, "1", "condition by rank", "sigma_max / sigma_e") \
    SZGI_STABLE_RANK(X, HEADS, , , )                                                               \
    SZGI_EFFECTIVE_RANK(X, HEADS, , , )                                                            \
    SZGI_TOEPLITZ_NUMBERS(X, HEADS, , , )                                                          \
    X(HEADS_BOUND_OF, "bound_of", SZG_TEXT, "", "what the symbol bounds", SZGI_BOUND_OF_DOC)       \
    SZGI_RESIDUAL(X, HEADS, , , )                                                                  \
    X(HEADS_SOLVER, "solver", SZG_TEXT, "", "solver", SZGI_SOLVER_DOC)                             \
    X(HEADS_FOLDED, "folded", SZG_TEXT, "", "folded norms",                                        \
      "norms whose gains the matrix has: input, qk, latent, with plus signs between; or none")     \
    X(HEADS_SCALE_FREE, "scale_free", SZG_INTEGER, "1", "scale is arbitrary",                      \
      "1: queries and keys, or latents, are normalised, so that the matrix's scale is arbitrary")
SZGI_SCHEMA(heads_columns, "summary", HEADS, SZGI_SUMMARY_SCREEN);

#define WEIGHTS(X)                                                                                 \
    X(WEIGHTS_SOURCE, "source", SZG_TEXT, "", "encoding or file",                                  \
      "the checkpoint as it was named")                                                            \
    X(WEIGHTS_MATRIX, "matrix", SZG_TEXT, "", "matrix", "the tensor's name")                       \
    X(WEIGHTS_ROWS, "rows", SZG_INTEGER, "1", "rows", "of the tensor")                             \
    X(WEIGHTS_COLUMNS, "columns", SZG_INTEGER, "1", "columns", "of the tensor")                    \
    SZGI_RANK(X, WEIGHTS, , , )                                                                    \
    SZGI_SIGMA_MAX(X, WEIGHTS, , , )                                                               \
    SZGI_SIGMA_MIN(X, WEIGHTS, , , )                                                               \
    SZGI_CONDITION(X, WEIGHTS, , , )                                                               \
    SZGI_STABLE_RANK(X, WEIGHTS, , , )                                                             \
    SZGI_EFFECTIVE_RANK(X, WEIGHTS, , , )                                                          \
    SZGI_RESIDUAL(X, WEIGHTS, , , )                                                                \
    X(WEIGHTS_SOLVER, "solver", SZG_TEXT, "", "solver", SZGI_SOLVER_DOC)
SZGI_SCHEMA(weights_columns, "summary", WEIGHTS, SZGI_SUMMARY_SCREEN);
/* What the program shows of it. */
#define WEIGHTS_SCREEN                                                                             \
    SZGI_SHOW(1, matrix)                                                                           \
    SZGI_SHOW(1, rows)                                                                             \
    SZGI_SHOW(1, columns)                                                                          \
    SZGI_SHOW(1, rank)                                                                             \
    SZGI_SHOW_AS(1, sigma_max, "sigma_max", "σ_max")                                               \
    SZGI_SHOW(1, stable_rank)                                                                      \
    SZGI_SHOW(2, effective_rank)                                                                   \
    SZGI_SHOW(2, condition)                                                                        \
    SZGI_SHOW(3, residual)                                                                         \
    SZGI_SHOW(4, source)
SZGI_SCHEMA_OF(weights, weights_columns, "weights", WEIGHTS_SCREEN);

#define NOTES(X)                                                                                   \
    X(NOTES_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named")  \
    X(NOTES_LAYER, "layer", SZG_INTEGER, "1", "layer",                                             \
      "layer, counted from 0; empty: no layer of its own")                                         \
    X(NOTES_HEAD, "head", SZG_INTEGER, "1", "head",                                                \
      "query head, counted from 0; empty: all of them")                                            \
    X(NOTES_MATRIX, "matrix", SZG_TEXT, "", "matrix", "as in `summary`; empty: all of them")       \
    X(NOTES_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define NOTES_SCREEN                                                                               \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW_EMPTY(1, head, "all")                                                                \
    SZGI_SHOW_EMPTY(1, matrix, "all")                                                              \
    SZGI_SHOW_PROSE(1, note)
SZGI_SCHEMA(notes_columns, "notes", NOTES, NOTES_SCREEN);

/* ---- Numbers ---- */

/* Where the numbers of the house's list are. */
typedef struct placed_number {
    int column, number;
} placed_number;
static const placed_number head_numbers[] = {{HEADS_RANK, SZGI_NUMBER_RANK},
                                             {HEADS_LAMBDA_MIN, SZGI_NUMBER_LAMBDA_MIN},
                                             {HEADS_LAMBDA_MAX, SZGI_NUMBER_LAMBDA_MAX},
                                             {HEADS_WIDTH, SZGI_NUMBER_WIDTH},
                                             {HEADS_RADIUS, SZGI_NUMBER_RADIUS},
                                             {HEADS_SIGMA_MAX, SZGI_NUMBER_SIGMA_MAX},
                                             {HEADS_STABLE_RANK, SZGI_NUMBER_STABLE_RANK},
                                             {HEADS_EFFECTIVE_RANK, SZGI_NUMBER_EFFECTIVE_RANK}};
static const placed_number weight_numbers[] = {{WEIGHTS_RANK, SZGI_NUMBER_RANK},
                                               {WEIGHTS_SIGMA_MAX, SZGI_NUMBER_SIGMA_MAX},
                                               {WEIGHTS_SIGMA_MIN, SZGI_NUMBER_SIGMA_MIN},
                                               {WEIGHTS_CONDITION, SZGI_NUMBER_CONDITION},
                                               {WEIGHTS_STABLE_RANK, SZGI_NUMBER_STABLE_RANK},
                                               {WEIGHTS_EFFECTIVE_RANK, SZGI_NUMBER_EFFECTIVE_RANK},
                                               {WEIGHTS_RESIDUAL, SZGI_NUMBER_RESIDUAL}};
#define PLACED(list) sizeof list / sizeof *list, list

static void put_numbers(szgi_row *row, size_t count, const placed_number *at,
                        const double *numbers) {
    for (size_t i = 0; i < count; i++)
        szgi_summary_put(row, at[i].column, numbers[at[i].number]);
}

/* ---- Opening ---- */

/* Does the architecture add positions to the input, in this stack or in another one of the model?
 * Tables of all its stacks have the same columns. */
static bool adds_positions(const szg_checkpoint *checkpoint) {
    const model_family *one = checkpoint->family;
    bool adds = checkpoint->position_kind != SZG_POSITIONS_NONE;
    for (int64_t i = 0; one && one->stack && !adds; i++) {
        one = szgi_family_find(checkpoint->family->model_type, i);
        adds = one && one->positions != POSITION_NONE && one->positions != POSITION_ROTARY;
    }
    return adds;
}

/* The table of heads without the columns of positions. */
static szg_status open_plain_heads(szg_context *context, szg_table **out) {
    enum { BEFORE = HEADS_TOEPLITZNESS, BEHIND = (int)heads_columns_count - HEADS_RESIDUAL };
    szgi_column columns[BEFORE + BEHIND];
    memcpy(columns, heads_columns, BEFORE * sizeof *columns);
    memcpy(columns + BEFORE, heads_columns + HEADS_RESIDUAL, BEHIND * sizeof *columns);
    return szgi_columns_open(context, "summary", columns, BEFORE + BEHIND, out);
}

szg_status szgi_rows_open_summary(szg_context *context, const szg_checkpoint *checkpoint,
                                  szg_checkpoint_tables *tables) {
    szg_table **summary = &tables->summary;
    if (!checkpoint->family)
        SZG_TRY(szgi_schema_open(context, &weights_columns_schema, summary));
    else if (adds_positions(checkpoint))
        SZG_TRY(szgi_schema_open(context, &heads_columns_schema, summary));
    else
        SZG_TRY(open_plain_heads(context, summary));
    return szgi_schema_open(context, &notes_columns_schema, &tables->notes);
}

/* ---- Notes ---- */

szg_status szgi_rows_note(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                          const char *format, ...) {
    szgi_row row = szgi_row_add(context, tables->notes);
    szgi_row_text(&row, NOTES_SOURCE, key->source);
    szgi_row_place(&row, NOTES_LAYER, key->layer);
    szgi_row_place(&row, NOTES_HEAD, key->head);
    szgi_row_text(&row, NOTES_MATRIX, key->matrix);
    SZG_TRY(row.status);
    va_list arguments;
    va_start(arguments, format);
    szg_status status = szgi_table_note_at(context, tables->notes, NOTES_NOTE, format, arguments);
    va_end(arguments);
    return status;
}

static szg_status note_numbers(szg_context *context, szg_checkpoint_tables *tables,
                               const row_key *key, const szg_summary *summary, int64_t values,
                               int64_t lost) {
    if (summary->sigma_max == 0)
        SZG_TRY(szgi_rows_note(context, tables, key,
                               "the zero matrix: condition, stable and effective rank do not "
                               "exist"));
    return lost > 0 ? szgi_rows_note(context, tables, key,
                                     "%" PRId64 " of %" PRId64
                                     " values lost digits: they are below %.3g, where normal "
                                     "doubles end; multiply the weights by a power of two",
                                     lost, values, DBL_MIN)
                    : SZG_OK;
}

/* ---- Rows ---- */

/* The numerical rank: what rounding of the matrix's entries can be told from zero. */
static int64_t numerical_rank(const szg_spectrum *singular, int64_t side) {
    int64_t rank = 0;
    double least = (double)side * DBL_EPSILON * (singular->count > 0 ? singular->re[0] : 0);
    while (rank < singular->count && singular->re[rank] > least)
        rank++;
    return rank;
}

/* Value number min(e, n); values that are not listed are 0. */
static double value_at_rank(const szg_spectrum *singular, int64_t e) {
    int64_t last = (e < singular->n ? e : singular->n) - 1;
    return last < singular->count ? singular->re[last] : 0;
}

/* A row of a head, or of what no head or layer has. */
static szgi_row label_head(szg_context *context, const szg_checkpoint *checkpoint,
                           szg_checkpoint_tables *tables, const row_key *key) {
    szgi_row row = szgi_row_add(context, tables->summary);
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    szgi_row_text(&row, HEADS_SOURCE, key->source);
    szgi_row_place(&row, HEADS_LAYER, key->layer);
    szgi_row_place(&row, HEADS_HEAD, key->head);
    szgi_row_place(&row, HEADS_KEY_HEAD, key->head < 0 ? -1 : key->head / group);
    szgi_row_text(&row, HEADS_MATRIX, key->matrix);
    return row;
}

szg_status szgi_rows_head(szg_context *context, const szg_checkpoint *checkpoint,
                          szg_checkpoint_tables *tables, const row_key *key,
                          const head_facts *facts) {
    szg_summary summary;
    const szg_spectrum *singular = facts->singular;
    SZG_TRY(szg_summary_of(context, facts->eigenvalues, singular, &summary));
    summary.rank = numerical_rank(singular, singular->n);
    double all[SZGI_SUMMARY_NUMBERS], sigma = value_at_rank(singular, checkpoint->head_size);
    int64_t shift = szg_table_columns(tables->summary) - heads_columns_count;
    szgi_row row = label_head(context, checkpoint, tables, key);
    szgi_row_integer(&row, HEADS_N, summary.n);
    szgi_summary_numbers(&summary, NULL, NULL, all);
    put_numbers(&row, PLACED(head_numbers), all);
    szgi_row_number(&row, HEADS_SIGMA_E, sigma);
    szgi_row_number(&row, HEADS_CONDITION_E, summary.sigma_max / sigma);
    szgi_summary_put(&row, shift + HEADS_RESIDUAL, all[SZGI_NUMBER_RESIDUAL]);
    szgi_row_text(&row, shift + HEADS_SOLVER, szg_method_solver(summary.method));
    szgi_row_text(&row, shift + HEADS_FOLDED, facts->folded);
    szgi_row_integer(&row, shift + HEADS_SCALE_FREE, facts->scale_free);
    SZG_TRY(row.status);
    return note_numbers(context, tables, key, &summary, facts->eigenvalues->count + singular->count,
                        facts->lost);
}

szg_status szgi_rows_toeplitz(szg_context *context, szg_checkpoint_tables *tables,
                              const row_key *key, const szg_tau *toeplitzness,
                              const szg_range *range) {
    const szg_summary none = {0};
    double all[SZGI_SUMMARY_NUMBERS];
    szgi_row row = szgi_row_latest(context, tables->summary);
    szgi_summary_numbers(&none, toeplitzness, range, all);
    for (int i = SZGI_NUMBER_TOEPLITZNESS; i <= SZGI_NUMBER_SYMBOL_MAX_HI; i++)
        szgi_summary_put(&row, HEADS_TOEPLITZNESS + i - SZGI_NUMBER_TOEPLITZNESS, all[i]);
    if (range->method)
        szgi_row_text(&row, HEADS_BOUND_OF, szgi_bound_of_name(SZGI_BOUND_OF_TOEPLITZ_PART));
    SZG_TRY(row.status);
    if (isnan(toeplitzness->value))
        SZG_TRY(szgi_rows_note(context, tables, key, "the zero matrix has no toeplitzness"));
    return range->method ? SZG_OK
                         : szgi_rows_note(context, tables, key,
                                          "no certified range of |a|: the degree of the Toeplitz "
                                          "part's symbol is beyond %d",
                                          SZG_SYMBOL_RANGE_LIMIT);
}

static szgi_row label_weight(szg_context *context, szg_checkpoint_tables *tables,
                             const row_key *key) {
    szgi_row row = szgi_row_add(context, tables->summary);
    szgi_row_text(&row, WEIGHTS_SOURCE, key->source);
    szgi_row_text(&row, WEIGHTS_MATRIX, key->matrix);
    return row;
}

szg_status szgi_rows_weight_numbers(szg_context *context, szg_checkpoint_tables *tables,
                                    const char *source, const szgi_tensor *tensor,
                                    const szg_summary *summary, int64_t values, int64_t lost) {
    double all[SZGI_SUMMARY_NUMBERS];
    const row_key key = {source, -1, -1, tensor->name};
    szgi_summary_numbers(summary, NULL, NULL, all);
    szgi_row row = label_weight(context, tables, &key);
    szgi_row_integer(&row, WEIGHTS_ROWS, tensor->shape[0]);
    szgi_row_integer(&row, WEIGHTS_COLUMNS, tensor->shape[1]);
    put_numbers(&row, PLACED(weight_numbers), all);
    szgi_row_text(&row, WEIGHTS_SOLVER, szg_method_solver(summary->method));
    SZG_TRY(row.status);
    return note_numbers(context, tables, &key, summary, values, lost);
}

szg_status szgi_rows_weight(szg_context *context, szg_checkpoint_tables *tables, const char *source,
                            const szgi_tensor *tensor, const szg_spectrum *singular, int64_t lost) {
    szg_summary summary;
    int64_t rows = tensor->shape[0], columns = tensor->shape[1];
    SZG_TRY(szg_summary_of(context, NULL, singular, &summary));
    summary.rank = numerical_rank(singular, rows > columns ? rows : columns);
    return szgi_rows_weight_numbers(context, tables, source, tensor, &summary, singular->count,
                                    lost);
}

szg_status szgi_rows_problem(szg_context *context, const szg_checkpoint *checkpoint,
                             szg_checkpoint_tables *tables, const row_key *key, bool own,
                             const char *problem) {
    char place[64] = "";
    if (key->layer >= 0 && key->head >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ", head %" PRId64 ": ", key->layer,
                 key->head);
    else if (key->layer >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ": ", key->layer);
    if (tables->bad + tables->unconverged <= SAID_MOST)
        szgi_say(context, SZG_WARNING, "skipped: %s%s", place, problem);
    if (!own)
        return SZG_OK;
    szgi_row row = checkpoint->family ? label_head(context, checkpoint, tables, key)
                                      : label_weight(context, tables, key);
    SZG_TRY(row.status);
    return szgi_rows_note(context, tables, key, "skipped: %s%s", place, problem);
}
