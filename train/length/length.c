/* Accuracy on sequences of other lengths than those of training. The weights are those of the
 * checkpoint; what changes is the number of positions, and, if asked for, the rotation. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "encoding/encoding.h"
#include "train/config/config_private.h"
#include "train/data/longer.h"
#include "train/run/run_private.h"

#include "length.h"

/* ---- Scalings ---- */

static const char *const names[SZGI_SCALINGS] = {"none",    "linear", "ntk",
                                                 "dynamic", "yarn",   "llama3"};
static const char choices[] = "linear|ntk|dynamic|yarn|llama3";

const char *szgi_scaling_name(szgi_scaling scaling) {
    return names[scaling];
}

szg_status szgi_scaling_parse(szg_context *context, const char *name, szgi_scaling *out) {
    for (int i = SZGI_SCALING_NONE + 1; i < SZGI_SCALINGS; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (szgi_scaling)i;
            return SZG_OK;
        }
    return szgi_fail(context, SZG_EINVAL, "'%.80s' is no scaling of a rotation: %s %s", name,
                     SZGI_DID_YOU_CHOOSE(name, choices, "one of"), choices);
}

static bool can_be_scaled(const szg_train_config *config) {
    static const char *const own[] = {"scaling", "theta", "bands"};
    const char *spec = config->model.encoding;
    const szgi_encoding_traits *traits = szgi_encoding_traits_of(spec);
    bool free = traits && traits->attaches & SZGI_ATTACH_ROTARY;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free = free && !szgi_config_spec_gives(spec, own[i]);
    return free;
}

unsigned szgi_length_scalings(const szg_train_config *config, const szgi_length_options *options,
                              int64_t words) {
    bool longer = words > config->data.longest;
    return 1u << SZGI_SCALING_NONE | (longer && can_be_scaled(config) ? options->scalings : 0);
}

/* The keys that a scaling takes: the context before is that of training. */
static void write_keys(szgi_scaling scaling, const szg_train_config *config, int64_t words,
                       char out[256]) {
    char factor[SZGI_REAL_TEXT], before[64] = "", now[64] = "";
    szgi_real_text((double)words / (double)config->data.longest, factor);
    if (scaling == SZGI_SCALING_DYNAMIC || scaling == SZGI_SCALING_YARN ||
        scaling == SZGI_SCALING_LLAMA3)
        snprintf(before, sizeof before, ",original=%" PRId64, config->data.longest);
    if (scaling == SZGI_SCALING_DYNAMIC)
        snprintf(now, sizeof now, ",length=%" PRId64, words);
    snprintf(out, 256, "scaling=%s,factor=%s%s%s", names[scaling], factor, before, now);
}

szg_status szgi_length_config(szg_context *context, const szg_train_config *config,
                              szgi_scaling scaling, int64_t words, szg_train_config *out) {
    const char *spec = config->model.encoding;
    char keys[256];
    *out = *config;
    if (words > out->model.max_length)
        out->model.max_length = words;
    if (scaling == SZGI_SCALING_NONE)
        return SZG_OK;
    write_keys(scaling, config, words, keys);
    if (snprintf(out->model.encoding, SZG_CONFIG_TEXT, "%s%c%s", spec,
                 strchr(spec, ':') ? ',' : ':', keys) < SZG_CONFIG_TEXT)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "model.encoding=%.80s: with %s it has more than %d bytes",
                     spec, keys, SZG_CONFIG_TEXT - 1);
}

/* ---- Which models ---- */

/* Whether the encoding's own array has rows for sequences of training that would not do for
 * `words`.
 */
static szg_status ends_before(szg_context *context, const szg_train_config *config, int64_t words,
                              bool *out) {
    szg_encoding *encoding;
    szgi_encoding_table before, then;
    SZG_TRY(szgi_config_parse_encoding(context, &config->model, config->data.seed, &encoding));
    szg_status status = szgi_encoding_table_of(context, encoding, config->data.longest, &before);
    *out = status == SZG_OK && before.array != SZGI_ARRAY_NONE &&
           (szgi_encoding_table_of(context, encoding, words, &then) != SZG_OK ||
            then.rows != before.rows);
    szg_encoding_close(&encoding);
    return status;
}

/* A table with a row a position or a lag has no trained row for what training did not see. */
static szg_status check_tables(szg_context *context, const szg_train_config *config,
                               int64_t words) {
    bool ends;
    if (words <= config->data.longest)
        return SZG_OK;
    if (config->model.extra_position_table)
        return szgi_fail(context, SZG_EINVAL,
                         "model.extra_position_table=true: the table is trained up to "
                         "data.longest=%" PRId64 ", and sequences of %" PRId64
                         " words go beyond: set it to false, or test no such length",
                         config->data.longest, words);
    SZG_TRY(ends_before(context, config, words, &ends));
    if (!ends)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "model.encoding=%.80s is a table of positions or lags, of training up to "
                     "data.longest=%" PRId64 ", and sequences of %" PRId64
                     " words go beyond: take an encoding that is a rule, such as rope, alibi, t5 "
                     "or absolute, or test no such length",
                     config->model.encoding, config->data.longest, words);
}

/* Not every size of a head can be scaled in every way: better said before training than after it.
 */
static szg_status check_scaling(szg_context *context, const szg_train_config *config,
                                szgi_scaling scaling, int64_t words) {
    szg_train_config *scaled;
    szg_encoding *encoding = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &scaled));
    szg_status status = szgi_length_config(context, config, scaling, words, scaled);
    if (status == SZG_OK)
        status = szgi_config_parse_encoding(context, &scaled->model, config->data.seed, &encoding);
    szg_encoding_close(&encoding);
    szgi_memory_free(scaled);
    return status == SZG_OK ? SZG_OK
                            : szgi_fail_prefix(context, status, "scaling %s at %" PRId64 " words",
                                               names[scaling], words);
}

static szg_status check_words(szg_context *context, const szg_train_config *config,
                              const szgi_length_options *options, int64_t words) {
    unsigned scalings = szgi_length_scalings(config, options, words);
    SZG_TRY(szgi_longer_check(context, config, words));
    SZG_TRY(check_tables(context, config, words));
    for (int scaling = SZGI_SCALING_NONE + 1; scaling < SZGI_SCALINGS; scaling++)
        if (scalings >> scaling & 1)
            SZG_TRY(check_scaling(context, config, (szgi_scaling)scaling, words));
    return SZG_OK;
}

szg_status szgi_length_check(szg_context *context, const szg_train_config *config,
                             const szgi_length_options *options) {
    for (int64_t i = 0; i < options->count; i++)
        SZG_TRY(check_words(context, config, options, options->words[i]));
    return SZG_OK;
}

/* ---- The table ---- */

#define LENGTH(X)                                                                                  \
    RUN_COLUMNS(X, LENGTH)                                                                         \
    X(LENGTH_WORDS, "words", SZG_INTEGER, "words", "length", "words of every test sequence")       \
    X(LENGTH_FACTOR, "factor", SZG_REAL, "1", "times the training length",                         \
      "words by those of the longest training sequence")                                           \
    X(LENGTH_SCALING, "scaling", SZG_TEXT, "", "rescaling of the rotation",                        \
      "how the rotation is rescaled for the test: none, linear, ntk, dynamic, yarn, llama3")       \
    X(LENGTH_EXAMPLES, "examples", SZG_INTEGER, "1", "examples", "test sequences")                 \
    X(LENGTH_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy", "share of right predictions")        \
    X(LENGTH_LOW, "accuracy_low", SZG_REAL, "1", "lower end of the accuracy",                      \
      "lower end of its 95% interval (Wilson)")                                                    \
    X(LENGTH_HIGH, "accuracy_high", SZG_REAL, "1", "upper end of the accuracy",                    \
      "upper end of its 95% interval (Wilson)")                                                    \
    X(LENGTH_LOSS, "loss", SZG_REAL, "nats", "cross-entropy", "mean cross-entropy, nats")          \
    X(LENGTH_CEILING, "label_ceiling", SZG_REAL, "1", "label ceiling",                             \
      "best accuracy that any classifier can expect on these sequences")                           \
    X(LENGTH_NOTE, "note", SZG_TEXT, "", "note", "")
#define LENGTH_SCREEN                                                                              \
    SZGI_SHOW(1, run)                                                                              \
    SZGI_SHOW(2, encoding)                                                                         \
    SZGI_SHOW(2, seed)                                                                             \
    SZGI_SHOW(1, words)                                                                            \
    SZGI_SHOW(1, scaling)                                                                          \
    SZGI_SHOW(1, accuracy)                                                                         \
    SZGI_SHOW_RANGE(2, interval, accuracy_low, accuracy_high)                                      \
    SZGI_SHOW(3, loss)                                                                             \
    SZGI_SHOW(3, label_ceiling)                                                                    \
    SZGI_SHOW(4, examples)                                                                         \
    SZGI_SHOW(4, factor)                                                                           \
    SZGI_SHOW(4, experiment)                                                                       \
    SZGI_SHOW(5, task)
SZGI_SCHEMA(length_columns, "length", LENGTH, LENGTH_SCREEN);

szg_status szgi_length_table_open(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &length_columns_schema, out);
}

/* Wilson's interval of a share (1927): where the share lies two standard deviations of its own from
 * what was counted. */
static void put_accuracy(szgi_row *row, const szgi_tally *tally) {
    static const double z = 1.959963984540054; /* of the normal distribution, 97.5% */
    double n = (double)tally->counted, share = (double)tally->correct / n;
    double middle = share + z * z / (2 * n), scale = 1 + z * z / n;
    double half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n));
    szgi_row_number(row, LENGTH_ACCURACY, share);
    szgi_row_number(row, LENGTH_LOW, (middle - half) / scale);
    szgi_row_number(row, LENGTH_HIGH, (middle + half) / scale);
    szgi_row_number(row, LENGTH_LOSS, tally->loss / n);
}

/* ---- The test ---- */

/* What all rows of a model have in common. */
typedef struct length_test {
    szg_table *table;
    const szg_run_key *key;
    const char *checkpoint;
    const szg_train_config *config;
} length_test;

static szg_status judge(szg_context *context, const length_test *test, szgi_scaling scaling,
                        int64_t words, const szg_examples *examples, szgi_tally *out) {
    szg_train_config *config;
    szg_model *model = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &config));
    szg_status status = szgi_length_config(context, test->config, scaling, words, config);
    if (status == SZG_OK)
        status = szg_model_load(context, test->checkpoint, config, &model);
    if (status == SZG_OK)
        status = szgi_train_evaluate(context, model, examples, out, NULL);
    szg_model_close(context, &model);
    szgi_memory_free(config);
    return status;
}

static szg_status add_row(szg_context *context, const length_test *test, szgi_scaling scaling,
                          int64_t words, const szg_examples *examples, double ceiling) {
    szgi_tally tally;
    SZG_TRY(judge(context, test, scaling, words, examples, &tally));
    szgi_row row = szgi_row_add(context, test->table);
    szgi_run_key_put(&row, test->key);
    szgi_row_integer(&row, LENGTH_WORDS, words);
    szgi_row_real(&row, LENGTH_FACTOR, (double)words / (double)test->config->data.longest);
    szgi_row_text(&row, LENGTH_SCALING, names[scaling]);
    szgi_row_integer(&row, LENGTH_EXAMPLES, tally.counted);
    put_accuracy(&row, &tally);
    szgi_row_real(&row, LENGTH_CEILING, ceiling);
    return row.status;
}

static szg_status test_length(szg_context *context, const length_test *test,
                              const szgi_length_options *options, int64_t words) {
    unsigned scalings = szgi_length_scalings(test->config, options, words);
    szg_examples examples;
    double ceiling;
    SZG_TRY(
        szgi_longer_examples(context, test->config, words, options->examples, &examples, &ceiling));
    szg_status status = SZG_OK;
    for (int scaling = 0; scaling < SZGI_SCALINGS && status == SZG_OK; scaling++)
        if (scalings >> scaling & 1)
            status = add_row(context, test, (szgi_scaling)scaling, words, &examples, ceiling);
    szg_examples_close(&examples);
    return status;
}

szg_status szgi_length_rows(szg_context *context, szg_table *table, const szg_run_key *key,
                            const char *checkpoint, const szg_train_config *config,
                            const szgi_length_options *options) {
    const length_test test = {table, key, checkpoint, config};
    SZG_TRY(szgi_length_check(context, config, options));
    for (int64_t i = 0; i < options->count; i++)
        SZG_TRY(test_length(context, &test, options, options->words[i]));
    return SZG_OK;
}
