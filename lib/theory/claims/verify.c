/* szg_claims_verify: the checkers, one after the other. */
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "theory/claims.h"

#include "claim.h"
#include "tables.h"

static szg_status add_claim(claims_run *run, const szg_claim *ledger, const finding *found) {
    szgi_row row = szgi_row_add(run->context, run->report->claims);
    szgi_row_text(&row, CLAIMS_ID, ledger->id);
    szgi_row_text(&row, CLAIMS_STATEMENT, ledger->statement);
    szgi_row_text(&row, CLAIMS_VERDICT, szg_verdict_name(found->verdict));
    szgi_row_text(&row, CLAIMS_BASIS, found->basis);
    szgi_row_integer(&row, CLAIMS_TRIALS, found->trials);
    szgi_row_number(&row, CLAIMS_WORST_MARGIN, found->worst_margin);
    szgi_row_text(&row, CLAIMS_TRUE_STATEMENT, ledger->true_statement);
    szgi_row_text(&row, CLAIMS_SOURCE, ledger->source);
    szgi_row_text(&row, CLAIMS_KIND, ledger->kind);
    if (found->note[0])
        szgi_row_note(&row, "%s", found->note);
    if (found->verdict != ledger->expected) {
        run->report->differing++;
        szgi_row_note(&row, "differs from the ledger, which says: %s",
                      szg_verdict_name(ledger->expected));
    }
    return row.status;
}

static bool wanted(const szg_claim *ledger, int64_t count, const char *const *ids) {
    for (int64_t i = 0; i < count; i++)
        if (strcmp(ids[i], ledger->id) == 0)
            return true;
    return count == 0;
}

static szg_status refuse_unknown(szg_context *context, int64_t count, const char *const *ids) {
    for (int64_t i = 0; i < count; i++) {
        if (szg_claim_find(ids[i]))
            continue;
        if (szgi_claim_is_judged(ids[i]))
            return szgi_fail(context, SZG_EINVAL,
                             "%s speaks of trained models, and is no claim of the ledger: `szego "
                             "judge` computes what runs of the preset mechanism say of it",
                             ids[i]);
        char known[256] = "";
        szgi_suggestion near = szgi_suggest_begin(ids[i], strlen(ids[i]));
        for (int64_t k = 0; k < szg_claim_count(); k++) {
            const char *id = szg_claim_at(k)->id;
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s", id);
            szgi_suggest(&near, id, strlen(id));
        }
        return szgi_fail(context, SZG_EINVAL, "no claim is called %s: %s%s", ids[i],
                         SZGI_DID_YOU_MEAN(&near, "the claims are"), known);
    }
    return SZG_OK;
}

static szg_status run_checkers(claims_run *run, int64_t count, const char *const *ids) {
    int64_t done = 0, total = count ? count : szg_claim_count();
    for (int64_t i = 0; i < szg_claim_count(); i++) {
        const szgi_claim *one = szgi_claim_at(i);
        if (!wanted(&one->ledger, count, ids))
            continue;
        SZG_TRY(szgi_context_check_cancel(run->context));
        finding found;
        szg_status status = szgi_claim_check(run, one, &found);
        if (status != SZG_OK)
            return szgi_fail_prefix(run->context, status, "claim %s", one->ledger.id);
        SZG_TRY(add_claim(run, &one->ledger, &found));
        szgi_progress(run->context, "verify", ++done, total);
    }
    return SZG_OK;
}

szg_status szg_claims_verify(szg_context *context, const szg_claims_options *options, int64_t count,
                             const char *const *ids, szg_claims_report *report) {
    SZGI_ENTER(context);
    if (!report || count < 0 || (count > 0 && !ids))
        return szgi_fail(context, SZG_EINVAL, "verify: NULL argument or negative count");
    memset(report, 0, sizeof *report);
    SZG_TRY(refuse_unknown(context, count, ids));
    claims_run run;
    szg_status status = szgi_claims_run_open(&run, context, options, report);
    if (status == SZG_OK)
        status = run_checkers(&run, count, ids);
    szgi_claims_run_close(&run);
    if (status != SZG_OK)
        szg_claims_report_close(report);
    return status;
}
