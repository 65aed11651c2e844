/* Toeplitz matrices whose coefficients are so small that arithmetic on them would lose digits. */
#ifndef SZG_SPECTRA_TINY_H
#define SZG_SPECTRA_TINY_H

#include "spectra/spectra.h"
#include "toeplitz/toeplitz.h"

typedef szg_status szgi_tiny_solver(szg_context *context, const szg_toeplitz *t,
                                    const szg_spectra_options *options, szg_spectrum *out);

/* The solver's spectrum of T; where every coefficient is below 2^-400, of T times a power of two,
 * with the values brought back. SZG_ENOMEM, and the solver's errors. */
SZG_CHECK_RESULT szg_status szgi_tiny_solve(szg_context *context, const szg_toeplitz *t,
                                            const szg_spectra_options *options,
                                            szgi_tiny_solver *solver, szg_spectrum *out);

#endif
