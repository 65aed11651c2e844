/* Spectra of small symmetric arrays among many matrices, all of one order at once. */
#ifndef SZG_SPECTRA_MANY_SMALL_H
#define SZG_SPECTRA_MANY_SMALL_H

#include "spectra/spectra.h"

/* Of `count` matrices: fills out[i], zeroed before, for each array whose question is one of a
 * symmetric matrix of order SZGI_SMALL_ORDER at most, if there are SZGI_SMALL_COUNT of its order.
 * The others' stay as they are, and so do those of arrays that szg_spectrum_compute would refuse:
 * that then says why. `out` may hold spectra on failure. SZG_ENOMEM, SZG_ENOCONV, SZG_ECANCEL. */
enum { SZGI_SMALL_ORDER = 256, SZGI_SMALL_COUNT = 8 };
SZG_CHECK_RESULT szg_status szgi_many_small(szg_context *context, int64_t count,
                                            const szg_matrix *matrices, szg_question question,
                                            const szg_spectra_options *options, szg_spectrum *out);

#endif
