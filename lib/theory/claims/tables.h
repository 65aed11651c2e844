/* The tables of a run but `certificates`: run.c opens them, those that fill them use the indices.
 */
#ifndef SZG_THEORY_TABLES_H
#define SZG_THEORY_TABLES_H

#include "base/row.h"

#define CLAIMS_TABLE(X)                                                                            \
    X(CLAIMS_ID, "id", SZG_TEXT, "name of the claim")                                              \
    X(CLAIMS_STATEMENT, "statement", SZG_TEXT, "what the row says")                                \
    X(CLAIMS_VERDICT, "verdict", SZG_TEXT,                                                         \
      "holds, fails, vacuous, conditional, measured, or none")                                     \
    X(CLAIMS_BASIS, "basis", SZG_TEXT, "proof, enclosure, counterexample or trials")               \
    X(CLAIMS_TRIALS, "trials", SZG_INTEGER, "instances tried")                                     \
    X(CLAIMS_WORST_MARGIN, "worst_margin", SZG_REAL,                                               \
      "guaranteed lower end of the least margin over the trials")                                  \
    X(CLAIMS_TRUE_STATEMENT, "true_statement", SZG_TEXT, "what is true instead")                   \
    X(CLAIMS_SOURCE, "source", SZG_TEXT, "place in the paper, first version")                      \
    X(CLAIMS_KIND, "kind", SZG_TEXT,                                                               \
      "paper: it states this; reading: ours of a statement; correction: ours, what is true")       \
    X(CLAIMS_NOTE, "note", SZG_TEXT, "remarks")

#define LEMMA_TABLE(X)                                                                             \
    X(LEMMA_TRIAL, "trial", SZG_INTEGER, "number of the trial")                                    \
    X(LEMMA_WEIGHTS, "weights", SZG_TEXT, "w_i, hexadecimal floats")                               \
    X(LEMMA_PHASES, "phases", SZG_TEXT, "theta_i: hexadecimal radians, or p/q times pi")           \
    X(LEMMA_MAX_F_LO, "max_f_lo", SZG_REAL, "enclosure of max|f|")                                 \
    X(LEMMA_MAX_F_HI, "max_f_hi", SZG_REAL, "its upper end")                                       \
    X(LEMMA_MAX_G_LO, "max_g_lo", SZG_REAL, "enclosure of max|g|")                                 \
    X(LEMMA_MAX_G_HI, "max_g_hi", SZG_REAL, "its upper end")                                       \
    X(LEMMA_WIDTH_F_LO, "width_f_lo", SZG_REAL, "enclosure of max f - min f")                      \
    X(LEMMA_WIDTH_F_HI, "width_f_hi", SZG_REAL, "its upper end")                                   \
    X(LEMMA_WIDTH_G_LO, "width_g_lo", SZG_REAL, "enclosure of max g - min g")                      \
    X(LEMMA_WIDTH_G_HI, "width_g_hi", SZG_REAL, "its upper end")                                   \
    X(LEMMA_EQUALITY, "equality", SZG_TEXT, "yes or no: max|f| = max|g|, decided exactly")         \
    X(LEMMA_NOTE, "note", SZG_TEXT, "how the trial was made")

#define SAMPLES_TABLE(X)                                                                           \
    X(SAMPLES_ID, "id", SZG_TEXT, "the claim that the example refutes")                            \
    X(SAMPLES_THETA, "theta", SZG_REAL, "argument t, radians")                                     \
    X(SAMPLES_F, "f", SZG_REAL, "f(t)")                                                            \
    X(SAMPLES_G, "g", SZG_REAL, "g(t)")                                                            \
    X(SAMPLES_CERTIFICATE, "certificate", SZG_INTEGER,                                             \
      "which of its claim's rows of certificates it is of, counted from 0")                        \
    X(SAMPLES_NOTE, "note", SZG_TEXT, "the example")

#define EVIDENCE_TABLE(X)                                                                          \
    X(EVIDENCE_ID, "id", SZG_TEXT, "name of the claim")                                            \
    X(EVIDENCE_QUANTITY, "quantity", SZG_TEXT, "what was computed")                                \
    X(EVIDENCE_LO, "lo", SZG_REAL, "lower end of its enclosure")                                   \
    X(EVIDENCE_HI, "hi", SZG_REAL, "upper end; equal to lo if it is a plain number")               \
    X(EVIDENCE_NOTE, "note", SZG_TEXT, "how")

enum { CLAIMS_TABLE(SZGI_SCHEMA_INDEX) CLAIMS_COLUMNS };
enum { LEMMA_TABLE(SZGI_SCHEMA_INDEX) LEMMA_COLUMNS };
enum { SAMPLES_TABLE(SZGI_SCHEMA_INDEX) SAMPLES_COLUMNS };
enum { EVIDENCE_TABLE(SZGI_SCHEMA_INDEX) EVIDENCE_COLUMNS };

#endif
