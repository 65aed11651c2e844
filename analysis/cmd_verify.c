/* `szego verify`: the ledger of the paper's claims, and the check of certificates. */
#include <stdio.h>
#include <string.h>

#include "theory/claims.h"
#include "formats/result.h"
#include "base/memory.h"

#include "command.h"
#include "display.h"

typedef struct verify_options {
    int64_t terms, trials;
    text_list ids;
    const char *check; /* a certificate file; NULL: run the checkers */
} verify_options;

static const command_option options[] = {
    OPTION(verify_options, terms, "terms", "N", "terms of Lemma B.1's polynomials (default 16)",
           .letter = 'n', .least = 2, .most = 4096),
    OPTION(verify_options, trials, "trials", "K",
           "random and adversarial trials per claim (default 64)", .least = 1, .most = 1000000),
    OPTION(verify_options, check, "check", "FILE",
           "recompute the certificates of a JSON or CSV file by separate code at twice the "
           "precision"),
    OPTION(verify_options, ids, NULL, "[CLAIM...]", NULL, .list = &words_claims),
    {0}};

static void check_options(command_call *call, struct argp_state *state) {
    const verify_options *own = call->own;
    if (own->check && own->ids.count > 0)
        argp_error(state, "--check takes the certificates of the file, no CLAIM beside it");
}

/* Tables without rows are left out. A person reads the verdicts; weights and samples are for files
 * and for --format. */
static szg_status write_report(command_call *call, szg_claims_report *report) {
    szg_table **const tables[] = {&report->claims, &report->certificates, &report->lemma,
                                  &report->samples, &report->evidence};
    enum { TABLES = sizeof tables / sizeof *tables };
    for (int i = 0; i < TABLES; i++)
        if (szg_table_rows(*tables[i]) == 0)
            szg_table_close(tables[i]);
    return output_tables(call, display_is_for_a_person(call) ? 1 : TABLES, tables, "claims");
}

/* Certificates go to files as a table of the result, so that --check reads what -o wrote. */
static szg_status run_claims(command_call *call) {
    verify_options *own = call->own;
    szg_claims_report report;
    szg_claims_options wanted = {SZG_INIT(szg_claims_options), .terms = own->terms,
                                 .trials = own->trials, .seed = call->shared.seed};
    SZG_TRY(szg_claims_verify(call->context, &wanted, own->ids.count, own->ids.value, &report));
    szg_status status = write_report(call, &report);
    if (status == SZG_OK && report.differing > 0)
        status = szgi_fail(call->context, SZG_ENOCONV,
                           "%lld computed verdicts differ from the ledger; the notes of the table "
                           "claims say which",
                           (long long)report.differing);
    szg_claims_report_close(&report);
    return status;
}

static szg_status run_check(command_call *call) {
    const verify_options *own = call->own;
    szg_table *checks = NULL;
    int64_t refused;
    SZG_TRY(szg_certificates_check(call->context, own->check, &checks, &refused));
    int64_t count = szg_table_rows(checks);
    szg_status status = output_tables(call, 1, (szg_table * *[]){&checks}, "checks");
    if (status == SZG_OK)
        szgi_say(call->context, SZG_NOTE, "%s: %lld of %lld confirmed", own->check,
                 (long long)(count - refused), (long long)count);
    if (status == SZG_OK && refused > 0)
        status = szgi_fail(call->context, SZG_ENOCONV, "%s: %lld of %lld certificates are refused",
                           own->check, (long long)refused, (long long)count);
    szg_table_close(&checks);
    return status;
}

static szg_status run(command_call *call) {
    const verify_options *own = call->own;
    return own->check ? run_check(call) : run_claims(call);
}

static const command_example examples[] = {
    {"szego verify", "Every claim: verdict and true statement."},
    {"szego verify L3 B1 -o claims/", "Two claims, with their certificates in files."},
    {"szego verify --check claims/certificates.csv",
     "Recomputes the certificates with separate code."},
    {0}};

const command command_verify = {
    .name = "verify",
    .summary = "the paper's claims: verdicts, certificates, true statements",
    .doc = "Computes a verdict for each CLAIM (default: all claims) and certificates for those "
           "that fail. Compares the verdicts with the ledger; the exit status is 4 if one differs. "
           "Lemma B.1 is tested with random and adversarial weights and phases. With -o or "
           "--format json the tables are claims, certificates, lemma, samples and evidence; on a "
           "terminal the claims.",
    .options = options,
    .own_size = sizeof(verify_options),
    .check = check_options,
    .run = run,
    .examples = examples,
    .topics = "claims",
};
