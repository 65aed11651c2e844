/* Coupled against uncoupled logits: the one report that `spectrum --part ratio`, captured logits
 * and training share. */
#ifndef SZEGO_CONTRACTION_H
#define SZEGO_CONTRACTION_H

#include <szego/report.h>

SZG_BEGIN_DECLS

/* ratios.ordered is false where the matrices are not symmetric or
 * their spectra not complete. The majorisation
 * tested is "coupled is majorised by content" (claim B3c), margin its least slack. */
typedef struct szg_contraction {
    int64_t n;
    szg_contraction_ratios ratios;
    szg_matrix_report content, coupled;
} szg_contraction;

void szg_contraction_close(szg_contraction *contraction);

/* From factored matrices of one order, or from dense n x n ones (kept as they are). `options` may
 * be NULL. SZG_EINVAL: orders that differ; errors of szg_report_factored and szg_report_dense. */
SZG_CHECK_RESULT szg_status szg_contraction_of_factored(szg_context *context,
                                                        const szg_factored *content,
                                                        const szg_factored *coupled,
                                                        const szg_report_options *options,
                                                        szg_contraction *out);
SZG_CHECK_RESULT szg_status szg_contraction_of_dense(szg_context *context, int64_t n,
                                                     const double *content, int64_t ldcontent,
                                                     const double *coupled, int64_t ldcoupled,
                                                     const szg_report_options *options,
                                                     szg_contraction *out);

/* The identity of a row; negative numbers, NaN and NULL leave cells empty. */
typedef struct szg_contraction_labels {
    const char *source, *probe, *content_kind;
    int64_t step, layer, head;
    double grad_norm;
} szg_contraction_labels;

/* An empty table `contraction`: source, step, layer, head, probe, n, content_kind, width_ratio,
 * norm_ratio, nuclear_ratio, majorised (1, 0, or empty), margin, grad_norm, the numbers of
 * `summary` as X_content and X_coupled, note. */
SZG_CHECK_RESULT szg_status szg_contraction_table(szg_context *context, szg_table **out);

SZG_CHECK_RESULT szg_status szg_contraction_add(szg_context *context, szg_table *table,
                                                const szg_contraction_labels *labels,
                                                const szg_contraction *contraction);

SZG_END_DECLS

#endif
