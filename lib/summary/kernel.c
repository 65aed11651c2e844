/* Reports of an encoding's own matrices: which solver, which symbol. */
#include <math.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "encoding/encoding.h"
#include "spectra/spectra.h"
#include "report_private.h"

typedef struct kernel_job {
    const szg_encoding *encoding;
    int64_t head, matrix, n;
    const szg_report_options *options;
    szg_kernel_facts facts;
    szg_toeplitz *toeplitz; /* NULL where it is not needed, not Toeplitz, or too large */
    szg_matrix_report *report;
} kernel_job;

/* ---- Eigenvalues ---- */

static szg_status zero_spectrum(szg_context *context, int64_t n, szg_spectrum *out) {
    *out = (szg_spectrum){
        .n = n,
        .zeros = n,
        .kind = SZG_SPECTRUM_EIGENVALUE,
        .normal = true,
        .residual_meaning = "exact: the matrix is zero",
        .method = SZG_METHOD_ZERO,
    };
    return szgi_memory_alloc(context, 0, sizeof(double), &out->re);
}

/* scale (2 sum_t cos(k theta_t) + unrotated) / dim as atoms. */
static szg_status scaled_cosines(szg_context *context, const kernel_job *job,
                                 const szg_spectra_options *options, szg_spectrum *out) {
    const szg_kernel_facts *facts = &job->facts;
    if (facts->parameter == 1)
        return szgi_spectra_rotary(context, job->n, facts->pairs, facts->theta, facts->unrotated,
                                   options, out);
    double *weight;
    SZG_TRY(szgi_memory_alloc(context, facts->pairs, sizeof *weight, &weight));
    double dim = 2 * (double)facts->pairs + (double)facts->unrotated;
    for (int64_t t = 0; t < facts->pairs; t++)
        weight[t] = 2 * facts->parameter / dim;
    szg_status status =
        szgi_spectra_atoms(context, job->n, facts->pairs, weight, facts->theta, options, out);
    szgi_memory_free(weight);
    return status;
}

/* P P^T as the n x n matrix. */
static szg_status dense_gram(szg_context *context, const szg_factored *f, szg_spectrum *out) {
    double *dense;
    SZG_TRY(szgi_report_form_dense(context, f, "the dense matrix", "leave --dense out", &dense));
    szg_status status = szg_spectra_symmetric(context, f->n, dense, f->n, NULL, out);
    szgi_memory_free(dense);
    return status;
}

static szg_status table_gram(szg_context *context, const kernel_job *job, szg_spectrum *out) {
    int64_t n = job->n, d = szgi_encoding_input_dimension(job->encoding), size;
    double *p;
    SZG_TRY(szgi_memory_product(context, n, d, &size));
    SZG_TRY(szgi_memory_require(context, n, d, sizeof *p, "the position table", "use a smaller N"));
    SZG_TRY(szgi_memory_alloc(context, size, sizeof *p, &p));
    szg_factored f = {.n = n, .d = d, .a = p, .lda = d, .b = p, .ldb = d};
    szg_status status = szgi_encoding_input(context, job->encoding, n, p, d);
    if (status == SZG_OK)
        status = job->options->dense ? dense_gram(context, &f, out)
                                     : szgi_report_gram(context, n, d, p, d, 1, out);
    if (status == SZG_OK)
        status = szgi_report_toeplitzness(context, &f, job->report);
    szgi_memory_free(p);
    return status;
}

static bool hermitian(const szg_kernel_facts *facts) {
    return facts->kind == SZG_TOEPLITZ_SYMMETRIC || facts->kind == SZG_TOEPLITZ_HERMITIAN;
}

/* General Toeplitz kernels: eigenvalues where that is affordable, singular values besides. */
static szg_status toeplitz_spectra(szg_context *context, const kernel_job *job,
                                   const szg_spectra_options *options) {
    szg_matrix_report *report = job->report;
    if (hermitian(&job->facts))
        return szg_spectra_toeplitz(context, job->toeplitz, options, &report->eigenvalues);
    bool whole = job->options->all || job->n <= SZG_REPORT_GENERAL_LIMIT;
    if (whole)
        SZG_TRY(szg_spectra_toeplitz(context, job->toeplitz, NULL, &report->eigenvalues));
    else
        szgi_report_note(report, "complex eigenvalues above N = %d only with all of them",
                         SZG_REPORT_GENERAL_LIMIT);
    return szg_spectra_toeplitz_singular(context, job->toeplitz, options, &report->singular);
}

/* A closed form lists any number of values fast; the table of them is what does not fit. */
static szg_status require_list(szg_context *context, const kernel_job *job) {
    enum { BYTES_LISTED = 200 }; /* a value, and its row of ten cells while the table grows */
    if (!job->options->all)
        return SZG_OK;
    return szgi_memory_require(context, job->n, 1, BYTES_LISTED, "the table of all eigenvalues",
                               "leave --all out for the range, or take a smaller N");
}

static szg_status spectra(szg_context *context, const kernel_job *job) {
    const szg_kernel_facts *facts = &job->facts;
    szg_spectrum *out = &job->report->eigenvalues;
    bool whole = job->options->all || job->options->dense || job->n <= SZG_REPORT_ALL_LIMIT;
    szg_spectra_options options = {.want = whole ? SZG_WANT_ALL : SZG_WANT_RANGE,
                                   .dense = job->options->dense};
    if (facts->structure == SZG_KERNEL_GRAM)
        return table_gram(context, job, out);
    if (job->options->dense)
        return toeplitz_spectra(context, job, &options);
    switch (facts->structure) {
    case SZG_KERNEL_ZERO:
        return zero_spectrum(context, job->n, out);
    case SZG_KERNEL_COSINES:
        return scaled_cosines(context, job, &options, out);
    case SZG_KERNEL_KMS:
        SZG_TRY(require_list(context, job));
        return szgi_spectra_kms(context, job->n, facts->parameter, &options, out);
    case SZG_KERNEL_DISTANCE:
        SZG_TRY(require_list(context, job));
        return szgi_spectra_alibi(context, job->n, facts->parameter, &options, out);
    default:
        return toeplitz_spectra(context, job, &options);
    }
}

/* ---- Symbol ---- */

static const double PI = 3.14159265358979323846;

static szg_status closed_symbol(szg_context *context, const kernel_job *job) {
    szg_matrix_report *report = job->report;
    int64_t count = job->options->samples;
    report->convention = SZG_SYMBOL_CLOSED_FORM;
    SZG_TRY(szgi_encoding_symbol_range(context, job->encoding, job->head, job->matrix,
                                       &report->symbol.min, &report->symbol.max,
                                       &report->symbol.theta_min, &report->symbol.theta_max));
    report->symbol.method = "closed form";
    SZG_TRY(szgi_memory_alloc(context, count, sizeof(szg_c64), &report->sample));
    report->samples = count;
    for (int64_t j = 0; j < count; j++)
        SZG_TRY(szgi_encoding_symbol(context, job->encoding, job->head, job->matrix,
                                     2 * PI * (double)j / (double)count, &report->sample[j].re));
    return SZG_OK;
}

/* Frequency 0 last, where dimensions do not rotate. */
static szg_status take_atoms(szg_context *context, const kernel_job *job) {
    const szg_kernel_facts *facts = &job->facts;
    szg_matrix_report *report = job->report;
    if (facts->form != SZG_FORM_ATOMS)
        return SZG_OK;
    int64_t count = facts->pairs + (facts->unrotated > 0);
    double dim = 2 * (double)facts->pairs + (double)facts->unrotated;
    SZG_TRY(szgi_memory_alloc(context, count, sizeof(double), &report->atom_theta));
    SZG_TRY(szgi_memory_alloc(context, count, sizeof(double), &report->atom_mass));
    for (int64_t t = 0; t < facts->pairs; t++) {
        report->atom_theta[t] = facts->theta[t];
        report->atom_mass[t] = 2 * facts->parameter / dim;
    }
    if (facts->unrotated > 0)
        report->atom_mass[facts->pairs] = facts->parameter * (double)facts->unrotated / dim;
    report->atoms = count;
    return SZG_OK;
}

/* The closed form is shown where it exists unless another convention is asked for by Fejer. */
static szg_status symbol(szg_context *context, const kernel_job *job) {
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

/* ---- The report ---- */

/* The coefficients are opened where a spectrum or a symbol of affordable degree needs them. */
static szg_status open_toeplitz(szg_context *context, kernel_job *job) {
    const szg_kernel_facts *facts = &job->facts;
    if (facts->form == SZG_FORM_NOT_TOEPLITZ)
        return SZG_OK;
    if (job->options->dense)
        SZG_TRY(szgi_memory_require(context, job->n, job->n, sizeof(double), "the dense matrix",
                                    "leave --dense out"));
    bool coefficients = facts->structure == SZG_KERNEL_COEFFICIENTS || job->options->dense;
    if (!coefficients && (job->options->no_symbol || job->n > SZG_SYMBOL_RANGE_LIMIT))
        return SZG_OK;
    return szg_encoding_kernel(context, job->encoding, job->head, job->matrix, job->n,
                               &job->toeplitz);
}

static void finish(kernel_job *job) {
    szg_matrix_report *report = job->report;
    const szg_kernel_facts *facts = &job->facts;
    if (report->summary.rank < 0 && facts->rank_exact &&
        !(facts->structure == SZG_KERNEL_DISTANCE && job->n < 2))
        report->summary.rank = job->n < facts->rank_bound ? job->n : facts->rank_bound;
    if (facts->form == SZG_FORM_ZERO)
        szgi_report_note(report, "the zero matrix has no toeplitzness");
    szgi_report_note(report, "%s", report->theorem.sentence);
}

static szg_status run(szg_context *context, kernel_job *job) {
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

static szg_status open_job(szg_context *context, const szg_encoding *encoding, int64_t head,
                           int64_t matrix, int64_t n, const szg_report_options *options,
                           szg_matrix_report *out, kernel_job *job) {
    static const szg_report_options defaults = {0};
    *out = (szg_matrix_report){0};
    *job = (kernel_job){.encoding = encoding,
                        .head = head,
                        .matrix = matrix,
                        .n = n,
                        .options = options ? options : &defaults,
                        .report = out};
    SZG_TRY(szg_encoding_facts(context, encoding, head, matrix, &job->facts));
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "%s: N = %lld must be at least 1",
                         szg_encoding_spec(encoding), (long long)n);
    out->matrix = job->facts.matrix;
    return SZG_OK;
}

szg_status szg_report_kernel(szg_context *context, const szg_encoding *encoding, int64_t head,
                             int64_t matrix, int64_t n, const szg_report_options *options,
                             szg_matrix_report *out) {
    kernel_job job;
    SZG_TRY(open_job(context, encoding, head, matrix, n, options, out, &job));
    szg_status status = run(context, &job);
    szg_toeplitz_close(&job.toeplitz);
    if (status != SZG_OK)
        szg_matrix_report_close(out);
    return status;
}

szg_status szg_report_symbol(szg_context *context, const szg_encoding *encoding, int64_t head,
                             int64_t matrix, int64_t n, const szg_report_options *options,
                             szg_matrix_report *out) {
    kernel_job job;
    SZG_TRY(open_job(context, encoding, head, matrix, n, options, out, &job));
    out->summary.n = n;
    if (job.facts.form == SZG_FORM_NOT_TOEPLITZ)
        return szgi_fail(context, SZG_EDOMAIN, "%s: %s", szg_encoding_spec(encoding),
                         job.facts.line);
    szg_status status = open_toeplitz(context, &job);
    if (status == SZG_OK)
        status = symbol(context, &job);
    szg_toeplitz_close(&job.toeplitz);
    if (status != SZG_OK)
        szg_matrix_report_close(out);
    return status;
}
