/* Spectra that several processes compute together ("linalg/distributed.h"). */
#ifndef SZG_SPECTRA_SHARED_H
#define SZG_SPECTRA_SHARED_H

#include "linalg/distributed.h"
#include "toeplitz/toeplitz.h"

#include "spectra_private.h"

/* Refuses what only one process can compute, by name: SZG_EDOMAIN. What takes every process no time
 * (closed forms, small orders) is computed by each. */
SZG_CHECK_RESULT szg_status szgi_shared_check(szg_context *context, const szg_matrix *matrix,
                                              szg_question question,
                                              const szg_spectra_options *options);

/* Whether a spectrum of this order is shared; small ones are not. */
bool szgi_shared_takes(szg_context *context, int64_t n);

/* All eigenvalues of a Hermitian t, from the halves or from the real matrix that has them; of the
 * matrix itself where `dense`. Selected ones are kept. */
SZG_CHECK_RESULT szg_status szgi_shared_values(szg_context *context, const szg_toeplitz *t,
                                               const szgi_selection *selection, bool dense,
                                               szg_spectrum *out);

/* As szgi_extremes_toeplitz, by Lanczos alone. */
SZG_CHECK_RESULT szg_status szgi_shared_extremes(szg_context *context, const szg_toeplitz *t,
                                                 const szgi_selection *selection, szg_spectrum *out,
                                                 bool *complete);

#endif
