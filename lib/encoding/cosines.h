/* What sinusoidal and rotary encodings share: sums of cosines, and rows of sines and cosines. */
#ifndef SZG_ENCODING_COSINES_H
#define SZG_ENCODING_COSINES_H

#include "encoding/encoding.h"

/* theta_t = base^(-2t/size), t = 0 .. pairs - 1. */
void szgi_cosines_frequencies(int64_t pairs, int64_t size, double base, double *theta);

/* Number of distinct points e^{+-i theta_t} on the circle, and 1 where `constant` dimensions stay.
 */
SZG_CHECK_RESULT szg_status szgi_cosines_atoms(szg_context *context, int64_t pairs,
                                               const double *theta, bool constant, int64_t *atoms);

void szgi_cosines_facts(const szgi_rotary *rotary, int64_t atoms, const char *matrix, double scale,
                        szg_kernel_facts *facts);

/* a_k = scale (2 sum cos(k theta_t) + unrotated) / dim. */
double szgi_cosines_lag(const szg_kernel_facts *facts, int64_t k);

/* SZG_EINVAL for an odd number of dimensions. */
SZG_CHECK_RESULT szg_status szgi_cosines_require_even(szg_context *context, const szgi_spec *spec,
                                                      const char *key, int64_t value);

/* Rows (sin i theta_t, cos i theta_t), t = 0, 1, ...: Vaswani et al. 2017, 3.5; paper Eq. 1. */
typedef struct sinusoid {
    int64_t dim, atoms;
    double *theta; /* [dim / 2] */
} sinusoid;

/* From the keys `base` and `dim_key`. */
SZG_CHECK_RESULT szg_status szgi_sinusoid_open(szg_context *context, const szgi_spec *spec,
                                               const char *dim_key, sinusoid *out);
void szgi_sinusoid_close(sinusoid *rows);
void szgi_sinusoid_facts(const sinusoid *rows, szg_kernel_facts *facts);
void szgi_sinusoid_row(const sinusoid *rows, int64_t i, double *p);

#endif
