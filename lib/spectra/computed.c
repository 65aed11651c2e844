/* Spectra from values that a device has computed: checked against trace and Frobenius norm, which
 * come from the entries, as those of a batch. */
#include <inttypes.h>

#include "network/network.h"

#include "solvers.h"
#include "spectra_private.h"

static szg_status of_eigenvalues(szg_context *context, int64_t n, const double *ascending,
                                 double trace, double frobenius, szg_method method,
                                 szg_spectrum *out) {
    const szgi_selection all = {.n = n, .low = n};
    SZG_TRY(szgi_spectrum_from_values(context, &all, ascending, out));
    out->normal = true;
    out->method = method;
    return szgi_spectrum_finish(szgi_spectrum_check_within(context, n, ascending, trace, frobenius,
                                                           szgi_batch_limit(n), out),
                                out);
}

/* The squares belong to L^T L, whose trace is ||L||_F^2, and which has no negative eigenvalue. */
static szg_status check_squares(szg_context *context, int64_t n, const double *squares,
                                double frobenius, double gram_frobenius, szg_spectrum *out) {
    double trace = frobenius * frobenius, limit = szgi_batch_limit(n);
    szg_status status =
        szgi_spectrum_check_within(context, n, squares, trace, gram_frobenius, limit, out);
    if (status != SZG_OK)
        return szgi_fail_prefix(context, status, "L^T L");
    for (int64_t i = 0; i < n; i++)
        if (!(squares[i] >= -limit * trace))
            return szgi_fail(
                context, SZG_ENOCONV,
                "L^T L: eigenvalue %" PRId64
                " is %.3g, below 0 by more than rounding of its trace %.3g: it is not returned",
                i, squares[i], trace);
    return SZG_OK;
}

static szg_status roots(szg_context *context, int64_t n, const double *squares, szg_spectrum *out) {
    const szgi_selection all = {.n = n, .low = n};
    double *root;
    SZG_TRY(szgi_memory_alloc(context, n, &root));
    for (int64_t i = 0; i < n; i++)
        root[i] = sqrt(fmax(squares[i], 0));
    szg_status status = szgi_spectrum_from_moduli(context, &all, root, out);
    szgi_memory_free(root);
    return status;
}

double szgi_squares_error(int64_t n, double frobenius) {
    return sqrt(12 * (double)n * DBL_EPSILON) * frobenius;
}

static szg_status of_squares(szg_context *context, int64_t n, const szgi_logit_numbers *numbers,
                             szg_spectrum *out) {
    SZG_TRY(roots(context, n, numbers->squares, out));
    szg_status status = check_squares(context, n, numbers->squares, numbers->frobenius,
                                      numbers->gram_frobenius, out);
    out->trace = NAN;
    out->frobenius = numbers->frobenius;
    out->method = SZG_METHOD_DEVICE_SINGULAR;
    out->residual_meaning =
        "larger of |sum of squares - ||L||_F^2| / (sqrt(n) ||L^T L||_F) and | ||squares||_2 - "
        "||L^T L||_F | / ||L^T L||_F, all norms taken from the entries: a necessary check of the "
        "eigenvalues of L^T L; absolute accuracy of the singular values sqrt(12 n eps) ||L||_F";
    return status;
}

static szg_status check(szg_context *context, int64_t n, const szgi_logit_numbers *x) {
    if (x->infinite >= 0)
        return szgi_fail(context, SZG_EDATA, "entry (%" PRId64 ", %" PRId64 ") is not finite",
                         x->infinite / n, x->infinite % n);
    if (!x->converged)
        return szgi_fail(context, SZG_ENOCONV, "the device's eigenvalue solver did not converge");
    return SZG_OK;
}

szg_status szgi_device_part(szg_context *context, const szg_matrix *matrix,
                            const szg_spectra_options *options, szg_spectrum *out) {
    const szgi_logit_numbers *x = matrix->of.numbers;
    bool symmetric;
    (void)options;
    SZG_TRY(check(context, matrix->rows, x));
    SZG_TRY(szgi_matrix_is_hermitian(context, matrix, &symmetric));
    return of_eigenvalues(context, matrix->rows, x->eigenvalues, x->trace, x->part_frobenius,
                          symmetric ? SZG_METHOD_DEVICE_SYMMETRIC : SZG_METHOD_DEVICE_PART, out);
}

szg_status szgi_device_eigen(szg_context *context, const szg_matrix *matrix,
                             const szg_spectra_options *options, szg_spectrum *out) {
    bool symmetric;
    SZG_TRY(szgi_matrix_is_hermitian(context, matrix, &symmetric));
    if (!symmetric)
        return szgi_fail(context, SZG_EDOMAIN,
                         "eigenvalues of a device matrix that is not symmetric: the device keeps "
                         "those of the Hermitian part; ask for these, or for singular values");
    return szgi_device_part(context, matrix, options, out);
}

szg_status szgi_device_singular(szg_context *context, const szg_matrix *matrix,
                                const szg_spectra_options *options, szg_spectrum *out) {
    (void)options;
    SZG_TRY(check(context, matrix->rows, matrix->of.numbers));
    return of_squares(context, matrix->rows, matrix->of.numbers, out);
}
