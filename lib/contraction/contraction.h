/* What the house alone uses of <szego/contraction.h>. */
#ifndef SZEGO_CONTRACTION_CONTRACTION_H
#define SZEGO_CONTRACTION_CONTRACTION_H

#include <szego/contraction.h>
#include "network/network.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* From what a device has computed of n x n logits in single precision
 * (szgi_network_spectra_collect). SZG_EDATA: entries that are not finite; SZG_ENOCONV: spectra that
 * miss the matrix's trace or norm, or a solver that did not converge; the message begins with the
 * matrix. The note says where the numbers come from and how far singular values may be off;
 * sigma_min and condition are NaN where they lie within that. */
SZG_CHECK_RESULT szg_status szgi_contraction_of_numbers(szg_context *context, int64_t n,
                                                        const szg_logit_numbers *content,
                                                        const szg_logit_numbers *coupled,
                                                        const szg_report_options *options,
                                                        szg_contraction *out);

/* Of coupled logits alone: content.matrix is NULL, the ratios are NaN. */
SZG_CHECK_RESULT szg_status szgi_contraction_of_coupled(szg_context *context, int64_t n,
                                                        const double *coupled, int64_t ldcoupled,
                                                        const szg_report_options *options,
                                                        szg_contraction *out);

/* Empty tables `contraction_values` and `contraction_symbols`. */
SZG_CHECK_RESULT szg_status szgi_contraction_values_table(szg_context *context, szg_table **out);
SZG_CHECK_RESULT szg_status szgi_contraction_symbols_table(szg_context *context, szg_table **out);

/* Adds the report to every table that is open. */
SZG_CHECK_RESULT szg_status szgi_contraction_add_to(szg_context *context,
                                                    szg_contraction_tables *tables,
                                                    const szg_contraction_labels *labels,
                                                    const szg_contraction *contraction);

/* Reports of all pairs, one a thread of the pool, larger ones (order above 512) with every thread;
 * the rows stand in the order of the pairs, and up to that order their numbers do not depend on
 * the number of threads. The errors' messages begin with layer, head and probe. */
SZG_CHECK_RESULT szg_status szgi_contraction_add_all(szg_context *context, int64_t count,
                                                     const szg_contraction_pair *pairs,
                                                     const szg_report_options *options,
                                                     szg_contraction_tables *tables);

SZGI_END_DECLS

#endif
