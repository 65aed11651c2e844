/* What the house alone uses of <szego/theory.h>. */
#ifndef SZEGO_THEORY_THEORY_H
#define SZEGO_THEORY_THEORY_H

#include <szego/theory.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The spectra that the ratios compare; counts may be 0, and eigenvalue counts must agree. */
typedef struct szgi_contraction_input {
    int64_t eigenvalues;
    const double *content_eigenvalues, *coupled_eigenvalues; /* NULL where not real */
    int64_t content_values, coupled_values;
    const double *content_singular, *coupled_singular;
    double error; /* bound of the error of one eigenvalue */
} szgi_contraction_input;

SZG_CHECK_RESULT szg_status szgi_contraction_ratios_of(szg_context *context,
                                                       const szgi_contraction_input *input,
                                                       szg_contraction_ratios *out);

SZGI_END_DECLS

#endif
