#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "summary/summary.h"
#include "toeplitz/symbol.h"
#include "base/table.h"
#include "toeplitz/toeplitz.h"
#include "rows.h"

#define SOURCE_COLUMN                                                                              \
    { "source", SZG_TEXT, "the checkpoint as it was named" }
#define HEAD_COLUMNS                                                                               \
    {"layer", SZG_INTEGER, "layer, counted from 0"}, {                                             \
        "head", SZG_INTEGER, "query head, counted from 0"                                          \
    }
#define KEY_COLUMNS SOURCE_COLUMN, HEAD_COLUMNS
#define MATRIX_COLUMN                                                                              \
    {                                                                                              \
        "matrix", SZG_TEXT,                                                                        \
            "qk: scaled W_Q^T W_K; position: scaled P W_Q^T W_K P^T; or a tensor's name"           \
    }
#define NOTE_COLUMN                                                                                \
    { "note", SZG_TEXT, "what a reader must know" }

static const szg_column spectra_columns[] = {
    KEY_COLUMNS,
    MATRIX_COLUMN,
    {"kind", SZG_TEXT, "eigenvalue or singular"},
    {"index", SZG_INTEGER, "place in the spectrum, counted from 0"},
    {"re", SZG_REAL, "real part"},
    {"im", SZG_REAL, "imaginary part"},
    NOTE_COLUMN,
};

static const szg_column frequency_columns[] = {
    KEY_COLUMNS,
    {"pair", SZG_INTEGER, "rotary pair, counted from 0"},
    {"theta", SZG_REAL, "angle a position, radians"},
    {"rotation_re", SZG_REAL, "a of the rotation-scaling part [[a, -b], [b, a]]"},
    {"rotation_im", SZG_REAL, "b of the rotation-scaling part"},
    {"reflection_re", SZG_REAL, "c of the reflection part [[c, d], [d, -c]]"},
    {"reflection_im", SZG_REAL, "d of the reflection part"},
    {"energy", SZG_REAL, "squared Frobenius norm of the 2 x 2 block"},
    {"model_energy", SZG_REAL, "squared Frobenius norm of the pair's model-size matrix at lag 0"},
    NOTE_COLUMN,
};

/* The tables of `szego symbol` begin with the same columns in the same order. */
static const szg_column range_columns[] = {
    SOURCE_COLUMN,
    {"min_lo", SZG_REAL, "lower bound of min |a|"},
    {"min_hi", SZG_REAL, "upper bound of min |a|"},
    {"max_lo", SZG_REAL, "lower bound of max |a|"},
    {"max_hi", SZG_REAL, "upper bound of max |a|"},
    {"theta_min", SZG_REAL, "where |a| is least, radians"},
    {"theta_max", SZG_REAL, "where |a| is largest, radians"},
    {"method", SZG_TEXT, "theorems behind the bounds"},
    HEAD_COLUMNS,
    MATRIX_COLUMN,
    NOTE_COLUMN,
};

static const szg_column sample_columns[] = {
    {"theta", SZG_REAL, "radians"},
    {"re", SZG_REAL, "real part of the symbol"},
    {"im", SZG_REAL, "imaginary part of the symbol"},
    SOURCE_COLUMN,
    HEAD_COLUMNS,
    MATRIX_COLUMN,
    NOTE_COLUMN,
};

static const szg_column tensor_columns[] = {
    SOURCE_COLUMN,
    {"tensor", SZG_TEXT, "its name"},
    {"dtype", SZG_TEXT, "element type in the file"},
    {"shape", SZG_TEXT, "sizes"},
    {"file", SZG_TEXT, "the file it is in"},
    {"used", SZG_TEXT, "what the analysis took it for; none: listed only"},
    NOTE_COLUMN,
};

static const szg_column architecture_columns[] = {
    SOURCE_COLUMN,
    {"model_type", SZG_TEXT, "as in the configuration"},
    {"layers", SZG_INTEGER, "attention layers"},
    {"heads", SZG_INTEGER, "query heads a layer"},
    {"key_heads", SZG_INTEGER, "key heads a layer"},
    {"head_size", SZG_INTEGER, "dimensions of a head"},
    {"model_size", SZG_INTEGER, "dimensions of a token"},
    {"positions", SZG_TEXT, "none, learned, sinusoidal or rotary"},
    {"position_rows", SZG_INTEGER, "rows of the position table"},
    {"rotary", SZG_TEXT, "rotations as SPECs"},
    NOTE_COLUMN,
};

#define OPEN(table_name, columns, out)                                                             \
    SZG_TRY(szg_table_open(context, table_name, columns, sizeof columns / sizeof *columns, out))

static szg_status report_rotations(szg_context *context, const szg_checkpoint *checkpoint,
                                   szg_table *table) {
    char *text = NULL;
    szg_status status = SZG_OK;
    for (int i = 0; i < checkpoint->rotations && status == SZG_OK; i++)
        status = szgi_text_append(context, &text, "%s", szg_encoding_spec(checkpoint->rotation[i]));
    if (status == SZG_OK)
        status = szg_table_set_text(context, table, "rotary", text);
    szgi_memory_free(text);
    return status;
}

static szg_status report_architecture(szg_context *context, const szg_checkpoint *checkpoint,
                                      szg_table *table) {
    static const char *const kinds[] = {"none", "learned", "sinusoidal"};
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    const struct {
        const char *column;
        int64_t value;
    } numbers[] = {{"layers", facts.layers},         {"heads", facts.heads},
                   {"key_heads", facts.key_heads},   {"head_size", facts.head_size},
                   {"model_size", facts.model_size}, {"position_rows", facts.position_rows}};
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "source", facts.source));
    SZG_TRY(szg_table_set_text(context, table, "model_type", facts.model_type));
    if (*facts.note)
        SZG_TRY(szg_table_note(context, table, "%s", facts.note));
    if (facts.unknown)
        return szg_table_note(context, table,
                              "%s: singular values of every 2-D weight instead of heads",
                              facts.unknown);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        SZG_TRY(szg_table_set_integer(context, table, numbers[i].column, numbers[i].value));
    SZG_TRY(szg_table_set_text(context, table, "positions",
                               facts.rotary ? "rotary" : kinds[facts.positions]));
    return report_rotations(context, checkpoint, table);
}

szg_status szgi_rows_open(szg_context *context, const szg_checkpoint *checkpoint,
                          const szg_checkpoint_options *options, szg_checkpoint_tables *tables) {
    SZG_TRY(szgi_summary_table(context, &tables->summary));
    OPEN("spectra", spectra_columns, &tables->spectra);
    OPEN("tensors", tensor_columns, &tables->tensors);
    OPEN("architecture", architecture_columns, &tables->architecture);
    if (checkpoint->position_kind != SZG_POSITIONS_NONE) {
        OPEN("range", range_columns, &tables->range);
        SZG_TRY(szgi_table_mark_ends(context, tables->range, "min_lo", "min_hi"));
        SZG_TRY(szgi_table_mark_ends(context, tables->range, "max_lo", "max_hi"));
        if (options->samples > 0)
            OPEN("samples", sample_columns, &tables->samples);
    }
    if (checkpoint->rotations > 0)
        OPEN("frequencies", frequency_columns, &tables->frequencies);
    return report_architecture(context, checkpoint, tables->architecture);
}

void szg_checkpoint_tables_close(szg_checkpoint_tables *tables) {
    szg_table_close(&tables->summary);
    szg_table_close(&tables->spectra);
    szg_table_close(&tables->frequencies);
    szg_table_close(&tables->range);
    szg_table_close(&tables->samples);
    szg_table_close(&tables->tensors);
    szg_table_close(&tables->architecture);
    *tables = (szg_checkpoint_tables){0};
}

/* ---- Rows ---- */

static szg_status add_row(szg_context *context, szg_table *table, const row_key *key) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "source", key->source));
    if (key->layer >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "layer", key->layer));
    if (key->head >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "head", key->head));
    if (szg_table_find(table, "matrix") >= 0)
        SZG_TRY(szg_table_set_text(context, table, "matrix", key->matrix));
    return SZG_OK;
}

static szg_status add_values(szg_context *context, szg_table *table, const row_key *key,
                             const szg_spectrum *spectrum) {
    for (int64_t i = 0; i < spectrum->count; i++) {
        SZG_TRY(add_row(context, table, key));
        SZG_TRY(szg_table_set_text(context, table, "kind", spectrum->kind));
        SZG_TRY(szg_table_set_integer(context, table, "index", i));
        SZG_TRY(szg_table_set_real(context, table, "re", spectrum->re[i]));
        SZG_TRY(szg_table_set_real(context, table, "im", spectrum->im ? spectrum->im[i] : 0));
    }
    return SZG_OK;
}

/* The numerical rank: what rounding of the matrix's entries can be told from zero. */
static int64_t numerical_rank(const szg_spectrum *singular, int64_t side) {
    int64_t rank = 0;
    double least = (double)side * DBL_EPSILON * (singular->count > 0 ? singular->re[0] : 0);
    while (rank < singular->count && singular->re[rank] > least)
        rank++;
    return rank;
}

szg_status szgi_rows_spectra(szg_context *context, szg_checkpoint_tables *tables,
                             const row_key *key, const szg_spectrum *eigenvalues,
                             const szg_spectrum *singular, int64_t side, int64_t lost) {
    szg_summary summary;
    int64_t values = singular->count + (eigenvalues ? eigenvalues->count : 0);
    SZG_TRY(szg_summary_of(context, eigenvalues, singular, &summary));
    summary.rank = numerical_rank(singular, side);
    const szg_summary_labels labels = {key->source, key->layer, key->head, key->matrix, "none"};
    SZG_TRY(szgi_summary_add(context, tables->summary, &labels, &summary, NULL, NULL));
    if (summary.note)
        SZG_TRY(szg_table_note(context, tables->summary, "%s", summary.note));
    if (lost > 0)
        SZG_TRY(szg_table_note(context, tables->summary,
                               "%" PRId64 " of %" PRId64 " values lost digits: they are below "
                               "%.3g, where normal doubles end; multiply the weights by a power "
                               "of two",
                               lost, values, DBL_MIN));
    SZG_TRY(szg_table_note(context, tables->summary,
                           "no limit theorem: a trained matrix is no Toeplitz family in N"));
    if (eigenvalues)
        SZG_TRY(add_values(context, tables->spectra, key, eigenvalues));
    return add_values(context, tables->spectra, key, singular);
}

static szg_status set_toeplitzness(szg_context *context, szg_table *summary, const szg_tau *tau) {
    if (isnan(tau->value))
        return szg_table_note(context, summary, "the zero matrix has no toeplitzness");
    SZG_TRY(szg_table_set_real(context, summary, "toeplitzness", tau->value));
    SZG_TRY(szg_table_set_real(context, summary, "toeplitzness_error", tau->error));
    SZG_TRY(szg_table_set_integer(context, summary, "toeplitzness_sampled", tau->sampled));
    return szgi_tau_note(tau) ? szg_table_note(context, summary, "%s", szgi_tau_note(tau)) : SZG_OK;
}

szg_status szgi_rows_symbol(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                            const szg_tau *toeplitzness, const szg_range *range) {
    szg_table *summary = tables->summary, *table = tables->range;
    const struct {
        const char *column, *summary_column;
        double value;
    } ends[] = {{"min_lo", "symbol_min_lo", range->min.lo},
                {"min_hi", "symbol_min_hi", range->min.hi},
                {"max_lo", "symbol_max_lo", range->max.lo},
                {"max_hi", "symbol_max_hi", range->max.hi}};
    SZG_TRY(set_toeplitzness(context, summary, toeplitzness));
    if (!range->method)
        return szg_table_note(context, summary,
                              "no certified range of |a|: the degree of the Toeplitz part's symbol "
                              "is beyond %d",
                              SZG_SYMBOL_RANGE_LIMIT);
    SZG_TRY(add_row(context, table, key));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        SZG_TRY(szg_table_set_real(context, summary, ends[i].summary_column, ends[i].value));
        SZG_TRY(szg_table_set_real(context, table, ends[i].column, ends[i].value));
    }
    SZG_TRY(szg_table_set_real(context, table, "theta_min", range->theta_min));
    SZG_TRY(szg_table_set_real(context, table, "theta_max", range->theta_max));
    SZG_TRY(szg_table_set_text(context, table, "method", range->method));
    SZG_TRY(szg_table_note(context, summary,
                           "symbol columns bound |a|, a the symbol of the Toeplitz part"));
    return szg_table_note(context, table,
                          "modulus of the symbol of the Toeplitz part: bounds that part's "
                          "singular values from above, not the whole matrix's");
}

szg_status szgi_rows_samples(szg_context *context, szg_checkpoint_tables *tables,
                             const row_key *key, int64_t count, const szg_c64 *samples) {
    const double turn = 6.28318530717958647692;
    for (int64_t i = 0; i < count; i++) {
        SZG_TRY(add_row(context, tables->samples, key));
        SZG_TRY(szg_table_set_real(context, tables->samples, "theta",
                                   turn * (double)i / (double)count));
        SZG_TRY(szg_table_set_real(context, tables->samples, "re", samples[i].re));
        SZG_TRY(szg_table_set_real(context, tables->samples, "im", samples[i].im));
    }
    return SZG_OK;
}

static szg_status set_energy(szg_context *context, szg_table *table, const char *column,
                             double energy) {
    if (isnan(energy))
        return szg_table_note(context, table, "%s is outside the range of doubles", column);
    return szg_table_set_real(context, table, column, energy);
}

szg_status szgi_rows_pairs(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                           int64_t count, const szg_pair_coupling *pairs) {
    szg_table *table = tables->frequencies;
    for (int64_t t = 0; t < count; t++) {
        const szg_pair_coupling *pair = &pairs[t];
        SZG_TRY(add_row(context, table, key));
        SZG_TRY(szg_table_set_integer(context, table, "pair", t));
        SZG_TRY(szg_table_set_real(context, table, "theta", pair->theta));
        SZG_TRY(szg_table_set_real(context, table, "rotation_re", pair->rotation.re));
        SZG_TRY(szg_table_set_real(context, table, "rotation_im", pair->rotation.im));
        SZG_TRY(szg_table_set_real(context, table, "reflection_re", pair->reflection.re));
        SZG_TRY(szg_table_set_real(context, table, "reflection_im", pair->reflection.im));
        SZG_TRY(set_energy(context, table, "energy", pair->energy));
        SZG_TRY(set_energy(context, table, "model_energy", pair->model_energy));
    }
    return SZG_OK;
}

szg_status szgi_rows_problem(szg_context *context, szg_checkpoint_tables *tables,
                             const row_key *key, const char *problem) {
    char place[64] = "";
    if (key->layer >= 0 && key->head >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ", head %" PRId64 ": ", key->layer,
                 key->head);
    else if (key->layer >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ": ", key->layer);
    SZG_TRY(add_row(context, tables->summary, key));
    szgi_say(context, SZG_WARNING, "skipped: %s%s", place, problem);
    return szg_table_note(context, tables->summary, "skipped: %s%s", place, problem);
}

szg_status szgi_rows_tensor(szg_context *context, szg_checkpoint_tables *tables, const char *source,
                            const szgi_tensor *tensor, const char *use, const char *note) {
    char shape[128];
    szg_table *table = tables->tensors;
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "source", source));
    SZG_TRY(szg_table_set_text(context, table, "tensor", tensor->name));
    SZG_TRY(szg_table_set_text(context, table, "dtype", tensor->dtype_name));
    SZG_TRY(szg_table_set_text(context, table, "shape",
                               szgi_tensor_shape_text(tensor, shape, sizeof shape)));
    SZG_TRY(szg_table_set_text(context, table, "file", tensor->file));
    SZG_TRY(szg_table_set_text(context, table, "used", use));
    return note ? szg_table_note(context, table, "%s", note) : SZG_OK;
}
