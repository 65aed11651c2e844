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

/* Before and behind the numbers of a head. */
#define HEADS(X)                                                                                   \
    X(HEADS_SOURCE, "source", SZG_TEXT, "the checkpoint as it was named")                          \
    X(HEADS_LAYER, "layer", SZG_INTEGER, "layer, counted from 0")                                  \
    X(HEADS_HEAD, "head", SZG_INTEGER, "query head, counted from 0")                               \
    X(HEADS_KEY_HEAD, "key_head", SZG_INTEGER, "key head that it is paired with, counted from 0")  \
    X(HEADS_MATRIX, "matrix", SZG_TEXT, "qk: scaled W_Q^T W_K; position: scaled P W_Q^T W_K P^T")  \
    X(HEADS_N, "n", SZG_INTEGER, "order")
SZGI_SCHEMA(heads_columns, HEADS);

#define HEADS_END(X)                                                                               \
    X(HEADS_END_SOLVER, "solver", SZG_TEXT, SZGI_SOLVER_DOC)                                       \
    X(HEADS_END_FOLDED, "folded", SZG_TEXT,                                                        \
      "norms whose gains the matrix has: input, qk, latent, with plus signs between; or none")     \
    X(HEADS_END_SCALE_FREE, "scale_free", SZG_INTEGER,                                             \
      "1: queries and keys, or latents, are normalised, so that the matrix's scale is arbitrary")
SZGI_SCHEMA(heads_end_columns, HEADS_END);

/* Behind toeplitzness and the symbol, where there are positions. */
static const szg_column bound_of_column = {"bound_of", SZG_TEXT, SZGI_BOUND_OF_DOC};

#define WEIGHTS(X)                                                                                 \
    X(WEIGHTS_SOURCE, "source", SZG_TEXT, "the checkpoint as it was named")                        \
    X(WEIGHTS_MATRIX, "matrix", SZG_TEXT, "the tensor's name")                                     \
    X(WEIGHTS_ROWS, "rows", SZG_INTEGER, "of the tensor")                                          \
    X(WEIGHTS_COLUMNS, "columns", SZG_INTEGER, "of the tensor")
SZGI_SCHEMA(weights_columns, WEIGHTS);

#define WEIGHTS_END(X) X(WEIGHTS_END_SOLVER, "solver", SZG_TEXT, SZGI_SOLVER_DOC)
SZGI_SCHEMA(weights_end_columns, WEIGHTS_END);

#define NOTES(X)                                                                                   \
    X(NOTES_SOURCE, "source", SZG_TEXT, "the checkpoint as it was named")                          \
    X(NOTES_LAYER, "layer", SZG_INTEGER, "layer, counted from 0; empty: no layer of its own")      \
    X(NOTES_HEAD, "head", SZG_INTEGER, "query head, counted from 0; empty: all of them")           \
    X(NOTES_MATRIX, "matrix", SZG_TEXT, "as in `summary`; empty: all of them")                     \
    X(NOTES_NOTE, "note", SZG_TEXT, "what a reader must know")
SZGI_SCHEMA(notes_columns, NOTES);

/* ---- Numbers ---- */

enum {
    HEAD_NUMBERS = 11,
    POSITION_NUMBERS = SZGI_NUMBER_SYMBOL_MAX_HI - SZGI_NUMBER_TOEPLITZNESS + 1,
    WEIGHT_NUMBERS = 7,
    POSITIONS_AT = (int)heads_columns_count + HEAD_NUMBERS - 1, /* before the residual */
    MOST = POSITIONS_AT + POSITION_NUMBERS + 2 + (int)heads_end_columns_count
};

/* `sigma`: the singular value at the rank that the shapes allow. The residual is last. */
static void numbers_of_head(const szg_summary *summary, double sigma, szgi_summary_number *out) {
    szgi_summary_number all[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(summary, NULL, NULL, all);
    const szgi_summary_number numbers[HEAD_NUMBERS] = {
        all[SZGI_NUMBER_RANK],
        all[SZGI_NUMBER_LAMBDA_MIN],
        all[SZGI_NUMBER_LAMBDA_MAX],
        all[SZGI_NUMBER_WIDTH],
        all[SZGI_NUMBER_RADIUS],
        all[SZGI_NUMBER_SIGMA_MAX],
        {.column = "sigma_e",
         .doc = "singular value number min(e, n), e the head size: those behind it are exactly 0",
         .value = sigma},
        {.column = "condition_e",
         .doc = "sigma_max / sigma_e",
         .value = summary->sigma_max / sigma},
        all[SZGI_NUMBER_STABLE_RANK],
        all[SZGI_NUMBER_EFFECTIVE_RANK],
        all[SZGI_NUMBER_RESIDUAL],
    };
    memcpy(out, numbers, sizeof numbers);
}

static void numbers_of_weight(const szg_summary *summary, szgi_summary_number *out) {
    szgi_summary_number all[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(summary, NULL, NULL, all);
    const szgi_summary_number numbers[WEIGHT_NUMBERS] = {
        all[SZGI_NUMBER_RANK],      all[SZGI_NUMBER_SIGMA_MAX],   all[SZGI_NUMBER_SIGMA_MIN],
        all[SZGI_NUMBER_CONDITION], all[SZGI_NUMBER_STABLE_RANK], all[SZGI_NUMBER_EFFECTIVE_RANK],
        all[SZGI_NUMBER_RESIDUAL],
    };
    memcpy(out, numbers, sizeof numbers);
}

/* The numbers of positions, as they follow each other in the house's list. */
static const szgi_summary_number *numbers_of_positions(const szg_tau *toeplitzness,
                                                       const szg_range *symbol,
                                                       szgi_summary_number *all) {
    const szg_summary none = {0};
    szgi_summary_numbers(&none, toeplitzness, symbol, all);
    return all + SZGI_NUMBER_TOEPLITZNESS;
}

static void put_numbers(szgi_row *row, int64_t at, int64_t count,
                        const szgi_summary_number *numbers) {
    for (int64_t i = 0; i < count; i++)
        szgi_summary_put(row, at + i, &numbers[i]);
}

/* ---- Opening ---- */

typedef struct column_list {
    int64_t count;
    szg_column column[MOST];
    szgi_end end[MOST];
} column_list;

static void list_columns(column_list *list, int64_t count, const szg_column *columns) {
    memcpy(list->column + list->count, columns, (size_t)count * sizeof *columns);
    list->count += count;
}

static void list_numbers(column_list *list, int64_t count, const szgi_summary_number *numbers) {
    for (int64_t i = 0; i < count; i++) {
        list->end[list->count] = numbers[i].end;
        list->column[list->count++] = (szg_column){
            numbers[i].column, numbers[i].integer ? SZG_INTEGER : SZG_REAL, numbers[i].doc};
    }
}

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

static void list_of_heads(const szg_checkpoint *checkpoint, column_list *list) {
    const szg_summary none = {0};
    szgi_summary_number own[HEAD_NUMBERS], all[SZGI_SUMMARY_NUMBERS];
    numbers_of_head(&none, NAN, own);
    list_columns(list, heads_columns_count, heads_columns);
    list_numbers(list, HEAD_NUMBERS - 1, own);
    if (adds_positions(checkpoint)) {
        list_numbers(list, POSITION_NUMBERS, numbers_of_positions(NULL, NULL, all));
        list_columns(list, 1, &bound_of_column);
    }
    list_numbers(list, 1, own + HEAD_NUMBERS - 1);
    list_columns(list, heads_end_columns_count, heads_end_columns);
}

static void list_of_weights(column_list *list) {
    const szg_summary none = {0};
    szgi_summary_number own[WEIGHT_NUMBERS];
    numbers_of_weight(&none, own);
    list_columns(list, weights_columns_count, weights_columns);
    list_numbers(list, WEIGHT_NUMBERS, own);
    list_columns(list, weights_end_columns_count, weights_end_columns);
}

szg_status szgi_rows_open_summary(szg_context *context, const szg_checkpoint *checkpoint,
                                  szg_checkpoint_tables *tables) {
    column_list list = {.count = 0};
    if (checkpoint->family)
        list_of_heads(checkpoint, &list);
    else
        list_of_weights(&list);
    SZG_TRY(szg_table_open(context, "summary", list.column, list.count, &tables->summary));
    for (int64_t i = 0; i < list.count; i++)
        szgi_table_set_end(tables->summary, i, list.end[i]);
    return szg_table_open(context, "notes", notes_columns, notes_columns_count, &tables->notes);
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
    szgi_summary_number numbers[HEAD_NUMBERS];
    const szg_spectrum *singular = facts->singular;
    SZG_TRY(szg_summary_of(context, facts->eigenvalues, singular, &summary));
    summary.rank = numerical_rank(singular, singular->n);
    numbers_of_head(&summary, value_at_rank(singular, checkpoint->head_size), numbers);
    int64_t end = szg_table_columns(tables->summary) - heads_end_columns_count;
    szgi_row row = label_head(context, checkpoint, tables, key);
    szgi_row_integer(&row, HEADS_N, summary.n);
    put_numbers(&row, heads_columns_count, HEAD_NUMBERS - 1, numbers);
    put_numbers(&row, end - 1, 1, numbers + HEAD_NUMBERS - 1);
    szgi_row_text(&row, end + HEADS_END_SOLVER, szg_method_solver(summary.method));
    szgi_row_text(&row, end + HEADS_END_FOLDED, facts->folded);
    szgi_row_integer(&row, end + HEADS_END_SCALE_FREE, facts->scale_free);
    SZG_TRY(row.status);
    return note_numbers(context, tables, key, &summary, facts->eigenvalues->count + singular->count,
                        facts->lost);
}

szg_status szgi_rows_toeplitz(szg_context *context, szg_checkpoint_tables *tables,
                              const row_key *key, const szg_tau *toeplitzness,
                              const szg_range *range) {
    szgi_summary_number all[SZGI_SUMMARY_NUMBERS];
    szgi_row row = szgi_row_latest(context, tables->summary);
    put_numbers(&row, POSITIONS_AT, POSITION_NUMBERS,
                numbers_of_positions(toeplitzness, range, all));
    if (range->method)
        szgi_row_text(&row, POSITIONS_AT + POSITION_NUMBERS,
                      szgi_bound_of_name(SZGI_BOUND_OF_TOEPLITZ_PART));
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
    szgi_summary_number numbers[WEIGHT_NUMBERS];
    const row_key key = {source, -1, -1, tensor->name};
    numbers_of_weight(summary, numbers);
    szgi_row row = label_weight(context, tables, &key);
    szgi_row_integer(&row, WEIGHTS_ROWS, tensor->shape[0]);
    szgi_row_integer(&row, WEIGHTS_COLUMNS, tensor->shape[1]);
    put_numbers(&row, weights_columns_count, WEIGHT_NUMBERS, numbers);
    szgi_row_text(&row, (int)weights_columns_count + WEIGHT_NUMBERS + WEIGHTS_END_SOLVER,
                  szg_method_solver(summary->method));
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
