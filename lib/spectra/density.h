/* Chebyshev moments of a spectrum, from its values or from products. */
#ifndef SZG_SPECTRA_DENSITY_H
#define SZG_SPECTRA_DENSITY_H

#include <szego/density.h>

#include "spectra/spectra.h"
#include "toeplitz/toeplitz.h"

/* The map of an interval onto [-1, 1]: x = (lambda - centre) / half. */
typedef struct szgi_unit_map {
    double lo, hi, centre, half;
} szgi_unit_map;

/* Of lo < hi. SZG_EDATA: their distance exceeds doubles. */
SZG_CHECK_RESULT szg_status szgi_unit_map_open(szg_context *context, double lo, double hi,
                                               szgi_unit_map *out);

/* moment[m] = mean of T_m over the spectrum's values and structural zeros, m < count. */
SZG_CHECK_RESULT szg_status szgi_moments_of_values(szg_context *context,
                                                   const szg_spectrum *spectrum,
                                                   const szgi_unit_map *map, int64_t count,
                                                   double *moment);

/* The same of a Hermitian t, estimated with `vectors` vectors of random signs. */
SZG_CHECK_RESULT szg_status szgi_moments_of_products(szg_context *context, const szg_toeplitz *t,
                                                     const szgi_unit_map *map,
                                                     const szg_density_options *options,
                                                     double *moment);

#endif
