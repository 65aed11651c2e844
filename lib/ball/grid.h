/* Values of a polynomial and its derivatives on a grid, in long double, with proved error bounds.
 * Everything here is scaled: by 2^-exponent, so that the largest coefficient is near 1, and by
 * degree^-p for derivative p, so that Bernstein's inequality reads |F_{p+1}| <= max |F_p|. */
#ifndef SZG_BALL_GRID_H
#define SZG_BALL_GRID_H

#include "fft.h"
#include "polynomial.h"

enum { ORDERS_MAX = 24 };

typedef struct grid {
    int64_t degree, size;
    int64_t exponent;
    int orders;                 /* derivatives 0 .. orders - 1 are taken; even */
    real half_width;            /* of a cell, in x = degree t; not below pi degree / size */
    real error;                 /* |computed F_p - true F_p| <= error for each p taken so far */
    real bound[ORDERS_MAX + 1]; /* sup |F_p|; at first from the coefficients alone */
    fft plan;
    pair *coefficient; /* c_k (k / degree)^p 2^-exponent for the next p, k = 0 .. degree */
    pair *value;       /* after szgi_grid_next: re is F_p, im is F_{p+1}, p = the argument */
} grid;

SZG_CHECK_RESULT szg_status szgi_grid_open(szg_context *context, const polynomial *p, grid *out);
void szgi_grid_close(grid *g);

/* Computes F_p and F_{p+1} on the grid (p = 0, 2, 4, ... in turn), `error` and bound[p .. p+2].
 * SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_grid_next(szg_context *context, grid *g, int p);

/* The largest distance between a value of the Taylor polynomial of `orders` terms that the grid
 * gives for a cell, as computed, and the true value, anywhere in the cell. */
real szgi_grid_taylor_error(const grid *g, int orders);

#endif
