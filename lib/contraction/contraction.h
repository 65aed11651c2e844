/* What the house alone uses of <szego/contraction.h>. */
#ifndef SZEGO_CONTRACTION_CONTRACTION_H
#define SZEGO_CONTRACTION_CONTRACTION_H

#include <szego/contraction.h>
#include "base/decls.h"
#include "base/row.h"

SZGI_BEGIN_DECLS

/* ---- The first columns of tables of logits ---- */

/* Of a head over its probes, and of a matrix. */
#define SZGI_HEAD_IDENTITY(X, TABLE)                                                               \
    X(TABLE##_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the SPEC or the file")          \
    X(TABLE##_STEP, "step", SZG_INTEGER, "1", "training step", "training step")                    \
    X(TABLE##_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                  \
    X(TABLE##_HEAD, "head", SZG_INTEGER, "1", "head", "head, counted from 0")
#define SZGI_LOGITS_IDENTITY(X, TABLE)                                                             \
    SZGI_HEAD_IDENTITY(X, TABLE)                                                                   \
    X(TABLE##_PROBE, "probe", SZG_TEXT, "", "probe", "input that the logits were captured on")

#define SZGI_PAIRING_DOC                                                                           \
    "dimensions that rotate together: half (t, t + rotary/2) or interleaved (2t, 2t + 1)"

/* Fills them: they are the first of the row. */
void szgi_logits_identify(szgi_row *row, const szg_contraction_labels *labels);

/* `status`, with source, layer, head and probe, those that there are, before the message. */
szg_status szgi_logits_fail_at(szg_context *context, szg_status status,
                               const szg_contraction_labels *labels);

/* szg_contraction_compute with the eigenvalues of content and coupled logits (szgi_summary_compute
 * says which). */
SZG_CHECK_RESULT szg_status szgi_contraction_compute(
    szg_context *context, const szg_matrix *content, const szg_matrix *coupled,
    const szg_report_options *options, szg_spectrum eigenvalues[2], szg_contraction *out);

/* ---- Many at once ---- */

/* Empty tables `contraction_values` and `contraction_symbols`: szg_contraction_tables.values and
 * .symbols. */
SZG_CHECK_RESULT szg_status szgi_contraction_values_table(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_contraction_symbols_table(szg_context *context, szg_table **out);

/* Adds the rows of one contraction to every table that is open. */
SZG_CHECK_RESULT szg_status szgi_contraction_add_to(szg_context *context,
                                                    szg_contraction_tables *tables,
                                                    const szg_contraction_labels *labels,
                                                    const szg_contraction *contraction);

/* Two matrices of one head; content.kind SZG_MATRIX_NONE: there is none. Borrowed. */
typedef struct szgi_contraction_pair {
    szg_matrix content, coupled;
    double precision; /* of the entries, in place of options->precision where it is larger */
    szg_contraction_labels labels;
    const char *problem; /* NULL, or why there are no numbers: coupled.rows alone is read then */
} szgi_contraction_pair;

/* Reports of all pairs, one a thread of the pool, larger ones (order above 512) with every thread;
 * the rows have the order of the pairs, and up to that order their numbers do not depend on the
 * number of threads, nor on other pairs. A pair with a `problem` counts as one that cannot be
 * computed (SZG_EDATA). Eigenvalues of dense logits up to order 256 are those of batches
 * (spectra/many_small.h). The errors' messages begin with layer, head and probe. */
SZG_CHECK_RESULT szg_status szgi_contraction_add_all(szg_context *context, int64_t count,
                                                     const szgi_contraction_pair *pairs,
                                                     const szg_report_options *options,
                                                     szg_contraction_tables *tables);

/* How the note of a row without numbers begins. */
#define SZGI_NOT_COMPUTED "not computed: "

/* A row with labels and order, and the reason why it has no numbers. */
SZG_CHECK_RESULT szg_status szgi_contraction_add_problem(szg_context *context, szg_table *table,
                                                         const szg_contraction_labels *labels,
                                                         int64_t n, const char *problem);

SZGI_END_DECLS

#endif
