#include "decay_rows.h"

#include <math.h>

#include "base/row.h"

#define DECAYS(X)                                                                                  \
    X(DECAYS_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named") \
    X(DECAYS_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                   \
    X(DECAYS_HEAD, "head", SZG_INTEGER, "1", "head",                                               \
      "head of the recurrence, counted from 0; empty: the layer as a whole")                       \
    X(DECAYS_MIXER, "mixer", SZG_TEXT, "", "kind of layer", "what the layer is called")            \
    X(DECAYS_DECAY, "decay", SZG_TEXT, "", "decay",                                                \
      "fixed: the same for every token; gate: each token sets its own; none: szego gives no "      \
      "interval, and the note says why")                                                           \
    X(DECAYS_CHANNELS, "channels", SZG_INTEGER, "1", "channels",                                   \
      "decays that the row is about: one, or those of the head's channels")                        \
    X(DECAYS_SHORT, "half_life_q01", SZG_REAL, "positions", "half-life, 1%",                       \
      "1% of isotropic tokens and channels have a shorter half-life; of fixed decays, of "         \
      "channels")                                                                                  \
    X(DECAYS_MEDIAN, "half_life_q50", SZG_REAL, "positions", "half-life, median",                  \
      "the median of them; empty: too long for a double")                                          \
    X(DECAYS_LONG, "half_life_q99", SZG_REAL, "positions", "half-life, 99%",                       \
      "99% have a shorter one")                                                                    \
    X(DECAYS_HALF_MIN, "half_life_min", SZG_REAL, "positions", "shortest half-life",               \
      "no token has a shorter one", SZGI_END_LOWER)                                                \
    X(DECAYS_HALF_MAX, "half_life_max", SZG_REAL, "positions", "longest half-life",                \
      "no token has a longer one; empty: no bound", SZGI_END_UPPER)                                \
    X(DECAYS_LOG_MIN, "log_decay_min", SZG_REAL, "1", "least log decay",                           \
      "no token has a smaller logarithm of the factor of a step", SZGI_END_LOWER)                  \
    X(DECAYS_LOG_MAX, "log_decay_max", SZG_REAL, "1", "largest log decay",                         \
      "no token has a larger one", SZGI_END_UPPER)                                                 \
    X(DECAYS_ENDS, "ends", SZG_TEXT, "", "ends",                                                   \
      "what k steps leave of a state: both: its part is between the k-th powers of both ends; "    \
      "upper: a delta rule also takes away what lies along its keys, so that only the upper end "  \
      "bounds it")                                                                                 \
    X(DECAYS_SYMBOL_MIN, "symbol_min", SZG_REAL, "1", "least modulus of the symbol",               \
      "of 1/(1 - rho e^{it}), rho the factor of a fixed decay", SZGI_END_LOWER)                    \
    X(DECAYS_SYMBOL_MAX, "symbol_max", SZG_REAL, "1", "largest modulus of the symbol",             \
      "of the same; empty: no bound", SZGI_END_UPPER)                                              \
    X(DECAYS_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define DECAYS_SCREEN                                                                              \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, mixer)                                                                            \
    SZGI_SHOW(1, decay)                                                                            \
    SZGI_SHOW(1, half_life_q01)                                                                    \
    SZGI_SHOW(1, half_life_q50)                                                                    \
    SZGI_SHOW(1, half_life_q99)                                                                    \
    SZGI_SHOW_RANGE(2, proved, half_life_min, half_life_max)                                       \
    SZGI_SHOW(3, ends)                                                                             \
    SZGI_SHOW(3, channels)
SZGI_SCHEMA(decays_columns, "decays", DECAYS, DECAYS_SCREEN);

szg_status szgi_decay_rows_open(szg_context *context, szg_checkpoint_tables *tables) {
    return szgi_schema_open(context, &decays_columns_schema, &tables->decays);
}

/* NaN where it is too long for a double. */
static double half_life(double log_decay) {
    double length = log(2) / -log_decay;
    return isfinite(length) ? length : NAN;
}

/* Of the factors that the range has, the ends with what rounding may take. */
static void put_symbol(szgi_row *row, const decay_range *range) {
    double largest = -1 / expm1(range->most);
    szgi_row_number(row, DECAYS_SYMBOL_MIN, (1 - 0x1p-50) / (1 + exp(range->most)));
    szgi_row_number(row, DECAYS_SYMBOL_MAX, isfinite(largest) ? largest * (1 + 0x1p-50) : NAN);
}

static void put_numbers(szgi_row *row, const decay_family *family, const decay_facts *facts) {
    szgi_row_integer(row, DECAYS_CHANNELS, facts->channels);
    for (int i = 0; i < TYPICAL; i++)
        szgi_row_number(row, DECAYS_SHORT + i, half_life(facts->typical[i]));
    szgi_row_number(row, DECAYS_HALF_MIN, half_life(facts->range.least) * (1 - 0x1p-50));
    szgi_row_number(row, DECAYS_HALF_MAX, half_life(facts->range.most) * (1 + 0x1p-50));
    szgi_row_number(row, DECAYS_LOG_MIN, facts->range.least);
    szgi_row_number(row, DECAYS_LOG_MAX, facts->range.most);
    szgi_row_text(row, DECAYS_ENDS, family->delta ? "upper" : "both");
    if (!facts->gate)
        put_symbol(row, &facts->range);
}

szg_status szgi_decay_rows_add(szg_context *context, szg_checkpoint_tables *tables,
                               const char *source, const decay_family *family,
                               const decay_facts *facts) {
    szgi_row row = szgi_row_add(context, tables->decays);
    szgi_row_text(&row, DECAYS_SOURCE, source);
    szgi_row_place(&row, DECAYS_LAYER, facts->layer);
    szgi_row_place(&row, DECAYS_HEAD, facts->head);
    szgi_row_text(&row, DECAYS_MIXER, family->name);
    szgi_row_text(&row, DECAYS_DECAY,
                  facts->channels == 0 ? "none"
                  : facts->gate        ? "gate"
                                       : "fixed");
    if (facts->channels > 0)
        put_numbers(&row, family, facts);
    if (facts->note)
        szgi_row_note(&row, "%s", facts->note);
    return row.status;
}
