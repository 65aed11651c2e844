/* What the tests of certified eigenvalues and singular values share. */
#ifndef SZG_TESTS_CERTIFIED_SUPPORT_H
#define SZG_TESTS_CERTIFIED_SUPPORT_H

#include "ball/arb.h"
#include "ball/ball.h"
#include "inertia.h"
#include "spectra_support.h"

enum { BITS = INERTIA_BITS };

/* ---- Matrices ---- */

typedef enum family {
    RANDOM,
    CLUSTERED, /* 1 + 1e-14 times random */
    GRADED,    /* rows and columns fall by 10^-30 in all */
    SINGULAR,  /* of rank one, up to rounding */
    INTEGER,   /* few eigenvalues, many of them multiple */
    DENORMAL,
    HUGE_NUMBERS,
    FAMILIES
} family;

/* Entry (i, j), i >= j, part 0 or 1 of a matrix of order n. */
static inline double entry(family kind, const szgi_stream *stream, int64_t n, int64_t i, int64_t j,
                           int part) {
    uint64_t at = (uint64_t)((i * n + j) * 2 + part);
    double x = szgi_random_normal(stream, at);
    if (i == j && part == 1)
        return 0;
    switch (kind) {
    case CLUSTERED:
        return (i == j ? 1 : 0) + 1e-14 * x;
    case GRADED:
        return x * pow(10, -15 * (double)(i + j) / (double)n);
    case SINGULAR:
        return part == 1 ? 0
                         : szgi_random_normal(stream, (uint64_t)i) *
                               szgi_random_normal(stream, (uint64_t)j);
    case INTEGER:
        return (double)szgi_random_below(stream, at, 3) - 1;
    case DENORMAL:
        return x * 3e-323;
    case HUGE_NUMBERS:
        return x * 1e306;
    default:
        return x;
    }
}

/* The number that `truth` contains may lie in `bounds`. */
#define ck_meets(bounds, truth)                                                                    \
    ck_assert_msg((bounds).lo <= (truth).hi && (truth).lo <= (bounds).hi,                          \
                  "[%.17g, %.17g] misses [%.17g, %.17g]", (bounds).lo, (bounds).hi, (truth).lo,    \
                  (truth).hi)

/* Eigenvalues below and above `shift`; false where balls cannot tell. */
static inline bool counts(const szgi_ball_matrix *matrix, double shift, int64_t *below,
                          int64_t *above) {
    return isfinite(shift) &&
           szgi_ball_matrix_inertia(test_context(), matrix, shift, below, above) == SZG_OK;
}

static const szg_spectra_options certified = {SZG_INIT(szg_spectra_options),
                                              .certify = SZG_CERTIFY_VALUES};

#endif
