/* Where the eigenvalues of a Hermitian Toeplitz matrix lie, from a circulant around it. */
#include <float.h>
#include <math.h>

#include "base/context.h"
#include "toeplitz_private.h"

/* Of a sum of `length` terms by a fast transform whose radix is at most 7, relative to the sum of
 * their moduli: a butterfly of radix r and its twiddle factors add (r + 5) u at most, and there are
 * log2(length) / log2(r) of them on each path (Higham 2002, 24.1, term by term). */
static double transform_error(int64_t length) {
    return 8 * (log2((double)length) + 2) * DBL_EPSILON;
}

/* Transform, product with eigenvalues that a transform has made, and transform back; a band is
 * summed in 2 degree + 1 terms. Eigenvalues do not exceed the sum of the moduli, by which each of
 * the three transforms errs relatively. */
double szgi_toeplitz_transform_error(const szg_toeplitz *t) {
    return 4 * transform_error(4 * t->n) * szgi_toeplitz_norm_wiener(t);
}

double szgi_toeplitz_product_error(const szg_toeplitz *t) {
    if (szgi_toeplitz_is_direct(t))
        return 2 * (double)(2 * t->degree + 3) * DBL_EPSILON * szgi_toeplitz_norm_wiener(t);
    return szgi_toeplitz_transform_error(t);
}

static void circulant_range(const szgi_circulant *circulant, double *lo, double *hi) {
    int64_t count = circulant->real ? circulant->length / 2 + 1 : circulant->length;
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int64_t j = 0; j < count; j++) {
        double value = circulant->spectrum[j].re * (double)circulant->length;
        *lo = fmin(*lo, value);
        *hi = fmax(*hi, value);
    }
}

/* Before rounding. */
static szg_status transformed_range(szg_context *context, const szg_toeplitz *t, double *lo,
                                    double *hi) {
    const szgi_circulant *circulant;
    szgi_pair *pair;
    if (szgi_pair_serves(t)) {
        SZG_TRY(szgi_toeplitz_pair(context, t, false, &pair));
        szgi_pair_range(pair, lo, hi);
        return SZG_OK;
    }
    SZG_TRY(szgi_toeplitz_embedding(context, t, false, &circulant));
    circulant_range(circulant, lo, hi);
    return SZG_OK;
}

szg_status szgi_toeplitz_enclose(szg_context *context, const szg_toeplitz *t, double *lo,
                                 double *hi) {
    double least, largest;
    if (!szgi_toeplitz_is_hermitian(t))
        return szgi_fail(context, SZG_EINVAL, "the range of a Toeplitz matrix without symmetry");
    double middle = szg_toeplitz_at(t, 0).re, norm = szgi_toeplitz_norm_wiener(t);
    /* Of moduli, in any order; of subnormal numbers each modulus may be off by their distance. */
    double sums = (double)(2 * t->degree + 1) * (DBL_EPSILON * norm + DBL_TRUE_MIN);
    double radius = norm - fabs(middle) + sums;
    *lo = middle - radius;
    *hi = middle + radius;
    if (t->degree == 0) {
        *lo = *hi = middle;
        return SZG_OK;
    }
    double error = transform_error(4 * t->n) * norm; /* no transform is longer */
    if (szgi_toeplitz_is_direct(t) || error < DBL_MIN)
        return SZG_OK; /* where products underflow, a transform has no relative error */
    SZG_TRY(transformed_range(context, t, &least, &largest));
    *lo = fmax(*lo, least - error);
    *hi = fmin(*hi, largest + error);
    return SZG_OK;
}
