/* Some eigenvalues of a symmetric operator that is known by its products alone. */
#ifndef SZG_SPECTRA_LANCZOS_H
#define SZG_SPECTRA_LANCZOS_H

#include "base/context.h"

/* y = S x, both of n numbers, S real symmetric. */
typedef struct szgi_operator {
    int64_t n;
    szg_status (*apply)(szg_context *context, void *data, const double *x, double *y);
    void *data;
} szgi_operator;

typedef struct szgi_lanczos_options {
    bool largest;     /* the k largest eigenvalues, else the k smallest */
    int64_t k;        /* 1 <= k, and k + 2 <= n */
    int64_t basis;    /* vectors kept, k + 1 .. n; 0: 2 k + 20, cut at n */
    int64_t restarts; /* at most that many */
    double tolerance; /* relative to each eigenvalue, as ARPACK has it */
    bool partial;     /* answer with pairs that have not met the tolerance too */
    const char *what; /* for progress */
} szgi_lanczos_options;

/* Implicitly restarted Lanczos (ARPACK; Lehoucq, Sorensen, Yang 1998) from a fixed pseudo-random
 * start. *vectors, which the caller frees: k rows of n, orthonormal, sorted with `values`
 * ascending, at the head of the basis itself, because a copy of a vector may take a gigabyte.
 * *converged tells whether all k met the tolerance; where not, *vectors is NULL and values[0] is
 * NaN, but with `partial`: then those k Ritz pairs may be there. Memory: basis + 4 vectors. ARPACK
 * keeps state between its calls, so one run at a time holds a lock: `apply` must not call this
 * function. */
SZG_CHECK_RESULT szg_status szgi_lanczos(szg_context *context, const szgi_operator *s,
                                         const szgi_lanczos_options *options, double *values,
                                         double **vectors, bool *converged);

#endif
