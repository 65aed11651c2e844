#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "summary/summary.h"
#include "toeplitz/symbol.h"
#include "base/row.h"
#include "base/table.h"
#include "toeplitz/toeplitz.h"
#include "layer_rows.h"
#include "positional_rows.h"
#include "profile_rows.h"
#include "properties.h"
#include "rows.h"
#include "rows_top.h"

#define SOURCE(X, TABLE)                                                                           \
    X(TABLE##_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named")
#define HEAD(X, TABLE)                                                                             \
    X(TABLE##_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                  \
    X(TABLE##_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")
#define MATRIX(X, TABLE)                                                                           \
    X(TABLE##_MATRIX, "matrix", SZG_TEXT, "", "matrix",                                            \
      "qk: scaled W_Q^T W_K; position: scaled P W_Q^T W_K P^T; or a tensor's name")
#define NOTE(X, TABLE) X(TABLE##_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")

#define SPECTRA_VALUES(X)                                                                          \
    SOURCE(X, SPECTRA)                                                                             \
    HEAD(X, SPECTRA)                                                                               \
    MATRIX(X, SPECTRA)                                                                             \
    X(SPECTRA_KIND, "kind", SZG_TEXT, "", "kind", "eigenvalue or singular")                        \
    X(SPECTRA_INDEX, "index", SZG_INTEGER, "1", "place in the spectrum",                           \
      "place in the spectrum, counted from 0")                                                     \
    X(SPECTRA_RE, "re", SZG_REAL, "1", "value", "real part")                                       \
    X(SPECTRA_IM, "im", SZG_REAL, "1", "imaginary part", "imaginary part")
#define SPECTRA(X)                                                                                 \
    SPECTRA_VALUES(X)                                                                              \
    NOTE(X, SPECTRA)
#define SPECTRA_SCREEN                                                                             \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, matrix)                                                                           \
    SZGI_SHOW(1, kind)                                                                             \
    SZGI_SHOW(1, index)                                                                            \
    SZGI_SHOW(1, re)                                                                               \
    SZGI_SHOW(1, im)
SZGI_SCHEMA(spectra_columns, "spectra", SPECTRA, SPECTRA_SCREEN);
/* With circuits one more column precedes the note. */
enum { SPECTRA_LAG = SPECTRA_NOTE };
#define SPECTRA_AT_LAGS(X)                                                                         \
    SPECTRA_VALUES(X)                                                                              \
    X(, "lag", SZG_INTEGER, "positions", "lag",                                                    \
      "lag of the rotation in qk@LAG; empty: without rotation")                                    \
    NOTE(X, SPECTRA)
SZGI_SCHEMA_AT(lag_columns, "spectra", SPECTRA_AT_LAGS, SPECTRA_SCREEN);

#define FREQUENCIES(X)                                                                             \
    SOURCE(X, FREQUENCIES)                                                                         \
    HEAD(X, FREQUENCIES)                                                                           \
    X(FREQUENCIES_PAIR, "pair", SZG_INTEGER, "1", "rotary pair", "rotary pair, counted from 0")    \
    X(FREQUENCIES_THETA, "theta", SZG_REAL, "radians a position", "angle",                         \
      "angle per position, radians")                                                               \
    X(FREQUENCIES_ROTATION_RE, "rotation_re", SZG_REAL, "1", "rotation, real part",                \
      "a of the rotation-scaling part [[a, -b], [b, a]]")                                          \
    X(FREQUENCIES_ROTATION_IM, "rotation_im", SZG_REAL, "1", "rotation, imaginary part",           \
      "b of the rotation-scaling part")                                                            \
    X(FREQUENCIES_REFLECTION_RE, "reflection_re", SZG_REAL, "1", "reflection, real part",          \
      "c of the reflection part [[c, d], [d, -c]]")                                                \
    X(FREQUENCIES_REFLECTION_IM, "reflection_im", SZG_REAL, "1", "reflection, imaginary part",     \
      "d of the reflection part")                                                                  \
    X(FREQUENCIES_ENERGY, "energy", SZG_REAL, "1", "energy",                                       \
      "squared Frobenius norm of the 2 x 2 block")                                                 \
    X(FREQUENCIES_MODEL_ENERGY, "model_energy", SZG_REAL, "1", "energy at model size",             \
      "squared Frobenius norm of the pair's model-size matrix at lag 0")                           \
    NOTE(X, FREQUENCIES)
#define FREQUENCIES_SCREEN                                                                         \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, pair)                                                                             \
    SZGI_SHOW_AS(1, theta, "theta", "θ")                                                           \
    SZGI_SHOW(1, energy)                                                                           \
    SZGI_SHOW(2, model_energy)
SZGI_SCHEMA(frequencies_columns, "frequencies", FREQUENCIES, FREQUENCIES_SCREEN);

#define BOUNDS(X)                                                                                  \
    SOURCE(X, BOUNDS)                                                                              \
    HEAD(X, BOUNDS)                                                                                \
    X(BOUNDS_BOUND, "bound", SZG_REAL, "1", "bound of the logits",                                 \
      "no logit of the head has a larger modulus, at these lags", SZGI_END_UPPER)                  \
    X(BOUNDS_KIND, "bound_kind", SZG_TEXT, "", "what bounds the logits",                           \
      "what it follows from: qk-norm, input-norm, latent-norm, clip, soft-cap or none")            \
    X(BOUNDS_LAGS, "lags", SZG_INTEGER, "positions", "lags of the bound",                          \
      "N: `bound` holds at the lags 0 .. N - 1; empty: at any")                                    \
    X(BOUNDS_ALL, "bound_all", SZG_REAL, "1", "bound at any lag",                                  \
      "no logit has a larger modulus, at any lag")                                                 \
    NOTE(X, BOUNDS)
#define BOUNDS_SCREEN                                                                              \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, bound)                                                                            \
    SZGI_SHOW(1, bound_kind)                                                                       \
    SZGI_SHOW(2, lags)
SZGI_SCHEMA(bounds_columns, "bounds", BOUNDS, BOUNDS_SCREEN);

#define RANGE_LABELS(X, TABLE)                                                                     \
    HEAD(X, TABLE)                                                                                 \
    MATRIX(X, TABLE)
#define SAMPLES_LABELS(X, TABLE)                                                                   \
    SOURCE(X, TABLE)                                                                               \
    RANGE_LABELS(X, TABLE)
#define RANGE(X) SZGI_RANGE(X, RANGE, SOURCE, RANGE_LABELS)
SZGI_SCHEMA(range_columns, "range", RANGE, SZGI_RANGE_SCREEN);
#define SAMPLES(X) SZGI_SAMPLES(X, SAMPLES, SAMPLES_LABELS)
SZGI_SCHEMA(samples_columns, "samples", SAMPLES, SZGI_NOT_SHOWN);

#define TENSORS(X)                                                                                 \
    SOURCE(X, TENSORS)                                                                             \
    X(TENSORS_TENSOR, "tensor", SZG_TEXT, "", "tensor", "its name")                                \
    X(TENSORS_DTYPE, "dtype", SZG_TEXT, "", "element type", "element type in the file")            \
    X(TENSORS_SHAPE, "shape", SZG_TEXT, "", "shape", "sizes")                                      \
    X(TENSORS_FILE, "file", SZG_TEXT, "", "file", "the file it is in; empty: it was not fetched")  \
    X(TENSORS_USED, "used", SZG_TEXT, "", "use", "how the analysis uses it; none: listed only")    \
    NOTE(X, TENSORS)
SZGI_SCHEMA(tensors_columns, "tensors", TENSORS, SZGI_NOT_SHOWN);

#define OPEN(columns, out) SZG_TRY(szgi_schema_open(context, &columns##_schema, out))

szg_status szgi_rows_open_tensors(szg_context *context, szg_checkpoint_tables *tables) {
    OPEN(tensors_columns, &tables->tensors);
    return SZG_OK;
}

szg_status szgi_rows_open_bounds(szg_context *context, szg_checkpoint_tables *tables) {
    OPEN(bounds_columns, &tables->bounds);
    return SZG_OK;
}

szg_status szgi_rows_open(szg_context *context, const szg_checkpoint *checkpoint,
                          const szg_checkpoint_options *options, szg_checkpoint_tables *tables) {
    SZG_TRY(szgi_rows_open_summary(context, checkpoint, tables));
    if (options->top > 0)
        SZG_TRY(szgi_rows_top_open(context, &tables->top));
    else if (options->circuits)
        OPEN(lag_columns, &tables->spectra);
    else
        OPEN(spectra_columns, &tables->spectra);
    SZG_TRY(szgi_rows_open_tensors(context, tables));
    if (checkpoint->position_kind != SZG_POSITIONS_NONE) {
        OPEN(range_columns, &tables->range);
        if (options->samples > 0)
            OPEN(samples_columns, &tables->samples);
    }
    if (checkpoint->rotations > 0)
        OPEN(frequencies_columns, &tables->frequencies);
    if (checkpoint->family && !options->raw)
        SZG_TRY(szgi_rows_open_bounds(context, tables));
    if (checkpoint->family) {
        SZG_TRY(szgi_positional_rows_open(context, options->kernel, tables));
        SZG_TRY(szgi_layer_rows_open(context, tables));
        SZG_TRY(szgi_profile_rows_open(context, checkpoint, options, tables));
    }
    return szgi_properties_report(context, checkpoint, &tables->architecture);
}

/* ---- Rows ---- */

/* Where the columns stand that say what a row is about; matrix -1: there is none. */
typedef struct key_columns {
    int64_t source, layer, matrix;
} key_columns;
#define KEYS(TABLE) ((key_columns){TABLE##_SOURCE, TABLE##_LAYER, TABLE##_MATRIX})

/* A row that says what it is about; `at`: where its columns begin. */
static szgi_row add_row(szg_context *context, szg_table *table, const row_key *key,
                        key_columns at) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, at.source, key->source);
    szgi_row_place(&row, at.layer, key->layer);
    szgi_row_place(&row, at.layer + 1, key->head);
    if (at.matrix >= 0)
        szgi_row_text(&row, at.matrix, key->matrix);
    return row;
}

szg_status szgi_rows_values(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                            const int64_t *lag, const szg_spectrum *spectrum) {
    for (int64_t i = 0; i < spectrum->count; i++) {
        szgi_row row = add_row(context, tables->spectra, key, KEYS(SPECTRA));
        szgi_row_text(&row, SPECTRA_KIND, szg_spectrum_kind_name(spectrum->kind));
        szgi_row_integer(&row, SPECTRA_INDEX, i);
        szgi_row_real(&row, SPECTRA_RE, spectrum->re[i]);
        szgi_row_real(&row, SPECTRA_IM, spectrum->im ? spectrum->im[i] : 0);
        if (lag)
            szgi_row_integer(&row, SPECTRA_LAG, *lag);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

szg_status szgi_rows_spectra(szg_context *context, szg_checkpoint_tables *tables,
                             const row_key *key, const szg_spectrum *eigenvalues,
                             const szg_spectrum *singular) {
    if (eigenvalues)
        SZG_TRY(szgi_rows_values(context, tables, key, NULL, eigenvalues));
    return szgi_rows_values(context, tables, key, NULL, singular);
}

szg_status szgi_rows_bound(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                           const head_bound *bound) {
    const key_columns keys = {BOUNDS_SOURCE, BOUNDS_LAYER, -1};
    szgi_row row = add_row(context, tables->bounds, key, keys);
    szgi_row_number(&row, BOUNDS_BOUND, bound->value);
    szgi_row_text(&row, BOUNDS_KIND, szgi_bound_name(bound->kind));
    if (bound->lags > 0)
        szgi_row_integer(&row, BOUNDS_LAGS, bound->lags);
    szgi_row_number(&row, BOUNDS_ALL, bound->all);
    if (bound->why || bound->assumed)
        szgi_row_note(&row, "%s", bound->why ? bound->why : bound->assumed);
    return row.status;
}

szg_status szgi_rows_symbol(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                            const szg_range *range) {
    if (!range->method)
        return SZG_OK;
    szgi_row row = add_row(context, tables->range, key, KEYS(RANGE));
    szgi_row_real(&row, RANGE_MIN_LO, range->min.lo);
    szgi_row_real(&row, RANGE_MIN_HI, range->min.hi);
    szgi_row_real(&row, RANGE_MAX_LO, range->max.lo);
    szgi_row_real(&row, RANGE_MAX_HI, range->max.hi);
    szgi_row_real(&row, RANGE_THETA_MIN, range->theta_min);
    szgi_row_real(&row, RANGE_THETA_MAX, range->theta_max);
    szgi_row_text(&row, RANGE_METHOD, range->method);
    szgi_row_text(&row, RANGE_BOUND_OF, szgi_bound_of_name(SZGI_BOUND_OF_TOEPLITZ_PART));
    szgi_row_note(&row, "modulus of the symbol of the Toeplitz part: bounds that part's singular "
                        "values from above, not the whole matrix's");
    return row.status;
}

szg_status szgi_rows_samples(szg_context *context, szg_checkpoint_tables *tables,
                             const row_key *key, int64_t count, const szg_c64 *samples) {
    for (int64_t i = 0; i < count; i++) {
        szgi_row row = add_row(context, tables->samples, key, KEYS(SAMPLES));
        szgi_sample_put(&row, SAMPLES_THETA, i, count, samples[i]);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static void put_energy(szgi_row *row, int64_t column, double energy) {
    if (isnan(energy))
        szgi_row_note(row, "%s is outside the range of doubles", frequencies_columns[column].name);
    else
        szgi_row_real(row, column, energy);
}

szg_status szgi_rows_pairs(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                           int64_t count, const szgi_pair_coupling *pairs) {
    const key_columns keys = {FREQUENCIES_SOURCE, FREQUENCIES_LAYER, -1};
    for (int64_t t = 0; t < count; t++) {
        const szgi_pair_coupling *pair = &pairs[t];
        szgi_row row = add_row(context, tables->frequencies, key, keys);
        szgi_row_integer(&row, FREQUENCIES_PAIR, t);
        szgi_row_real(&row, FREQUENCIES_THETA, pair->theta);
        szgi_row_real(&row, FREQUENCIES_ROTATION_RE, pair->rotation.re);
        szgi_row_real(&row, FREQUENCIES_ROTATION_IM, pair->rotation.im);
        szgi_row_real(&row, FREQUENCIES_REFLECTION_RE, pair->reflection.re);
        szgi_row_real(&row, FREQUENCIES_REFLECTION_IM, pair->reflection.im);
        put_energy(&row, FREQUENCIES_ENERGY, pair->energy);
        put_energy(&row, FREQUENCIES_MODEL_ENERGY, pair->model_energy);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

void szgi_rows_unsaid(szg_context *context, int64_t skipped, const char *where) {
    if (skipped > SAID_MOST)
        szgi_say(context, SZG_WARNING,
                 "skipped: %" PRId64 " more, %" PRId64 " in all: each has a row in `%s`",
                 skipped - SAID_MOST, skipped, where);
}

szg_status szgi_rows_tensor(szg_context *context, szg_checkpoint_tables *tables, const char *source,
                            const szgi_tensor *tensor, const char *use, const char *note) {
    char shape[128];
    const szgi_low_rank *change = szgi_tensor_low_rank(tensor);
    szgi_row row = szgi_row_add(context, tables->tensors);
    szgi_row_text(&row, TENSORS_SOURCE, source);
    szgi_row_text(&row, TENSORS_TENSOR, tensor->name);
    szgi_row_text(&row, TENSORS_DTYPE, tensor->dtype_name);
    szgi_row_text(&row, TENSORS_SHAPE, szgi_tensor_shape_text(tensor, shape, sizeof shape));
    if (!tensor->left_out)
        szgi_row_text(&row, TENSORS_FILE, tensor->file);
    szgi_row_text(&row, TENSORS_USED, use);
    if (change)
        szgi_row_note(&row, "an adapter changes it: %s",
                      change->down ? change->down->name : change->up->name);
    if (note)
        szgi_row_note(&row, "%s", note);
    return row.status;
}
