/* Coupled against uncoupled logits: the one report that `spectrum --part ratio`, captured logits
 * and training share. */
#ifndef SZEGO_CONTRACTION_H
#define SZEGO_CONTRACTION_H

#include <szego/report.h>

SZG_BEGIN_DECLS

/* Eigenvalues, their range, width, radius and the majorisation are those of the Hermitian part
 * H = (L + L^T)/2 (of L itself where it is symmetric): for any content matrix that all rotary
 * frequencies share, the mean kernel contracts the field of values (claim B3c), while eigenvalues
 * of L may grow. Singular values, ranks and norms are those of L. The majorisation tested is
 * "coupled is majorised by content", margin its least slack; ratios.ordered is false where a
 * spectrum is not complete (large masked or biased matrices without `all`). */
typedef struct szg_contraction {
    int64_t n;
    szg_contraction_ratios ratios;
    szg_matrix_report content, coupled;
} szg_contraction;

void szg_contraction_close(szg_contraction *contraction);

/* Two n x n matrices, kept as they are; not SZG_MATRIX_COMPLEX, whose Hermitian part nothing
 * computes (SZG_EDOMAIN). `content` NULL: there is none, the ratios are NaN and content.matrix is
 * NULL. `options` may be NULL. sigma_min and condition of dense ones are NaN, with a note, where
 * the least singular value lies within rounding, n eps sigma_max (eps: options->precision, or
 * 2^-52 where that is larger); those of a device's numbers where it lies within the error that the
 * note states. SZG_EINVAL: orders that differ; SZG_EDATA: a dense matrix that finite numbers mask,
 * -1e9 for instance (the message names an entry); errors of szg_summary_compute. A dense matrix of
 * attention weights, after dropout too, is warned of. */
SZG_CHECK_RESULT szg_status szg_contraction_compute(szg_context *context, const szg_matrix *content,
                                                    const szg_matrix *coupled,
                                                    const szg_report_options *options,
                                                    szg_contraction *out);

/* What `content` is, for the column content_kind: "zeroed" where the encoding adds rows to the
 * tokens (the position table set to zero; rope+absolute too), else "same_qk" (the same queries and
 * keys without rotation, bias; nope: nothing to leave out). */
const char *szg_contraction_content_kind(const szg_encoding *encoding);

/* The identity of a row; negative numbers, NaN and NULL leave cells empty. */
typedef struct szg_contraction_labels {
    SZG_SIZE(szg_contraction_labels);
    const char *source, *probe, *content_kind;
    int64_t step, layer, head;
    double grad_norm;    /* of the head's rows of W_Q, W_K, W_V and columns of W_O, no biases */
    double grad_norm_qk; /* of its rows of W_Q and W_K alone; not written where grad_norm is NaN */
    const char *pairing; /* which dimensions rotated together: "interleaved" or "half" */
} szg_contraction_labels;

/* An empty table `contraction`: source, step, layer, head, probe, n, content_kind, pairing,
 * width_ratio, norm_ratio, nuclear_ratio, majorised (1, 0, or empty), margin, grad_norm,
 * grad_norm_qk, the numbers of `summary` as X_content and X_coupled, note. */
SZG_CHECK_RESULT szg_status szg_contraction_table(szg_context *context, szg_table **out);

SZG_CHECK_RESULT szg_status szg_contraction_add(szg_context *context, szg_table *table,
                                                const szg_contraction_labels *labels,
                                                const szg_contraction *contraction);

/* ---- Many at once ---- */

/* Samples of a symbol in the tables of captured logits. */
enum { SZG_CONTRACTION_SAMPLES = 256 };

/* values: one row per eigenvalue of the Hermitian part and one per singular value. symbols: one row
 * per sample of the Toeplitz part's symbol, options->samples of them. NULL: not wanted.
 *
 * With `keep`, which the caller sets, a matrix whose numbers cannot be computed (SZG_EDATA,
 * SZG_EDOMAIN, SZG_ENOCONV) is a row of `contraction` with empty numbers, the reason its note, and
 * counts in `bad`; `bad_status` is that of the first one. Else it ends the call. */
typedef struct szg_contraction_tables {
    szg_table *contraction, *values, *symbols;
    bool keep;
    szg_status bad_status;
    int64_t bad;
} szg_contraction_tables;

SZG_CHECK_RESULT szg_status szg_contraction_tables_open(szg_context *context, bool values,
                                                        bool symbols, szg_contraction_tables *out);
void szg_contraction_tables_close(szg_contraction_tables *tables);

SZG_END_DECLS

#endif
