/* szg_claims_verify: the checkers, one after the other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"

#include "claim.h"

static szg_status add_claim(claims_run *run, const szg_claim *ledger, const finding *found) {
    szg_context *context = run->context;
    szg_table *table = run->report->claims;
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "id", ledger->id));
    SZG_TRY(szg_table_set_text(context, table, "statement", ledger->statement));
    SZG_TRY(szg_table_set_text(context, table, "verdict", szg_verdict_name(found->verdict)));
    SZG_TRY(szg_table_set_text(context, table, "basis", found->basis));
    SZG_TRY(szg_table_set_integer(context, table, "trials", found->trials));
    if (!isnan(found->worst_margin))
        SZG_TRY(szg_table_set_real(context, table, "worst_margin", found->worst_margin));
    SZG_TRY(szg_table_set_text(context, table, "true_statement", ledger->true_statement));
    SZG_TRY(szg_table_set_text(context, table, "source", ledger->source));
    if (found->note[0])
        SZG_TRY(szg_table_note(context, table, "%s", found->note));
    if (found->verdict != ledger->expected) {
        run->report->differing++;
        SZG_TRY(szg_table_note(context, table, "differs from the ledger, which says: %s",
                               szg_verdict_name(ledger->expected)));
    }
    return SZG_OK;
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
        char known[256] = "";
        for (int64_t k = 0; k < szg_claim_count(); k++)
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s",
                     szg_claim_at(k)->id);
        return szgi_fail(context, SZG_EINVAL, "no claim is called %s; the claims are%s", ids[i],
                         known);
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
