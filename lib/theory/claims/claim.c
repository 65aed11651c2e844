/* What checkers put on record: findings, evidence, certificates. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "theory/certificate.h"

#include "claim.h"
#include "tables.h"

szg_status szgi_claim_check(claims_run *run, const szgi_claim *one, finding *out) {
    *out = (finding){.worst_margin = NAN};
    run->claim = one;
    run->certified = 0;
    return one->check(run, out);
}

/* ---- Findings ---- */

void szgi_finding_holds(finding *out, int64_t trials, int64_t refuted, double worst_margin) {
    out->trials = trials;
    out->worst_margin = worst_margin;
    out->verdict = refuted ? SZG_VERDICT_FAILS : SZG_VERDICT_HOLDS;
    out->basis = refuted ? "counterexample" : "proof";
    if (refuted)
        szgi_finding_note(out, "%lld of %lld trials refute it", (long long)refuted,
                          (long long)trials);
}

void szgi_finding_fails(finding *out, bool certified) {
    out->verdict = certified ? SZG_VERDICT_FAILS : SZG_VERDICT_NONE;
    out->basis = certified ? "counterexample" : NULL;
}

void szgi_finding_note(finding *out, const char *format, ...) {
    size_t used = strlen(out->note);
    va_list arguments;
    if (used && used + 2 < sizeof out->note)
        used += (size_t)snprintf(out->note + used, sizeof out->note - used, "; ");
    va_start(arguments, format);
    szgi_vprint(out->note + used, sizeof out->note - used, format, arguments);
    va_end(arguments);
}

/* ---- Evidence ---- */

szg_status szgi_evidence_add(claims_run *run, const char *what, szg_interval value,
                             const char *note) {
    szgi_row row = szgi_row_add(run->context, run->report->evidence);
    szgi_row_text(&row, EVIDENCE_ID, run->claim->ledger.id);
    szgi_row_text(&row, EVIDENCE_QUANTITY, what);
    szgi_row_real(&row, EVIDENCE_LO, value.lo);
    szgi_row_real(&row, EVIDENCE_HI, value.hi);
    szgi_row_text(&row, EVIDENCE_NOTE, note);
    return row.status;
}

szg_status szgi_evidence_number(claims_run *run, const char *what, double value, const char *note) {
    return szgi_evidence_add(run, what, (szg_interval){value, value}, note);
}

szg_status szgi_evidence_quantity(claims_run *run, const char *what, quantity q, const instance *at,
                                  const char *note) {
    szg_interval value;
    SZG_TRY(szgi_quantity_enclose(run->context, q, at, &value));
    return szgi_evidence_add(run, what, value, note);
}

/* ---- Certificates ---- */

/* A published enclosure leaves room, so that another sound algorithm's lies inside it. */
static szg_interval published(szg_interval value) {
    double radius = ldexp(fmax(fmax(fabs(value.lo), fabs(value.hi)), 1.0), -30);
    return (szg_interval){value.lo - radius, value.hi + radius};
}

static bool apart(const certificate *c) {
    int order = szgi_interval_compare(c->left, c->right);
    if (strcmp(c->rule->relation, "<") == 0)
        return order < 0;
    if (strcmp(c->rule->relation, ">") == 0)
        return order > 0;
    return order != 0;
}

instance szgi_instance(int64_t terms, const double *w, const szgi_phase *theta) {
    return (instance){.n = terms, .weights = terms, .phases = terms, .w = w, .theta = theta};
}

static szg_status enclose_sides(szg_context *context, certificate *c) {
    SZG_TRY(szgi_quantity_enclose(context, c->rule->left, &c->at, &c->left));
    SZG_TRY(szgi_quantity_enclose(context, c->rule->right, &c->at, &c->right));
    c->left = published(c->left);
    c->right = published(c->right);
    return SZG_OK;
}

szg_status szgi_certify(claims_run *run, const refutation *rule, const instance *at,
                        const char *note, bool *certified) {
    szg_context *context = run->context;
    certificate c = {.id = run->claim->ledger.id, .rule = rule, .at = *at, .note = note};
    bool hold, established;
    *certified = false;
    if (!szgi_refutation_accepts(rule, at))
        return szgi_fail(context, SZG_EINTERNAL, "%s: the instance does not fit %s %s %s", c.id,
                         szgi_quantity_name(rule->left), rule->relation,
                         szgi_quantity_name(rule->right));
    SZG_TRY(szgi_refutation_hold(context, rule, at, &hold));
    if (!hold || run->twist != 0.0)
        return SZG_OK;
    SZG_TRY(enclose_sides(context, &c));
    if (rule->equal)
        SZG_TRY(rule->equal->decide(context, at, &established));
    else
        established = apart(&c);
    if (!established)
        return SZG_OK;
    *certified = true;
    run->certified++;
    if (rule->no_phases)
        c.at.phases = 0;
    return szgi_certificate_add(context, run->report->certificates, &c);
}
