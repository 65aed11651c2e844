/* Reports of matrices that a device has kept: from the numbers it has computed. */
#include <inttypes.h>
#include <math.h>
#include "spectra/spectra.h"
#include "toeplitz/toeplitz.h"

#include "report_private.h"

/* Square roots of noise are no least singular value. */
static void drop_noise(double error, szg_matrix_report *report) {
    szgi_report_note(
        report, "spectra by a device; singular values from L^T L, off by at most %.2g each", error);
    if (!(report->summary.sigma_min > error))
        szgi_report_drop_noise(error, "the error of the singular values", report);
}

static szg_status fill_spectra(szg_context *context, int64_t n, const szg_logit_numbers *x,
                               szg_matrix_report *report) {
    double error = 0;
    report->hermitian_part = !szgi_report_is_symmetric(x->skew, x->largest);
    SZG_TRY(szgi_spectra_of_eigenvalues(context, n, x->eigenvalues, x->trace, x->part_frobenius,
                                        report->hermitian_part ? SZG_METHOD_DEVICE_PART
                                                               : SZG_METHOD_DEVICE_SYMMETRIC,
                                        &report->eigenvalues));
    if (!report->hermitian_part) {
        SZG_TRY(szgi_report_summarise(context, n, report));
        szgi_report_note(report, "spectra by a device");
        return SZG_OK;
    }
    SZG_TRY(szgi_spectra_of_squares(context, n, x->squares, x->frobenius, x->gram_frobenius,
                                    SZG_METHOD_DEVICE_SINGULAR, &error, &report->singular));
    SZG_TRY(szgi_report_summarise(context, n, report));
    drop_noise(error, report);
    return SZG_OK;
}

static szg_status fill_part(szg_context *context, int64_t n, const szg_logit_numbers *x,
                            const szg_report_options *options, szg_matrix_report *report) {
    szg_toeplitz *part;
    SZG_TRY(szgi_toeplitz_open_means(context, n, x->means, &part));
    szg_status status = szgi_report_no_zero(
        szgi_toeplitzness_of_parts(context, part, x->rest_frobenius, &report->toeplitzness),
        report);
    if (status == SZG_OK)
        status = szgi_report_part_symbol(context, part, options, report);
    szg_toeplitz_close(&part);
    return status;
}

static szg_status check(szg_context *context, int64_t n, const szg_logit_numbers *x) {
    if (x->infinite >= 0)
        return szgi_fail(context, SZG_EDATA, "entry (%" PRId64 ", %" PRId64 ") is not finite",
                         x->infinite / n, x->infinite % n);
    if (!x->converged)
        return szgi_fail(context, SZG_ENOCONV, "the device's eigenvalue solver did not converge");
    return SZG_OK;
}

szg_status szgi_report_numbers(szg_context *context, int64_t n, const szg_logit_numbers *numbers,
                               const char *name, const szg_report_options *options,
                               szg_matrix_report *out) {
    *out = (szg_matrix_report){.matrix = name};
    szg_status status;
    SZG_TRY_GOTO(status, check(context, n, numbers), done);
    SZG_TRY_GOTO(status, fill_spectra(context, n, numbers, out), done);
    SZG_TRY_GOTO(status, szgi_report_no_theorem(context, out), done);
    status = fill_part(context, n, numbers, options, out);
done:
    if (status == SZG_OK)
        return status;
    szg_matrix_report_close(out);
    return szgi_fail_prefix(context, status, "%s", name);
}
