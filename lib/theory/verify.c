#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#include "claims_private.h"

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

szg_status szgi_evidence_add(claims_run *run, const char *id, const char *what, szg_interval value,
                             const char *note) {
    szg_context *context = run->context;
    szg_table *table = run->report->evidence;
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "id", id));
    SZG_TRY(szg_table_set_text(context, table, "quantity", what));
    SZG_TRY(szg_table_set_real(context, table, "lo", value.lo));
    SZG_TRY(szg_table_set_real(context, table, "hi", value.hi));
    return szg_table_set_text(context, table, "note", note);
}

szg_status szgi_evidence_number(claims_run *run, const char *id, const char *what, double value,
                                const char *note) {
    return szgi_evidence_add(run, id, what, (szg_interval){value, value}, note);
}

/* ---- Certificates ---- */

/* A published enclosure leaves room, so that another sound algorithm's lies inside it. */
static szg_interval published(szg_interval value) {
    double radius = ldexp(fmax(fmax(fabs(value.lo), fabs(value.hi)), 1.0), -30);
    return (szg_interval){value.lo - radius, value.hi + radius};
}

static bool apart(const certificate *c) {
    int order = szgi_interval_compare(c->left_value, c->right_value);
    if (strcmp(c->relation, "<") == 0)
        return order < 0;
    if (strcmp(c->relation, ">") == 0)
        return order > 0;
    return order != 0;
}

szg_status szgi_claims_certify(claims_run *run, certificate *c, bool *certified) {
    szg_context *context = run->context;
    const refutation *rule = szgi_refutation_find(c->id, c->kind, c->left, c->relation, c->right);
    *certified = false;
    if (!rule || !szgi_quantity_accepts(c->left, c) || !szgi_quantity_accepts(c->right, c))
        return szgi_fail(context, SZG_EINTERNAL, "%s: no rule for the certificate %s %s %s", c->id,
                         szgi_quantity_name(c->left), c->relation, szgi_quantity_name(c->right));
    bool hold;
    SZG_TRY(szgi_certificate_hypotheses_hold(context, rule->hypotheses, c, &hold));
    if (!hold || run->twist != 0.0)
        return SZG_OK;
    SZG_TRY(szgi_quantity_enclose(context, c->left, c, &c->left_value));
    SZG_TRY(szgi_quantity_enclose(context, c->right, c, &c->right_value));
    c->left_value = published(c->left_value);
    c->right_value = published(c->right_value);
    bool established = false;
    if (strcmp(c->relation, "=") == 0)
        SZG_TRY(szgi_certificate_exactly_equal(context, c, &established));
    else
        established = apart(c);
    if (!established)
        return SZG_OK;
    *certified = true;
    certificate published_one = *c;
    if (!szgi_refutation_has_phases(rule))
        published_one.phases = 0;
    return szgi_certificate_add(context, run->report->certificates, &published_one);
}

/* ---- The run ---- */

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

static const struct {
    const char *id;
    checker_fn *check;
} checkers[] = {
    {"A3.2", szgi_check_a32}, {"R3.1", szgi_check_r31},  {"R3.2", szgi_check_r32},
    {"E8", szgi_check_e8},    {"B1", szgi_check_b1},     {"B1c", szgi_check_b1c},
    {"B2", szgi_check_b2},    {"T3.1", szgi_check_t31},  {"T3.1h", szgi_check_t31h},
    {"B3", szgi_check_b3},    {"B3s", szgi_check_b3s},   {"B3h", szgi_check_b3h},
    {"B3n", szgi_check_b3n},  {"B3c", szgi_check_b3c},   {"L1", szgi_check_l1},
    {"L1s", szgi_check_l1s},  {"L2", szgi_check_l2},     {"L2p", szgi_check_l2p},
    {"L2c", szgi_check_l2c},  {"L3", szgi_check_l3},     {"L3c", szgi_check_l3c},
    {"E12", szgi_check_e12},  {"E12c", szgi_check_e12c}, {"SYM", szgi_check_sym},
};

szg_status szgi_claims_check(claims_run *run, const szg_claim *claim, finding *out) {
    *out = (finding){.worst_margin = NAN};
    for (size_t i = 0; i < sizeof checkers / sizeof checkers[0]; i++)
        if (strcmp(checkers[i].id, claim->id) == 0)
            return checkers[i].check(run, out);
    return szgi_fail(run->context, SZG_EINTERNAL, "claim %s has no checker", claim->id);
}

static szg_status add_claim(claims_run *run, const szg_claim *claim, const finding *found) {
    szg_context *context = run->context;
    szg_table *table = run->report->claims;
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "id", claim->id));
    SZG_TRY(szg_table_set_text(context, table, "statement", claim->statement));
    SZG_TRY(szg_table_set_text(context, table, "verdict", szg_verdict_name(found->verdict)));
    SZG_TRY(szg_table_set_text(context, table, "basis", found->basis));
    SZG_TRY(szg_table_set_integer(context, table, "trials", found->trials));
    if (!isnan(found->worst_margin))
        SZG_TRY(szg_table_set_real(context, table, "worst_margin", found->worst_margin));
    SZG_TRY(szg_table_set_text(context, table, "true_statement", claim->true_statement));
    SZG_TRY(szg_table_set_text(context, table, "source", claim->source));
    if (found->note[0])
        SZG_TRY(szg_table_note(context, table, "%s", found->note));
    if (found->verdict != claim->expected) {
        run->report->differing++;
        SZG_TRY(szg_table_note(context, table, "differs from the ledger, which says: %s",
                               szg_verdict_name(claim->expected)));
    }
    return SZG_OK;
}

static bool wanted(const szg_claim *claim, int64_t count, const char *const *ids) {
    for (int64_t i = 0; i < count; i++)
        if (strcmp(ids[i], claim->id) == 0)
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
        const szg_claim *claim = szg_claim_at(i);
        if (!wanted(claim, count, ids))
            continue;
        SZG_TRY(szgi_context_check_cancel(run->context));
        finding found;
        szg_status status = szgi_claims_check(run, claim, &found);
        if (status != SZG_OK)
            return szgi_fail_prefix(run->context, status, "claim %s", claim->id);
        SZG_TRY(add_claim(run, claim, &found));
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
