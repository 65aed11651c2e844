/* What is known of the matrices of <szego/closed_forms.def>: a constant record each, in a file of
 * its own. Nothing else names one to treat it apart. */
#ifndef SZG_SPECTRA_CLOSED_FORM_H
#define SZG_SPECTRA_CLOSED_FORM_H

#include "ball/arb.h"
#include "solvers.h"
#include "spectra_private.h"

typedef struct closed_form {
    /* Refuses numbers for which nothing is known (SZG_EINVAL), and answers with eigenvalues, rank,
     * zeros, trace, norm and method. Options may ask for the ends alone, or for a dense solver. */
    szgi_solver *eigenvalues;
    /* Encloses eigenvalue `index`, ascending from 0, of a matrix that is not 0, by Arb. */
    void (*enclose)(int64_t n, double parameter, int64_t index, arb_t value);
    /* Whether sum |a_k| over all lags is finite. */
    bool (*summable)(double parameter);
} closed_form;

/* Certified ends of *spectrum, and `values`: bounds of each listed value, where all are. */
SZG_CHECK_RESULT szg_status szgi_closed_certify(szg_context *context, const szg_matrix *matrix,
                                                bool values, szg_spectrum *spectrum);

/* root contains the only root between lo and hi of an increasing function: bisection until balls of
 * SZGI_CLOSED_BITS bits cannot tell its sign, or the bracket is below 2^-80 of the root. */
enum { SZGI_CLOSED_BITS = 256 };
typedef void szgi_increasing(const void *data, const arb_t t, arb_t value);
void szgi_enclose_root(szgi_increasing *function, const void *data, const arb_t lo, const arb_t hi,
                       arb_t root);

#define SZG_CLOSED_FORM(NAME, name, words, method) extern const closed_form szgi_closed_form_##name;
#include <szego/closed_forms.def>

#endif
