#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "base/text.h"
#include "toeplitz/factored.h"
#include "toeplitz/symbol.h"
#include "toeplitz/toeplitz.h"
#include "report_private.h"

void szg_matrix_report_close(szg_matrix_report *report) {
    if (!report)
        return;
    szg_spectrum_close(&report->eigenvalues);
    szg_spectrum_close(&report->singular);
    szgi_memory_free(report->sample);
    szgi_memory_free(report->atom_theta);
    szgi_memory_free(report->atom_mass);
    *report = (szg_matrix_report){0};
}

void szgi_report_note(szg_matrix_report *report, const char *format, ...) {
    size_t used = strlen(report->note);
    if (used && used + 3 < sizeof report->note) {
        memcpy(report->note + used, "; ", 3);
        used += 2;
    }
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(report->note + used, sizeof report->note - used, format, arguments);
    va_end(arguments);
}

void szgi_report_drop_noise(double error, const char *what, szg_matrix_report *report) {
    if (report->noise[0])
        return;
    report->summary.sigma_min = report->summary.condition = NAN;
    szgi_print(report->noise, sizeof report->noise,
               "sigma_min and condition are left empty: the least singular value lies within %s = "
               "%.2g",
               what, error);
    szgi_report_note(report, "%s", report->noise);
}

/* Whether each value of the spectrum is off by n eps of the norm at most, and perhaps by as much:
 * closed forms and zeros by structure are better. */
static bool is_rounded(const szg_spectrum *values) {
    const char *solver = szg_method_solver(values->method);
    static const char *const rounded[] = {"dense",  "reduced", "mapped",
                                          "halves", "squares", "divide_and_conquer"};
    for (size_t i = 0; solver && i < sizeof rounded / sizeof *rounded; i++)
        if (strcmp(solver, rounded[i]) == 0)
            return values->zeros == 0;
    return false;
}

static void drop_known(double error, const szg_spectrum *values, szg_matrix_report *report) {
    bool first = !report->noise[0];
    szgi_report_drop_noise(error, "rounding, n eps sigma_max", report);
    if (!first || !values->certified || !(values->min.lo > 0))
        return;
    double lo = nextafter(values->max.lo / values->min.hi, 0);
    double hi = nextafter(values->max.hi / values->min.lo, INFINITY);
    szgi_report_note(report, "by proof condition lies between %.17g and %.17g", lo, hi);
}

/* A least singular value that rounding alone could have made says nothing, not even whether the
 * matrix is singular: the rank may (column rank), and a proof of its bounds. */
static void drop_rounding(const szg_spectrum *values, szg_matrix_report *report) {
    const szg_summary *summary = &report->summary;
    double error = (double)summary->n * DBL_EPSILON * summary->sigma_max;
    if (summary->sigma_max > 0 && summary->sigma_min <= error && is_rounded(values))
        drop_known(error, values, report);
}

szg_status szgi_report_summarise(szg_context *context, int64_t n, szg_matrix_report *report) {
    const szg_spectrum *eigenvalues = report->eigenvalues.kind ? &report->eigenvalues : NULL;
    const szg_spectrum *singular = report->singular.kind ? &report->singular : NULL;
    if (!eigenvalues && !singular)
        return szgi_fail(context, SZG_EINTERNAL, "a report without a spectrum");
    SZG_TRY(szg_summary_of(context, eigenvalues, singular, &report->summary));
    report->summary.n = n;
    if (report->hermitian_part)
        szgi_report_note(report, REPORT_HERMITIAN_PART);
    if (report->summary.note)
        szgi_report_note(report, "%s", report->summary.note);
    if (eigenvalues && eigenvalues->note && eigenvalues->note != report->summary.note)
        szgi_report_note(report, "%s", eigenvalues->note);
    if (singular && singular->note && singular->note != report->summary.note)
        szgi_report_note(report, "%s", singular->note);
    drop_rounding(singular ? singular : eigenvalues, report);
    return SZG_OK;
}

/* ---- The symbol ---- */

static szg_status take_samples(szg_context *context, const szg_toeplitz *t,
                               const szg_report_options *options, szg_matrix_report *report) {
    if (options->samples <= 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, options->samples, &report->sample));
    report->samples = options->samples;
    if (options->convention == SZG_SYMBOL_FEJER)
        return szg_symbol_fejer_samples(context, t, szg_toeplitz_size(t), options->samples,
                                        report->sample);
    return szg_symbol_samples(context, t, options->samples, report->sample);
}

szg_status szgi_report_symbol(szg_context *context, const szg_toeplitz *t,
                              const szg_report_options *options, bool modulus,
                              szg_matrix_report *report) {
    report->modulus = modulus || !szgi_toeplitz_is_hermitian(t);
    report->convention = options->convention;
    SZG_TRY(take_samples(context, t, options, report));
    if (report->modulus && options->convention == SZG_SYMBOL_FEJER) {
        szgi_report_note(report, "no range of the Fejer mean: the symbol is complex");
        return SZG_OK;
    }
    if (report->modulus && szgi_toeplitz_degree(t) > SZG_SYMBOL_RANGE_LIMIT) {
        szgi_report_note(report, "no certified range of |a|: the symbol's degree %lld is beyond %d",
                         (long long)szgi_toeplitz_degree(t), SZG_SYMBOL_RANGE_LIMIT);
        return SZG_OK;
    }
    if (options->convention == SZG_SYMBOL_FEJER)
        return szg_symbol_fejer_range(context, t, szg_toeplitz_size(t), &report->symbol);
    if (report->modulus) {
        szgi_report_note(report, "symbol columns bound |a|%s, a the symbol of the %s",
                         options->quick_symbol ? " by a grid" : "",
                         report->toeplitz_part ? "Toeplitz part" : "matrix");
        return options->quick_symbol ? szgi_symbol_modulus_enclosure(context, t, &report->symbol)
                                     : szg_symbol_modulus_range(context, t, &report->symbol);
    }
    return szg_symbol_range(context, t, &report->symbol);
}
