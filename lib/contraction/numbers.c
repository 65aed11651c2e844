/* Reports of matrices that a device has kept: from the numbers it has computed. */
#include <inttypes.h>
#include <math.h>

#include "report_private.h"

/* Square roots of noise are no least singular value. */
static void drop_noise(double error, szg_matrix_report *report) {
    report_note(report, "spectra by a device; singular values from L^T L, off by at most %.2g each",
                error);
    if (!(report->summary.sigma_min > error))
        report_drop_noise(error, "the error of the singular values", report);
}

static szg_status fill_spectra(szg_context *context, int64_t n, const szg_logit_numbers *x,
                               szg_matrix_report *report) {
    double error = 0;
    report->hermitian_part = !report_is_symmetric(x->skew, x->largest);
    SZG_TRY(szg_spectra_of_eigenvalues(context, n, x->eigenvalues, x->trace, x->part_frobenius,
                                       report->hermitian_part
                                           ? "Hermitian part: dense symmetric (device)"
                                           : "dense symmetric (device)",
                                       &report->eigenvalues));
    if (!report->hermitian_part) {
        SZG_TRY(report_summarise(context, n, report));
        report_note(report, "spectra by a device");
        return SZG_OK;
    }
    SZG_TRY(szg_spectra_of_squares(context, n, x->squares, x->frobenius, x->gram_frobenius,
                                   "eigenvalues of L^T L (device)", &error, &report->singular));
    SZG_TRY(report_summarise(context, n, report));
    drop_noise(error, report);
    return SZG_OK;
}

static szg_status fill_part(szg_context *context, int64_t n, const szg_logit_numbers *x,
                            const szg_report_options *options, szg_matrix_report *report) {
    szg_toeplitz *part;
    SZG_TRY(szg_toeplitz_open_means(context, n, x->means, &part));
    szg_status status = report_no_zero(
        szg_toeplitzness_of_parts(context, part, x->rest_frobenius, &report->toeplitzness), report);
    if (status == SZG_OK)
        status = report_part_symbol(context, part, options, report);
    szg_toeplitz_close(&part);
    return status;
}

static szg_status check(szg_context *context, int64_t n, const szg_logit_numbers *x) {
    if (x->infinite >= 0)
        return szg_fail(context, SZG_EDATA, "entry (%" PRId64 ", %" PRId64 ") is not finite",
                        x->infinite / n, x->infinite % n);
    if (!x->converged)
        return szg_fail(context, SZG_ENOCONV, "the device's eigenvalue solver did not converge");
    return SZG_OK;
}

szg_status report_numbers(szg_context *context, int64_t n, const szg_logit_numbers *numbers,
                          const char *name, const szg_report_options *options,
                          szg_matrix_report *out) {
    *out = (szg_matrix_report){.matrix = name};
    szg_status status;
    SZG_TRY_GOTO(status, check(context, n, numbers), done);
    SZG_TRY_GOTO(status, fill_spectra(context, n, numbers, out), done);
    SZG_TRY_GOTO(status, report_no_theorem(context, out), done);
    status = fill_part(context, n, numbers, options, out);
done:
    if (status == SZG_OK)
        return status;
    szg_matrix_report_close(out);
    return szg_fail_prefix(context, status, "%s", name);
}
