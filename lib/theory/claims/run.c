/* A run over claims: options and tables. */
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "theory/certificate.h"

#include "claim.h"
#include "tables.h"

#define CLAIMS_SCREEN                                                                              \
    SZGI_SHOW(1, id)                                                                               \
    SZGI_SHOW_WORD(1, verdict)                                                                     \
    SZGI_SHOW(2, kind)                                                                             \
    SZGI_SHOW_PROSE(1, statement)                                                                  \
    SZGI_SHOW(2, basis)                                                                            \
    SZGI_SHOW_PROSE(9, true_statement)                                                             \
    SZGI_SHOW_PROSE(9, source)
#define EVIDENCE_SCREEN SZGI_SHOW_RANGE(1, enclosed, lo, hi)
SZGI_SCHEMA_AT(claims_columns, "claims", CLAIMS_TABLE, CLAIMS_SCREEN);
SZGI_SCHEMA_AT(lemma_columns, "lemma", LEMMA_TABLE, SZGI_NOT_SHOWN);
SZGI_SCHEMA_AT(samples_columns, "samples", SAMPLES_TABLE, SZGI_NOT_SHOWN);
SZGI_SCHEMA_AT(evidence_columns, "evidence", EVIDENCE_TABLE, EVIDENCE_SCREEN);

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
    SZG_TRY(szgi_schema_open(context, &claims_columns_schema, &report->claims));
    SZG_TRY(szgi_certificate_table_open(context, &report->certificates));
    SZG_TRY(szgi_schema_open(context, &lemma_columns_schema, &report->lemma));
    SZG_TRY(szgi_schema_open(context, &samples_columns_schema, &report->samples));
    return szgi_schema_open(context, &evidence_columns_schema, &report->evidence);
}

void szgi_claims_run_close(claims_run *run) {
    for (int64_t i = 0; run->lemma && i < run->options.trials; i++) {
        szgi_memory_free(run->lemma[i].w);
        szgi_memory_free(run->lemma[i].theta);
    }
    szgi_memory_free(run->lemma);
    run->lemma = NULL;
}
