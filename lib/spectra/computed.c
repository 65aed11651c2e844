/* Spectra from values that a device has computed. */
#include <inttypes.h>

#include "spectra_private.h"

szg_status szgi_spectra_of_eigenvalues(szg_context *context, int64_t n, const double *ascending,
                                       double trace, double frobenius, szg_method method,
                                       szg_spectrum *out) {
    const szgi_selection all = {.n = n, .low = n};
    memset(out, 0, sizeof *out);
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
            return szgi_fail(context, SZG_ENOCONV,
                             "L^T L: eigenvalue %" PRId64 " is %.3g, below 0 by more than rounding "
                             "of its trace %.3g: not handed out",
                             i, squares[i], trace);
    return SZG_OK;
}

static szg_status roots(szg_context *context, int64_t n, const double *squares, szg_spectrum *out) {
    const szgi_selection all = {.n = n, .low = n};
    double *root;
    SZG_TRY(szgi_memory_alloc(context, n, sizeof *root, &root));
    for (int64_t i = 0; i < n; i++)
        root[i] = sqrt(fmax(squares[i], 0));
    szg_status status = szgi_spectrum_from_moduli(context, &all, root, out);
    szgi_memory_free(root);
    return status;
}

szg_status szgi_spectra_of_squares(szg_context *context, int64_t n, const double *squares,
                                   double frobenius, double gram_frobenius, szg_method method,
                                   double *error, szg_spectrum *out) {
    memset(out, 0, sizeof *out);
    SZG_TRY(roots(context, n, squares, out));
    szg_status status = check_squares(context, n, squares, frobenius, gram_frobenius, out);
    *error = sqrt(12 * (double)n * DBL_EPSILON) * frobenius;
    out->trace = NAN;
    out->frobenius = frobenius;
    out->method = method;
    out->residual_meaning =
        "larger of |sum of squares - ||L||_F^2| / (sqrt(n) ||L^T L||_F) and | ||squares||_2 - "
        "||L^T L||_F | / ||L^T L||_F, all norms taken from the entries: a necessary check of the "
        "eigenvalues of L^T L; absolute accuracy of the singular values sqrt(12 n eps) ||L||_F";
    return szgi_spectrum_finish(status, out);
}
