/* A run over claims: options and tables. */
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "theory/certificate.h"

#include "claim.h"
#include "tables.h"

static szg_status open_claims_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {CLAIMS_TABLE(SZGI_SCHEMA_COLUMN)};
    SZG_TRY(szg_table_open(context, "claims", columns, CLAIMS_COLUMNS, out));
    return szgi_table_mark_ends(context, *out, "worst_margin", NULL);
}

static szg_status open_lemma_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {LEMMA_TABLE(SZGI_SCHEMA_COLUMN)};
    SZG_TRY(szg_table_open(context, "lemma", columns, LEMMA_COLUMNS, out));
    SZG_TRY(szgi_table_mark_ends(context, *out, "max_f_lo", "max_f_hi"));
    SZG_TRY(szgi_table_mark_ends(context, *out, "max_g_lo", "max_g_hi"));
    SZG_TRY(szgi_table_mark_ends(context, *out, "width_f_lo", "width_f_hi"));
    return szgi_table_mark_ends(context, *out, "width_g_lo", "width_g_hi");
}

static szg_status open_samples_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {SAMPLES_TABLE(SZGI_SCHEMA_COLUMN)};
    return szg_table_open(context, "samples", columns, SAMPLES_COLUMNS, out);
}

static szg_status open_evidence_table(szg_context *context, szg_table **out) {
    static const szg_column columns[] = {EVIDENCE_TABLE(SZGI_SCHEMA_COLUMN)};
    SZG_TRY(szg_table_open(context, "evidence", columns, EVIDENCE_COLUMNS, out));
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
    SZG_TRY(SZGI_OPTIONS(context, szg_claims_options, given, options));
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
