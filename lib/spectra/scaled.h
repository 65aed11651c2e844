/* Toeplitz matrices whose coefficients are so small that arithmetic on them would lose digits, or
 * so large that squares of them would overflow. */
#ifndef SZG_SPECTRA_SCALED_H
#define SZG_SPECTRA_SCALED_H

#include "spectra/spectra.h"
#include "toeplitz/toeplitz.h"

typedef szg_status szgi_scaled_solver(szg_context *context, const szg_toeplitz *t,
                                      const szg_spectra_options *options, szg_spectrum *out);

/* The solver's spectrum of T; where every coefficient is below 2^-400 or one is above 2^400, of T
 * times a power of two, with the values brought back. A product that would not be exact is not
 * formed: T itself is solved. SZG_ENOMEM, and the solver's errors. */
SZG_CHECK_RESULT szg_status szgi_scaled_solve(szg_context *context, const szg_toeplitz *t,
                                              const szg_spectra_options *options,
                                              szgi_scaled_solver *solver, szg_spectrum *out);

#endif
