/* What the files about factored logits L = M o (A B^T + T) share. */
#ifndef SZG_SPECTRA_FACTORED_H
#define SZG_SPECTRA_FACTORED_H

#include "toeplitz/factored.h"

#include "spectra_private.h"

/* L as a dense array with room for a second one; SZG_ENOMEM says how much that needs. */
SZG_CHECK_RESULT szg_status szgi_logits_dense(szg_context *context, const szg_factored *f,
                                              double **out);

#endif
