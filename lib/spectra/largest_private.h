/* What the files of "largest.h" share. */
#ifndef SZG_SPECTRA_LARGEST_PRIVATE_H
#define SZG_SPECTRA_LARGEST_PRIVATE_H

#include "base/random.h"

#include "largest.h"

/* Purposes of streams: the range's vectors, and those that look for what was missed. */
enum { LARGEST_RANGE = 0x70, LARGEST_PROBES = 0x71 };

/* Blocks are width x n, a vector a row. */
typedef struct largest_work {
    const szgi_block_operator *s;
    int64_t width, wanted, passes;
    int64_t kept; /* leading vectors that the proof is about: wanted .. width */
    double tolerance;
    uint64_t seed;
    double *memory;
    double *v, *w; /* Ritz vectors and their images */
    double *spare[2];
    double *core;     /* width x width */
    double *theta;    /* Ritz values, descending */
    double *residual; /* ||w_i - theta_i v_i|| */
} largest_work;

/* Makes rows orthonormal; one that depends on those before it is drawn anew. */
void szgi_largest_orthonormalise(const szgi_stream *fresh, int64_t n, int64_t count, double *v);

double szgi_largest_residual(int64_t n, double theta, const double *v, const double *w);

/* before := (4 S / end - 2) now - before, where image is S now: a step of Chebyshev's recurrence on
 * 0 .. end. */
void szgi_largest_recur(int64_t size, double end, const double *now, const double *image,
                        double *before);

/* The largest error of a wanted value, if what is left out is at most `slack` times the next Ritz
 * value; sets work->kept to the number of vectors for which that is least. */
double szgi_largest_spread(largest_work *work, double slack);

SZG_CHECK_RESULT szg_status szgi_largest_prove(szg_context *context, largest_work *work,
                                               szgi_largest_value *out);

#endif
