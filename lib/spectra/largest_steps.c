/* What the iteration of largest.c and the proof of largest_bound.c both take. */
#include <math.h>

#include "largest_private.h"

double szgi_largest_residual(int64_t n, double theta, const double *v, const double *w) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double off = w[i] - theta * v[i];
        squares += off * off;
    }
    return sqrt(squares);
}

void szgi_largest_recur(int64_t size, double end, const double *now, const double *image,
                        double *before) {
    for (int64_t i = 0; i < size; i++)
        before[i] = 4 / end * image[i] - 2 * now[i] - before[i];
}
