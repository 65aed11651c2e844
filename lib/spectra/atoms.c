/* Kernels sum_t w_t cos(k theta_t) with w_t >= 0: rotary mean kernels, sinusoidal P P^T. The matrix
 * is V V^T with a column sqrt(w_t) cos((j - c) theta_t) and one of sines for each t, c = (n-1)/2.
 * Counted from the middle, cosines are even and sines odd in j, so that V^T V falls into two Gram
 * matrices, sqrt(w_s w_t) [D_n(theta_s - theta_t) +- D_n(theta_s + theta_t)] / 2, whose eigenvalues
 * are the nonzero ones of V V^T. */
#include <inttypes.h>
#include <stdlib.h>

#include "linalg/linalg.h"

#include "dirichlet.h"
#include "solvers.h"
#include "spectra_private.h"

typedef struct atom {
    double theta, weight; /* theta >= 0, distinct; weight > 0 */
    szgi_angle angle;
} atom;

typedef struct atom_set {
    int64_t n, count;
    bool constant; /* atom[0] has theta = 0, whose sine vanishes */
    atom *atom;
} atom_set;

static int compare_atoms(const void *left, const void *right) {
    double a = ((const atom *)left)->theta, b = ((const atom *)right)->theta;
    return (a > b) - (a < b);
}

/* cos(k theta) does not know theta's sign, and equal frequencies are one atom. Two different
 * doubles are never equal or opposite modulo 2 pi, which is irrational: the atoms that remain are
 * distinct points of the circle, and the Vandermonde argument makes the ranks below exact. */
static void merge_atoms(atom_set *set) {
    qsort(set->atom, (size_t)set->count, sizeof *set->atom, compare_atoms);
    int64_t kept = 0;
    for (int64_t i = 0; i < set->count; i++) {
        if (kept > 0 && set->atom[kept - 1].theta == set->atom[i].theta)
            set->atom[kept - 1].weight += set->atom[i].weight;
        else
            set->atom[kept++] = set->atom[i];
    }
    set->count = kept;
    set->constant = kept > 0 && set->atom[0].theta == 0;
}

static szg_status check_atom(szg_context *context, int64_t i, double weight, double theta) {
    if (!(weight >= 0 && weight <= 0x1p500))
        return szgi_fail(context, SZG_EINVAL, "weight %" PRId64 " is %g: it must be 0 .. 2^500", i,
                         weight);
    if (!(fabs(theta) <= 0x1p60))
        return szgi_fail(context, SZG_EINVAL,
                         "frequency %" PRId64 " is %g radians: it must be at most 2^60", i, theta);
    return SZG_OK;
}

/* NaN comes of a mean over no dimension at all. */
static szg_status check_constant(szg_context *context, double constant) {
    if (!(constant >= 0))
        return szgi_fail(context, SZG_EINVAL,
                         "the constant of a sum of cosines is %g: it is not negative, and a rotary "
                         "mean kernel needs at least one pair or unrotated dimension",
                         constant);
    return SZG_OK;
}

static szg_status add_atom(szg_context *context, int64_t i, double weight, double theta,
                           atom_set *set) {
    SZG_TRY(check_atom(context, i, weight, theta));
    if (weight > 0)
        set->atom[set->count++] = (atom){.theta = fabs(theta), .weight = weight};
    return SZG_OK;
}

static szg_status open_atoms(szg_context *context, const szg_matrix *matrix, atom_set *set) {
    int64_t count = matrix->of.cosines.count;
    const double *weight = matrix->of.cosines.weight, *theta = matrix->of.cosines.theta;
    szg_status status;
    SZG_TRY(szgi_memory_alloc(context, count + 1, &set->atom));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY_GOTO(
            status,
            add_atom(context, i, weight ? weight[i] : matrix->of.cosines.equal, theta[i], set),
            failed);
    SZG_TRY_GOTO(status, check_constant(context, matrix->of.cosines.constant), failed);
    SZG_TRY_GOTO(status, add_atom(context, count, matrix->of.cosines.constant, 0, set), failed);
    merge_atoms(set);
    for (int64_t i = 0; i < set->count; i++)
        set->atom[i].angle = szgi_angle_of(set->atom[i].theta);
    return SZG_OK;
failed:
    szgi_memory_free(set->atom);
    return status;
}

/* The even Gram matrix into `even`, the odd one (without a constant atom's zero row) into `odd`. */
static void fill_gram(const atom_set *set, double *even, double *odd) {
    int64_t p = set->count, skip = set->constant, q = p - skip;
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = 0; j <= i; j++) {
            szgi_angle a = set->atom[i].angle, b = set->atom[j].angle;
            double scale = sqrt(set->atom[i].weight) * sqrt(set->atom[j].weight) / 2;
            double minus = szgi_dirichlet(set->n, szgi_angle_difference(a, b));
            double plus = szgi_dirichlet(set->n, szgi_angle_sum(a, b));
            even[i * p + j] = even[j * p + i] = scale * (minus + plus);
            if (j >= skip)
                odd[(i - skip) * q + j - skip] = odd[(j - skip) * q + i - skip] =
                    scale * (minus - plus);
        }
}

/* The `rank` largest of the p eigenvalues of a Gram matrix. True ones are >= 0, so that a negative
 * one is rounding and 0 is nearer to the truth. */
static szg_status gram_eigenvalues(szg_context *context, int64_t p, double *gram, double *w,
                                   int64_t rank, double *out) {
    if (p == 0)
        return SZG_OK;
    SZG_TRY(szgi_eigen_symmetric(context, p, gram, p, w, false));
    for (int64_t i = 0; i < rank; i++)
        out[i] = fmax(w[p - rank + i], 0);
    return SZG_OK;
}

/* Smooth kernels have full rank and eigenvalues far below what rounding leaves of them. */
static const char *rounding_note(const szg_spectrum *spectrum) {
    return szgi_least_is_rounding(spectrum)
               ? "full rank, because the frequencies differ: the least eigenvalue is positive, but "
                 "below rounding (n eps of the largest), and lambda_min is rounding"
               : NULL;
}

static double total_weight(const atom_set *set) {
    double sum = 0;
    for (int64_t i = 0; i < set->count; i++)
        sum += set->atom[i].weight;
    return sum;
}

static szg_status atoms_run(szg_context *context, const atom_set *set, double *work,
                            szg_spectrum *out) {
    int64_t p = set->count, q = p - set->constant, n = set->n;
    int64_t even_rank = p < n - n / 2 ? p : n - n / 2, odd_rank = q < n / 2 ? q : n / 2;
    int64_t rank = even_rank + odd_rank;
    double *even = work, *odd = even + p * p, *w = odd + q * q;
    SZG_TRY(szgi_spectrum_open(context, n, rank, SZG_SPECTRUM_EIGENVALUE, false, out));
    fill_gram(set, even, odd);
    double even_norm, odd_norm;
    SZG_TRY(szgi_dense_frobenius(context, p, p, even, p, &even_norm));
    SZG_TRY(szgi_dense_frobenius(context, q, q, odd, q, &odd_norm));
    SZG_TRY(gram_eigenvalues(context, p, even, w, even_rank, out->re));
    SZG_TRY(gram_eigenvalues(context, q, odd, w, odd_rank, out->re + even_rank));
    szgi_sort_ascending(rank, out->re);
    SZG_TRY(szgi_spectrum_check(context, rank, out->re, (double)n * total_weight(set),
                                hypot(even_norm, odd_norm), out));
    out->zeros = n - rank;
    out->rank = rank;
    out->normal = true;
    out->method = SZG_METHOD_DIRICHLET;
    out->note = rounding_note(out);
    /* LAPACK's backward error, and that of the entries: each within 8 units of sqrt(w_s w_t) n, so
     * that their matrix has a norm of 8 units of the trace at most. */
    double error = 8 * DBL_EPSILON * (double)n * total_weight(set);
    if (rank > 0)
        error += (double)p * DBL_EPSILON * out->re[rank - 1];
    return szgi_spectrum_errors(context, error, out);
}

static szg_status atoms_structured(szg_context *context, const atom_set *set, szg_spectrum *out) {
    int64_t square, p = set->count;
    double *work;
    SZG_TRY(szgi_memory_require(context, p, 2 * p + 1, sizeof *work,
                                "the Gram matrices of the frequencies", "use fewer frequencies"));
    SZG_TRY(szgi_memory_product(context, p, 2 * p + 1, &square));
    SZG_TRY(szgi_memory_alloc(context, square, &work));
    szg_status status = atoms_run(context, set, work, out);
    szgi_memory_free(work);
    if (status != SZG_OK)
        szg_spectrum_close(out);
    return status;
}

static double atoms_lag(const void *data, int64_t k) {
    const atom_set *set = data;
    double sum = 0;
    for (int64_t i = 0; i < set->count; i++)
        sum += set->atom[i].weight * szgi_angle_cos(k, set->atom[i].angle);
    return sum;
}

/* Returned complete whatever is wanted: any n up to 2^62 takes the same time. */
szg_status szgi_cosines_eigen(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    const int64_t most = (int64_t)1 << 40;
    int64_t n = matrix->rows, count = matrix->of.cosines.count;
    bool weighed = matrix->of.cosines.weight || !isnan(matrix->of.cosines.equal);
    if (count > 0 && (!matrix->of.cosines.theta || !weighed))
        return szgi_fail(context, SZG_EINVAL, "weights or frequencies of the cosines are missing");
    if (count < 0 || count > most || n > (int64_t)1 << 62)
        return szgi_fail(context, SZG_EINVAL,
                         "%" PRId64 " frequencies at order %" PRId64
                         ": counts are not negative, and at most 2^40, orders at most 2^62",
                         count, n);
    atom_set set = {.n = n};
    SZG_TRY(open_atoms(context, matrix, &set));
    szg_status status = szgi_options_dense(options)
                            ? szgi_dense_kernel(context, n, atoms_lag, &set, options, out)
                            : atoms_structured(context, &set, out);
    szgi_memory_free(set.atom);
    return status;
}
