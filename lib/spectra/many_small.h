/* Spectra of small symmetric arrays among many matrices, those of one order together. */
#ifndef SZG_SPECTRA_MANY_SMALL_H
#define SZG_SPECTRA_MANY_SMALL_H

#include "linalg/linalg.h"
#include "spectra/spectra.h"

/* A symmetric or real array that is square, of such an order, and there. */
bool szgi_is_small(const szg_matrix *matrix);

/* Of `count` matrices: fills out[i], zeroed before, for each array whose question is one of a
 * symmetric matrix of order SZGI_SMALL_ORDER at most, if `least` have its order. The others' stay
 * as they are, and so do those of arrays that szg_spectrum_compute would refuse: that then says
 * why. On the cpu the bits of a spectrum depend on its own matrix alone. `out` may hold spectra on
 * failure. SZG_ENOMEM, SZG_ENOCONV, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_many_small(szg_context *context, int64_t count,
                                            const szg_matrix *matrices, szg_question question,
                                            const szg_spectra_options *options, int64_t least,
                                            szg_spectrum *out);

#endif
