/* What is known of the matrices of <szego/closed_forms.def>: a constant record each, in a file of
 * its own. Nothing else names one to treat it apart. */
#ifndef SZG_SPECTRA_CLOSED_FORM_H
#define SZG_SPECTRA_CLOSED_FORM_H

#include "solvers.h"
#include "spectra_private.h"

typedef struct closed_form {
    /* Refuses numbers for which nothing is known (SZG_EINVAL), and answers with eigenvalues, rank,
     * zeros, trace, norm and method. Options may ask for the ends alone, or for a dense solver. */
    szgi_solver *eigenvalues;
    /* Whether sum |a_k| over all lags is finite. */
    bool (*summable)(double parameter);
} closed_form;

#define SZG_CLOSED_FORM(NAME, name, words, method) extern const closed_form szgi_closed_form_##name;
#include <szego/closed_forms.def>

#endif
