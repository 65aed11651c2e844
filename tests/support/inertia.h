/* An oracle of certified eigenvalues: Sylvester's law of inertia with Arb, of the suite and of a
 * fuzzer. */
#ifndef SZG_TESTS_INERTIA_H
#define SZG_TESTS_INERTIA_H

#include <math.h>
#include <szego/spectrum.h>

#include "ball/ball.h"

enum { INERTIA_BITS = 256 };

/* The lower triangle of an n x n array, `width` numbers an entry, as a ball matrix. */
static inline szg_status inertia_matrix(szg_context *context, int64_t n, int64_t width,
                                        const double *a, szgi_ball_matrix **out) {
    SZG_TRY(szgi_ball_matrix_open(context, n, n, INERTIA_BITS, out));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < n && status == SZG_OK; i++)
        for (int64_t j = 0; j <= i && status == SZG_OK; j++) {
            const double *from = a + (i * n + j) * width;
            szg_c64 value = {from[0], width == 2 ? from[1] : 0};
            status = szgi_ball_matrix_set(context, *out, i, j, value);
            if (status == SZG_OK)
                status = szgi_ball_matrix_set(context, *out, j, i, (szg_c64){value.re, -value.im});
        }
    if (status != SZG_OK)
        szgi_ball_matrix_close(out);
    return status;
}

/* What is known of a matrix's eigenvalues: at most (at least) so many are below (above) a shift. */
typedef struct inertia_claim {
    double shift;
    int64_t below_most, below_least, above_most, above_least;
} inertia_claim;

/* False: the claim is wrong. Where balls cannot tell, it stands, and *decided does not grow. */
static inline bool inertia_holds(szg_context *context, const szgi_ball_matrix *matrix,
                                 inertia_claim claim, int64_t *decided) {
    int64_t below, above;
    if (!isfinite(claim.shift) ||
        szgi_ball_matrix_inertia(context, matrix, claim.shift, &below, &above) != SZG_OK)
        return true;
    ++*decided;
    return below >= claim.below_least && below <= claim.below_most && above >= claim.above_least &&
           above <= claim.above_most;
}

/* Whether the enclosures of s, which is certified, hold: none beyond the outer bounds, one at least
 * beyond the inner ones, and of a list at most i below lo[i] and n - 1 - i above hi[i]. */
static inline bool inertia_meets(szg_context *context, const szg_spectrum *s,
                                 const szgi_ball_matrix *matrix, int64_t *decided) {
    int64_t n = s->n;
    const inertia_claim ends[] = {{s->max.hi, n, 0, 0, 0},
                                  {s->min.lo, 0, 0, n, 0},
                                  {s->max.lo, n, 0, n, 1},
                                  {s->min.hi, n, 1, n, 0}};
    for (int i = 0; i < 4; i++)
        if (!inertia_holds(context, matrix, ends[i], decided))
            return false;
    for (int64_t i = 0; s->lo && s->zeros == 0 && i < s->count; i++) {
        const inertia_claim lo = {s->lo[i], i, 0, n, 0}, hi = {s->hi[i], n, 0, n - 1 - i, 0};
        if (!inertia_holds(context, matrix, lo, decided) ||
            !inertia_holds(context, matrix, hi, decided))
            return false;
    }
    return true;
}

#endif
