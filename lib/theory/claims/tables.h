/* The tables of a run but `certificates`: run.c opens them, those that fill them use the indices.
 */
#ifndef SZG_THEORY_TABLES_H
#define SZG_THEORY_TABLES_H

#include "base/row.h"

#define CLAIMS_TABLE(X)                                                                            \
    X(CLAIMS_ID, "id", SZG_TEXT, "", "claim", "name of the claim")                                 \
    X(CLAIMS_STATEMENT, "statement", SZG_TEXT, "", "statement", "what the row says")               \
    X(CLAIMS_VERDICT, "verdict", SZG_TEXT, "", "verdict",                                          \
      "holds, fails, vacuous, conditional, measured, or none")                                     \
    X(CLAIMS_BASIS, "basis", SZG_TEXT, "", "basis", "proof, enclosure, counterexample or trials")  \
    X(CLAIMS_TRIALS, "trials", SZG_INTEGER, "1", "trials", "instances tried")                      \
    X(CLAIMS_WORST_MARGIN, "worst_margin", SZG_REAL, "1", "worst margin",                          \
      "guaranteed lower end of the least margin over the trials", SZGI_END_LOWER)                  \
    X(CLAIMS_TRUE_STATEMENT, "true_statement", SZG_TEXT, "", "what is true",                       \
      "what is true instead")                                                                      \
    X(CLAIMS_SOURCE, "source", SZG_TEXT, "", "encoding or file",                                   \
      "place in the paper, first version")                                                         \
    X(CLAIMS_KIND, "kind", SZG_TEXT, "", "kind",                                                   \
      "paper: it states this; reading: ours of a statement; correction: ours, what is true")       \
    X(CLAIMS_NOTE, "note", SZG_TEXT, "", "note", "remarks")

#define LEMMA_TABLE(X)                                                                             \
    X(LEMMA_TRIAL, "trial", SZG_INTEGER, "1", "trial", "number of the trial")                      \
    X(LEMMA_WEIGHTS, "weights", SZG_TEXT, "", "weights", "w_i, hexadecimal floats")                \
    X(LEMMA_PHASES, "phases", SZG_TEXT, "", "phases",                                              \
      "theta_i: hexadecimal radians, or p/q times pi")                                             \
    X(LEMMA_MAX_F_LO, "max_f_lo", SZG_REAL, "1", "lower end of max|f|", "enclosure of max|f|",     \
      SZGI_END_LOWER)                                                                              \
    X(LEMMA_MAX_F_HI, "max_f_hi", SZG_REAL, "1", "upper end of max|f|", "its upper end",           \
      SZGI_END_UPPER)                                                                              \
    X(LEMMA_MAX_G_LO, "max_g_lo", SZG_REAL, "1", "lower end of max|g|", "enclosure of max|g|",     \
      SZGI_END_LOWER)                                                                              \
    X(LEMMA_MAX_G_HI, "max_g_hi", SZG_REAL, "1", "upper end of max|g|", "its upper end",           \
      SZGI_END_UPPER)                                                                              \
    X(LEMMA_WIDTH_F_LO, "width_f_lo", SZG_REAL, "1", "lower end of the width of f",                \
      "enclosure of max f - min f", SZGI_END_LOWER)                                                \
    X(LEMMA_WIDTH_F_HI, "width_f_hi", SZG_REAL, "1", "upper end of the width of f",                \
      "its upper end", SZGI_END_UPPER)                                                             \
    X(LEMMA_WIDTH_G_LO, "width_g_lo", SZG_REAL, "1", "lower end of the width of g",                \
      "enclosure of max g - min g", SZGI_END_LOWER)                                                \
    X(LEMMA_WIDTH_G_HI, "width_g_hi", SZG_REAL, "1", "upper end of the width of g",                \
      "its upper end", SZGI_END_UPPER)                                                             \
    X(LEMMA_EQUALITY, "equality", SZG_TEXT, "", "equality",                                        \
      "yes or no: max|f| = max|g|, decided exactly")                                               \
    X(LEMMA_NOTE, "note", SZG_TEXT, "", "note", "how the trial was made")

#define SAMPLES_TABLE(X)                                                                           \
    X(SAMPLES_ID, "id", SZG_TEXT, "", "claim", "the claim that the example refutes")               \
    X(SAMPLES_THETA, "theta", SZG_REAL, "radians a position", "angle", "argument t, radians")      \
    X(SAMPLES_F, "f", SZG_REAL, "1", "f", "f(t)")                                                  \
    X(SAMPLES_G, "g", SZG_REAL, "1", "g", "g(t)")                                                  \
    X(SAMPLES_CERTIFICATE, "certificate", SZG_INTEGER, "1", "certificate",                         \
      "which of its claim's rows of certificates it is of, counted from 0")                        \
    X(SAMPLES_NOTE, "note", SZG_TEXT, "", "note", "the example")

#define EVIDENCE_TABLE(X)                                                                          \
    X(EVIDENCE_ID, "id", SZG_TEXT, "", "claim", "name of the claim")                               \
    X(EVIDENCE_QUANTITY, "quantity", SZG_TEXT, "", "quantity", "what was computed")                \
    X(EVIDENCE_LO, "lo", SZG_REAL, "1", "lower end", "lower end of its enclosure", SZGI_END_LOWER) \
    X(EVIDENCE_HI, "hi", SZG_REAL, "1", "upper end",                                               \
      "upper end; equal to lo if it is a plain number", SZGI_END_UPPER)                            \
    X(EVIDENCE_NOTE, "note", SZG_TEXT, "", "note", "how")

enum { CLAIMS_TABLE(SZGI_COLUMN_INDEX) CLAIMS_COLUMNS };
enum { LEMMA_TABLE(SZGI_COLUMN_INDEX) LEMMA_COLUMNS };
enum { SAMPLES_TABLE(SZGI_COLUMN_INDEX) SAMPLES_COLUMNS };
enum { EVIDENCE_TABLE(SZGI_COLUMN_INDEX) EVIDENCE_COLUMNS };

#endif
