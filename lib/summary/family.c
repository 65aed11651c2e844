/* Summaries of an encoding's own matrices: what their family says besides the matrix. */
#include <math.h>

#include "base/memory.h"
#include "encoding/encoding.h"
#include "linalg/distributed.h"
#include "toeplitz/matrix.h"
#include "report_private.h"

typedef struct family_job {
    const szg_matrix *given;
    const szg_encoding *encoding;
    int64_t head, matrix, n;
    const szg_report_options *options;
    szg_kernel_facts facts;
    const szg_toeplitz *toeplitz; /* the given one's, or opened */
    szg_toeplitz *opened;         /* where it is needed, Toeplitz, and not too large */
    szg_matrix_report *report;
} family_job;

/* ---- Symbol ---- */

static const double PI = 3.14159265358979323846;

static szg_status closed_symbol(szg_context *context, const family_job *job) {
    szg_matrix_report *report = job->report;
    int64_t count = job->options->samples;
    report->convention = SZG_SYMBOL_CLOSED_FORM;
    SZG_TRY(szgi_encoding_symbol_range(context, job->encoding, job->head, job->matrix,
                                       &report->symbol.min, &report->symbol.max,
                                       &report->symbol.theta_min, &report->symbol.theta_max));
    report->symbol.method = "closed form";
    SZG_TRY(szgi_memory_alloc(context, count, &report->sample));
    report->samples = count;
    for (int64_t j = 0; j < count; j++)
        SZG_TRY(szgi_encoding_symbol(context, job->encoding, job->head, job->matrix,
                                     2 * PI * (double)j / (double)count, &report->sample[j].re));
    return SZG_OK;
}

/* Frequencies descend, so that equal ones stand next to each other: they are one point. */
static void add_atom(szg_matrix_report *report, double theta, double mass) {
    int64_t last = report->atoms - 1;
    if (last >= 0 && report->atom_theta[last] == theta) {
        report->atom_mass[last] += mass;
        return;
    }
    report->atom_theta[report->atoms] = theta;
    report->atom_mass[report->atoms++] = mass;
}

/* Frequency 0 last, where dimensions do not rotate. */
static szg_status take_atoms(szg_context *context, const family_job *job) {
    const szg_kernel_facts *facts = &job->facts;
    szg_matrix_report *report = job->report;
    if (facts->form != SZG_FORM_ATOMS)
        return SZG_OK;
    int64_t count = facts->pairs + (facts->unrotated > 0);
    double dim = 2 * (double)facts->pairs + (double)facts->unrotated;
    SZG_TRY(szgi_memory_alloc(context, count, &report->atom_theta));
    SZG_TRY(szgi_memory_alloc(context, count, &report->atom_mass));
    for (int64_t t = 0; t < facts->pairs; t++)
        add_atom(report, facts->theta[t], 2 * facts->parameter / dim);
    if (facts->unrotated > 0)
        add_atom(report, 0, facts->parameter * (double)facts->unrotated / dim);
    return SZG_OK;
}

/* The closed form is shown where it exists unless another convention is asked for by Fejer. */
static szg_status symbol(szg_context *context, const family_job *job) {
    szg_matrix_report *report = job->report;
    bool fejer = job->options->convention == SZG_SYMBOL_FEJER;
    if (job->options->no_symbol || job->facts.form == SZG_FORM_NOT_TOEPLITZ)
        return SZG_OK;
    SZG_TRY(take_atoms(context, job));
    if (job->options->convention == SZG_SYMBOL_CLOSED_FORM) {
        if (job->facts.form == SZG_FORM_CLOSED)
            return closed_symbol(context, job);
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: no symbol in closed form; conventions of this encoding: truncated, "
                         "fejer",
                         szg_encoding_spec(job->encoding));
    }
    if (!job->toeplitz) {
        if (job->facts.form == SZG_FORM_CLOSED && !fejer) {
            szgi_report_note(
                report,
                "symbol columns: closed form, which bounds the eigenvalues of every T_N "
                "(the truncated symbol is enclosed up to N = %d)",
                SZG_SYMBOL_RANGE_LIMIT);
            return closed_symbol(context, job);
        }
        szgi_report_note(report,
                         "no certified range: the symbol of N = %lld lags is beyond degree %d",
                         (long long)job->n, SZG_SYMBOL_RANGE_LIMIT);
        return SZG_OK;
    }
    szg_report_options options = *job->options;
    options.convention = fejer ? SZG_SYMBOL_FEJER : SZG_SYMBOL_TRUNCATED;
    return szgi_report_symbol(context, job->toeplitz, &options, false, report);
}

/* ---- The summary ---- */

/* The coefficients are opened where a spectrum or a symbol of affordable degree needs them. */
static szg_status open_toeplitz(szg_context *context, family_job *job) {
    if (job->given->kind == SZG_MATRIX_TOEPLITZ)
        job->toeplitz = job->given->of.toeplitz;
    if (job->facts.form == SZG_FORM_NOT_TOEPLITZ)
        return SZG_OK;
    if (job->options->dense && !szgi_distributed_of(context)) /* processes have a part each */
        SZG_TRY(szgi_memory_require(context, job->n, job->n, sizeof(double), "the dense matrix",
                                    "leave --dense out"));
    bool limited = job->options->no_symbol || job->n > SZG_SYMBOL_RANGE_LIMIT;
    if (job->toeplitz || (!job->options->dense && limited))
        return SZG_OK;
    SZG_TRY(szgi_encoding_kernel_of(context, job->encoding, job->head, &job->facts, job->n,
                                    &job->opened));
    job->toeplitz = job->opened;
    return SZG_OK;
}

static szg_status spectra(szg_context *context, const family_job *job) {
    szg_matrix_report *report = job->report;
    szg_matrix array = job->toeplitz ? szg_matrix_toeplitz(job->toeplitz) : *job->given;
    SZG_TRY(szgi_report_spectra(context, job->options->dense ? &array : job->given, job->options,
                                report));
    if (job->given->kind != SZG_MATRIX_FACTORED)
        return SZG_OK;
    return szgi_report_toeplitzness(context, &job->given->of.factored, report);
}

static void finish(family_job *job) {
    szg_matrix_report *report = job->report;
    const szg_kernel_facts *facts = &job->facts;
    if (report->summary.rank < 0 && facts->rank_exact &&
        !(facts->structure == SZG_KERNEL_DISTANCE && job->n < 2))
        report->summary.rank = job->n < facts->rank_bound ? job->n : facts->rank_bound;
    if (facts->form == SZG_FORM_ZERO)
        szgi_report_note(report, "the zero matrix has no toeplitzness");
    szgi_report_note(report, "%s", report->theorem.sentence);
}

static szg_status run(szg_context *context, family_job *job) {
    szg_matrix_report *report = job->report;
    SZG_TRY(open_toeplitz(context, job));
    SZG_TRY(szg_theorem_of_encoding(context, &job->facts, &report->theorem));
    bool toeplitz = job->facts.form != SZG_FORM_NOT_TOEPLITZ;
    bool known = toeplitz && job->facts.form != SZG_FORM_ZERO;
    report->toeplitzness = known ? (szg_tau){1, 0, false} : (szg_tau){NAN, NAN, false};
    SZG_TRY(spectra(context, job));
    SZG_TRY(szgi_report_summarise(context, job->n, report));
    SZG_TRY(symbol(context, job));
    finish(job);
    return SZG_OK;
}

static szg_status open_job(szg_context *context, const szg_matrix *matrix,
                           const szg_report_options *options, szg_matrix_report *out,
                           family_job *job) {
    *job = (family_job){.given = matrix,
                        .encoding = matrix->encoding,
                        .head = matrix->head,
                        .matrix = matrix->index,
                        .n = matrix->rows,
                        .options = options,
                        .report = out};
    return szg_encoding_facts(context, job->encoding, job->head, job->matrix, &job->facts);
}

szg_status szgi_family_summarise(szg_context *context, const szg_matrix *matrix,
                                 const szg_report_options *options, szg_matrix_report *report) {
    family_job job;
    SZG_TRY(open_job(context, matrix, options, report, &job));
    szg_status status = run(context, &job);
    szg_toeplitz_close(&job.opened);
    return status;
}

szg_status szgi_family_symbol(szg_context *context, const szg_matrix *matrix,
                              const szg_report_options *options, szg_matrix_report *report) {
    family_job job;
    SZG_TRY(open_job(context, matrix, options, report, &job));
    if (job.facts.form == SZG_FORM_NOT_TOEPLITZ)
        return szgi_fail(context, SZG_EDOMAIN, "%s: %s", szg_encoding_spec(job.encoding),
                         job.facts.line);
    szg_status status = open_toeplitz(context, &job);
    if (status == SZG_OK)
        status = symbol(context, &job);
    szg_toeplitz_close(&job.opened);
    return status;
}
