#include "profile_rows.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/row.h"
#include "fold.h"
#include "lag_bank.h"

#define PROFILE_KEY(X, TABLE)                                                                      \
    X(TABLE##_SOURCE, "source", SZG_TEXT, "", "encoding or file",                                  \
      "the checkpoint as it was named")                                                            \
    X(TABLE##_LAYER, "layer", SZG_INTEGER, "1", "layer",                                           \
      "layer, counted from 0; empty: all layers")                                                  \
    X(TABLE##_HEAD, "head", SZG_INTEGER, "1", "head",                                              \
      "the query head that adds it; empty: queries mix the profiles of their layer")               \
    X(TABLE##_PROFILE, "profile", SZG_INTEGER, "1", "profile",                                     \
      "profile of the layer's bank, counted from 0; empty: the head has one alone")
#define PROFILES(X)                                                                                \
    PROFILE_KEY(X, PROFILES)                                                                       \
    X(PROFILES_FIRST, "lag_min", SZG_INTEGER, "positions", "first lag", "the first of its lags")   \
    X(PROFILES_LAST, "lag_max", SZG_INTEGER, "positions", "last lag", "the last of its lags")      \
    X(PROFILES_LEAST, "value_min", SZG_REAL, "1", "least value", "its least value")                \
    X(PROFILES_GREATEST, "value_max", SZG_REAL, "1", "greatest value", "its greatest value")       \
    X(PROFILES_TAIL, "tail", SZG_REAL, "1", "tail",                                                \
      "the value of all further lags; empty: it is not known beyond lag_max")                      \
    X(PROFILES_BEFORE, "tail_before", SZG_REAL, "1", "tail of later keys",                         \
      "the same of negative lags; empty: queries do not see later keys, or it is not known")       \
    X(PROFILES_MIN_LO, "symbol_min_lo", SZG_REAL, "1", "least modulus of the symbol",              \
      "the least |symbol| of the profile less its tails is not below this", SZGI_END_LOWER)        \
    X(PROFILES_MIN_HI, "symbol_min_hi", SZG_REAL, "1", "least modulus of the symbol",              \
      "the least |symbol| is not above this", SZGI_END_UPPER)                                      \
    X(PROFILES_MAX_LO, "symbol_max_lo", SZG_REAL, "1", "largest modulus of the symbol",            \
      "the largest |symbol| is not below this", SZGI_END_LOWER)                                    \
    X(PROFILES_MAX_HI, "symbol_max_hi", SZG_REAL, "1", "largest modulus of the symbol",            \
      "the largest |symbol|, which is the norm of the Toeplitz matrices of all sizes, is not "     \
      "above this",                                                                                \
      SZGI_END_UPPER)                                                                              \
    X(PROFILES_THETA_MIN, "theta_min", SZG_REAL, "radians", "angle of the least modulus",          \
      "angle where |symbol| is least")                                                             \
    X(PROFILES_THETA_MAX, "theta_max", SZG_REAL, "radians", "angle of the largest modulus",        \
      "angle where |symbol| is largest")                                                           \
    X(PROFILES_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define PROFILES_SCREEN                                                                            \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW_EMPTY(1, layer, "all")                                                               \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, profile)                                                                          \
    SZGI_SHOW(3, lag_max)                                                                          \
    SZGI_SHOW(2, value_min)                                                                        \
    SZGI_SHOW(2, value_max)                                                                        \
    SZGI_SHOW(3, tail)                                                                             \
    SZGI_SHOW_RANGE(2, symbol_min, symbol_min_lo, symbol_min_hi)                                   \
    SZGI_SHOW_RANGE(1, symbol_max, symbol_max_lo, symbol_max_hi)
SZGI_SCHEMA(profiles_columns, "profiles", PROFILES, PROFILES_SCREEN);

#define VALUES(X)                                                                                  \
    PROFILE_KEY(X, VALUES)                                                                         \
    X(VALUES_LAG, "lag", SZG_INTEGER, "positions", "lag",                                          \
      "place of the query minus place of the key")                                                 \
    X(VALUES_VALUE, "value", SZG_REAL, "1", "profile", "the profile's value at the lag")
SZGI_SCHEMA(values_columns, "profile_values", VALUES, SZGI_NOT_SHOWN);

#define MIXTURES(X)                                                                                \
    X(MIXTURES_SOURCE, "source", SZG_TEXT, "", "encoding or file",                                 \
      "the checkpoint as it was named")                                                            \
    X(MIXTURES_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                 \
    X(MIXTURES_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")               \
    X(MIXTURES_PROFILES, "profiles", SZG_INTEGER, "1", "profiles", "profiles that it mixes")       \
    X(MIXTURES_BIAS, "bias_max", SZG_REAL, "1", "largest bias",                                    \
      "no query adds a bias of larger modulus; some query adds one as large", SZGI_END_UPPER)      \
    X(MIXTURES_LAG, "bias_lag", SZG_INTEGER, "positions", "lag of the largest bias",               \
      "the lag at which that bias is possible")                                                    \
    X(MIXTURES_LO, "symbol_lo", SZG_REAL, "1", "largest modulus of a query's symbol",              \
      "some query mixes a profile whose largest |symbol| is at least this", SZGI_END_LOWER)        \
    X(MIXTURES_HI, "symbol_hi", SZG_REAL, "1", "largest modulus of a query's symbol",              \
      "no query mixes a profile whose |symbol| is larger", SZGI_END_UPPER)                         \
    X(MIXTURES_THETA, "theta", SZG_REAL, "radians", "angle of the largest modulus",                \
      "an angle where |symbol| reaches symbol_lo")                                                 \
    X(MIXTURES_NORM, "norm", SZG_REAL, "1", "bound of the spectral norm",                          \
      "no matrix of biases, of any queries and size, has a larger spectral norm", SZGI_END_UPPER)  \
    X(MIXTURES_SUM, "norm_sum", SZG_REAL, "1", "bound from single profiles",                       \
      "the sum over the profiles of largest weight times norm: never below `norm`",                \
      SZGI_END_UPPER)                                                                              \
    X(MIXTURES_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define MIXTURES_SCREEN                                                                            \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, bias_max)                                                                         \
    SZGI_SHOW(2, bias_lag)                                                                         \
    SZGI_SHOW_RANGE(1, symbol_max, symbol_lo, symbol_hi)                                           \
    SZGI_SHOW(1, norm)                                                                             \
    SZGI_SHOW(2, norm_sum)
SZGI_SCHEMA(mixtures_columns, "mixtures", MIXTURES, MIXTURES_SCREEN);

szg_status szgi_profile_rows_open(szg_context *context, const szg_checkpoint *checkpoint,
                                  const szg_checkpoint_options *options,
                                  szg_checkpoint_tables *tables) {
    const model_family *family = checkpoint->family;
    if (!family || options->raw || !checkpoint->added || !(family->added_by_head || family->bank))
        return SZG_OK;
    SZG_TRY(szgi_schema_open(context, &profiles_columns_schema, &tables->profiles));
    if (options->kernel > 0)
        SZG_TRY(szgi_schema_open(context, &values_columns_schema, &tables->profile_values));
    return family->bank ? szgi_schema_open(context, &mixtures_columns_schema, &tables->mixtures)
                        : SZG_OK;
}

/* ---- Rows ---- */

/* Whose profile it is: negative numbers are empty cells. */
typedef struct profile_key {
    const char *source;
    int64_t layer, head, profile;
} profile_key;

/* Values at the lags first .. first + count - 1, and beyond them; NaN: not known. */
typedef struct profile_values {
    int64_t first, count;
    const double *value;
    double tail, before;
} profile_values;

static void put_key(szgi_row *row, const profile_key *key) {
    szgi_row_text(row, PROFILES_SOURCE, key->source);
    szgi_row_place(row, PROFILES_LAYER, key->layer);
    szgi_row_place(row, PROFILES_HEAD, key->head);
    szgi_row_place(row, PROFILES_PROFILE, key->profile);
}

static szg_status add_profile(szg_context *context, szg_table *table, const profile_key *key,
                              const profile_values *profile, const szg_range *symbol) {
    szgi_row row = szgi_row_add(context, table);
    double least = INFINITY, greatest = -INFINITY;
    for (int64_t i = 0; i < profile->count; i++) {
        least = fmin(least, profile->value[i]);
        greatest = fmax(greatest, profile->value[i]);
    }
    put_key(&row, key);
    szgi_row_integer(&row, PROFILES_FIRST, profile->first);
    szgi_row_integer(&row, PROFILES_LAST, profile->first + profile->count - 1);
    szgi_row_real(&row, PROFILES_LEAST, least);
    szgi_row_real(&row, PROFILES_GREATEST, greatest);
    szgi_row_number(&row, PROFILES_TAIL, profile->tail);
    szgi_row_number(&row, PROFILES_BEFORE, profile->before);
    szgi_row_real(&row, PROFILES_MIN_LO, symbol->min.lo);
    szgi_row_real(&row, PROFILES_MIN_HI, symbol->min.hi);
    szgi_row_real(&row, PROFILES_MAX_LO, symbol->max.lo);
    szgi_row_real(&row, PROFILES_MAX_HI, symbol->max.hi);
    szgi_row_real(&row, PROFILES_THETA_MIN, symbol->theta_min);
    szgi_row_real(&row, PROFILES_THETA_MAX, symbol->theta_max);
    return row.status;
}

static szg_status add_values(szg_context *context, szg_table *table, const profile_key *key,
                             const profile_values *profile, const lag_list *listed) {
    for (int64_t i = 0; table && i < listed->count; i++) {
        szgi_row row = szgi_row_add(context, table);
        put_key(&row, key);
        szgi_row_integer(&row, VALUES_LAG, listed->lag[i]);
        szgi_row_real(&row, VALUES_VALUE, profile->value[listed->lag[i] - profile->first]);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status add_note(szg_context *context, const profile_key *key, const char *problem,
                           szg_table *table) {
    szgi_row row = szgi_row_add(context, table);
    put_key(&row, key);
    szgi_row_note(&row, "skipped: %s", problem);
    return row.status;
}

/* What costs nothing but the bank: heads do not read it. */
static szg_status add_problem(szg_context *context, const profile_key *key, const char *problem,
                              szg_checkpoint_tables *tables) {
    const row_key place = {key->source, key->layer, -1, "profiles"};
    szgi_say(context, SZG_WARNING, "skipped: layer %" PRId64 ": %s", key->layer, problem);
    tables->bad++;
    SZG_TRY(szgi_rows_note(context, tables, &place, "skipped: %s", problem));
    return add_note(context, key, problem, tables->profiles);
}

/* ---- Tables by head ---- */

/* The profile of a head, less its tails: `less` gets it. */
static profile_values head_profile(const szg_checkpoint *checkpoint, const lag_bias *bias,
                                   int64_t set, int64_t head, double *less) {
    int64_t count = bias->lags - bias->first;
    const double *value = bias->value + (set * bias->heads + head) * count;
    bool whole = bias->lags > checkpoint->lag_distance;
    profile_values out = {bias->first, count, value, NAN, NAN};
    if (whole)
        out.tail = value[count - 1];
    if (whole && bias->first < 0)
        out.before = value[0];
    for (int64_t i = 0; i < count; i++)
        less[i] = value[i] - (!whole ? 0 : bias->first + i < 0 ? out.before : out.tail);
    return out;
}

static szg_status add_tables(szg_context *context, const szg_checkpoint *checkpoint,
                             const head_part *part, const lag_bias *bias,
                             szg_checkpoint_tables *tables) {
    int64_t count = bias->lags - bias->first;
    double *less;
    SZG_TRY(szgi_memory_alloc(context, count, &less));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < bias->sets * bias->heads && status == SZG_OK; i++) {
        int64_t set = i / bias->heads, head = i % bias->heads;
        const profile_key key = {checkpoint->source, bias->sets > 1 ? set : -1, head, -1};
        szg_range symbol;
        if (!part->layer[set] || !part->head[head])
            continue;
        const profile_values profile = head_profile(checkpoint, bias, set, head, less);
        status = szgi_profile_symbol(context, count, less, &symbol);
        if (status == SZG_OK)
            status = add_profile(context, tables->profiles, &key, &profile, &symbol);
        if (status == SZG_OK)
            status = add_values(context, tables->profile_values, &key, &profile, &bias->listed);
    }
    szgi_memory_free(less);
    return status;
}

/* ---- Banks ---- */

typedef struct bank_result {
    szg_status status; /* SZG_EDATA: `problem` says why */
    char *problem;
    lag_bank bank;
    lag_mixture *mixture; /* [heads] */
} bank_result;

typedef struct bank_job {
    const szg_checkpoint *checkpoint;
    const head_part *part;
    int64_t first;
    bank_result *result; /* of layers first, first + 1, .. */
} bank_job;

/* Layers whose banks are in memory at once. */
enum { LAYERS_AT_ONCE = 16 };

static bool is_wanted(const bank_job *job, int64_t layer) {
    return job->part->layer[layer] && !job->checkpoint->layer[layer].absent;
}

static szg_status mix_heads(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                            bank_result *result) {
    int64_t d = checkpoint->model_size, size = result->bank.profiles * d;
    double *rows, error = 0;
    if (!szgi_fold_has_input(checkpoint, layer))
        return szgi_fail(context, SZG_EDATA,
                         "%s: layer %" PRId64
                         ": the file has no gains of the norm that queries read: nothing bounds "
                         "what they mix",
                         checkpoint->source, layer);
    SZG_TRY(szgi_memory_alloc(context, checkpoint->heads, &result->mixture));
    SZG_TRY(szgi_memory_alloc(context, size, &rows));
    szg_status status = SZG_OK;
    for (int64_t head = 0; head < checkpoint->heads && status == SZG_OK; head++) {
        status = szgi_fold_vector(context, checkpoint->layer[layer].mixing, "a weight of a mixture",
                                  head * size, size, rows);
        if (status == SZG_OK)
            status = szgi_fold_input(context, checkpoint, layer, true, result->bank.profiles, rows,
                                     &error);
        if (status == SZG_OK)
            status = szgi_lag_mixture_find(context, &result->bank, d, rows, error,
                                           &result->mixture[head]);
    }
    szgi_memory_free(rows);
    return status;
}

static szg_status run_layer(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    bank_job *job = data;
    int64_t layer = job->first + block;
    bank_result *result = &job->result[block];
    if (!is_wanted(job, layer))
        return SZG_OK;
    szg_status status = szgi_lag_bank_open(context, job->checkpoint, layer, &result->bank);
    if (status == SZG_OK)
        status = mix_heads(context, job->checkpoint, layer, result);
    if (status != SZG_EDATA)
        return status;
    result->status = status;
    return szgi_memory_copy_text(context, szg_context_message(context), &result->problem);
}

static szg_status add_mixture(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                              int64_t head, const bank_result *result, szg_table *table) {
    const lag_mixture *mixture = &result->mixture[head];
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, MIXTURES_SOURCE, checkpoint->source);
    szgi_row_integer(&row, MIXTURES_LAYER, layer);
    szgi_row_integer(&row, MIXTURES_HEAD, head);
    szgi_row_integer(&row, MIXTURES_PROFILES, result->bank.profiles);
    szgi_row_real(&row, MIXTURES_BIAS, mixture->bias);
    szgi_row_integer(&row, MIXTURES_LAG, mixture->bias_lag);
    szgi_row_real(&row, MIXTURES_LO, mixture->symbol.lo);
    szgi_row_real(&row, MIXTURES_HI, mixture->symbol.hi);
    szgi_row_real(&row, MIXTURES_THETA, mixture->theta);
    szgi_row_real(&row, MIXTURES_NORM, mixture->norm);
    szgi_row_real(&row, MIXTURES_SUM, mixture->sum);
    if (checkpoint->temperature > 0)
        szgi_row_note(&row,
                      "before position %g: from there on biases grow by the factor 1 + %g ln((i + "
                      "1) / %g)",
                      checkpoint->temperature_length, checkpoint->temperature,
                      checkpoint->temperature_length);
    return row.status;
}

static szg_status add_bank(szg_context *context, const szg_checkpoint *checkpoint,
                           const head_part *part, int64_t layer, int64_t dense,
                           const bank_result *result, szg_checkpoint_tables *tables) {
    const lag_bank *bank = &result->bank;
    profile_key key = {checkpoint->source, layer, -1, 0};
    lag_list listed;
    SZG_TRY(szgi_lag_list_open(context, 0, bank->lags, dense, &listed));
    szg_status status = SZG_OK;
    for (; key.profile < bank->profiles && status == SZG_OK && szgi_part_owns(part, layer);
         key.profile++) {
        const profile_values profile = {0, bank->lags, bank->value + key.profile * bank->lags, 0,
                                        NAN};
        status = add_profile(context, tables->profiles, &key, &profile, &bank->symbol[key.profile]);
        if (status == SZG_OK)
            status = add_values(context, tables->profile_values, &key, &profile, &listed);
    }
    szgi_lag_list_close(&listed);
    for (int64_t head = 0; head < checkpoint->heads && status == SZG_OK; head++)
        if (result->status == SZG_OK && part->head[head])
            status = add_mixture(context, checkpoint, layer, head, result, tables->mixtures);
    return status;
}

static szg_status add_layer(szg_context *context, const bank_job *job, int64_t layer, int64_t dense,
                            szg_checkpoint_tables *tables) {
    const bank_result *result = &job->result[layer - job->first];
    const profile_key key = {job->checkpoint->source, layer, -1, -1};
    if (!is_wanted(job, layer))
        return SZG_OK;
    if (result->bank.memory)
        SZG_TRY(add_bank(context, job->checkpoint, job->part, layer, dense, result, tables));
    return result->status != SZG_OK && szgi_part_owns(job->part, layer)
               ? add_problem(context, &key, result->problem, tables)
               : SZG_OK;
}

static void release(bank_result *result) {
    szgi_lag_bank_close(&result->bank);
    szgi_memory_free(result->mixture);
    szgi_memory_free(result->problem);
    *result = (bank_result){.status = SZG_OK};
}

static szg_status add_banks(szg_context *context, const szg_checkpoint *checkpoint,
                            const head_part *part, int64_t dense, szg_checkpoint_tables *tables) {
    bank_result result[LAYERS_AT_ONCE] = {{.status = SZG_OK}};
    bank_job job = {checkpoint, part, 0, result};
    szg_status status = SZG_OK;
    for (; job.first < checkpoint->layers && status == SZG_OK; job.first += LAYERS_AT_ONCE) {
        int64_t left = checkpoint->layers - job.first;
        int64_t count = left < LAYERS_AT_ONCE ? left : LAYERS_AT_ONCE;
        status = szgi_pool_run(context, count, run_layer, &job);
        for (int64_t i = 0; i < count && status == SZG_OK; i++)
            status = add_layer(context, &job, job.first + i, dense, tables);
        for (int64_t i = 0; i < count; i++)
            release(&result[i]);
    }
    return status;
}

szg_status szgi_profile_rows_add(szg_context *context, const szg_checkpoint *checkpoint,
                                 const szg_checkpoint_options *options, const head_part *part,
                                 const lag_bias *bias, szg_checkpoint_tables *tables) {
    const profile_key key = {checkpoint->source, -1, -1, -1};
    if (!tables->profiles)
        return SZG_OK;
    if (checkpoint->family->bank)
        return add_banks(context, checkpoint, part, options->kernel, tables);
    if (bias->value)
        return add_tables(context, checkpoint, part, bias, tables);
    return bias->why && szgi_part_owns(part, 0)
               ? add_note(context, &key, bias->why, tables->profiles)
               : SZG_OK;
}
