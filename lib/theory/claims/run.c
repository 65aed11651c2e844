/* A run over claims: options and tables. */
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "theory/certificate.h"

#include "claim.h"

static szg_status open_claims_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {
        {"id", SZG_TEXT, "name of the claim"},
        {"statement", SZG_TEXT, "what the paper says"},
        {"verdict", SZG_TEXT, "holds, fails, vacuous, conditional, measured, or none"},
        {"basis", SZG_TEXT, "proof, enclosure, counterexample or trials"},
        {"trials", SZG_INTEGER, "instances tried"},
        {"worst_margin", SZG_REAL, "guaranteed lower end of the least margin over the trials"},
        {"true_statement", SZG_TEXT, "what is true instead"},
        {"source", SZG_TEXT, "place in the paper, first version"},
        {"note", SZG_TEXT, "remarks"},
    };
    SZG_TRY(szg_table_open(context, "claims", columns, sizeof columns / sizeof columns[0], out));
    return szgi_table_mark_ends(context, *out, "worst_margin", NULL);
}

static szg_status open_lemma_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {
        {"trial", SZG_INTEGER, "number of the trial"},
        {"weights", SZG_TEXT, "w_i, hexadecimal floats"},
        {"phases", SZG_TEXT, "theta_i: hexadecimal radians, or p/q times pi"},
        {"max_f_lo", SZG_REAL, "enclosure of max|f|"},
        {"max_f_hi", SZG_REAL, "its upper end"},
        {"max_g_lo", SZG_REAL, "enclosure of max|g|"},
        {"max_g_hi", SZG_REAL, "its upper end"},
        {"width_f_lo", SZG_REAL, "enclosure of max f - min f"},
        {"width_f_hi", SZG_REAL, "its upper end"},
        {"width_g_lo", SZG_REAL, "enclosure of max g - min g"},
        {"width_g_hi", SZG_REAL, "its upper end"},
        {"equality", SZG_TEXT, "yes or no: max|f| = max|g|, decided exactly"},
        {"note", SZG_TEXT, "how the trial was made"},
    };
    SZG_TRY(szg_table_open(context, "lemma", columns, sizeof columns / sizeof columns[0], out));
    SZG_TRY(szgi_table_mark_ends(context, *out, "max_f_lo", "max_f_hi"));
    SZG_TRY(szgi_table_mark_ends(context, *out, "max_g_lo", "max_g_hi"));
    SZG_TRY(szgi_table_mark_ends(context, *out, "width_f_lo", "width_f_hi"));
    return szgi_table_mark_ends(context, *out, "width_g_lo", "width_g_hi");
}

static szg_status open_samples_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {
        {"id", SZG_TEXT, "the claim that the example refutes"},
        {"theta", SZG_REAL, "argument t, radians"},
        {"f", SZG_REAL, "f(t)"},
        {"g", SZG_REAL, "g(t)"},
        {"note", SZG_TEXT, "the example"},
    };
    return szg_table_open(context, "samples", columns, sizeof columns / sizeof columns[0], out);
}

static szg_status open_evidence_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {
        {"id", SZG_TEXT, "name of the claim"},
        {"quantity", SZG_TEXT, "what was computed"},
        {"lo", SZG_REAL, "lower end of its enclosure"},
        {"hi", SZG_REAL, "upper end; equal to lo where it is a plain number"},
        {"note", SZG_TEXT, "how"},
    };
    SZG_TRY(szg_table_open(context, "evidence", columns, sizeof columns / sizeof columns[0], out));
    return szgi_table_mark_ends(context, *out, "lo", "hi");
}

void szg_claims_report_close(szg_claims_report *report) {
    if (!report)
        return;
    szg_table_close(&report->claims);
    szg_table_close(&report->certificates);
    szg_table_close(&report->lemma);
    szg_table_close(&report->samples);
    szg_table_close(&report->evidence);
    report->differing = 0;
}

enum { DEFAULT_TERMS = 16, DEFAULT_TRIALS = 64, MOST_TERMS = 4096, MOST_TRIALS = 1000000 };

static szg_status fill_defaults(szg_context *context, const szg_claims_options *given,
                                szg_claims_options *options) {
    *options = given ? *given : (szg_claims_options){0};
    if (options->terms == 0)
        options->terms = DEFAULT_TERMS;
    if (options->trials == 0)
        options->trials = DEFAULT_TRIALS;
    if (options->terms < 2 || options->terms > MOST_TERMS)
        return szgi_fail(context, SZG_EINVAL, "verify: %lld terms are outside 2 .. %d",
                         (long long)options->terms, MOST_TERMS);
    if (options->trials < 1 || options->trials > MOST_TRIALS)
        return szgi_fail(context, SZG_EINVAL, "verify: %lld trials are outside 1 .. %d",
                         (long long)options->trials, MOST_TRIALS);
    return SZG_OK;
}

szg_status szgi_claims_run_open(claims_run *run, szg_context *context,
                                const szg_claims_options *options, szg_claims_report *report) {
    memset(run, 0, sizeof *run);
    memset(report, 0, sizeof *report);
    run->context = context;
    run->report = report;
    SZG_TRY(fill_defaults(context, options, &run->options));
    SZG_TRY(open_claims_table(context, &report->claims));
    SZG_TRY(szgi_certificate_table_open(context, &report->certificates));
    SZG_TRY(open_lemma_table(context, &report->lemma));
    SZG_TRY(open_samples_table(context, &report->samples));
    return open_evidence_table(context, &report->evidence);
}

void szgi_claims_run_close(claims_run *run) {
    for (int64_t i = 0; run->lemma && i < run->options.trials; i++) {
        szgi_memory_free(run->lemma[i].w);
        szgi_memory_free(run->lemma[i].theta);
    }
    szgi_memory_free(run->lemma);
    run->lemma = NULL;
}
