/* What the files about factored logits L = M o (A B^T + T) share. */
#ifndef SZG_SPECTRA_FACTORED_H
#define SZG_SPECTRA_FACTORED_H

#include "toeplitz/factored.h"

#include "spectra_private.h"

/* Sizes and options. The library's own check of f comes with its first use; sizes are needed
 * before. */
SZG_CHECK_RESULT szg_status szgi_logits_check(szg_context *context, const szg_factored *f,
                                              const szg_spectra_options *options);

/* Symmetric by structure: one array for both factors, a symmetric bias, no mask. */
bool szgi_logits_symmetric(const szg_factored *f);

/* L as a dense array with room for a second one; SZG_ENOMEM says how much that needs. */
SZG_CHECK_RESULT szg_status szgi_logits_dense(szg_context *context, const szg_factored *f,
                                              double **out);

/* The spectrum of the zero matrix. */
SZG_CHECK_RESULT szg_status szgi_logits_zero(szg_context *context, const szg_factored *f,
                                             szg_spectrum_kind kind, szg_spectrum *out);

#endif
